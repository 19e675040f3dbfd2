"""The evaluator that a command's configuration selects."""

from typing import Any

from gtp_engine.config import Config


def evaluator_of(config: Config) -> Any:
    """Return the evaluator, None for a search without a network; raises ModelError."""
    if not config.wants_network:
        return None
    from gtp_engine.engine.starting_board import USUAL_BOARD
    from gtp_engine.nn import load_evaluator  # here: a slow import, which rollouts do not need
    from gtp_engine.streams import write_log

    size = config.game.board_size
    # A network that cannot play this board prepares its own board size, on which the engine then starts.
    board = USUAL_BOARD if size is None else (size, size)
    return load_evaluator(config.network, log=write_log, board=board)
