"""The search tree as arrays: nodes with their statistics, edges for their moves.

A node's edges lie side by side.  The tried ones come first, each with the node it leads to; then the untried one with
the largest prior, then the rest in no order.  So selection reads the tried edges and one more, however many legal moves
there are, and trying that one costs a single pass over the rest (`promote_untried`).

`mean` holds the means over a node's playouts, Black's, in float64, weighted by the certainty of the evaluations; `own`
is the evaluation of the position itself, by the network or, at the end of a game, by the rules.  Both are rows of a
matrix: selection needs most columns of a node at once and so reads one or two cache lines for it.

Node 0 is the root.  The colour to play at a node follows from its depth.  It is a tree, not a graph: a position reached
by transposition is a node of its own, because superko and the last moves make it different; the evaluator's cache makes
its evaluation cheap.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.search.puct.subtree_bias import (
    BUCKETS,
    SubtreeBias,
    bytes_per_node,
    carry_over,
    clear_subtree_bias,
    leave_bucket,
    move_bucket,
    new_subtree_bias,
)

ROOT: Final = 0

NODES: Final = 0
"""info[NODES]: number of nodes in use."""
EDGES: Final = 1
"""info[EDGES]: number of edges in use; number 0 is not one, so that it can mean "none"."""

NEW: Final = 0
"""State of a node that was never evaluated, or that was collapsed (then it has visits)."""
PENDING: Final = 1
"""State of a node whose evaluation is under way."""
EXPANDED: Final = 2
"""State of a node that was evaluated and has edges."""
UNEXPANDABLE: Final = 3
"""State of a node that was evaluated and gets no edges: the game is over there, or the tree is full."""

VALUE: Final = 0  # win − loss, in [−1, 1]
NO_RESULT: Final = 1  # probability of a game without result
SCORE: Final = 2  # points
SCORE_SQUARE: Final = 3  # mean of the square of the final score, points²
LEAD: Final = 4  # points
UTILITY: Final = 5
WEIGHT: Final = 6  # of one evaluation in `own`, their sum in `mean`
OWN_COLUMNS: Final = 7
UTILITY_SQUARE: Final = 7
WEIGHT_SQUARE: Final = 8  # sum of the squares of all weights
MEAN_COLUMNS: Final = 9

_INITIAL_NODES: Final = 1 << 12
_GROWTH: Final = 4
"""Arrays of zeros take no memory until they are written to, so large steps cost nothing but save much copying."""

_LEAST_NODES: Final = 256
"""Nodes that a tree can have, however little memory is allowed."""

_MOST_EDGES: Final = 2**31 - 2
"""`first_edge` is an int32, and number 0 is none."""

_KEPT_SHARE: Final = 0.5
"""Share of the nodes and edges that pruning a full tree keeps: less would forget more, more would prune more often."""


class Tree(NamedTuple):
    """The arrays of a tree of up to N nodes and E edges."""

    info: NDArray[np.int64]  # [2]
    first_edge: NDArray[np.int32]  # [N] 0: no edges
    edges: NDArray[np.int16]  # [N] number of edges
    tried: NDArray[np.int16]  # [N] number of edges that lead to a node
    state: NDArray[np.int8]  # [N] NEW, PENDING, EXPANDED or UNEXPANDABLE
    visits: NDArray[np.int64]  # [N] playouts through the node
    virtual_visits: NDArray[np.int32]  # [N] playouts through the node that have not been backed up yet
    own: NDArray[np.float32]  # [N, OWN_COLUMNS] the evaluation of the position itself
    mean: NDArray[np.float64]  # [N, MEAN_COLUMNS] means over the playouts through the node
    move: NDArray[np.int16]  # [E] a point or PASS
    prior: NDArray[np.float32]  # [E] the policy's probability
    child: NDArray[np.int32]  # [E] the node it leads to; 0: untried
    bias: SubtreeBias  # corrections of the evaluations, for N nodes or for none


_NODE_ARRAYS: Final = ("first_edge", "edges", "tried", "state", "visits", "virtual_visits", "own", "mean")
_EDGE_ARRAYS: Final = ("move", "prior", "child")


def new_tree(nodes: int, edges: int, *, with_bias: bool = False) -> Tree:
    """Return a tree that consists of a new root, `with_bias` if evaluations are to be corrected (`subtree_bias`)."""
    return Tree(
        info=np.ones(2, dtype=np.int64),
        first_edge=np.zeros(nodes, dtype=np.int32),
        edges=np.zeros(nodes, dtype=np.int16),
        tried=np.zeros(nodes, dtype=np.int16),
        state=np.zeros(nodes, dtype=np.int8),
        visits=np.zeros(nodes, dtype=np.int64),
        virtual_visits=np.zeros(nodes, dtype=np.int32),
        own=np.zeros((nodes, OWN_COLUMNS), dtype=np.float32),
        mean=np.zeros((nodes, MEAN_COLUMNS), dtype=np.float64),
        move=np.zeros(edges, dtype=np.int16),
        prior=np.zeros(edges, dtype=np.float32),
        child=np.zeros(edges, dtype=np.int32),
        bias=new_subtree_bias(nodes if with_bias else 0),
    )


def _bytes(names: tuple[str, ...]) -> int:
    """Return the bytes that one entry of these arrays takes."""
    tree = new_tree(1, 1)
    return sum(getattr(tree, name).nbytes for name in names)


_NODE_BYTES: Final = _bytes(_NODE_ARRAYS)
_EDGE_BYTES: Final = _bytes(_EDGE_ARRAYS)


class TreeStore:
    """A tree that grows as needed, up to `max_memory` MiB; `moves` is the most moves that a position can have.

    Where it cannot grow any more, `prune` frees memory.  While it grows, is pruned or re-rooted, the old arrays and the
    new ones exist side by side for a moment.  `bias_free_share` is the share of their corrections that nodes take with
    them when they leave the tree; None: evaluations are not corrected.
    """

    def __init__(self, max_memory: int, moves: int, bias_free_share: float | None = None) -> None:
        self._moves: Final = moves
        self._bias_free_share: Final = bias_free_share
        self._node_bytes: Final = _NODE_BYTES + (0 if bias_free_share is None else bytes_per_node())
        nodes = min(max_memory * 2**20 // (self._node_bytes + moves * _EDGE_BYTES), _MOST_EDGES // moves)
        self._max_nodes: Final = max(_LEAST_NODES, nodes)
        self.tree = self._empty()

    def _empty(self, nodes: int = _INITIAL_NODES) -> Tree:
        nodes = min(nodes, self._max_nodes)
        return new_tree(nodes, 1 + nodes * self._moves, with_bias=self._bias_free_share is not None)

    @property
    def used(self) -> int:
        """The number of nodes in use, the root among them."""
        return int(self.tree.info[NODES])

    @property
    def memory(self) -> float:
        """The memory that nodes and edges in use take, MiB."""
        return (self.used * self._node_bytes + int(self.tree.info[EDGES]) * _EDGE_BYTES) / 2**20

    def clear(self) -> None:
        """Drop everything but a new root.

        A small tree keeps its arrays: new ones cost a page fault for every 4 KiB that is written.
        """
        if self.tree.state.size > _INITIAL_NODES:
            self.tree = self._empty()
            return
        self.tree.info[:] = 1
        for name in _NODE_ARRAYS:
            getattr(self.tree, name)[ROOT] = 0
        clear_subtree_bias(self.tree.bias)

    def is_full(self, nodes: int) -> bool:
        """Return whether the memory allows fewer than `nodes` more."""
        return self.used + nodes > self._max_nodes

    def reserve(self, nodes: int) -> None:
        """Grow the arrays to hold `nodes` more, each with its edges, as far as the memory allows.

        Nodes and edges grow together: most nodes are expanded, and then have an edge for each legal move.
        """
        tree = self.tree
        needed = min(self._max_nodes, self.used + nodes)
        used_edges = int(tree.info[EDGES])
        fits = needed <= tree.state.size and used_edges + nodes * self._moves <= tree.move.size
        if fits or tree.state.size >= self._max_nodes:
            return
        larger = self._empty(max(_GROWTH * tree.state.size, needed))
        larger.info[:] = tree.info
        for names, count in ((_NODE_ARRAYS, self.used), (_EDGE_ARRAYS, used_edges)):
            for name in names:
                getattr(larger, name)[:count] = getattr(tree, name)[:count]
        if self._bias_free_share is not None:
            for name in ("bucket", "added"):
                getattr(larger.bias, name)[: self.used] = getattr(tree.bias, name)[: self.used]
        self._replace(larger, nodes_left=0)

    def reroot(self, node: int) -> None:
        """Make `node` the root and forget everything that is not below it; no playout may be under way."""
        self._replace(self._copy(node, 0), nodes_left=self.used)

    def prune(self) -> None:
        """Forget what is below the least visited nodes, which frees half of the memory; no playout may be under way.

        No visit is lost: a node without its subtree keeps its visits and means, and is expanded again when a playout
        comes back to it.
        """
        self._replace(self._copy(ROOT, self._visits_to_stay_expanded()), nodes_left=self.used)

    def _copy(self, node: int, visits_to_stay_expanded: int) -> Tree:
        """Return a tree of the same size with a node and what is below it; see `copy_subtree`."""
        tree = self.tree
        target = new_tree(tree.state.size, tree.move.size, with_bias=self._bias_free_share is not None)
        copy_subtree(tree, node, target, np.zeros(self.used, dtype=np.int32), visits_to_stay_expanded)
        return target

    def _replace(self, tree: Tree, *, nodes_left: int) -> None:
        """Continue with a copy of the tree; those of the first `nodes_left` nodes that are not in it leave it."""
        if self._bias_free_share is not None:
            old = self.tree.bias
            numbers = np.zeros(old.info[BUCKETS], dtype=np.int32)
            carry_over(old, nodes_left, tree.bias, int(tree.info[NODES]), self._bias_free_share, numbers)
        self.tree = tree

    def _visits_to_stay_expanded(self) -> int:
        """Return the least number of visits such that the nodes with as many, and their children, fit `_KEPT_SHARE`."""
        tree, used = self.tree, self.used
        order = np.argsort(-tree.visits[:used], kind="stable")
        nodes = 1 + np.cumsum(tree.tried[:used][order], dtype=np.int64)
        edges = 1 + np.cumsum(tree.edges[:used][order], dtype=np.int64)
        fits = (nodes <= _KEPT_SHARE * self._max_nodes) & (edges <= _KEPT_SHARE * tree.move.size)
        kept = int(np.count_nonzero(fits))
        least = int(tree.visits[order[kept]]) + 1 if kept < used else 0
        return min(least, int(tree.visits[ROOT]))

    def child_by_move(self, node: int, move: int) -> int | None:
        """Return the node that `move` (a point or PASS) leads to, or None if it has not been tried."""
        first = int(self.tree.first_edge[node])
        for edge in range(first, first + int(self.tree.tried[node])):
            if self.tree.move[edge] == move:
                return int(self.tree.child[edge])
        return None


@inlined_kernel
def has_bias(tree: Tree) -> bool:
    """Return whether the search corrects evaluations."""
    return tree.bias.bucket.size > 0


@spliced_kernel
def add_node(tree: Tree) -> int:
    """Return the number of a new node; the caller has made sure that the arrays can hold it."""
    node = wide(tree.info[NODES])
    tree.info[NODES] = node + 1
    tree.first_edge[node] = 0
    tree.edges[node] = 0
    tree.tried[node] = 0
    tree.state[node] = NEW
    tree.visits[node] = 0
    tree.virtual_visits[node] = 0
    for column in range(MEAN_COLUMNS):
        tree.mean[node, column] = 0.0
    if has_bias(tree):
        leave_bucket(tree.bias, node)
    return node


@inlined_kernel
def swap_edges(tree: Tree, a: int, b: int) -> None:
    """Exchange two edges of a node."""
    tree.move[a], tree.move[b] = tree.move[b], tree.move[a]
    tree.prior[a], tree.prior[b] = tree.prior[b], tree.prior[a]
    tree.child[a], tree.child[b] = tree.child[b], tree.child[a]


@kernel
def promote_untried(tree: Tree, node: int) -> None:
    """Bring the untried edge with the largest prior to its place, the first after those tried.

    Of several with the same prior the first one is taken.
    """
    begin = wide(tree.first_edge[node]) + wide(tree.tried[node])
    end = wide(tree.first_edge[node]) + wide(tree.edges[node])
    best, best_prior = begin, np.float32(-1.0)
    for edge in range(begin, end):
        if tree.prior[edge] > best_prior:
            best, best_prior = edge, tree.prior[edge]
    if best != begin and begin < end:
        swap_edges(tree, begin, best)


@kernel
def set_priors(tree: Tree, node: int, policy: NDArray[np.float32]) -> None:
    """Give the edges of a node these priors, float32[n] by the move's point."""
    first = wide(tree.first_edge[node])
    for edge in range(first, first + tree.edges[node]):
        tree.prior[edge] = policy[tree.move[edge]]
    promote_untried(tree, node)


