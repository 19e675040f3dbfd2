"""Settings of the whole suite."""

import math
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The networks of the user who runs the tests, and their choice of a default, must not matter.
os.environ["TENGEN_DATA_DIR"] = str(Path(__file__).parent / "no-such-folder")

# No deadline: the first call of a kernel compiles it, and machines that run tests are often loaded.
# Derandomized: the same commit gives the same verdict.
settings.register_profile("tengen", deadline=None, derandomize=True)
settings.load_profile("tengen")


@pytest.fixture(autouse=True, scope="session")
def long_readings() -> Iterator[None]:
    """Read out life and death to the end: the first reading compiles kernels for half of its ten seconds or more.

    Groups for which there is no time have the status that the searches expect.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gtp_engine.engine.life_reading.LONGEST_SECONDS", math.inf)
        yield


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt this process and those it starts, also where the tests run as a background job.

    A shell without job control lets its background jobs ignore SIGINT, and their children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
