"""The variety of training games: boards, rules, komi, handicap.

Shares are of games.  Numbers without a source were chosen, not measured.
"""

import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from gtp_engine.errors import ConfigError, problem, shown
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE
from gtp_engine.go.handicap import free_handicap_points
from gtp_engine.go.rules import PRESETS, Rules
from gtp_engine.selfplay.policy_games import (
    KOMI_DEVIATION,
    OPENING_TEMPERATURE,
    GamePlan,
    Temperatures,
    draw_opening_length,
    komi_near,
)
from gtp_engine.training.distillation.generate_settings import GenerateSettings

Board = tuple[int, int]
"""Width and height."""

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
19×19.  KataGo's self-play has 6 % of games with 12 points (`komiBigStdev`)."""

EVEN_SHARE: Final = 0.5
"""Share of games whose komi makes up for the handicap, or for what happened in the varied opening.  Without it,
four of ten positions on 9×9 were of games decided by 98 %."""

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

TEMPERATURES: Final = Temperatures(
    rest=GenerateSettings.temperature, hot=OPENING_TEMPERATURE, hot_share=GenerateSettings.hot_share
)

SIZE_PRESETS: Final[Mapping[str, str]] = {
    "mixed": "19=5,13=2,9=3,7=.2,8=.2,10=.2,11=.3,12=.2,14=.2,15=.2,16=.2,17=.2,18=.2,"
    "9x7=.05,7x11=.05,13x9=.1,9x13=.1,15x11=.05,19x13=.1,13x19=.1",
    "small": "9=5,7=1,8=.5,10=.3,9x7=.1,7x9=.1",
}
"""Named shares of the boards: `mixed` has every size from 7 to 19, `small` is for the beginning of a curriculum."""

_SIZE: Final = re.compile(r"(\d{1,2})(?:x(\d{1,2}))?=(\d*\.?\d+)")


def parse_sizes(text: str) -> dict[Board, float]:
    """Return the shares of positions on each board, which sum to 1, for text such as "9=4,13=2,19x13=.5".

    Weights may have any sum; the name of a preset stands for its text.  Raises ConfigError.
    """
    weights: dict[Board, float] = {}
    for entry in SIZE_PRESETS.get(text, text).split(","):
        found = _SIZE.fullmatch(entry.strip())
        if found is None:
            raise _wrong_sizes(entry)
        board = (int(found[1]), int(found[2] or found[1]))
        if not all(MIN_SIZE <= side <= MAX_SIZE for side in board) or board in weights:
            raise _wrong_sizes(entry)
        weights[board] = float(found[3])
    total = sum(weights.values())
    if total <= 0:
        raise _wrong_sizes(text)
    return {board: weight / total for board, weight in weights.items() if weight > 0}


def _wrong_sizes(text: str) -> ConfigError:
    return ConfigError(
        problem(
            f"sizes {shown(text)}",
            expected=f"sizes from {MIN_SIZE} to {MAX_SIZE} with weights, each once, such as 9=4,13=2,19x13=.5, "
            f"or {' or '.join(SIZE_PRESETS)}",
        )
    )


def varied_plan(rng: np.random.Generator, width: int, height: int) -> GamePlan:
    """Return the plan of a game for training; see the shares above."""
    rules = _draw_rules(rng)
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


def _draw_rules(rng: np.random.Generator) -> Rules:
    names, weights = list(RULE_WEIGHTS), np.array(list(RULE_WEIGHTS.values()))
    return PRESETS[names[rng.choice(len(names), p=weights / weights.sum())]]
