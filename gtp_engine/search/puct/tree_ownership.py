"""The ownership that a search expects: KataGo's weighted mean over the positions of the tree.

Each position keeps the ownership that its own evaluation gave it.  The ownership at a node is the mean of its own and
that below its children, which share their part by the *squares* of their weights, so that what the search takes for
best counts most (`traverseTreeForOwnership` in KataGo's cpp/search/searchresults.cpp).  A part that has become small is
that of a position alone, whatever is below it, so that the time grows more slowly than the tree.

The end of a game has no evaluation: its part is that of the position before, as in KataGo.  Only where rollouts are
mixed in, each of which is a single sample, ends of games have owners too.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, wide
from gtp_engine.go.board import IntArray
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.search.puct.tree import EDGES, NODES, WEIGHT, Tree, weight_of_edge

_UNIT: Final = 16384.0
"""Certain ownership as an int16; with a power of two simple fractions stay exact.  The first entry of a map, that of a
wall, is 0 where there is no ownership."""

_LEAST_PART: Final = 0.5
_LEAST_PART_EXPONENT: Final = 0.75
"""A part below 0.5 / visits^0.75 is that of its position alone (KataGo's)."""

_DROPPED_SHARE: Final = 0.01
"""A part below this share of that is its parent's (KataGo's)."""

_LEAST_WEIGHT: Final = 1e-10


@inlined_kernel
def has_ownership(tree: Tree) -> bool:
    """Return whether positions keep their ownership."""
    return bool(tree.owned.size > 0)


@kernel
def keep_ownership(tree: Tree, node: int, ownership_black: NDArray[np.float32]) -> None:
    """Keep the ownership, float32[n] in [−1, 1], of a node's position."""
    owned = tree.owned[node]
    for point in range(owned.size):
        owned[point] = round(ownership_black[point] * _UNIT)
    owned[0] = 1  # which `tree.add_node` takes back


@kernel
def keep_owners(tree: Tree, node: int, owner: IntArray) -> None:
    """Keep the owners at the end of a game, int32[n] of colours, as a node's ownership."""
    owned = tree.owned[node]
    for point in range(owned.size):
        owned[point] = wide(_UNIT) * (wide(owner[point] == BLACK) - wide(owner[point] == WHITE))
    owned[0] = 1


@kernel
def sum_ownership(
    tree: Tree,
    node: int,
    total: NDArray[np.float64],
    squares: NDArray[np.float64],
    nodes: NDArray[np.int32],
    parts: NDArray[np.float64],
) -> None:
    """Write the mean ownership at a node with one of its own to `total`, that of the squares to `squares`, float64[n].

    `nodes` and `parts` are work of equal length: what does not fit counts as the parent's.
    """
    for point in range(total.size):
        total[point], squares[point] = 0.0, 0.0
    least = _LEAST_PART / pow(max(1.0, 1.0 * tree.visits[node]), _LEAST_PART_EXPONENT)
    nodes[0], parts[0] = node, 1.0
    waiting = wide(1)
    while waiting > 0:
        waiting -= 1
        node, part = wide(nodes[waiting]), parts[waiting]
        first, tried = wide(tree.first_edge[node]), wide(tree.tried[node])
        weights, squared = 0.0, 0.0
        if part >= least:
            for edge in range(first, first + tried):
                weight = weight_of_edge(tree, edge)
                weights += weight
                squared += weight * weight
        if squared > 0.0:
            own_weight = max(_LEAST_WEIGHT, np.float64(tree.own[node, WEIGHT]))
            below = part * weights / (weights + own_weight)
            part -= below
            for edge in range(first, first + tried):
                child, weight = wide(tree.child[edge]), weight_of_edge(tree, edge)
                share = below * weight * weight / squared
                if share < _DROPPED_SHARE * least or tree.owned[child, 0] == 0 or waiting == nodes.size:
                    part += share
                else:
                    nodes[waiting], parts[waiting] = child, share
                    waiting += 1
        owned = tree.owned[node]
        for point in range(owned.size):
            value = owned[point] / _UNIT
            total[point] += part * value
            squares[point] += part * value * value


def ownership_below(tree: Tree, node: int) -> NDArray[np.float64] | None:
    """Return the ownership at a node and its standard deviation, float64[2, n]; None if it has none of its own."""
    if not has_ownership(tree) or tree.owned[node, 0] == 0:
        return None
    found, most = np.empty((2, tree.owned.shape[1])), int(tree.info[EDGES] + tree.info[NODES])
    total, squares = found
    sum_ownership(tree, node, total, squares, np.zeros(most, dtype=np.int32), np.zeros(most))
    total[0] = 0.0
    squares[:] = np.sqrt(np.maximum(0.0, squares - total * total))
    return found
