"""The networks of several engines in one process: each is in memory once, and their searches share its batches."""

from collections.abc import Callable
from typing import Final

from gtp_engine.config import Config
from gtp_engine.engine.engine import Engine, Log
from gtp_engine.engine.kernel_loader import KernelLoader
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.shared import SharedEvaluator, SharedOnDemand


class SharedNetworks:
    """Owns `evaluator`, `human` and what `load_calibrated` loads, which mean the same as for `Engine`."""

    def __init__(
        self,
        evaluator: Evaluator | None,
        human: Evaluator | None = None,
        load_calibrated: Callable[[], Evaluator] | None = None,
    ) -> None:
        self.main: Final = None if evaluator is None else SharedEvaluator(evaluator)
        """The main network; None without one."""
        self.human: Final = None if human is None else SharedEvaluator(human)
        """The human-like network beside it; None without one."""
        self._calibrated: Final = None if load_calibrated is None else SharedOnDemand(load_calibrated)

    @property
    def evaluators(self) -> list[SharedEvaluator]:
        """The networks that were given: the main one first."""
        return [evaluator for evaluator in (self.main, self.human) if evaluator is not None]

    def lend(self) -> Evaluator | None:
        """Return the main network for another user, who may close it: it stays open; None without one."""
        return None if self.main is None else self.main.lend()

    def new_engine(self, config: Config, log: Log, kernels: KernelLoader | None) -> Engine:
        """Return another engine, which uses these kernels (see `Engine.share_kernels`); raises what Engine raises."""
        human = None if self.human is None else self.human.lend()
        load_calibrated = None if self._calibrated is None else self._calibrated.lend
        engine = Engine(config, log, self.lend(), human, load_calibrated)
        engine.share_kernels(kernels)
        return engine

    def prepare(self, width: int, height: int) -> None:
        """Get the networks ready for boards of this size; raises ModelError if one does not play it."""
        for evaluator in self.evaluators:
            evaluator.prepare(width, height)

    def close(self) -> None:
        """Free the networks, after all engines have been closed."""
        for evaluator in (*self.evaluators, self._calibrated):
            if evaluator is not None:
                evaluator.close()
