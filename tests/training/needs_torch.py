"""PyTorch for tests.  Imported before anything that needs it, so that a test module is skipped where it is missing."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch, of the extra [train], is missing")
torch.set_num_threads(1)  # of these tiny networks, several threads spend more time waiting for each other
