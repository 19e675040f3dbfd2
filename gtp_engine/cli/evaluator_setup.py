"""The evaluators that a command's configuration selects."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from gtp_engine.config import Config, NetworkConfig


def evaluator_of(config: Config) -> Any:
    """Return the evaluator, None for a search without a network; raises ModelError."""
    return _load(config) if config.wants_network else None


def networks_of(config: Config) -> tuple[Any, Any, Callable[[], Any]]:
    """Return what `Engine` and `SharedEngines` take after configuration and log; raises ModelError.

    These are the evaluator, that of the human-like network, each None if there is none, and a function that loads the
    network that ships, for levels where another network has none.
    """
    return evaluator_of(config), _human_evaluator_of(config), partial(_calibrated_evaluator_of, config)


def _human_evaluator_of(config: Config) -> Any:
    """Return the evaluator of the human-like network, None if the configuration names none.

    It has no 8-bit copy (`can_be_quantized`), so a precision of int8 applies to the other network only.
    """
    network = config.network
    if network.human_model is None:
        return None
    precision = "auto" if network.precision == "int8" else network.precision
    return _load(replace(config, network=replace(network, model=network.human_model, precision=precision)))


def _calibrated_evaluator_of(config: Config) -> Any:
    """Return the evaluator of the network that ships."""
    from gtp_engine.nn.named_networks import shipped_folder

    network = replace(config.network, model=str(shipped_folder()), human_model=None, precision="auto")
    return _load(replace(config, network=network))


def with_imported_model(network: NetworkConfig) -> NetworkConfig:
    """Return the configuration with an imported copy in the place of a network file of KataGo's; raises ModelError."""
    from gtp_engine.files import expanded
    from gtp_engine.nn.network_files import is_katago_file
    from gtp_engine.streams import write_log

    if network.model is None or not is_katago_file(file := expanded(network.model)) or not file.is_file():
        return network
    from gtp_engine.networks.onnx_export.convert import imported_copy  # here: imports onnx

    return replace(network, model=str(imported_copy(file, log=write_log)))


def _load(config: Config) -> Any:
    from gtp_engine.engine.resources import USUAL_BOARD
    from gtp_engine.nn import load_evaluator  # here: a slow import, which rollouts do not need
    from gtp_engine.streams import write_log

    config = replace(config, network=with_imported_model(config.network))
    size = config.game.board_size
    # A network that cannot play this board prepares its own board size, on which the engine then starts.
    board = USUAL_BOARD if size is None else (size, size)
    return load_evaluator(config.network, log=write_log, board=board)
