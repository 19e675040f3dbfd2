"""What the evaluation thread does with a batch of leaves: the networks evaluate them, then rollouts play them out."""

from collections.abc import Callable
from typing import Final, Protocol

from gtp_engine.evaluation.evaluation import Evaluation
from gtp_engine.evaluation.evaluator import EvaluationOptions, Evaluator, Request
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Positions
from gtp_engine.search.puct.evaluation_thread import Calls, IsDropped, Job
from gtp_engine.search.puct.leaf_rollouts import Results
from gtp_engine.search.rng import State


class RolloutPlayer(Protocol):
    """Plays positions out; one thread at a time calls it, the evaluation thread."""

    def play_out(self, positions: Positions, count: int, results: Results, is_dropped: IsDropped) -> None:
        """Write into `results` how the first `count` rows of `positions` (not changed) end.

        Once `is_dropped` returns true the results are not read, so the player may return early.
        """
        ...


NewRolloutPlayer = Callable[[int, tuple[int, int], State], RolloutPlayer]
"""Returns a player of up to so many positions at once, on boards of this size, with these random numbers."""


class LeafEvaluator:
    """Evaluates positions of one search; without a `player` no rollouts are played.

    `human` is a human-like network beside `evaluator`, where leaves need its policy too.
    """

    def __init__(
        self,
        calls: Calls,
        evaluator: Evaluator,
        player: RolloutPlayer | None,
        human: Evaluator | None = None,
    ) -> None:
        self._calls: Final = calls
        self._evaluator: Final = evaluator
        self._player: Final = player
        self._human: Final = human

    @property
    def info(self) -> EvaluatorInfo:
        """The description of the evaluator."""
        return self._evaluator.info

    def submit(
        self,
        positions: Positions,
        count: int,
        evaluation: Evaluation,
        results: Results | None,
        options: EvaluationOptions,
        by_people: Evaluation | None = None,
    ) -> Job:
        """Return the job that writes what it is given for the first `count` rows of `positions`.

        Without `results` the positions are not played out, without `by_people` the human-like network is not run.
        """
        player, human = self._player, self._human

        def evaluate(is_dropped: IsDropped) -> None:
            self._evaluator.evaluate(Request(positions, count, evaluation, options))
            if human is not None and by_people is not None:
                human.evaluate(Request(positions, count, by_people, options))
            if player is not None and results is not None:
                player.play_out(positions, count, results, is_dropped)

        return self._calls.submit(evaluate)

    def wait(self, job: Job, seconds: float | None = None) -> bool:
        """Return whether a job is done, after waiting for it; see `EvaluationThread.wait`."""
        return self._calls.wait(job, seconds)
