"""How a network learns: the settings that every task shares, the learning rate over a run, and whether torch is there.

Needs no torch: the command line reads the settings before it asks for it.
"""

import math
from dataclasses import Field, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.installation import advice_for
from gtp_engine.config.option import Section, option

PRECISIONS: Final = ("auto", "float32", "bfloat16")
DEVICES: Final = ("auto", "cpu", "cuda")
OPTIMIZERS: Final = ("muon", "adamw")

_FIRST_SHARE: Final = 0.01
"""Share of the highest rate that the first step has."""
LEAST_RATE: Final = 1e-9


@dataclass(frozen=True)
class StepSchedule:
    """A run of `total` steps, with a validation every so many of them and at the end, and a rate that falls."""

    total: int
    validate_every: int
    learning_rate: float
    final_rate: float = 1.0
    warm_up: float = 0.0
    """As in `Learning`."""
    checkpoint_minutes: float = 5.0
    log_steps: int = 1

    def fraction(self, steps: int, samples: int, seconds: float) -> float:
        """Return which part of the steps is done."""
        return min(1.0, steps / self.total)

    def validations_due(self, steps: int, samples: int, seconds: float) -> int:
        """Return how many validations there should have been by now."""
        return -(-steps // self.validate_every) if steps >= self.total else steps // self.validate_every


@dataclass(frozen=True)
class Learning(Section, name="training"):
    """The settings of a run; it ends when `samples` or `minutes` are used up, whichever comes first.

    Every field is an option (`config.option`), from which the command line generates its flags.  A task with other
    defaults derives a class with `with_default`.
    """

    samples: int = option(0, "Length of the run in positions; 0: no limit.", low=0)
    minutes: float = option(0.0, "Length of the run in minutes; 0: no limit. A run ends at its first limit.", low=0)
    batch: int = option(256, "Positions in a step.", low=1)
    optimizer: str = option("muon", "Optimizer.", choices=OPTIMIZERS)
    learning_rate: float = option(3e-3, "Highest learning rate.", low=LEAST_RATE)
    final_rate: float = option(0.01, "Share of the learning rate that is left at the end.", bounds=(0, 1))
    warm_up: float = option(0.02, "Part of the run in which the learning rate rises.", bounds=(0, 0.99))
    weight_decay: float = option(0.02, "Weight decay of filters and matrices, times the learning rate.", low=0)
    clip: float = option(1.0, "Largest norm of the gradient; a longer one is scaled down to it. 0: no limit.", low=0)
    average_steps: int = option(500, low=1)
    """Steps over which the weights are averaged; the averaged weights are exported."""
    seed: int = option(1, "Seed of the weights and of the order of positions.", low=0)
    precision: str = option("auto", "Number format of convolutions and products.", choices=PRECISIONS)
    device: str = option("auto", "Device that runs the network.", choices=DEVICES)
    threads: int = option(0, "Threads; 0: one for each core.", low=0)
    checkpoint_minutes: float = option(10.0, "Minutes between checkpoints.", low=0)
    validations: int = option(20, "Validations during the run.", low=0)
    validation_positions: int = option(1024, "Positions in each validation set, at most.", low=1)
    log_steps: int = option(20, "Steps between two lines of the log.", low=1)

    def __post_init__(self) -> None:
        """Raise ConfigError for a value out of its bounds, and for a run without end."""
        super().__post_init__()
        if not (self.samples or self.minutes):
            raise ConfigError("a run without end", expected="a number of samples or minutes")

    def fraction(self, steps: int, samples: int, seconds: float) -> float:
        """Return which part of the run is done, 0 to 1."""
        of_samples = samples / self.samples if self.samples else 0.0
        of_minutes = seconds / (60 * self.minutes) if self.minutes else 0.0
        return min(1.0, max(of_samples, of_minutes))

    def validations_due(self, steps: int, samples: int, seconds: float) -> int:
        """Return how many validations there should have been by now; the last is at the very end."""
        return math.floor(self.fraction(steps, samples, seconds) * self.validations)


Schedule = Learning | StepSchedule
"""How long a run is, and what happens when in it."""


def with_default(name: str, default: Any) -> Any:
    """Return the field `name` of `Learning` with another default, for a class derived from it."""
    declared: Field[Any] = Learning.__dataclass_fields__[name]
    return field(default=default, metadata=declared.metadata)


def rate_at(fraction: float, schedule: Schedule) -> float:
    """Return the learning rate when `fraction` of a run is done: a straight rise, then half a cosine wave down."""
    warm_up, final = schedule.warm_up, schedule.final_rate
    if fraction < warm_up:
        return schedule.learning_rate * max(_FIRST_SHARE, fraction / warm_up)
    wave = (1 + math.cos(math.pi * (fraction - warm_up) / (1 - warm_up))) / 2
    return schedule.learning_rate * (final + (1 - final) * wave)


def check_torch() -> None:
    """Raise ConfigError, with one sentence, if PyTorch is missing."""
    if find_spec("torch") is None:
        raise ConfigError("training needs PyTorch", advice=advice_for("train"))


def shipped_teacher() -> Path:
    """Return the file of the network that ships with the engine, in float32: the default teacher."""
    from gtp_engine.nn.named_networks import shipped_folder
    from gtp_engine.nn.network_files import find_networks  # imported here: it is slow, and --help does not need it

    return find_networks(shipped_folder())["policy"].path("float32")
