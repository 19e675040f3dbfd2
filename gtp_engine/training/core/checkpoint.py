"""What a run leaves behind: its checkpoint, and the file of its network.

A checkpoint is everything that a run needs to resume as if it had never stopped: a file in torch's format with plain
values and tensors only, so that nothing in it can run code:

    format      2
    kind        what was trained: distillation, policy, value …
    network     what the module is built from before it takes the weights
    settings    the run's, by names that each task chooses
    weights     of the network that is exported: the averaged ones
    state       what else the run needs: weights and statistics of now, optimizer, place in the stream of batches
    steps, samples, seconds     what has been done

A network file replaces an older one only after a comparison with the module that it was exported from.
"""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError, shown_path
from gtp_engine.base.files import read_regular, write_whole, writing

FORMAT: Final = 2
MAX_CHECKPOINT_BYTES: Final = 1 << 34
"""Longest checkpoint: four times the weights of the largest networks, in float32."""

CHECKPOINT_FILE: Final = "checkpoint.pt"
"""Its name in the folder of a run."""

LARGEST_DIFFERENCE: Final = 1e-4
"""Largest difference between file and module, as a share of the largest output, or of 1: float32 rounds to 10⁻⁷, and a
sum of a thousand products loses two digits."""


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
            raise ModelError(f"a checkpoint of a {self.kind} network", expected=f"one of {kind}", advice=advice)


def has_checkpoint(folder: Path) -> bool:
    """Return whether `folder` holds a run."""
    return (folder / CHECKPOINT_FILE).exists()


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write the checkpoint of the run in `folder`, replacing an older one once the new one is complete.

    Raises ModelError if that is impossible.
    """
    write_values(folder / CHECKPOINT_FILE, {"format": FORMAT, **vars(checkpoint)}, "checkpoint")


def write_values(path: Path, values: dict[str, Any], what: str) -> None:
    """Write a file in torch's format like `write_checkpoint`; `what` says what it is."""
    content = BytesIO()  # torch says less than the operating system about why a file cannot be written
    torch.save(values, content)
    with writing(path, ModelError, what):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.getvalue())  # no copy; a view that a failure keeps ends Python 3.12.1


def read_checkpoint(path: Path) -> Checkpoint:
    """Return a checkpoint from its file or from the folder of its run.

    Raises ModelError if it cannot be read, is damaged, or has another format.
    """
    if path.is_dir():
        path /= CHECKPOINT_FILE
    try:
        content = read_regular(path, MAX_CHECKPOINT_BYTES)
    except OSError as error:
        raise ModelError(f"cannot read checkpoint {shown_path(path)}: {error.strerror}") from error
    try:
        values = torch.load(BytesIO(content), map_location="cpu", weights_only=True)
        found = values.pop("format")
        if found == FORMAT:
            return Checkpoint(**values)
    except Exception as error:  # torch raises errors of many types for a damaged file
        raise ModelError(
            f"checkpoint {shown_path(path)} is damaged or none", expected=f"a {CHECKPOINT_FILE} of a run"
        ) from error
    raise ModelError(f"checkpoint {shown_path(path)} has format {found}", expected=f"{FORMAT}")


def check_output(found: NDArray[np.float32], wanted: NDArray[np.float32], what: str) -> None:
    """Raise ModelError if a file's output is not that of its module; `what` is for people."""
    difference = float(np.abs(found - wanted).max()) / max(1.0, float(np.abs(wanted).max()))
    if not difference <= LARGEST_DIFFERENCE:  # a comparison with NaN is false
        raise ModelError(
            f"the exported {what} differs by {difference:.2g}",
            expected=f"at most {LARGEST_DIFFERENCE:g}",
            advice="this is a bug: keep the checkpoint and report it",
        )
