"""Several requests for evaluations joined to one call: for a network, few large batches are less work than many small.

Requests of one kind can be joined: of boards of one size, with the same options.  Games may differ in rules and komi.
"""

from collections.abc import Sequence
from typing import Final

from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.positions import Positions, new_positions


class JoinedRows:
    """Arrays for up to `rows` rows, in which requests are joined; one thread uses them at a time."""

    def __init__(self, rows: int) -> None:
        self._rows: Final = rows
        self._size = (0, 0)
        self._positions: Positions | None = None
        self._evaluation: Evaluation | None = None

    def evaluate(self, requests: Sequence[Request], evaluator: Evaluator) -> None:
        """Write the evaluations of requests of one kind, by one call of `evaluator`."""
        size, options = requests[0].kind
        positions, evaluation = self._arrays(*size)
        count = 0
        for request in requests:
            for name, array in positions._asdict().items():
                if name != "zobrist":
                    array[count : count + request.rows] = getattr(request.positions, name)[: request.rows]
            count += request.rows
        evaluator.evaluate(Request(positions, count, evaluation, options))
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
