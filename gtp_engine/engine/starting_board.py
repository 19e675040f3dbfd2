"""The board that an engine starts on: as configured, else the one that its network plays best."""

from typing import Final

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator

USUAL_BOARD: Final = (19, 19)
"""Width and height where nobody says anything else."""


def first_board(config: Config, evaluator: Evaluator | None) -> tuple[int, int]:
    """Return width and height of the board that a game starts on: as configured, else the network's usual one."""
    size = config.game.board_size
    return usual_board(evaluator) if size is None else (size, size)


def usual_board(evaluator: Evaluator | None) -> tuple[int, int]:
    """Return width and height of the board that an evaluator's networks are most likely to play on, all of them."""
    board = USUAL_BOARD if evaluator is None else evaluator.info.boards.usual
    return board if plays(evaluator, *board) else USUAL_BOARD


def playable_board(evaluator: Evaluator | None, width: int, height: int) -> tuple[int, int]:
    """Return width and height of this board if an evaluator's networks play it, else of their usual one."""
    return (width, height) if plays(evaluator, width, height) else usual_board(evaluator)


def plays(evaluator: Evaluator | None, width: int, height: int) -> bool:
    """Return whether all networks of an evaluator play a board, according to their files."""
    return evaluator is None or evaluator.info.boards.include(width, height)
