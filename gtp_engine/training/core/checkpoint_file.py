"""Files in torch's format that hold a checkpoint: plain values and tensors, so that nothing in them can run code."""

import os
import pickle
import struct
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeVar

import torch

from gtp_engine.errors import ModelError, problem, shown_path

_FORMAT: Final = "format"
_DAMAGE: Final = (
    OSError,  # torch takes some files that were cut off for operating system errors
    RuntimeError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    EOFError,
    struct.error,
    pickle.UnpicklingError,
)
"""What reading a file that is no checkpoint raises."""

Made = TypeVar("Made")


def write_values(path: Path, values: Mapping[str, Any], *, number: int) -> None:
    """Write values as format `number`, replacing an older file once the new one is complete."""
    unfinished = path.with_name(path.name + ".part")
    torch.save({_FORMAT: number, **values}, unfinished)
    os.replace(unfinished, path)


def read_values(path: Path, make: Callable[..., Made], *, number: int) -> Made:
    """Return `make(**values)` of the values in a file of format `number`, tensors on the CPU.

    Raises ModelError if the file cannot be read, is none of these, or has another format.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(problem(f"cannot read checkpoint {shown_path(path)}: {error.strerror}")) from error
    try:
        values = torch.load(BytesIO(content), map_location="cpu", weights_only=True)
        found = values.pop(_FORMAT)
        made = make(**values)
    except _DAMAGE as error:
        raise ModelError(
            problem(f"checkpoint {shown_path(path)} is damaged or none", expected=f"a {path.name} of such a run")
        ) from error
    if found != number:
        raise ModelError(problem(f"checkpoint {shown_path(path)} has another format", expected=f"{number}"))
    return made
