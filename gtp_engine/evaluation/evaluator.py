"""Evaluator: the seam between searches and networks.

A search passes a batch of positions and receives an `Evaluation`.  Everything in it is Black's view, as in the search
tree, except the policy, which is that of the side to move: an evaluator converts the network's side-to-move view once.

Request              what is to be evaluated, and where the evaluation goes
Evaluator            the protocol
BareEvaluator        what evaluators without cache, preparation and rollout policy have in common
ForwardingEvaluator  stands before another one
ExclusiveEvaluator   serves several threads, whose calls wait for each other
"""

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NamedTuple, Protocol

from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Positions, board_size

ANY_SYMMETRY: Final = -1
"""Evaluate each position in one of its orientations, chosen by its key: equal positions get the same orientation."""
ALL_SYMMETRIES: Final = 8
"""Average over all orientations of the board."""

AS_TRAINED: Final = -1
"""Whatever the network was trained with."""

SUICIDE_AREAS: Final = {"auto": AS_TRAINED, "true": 1, "false": 0}
"""Values of `EvaluationOptions.suicide_area` for those of the option `puct.suicide_area`."""


class EvaluationOptions(NamedTuple):
    """How a network is applied to positions; evaluators without a network ignore it."""

    symmetry: int = ANY_SYMMETRY  # 0 to 7 (`nn.symmetry`), ANY_SYMMETRY or ALL_SYMMETRIES
    optimism: float = 0.0  # share of the optimistic policy, in [0, 1], where the network has one
    shares_transpositions: bool = False  # whether a cached evaluation will do that was made with another past
    temperature: float = 1.0  # of the policy: above 1 flattens it
    suicide_area: int = AS_TRAINED  # whether it is told areas as if suicide were legal, 1 or 0, or AS_TRAINED


DEFAULT_OPTIONS: Final = EvaluationOptions()
"""As the network is configured: its usual orientation, its plain policy."""


Kind = tuple[tuple[int, int], EvaluationOptions]
"""What requests that are answered together have in common: the size of the board and the options."""


class Request(NamedTuple):
    """Positions to be evaluated, each under its own conditions."""

    positions: Positions
    rows: int  # how many are evaluated, from the first on
    out: Evaluation  # whose first rows are written
    options: EvaluationOptions = DEFAULT_OPTIONS
    optimistic: FloatArray | None = None  # [B, n] where the optimistic policy is to be written too, 0 without one

    @property
    def kind(self) -> Kind:
        """With which requests this one can be answered, unless it asks for the optimistic policy."""
        return board_size(self.positions), self.options


class RolloutPolicy(Protocol):
    """A policy for playing positions out, faster and weaker than the one of `Evaluation`."""

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Write the policy for the first `count` rows into `policy` [B, n], as in `Evaluation`."""
        ...


class Evaluator(RolloutPolicy, Protocol):
    """Evaluates positions; one thread calls it at a time.

    `write_rollout_policy` may be called only where `info.has_rollout_policy`.
    """

    @property
    def info(self) -> EvaluatorInfo:
        """The description of this evaluator."""
        ...

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; blocks, without holding the GIL for long.

        Scratch parts of their boards may be used, but are restored.
        """
        ...

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size, so that no later call has to; may take seconds.

        Raises ModelError if a network does not play this size.
        """
        ...

    def clear_cache(self) -> None:
        """Empty the cache of evaluations, if there is one."""
        ...

    def close(self) -> None:
        """Free what the evaluator holds; it cannot be used afterwards."""
        ...


class BareEvaluator:
    """Evaluators without a cache and a rollout policy, for which nothing has to be prepared; they add `evaluate`."""

    def __init__(self, info: EvaluatorInfo) -> None:
        self.info: Final = info

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Never called: `info.has_rollout_policy` is False."""
        raise AssertionError("called although `info.has_rollout_policy` is false")

    def prepare(self, width: int, height: int) -> None:
        """Do nothing: every board is ready."""

    def clear_cache(self) -> None:
        """Do nothing: there is no cache."""

    def close(self) -> None:
        """Do nothing: nothing is held."""


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


class ExclusiveEvaluator(ForwardingEvaluator):
    """Forwards calls to `evaluator`, which by contract serves one thread at a time.

    A search that was stopped may leave a batch behind, whose evaluation is not used, while the next search begins.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator, threading.Lock())
