"""The boards of training games and their shares, and how far the moves are varied (`selfplay.varied_plans`)."""

import re
from collections.abc import Mapping
from typing import Final

from gtp_engine.errors import ConfigError, problem, shown
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE
from gtp_engine.selfplay.policy_games import OPENING_TEMPERATURE, Temperatures
from gtp_engine.training.distillation.distillation_settings import GenerateSettings
from gtp_engine.training.distillation.shards import BoardSides

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


def parse_sizes(text: str) -> dict[BoardSides, float]:
    """Return the shares of positions on each board, which sum to 1, for text such as "9=4,13=2,19x13=.5".

    Weights may have any sum; the name of a preset stands for its text.  Raises ConfigError.
    """
    weights: dict[BoardSides, float] = {}
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
