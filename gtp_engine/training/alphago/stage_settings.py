"""What a stage's run is: frozen dataclasses, kept in its checkpoints.  Needs no torch."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from gtp_engine.errors import ConfigError, problem
from gtp_engine.training.distillation.train_config import check_learning, part_done

PATIENCE: Final = ("samples", "minutes", "threads", "judgings", "checkpoint_minutes", "device")
"""Fields of `Learning` in which a continued run may differ from what it was."""
VALUE_LEARNING_RATE: Final = 0.01
"""Highest learning rate of the value network, whose norms let it learn faster than the policy.

Test error of 7 layers of 64 after 400,000 samples: 0.521; with 0.003 0.533, with 0.02 0.522.
"""


@dataclass(frozen=True)
class Learning:
    """How a network learns from examples; `samples` or `minutes` end it, whichever comes first, and 0 is no limit."""

    samples: int = 0
    minutes: float = 0.0
    batch: int = 256
    optimizer: str = "muon"
    learning_rate: float = 3e-3
    final_rate: float = 0.01
    """Share of the learning rate that is left at the end."""
    warm_up: float = 0.02
    """Part of the run in which the learning rate rises."""
    weight_decay: float = 0.02
    clip: float = 1.0
    """Largest length of the gradient; a longer one is shortened to it."""
    average_steps: int = 300
    """Steps that the averaged weights cover, which are what is exported."""
    seed: int = 1
    precision: str = "auto"
    device: str = "auto"
    threads: int = 0
    """Threads of torch; 0: one for each core."""
    checkpoint_minutes: float = 5.0
    judgings: int = 20
    """How often the network is tested during the run."""
    judged_positions: int = 4096
    """Positions that it is tested on, at most."""
    log_steps: int = 20
    """Steps between two lines of the log."""

    def __post_init__(self) -> None:
        """Raise ConfigError for what makes no run."""
        check_learning(self)
        if self.batch < 1:
            raise ConfigError(problem(f"batches of {self.batch}", expected="at least 1 position"))

    def fraction(self, samples: int, seconds: float) -> float:
        """Return which part of the run is done, 0 to 1, after `samples` and `seconds`."""
        return part_done(self, samples, seconds)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as values that JSON has."""
        return asdict(self)


def check_same(before: dict[str, Any], now: dict[str, Any], *, free: tuple[str, ...] = ()) -> None:
    """Raise ConfigError if a run is to go on with other settings than it began with, those in `free` aside."""
    for name, value in now.items():
        if name not in free and before.get(name) != value:
            raise ConfigError(
                problem(
                    f"the run there has {name} {before.get(name)}, not {value}",
                    expected="the settings that it began with",
                    advice="give these, or another folder",
                )
            )
