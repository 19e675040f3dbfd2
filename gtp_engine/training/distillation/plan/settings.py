"""What is planned: settings that become the flags of `gtp-engine train plan`.  Imports nothing heavy."""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from gtp_engine.config.option import Section, option
from gtp_engine.errors import ConfigError, problem, shown
from gtp_engine.training.core.learning import DEVICES
from gtp_engine.training.distillation.generate_settings import MOST_SEEDS
from gtp_engine.training.nets.shape import Shape

_LEAST_MINUTES: Final = 0.05
_NETWORK: Final = re.compile(r"b(\d{1,3})c(\d{1,4})(?:=(\d+(?:\.\d+)?)([kM]?))?")
_FACTORS: Final = {"": 1, "k": 1_000, "M": 1_000_000}
_LEAST_POOLING_BLOCKS: Final = 2


class PlannedNetwork(NamedTuple):
    """A network to train, until it has seen `samples`, or as long as there is time if that is 0."""

    shape: Shape
    samples: int

    @property
    def name(self) -> str:
        """The name of the network, and of its file."""
        return f"tengen-{self.shape.title}"


@dataclass(frozen=True)
class PlanSettings(Section, name="plan"):
    """Every field is an option (`config.option`)."""

    minutes: float = option(27.0, "Length of the whole plan.", low=_LEAST_MINUTES)
    part: float = option(
        9.0, "Length of a part: each run of the command ends after so many minutes.", low=_LEAST_MINUTES
    )
    networks: str = option(
        "b10c128", "Networks to train one after the other, with their samples; the last may get the rest of the time."
    )
    sizes: str = option(
        "19=7,13=3,9=4,7=.3,11=.5",
        "Boards and their shares of positions and batches, as in `gtp-engine generate`.",
    )
    epochs: float = option(
        6.0, "How often training should see each position, which limits how many are generated.", low=0.1
    )
    """Each time in another orientation of the board, of which a square has eight."""
    workers: int = option(0, "Processes that play; 0: two for each core.", low=0, high=1024)
    games: int = option(128, "Games side by side in each process.", low=1)
    player_share: float = option(0.5, "Share of the games that --player plays.", low=0, high=1)
    visits: int = option(1, "Visits of --player's search for each move; 1: its policy alone.", low=1)
    looks: int = option(
        1, "Orientations in which the teacher evaluates each position; the mean is the label.", low=1, high=8
    )
    held_out: float = option(0.005, "Share of games held out for validation.", low=0, high=1)
    batch: int = option(1024, "Positions in a step of training, if memory suffices.", low=2)
    learning_rate: float = option(0.01, "Highest learning rate.", low=1e-9)
    device: str = option("auto", "Device of all networks.", choices=DEVICES)
    compiled: str = option(
        "auto",
        "Whether torch compiles the networks; auto: on a GPU, where that is faster; teacher: only the teacher.",
        choices=("auto", "on", "off", "teacher"),
    )
    seed: int = option(1, "Seed of the games, the weights and the order of positions.", low=0, high=MOST_SEEDS - 1)
    license: str = option("", "Licence of the weights, to be written into the networks.")

    def __post_init__(self) -> None:
        """Raise ConfigError for values out of bounds, and for networks that cannot be read."""
        super().__post_init__()
        self.planned_networks()

    @property
    def compiled_teacher(self) -> str:
        """Whether torch compiles the teacher: "auto", "on" or "off"."""
        return "auto" if self.compiled == "teacher" else self.compiled

    @property
    def compiled_training(self) -> str:
        """The same for the networks in training."""
        return "off" if self.compiled == "teacher" else self.compiled

    def planned_networks(self) -> list[PlannedNetwork]:
        """Return the networks in their order; raises ConfigError."""
        entries = [_NETWORK.fullmatch(entry.strip()) for entry in self.networks.split(",")]
        planned = [] if None in entries else [_planned(entry) for entry in entries if entry]
        titles = [each.shape.title for each in planned]
        if not planned or len(set(titles)) < len(titles) or not all(each.samples for each in planned[:-1]):
            raise ConfigError(
                problem(
                    f"networks {shown(self.networks)}",
                    expected="sizes, each once, all but the last with a number of samples, such as b6c96=40M,b10c128",
                )
            )
        return planned


def _planned(found: re.Match[str]) -> PlannedNetwork:
    blocks, channels = int(found[1]), int(found[2])
    pooled = min(Shape.pooled_channels, max(1, channels // 3))
    pooling = Shape.pooling_every if blocks >= Shape.pooling_every else min(blocks, _LEAST_POOLING_BLOCKS)
    shape = Shape(blocks=blocks, channels=channels, pooling_every=pooling, pooled_channels=pooled)
    return PlannedNetwork(shape, round(float(found[3]) * _FACTORS[found[4]]) if found[3] else 0)
