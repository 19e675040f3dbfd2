"""Evaluator: the seam between searches and networks.

A search passes a batch of positions and receives an `Evaluation`.  Everything in it is Black's view, as in the search
tree, except the policy, which is that of the side to move: an evaluator converts the network's side-to-move view once.

Request              what is to be evaluated, and where the evaluation goes
Evaluator            the protocol; `evaluated`: a whole batch, in new arrays
BareEvaluator        what evaluators without cache, preparation and rollout policy have in common
FunctionEvaluator    a Python function: Seen is what it is given of a position, Guess what it returns
ForwardingEvaluator  stands before another one
ExclusiveEvaluator   serves several threads, whose calls wait for each other
"""

import math
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from numbers import Integral
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ArgumentError, LimitError, of_kind, shown
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import (
    Evaluation,
    FloatArray,
    Positions,
    board_size,
    conditions_of_row,
    new_evaluation,
    view_board,
)
from gtp_engine.go.board import is_legal
from gtp_engine.go.constants import BLACK, PASS
from gtp_engine.go.coords import COLORS, Move, board_points, points_by_number

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

    def part(self, first: int, rows: int) -> "Request":
        """Return the request for so many of its rows at most, from `first` on, in the same arrays."""
        part = slice(first, min(first + rows, self.rows))
        positions = Positions._make(array[part] for array in self.positions)
        out = Evaluation._make(array[part] for array in self.out)
        optimistic = None if self.optimistic is None else self.optimistic[part]
        return Request(positions, part.stop - first, out, self.options, optimistic)


