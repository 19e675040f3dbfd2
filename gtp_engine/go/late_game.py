"""Whether a game is far enough for people to stop: enough stones are on the board."""

from typing import Final

import numpy as np

from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game

LATE_SHARE: Final = 0.3
"""Share of the points that must hold stones before a game may end by agreement; people never stop earlier."""


def is_late(game: Game) -> bool:
    """Return whether enough of the board is filled for the game to end."""
    stones = int(np.count_nonzero((game.board.color == BLACK) | (game.board.color == WHITE)))
    return stones >= LATE_SHARE * game.width * game.height
