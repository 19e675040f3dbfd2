"""What is generated, trained and planned: frozen dataclasses, whose fields become flags of the command line.

GenerateSettings       the games of `gtp-engine generate`
DistillationLearning   how a network learns
LossWeights            the weights of the losses
TrainConfig            a run of `gtp-engine train run`, recorded in every checkpoint
PlanSettings           `gtp-engine train plan`, with its networks

Needs no torch, and imports nothing heavy.
"""

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from gtp_engine.config.option import Section, option
from gtp_engine.errors import ConfigError, problem, shown
from gtp_engine.training.core.learning import DEVICES, Learning, with_default
from gtp_engine.training.nets.new import Shape

MOST_WORKERS: Final = 4096
MOST_SEEDS: Final = 1 << 18
OF_PLAYER: Final = ("player_share", "visits")
"""Settings that mean nothing without a player."""
_LEAST_GENERATING: Final = 1e-6
_LEAST_PLAN: Final = 0.05
"""Minutes at least, of generating and of a plan."""
_NETWORK: Final = re.compile(r"b(\d{1,3})c(\d{1,4})(?:=(\d+(?:\.\d+)?)([kM]?))?")
_FACTORS: Final = {"": 1, "k": 1_000, "M": 1_000_000}
_LEAST_POOLING_BLOCKS: Final = 2


@dataclass(frozen=True)
class GenerateSettings(Section, name="generate"):
    """Every field is an option (`config.option`)."""

    positions: int | None = option(None, "Stop when the folder holds this many positions. [default: no limit]", low=1)
    minutes: float | None = option(None, "Stop after this many minutes. [default: no limit]", low=_LEAST_GENERATING)
    sizes: str = option("mixed", "Boards and their shares of the positions: 9=4,13=2,19x13=.5, or mixed, or small.")
    workers: int | None = option(
        None, "Processes. [default: 1, on a Ray cluster as many as it has cores for]", low=1, high=MOST_WORKERS
    )
    threads: int = option(0, "Threads of each process; 0: its share of the cores.", low=0)
    batch: int = option(16, "Games played side by side in each process.", low=1)
    ray: str | None = option(
        None, "Address of a Ray cluster to run the workers on; auto: the running one; local: a new one."
    )
    seed: int = option(
        1, "Seed of the games; in a folder with shards, the first unused seed from here.", low=0, high=MOST_SEEDS - 1
    )
    temperature: float = option(1.0, "Temperature of the policy after the opening.", low=0.1, high=10)
    hot_share: float = option(
        0.04, "Share of moves drawn at the opening's temperature throughout a game, for positions after mistakes.",
        low=0, high=1,
    )  # fmt: skip
    """About one in twenty moves of a search's tree is such a move."""
    player: str | None = option(
        None, "Network file whose moves are played in some of the games; NET labels all. [default: NET plays all]"
    )
    """A student that searches comes to positions that its teacher avoids.  With two thirds of 24,000 positions of 9×9
    from games of its own searches, labelled by the teacher, a student won 57 % of 300 games against one that learned
    from the teacher's games only."""
    player_share: float = option(0.5, "Share of the games that --player plays.", low=0, high=1)
    visits: int = option(1, "Visits of --player's search for each move; 1: its policy alone.", low=1)
    looks: int = option(
        1, "Orientations of the board in which NET evaluates each position; the mean is the label.", low=1, high=8
    )
    held_out: float = option(0.02, "Share of games held out for validation.", low=0, high=1)
    """20,000 of a million positions, which distinguish losses that differ by 1 %."""
    provider: str = option("auto", "Provider that runs NET, as in `gtp-engine --provider`.")
    precision: str = option("auto", "Precision of NET, as in `gtp-engine --precision`.")
    torch: bool = option(
        False, "Run NET with PyTorch, on a GPU if there is one; NET is a .bin.gz file or one that was trained here."
    )


@dataclass(frozen=True)
class HumanDataSettings(Section, name="human_data"):
    """Samples of games between people; every field is an option (`config.option`)."""

    positions: int = option(250_000, "Positions to train on, as many of each group of ranks.", low=1)
    held_out_positions: int = option(12_000, "Positions of the players that are held out.", low=0)
    per_game: int = option(24, "Positions of a game, drawn at random.", low=1, high=256)
    held_out: float = option(0.03, "Share of the players that are held out.", low=0, high=1)
    seed: int = option(1, "Seed of the choice of games and positions.", low=0, high=MOST_SEEDS - 1)


@dataclass(frozen=True)
class RankFitSettings(Section, name="rank_fit"):
    """Players whose games tell how moves depend on the rank; every field is an option (`config.option`)."""

    players: int = option(30, "Players of each group of ranks, with two games each.", low=4)
    moves: int = option(24, "Moves of a player looked at in a game.", low=24)
    least_length: int = option(60, "Moves that a game has at least.", low=1)
    seed: int = option(1, "Seed of the choice of players and games.", low=0, high=MOST_SEEDS - 1)


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

    frozen_blocks: int = option(
        0, "First blocks of the trunk that stay as they are; a new profile of players is added after them.", low=0
    )
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
    """Whether all positions lie in the memory of the device (`batches.ResidentShards`)."""

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


class PlannedNetwork(NamedTuple):
    """A network to train, until it has seen `samples`, or as long as there is time if that is 0."""

    shape: Shape
    samples: int

    @property
    def title(self) -> str:
        """Its size: b6c96."""
        return self.shape.title

    @property
    def name(self) -> str:
        """The name of the network, and of its file."""
        return f"tengen-{self.title}"


@dataclass(frozen=True)
class PlanSettings(Section, name="plan"):
    """Every field is an option (`config.option`)."""

    minutes: float = option(27.0, "Length of the whole plan.", low=_LEAST_PLAN)
    part: float = option(9.0, "Length of a part: each run of the command ends after so many minutes.", low=_LEAST_PLAN)
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
        titles = [each.title for each in planned]
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
