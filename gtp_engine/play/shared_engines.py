"""Engines for several games at once in one process: one network in memory, kernels compiled once."""

import threading
from collections.abc import Callable, Mapping
from typing import Final

from gtp_engine.config import Config
from gtp_engine.config.option import Value
from gtp_engine.engine import Engine
from gtp_engine.engine.kernel_loader import KernelLoader
from gtp_engine.engine.starting_board import first_board, playable_board
from gtp_engine.engine.warm_up import start_loading
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.shared import SharedEvaluator, SharedOnDemand, lent


class SharedEngines:
    """Makes engines that share `evaluator`, `human` (a human-like network beside it) and compiled kernels.

    `load_calibrated` loads the network that plays at levels, see `Engine`; they share it too.

    `close`, or the end of a `with` block, closes these; it comes after every engine has been closed.  `log` receives
    lines for the user.  Any thread may call `new_engine`.
    """

    def __init__(
        self,
        config: Config | None = None,
        log: Callable[[str], None] | None = None,
        evaluator: Evaluator | None = None,
        human: Evaluator | None = None,
        load_calibrated: Callable[[], Evaluator] | None = None,
    ) -> None:
        self.config: Final = config or Config()
        self._log: Final = log or (lambda line: None)
        self._evaluator: Final = None if evaluator is None else SharedEvaluator(evaluator)
        self._human: Final = None if human is None else SharedEvaluator(human)
        self._calibrated: Final = None if load_calibrated is None else SharedOnDemand(load_calibrated)
        self._kernels: KernelLoader | None = None
        self._lock: Final = threading.Lock()

    def load_kernels(self) -> None:
        """Begin to load all kernels in the background, and prepare the network; see `Engine.load_kernels`."""
        board = playable_board(self._evaluator, *first_board(self.config, self._evaluator))
        self._kernels = start_loading(self.config, self._evaluator, board, self._log)
        for evaluator in (self._evaluator, self._human):
            if evaluator is not None:
                evaluator.prepare(*board)

    def new_engine(self, values: Mapping[str, Value] | None = None, log: Callable[[str], None] | None = None) -> Engine:
        """Return another engine; `values` change its options by full name, as `Config.with_values` takes them.

        `log` receives its lines instead of the shared log.  Raises ConfigError.
        """
        config = self.config.with_values(values or {})
        with self._lock:
            load = None if self._calibrated is None else self._calibrated.lend
            engine = Engine(config, log or self._log, lent(self._evaluator), lent(self._human), load)
            engine.share_kernels(self._kernels)
        return engine

    def close(self) -> None:
        """Free the networks, and end a compiler that is still running."""
        if self._kernels is not None:
            self._kernels.close()
        for evaluator in (self._evaluator, self._human, self._calibrated):
            if evaluator is not None:
                evaluator.close()

    def __enter__(self) -> "SharedEngines":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
