"""What a network (or whoever stands in for one) says about a batch of positions.

Everything is Black's view, as in the search tree, except the policy, which is the mover's by nature: evaluators turn
the network's side-to-move view round once, nobody else does.
"""

from typing import Final, Protocol, runtime_checkable

from gtp_engine.evaluation.evaluation import Evaluation, FloatArray, new_evaluation
from gtp_engine.evaluation.positions import Conditions, Positions

__all__ = [
    "ALL_SYMMETRIES",
    "ANY_SYMMETRY",
    "Evaluation",
    "Evaluator",
    "FloatArray",
    "RolloutPolicy",
    "new_evaluation",
    "rollout_policy_of",
]

ANY_SYMMETRY: Final = -1
"""Look at the position in one of its orientations, chosen by its key: the same position is always seen alike."""
ALL_SYMMETRIES: Final = 8
"""Average over all orientations of the board."""


class Evaluator(Protocol):
    """Judges positions; one thread calls it at a time.

    `name` is for people, `batch` the number of rows in a call that serves this machine best, `has_score` whether score,
    lead and their deviation mean anything, `has_ownership` whether ownership does.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def batch(self) -> int: ...  # noqa: D102

    @property
    def has_score(self) -> bool: ...  # noqa: D102

    @property
    def has_ownership(self) -> bool: ...  # noqa: D102

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
        """Write what is to be said about the first `count` rows into `out`; blocks, without holding the GIL for long.

        `symmetry` is 0 to 7, ANY_SYMMETRY or ALL_SYMMETRIES.  `optimism` in [0, 1] mixes in the optimistic policy of
        networks that have one; None: 0.  Scratch parts of the boards in `positions` may be used, but are
        restored.
        """
        ...

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size, so that no later call has to; may take seconds.

        Raises ModelError if a network does not play this size.
        """
        ...

    def clear_cache(self) -> None:
        """Forget remembered answers."""
        ...

    def close(self) -> None:
        """Free what the evaluator holds; it cannot be used afterwards."""
        ...


@runtime_checkable
class RolloutPolicy(Protocol):
    """What some evaluators offer beside: a quick policy for playing positions out, unless `rollout` is None."""

    @property
    def rollout(self) -> object | None: ...  # noqa: D102

    def write_rollout_policy(
        self, positions: Positions, count: int, conditions: Conditions, policy: FloatArray
    ) -> None:
        """Write the policy for the first `count` rows into `policy` [B, n], as in `Evaluation`; there must be one."""
        ...


def rollout_policy_of(evaluator: Evaluator) -> RolloutPolicy | None:
    """Return an evaluator's policy for rollouts, None where it has none."""
    return evaluator if isinstance(evaluator, RolloutPolicy) and evaluator.rollout is not None else None
