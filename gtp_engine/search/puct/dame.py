"""Neutral points (dame) before passes: whether to rule out a pass under territory rules.

Filling neutral points earns nothing there, but it is what people expect, and at the end it shows which groups still
need a move.  The rule and its numbers are KataGo's (`shouldSuppressPass` in cpp/search/searchhelpers.cpp).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import BLACK, PASS
from gtp_engine.search.puct.choose import RootMoves
from gtp_engine.search.puct.tree import LEAD, SCORE, UTILITY, WEIGHT

_OWNED: Final = 0.95
"""Ownership from which a point counts as settled."""

_UTILITY_LOSS: Final = 0.1
_POINTS_LOSS: Final = 0.5
"""How much worse than the pass, in utility and in expected points, another move may be."""

_ENOUGH_VISITS: Final = 500
"""Visits above which a move has been searched enough, whatever the pass has; see `_is_searched`."""


def passes_too_early(moves: RootMoves, color: int, ownership_black: NDArray[np.float32], stride: int) -> bool:
    """Return whether another of the root's moves for `color` is as good as the pass, under territory rules.

    Moves far from settled points of its own, in settled territory of the opponent, do not count.  `ownership_black`,
    float32[n], is the network's for the root; `stride` is the difference of points one below the other.
    """
    at_pass = np.flatnonzero((moves.points == PASS) & (moves.visits > 0))
    if at_pass.size == 0:
        return False
    passing = moves.means[at_pass[0]]
    sign = 1.0 if color == BLACK else -1.0
    owned = sign * ownership_black
    for mean, point, visits in zip(moves.means, moves.points.tolist(), moves.visits, strict=True):
        neighbors = [point - 1, point + 1, point - stride, point + stride]
        if point == PASS or (owned[point] < -_OWNED and not np.any(owned[neighbors] > _OWNED)):
            continue
        gain = sign * (mean - passing)
        if (
            _is_searched(int(visits), float(mean[WEIGHT]), float(passing[WEIGHT]))
            and gain[UTILITY] > -_UTILITY_LOSS
            and min(gain[SCORE], gain[LEAD]) > -_POINTS_LOSS
        ):
            return True
    return False


def _is_searched(visits: int, weight: float, pass_weight: float) -> bool:
    """Return whether the means of a move can be compared with those of the pass."""
    return visits > _ENOUGH_VISITS or weight > 2.0 * float(np.sqrt(pass_weight))
