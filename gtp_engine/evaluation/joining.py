"""Several requests for evaluations joined to one call: for a network, few large batches are less work than many small.

Requests of one kind can be joined: of boards of one size, under the same conditions, with the same options.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import EvaluationOptions, Evaluator
from gtp_engine.evaluation.positions import Conditions, Positions, board_size, new_positions

Kind = tuple[tuple[int, int], Conditions, EvaluationOptions]
"""What requests that are joined have in common."""


class Request(NamedTuple):
    """The arguments of `Evaluator.evaluate`."""

    positions: Positions
    rows: int
    conditions: Conditions
    out: Evaluation
    options: EvaluationOptions

    @property
    def kind(self) -> Kind:
        """With which requests this one can be joined."""
        return board_size(self.positions), self.conditions, self.options


class JoinedRows:
    """Arrays for up to `rows` rows, in which requests are joined; one thread uses them at a time."""

    def __init__(self, rows: int) -> None:
        self._rows: Final = rows
        self._size = (0, 0)
        self._positions: Positions | None = None
        self._evaluation: Evaluation | None = None

    def evaluate(self, requests: Sequence[Request], evaluator: Evaluator) -> None:
        """Write the evaluations of requests of one kind, by one call of `evaluator`."""
        size, conditions, options = requests[0].kind
        positions, evaluation = self._arrays(*size)
        count = 0
        for request in requests:
            for name, array in positions._asdict().items():
                if name != "zobrist":
                    array[count : count + request.rows] = getattr(request.positions, name)[: request.rows]
            count += request.rows
        evaluator.evaluate(positions, count, conditions, evaluation, options)
        first = 0
        for request in requests:
            for array, found in zip(request.out, evaluation, strict=True):
                array[: request.rows] = found[first : first + request.rows]
            first += request.rows

    def _arrays(self, width: int, height: int) -> tuple[Positions, Evaluation]:
        """Return the arrays for boards of this size, which are kept for the next call."""
        if self._positions is None or self._evaluation is None or self._size != (width, height):
            self._size = (width, height)
            self._positions = new_positions(self._rows, width, height)
            self._evaluation = new_evaluation(self._rows, width, height)
        return self._positions, self._evaluation
