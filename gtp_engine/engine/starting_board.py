"""The board size that an engine starts with: as configured, else the usual one of its network."""

from typing import Final

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator

USUAL_BOARD: Final = (19, 19)
"""Default width and height."""


def first_board(config: Config, evaluator: Evaluator | None) -> tuple[int, int]:
    """Return the width and height that a game starts with: as configured, else the network's usual ones."""
    size = config.game.board_size
    return usual_board(evaluator) if size is None else (size, size)


def usual_board(evaluator: Evaluator | None) -> tuple[int, int]:
    """Return the usual width and height of an evaluator's networks."""
    board = USUAL_BOARD if evaluator is None else evaluator.info.boards.usual
    return board if plays(evaluator, *board) else USUAL_BOARD


def playable_board(evaluator: Evaluator | None, width: int, height: int) -> tuple[int, int]:
    """Return `width` and `height` if an evaluator's networks play such a board, else their usual ones."""
    return (width, height) if plays(evaluator, width, height) else usual_board(evaluator)


def plays(evaluator: Evaluator | None, width: int, height: int) -> bool:
    """Return whether all networks of an evaluator play a board of this size, according to their files."""
    return evaluator is None or evaluator.info.boards.include(width, height)
