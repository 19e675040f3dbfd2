"""What a skill means: how many visits the search has, and how freely a move is drawn from what it found.

Up to `POLICY_SKILL` a level plays from the network's policy for the position alone; what it plays may lose fewer points
as the skill grows.  Above that the visits grow, and the choice narrows to the best move.
"""

from math import sqrt
from typing import Final, NamedTuple

BOTTOM_SKILL: Final = -3.0
"""Skill of the weakest player that can be set: on small boards, on which mistakes cost less, the ranks reach that far
down."""

POLICY_SKILL: Final = 6.0
"""Skill up to which one evaluation has to do."""

TOP_SKILL: Final = 11.0
"""Skill of the strongest level."""

_FIRST_VISITS: Final = 4
"""Visits of the first searches: with fewer no second move is tried."""

_TOP_VISITS: Final = 32
"""Visits at `TOP_SKILL`: on 19×19 less than half a second on a slow core."""

_BOARD: Final = 19.0
"""Side of the board for which points are given; see `scaled`."""

_FIRST_TEMPERATURE: Final = 2.2
_POLICY_TEMPERATURE: Final = 0.25
_FIRST_LOSS: Final = 24.0
_POLICY_LOSS: Final = 2.0
"""Temperature of the policy, and points that a move may lose on 19×19, at skill 0 and at `POLICY_SKILL`; in even ratios
between and below.  Chosen so that moves of 20k still look like Go, and that no rank throws away a large group."""

_TOP_LOSS: Final = 0.25
"""Points that a move may lose at `TOP_SKILL`."""


class LevelSettings(NamedTuple):
    """How a move is chosen."""

    visits: int
    """Of the search; 1 is the network's evaluation of the position alone."""
    temperature: float
    """Exponent 1/T of the probabilities that a move is drawn with."""
    allowed_loss: float
    """Points that a move may lose against the best one."""


def settings_of(skill: float, width: int, height: int) -> LevelSettings:
    """Return the settings of a skill from `BOTTOM_SKILL` to `TOP_SKILL`, beyond which others count as these."""
    skill = min(max(skill, BOTTOM_SKILL), TOP_SKILL)
    scale = scaled(1.0, width, height)
    if skill <= POLICY_SKILL:
        share = skill / POLICY_SKILL
        temperature = _between(_FIRST_TEMPERATURE, _POLICY_TEMPERATURE, share)
        return LevelSettings(1, temperature, scale * _between(_FIRST_LOSS, _POLICY_LOSS, share))
    share = (skill - POLICY_SKILL) / (TOP_SKILL - POLICY_SKILL)
    visits = round(_between(_FIRST_VISITS, _TOP_VISITS, share))
    return LevelSettings(visits, _POLICY_TEMPERATURE * (1.0 - share), scale * _between(_POLICY_LOSS, _TOP_LOSS, share))


def scaled(points: float, width: int, height: int) -> float:
    """Return points on 19×19 as those on another board: mistakes cost less on a smaller one."""
    return points * sqrt(width * height) / _BOARD


def _between(first: float, last: float, share: float) -> float:
    """Return the value at `share` of the way from `first` to `last`, in even ratios."""
    return float(first * (last / first) ** share)
