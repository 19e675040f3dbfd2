"""The evaluators that a command's configuration selects."""

from dataclasses import replace
from typing import Any

from gtp_engine.config import Config


def evaluator_of(config: Config) -> Any:
    """Return the evaluator, None for a search without a network; raises ModelError."""
    return _load(config) if config.wants_network else None


def human_evaluator_of(config: Config) -> Any:
    """Return the evaluator of the human-like network, None if the configuration names none; raises ModelError."""
    model = config.network.human_model
    return None if model is None else _load(replace(config, network=replace(config.network, model=model)))


def _load(config: Config) -> Any:
    from gtp_engine.engine.starting_board import USUAL_BOARD
    from gtp_engine.nn import load_evaluator  # here: a slow import, which rollouts do not need
    from gtp_engine.streams import write_log

    size = config.game.board_size
    # A network that cannot play this board prepares its own board size, on which the engine then starts.
    board = USUAL_BOARD if size is None else (size, size)
    return load_evaluator(config.network, log=write_log, board=board)
