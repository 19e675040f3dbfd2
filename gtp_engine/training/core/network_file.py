"""Network files, which replace an older one only after a comparison with the module that they were exported from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.files import replacing

LARGEST_DIFFERENCE: Final = 1e-4
"""Largest difference between file and module, as a share of the largest output, or of 1: float32 rounds to 10⁻⁷, and a
sum of a thousand products loses two digits."""


Floats = NDArray[np.float32]


def write_checked(model: Any, target: Path, check: Callable[[Path], None]) -> None:
    """Write an `onnx.ModelProto` to `target`, replacing an older file once the new one has passed `check`.

    Raises ModelError if it cannot be written, and what `check` raises.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as unfinished:
            unfinished.write_bytes(model.SerializeToString())
            check(unfinished)
    except OSError as error:
        raise ModelError(problem(f"network file {shown_path(target)} cannot be written ({error.strerror})")) from error


def check_output(found: Floats, wanted: Floats, what: str) -> None:
    """Raise ModelError if a file's output is not that of its module; `what` is for people."""
    difference = float(np.abs(found - wanted).max()) / max(1.0, float(np.abs(wanted).max()))
    if not difference <= LARGEST_DIFFERENCE:  # a comparison with NaN is false
        raise ModelError(
            problem(
                f"the exported {what} differs by {difference:.2g}",
                expected=f"at most {LARGEST_DIFFERENCE:g}",
                advice="this is a bug: keep the checkpoint and report it",
            )
        )
