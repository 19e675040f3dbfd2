"""One evaluator shared by several searches: calls from different threads wait for each other."""

import threading
from typing import Final

from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.evaluation.evaluator import EvaluationOptions, Evaluator
from gtp_engine.evaluation.positions import Conditions, Positions


class ExclusiveEvaluator:
    """Forwards calls to `evaluator`, which by contract serves one thread at a time.

    A search that was stopped may leave a batch behind, whose evaluation is not used, while the next search begins.

    One that is lent leaves `evaluator` open when it is closed: another owner closes it.
    """

    def __init__(self, evaluator: Evaluator, *, is_lent: bool = False) -> None:
        self.info: Final = evaluator.info
        self._is_lent: Final = is_lent
        self._evaluator: Final = evaluator
        self._lock: Final = threading.Lock()

    def evaluate(
        self, positions: Positions, count: int, conditions: Conditions, out: Evaluation, options: EvaluationOptions
    ) -> None:
        """Write the evaluation of the first `count` rows into `out`; see `Evaluator`."""
        with self._lock:
            self._evaluator.evaluate(positions, count, conditions, out, options)

    def write_rollout_policy(
        self, positions: Positions, count: int, conditions: Conditions, policy: FloatArray
    ) -> None:
        """Write the rollout policy for the first `count` rows into `policy`; see `RolloutPolicy`."""
        with self._lock:
            self._evaluator.write_rollout_policy(positions, count, conditions, policy)

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size; see `Evaluator`."""
        with self._lock:
            self._evaluator.prepare(width, height)

    def clear_cache(self) -> None:
        """Empty the cache of evaluations; see `Evaluator`."""
        with self._lock:
            self._evaluator.clear_cache()

    def close(self) -> None:
        """Free what the evaluator holds, after the call that is running, unless it is lent."""
        with self._lock:
            if not self._is_lent:
                self._evaluator.close()


def lent(evaluator: ExclusiveEvaluator | None) -> ExclusiveEvaluator | None:
    """Return the same evaluator, if there is one, for a user who closes what it is given."""
    return None if evaluator is None else ExclusiveEvaluator(evaluator, is_lent=True)
