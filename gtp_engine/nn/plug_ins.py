"""What other parts of the package add to networks, imported on demand; some is found by names in a model's files.

`nn` stands below these parts, and neither it nor a program that plays with another network imports them.
"""

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from gtp_engine.base.streams import Log

PLUGGED_IN_ENCODERS: Final = {
    "alphago-48": "gtp_engine.training.alphago.planes_encoder:AlphaGoEncoder",
    "alphago-49": "gtp_engine.training.alphago.planes_encoder:new_value_encoder",
}
"""By the name in a network's metadata: what makes the encoder, given width and height of its boards."""

ROLLOUT_WEIGHTS: Final = "rollout-policy.npz"
"""The file with weights for rollouts in a model's folder."""
_READ_ROLLOUT_WEIGHTS: Final = "gtp_engine.training.alphago.linear_policy:read_linear_policy"

FASTER_COPY: Final = "gtp_engine.training.quantization.faster_copy"
"""The module that makes 8-bit copies."""


def make_faster_copy(path: Path, *, progress: Callable[[float, str], None], log: Log) -> None:
    """Make the 8-bit copy of a float32 network file if it has none and this machine gains from it."""
    resolve_name(f"{FASTER_COPY}:make_faster_copy")(path, progress=progress, log=log)


def plugged_in_encoder(name: str, width: int, height: int) -> Any:
    """Return the encoder of a name, one from the table, for boards of this size."""
    return resolve_name(PLUGGED_IN_ENCODERS[name])(width, height)


def read_rollout_weights(folder: Path) -> object:
    """Return the weights for rollouts beside the networks in a folder, None without; raises ModelError if damaged.

    `EvaluatorInfo.rollout_weights` passes them to the search's players of rollouts.
    """
    path = folder / ROLLOUT_WEIGHTS
    return resolve_name(_READ_ROLLOUT_WEIGHTS)(path) if path.exists() else None
