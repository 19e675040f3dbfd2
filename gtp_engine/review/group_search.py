"""Searches groups of positions side by side: the unit of work of a review, which any process can do.

A group is searched from empty trees and an empty cache (`search.puct.joint_search`), so its result depends on nothing
that was searched before, nor on where that was.
"""

import time
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Protocol

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.review.findings import Finding, finding_of
from gtp_engine.review.game_line import Position
from gtp_engine.search.limits import Limits, Progress
from gtp_engine.search.puct.joint_search import JointSearch

GROUP: Final = 32
"""Positions searched side by side: with 16 the network's batches are smaller, with 64 an interruption costs more."""


class Group(NamedTuple):
    """Positions to search, and the limits: `visits` of each, `seconds` for all of them together.

    `played` holds the point that was played in each position, None at the end of a line.
    """

    positions: tuple[Position, ...]
    played: tuple[int | None, ...]
    visits: int | None = None
    seconds: float | None = None


class Searcher(Protocol):
    """Searches groups: here, in other processes, or on other machines."""

    def search(self, groups: Iterable[Group]) -> Iterator[list[Finding]]:
        """Yield what was found in the positions of each group, in order; raises what the evaluator raises."""
        ...


class GroupSearch:
    """A searcher with one evaluator, which stays open; groups have up to `size` positions."""

    def __init__(self, config: Config, evaluator: Evaluator, size: int) -> None:
        self._search: Final = JointSearch(config, evaluator, size)
        self._ignores_history: Final = config.analysis.ignore_history

    def search(self, groups: Iterable[Group]) -> Iterator[list[Finding]]:
        """Search each group when it is asked for; see `Searcher`."""
        return map(self.search_one, groups)

    def search_one(self, group: Group) -> list[Finding]:
        """Return what was found in the positions of a group."""
        end = None if group.seconds is None else time.monotonic() + group.seconds

        def is_late(_: Progress) -> bool:
            return end is not None and time.monotonic() >= end

        limits = Limits(visits=group.visits, watcher=is_late, ignores_history=self._ignores_history)
        reports = self._search.run([(position.game, position.to_play) for position in group.positions], limits)
        return [
            finding_of(position, report, played)
            for position, report, played in zip(group.positions, reports, group.played, strict=True)
        ]
