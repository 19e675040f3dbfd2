"""The evaluators that a command's configuration selects."""

from dataclasses import replace
from typing import Any

from gtp_engine.config import Config


def evaluator_of(config: Config) -> Any:
    """Return the evaluator, None for a search without a network; raises ModelError."""
    return _load(config) if config.wants_network else None


def human_evaluator_of(config: Config) -> Any:
    """Return the evaluator of the human-like network, None if the configuration names none; raises ModelError.

    It has no 8-bit copy (`can_be_quantized`), so a precision of int8 applies to the other network only.
    """
    network = config.network
    if network.human_model is None:
        return None
    precision = "auto" if network.precision == "int8" else network.precision
    return _load(replace(config, network=replace(network, model=network.human_model, precision=precision)))


def calibrated_evaluator_of(config: Config) -> Any:
    """Return the evaluator of the network that ships, for levels where another network has none; raises ModelError."""
    from gtp_engine.nn.shipped import shipped_folder

    network = replace(config.network, model=str(shipped_folder()), human_model=None, precision="auto")
    return _load(replace(config, network=network))


def _load(config: Config) -> Any:
    from gtp_engine.engine.starting_board import USUAL_BOARD
    from gtp_engine.nn import load_evaluator  # here: a slow import, which rollouts do not need
    from gtp_engine.streams import write_log

    size = config.game.board_size
    # A network that cannot play this board prepares its own board size, on which the engine then starts.
    board = USUAL_BOARD if size is None else (size, size)
    return load_evaluator(config.network, log=write_log, board=board)
