"""Settings of the whole suite."""

import os
from pathlib import Path

from hypothesis import settings

# The networks of the user who runs the tests, and their choice of a default, must not matter.
os.environ["TENGEN_DATA_DIR"] = str(Path(__file__).parent / "no-such-folder")

# No deadline: the first call of a kernel compiles it, and machines that run tests are often loaded.
# Derandomized: the same commit gives the same verdict.
settings.register_profile("tengen", deadline=None, derandomize=True)
settings.load_profile("tengen")
