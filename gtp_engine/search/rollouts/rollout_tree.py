"""The search tree as arrays, one entry per node; a node's children lie side by side.

Values are sums of Black's results, in [−1, 1] per visit, at nodes of either side: the sign is changed where moves are
compared (`rollout_select`), nowhere else.  Node 0 is the root.  The colour to play at a node follows from its depth.

Superko is checked when a walk takes a move.  A child that repeats a position keeps its place with the move NULL_POINT
and is never chosen again.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import kernel, wide
from gtp_engine.go.constants import MAX_SIZE

ROOT: Final = 0
USED: Final = 0
"""info[USED]: number of nodes in use."""

_INITIAL_CAPACITY: Final = 1 << 16
_MAX_CHILDREN: Final = MAX_SIZE * MAX_SIZE + 1

FloatArray = NDArray[np.float32]
SumArray = NDArray[np.float64]
"""Sums of results: float32 would stop growing after some millions of visits."""


class Tree(NamedTuple):
    """The arrays of a tree; N = capacity."""

    info: NDArray[np.int64]  # int64[1]
    move: NDArray[np.int16]  # [N] the move that leads here: a point, PASS, or NULL_POINT if it is forbidden
    first_child: NDArray[np.int32]  # [N] 0 while the node has not been expanded
    child_count: NDArray[np.int16]  # [N]
    visits: NDArray[np.int32]  # [N] playouts through the node
    virtual_visits: NDArray[np.int16]  # [N] playouts through the node that have not been backed up yet
    value: SumArray  # [N] sum of results for Black
    amaf_visits: SumArray  # [N] playouts in which the move was played at any later time (all moves as first)
    amaf_value: SumArray  # [N] sum of their results for Black
    prior_visits: FloatArray  # [N] imaginary visits of the prior knowledge about the move
    prior_value: FloatArray  # [N] the mean result of these, Black's


def new_tree(capacity: int) -> Tree:
    """Return the arrays of a tree for so many nodes, with an unexpanded root."""
    return Tree(
        np.ones(1, dtype=np.int64),
        np.zeros(capacity, dtype=np.int16),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(capacity, dtype=np.int16),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(capacity, dtype=np.int16),
        value=np.zeros(capacity, dtype=np.float64),
        amaf_visits=np.zeros(capacity, dtype=np.float64),
        amaf_value=np.zeros(capacity, dtype=np.float64),
        prior_visits=np.zeros(capacity, dtype=np.float32),
        prior_value=np.zeros(capacity, dtype=np.float32),
    )


_BYTES_PER_NODE: Final = sum(array.itemsize for array in new_tree(1)[1:])


def _copy_nodes(source: Tree, target: Tree, count: int) -> None:
    """Copy the first `count` nodes with their links."""
    target.info[:] = source.info
    for name in Tree._fields[1:]:
        getattr(target, name)[:count] = getattr(source, name)[:count]


class TreeStore:
    """A tree that grows as needed, up to `max_memory` MiB; once that is reached, no more nodes are expanded.

    While it grows or is re-rooted, old and new arrays exist side by side for a moment.
    """

    def __init__(self, max_memory: int) -> None:
        self._max_nodes: Final = max(_INITIAL_CAPACITY, max_memory * 2**20 // _BYTES_PER_NODE)
        self.tree = new_tree(_INITIAL_CAPACITY)

    @property
    def used(self) -> int:
        """The number of nodes in use, the root among them."""
        return int(self.tree.info[USED])

    @property
    def memory(self) -> float:
        """The memory the tree's arrays take, MiB."""
        return sum(array.nbytes for array in self.tree) / 2**20

    def clear(self) -> None:
        """Drop everything but an unexpanded root."""
        self.tree = new_tree(_INITIAL_CAPACITY)

    def reserve(self, expansions: int) -> None:
        """Grow the arrays so that `expansions` more nodes can be expanded, as far as the memory allows."""
        needed = min(self.used + expansions * _MAX_CHILDREN, self._max_nodes)
        capacity = self.tree.move.size
        if needed <= capacity:
            return
        larger = new_tree(min(max(needed, capacity * 3 // 2), self._max_nodes))
        _copy_nodes(self.tree, larger, self.used)
        self.tree = larger

    def reroot(self, node: int) -> None:
        """Make `node` the root and forget everything that is not below it."""
        smaller = new_tree(max(_INITIAL_CAPACITY, self.used))
        copy_subtree(self.tree, node, smaller, np.zeros(self.used, dtype=np.int32))
        self.tree = smaller

    def children(self, node: int) -> range:
        """Return the numbers of the children of `node`; none if it has not been expanded."""
        first = int(self.tree.first_child[node])
        return range(first, first + int(self.tree.child_count[node])) if first else range(0)

    def child_by_move(self, node: int, move: int) -> int | None:
        """Return the child that `move` (a point or PASS) leads to, or None."""
        return next((child for child in self.children(node) if self.tree.move[child] == move), None)


@kernel
def _copy_node(source: Tree, node: int, target: Tree, place: int) -> None:
    """Copy everything but the links to the children."""
    target.move[place] = source.move[node]
    target.visits[place] = source.visits[node]
    target.value[place] = source.value[node]
    target.amaf_visits[place] = source.amaf_visits[node]
    target.amaf_value[place] = source.amaf_value[node]
    target.prior_visits[place] = source.prior_visits[node]
    target.prior_value[place] = source.prior_value[node]


@kernel
def copy_subtree(source: Tree, node: int, target: Tree, origin: NDArray[np.int32]) -> int:
    """Return the number of nodes at and below `node`, copied breadth first to `target` with `node` as its root.

    `origin` (work, int32[nodes of source]) is filled with the node that each copy came from.
    """
    _copy_node(source, node, target, wide(ROOT))
    origin[ROOT] = node
    count, place = wide(1), wide(0)
    while place < count:
        first = source.first_child[origin[place]]
        if first != 0:
            target.first_child[place] = count
            target.child_count[place] = source.child_count[origin[place]]
            for child in range(first, first + source.child_count[origin[place]]):
                _copy_node(source, child, target, count)
                origin[count] = child
                count += 1
        place += 1
    target.info[USED] = count
    return count
