"""Checkpoints of the AlphaGo stages: everything that a run needs to go on as if it had never stopped.

A file of torch's format that holds plain values and tensors only (nothing in it can run code when it is loaded):

    format      1
    kind        policy or value
    shape       the network's (`nets.NetShape`)
    settings    the run's, by names that each stage chooses
    weights     of the network: what is exported
    state       whatever else the stage needs to go on
    steps, samples, seconds     what has been done
"""

import os
import pickle
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.training.alphago.nets import KINDS, Net, NetShape, PolicyNet

FORMAT: Final = 1
FILE_NAME: Final = "checkpoint.pt"
"""Its name in the folder of a run."""

_DAMAGE: Final = (
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
    """The contents of a checkpoint."""

    kind: str
    shape: dict[str, Any]
    settings: dict[str, Any]
    weights: dict[str, torch.Tensor]
    state: dict[str, Any]
    steps: int
    samples: int
    seconds: float

    def net(self) -> Net:
        """Return its network, on the CPU."""
        net = KINDS[self.kind](NetShape(**self.shape))
        net.load_state_dict(self.weights)
        return net.eval()


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write the checkpoint of the run in `folder`, replacing an older one once the new one is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / (FILE_NAME + ".part")
    values = {name: getattr(checkpoint, name) for name in Checkpoint.__dataclass_fields__}
    torch.save({"format": FORMAT} | values, unfinished)
    os.replace(unfinished, folder / FILE_NAME)


def read_checkpoint(folder: Path, *, map_location: str = "cpu") -> Checkpoint:
    """Return the checkpoint of the run in `folder`; raises ModelError if there is none, or it is damaged."""
    path = folder / FILE_NAME
    try:
        values = torch.load(path, map_location=map_location, weights_only=True)
        number = values.pop("format")
        checkpoint = Checkpoint(**values)
    except OSError as error:
        raise ModelError(problem(f"cannot read checkpoint {shown_path(path)}: {error.strerror}")) from error
    except _DAMAGE as error:
        raise ModelError(
            problem(f"{shown_path(path)} is damaged or no checkpoint", expected="that of a run of this stage")
        ) from error
    if number != FORMAT:
        raise ModelError(problem(f"checkpoint {shown_path(path)} has another format", expected=f"{FORMAT}"))
    return checkpoint


def has_checkpoint(folder: Path) -> bool:
    """Return whether there is a run in `folder`."""
    return (folder / FILE_NAME).exists()


def policy_of(folder: Path) -> PolicyNet:
    """Return the policy network of the run in `folder`; raises ModelError if it has none."""
    net = read_checkpoint(folder).net()
    if not isinstance(net, PolicyNet):
        raise ModelError(
            problem(f"{shown_path(folder)} has a {net.KIND} network", expected="a run with a policy network")
        )
    return net
