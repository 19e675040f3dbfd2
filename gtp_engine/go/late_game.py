"""Whether a game is far enough for people to stop: enough stones are on the board."""

from typing import Final

import numpy as np

from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring

LATE_SHARE: Final = 0.3
"""Share of the points that must hold stones before a game may end by agreement; people never stop earlier."""

LATE_SHARE_AFTER_PASS: Final = 0.15
"""The same where the opponent has passed and who plays on in settled territory loses points.  A board with handicap
stones alone has fewer."""


def is_late(game: Game) -> bool:
    """Return whether enough of the board is filled for the game to end."""
    return _share(game) >= LATE_SHARE


def may_stop(game: Game) -> bool:
    """Return whether enough of the board is filled for the game to end if everything is settled."""
    has_offer = game.consecutive_passes > 0 and game.rules.scoring is Scoring.TERRITORY
    return _share(game) >= (LATE_SHARE_AFTER_PASS if has_offer else LATE_SHARE)


def _share(game: Game) -> float:
    """Return the share of the points that hold stones."""
    stones = int(np.count_nonzero((game.board.color == BLACK) | (game.board.color == WHITE)))
    return stones / (game.width * game.height)
