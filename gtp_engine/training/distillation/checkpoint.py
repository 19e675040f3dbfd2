"""Checkpoints: everything that a training run needs to go on as if it had never stopped.

A file (`checkpoint_file`) that holds:

    format         1
    config         the run, as JSON has it
    teacher        who labelled the positions
    architecture   the network's, as JSON text
    counts_statistics   whether norms take the statistics of each batch, but at the end of the run
    module         the weights and statistics of now
    average        the averaged ones: what is exported
    optimizer      its state
    data           the place in the stream of batches
    samples, steps, seconds     what has been done
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch

from gtp_engine.training.core.checkpoint_file import read_values, write_values
from gtp_engine.training.distillation.train_config import TrainConfig
from gtp_engine.training.nets import NetworkModule
from gtp_engine.training.nets.architecture import empty_network

FORMAT: Final = 1
FILE_NAME: Final = "checkpoint.pt"
"""Its name in the folder of a run."""


@dataclass(frozen=True)
class Checkpoint:
    """The contents of a checkpoint."""

    config: dict[str, Any]
    teacher: str
    architecture: str
    counts_statistics: bool
    module: dict[str, torch.Tensor]
    average: dict[str, torch.Tensor]
    optimizer: dict[str, Any]
    data: dict[str, Any]
    samples: int
    steps: int
    seconds: float

    @property
    def run(self) -> TrainConfig:
        """The run that it is of."""
        return TrainConfig.from_json(self.config)

    def averaged_module(self) -> NetworkModule:
        """Return the network with averaged weights, on the CPU."""
        module = NetworkModule(empty_network(self.architecture))
        module.load_state_dict(self.average)
        return module.eval()


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a file, replacing an older one once the new one is complete."""
    write_values(path, vars(checkpoint), number=FORMAT)


def read_checkpoint(path: Path) -> Checkpoint:
    """Return the contents of a file; raises ModelError if it is none, or damaged."""
    return read_values(path, Checkpoint, number=FORMAT)
