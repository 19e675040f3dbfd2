"""What an evaluator returns: arrays with a row for each position.

Everything is Black's view, as in the search tree, except the policy, which is that of the side to move.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel
from gtp_engine.go.board import padded_length

FloatArray = NDArray[np.float32]


class Evaluation(NamedTuple):
    """The evaluation of B positions; n is the padded length of a board."""

    policy: FloatArray  # [B, n] probability of each move by its point, the pass at PASS; 0 where illegal; sums to 1
    win_black: FloatArray  # [B] probability that Black wins
    loss_black: FloatArray  # [B] probability that White wins; the rest is "no result"
    score_black: FloatArray  # [B] expected points Black ends up ahead (komi counted), the mean over possible results
    score_stdev: FloatArray  # [B] standard deviation of that, points
    lead_black: FloatArray  # [B] points Black is ahead: the extra komi that would make the game even
    ownership_black: FloatArray  # [B, n] in [−1, 1]; 0 off the board
    time_left: FloatArray  # [B] variance of the number of moves left (KataGo's "varTimeLeft"); −1 if unknown
    winloss_error: FloatArray  # [B] expected error of win − loss over the next moves; −1 if unknown
    score_error: FloatArray  # [B] expected error of the score, points; −1 if unknown


def new_evaluation(batch: int, width: int, height: int) -> Evaluation:
    """Return `batch` rows of zeros for boards of this size."""
    n = padded_length(width, height)
    wide_fields = ("policy", "ownership_black")
    shapes = {name: (batch, n) if name in wide_fields else (batch,) for name in Evaluation._fields}
    return Evaluation(**{name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()})


def put_rows(out: Evaluation, rows: Sequence[int] | NDArray[np.int64], source: Evaluation) -> None:
    """Copy row i of `source` to row rows[i] of `out`, for all i."""
    for array, values in zip(out, source, strict=True):
        array[rows] = values


@inlined_kernel
def value_black(evaluation: Evaluation, row: int) -> float:
    """Return win − loss, in [−1, 1]."""
    return np.float64(evaluation.win_black[row]) - np.float64(evaluation.loss_black[row])


@inlined_kernel
def no_result(evaluation: Evaluation, row: int) -> float:
    """Return the probability that the game has no result."""
    return max(0.0, 1.0 - np.float64(evaluation.win_black[row]) - np.float64(evaluation.loss_black[row]))
