"""Engines for several games at once in one process, and searches for analyses: each network is in memory once.

Their searches share the networks' batches (`evaluation.shared`), and kernels are compiled once.
"""

import threading
from collections.abc import Mapping
from types import EllipsisType
from typing import Any, Final

from gtp_engine.base.streams import Log
from gtp_engine.compiled.kernel_cache import is_cache_filled
from gtp_engine.config import Config
from gtp_engine.config.option import Value
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.rehearsal import Kernels, warm_up
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.searches import new_searcher
from gtp_engine.engine.threads import Use
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.shared import EvaluatorWork, LentEvaluator, SharedEvaluator
from gtp_engine.nn.evaluators import LoadShipped, networks_of
from gtp_engine.search.limits import Searcher


class SharedEngines:
    """Makes engines that share networks (given or loaded as for `Engine`) and compiled kernels.

    `close`, or the end of a `with` block, closes these; it comes after every engine has been closed.  `log` receives
    lines for the user.  Any thread may ask for an engine.
    """

    def __init__(
        self,
        config: Config | None = None,
        log: Log | None = None,
        evaluator: Evaluator | EllipsisType | None = ...,
        human: Evaluator | None = None,
        load_shipped: LoadShipped | None = None,
    ) -> None:
        self.config: Final = config or Config()
        self._log: Final = log or (lambda line: None)
        evaluator, human, load = networks_of(self.config, self._log, evaluator, human, load_shipped)
        self._evaluator: Final = None if evaluator is None else SharedEvaluator(evaluator)
        self._human: Final = None if human is None else SharedEvaluator(human)
        self._load_shipped: Final = load
        self._shipped: Final[dict[str, SharedEvaluator]] = {}
        self._resources: Final = Resources(self._evaluator, self._human)
        self._kernels: Final = Kernels(self._resources, self._log)
        self._lock: Final = threading.Lock()
        self._loading: Final = threading.Lock()  # of its own, so that no engine that needs no network waits
        self._use: Final = Use()

    def first_board(self) -> tuple[int, int]:
        """Return the width and height that a game starts with."""
        return self._resources.first_board(self.config)

    def load_kernels(self) -> None:
        """Begin to load all kernels in the background, and prepare the network; see `Engine.load_kernels`."""
        board = self._resources.playable_board(*self.first_board())
        self._kernels.load(self.config, board)

    def load_for_analyses(self) -> "SharedEngines":
        """Prepare the network, load all kernels and return this.

        At a first start, searches with a network begin at once, with interpreted kernels, while these are being
        compiled, unless a seed is to repeat them exactly.  The log says what does not go with the networks.  Raises
        ConfigError if the configuration requires a network and there is none, or for a mistake in the settings of
        human-like play.
        """
        config, resources = self._resources.config_at_start(self.config, self._log), self._resources
        if self._evaluator is None:
            self._log(
                "no network: positions are evaluated by rollouts, so there is no policy and scores are rough; "
                "set network.model (--model FILE)"
            )
        self.open_searcher(config).close()  # reports a wrong configuration now, not at the first query
        board = resources.playable_board(*resources.first_board(config))
        is_filled = is_cache_filled(self._kernels.kind_of_start(config))
        if is_filled or resources.plays_out(config) or config.search.seed is not None:  # rollouts are too slow then
            warm_up(resources, config, self._log)
            resources.prepare(*board)
        else:
            self._kernels.load(config, board)
        if self._kernels.is_compiling:
            self._log("Analysis is slow until everything is compiled.")
        return self

    def new_engine(self, values: Mapping[str, Value] | None = None, log: Log | None = None) -> Engine:
        """Return another engine; `values` change its options by full name, as `Config.with_values` takes them.

        `log` receives its lines instead of the shared log.  Raises ConfigError.
        """
        return self.open_engine(self.config.with_values(values or {}), log or self._log)

    def open_engine(self, config: Config, log: Log) -> Engine:
        """Return another engine with a configuration of its own; closing it leaves networks and kernels open."""
        with self._lock, self._use:
            engine = Engine(config, log, _lend(self._evaluator), _lend(self._human), self._lend_shipped)
            engine.kernels.loader = self._kernels.loader
            return engine

    def _lend_shipped(self, name: str) -> LentEvaluator:
        """Return a network that ships for another user, loaded once; raises what loading it raises."""
        with self._loading:
            if name not in self._shipped:
                self._shipped[name] = SharedEvaluator(self._load_shipped(name))
            return self._shipped[name].lend()

    def open_searcher(self, config: Config) -> Searcher:
        """Return a new search with these settings, for one thread; raises ConfigError."""
        return new_searcher(self._resources, config)

    def lend_evaluator(self) -> Evaluator | None:
        """Return the main network, None without one, for another thread; closing it leaves the network open."""
        return _lend(self._evaluator)

    def work(self) -> EvaluatorWork | None:
        """Return what the main network has done so far, None without one."""
        return None if self._evaluator is None else self._evaluator.work()

    def models(self) -> list[dict[str, Any]]:
        """Return an entry for each network, with the keys of KataGo's `query_models`."""
        return [evaluator.info.katago_facts() for evaluator in self._resources.evaluators]

    def clear_cache(self) -> None:
        """Clear cached evaluations."""
        self._resources.clear_cache()

    def close(self) -> None:
        """Free the networks, and end a compiler that is still running; no engine can be made afterwards."""
        self._use.end()
        self._kernels.close()
        self._resources.close()
        for shared in self._shipped.values():
            shared.close()

    def __enter__(self) -> "SharedEngines":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _lend(shared: SharedEvaluator | None) -> LentEvaluator | None:
    """Return a shared network for another user; None without one."""
    return None if shared is None else shared.lend()
