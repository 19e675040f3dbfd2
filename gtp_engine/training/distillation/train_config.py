"""What a distillation run is: frozen dataclasses, recorded in every checkpoint.  Needs no torch.

DistillationLearning   how the network learns
LossWeights            the weights of the losses
TrainConfig            the run
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gtp_engine.config.option import option
from gtp_engine.errors import ConfigError, problem
from gtp_engine.training.core.learning import Learning, with_default
from gtp_engine.training.nets.shape import Shape


@dataclass(frozen=True)
class DistillationLearning(Learning, name="learning"):
    """How a network learns from a teacher's labels."""

    learning_rate: float = with_default("learning_rate", 0.01)
    """KL from the teacher's policy of b4c64 on 9×9 after 200,000 samples with Muon: 0.003 0.705, 0.01 0.649, 0.02
    0.636, 0.04 0.642.  Long runs on boards of all sizes are safer below the best of a short one.  AdamW reached 0.724
    with 0.003."""
    fixed_norms: float = option(
        0.15, "Last part of the run, in which norms keep their statistics, as a share of it.", low=0, high=1
    )
    """The statistics of board sizes differ, and the network has to cope with the mean that it is exported with (mean
    error of the lead on 19×19, b6c96, 9 minutes after 72 without: 3.4 instead of 6.0 points)."""

    compiled: bool = option(False, "Have torch compile the network: a GPU then trains faster, after a minute.")

    def __post_init__(self) -> None:
        """Raise ConfigError for settings that are out of bounds."""
        super().__post_init__()
        if self.batch < 2:
            raise ConfigError(problem(f"batches of {self.batch}", expected="at least 2 positions"))


@dataclass(frozen=True)
class LossWeights:
    """The weight of each head's loss.

    Policy and value choose the moves.  Ownership has a target for each point and teaches the trunk which stones live;
    scores are in points, whose square counts up to a few points and whose absolute value beyond (Huber), and small
    weights bring them to the size of the other losses.
    """

    policy: float = 1.0
    value: float = 1.5
    ownership: float = 0.75
    score_mean: float = 0.015
    score_stdev: float = 0.005
    lead: float = 0.03
    optimistic_policy: float = 0.2
    time_left: float = 0.001
    winloss_error: float = 0.5
    score_error: float = 0.02
    """Of the last four, which a search only weighs its evaluations by, none should cost the policy anything."""


@dataclass(frozen=True)
class TrainConfig:
    """A run."""

    data: Path
    """Folder with the folders train and held-out."""
    out: Path
    """Folder for checkpoint, log, curves and the network."""
    learning: DistillationLearning
    name: str = ""
    """Name of the network; "": that of its size, or that of `init`."""
    shape: Shape = field(default_factory=Shape)
    init: Path | None = None
    """Network to begin with instead of a new one: a checkpoint, an exported ONNX file, or one of KataGo's files."""
    loss: LossWeights = field(default_factory=LossWeights)
    board_shares: tuple[tuple[int, int, float], ...] = ()
    """Width, height and share of the batches of each board size; none: in proportion to their positions."""
    tensorboard: bool = False
    in_memory: bool = False
    """Whether all positions lie in the memory of the device (`resident_batches`)."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as values that JSON has."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TrainConfig":
        """Return the run that `to_json` wrote; raises TypeError or KeyError for anything else."""
        return cls(
            **values
            | {
                "data": Path(values["data"]),
                "out": Path(values["out"]),
                "learning": DistillationLearning(**values["learning"]),
                "shape": Shape(**values["shape"]),
                "init": None if values["init"] is None else Path(values["init"]),
                "loss": LossWeights(**values["loss"]),
                "board_shares": tuple(tuple(each) for each in values["board_shares"]),
            }
        )
