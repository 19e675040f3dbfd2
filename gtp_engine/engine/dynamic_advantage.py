"""The advantage with which the engine plays a handicap game, so that it neither despairs nor plays carelessly.

The side that starts behind has to expect that it outplays the other one, or all moves look equally lost; the side that
starts ahead should expect the opposite and play safely.  The advantage begins at a cap that grows with the handicap.
Then it follows the winrate of the side that started behind: it grows while that is below 5 %, and shrinks while it is
above 25 %.  So it vanishes as the game becomes even.

The rule and its numbers are KataGo's (`updateDynamicPDAHelper` in `cpp/command/gtp.cpp`).
"""

from typing import Final

import numpy as np

from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.phases import initial_advantage_black
from gtp_engine.search.report import SearchReport, for_color
from gtp_engine.search.tree_reuse import is_continued

LARGEST: Final = 2.75
"""Doublings; KataGo's networks have seen few games with more."""

STEP: Final = 0.125
"""Doublings by which the advantage changes from one of the engine's moves to the next."""

LOW_VALUE: Final = -0.9
HIGH_VALUE: Final = -0.5
"""Results in [−1, 1] between which the side that started behind is kept."""

LARGEST_SMALL_BOARD: Final = 7
"""Width or height up to which a game is never a handicap game."""

_AREA_19: Final = 19 * 19


class DynamicAdvantage:
    """The advantage from move to move; `per_point` is the configured `puct.dynamic_advantage`.

    Some controllers set up the whole game before each move, so a game is recognised by its moves: it is the same game
    as long as they continue those of the last call.
    """

    def __init__(self, per_point: float) -> None:
        self.per_point = per_point
        self._last_game: Game | None = None
        self._last_black = 0.0
        self._last_value_black = 0.0

    def black(self, game: Game) -> float:
        """Return Black's advantage, doublings, for the next move of either colour; negative if White has it."""
        ahead_black = initial_advantage_black(game)
        behind = WHITE if ahead_black >= 0.0 else BLACK
        advantage = cap = largest_advantage(abs(ahead_black), game.width, game.height, per_point=self.per_point)
        has_begun = self._last_game is not None and is_continued(self._last_game, game)
        if has_begun and np.any(game.board.color == WHITE):
            last = for_color(self._last_black, behind)
            advantage = min(max(0.0, last + _change(for_color(self._last_value_black, behind))), cap)
        return for_color(advantage, behind) if advantage > 0.0 else 0.0

    def record(self, game: Game, report: SearchReport) -> None:
        """Note the search for a move that is about to be played in `game`; its advantage was `black(game)`."""
        self._last_black = self.black(game)
        self._last_value_black = report.value_black
        self._last_game = game.copy()


def largest_advantage(points: float, width: int, height: int, *, per_point: float) -> float:
    """Return the cap, doublings, for a side that started `points` behind; 0 where that is too little for a handicap.

    On small boards a point counts for more.
    """
    scaling = float(_AREA_19 / (width * height)) ** 0.75
    threshold = max(4.0 / scaling, 2.0)
    if points < threshold or min(width, height) <= LARGEST_SMALL_BOARD:
        return 0.0
    cap = min(LARGEST, per_point * (points - threshold) * scaling)
    return float(np.floor(cap / STEP + 0.5)) * STEP


def _change(value: float) -> float:
    """Return by how much the advantage of a side with this result in [−1, 1] changes."""
    if value < LOW_VALUE:
        return STEP
    return -STEP if value > HIGH_VALUE else 0.0
