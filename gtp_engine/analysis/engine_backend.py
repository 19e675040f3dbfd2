"""The backend of a real analysis session: the networks of the configuration and this engine's searches."""

from collections.abc import Callable
from typing import Any, Final

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.engine.human_settings import human_settings_at_start
from gtp_engine.engine.kernel_loader import KernelLoader
from gtp_engine.engine.search_factory import new_searcher
from gtp_engine.engine.shared_networks import SharedNetworks
from gtp_engine.engine.starting_board import first_board, playable_board
from gtp_engine.engine.warm_up import search_kind, start_loading, warm_up
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.kernel_cache import ROLLOUTS, is_cache_filled
from gtp_engine.search.limits import Searcher


class EngineBackend:
    """Searches of this engine, all with one `evaluator`, or with rollouts if there is none.

    `human` is a human-like network beside it.  Engines play at levels with the network that `load_calibrated` loads,
    see `Engine`.

    Creating a backend loads all kernels.  At a first start, searches with a network begin at once, with interpreted
    kernels, while these are being compiled.  `log` receives lines for the user.

    Raises ConfigError if the configuration requires a network and there is none.
    """

    def __init__(
        self,
        config: Config,
        evaluator: Evaluator | None,
        log: Callable[[str], None],
        human: Evaluator | None = None,
        load_calibrated: Callable[[], Evaluator] | None = None,
    ) -> None:
        config, warning = human_settings_at_start(config, evaluator, human)
        if warning is not None:
            log(warning)
        self._networks: Final = SharedNetworks(evaluator, human, load_calibrated)
        if evaluator is None:
            log(
                "no network: positions are evaluated by rollouts, so there is no policy and scores are rough; "
                "name a network with --model FILE"
            )
        self.open_searcher(config).close()  # reports a wrong configuration now, not at the first query
        self._kernels: Final = self._load_kernels(config, log)

    def _load_kernels(self, config: Config, log: Callable[[str], None]) -> KernelLoader | None:
        """Load all kernels, or return what loads them while the first queries are answered."""
        evaluator, human = self._networks.main, self._networks.human
        board, searches = playable_board(evaluator, *first_board(config, evaluator)), search_kind(config, evaluator)
        if searches == ROLLOUTS or is_cache_filled(searches):  # rollouts are too slow while they are interpreted
            warm_up(config, evaluator, board, log, human)
            kernels = None
        else:
            kernels = start_loading(config, evaluator, board, log, human)
        self._networks.prepare(*board)
        if kernels is not None:
            log("Analysis is slow until everything is compiled.")
        return kernels

    def open_searcher(self, config: Config) -> Searcher:
        """Return a new searcher with these settings."""
        return new_searcher(config, self._networks.main, self._networks.human)

    def open_engine(self, config: Config, log: Callable[[str], None]) -> Engine:
        """Return a new engine with the same networks and kernels; closing it leaves the networks open."""
        return self._networks.new_engine(config, log, self._kernels)

    def lend_evaluator(self) -> Evaluator | None:
        """Return the network, None without one, for another thread; closing it leaves the network open."""
        return self._networks.lend()

    def models(self) -> list[dict[str, Any]]:
        """Return an entry for each network, with the keys of KataGo's `query_models`."""
        return [evaluator.info.katago_facts() for evaluator in self._networks.evaluators]

    def clear_cache(self) -> None:
        """Clear cached evaluations."""
        for evaluator in self._networks.evaluators:
            evaluator.clear_cache()

    def close(self) -> None:
        """Free the networks, and end a compiler that is still running."""
        if self._kernels is not None:
            self._kernels.close()
        self._networks.close()
