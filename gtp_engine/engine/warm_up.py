"""Gets an engine ready before the first command needs it: every kernel for play and scoring compiled or loaded."""

from collections.abc import Callable
from typing import Final

from gtp_engine.config import Config
from gtp_engine.engine.compiling import compile_kernels
from gtp_engine.engine.kernel_loader import KernelLoader
from gtp_engine.engine.search_factory import new_searches, uses_network
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.game import Game
from gtp_engine.kernel_cache import NETWORK, ROLLOUTS
from gtp_engine.search.limits import Limits

_VISITS: Final = 16
"""Visits of the search that compiles what is not listed: the root, a batch or two, and rollouts from their leaves."""


def search_kind(config: Config, evaluator: Evaluator | None) -> str:
    """Return which kind of search a configuration names: NETWORK or ROLLOUTS."""
    return NETWORK if uses_network(config, evaluator) else ROLLOUTS


def lists_all_kernels(config: Config, evaluator: Evaluator | None) -> bool:
    """Return whether `compiling.kernel_calls` lists every kernel that this configuration uses.

    The encoders of networks other than KataGo's, rollouts in a search with a network, and learned rollout policies use
    more kernels, which are compiled when a search first calls them.
    """
    if evaluator is None or not uses_network(config, evaluator):
        return config.search.rollout_policy in ("auto", "uniform", "tactical")
    return bool(evaluator.info.model_version) and config.puct.rollout_share == 0.0


def warm_up(
    config: Config,
    evaluator: Evaluator | None,
    board: tuple[int, int],
    progress: Callable[[str], None],
    human: Evaluator | None = None,
) -> None:
    """Compile or load every kernel for the search that the configuration names; `progress` receives a few lines.

    Where kernels are not listed, that takes searches on a board of width and height `board`.  The maps of GoGui's
    analyze menu (ladders, eyes) are compiled on first use.
    """
    compile_kernels(search_kind(config, evaluator), progress)
    if not lists_all_kernels(config, evaluator):
        for searcher in new_searches(config, evaluator, human):
            searcher.run(Game(*board), Limits(visits=_VISITS))
            searcher.close()


def start_loading(
    config: Config,
    evaluator: Evaluator | None,
    board: tuple[int, int],
    log: Callable[[str], None],
    human: Evaluator | None = None,
) -> KernelLoader | None:
    """Begin to load every kernel in the background, and return the loader.

    Where kernels are not listed, do the same as `warm_up`, and return None.
    """
    if not lists_all_kernels(config, evaluator):
        warm_up(config, evaluator, board, log, human)
        return None
    kernels = KernelLoader(search_kind(config, evaluator), log)
    kernels.start()
    return kernels
