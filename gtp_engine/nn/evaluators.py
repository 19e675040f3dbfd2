"""The one place that makes evaluators: from the configuration to the networks of an engine.

    networks_of   the main network, the human-like one beside it, and what loads those that ship, for levels
    evaluator_of  the main network alone; human_evaluator_of: the human-like one

Rollouts that a search mixes in are no network's: it finds their players by itself (`search.players`).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from types import EllipsisType

from gtp_engine.base.errors import ArgumentError, of_kind, shown
from gtp_engine.base.files import expanded
from gtp_engine.base.streams import Log, write_log
from gtp_engine.config import Config, NetworkConfig
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.nn.named_networks import shipped_network
from gtp_engine.nn.network_files import is_katago_file

LoadShipped = Callable[[str], Evaluator]
"""Loads one of the networks that ship by its name; raises ModelError."""


def evaluator_of(config: Config, log: Log = write_log) -> Evaluator | None:
    """Return the evaluator, None for a search without a network; raises ModelError."""
    return _load(config, log) if config.wants_network else None


def networks_of(
    config: Config,
    log: Log = write_log,
    evaluator: Evaluator | EllipsisType | None = ...,
    human: Evaluator | None = None,
    load_shipped: LoadShipped | None = None,
) -> tuple[Evaluator | None, Evaluator | None, LoadShipped]:
    """Return the evaluator, that of the human-like network, and what loads networks that ship, for levels.

    Those that are given are returned; the others are the configured ones, if `evaluator` was left out (`...`), and None
    if the configuration names none.  Raises ModelError, and ArgumentError for what is neither an evaluator nor a
    configuration, such as the name of a file.
    """
    of_kind(config, Config, "config")
    if not (evaluator is None or evaluator is ... or hasattr(evaluator, "evaluate")):
        given, advice = f"evaluator {shown(evaluator)}", "the option network.model names a file"
        raise ArgumentError(given, expected="an Evaluator or None", advice=advice)
    log = cache(log)  # once for each line, such as what holds for all of the networks
    if isinstance(evaluator, EllipsisType):
        evaluator, human = evaluator_of(config, log), human or human_evaluator_of(config, log)
    return evaluator, human, load_shipped or partial(shipped_evaluator, config, log)


def human_evaluator_of(config: Config, log: Log) -> Evaluator | None:
    """Return the evaluator of the human-like network, None if the configuration names none.

    It may have no 8-bit copy, so a precision of int8 binds the other network only.
    """
    network = config.network
    if network.human_model is None:
        return None
    precision = "auto" if network.precision == "int8" else network.precision
    return _load(replace(config, network=replace(network, model=network.human_model, precision=precision)), log)


def shipped_evaluator(config: Config, log: Log, name: str) -> Evaluator:
    """Return the evaluator of a network that ships; raises ModelError."""
    network = replace(config.network, model=str(shipped_network(name)), human_model=None, precision="auto")
    return _load(replace(config, network=network), log)


def with_imported_model(network: NetworkConfig, log: Log = write_log) -> NetworkConfig:
    """Return the configuration with an imported copy in place of a network file of KataGo's; raises ModelError."""
    if network.model is None or not is_katago_file(file := expanded(network.model)) or not file.is_file():
        return network
    from gtp_engine.nn.onnx_export.convert import imported_copy  # here: other networks do not need it

    return replace(network, model=str(imported_copy(file, log=log)))


def _load(config: Config, log: Log) -> Evaluator:
    from gtp_engine.nn.loading import load_evaluator  # here: a slow import, which rollouts do not need

    config = replace(config, network=with_imported_model(config.network, log))
    # A network that cannot play this board prepares its own board size, on which the engine then starts.
    board, needs_value = config.game.board or ANY_BOARD.usual, config.puct.rollout_share < 1.0
    return load_evaluator(config.network, log=log, board=board, needs_value=needs_value)
