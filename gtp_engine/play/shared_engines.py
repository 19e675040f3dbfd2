"""Engines for several games at once in one process: one network in memory, kernels compiled once."""

import threading
from collections.abc import Callable, Mapping
from typing import Final

from gtp_engine.config import Config
from gtp_engine.config.option import Value
from gtp_engine.engine import Engine
from gtp_engine.engine.kernel_loader import KernelLoader
from gtp_engine.engine.shared_networks import SharedNetworks
from gtp_engine.engine.starting_board import first_board, playable_board
from gtp_engine.engine.warm_up import start_loading
from gtp_engine.evaluation.evaluator import Evaluator


class SharedEngines:
    """Makes engines that share networks (as for `Engine`) and compiled kernels.

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
        self._networks: Final = SharedNetworks(evaluator, human, load_calibrated)
        self._kernels: KernelLoader | None = None
        self._lock: Final = threading.Lock()

    def load_kernels(self) -> None:
        """Begin to load all kernels in the background, and prepare the network; see `Engine.load_kernels`."""
        network, human = self._networks.main, self._networks.human
        board = playable_board(network, *first_board(self.config, network))
        self._kernels = start_loading(self.config, network, board, self._log, human)
        self._networks.prepare(*board)

    def new_engine(self, values: Mapping[str, Value] | None = None, log: Callable[[str], None] | None = None) -> Engine:
        """Return another engine; `values` change its options by full name, as `Config.with_values` takes them.

        `log` receives its lines instead of the shared log.  Raises ConfigError.
        """
        config = self.config.with_values(values or {})
        with self._lock:
            return self._networks.new_engine(config, log or self._log, self._kernels)

    def close(self) -> None:
        """Free the networks, and end a compiler that is still running."""
        if self._kernels is not None:
            self._kernels.close()
        self._networks.close()

    def __enter__(self) -> "SharedEngines":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
