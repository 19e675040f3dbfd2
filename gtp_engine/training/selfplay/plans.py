"""Plans of games: rules, komi, handicap and opening, which differ in everything but the board (`varied_plan`).

For training, and for whatever else should see what a network may meet.  Shares are of games.  Numbers without a source
were chosen, not measured.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.go.handicap import free_handicap_points
from gtp_engine.go.rules import PRESETS, Rules

OPENING_SHARE: Final = 0.04
"""Mean length of the varied opening, as a share of the board's points; KataGo's self-play begins games with as many
moves of its policy (`policyInitAreaProp` in its cpp/configs/training/selfplay1.cfg)."""
LONGEST_GAME: Final = 1.5
"""A game stops after this many moves for each point of the board: weak networks never pass."""
KOMI_DEVIATION: Final = 0.15
"""Standard deviation of komi from the usual one of the rules, in points per line of the board: 3 on 19×19, so that some
games are decided before they begin and most are not."""


class GamePlan(NamedTuple):
    """How a game is played, except for the size of its board."""

    rules: Rules
    komi: float  # points for White, a multiple of one half
    opening_length: int = 0  # moves drawn at the opening's temperature
    handicap: tuple[int, ...] = ()  # points of Black's handicap stones
    white_passes: int = 0  # White passes this often first, so that Black's handicap stones are moves of the policy
    even_at: int | None = None  # after this many moves komi is set so that the evaluator considers the game even
    stops_when_decided: bool = False
    decided_from: float = 0.0  # moves per point of the board before which it does not stop as decided
    advantage_black: float = 0.0  # Black's playout doubling advantage, see `Conditions`
    longest: float = LONGEST_GAME  # moves per point of the board after which the game stops


Planner = Callable[[np.random.Generator, int, int], GamePlan]
"""Draws the plan of a game on a board of the given width and height."""


def komi_near(rules: Rules, deviation: float, rng: np.random.Generator, width: int, height: int) -> float:
    """Return a random komi around the usual one of `rules`; `deviation` is in points per line of the board."""
    offset = float(rng.normal()) * deviation * math.sqrt(width * height)
    return rules.default_komi() + round(2 * offset) / 2


def draw_opening_length(rng: np.random.Generator, width: int, height: int) -> int:
    """Return for how many moves a game is varied; its mean is OPENING_SHARE of the board."""
    return int(rng.exponential(OPENING_SHARE * width * height))


RULE_WEIGHTS: Final[Mapping[str, float]] = {
    "chinese": 3,
    "japanese": 3,
    "tromp-taylor": 2,
    "aga": 1,
    "new-zealand": 1,
    "chinese-ogs": 1,
    "cgos": 1,
    "ing": 1,
    "stone-scoring": 0.5,
    "ancient-territory": 0.5,
    "aga-button": 0.5,
}
"""Relative frequency of each rule set: all presets, the common ones most often."""

WIDE_KOMI_SHARE: Final = 0.1
WIDE_KOMI_DEVIATION: Final = 0.6
"""Share of games with a komi spread wide, and its standard deviation in points for each line of the board: 11 on
19×19.  KataGo's self-play has 6% of games with 12 points (`komiBigStdev`)."""

EVEN_SHARE: Final = 0.5
"""Share of games whose komi makes up for the handicap, or for what happened in the varied opening.  Without it,
four of ten positions on 9×9 were of games decided by 98%."""

HANDICAP_SHARE: Final = 0.08
MOST_STONES: Final = 5
POINTS_PER_STONE: Final = 25
"""Share of games with handicap; 2 to 5 stones, but at most one for each 25 points of the board: 3 on 9×9, where 5
alone decide a game."""
FREELY_PLACED_SHARE: Final = 0.5
"""Share of the handicap games with stones on the usual points; in the others the policy places them."""

STOPPED_SHARE: Final = 0.75
"""Share of games that stop once they are decided.  Most endgames of decided games teach nothing new; the rest is
played to the passes, so that a student learns to finish a game at any score."""


HANDICAP_ADVANTAGE_SHARE: Final = 0.5
EVEN_ADVANTAGE_SHARE: Final = 0.01
MOST_DOUBLINGS: Final = 3
"""Shares of the games with handicap and of the others that have a playout doubling advantage, White's where there is a
handicap; half a doubling to three.  As in KataGo's self-play (`handicapAsymmetricPlayoutProb`,
`normalAsymmetricPlayoutProb`, and `maxAsymmetricRatio` 8)."""


def plan_with_advantages(rng: np.random.Generator, width: int, height: int) -> GamePlan:
    """Return a varied plan, some with a playout doubling advantage: for teachers that know what it means."""
    plan = varied_plan(rng, width, height)
    is_even = not plan.handicap and not plan.white_passes
    if rng.random() >= (EVEN_ADVANTAGE_SHARE if is_even else HANDICAP_ADVANTAGE_SHARE):
        return plan
    doublings = 0.5 * int(rng.integers(1, 2 * MOST_DOUBLINGS + 1))
    return plan._replace(advantage_black=doublings if is_even and rng.random() < 0.5 else -doublings)


def varied_plan(rng: np.random.Generator, width: int, height: int) -> GamePlan:
    """Return the plan of a game; see the shares above."""
    weights = np.array(list(RULE_WEIGHTS.values()))
    rules = PRESETS[list(RULE_WEIGHTS)[rng.choice(len(weights), p=weights / weights.sum())]]
    deviation = WIDE_KOMI_DEVIATION if rng.random() < WIDE_KOMI_SHARE else KOMI_DEVIATION
    opening = draw_opening_length(rng, width, height)
    is_made_even = rng.random() < EVEN_SHARE
    plan = GamePlan(
        rules,
        komi_near(rules, deviation, rng, width, height),
        opening,
        even_at=opening if is_made_even else None,
        stops_when_decided=bool(rng.random() < STOPPED_SHARE),
    )
    most = min(MOST_STONES, width * height // POINTS_PER_STONE)
    if rng.random() >= HANDICAP_SHARE or most < 2:
        return plan
    stones = int(rng.integers(2, most + 1))
    if rng.random() < FREELY_PLACED_SHARE:
        return plan._replace(handicap=free_handicap_points(stones, width, height))
    even_at = max(opening, 2 * stones - 1) if is_made_even else None
    return plan._replace(white_passes=stones - 1, even_at=even_at)
