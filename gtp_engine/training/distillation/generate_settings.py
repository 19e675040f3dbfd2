"""What data is generated: settings that become the flags of `gtp-engine generate`.  Imports nothing heavy."""

from dataclasses import dataclass
from typing import Final

from gtp_engine.config.option import Section, option

MOST_WORKERS: Final = 4096
MOST_SEEDS: Final = 1 << 18
OF_PLAYER: Final = ("player_share", "visits")
"""Settings that mean nothing without a player."""
_LEAST_MINUTES: Final = 1e-6


@dataclass(frozen=True)
class GenerateSettings(Section, name="generate"):
    """Every field is an option (`config.option`)."""

    positions: int | None = option(None, "Stop when the folder holds this many positions. [default: no limit]", low=1)
    minutes: float | None = option(None, "Stop after this many minutes. [default: no limit]", low=_LEAST_MINUTES)
    sizes: str = option("mixed", "Boards and their shares of the positions: 9=4,13=2,19x13=.5, or mixed, or small.")
    workers: int = option(1, "Processes.", low=1, high=MOST_WORKERS)
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
