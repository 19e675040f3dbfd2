"""The shared network as a review uses it, which is a guest: it waits for games and leaves their cache alone."""

from typing import Final

from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.evaluation.evaluator import EvaluationOptions, Evaluator
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Conditions, Positions
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.web.precedence import Precedence


class GuestCancelled(Exception):
    """The work of the guest has been cancelled."""


class GuestEvaluator:
    """Forwards calls to `evaluator`, each once nothing has precedence; raises GuestCancelled after the cancellation."""

    def __init__(self, evaluator: Evaluator, precedence: Precedence, cancel: CancelToken) -> None:
        self.info: Final[EvaluatorInfo] = evaluator.info
        self._evaluator: Final = evaluator
        self._precedence: Final = precedence
        self._cancel: Final = cancel

    def evaluate(
        self, positions: Positions, count: int, conditions: Conditions, out: Evaluation, options: EvaluationOptions
    ) -> None:
        """Write the evaluation of the first `count` rows into `out`; see `Evaluator`."""
        self._wait()
        self._evaluator.evaluate(positions, count, conditions, out, options)

    def write_rollout_policy(
        self, positions: Positions, count: int, conditions: Conditions, policy: FloatArray
    ) -> None:
        """Write the rollout policy for the first `count` rows into `policy`; see `RolloutPolicy`."""
        self._wait()
        self._evaluator.write_rollout_policy(positions, count, conditions, policy)

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size; see `Evaluator`."""
        self._evaluator.prepare(width, height)

    def clear_cache(self) -> None:
        """Do nothing: the cache serves the games too."""

    def close(self) -> None:
        """Do nothing: the evaluator belongs to the server."""

    def _wait(self) -> None:
        self._precedence.wait(self._cancel)
        if self._cancel.is_cancelled:
            raise GuestCancelled