@spliced_kernel
def try_edge(tree: Tree, node: int, edge: int) -> int:
    """Return the new node that an untried edge of `node` leads to from now on; the arrays must have space for it."""
    place = wide(tree.first_edge[node]) + wide(tree.tried[node])
    if edge != place:
        swap_edges(tree, edge, place)
    child = add_node(tree)
    tree.child[place] = child
    tree.tried[node] += 1
    promote_untried(tree, node)
    return child


@kernel
def write_pv(tree: Tree, node: int, moves: NDArray[np.int64], visits: NDArray[np.int64]) -> int:
    """Return how many moves follow `node` in the line of the largest weights, written with their visits."""
    length = wide(0)
    while length < moves.size:
        first = wide(tree.first_edge[node])
        best, best_weight = wide(0), 0.0
        for edge in range(first, first + tree.tried[node]):
            weight = tree.mean[tree.child[edge], WEIGHT]
            if weight > best_weight:
                best, best_weight = edge, weight
        if best == 0:
            break
        node = wide(tree.child[best])
        moves[length] = tree.move[best]
        visits[length] = tree.visits[node]
        length += 1
    return length


@spliced_kernel
def _collapse(tree: Tree, node: int) -> None:
    """Make a node one without edges whose own evaluation is the mean of all its playouts.

    So its means stay what they are (`update_means`), except for the spread of the utility, which is forgotten.
    """
    for column in range(WEIGHT):
        tree.own[node, column] = tree.mean[node, column]
    tree.own[node, WEIGHT] = tree.mean[node, WEIGHT] / tree.visits[node]
    tree.state[node] = NEW
    tree.edges[node] = 0
    tree.tried[node] = 0


