"""Rollouts per second, and playouts per second of a search that plays rollouts."""

import statistics
from collections.abc import Callable, Iterable
from typing import Final

from gtp_engine.config import Config
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits
from gtp_engine.search.rollouts.rollout import POLICIES, rollouts_per_second
from gtp_engine.search.rollouts.rollout_search import RolloutSearch

SIZES: Final = (9, 19)
SEARCHES: Final = ("rave", "uct")

Table = dict[str, dict[str, float]]
"""Numbers per second by board and kind: {"9x9": {"uniform": …}}."""


def measure_rollouts(seconds: float, repeats: int) -> Table:
    """Return the rollouts per second of each policy on one core, medians of `repeats` measurements of `seconds`."""
    return _table(
        POLICIES,
        lambda size, policy: statistics.median(
            rollouts_per_second(size, size, policy, seconds) for _ in range(repeats)
        ),
    )


def measure_playouts(seconds: float, repeats: int) -> Table:
    """Return the playouts per second of each search on all cores, medians of `repeats` searches of `seconds`."""
    return _table(SEARCHES, lambda size, search: _playouts_per_second(size, search, seconds, repeats))


def _table(kinds: Iterable[str], measure: Callable[[int, str], float]) -> Table:
    return {f"{size}x{size}": {kind: measure(size, kind) for kind in kinds} for size in SIZES}


def _playouts_per_second(size: int, algorithm: str, seconds: float, repeats: int) -> float:
    """Return the median playouts per second of searches from the empty board, each with a new tree."""
    config = Config().with_values({"search.search": algorithm})
    search = RolloutSearch(config.search)
    game = Game(size)
    search.run(game, Limits(visits=1))  # loads the kernels
    rates = []
    for _ in range(repeats):
        search.clear()
        report = search.run(game, Limits(watcher=lambda progress: progress.seconds >= seconds))
        rates.append(report.playouts / report.seconds)
    search.close()
    return statistics.median(rates)
