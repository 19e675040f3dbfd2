"""Evaluators that stand before another one and change some of its methods."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Positions


class ForwardingEvaluator:
    """Forwards every call to `evaluator`, each within the context `turn`, which can be entered again and again."""

    def __init__(self, evaluator: Evaluator, turn: AbstractContextManager[Any] | None = None) -> None:
        self.info: Final[EvaluatorInfo] = evaluator.info
        self._evaluator: Final = evaluator
        self._turn: Final[AbstractContextManager[Any]] = nullcontext() if turn is None else turn

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; see `Evaluator`."""
        with self._turn:
            self._evaluator.evaluate(request)

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Write the rollout policy for the first `count` rows into `policy`; see `RolloutPolicy`."""
        with self._turn:
            self._evaluator.write_rollout_policy(positions, count, policy)

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size; see `Evaluator`."""
        with self._turn:
            self._evaluator.prepare(width, height)

    def clear_cache(self) -> None:
        """Empty the cache of evaluations; see `Evaluator`."""
        with self._turn:
            self._evaluator.clear_cache()

    def close(self) -> None:
        """Free what the evaluator holds, after the call that is running."""
        with self._turn:
            self._evaluator.close()
