"""One evaluator for several searches: calls from different threads wait for each other."""

import threading
from typing import Final

from gtp_engine.evaluation.evaluator import ANY_SYMMETRY, Evaluation, Evaluator, FloatArray, rollout_policy_of
from gtp_engine.evaluation.linear_policy import linear_policy_of
from gtp_engine.evaluation.positions import Conditions, Positions


class ExclusiveEvaluator:
    """Hands calls on to `evaluator`, which by contract serves one thread at a time.

    A search that was stopped may leave a batch behind, whose answers nobody waits for, while the next one begins.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.name: Final = evaluator.name
        self.batch: Final = evaluator.batch
        self.has_score: Final = evaluator.has_score
        self.has_ownership: Final = evaluator.has_ownership
        self.rollout: Final = rollout_policy_of(evaluator)
        self.linear_policy: Final = linear_policy_of(evaluator)
        self._evaluator: Final = evaluator
        self._lock: Final = threading.Lock()

    def evaluate(
        self,
        positions: Positions,
        count: int,
        conditions: Conditions,
        out: Evaluation,
        *,
        symmetry: int = ANY_SYMMETRY,
        optimism: float | None = None,
    ) -> None:
        """Write what is to be said about the first `count` rows into `out`; see `Evaluator`."""
        with self._lock:
            self._evaluator.evaluate(positions, count, conditions, out, symmetry=symmetry, optimism=optimism)

    def write_rollout_policy(
        self, positions: Positions, count: int, conditions: Conditions, policy: FloatArray
    ) -> None:
        """Write the rollout network's policy into `policy`; see `RolloutPolicy`."""
        assert self.rollout is not None, "the caller asks whether there is a rollout network"
        with self._lock:
            self.rollout.write_rollout_policy(positions, count, conditions, policy)

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size; see `Evaluator`."""
        with self._lock:
            self._evaluator.prepare(width, height)

    def clear_cache(self) -> None:
        """Forget remembered answers."""
        with self._lock:
            self._evaluator.clear_cache()

    def close(self) -> None:
        """Free what the evaluator holds, once nobody calls it any more."""
        with self._lock:
            self._evaluator.close()