@kernel
def copy_subtree(source: Tree, node: int, target: Tree, origin: NDArray[np.int32], visits_to_stay_expanded: int) -> int:
    """Return the number of nodes at and below `node`, copied breadth first to the empty `target` as its root.

    Expanded nodes with fewer than `visits_to_stay_expanded` visits are collapsed: copied without what is below them.
    All but these and the root keep the buckets of their corrections; `carry_over` has to follow.  `origin` (work,
    int32[nodes of source]) is filled with the node that each copy came from.
    """
    origin[ROOT] = node
    nodes, edges, place = wide(1), wide(1), wide(0)
    while place < nodes:
        old = wide(origin[place])
        target.edges[place] = source.edges[old]
        target.tried[place] = source.tried[old]
        target.state[place] = source.state[old]
        target.visits[place] = source.visits[old]
        for column in range(OWN_COLUMNS):
            target.own[place, column] = source.own[old, column]
        for column in range(MEAN_COLUMNS):
            target.mean[place, column] = source.mean[old, column]
        first, count, tried = wide(source.first_edge[old]), wide(source.edges[old]), wide(source.tried[old])
        if source.state[old] == EXPANDED and source.visits[old] < visits_to_stay_expanded:
            _collapse(target, place)
            count = wide(0)
        elif place != ROOT and has_bias(source):
            move_bucket(source.bias, old, target.bias, place)
        target.first_edge[place] = edges if count > 0 else 0
        for i in range(count):
            target.move[edges + i] = source.move[first + i]
            target.prior[edges + i] = source.prior[first + i]
            if i < tried:
                target.child[edges + i] = nodes
                origin[nodes] = source.child[first + i]
                nodes += 1
        edges += count
        place += 1
    target.info[NODES] = nodes
    target.info[EDGES] = edges
    return nodes
