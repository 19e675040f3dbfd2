"""Checkpoints: everything that a run needs to resume as if it had never stopped.

A file in torch's format with plain values and tensors only, so that nothing in it can run code:

    format      2
    kind        what was trained: distillation, policy, value …
    network     what the module is built from before it takes the weights
    settings    the run's, by names that each task chooses
    weights     of the network that is exported: the averaged ones
    state       what else the run needs: weights and statistics of now, optimizer, place in the stream of batches
    steps, samples, seconds     what has been done
"""

import pickle
import struct
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import torch

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.files import replacing
from gtp_engine.training.core.writing import writing

FORMAT: Final = 2
FILE_NAME: Final = "checkpoint.pt"
"""Its name in the folder of a run."""

_DAMAGE: Final = (
    OSError,  # torch takes some truncated files for operating system errors
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


@dataclass(frozen=True)
class Checkpoint:
    """The contents of a checkpoint; tensors are on the CPU once it has been read."""

    kind: str
    network: dict[str, Any]
    settings: dict[str, Any]
    weights: dict[str, torch.Tensor]
    state: dict[str, Any]
    steps: int
    samples: int
    seconds: float

    def check_kind(self, kind: str) -> None:
        """Raise ModelError unless this is a checkpoint of `kind`."""
        if self.kind != kind:
            advice = "name another folder"
            raise ModelError(
                problem(f"a checkpoint of a {self.kind} network", expected=f"one of {kind}", advice=advice)
            )


def has_checkpoint(folder: Path) -> bool:
    """Return whether `folder` holds a run."""
    return (folder / FILE_NAME).exists()


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write the checkpoint of the run in `folder`, replacing an older one once the new one is complete.

    Raises ModelError if that is impossible.
    """
    write_values(folder / FILE_NAME, {"format": FORMAT, **vars(checkpoint)}, "checkpoint")


def write_values(path: Path, values: dict[str, Any], what: str) -> None:
    """Write a file in torch's format like `write_checkpoint`; `what` says what it is."""
    content = BytesIO()  # torch says less than the operating system about why a file cannot be written
    torch.save(values, content)
    with writing(path, ModelError, what):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_bytes(content.getbuffer())


def read_checkpoint(path: Path) -> Checkpoint:
    """Return a checkpoint from its file or from the folder of its run.

    Raises ModelError if it cannot be read, is damaged, or has another format.
    """
    if path.is_dir():
        path /= FILE_NAME
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(problem(f"cannot read checkpoint {shown_path(path)}: {error.strerror}")) from error
    try:
        values = torch.load(BytesIO(content), map_location="cpu", weights_only=True)
        found = values.pop("format")
        if found == FORMAT:
            return Checkpoint(**values)
    except _DAMAGE as error:
        raise ModelError(
            problem(f"checkpoint {shown_path(path)} is damaged or none", expected=f"a {FILE_NAME} of a run")
        ) from error
    raise ModelError(problem(f"checkpoint {shown_path(path)} has format {found}", expected=f"{FORMAT}"))
