"""How much a review searches, and which positions are searched again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gtp_engine.errors import ConfigError, problem
from gtp_engine.review.findings import Finding
from gtp_engine.review.game_line import Place

DEFAULT_VISITS: Final = 80
"""Visits of every position on 19×19 in the first pass: at half as many, moves of small prior are hardly tried at all;
with more, twenty games of 250 moves take more than 40 minutes on two cores."""

DEFAULT_POINTS: Final = 19 * 19
LEAST_POINTS: Final = 9 * 9
"""Points of the board that DEFAULT_VISITS is for, and of the board with the most visits; smaller ones get no more."""

SECOND_SHARE: Final = 0.25
"""Share of the positions that are searched again, with SECOND_FACTOR times the visits, so that in long games both
passes cost about the same."""

SECOND_LEAST: Final = 24
"""Least number of positions that are searched again: those before and after ten mistakes, and a few more."""

SECOND_FACTOR: Final = 4

FIRST_PASS_TIME: Final = 0.5
"""Share of a total time that the first pass takes."""

WINRATE_POINTS: Final = 10.0
"""Points that a change of the winrate by 1 adds to the interest of a move: fewer than it is worth in an even game,
because mistakes are listed by points."""

OWN_SHARE: Final = 0.25
"""Factor on the interest of a move that the search would have played: by definition it loses nothing."""

GAIN_SHARE: Final = 0.5
"""Factor on the interest of a move after which its side is better off: the search was wrong, the move is no mistake.
Of the ten biggest mistakes of each of ten games at 20 visits, 82 of 100 were among the fifteen biggest at 200 visits
with these three values, and at least 7 of each game; with 20, 1 and 1 it was 77, and at least 6."""

CLOSE_VISITS: Final = 0.7
"""Visits of the second candidate, as a share of the first's, from which on a decision is close."""

CLOSE_INTEREST: Final = 1.0
"""Interest of a close decision, points: less than that of a mistake."""


@dataclass(frozen=True)
class Effort:
    """What a review may spend: `visits` for each position, or `seconds` for each, or `total` seconds for a game.

    Without any of them visits depend on the board.  With visits or a total time there is a second pass, over the
    positions where most was at stake.  Raises ConfigError for two limits at once and for values that are not positive.
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

    def first_visits(self, points: int) -> int | None:
        """Return the visits of each position in the first pass, on a board of `points`; None if time limits it.

        By default a position of any board takes about the same time.
        """
        if self.is_timed:
            return None
        return self.visits or round(DEFAULT_VISITS * DEFAULT_POINTS / min(max(points, LEAST_POINTS), DEFAULT_POINTS))

    @property
    def is_timed(self) -> bool:
        """Whether time limits the review; its result then varies from run to run."""
        return self.seconds is not None or self.total is not None

    @property
    def has_second_pass(self) -> bool:
        """Whether positions of interest are searched again."""
        return self.seconds is None


def of_interest(findings: Sequence[Finding], places: Sequence[Place]) -> list[int]:
    """Return the places to search again, ascending: those before and after what may be the largest mistakes.

    A decision between two candidates counts a little; where the record changes the position, no move is responsible.
    """
    interest = [_closeness(finding) for finding in findings]
    for number, place in enumerate(places):
        if place.before is not None and not place.position.is_changed:
            change = _change(findings[place.before], findings[number], place.vertex)
            for each in (place.before, number):
                interest[each] = max(interest[each], change)
    order = sorted(range(len(findings)), key=lambda number: (-interest[number], number))
    return sorted(order[: max(SECOND_LEAST, round(SECOND_SHARE * len(findings)))])


def _change(before: Finding, after: Finding, vertex: str | None) -> float:
    """Return the interest of the move `vertex`, in points, from the change of lead and winrate."""
    sign = 1.0 if before.to_play == "B" else -1.0
    lost = sign * (before.lead - after.lead)
    change = abs(lost) + WINRATE_POINTS * abs(before.winrate - after.winrate)
    is_own = before.best is not None and before.best.vertex == vertex
    return change * (GAIN_SHARE if lost < 0 else 1.0) * (OWN_SHARE if is_own else 1.0)


def _closeness(finding: Finding) -> float:
    """Return the interest of a position in which two candidates are close, in points; 0 for any other."""
    if len(finding.candidates) < 2:
        return 0.0
    first, second = finding.candidates[:2]
    return CLOSE_INTEREST if second.visits >= CLOSE_VISITS * first.visits else 0.0
