"""What is generated and trained: frozen dataclasses, whose fields become flags of the command line.

GenerateSettings       the games of `gtp-engine generate`
DistillationLearning   how a network learns
TrainConfig            a run of `gtp-engine train run`, recorded in every checkpoint

Needs no torch, and imports nothing heavy.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from gtp_engine.base.errors import ConfigError
from gtp_engine.config.option import Section, option
from gtp_engine.training.core.learning import Learning, with_default
from gtp_engine.training.nets.new import Shape

MOST_WORKERS: Final = 4096
MOST_SEEDS: Final = 1 << 18
OF_PLAYER: Final = ("player_share", "visits")
"""Settings that mean nothing without a player."""
_LEAST_GENERATING: Final = 1e-6
"""Minutes at least."""


@dataclass(frozen=True)
class GenerateSettings(Section, name="generate"):
    """Every field is an option (`config.option`)."""

    positions: int | None = option(None, "Stop when the folder holds this many positions. [default: no limit]", low=1)
    minutes: float | None = option(None, "Stop after this many minutes. [default: no limit]", low=_LEAST_GENERATING)
    sizes: str = option("mixed", "Boards and their shares of the positions: 9=4,13=2,19x13=.5, or mixed, or small.")
    workers: int | None = option(None, bounds=(1, MOST_WORKERS))
    """Processes. [default: 1, on a Ray cluster as many as it has cores for]"""
    threads: int = option(0, "Threads of each process; 0: its share of the cores.", low=0)
    batch: int = option(16, "Games played side by side in each process.", low=1)
    ray: str | None = option(None)
    """Address of a Ray cluster to run the workers on; auto: the running one; local: a new one."""
    seed: int = option(1, bounds=(0, MOST_SEEDS - 1))
    """Seed of the games; in a folder with shards, the first unused seed from here."""
    temperature: float = option(1.0, "Temperature of the policy after the opening.", bounds=(0.1, 10))
    hot_share: float = option(
        0.04, "Share of moves drawn at the opening's temperature throughout a game, for positions after mistakes.",
        bounds=(0, 1),
    )  # fmt: skip
    """About one in twenty moves of a search's tree is such a move."""
    player: str | None = option(None)
    """Network file whose moves are played in some of the games; NET labels all. [default: NET plays all]"""
    """A student that searches comes to positions that its teacher avoids.  With two thirds of 24,000 positions of 9×9
    from games of its own searches, labelled by the teacher, a student won 57% of 300 games against one that learned
    from the teacher's games only."""
    player_share: float = option(0.5, "Share of the games that --player plays.", bounds=(0, 1))
    visits: int = option(1, "Visits of --player's search for each move; 1: its policy alone.", low=1)
    looks: int = option(1, bounds=(1, 8))
    """Orientations of the board in which NET evaluates each position; the mean is the label."""
    held_out: float = option(0.02, "Share of games held out for validation.", bounds=(0, 1))
    """20,000 of a million positions, which distinguish losses that differ by 1%."""
    provider: str = option("auto", "Provider that runs NET, as in `gtp-engine --provider`.")
    precision: str = option("auto", "Precision of NET, as in `gtp-engine --precision`.")
    torch: bool = option(False)
    """Run NET with PyTorch, on a GPU if there is one; NET is a .bin.gz file or one that was trained here."""
    compiled: bool = option(False, "Have torch compile the networks: a GPU then evaluates faster, after two minutes.")
    compressed: bool = option(True, "Compress shards: less than half the space, a hundred times as long to write.")


@dataclass(frozen=True)
class HumanDataSettings(Section, name="human_data"):
    """Samples of games between people; every field is an option (`config.option`)."""

    positions: int = option(250_000, "Positions to train on, as many of each group of ranks.", low=1)
    held_out_positions: int = option(12_000, "Positions of the players that are held out.", low=0)
    per_game: int = option(24, "Positions of a game, drawn at random.", bounds=(1, 256))
    held_out: float = option(0.03, "Share of the players that are held out.", bounds=(0, 1))
    seed: int = option(1, "Seed of the choice of games and positions.", bounds=(0, MOST_SEEDS - 1))


@dataclass(frozen=True)
class RankFitSettings(Section, name="rank_fit"):
    """Players whose games tell how moves depend on the rank; every field is an option (`config.option`)."""

    players: int = option(30, "Players of each group of ranks, with two games each.", low=4)
    moves: int = option(24, "Moves of a player looked at in a game.", low=24)
    least_length: int = option(60, "Moves that a game has at least.", low=1)
    held_out: float = option(
        0.03, "Share of the players that the network has not learned from, as of `train human`; 1: all players.",
        bounds=(0, 1),
    )  # fmt: skip
    seed: int = option(1, "Seed of the choice of players and games.", bounds=(0, MOST_SEEDS - 1))


@dataclass(frozen=True)
class DistillationLearning(Learning, name="training"):
    """How a network learns from a teacher's labels."""

    learning_rate: float = with_default("learning_rate", 0.01)
    """KL from the teacher's policy of b4c64 on 9×9 after 200,000 samples with Muon: 0.003 0.705, 0.01 0.649, 0.02
    0.636, 0.04 0.642.  Long runs on boards of all sizes are safer below the best of a short one.  AdamW reached 0.724
    with 0.003."""
    fixed_norms: float = option(0.15, bounds=(0, 1))
    """Last part of the run, in which norms keep their statistics, as a share of it."""
    """The statistics of board sizes differ, and the network has to cope with the mean that it is exported with (mean
    error of the lead on 19×19, b6c96, 9 minutes after 72 without: 3.4 instead of 6.0 points)."""

    frozen_blocks: int = option(0, low=0)
    """First blocks of the trunk that stay as they are; a new profile of players is added after them."""
    compiled: bool = option(False, "Have torch compile the network: a GPU then trains faster, after a minute.")

    def __post_init__(self) -> None:
        """Raise ConfigError for settings that are out of bounds."""
        super().__post_init__()
        if self.batch < 2:
            raise ConfigError(f"batches of {self.batch}", expected="at least 2 positions")


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
    board_shares: tuple[tuple[int, int, float], ...] = ()
    """Width, height and share of the batches of each board size; none: in proportion to their positions."""
    in_memory: bool = False
    """Whether all positions lie in the memory of the device (`batches.Batches`)."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as values that JSON has."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TrainConfig":
        """Return the run that `to_json` wrote, of earlier versions too; raises TypeError or KeyError for others."""
        return cls(
            **{name: value for name, value in values.items() if name not in ("tensorboard", "loss")}
            | {
                "data": Path(values["data"]),
                "out": Path(values["out"]),
                "learning": DistillationLearning(**values["learning"]),
                "shape": Shape(**values["shape"]),
                "init": None if values["init"] is None else Path(values["init"]),
                "board_shares": tuple(tuple(each) for each in values["board_shares"]),
            }
        )
