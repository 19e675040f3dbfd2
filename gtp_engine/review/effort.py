"""How much a review searches, and which positions are searched again."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gtp_engine.errors import ConfigError, problem
from gtp_engine.review.findings import Finding

DEFAULT_VISITS: Final = 100
"""Visits of every position in the first pass: at half as many, moves of small prior are hardly tried at all."""

SECOND_SHARE: Final = 0.25
"""Share of the positions that are searched again, with SECOND_FACTOR times the visits, so that both passes cost about
the same."""

SECOND_FACTOR: Final = 4

FIRST_PASS_TIME: Final = 0.5
"""Share of a total time that the first pass takes."""

WINRATE_POINTS: Final = 20.0
"""Points of interest for a winrate of 1: in an even game, five percent are about a point."""

CLOSE_VISITS: Final = 0.7
"""Visits of the second candidate, as a share of the first's, from which on a decision is close."""

CLOSE_INTEREST: Final = 1.0
"""Interest of a close decision, points: less than that of a mistake."""


@dataclass(frozen=True)
class Effort:
    """What a review may spend: `visits` for each position, or `seconds` for each, or `total` seconds for a game.

    With visits or a total time there is a second pass, over the positions where most was at stake.  Raises ConfigError
    for two limits at once and for values that are not positive.
    """

    visits: int | None = None
    seconds: float | None = None
    total: float | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        if len(given) > 1:
            raise ConfigError(problem(f"both {' and '.join(given)}", expected="one limit for the review"))
        for name, value in given.items():
            if not value > 0:
                raise ConfigError(problem(f"{name} {value}", expected="a number above 0"))

    @property
    def first_visits(self) -> int | None:
        """Visits of each position in the first pass; None if time limits it."""
        return None if self.is_timed else self.visits or DEFAULT_VISITS

    @property
    def is_timed(self) -> bool:
        """Whether time limits the review: it is then different every time."""
        return self.seconds is not None or self.total is not None

    @property
    def has_second_pass(self) -> bool:
        """Whether positions of interest are searched again."""
        return self.seconds is None


def of_interest(findings: Sequence[Finding]) -> list[int]:
    """Return the numbers of the positions to search again, ascending: before and after the largest changes.

    A change counts where winrate or lead jumped although another move was better, and a decision between two candidates
    counts a little.
    """
    interest = [_closeness(finding) for finding in findings]
    for before, after in pairwise(findings):
        change = abs(after.lead - before.lead) + WINRATE_POINTS * abs(after.winrate - before.winrate)
        for number in (before.number, after.number):
            interest[number] = max(interest[number], change)
    order = sorted(range(len(findings)), key=lambda number: (-interest[number], number))
    return sorted(order[: max(1, round(SECOND_SHARE * len(findings)))])


def _closeness(finding: Finding) -> float:
    """Return the interest of a decision in itself."""
    if len(finding.candidates) < 2:
        return 0.0
    first, second = finding.candidates[:2]
    return CLOSE_INTEREST if second.visits >= CLOSE_VISITS * first.visits else 0.0
