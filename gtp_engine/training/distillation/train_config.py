"""What a training run is: frozen dataclasses, kept in every checkpoint.  Needs no torch.

Shape         how large the network is
LossWeights   what counts how much
TrainConfig   the run
"""

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Protocol

from gtp_engine.errors import ConfigError, problem

PRECISIONS: Final = ("auto", "float32", "bfloat16")
DEVICES: Final = ("auto", "cpu", "cuda")
OPTIMIZERS: Final = ("muon", "adamw")
ACTIVATIONS: Final = ("relu", "mish", "silu")

_MEANS_NO_LIMIT: Final = 0


@dataclass(frozen=True)
class Shape:
    """How large a network is: channels are those of the trunk, pooled channels a part of a pooling block's."""

    blocks: int = 6
    channels: int = 96
    pooling_every: int = 3
    """Every how many blocks one pools over the board; 0: none."""
    pooled_channels: int = 32
    policy_channels: int = 32
    value_channels: int = 32
    value_hidden: int = 64
    activation: str = "relu"

    def __post_init__(self) -> None:
        """Raise ConfigError for sizes that make no network."""
        for name in ("blocks", "channels", "pooled_channels", "policy_channels", "value_channels", "value_hidden"):
            if getattr(self, name) < 1:
                raise ConfigError(problem(f"a network with {name} {getattr(self, name)}", expected="at least 1"))
        if self.pooling_every and self.pooled_channels >= self.channels:
            raise ConfigError(
                problem(f"{self.pooled_channels} pooled of {self.channels} channels", expected="fewer pooled ones")
            )
        if self.activation not in ACTIVATIONS:
            raise ConfigError(problem(f"activation {self.activation}", expected=f"one of {', '.join(ACTIVATIONS)}"))

    @property
    def title(self) -> str:
        """Its size as KataGo's names have it: b6c96."""
        return f"b{self.blocks}c{self.channels}"


@dataclass(frozen=True)
class LossWeights:
    """What each head's loss is multiplied by.

    Policy and value choose the moves.  Ownership has a number to learn for each point and teaches the trunk what
    lives; scores are in points, whose square counts up to a few points and whose amount beyond (Huber), and are made
    as large as the others by small weights.
    """

    policy: float = 1.0
    value: float = 1.5
    ownership: float = 0.75
    score_mean: float = 0.015
    score_stdev: float = 0.005
    lead: float = 0.03


class LearningSettings(Protocol):
    """What all runs in which a network learns have; see `TrainConfig`."""

    @property
    def samples(self) -> int:
        """Samples after which the run ends; 0: no limit."""
        ...

    @property
    def minutes(self) -> float:
        """Minutes after which it ends; 0: no limit."""
        ...

    @property
    def precision(self) -> str: ...  # noqa: D102

    @property
    def device(self) -> str: ...  # noqa: D102

    @property
    def optimizer(self) -> str: ...  # noqa: D102


def check_learning(settings: LearningSettings) -> None:
    """Raise ConfigError for a run without end, or a choice that there is not."""
    if not (settings.samples > 0 or settings.minutes > 0):
        raise ConfigError(problem("a run without end", expected="a number of samples or minutes"))
    for name, value, choices in (
        ("precision", settings.precision, PRECISIONS),
        ("device", settings.device, DEVICES),
        ("optimizer", settings.optimizer, OPTIMIZERS),
    ):
        if value not in choices:
            raise ConfigError(problem(f"{name} {value}", expected=f"one of {', '.join(choices)}"))


def part_done(settings: LearningSettings, samples: int, seconds: float) -> float:
    """Return which part of a run is done, 0 to 1, after `samples` and `seconds`."""
    of_samples = samples / settings.samples if settings.samples else 0.0
    of_minutes = seconds / (60 * settings.minutes) if settings.minutes else 0.0
    return min(1.0, max(of_samples, of_minutes))


@dataclass(frozen=True)
class TrainConfig:
    """A training run.  It ends when `samples` or `minutes` are used up, whichever comes first; 0 is no limit."""

    data: Path
    """Folder with the folders train and held-out."""
    out: Path
    """Folder for checkpoint, log, curves and the network."""
    name: str = ""
    """Name of the network; "" makes one of its size, or leaves that of `init`."""
    shape: Shape = field(default_factory=Shape)
    init: Path | None = None
    """Network to begin with instead of a new one: a checkpoint, an exported ONNX file, or one of KataGo's files."""
    samples: int = _MEANS_NO_LIMIT
    minutes: float = _MEANS_NO_LIMIT
    batch: int = 256
    optimizer: str = "muon"
    learning_rate: float = 3e-3
    final_rate: float = 0.01
    """Share of the learning rate that is left at the end."""
    warm_up: float = 0.02
    """Part of the run in which the learning rate rises."""
    weight_decay: float = 0.02
    """Of weights that are multiplied; what is taken off in a step is this times the learning rate."""
    clip: float = 1.0
    """Largest length of the gradient; a longer one is shortened to it."""
    fixed_norms: float = 0.15
    """Part of the run at its end in which norms keep the statistics they have: those of board sizes differ, and the
    network has to get on with the mean that it is exported with (mean error of the lead on 19×19, b6c96, 9 minutes
    after 72 without: 3.4 instead of 6.0 points)."""
    average_steps: int = 500
    """Steps that the averaged weights cover."""
    loss: LossWeights = field(default_factory=LossWeights)
    board_shares: tuple[tuple[int, int, float], ...] = ()
    """Width, height and share of the batches of each board size; none: as many as there are positions."""
    seed: int = 1
    precision: str = "auto"
    device: str = "auto"
    threads: int = 0
    """Threads of torch; 0: one for each core."""
    checkpoint_minutes: float = 10.0
    judgings: int = 20
    """How often the network is judged by held-out positions during the run."""
    judged_positions: int = 1024
    """Held-out positions of each board size that it is judged by."""
    log_steps: int = 20
    """Steps between two lines of the log."""
    tensorboard: bool = False

    def __post_init__(self) -> None:
        """Raise ConfigError for what makes no run."""
        check_learning(self)
        if self.batch < 2:
            raise ConfigError(problem(f"batches of {self.batch}", expected="at least 2 positions"))
        if not 0 <= self.fixed_norms <= 1:
            raise ConfigError(problem(f"fixed_norms {self.fixed_norms}", expected="a part of the run, 0 to 1"))

    def fraction(self, samples: int, seconds: float) -> float:
        """Return which part of the run is done, 0 to 1, after `samples` and `seconds`."""
        return part_done(self, samples, seconds)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as values that JSON has."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TrainConfig":
        """Return the run that `to_json` wrote; raises TypeError or KeyError for anything else."""
        known = {name: value for name, value in values.items() if name in {each.name for each in fields(cls)}}
        known["data"], known["out"] = Path(known["data"]), Path(known["out"])
        known["init"] = None if known["init"] is None else Path(known["init"])
        known["shape"], known["loss"] = Shape(**known["shape"]), LossWeights(**known["loss"])
        known["board_shares"] = tuple(tuple(each) for each in known.get("board_shares", ()))
        return cls(**known)
