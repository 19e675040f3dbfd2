"""Settings of the whole suite."""

from hypothesis import settings

# No deadline: the first call of a kernel compiles it, and machines that run tests are often loaded.
# Derandomized: the same commit gives the same verdict.
settings.register_profile("tengen", deadline=None, derandomize=True)
settings.load_profile("tengen")