class Evaluator(Protocol):
    """Evaluates positions; one thread calls it at a time, or as many as `info.at_once`.

    `write_rollout_policy` may be called only where `info.has_rollout_policy`.

        evaluator: Evaluator = load_evaluator(Config().network, log=print)
    """

    @property
    def info(self) -> EvaluatorInfo:
        """The description of this evaluator."""

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; blocks, without holding the GIL for long.

        Scratch parts of their boards may be used, but are restored.
        """

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Write a faster and weaker policy, for rollouts, of the first `count` rows into `policy` [B, n]."""

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size, so that no later call has to; may take seconds.

        Where `info.prepares_beside` says so, it is called while another thread evaluates.  Raises ModelError if a
        network does not play this size.
        """

    def clear_cache(self) -> None:
        """Empty the cache of evaluations, if there is one."""

    def close(self) -> None:
        """Free what the evaluator holds; it cannot be used afterwards."""


def evaluated(evaluator: Evaluator, positions: Positions, options: EvaluationOptions = DEFAULT_OPTIONS) -> Evaluation:
    """Return the evaluation of all rows in new arrays."""
    rows, out = len(positions.key), new_evaluation(len(positions.key), *board_size(positions))
    evaluator.evaluate(Request(positions, rows, out, options))
    return out


def join_rows(batches: Iterable[Positions]) -> Positions:
    """Return the rows of several batches of boards of one size, one after the other, in new arrays."""
    return Positions._make(np.concatenate(arrays) for arrays in zip(*batches, strict=True))


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


class Seen:
    """A position as a function evaluates it, for the side to play.

    For example:

        is_empty = seen.colors() == EMPTY
    """

    def __init__(self, positions: Positions, row: int) -> None:
        self._positions: Final = positions
        self._row: Final = row
        self.width, self.height = board_size(positions)
        """Of the board, in points."""
        self.to_play: Final = COLORS[positions.to_play[row]]
        """Whose move it is."""
        self.conditions: Final = conditions_of_row(positions, row)
        """Rules and komi."""

    def colors(self, ago: int = 0) -> NDArray[np.int32]:
        """Return the board, now or 1 or 2 moves ago, int32[height, width]: 0 empty, 1 black, 2 white."""
        board = view_board(self._positions, self._row, ago)
        return board.color[list(board_points(self.width, self.height))].reshape(self.height, self.width)

    def legal(self) -> NDArray[np.bool_]:
        """Return whether each move is legal, bool[height·width + 1]: row by row from the top left, the pass last."""
        board, forbidden = view_board(self._positions, self._row), self._positions.forbidden[self._row]
        color, suicide = int(self.to_play), bool(self.conditions.suicide)
        points = board_points(self.width, self.height)
        found = [not forbidden[p] and bool(is_legal(board, p, color, suicide)) for p in points]
        return np.array([*found, True])

    def moves(self) -> list[Move]:
        """Return the last moves, up to eight, the most recent first."""
        points = points_by_number(self.width, self.height)
        pairs = zip(self._positions.colors[self._row], self._positions.points[self._row], strict=True)
        return [Move(COLORS[color], points[int(point)]) for color, point in pairs if color]


_ROUNDING: Final = 1e-3
"""By how much a number of a guess may be out of its range: half-precision rounds in such steps near 1."""


class Guess(NamedTuple):
    """What a function thinks of a position, all for the side to play.

    For example:

        Guess(policy=seen.legal(), winrate=0.6)
    """

    policy: NDArray[np.floating]
    """Weight of each move, float[height·width + 1] in the order of `Seen.legal`; those of illegal moves do not count,
    and legal ones are alike if they all have 0."""
    winrate: float = 0.5
    """In [0, 1]."""
    lead: float = 0.0
    """Points ahead, komi counted."""
    ownership: NDArray[np.floating] | None = None
    """Expected owner of each point, float[height, width] from −1 to 1; None if unknown."""


class FunctionEvaluator(BareEvaluator):
    """Evaluates positions by a Python function, one after the other, for `Engine` and everything that takes evaluators.

    `has_score` says that the function knows the lead, and takes komi into account; `has_ownership` that it knows the
    ownership.  Without them dead stones are found by playing out.  `batch` is the number of positions that a search
    asks for at a time: with 1 it searches most carefully.  Raises LimitError for a batch that is not a number above 0.

        engine = Engine(config, evaluator=FunctionEvaluator(lambda seen: Guess(policy=seen.legal())))
    """

    def __init__(
        self,
        function: Callable[[Seen], Guess],
        name: str = "function",
        *,
        batch: int = 1,
        has_score: bool = False,
        has_ownership: bool = False,
    ) -> None:
        if of_kind(batch, Integral, "batch") < 1:
            raise LimitError(f"batch of {shown(batch)} positions", expected="a whole number above 0")
        self._function: Final = function
        super().__init__(
            EvaluatorInfo(
                name,
                batch,
                has_score=has_score,
                has_ownership=has_ownership,
                knows_komi=has_score,
                knows_advantage=False,
                is_katago=False,
            )
        )

    def evaluate(self, request: Request) -> None:
        """Write what the function returns; raises ArgumentError for what is not a guess about the position."""
        for row in range(request.rows):
            seen = Seen(request.positions, row)
            self._write(request.out, row, seen, self._function(seen))

    def _write(self, out: Evaluation, row: int, seen: Seen, guess: Guess) -> None:
        of_kind(guess, Guess, f"evaluator {self.info.name}: answer")
        points, sign = list(board_points(seen.width, seen.height)), 1.0 if seen.to_play == BLACK else -1.0
        legal = seen.legal()
        weights = self._numbers("policy", guess.policy, (len(legal),), low=0.0, where=legal)
        (winrate,) = self._numbers("winrate", guess.winrate, low=0.0, high=1.0)
        (lead,) = self._numbers("lead", guess.lead)
        weights = weights / weights.max() if weights.any() else legal.astype(np.float64)
        out.policy[row] = 0.0
        out.policy[row, [*points, PASS]] = weights / weights.sum()
        value = sign * (2.0 * winrate - 1.0)
        out.win_black[row], out.loss_black[row] = (1.0 + value) / 2.0, (1.0 - value) / 2.0
        out.score_black[row] = out.lead_black[row] = sign * lead
        out.score_stdev[row] = 0.0
        out.ownership_black[row] = 0.0
        if guess.ownership is not None:
            owners = self._numbers("ownership", guess.ownership, (seen.height, seen.width), low=-1.0, high=1.0)
            out.ownership_black[row, points] = sign * owners
        elif self.info.has_ownership:
            given = f"evaluator {self.info.name}: an answer without ownership"
            raise ArgumentError(given, expected="one, as has_ownership says")
        for field in (out.time_left, out.winloss_error, out.score_error):
            field[row] = -1.0

    def _numbers(
        self,
        name: str,
        value: object,
        shape: tuple[int, ...] = (1,),
        *,
        low: float = -math.inf,
        high: float = math.inf,
        where: NDArray[np.bool_] | bool = True,
    ) -> NDArray[np.float64]:
        """Return the numbers of a guess in a row, 0 but `where` they count; rounding may take one beyond a bound.

        They may be in a row already, and have axes of length 1.  Raises ArgumentError for another shape, for what is no
        number, for NaN and infinity.
        """
        count = math.prod(shape)
        try:
            given = np.squeeze(np.asarray(value))
            if given.dtype.kind not in "iuf" or given.shape not in (tuple(n for n in shape if n > 1), (count,)):
                raise ValueError("neither the shape nor the kind")
            numbers = np.where(where, given.reshape(count).astype(np.float64), 0.0)
            if np.isfinite(numbers).all() and numbers.min() >= low - _ROUNDING and numbers.max() <= high + _ROUNDING:
                return np.clip(numbers, low, high)
        except (TypeError, ValueError):
            pass
        bounds = "" if low == -math.inf else f" from {low:g}" + ("" if high == math.inf else f" to {high:g}")
        of_shape = "×".join(map(str, shape))
        expected = f"a finite number{bounds}" if count == 1 else f"{of_shape} finite numbers{bounds}"
        raise ArgumentError(f"evaluator {self.info.name}: {name} {shown(value)}", expected=expected)


class ForwardingEvaluator:
    """Forwards every call to `evaluator`, each within the context `turn`, which can be entered again and again.

    One thread calls it at a time, or `at_once`.
    """

    def __init__(
        self, evaluator: Evaluator, turn: AbstractContextManager[Any] | None = None, *, at_once: int = 1
    ) -> None:
        info = evaluator.info
        self.info: Final[EvaluatorInfo] = info if at_once >= info.at_once else replace(info, pair_seconds=())
        self._evaluator: Final = evaluator
        self._turn: Final[AbstractContextManager[Any]] = nullcontext() if turn is None else turn

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; see `Evaluator`."""
        with self._turn:
            self._evaluator.evaluate(request)

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Write the rollout policy for the first `count` rows into `policy`; see `Evaluator`."""
        with self._turn:
            self._evaluator.write_rollout_policy(positions, count, policy)

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size; see `Evaluator`."""
        with nullcontext() if self.info.prepares_beside else self._turn:
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
    """Forwards calls to `evaluator`, as many at a time as it serves threads, and refuses answers with NaN.

    A search that was stopped may leave a batch behind, whose evaluation is not used, while the next search begins.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        at_once = evaluator.info.at_once
        turn = threading.Semaphore(at_once) if at_once > 1 else threading.Lock()
        super().__init__(evaluator, turn, at_once=at_once)

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; raises ArgumentError for NaN, infinity and a negative policy."""
        super().evaluate(request)
        out, rows = request.out, request.rows
        written = (out.policy, out.win_black, out.loss_black, out.lead_black, out.ownership_black)
        total = sum(float(array[:rows].sum()) for array in written)
        if not (math.isfinite(total) and out.policy[:rows].min(initial=0.0) >= 0.0):
            given = f"evaluator {self.info.name}: an evaluation with NaN, infinity or a negative policy"
            raise ArgumentError(given, expected="finite numbers")
