"""The line that the search expects from a node: at each one the move that would be chosen there.

As KataGo 1.17 does (`appendPVForMove` in cpp/search/searchresults.cpp): by weight, unless another move has a better
lower confidence bound and enough weight for it.
"""

from math import inf, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import kernel, wide
from gtp_engine.go.constants import BLACK
from gtp_engine.search.puct.tree import (
    UTILITY,
    UTILITY_SQUARE,
    WEIGHT,
    WEIGHT_SQUARE,
    Tree,
    visits_of_edge,
    weight_of_edge,
)

PRIOR_SHARE: Final = 2.0
"""Visits that a prior of 1 counts for in choosing the best explored move (KataGo's)."""

_LEAST_VARIANCE: Final = 1e-8

Bounds = tuple[float, float, float]
"""`lcb_stdevs`, the least share of weight for a bound to count (infinite: none does), and the largest utility."""


@kernel
def deviation(mean: NDArray[np.float64], share: float, largest: float) -> float:
    """Return the standard deviation of a mean utility with this share of its weight; without any, 2 `largest`.

    The variance is the measured one, with a little of the largest possible mixed in, which matters for few visits only.
    """
    weight, squares = mean[WEIGHT] * share, mean[WEIGHT_SQUARE] * share
    if weight <= 0.0:
        return 2.0 * largest
    samples = weight * weight / squares
    prior = weight / (samples * samples * samples)
    squared = mean[UTILITY] * mean[UTILITY]
    square = max(mean[UTILITY_SQUARE], squared + _LEAST_VARIANCE)
    square = (square * weight + (square + largest * largest) * prior) / (weight + prior)
    stdev: float = sqrt((square - squared) * (squares + prior * prior)) / (weight + prior)
    return stdev


@kernel
def write_line(tree: Tree, node: int, color: int, bounds: Bounds, line: NDArray[np.int64]) -> int:
    """Return how many moves follow `node`, with `color` to play, if each is the one to choose by visits and bounds.

    The moves are written to line[0], their visits to line[1], those of the positions after them to line[2].
    """
    stdevs, share, largest = bounds
    sign, length = 1.0 if color == BLACK else -1.0, wide(0)
    while length < line.shape[1]:
        first, last = wide(tree.first_edge[node]), wide(tree.first_edge[node]) + tree.tried[node]
        best, most, most_explored, least = wide(0), 0.0, -inf, 0.0
        for edge in range(first, last):
            weight, visits = weight_of_edge(tree, edge), visits_of_edge(tree, edge)
            if weight > most:
                best, most = edge, weight
            explored = weight * max(0, visits - 1) / max(1, visits) + PRIOR_SHARE * tree.prior[edge]
            if explored > most_explored:
                most_explored, least = explored, share * weight
        highest = -inf
        for edge in range(first, last):
            weight, mean = weight_of_edge(tree, edge), tree.mean[tree.child[edge]]
            if weight > 0.0 and weight >= least:
                bound = sign * mean[UTILITY] - stdevs * deviation(mean, weight / mean[WEIGHT], largest)
                if bound > highest:
                    best, highest = edge, bound
        if best == 0:
            break
        node, sign = wide(tree.child[best]), -sign
        line[0, length], line[1, length] = tree.move[best], visits_of_edge(tree, best)
        line[2, length] = tree.visits[node]
        length += 1
    return length
