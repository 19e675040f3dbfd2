"""Checkpoints of the AlphaGo stages: everything that a run needs to go on as if it had never stopped.

A file (`training.core.checkpoint_file`) that holds:

    format      1
    kind        policy or value
    shape       the network's (`nets.NetShape`)
    settings    the run's, by names that each stage chooses
    weights     of the network: what is exported
    state       whatever else the stage needs to go on
    steps, samples, seconds     what has been done
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.training.alphago.nets import KINDS, Net, NetShape, PolicyNet
from gtp_engine.training.core.checkpoint_file import read_values, write_values

FORMAT: Final = 1
FILE_NAME: Final = "checkpoint.pt"
"""Its name in the folder of a run."""


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
    write_values(folder / FILE_NAME, vars(checkpoint), number=FORMAT)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return the checkpoint of the run in `folder`; raises ModelError if there is none, or it is damaged."""
    return read_values(folder / FILE_NAME, Checkpoint, number=FORMAT)


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
