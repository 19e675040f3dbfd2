"""The store of a search tree: arrays that grow, are pruned when memory runs out, and are re-rooted."""

from collections.abc import Collection
from typing import Final

import numpy as np

from gtp_engine.search.puct.subtree_bias import BUCKETS, carry_over, clear_subtree_bias
from gtp_engine.search.puct.transpositions import add_all_keys
from gtp_engine.search.puct.tree import EDGES, NODES, ROOT, Tree, copy_subtree, edge_visits, new_tree

_INITIAL_NODES: Final = 1 << 12
_GROWTH: Final = 4
"""Arrays of zeros take no memory until they are written to, so large steps cost nothing but save much copying."""

_LEAST_NODES: Final = 256
"""Nodes that a tree can have, however little memory is allowed."""

_MOST_EDGES: Final = 2**31 - 2
"""`first_edge` is an int32, and number 0 is none."""

_KEPT_SHARE: Final = 0.5
"""Share of the nodes and edges that pruning a full tree keeps: less would forget more, more would prune more often."""


_NODE_ARRAYS: Final = ("first_edge", "edges", "tried", "state", "visits", "virtual_visits", "own", "mean")
_EDGE_ARRAYS: Final = ("move", "prior", "child", "edge_visits", "human_prior")
"""The last two may be empty."""


def _bytes(tree: Tree) -> int:
    """Return the bytes that the arrays of a tree take."""
    own = sum(int(getattr(tree, name).nbytes) for name in (*_NODE_ARRAYS, *_EDGE_ARRAYS))
    return own + sum(array.nbytes for array in (*tree.bias, *tree.graph))


class TreeStore:
    """A tree that grows as needed, up to `max_memory` MiB; `moves` is the most moves that a position can have.

    Where it cannot grow any more, `prune` frees memory.  While it grows, is pruned or re-rooted, the old arrays and the
    new ones exist side by side for a moment.  `bias_free_share` is the share of their corrections that nodes take with
    them when they leave the tree; None: evaluations are not corrected.  `with_graph` lets lines share nodes,
    `with_human_prior` moves be selected by a second prior, `with_edge_visits` playouts count below a node only.
    """

    def __init__(
        self,
        max_memory: int,
        moves: int,
        *,
        bias_free_share: float | None = None,
        with_graph: bool = False,
        with_human_prior: bool = False,
        with_edge_visits: bool = False,
    ) -> None:
        self._moves: Final = moves
        self._bias_free_share: Final = bias_free_share
        self._with_graph: Final = with_graph
        self._with_human_prior: Final = with_human_prior
        self._with_edge_visits: Final = with_edge_visits
        least = _bytes(self._new_tree(1, 1))
        self._node_bytes: Final = _bytes(self._new_tree(2, 1)) - least
        self._edge_bytes: Final = _bytes(self._new_tree(1, 2)) - least
        nodes = min(max_memory * 2**20 // (self._node_bytes + moves * self._edge_bytes), _MOST_EDGES // moves)
        self._max_nodes: Final = max(_LEAST_NODES, nodes)
        self.tree = self._empty()

    def _empty(self, nodes: int = _INITIAL_NODES) -> Tree:
        nodes = min(nodes, self._max_nodes)
        return self._new_tree(nodes, 1 + nodes * self._moves)

    def _new_tree(self, nodes: int, edges: int) -> Tree:
        return new_tree(
            nodes,
            edges,
            with_bias=self._bias_free_share is not None,
            with_graph=self._with_graph,
            with_human_prior=self._with_human_prior,
            with_edge_visits=self._with_edge_visits,
        )

    @property
    def used(self) -> int:
        """The number of nodes in use, the root among them."""
        return int(self.tree.info[NODES])

    @property
    def memory(self) -> float:
        """The memory that nodes and edges in use take, MiB."""
        return (self.used * self._node_bytes + int(self.tree.info[EDGES]) * self._edge_bytes) / 2**20

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
        self.tree.graph.slots[:] = 0
        self.tree.graph.key[:1] = 0

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
        if self._with_graph:
            larger.graph.key[: self.used] = tree.graph.key[: self.used]
        self._replace(larger, nodes_left=0)

    def reroot(self, node: int) -> None:
        """Make `node` the root and forget everything that is not below it; no playout may be under way."""
        self._replace(self._copy(node, 0), nodes_left=self.used)

    def forget_moves(self, points: Collection[int]) -> bool:
        """Return whether tried moves of the root were among `points` and forgotten, with their visits and subtrees.

        The means of the root have to be updated then.  No playout may be under way.
        """
        tree, first = self.tree, int(self.tree.first_edge[ROOT])
        edges = slice(first, first + int(tree.tried[ROOT]))
        is_forgotten = np.isin(tree.move[edges], list(points))
        if not is_forgotten.any():
            return False
        tree.visits[ROOT] -= edge_visits(tree, edges)[is_forgotten].sum()
        order = np.argsort(is_forgotten, kind="stable")  # edges that have been tried come first
        for name in _EDGE_ARRAYS:
            if getattr(tree, name).size > 0:
                getattr(tree, name)[edges] = getattr(tree, name)[edges][order]
        tree.tried[ROOT] -= np.count_nonzero(is_forgotten)
        self.reroot(ROOT)
        return True

    def prune(self) -> None:
        """Forget what is below the least visited nodes, which frees half of the memory; no playout may be under way.

        No visit is lost: a node without its subtree keeps its visits and means, and is expanded again when a playout
        comes back to it.
        """
        self._replace(self._copy(ROOT, self._visits_to_stay_expanded()), nodes_left=self.used)

    def _copy(self, node: int, visits_to_stay_expanded: int) -> Tree:
        """Return a tree of the same size with a node and what is below it; see `copy_subtree`."""
        tree = self.tree
        target = self._new_tree(tree.state.size, tree.move.size)
        origin, copies = np.zeros((2, self.used), dtype=np.int32)
        copy_subtree(tree, node, target, origin, copies, visits_to_stay_expanded)
        return target

    def _replace(self, tree: Tree, *, nodes_left: int) -> None:
        """Continue with a copy of the tree; those of the first `nodes_left` nodes that are not in it leave it."""
        if self._bias_free_share is not None:
            old = self.tree.bias
            numbers = np.zeros(old.info[BUCKETS], dtype=np.int32)
            carry_over(old, nodes_left, tree.bias, int(tree.info[NODES]), self._bias_free_share, numbers)
        if self._with_graph:
            add_all_keys(tree.graph, int(tree.info[NODES]))
        self.tree = tree

    def _visits_to_stay_expanded(self) -> int:
        """Return the least number of visits such that the nodes with as many, and their children, fit `_KEPT_SHARE`."""
        tree, used = self.tree, self.used
        order = np.argsort(-tree.visits[:used], kind="stable")
        nodes = 1 + np.cumsum(tree.tried[:used][order], dtype=np.int64)
        edges = 1 + np.cumsum(tree.edges[:used][order], dtype=np.int64)
        fits = (nodes <= _KEPT_SHARE * self._max_nodes) & (edges <= _KEPT_SHARE * tree.move.size)
        kept = int(np.count_nonzero(fits))
        return int(tree.visits[order[kept]]) + 1 if kept < used else 0

    def child_by_move(self, node: int, move: int) -> int | None:
        """Return the node that `move` (a point or PASS) leads to, or None if it has not been tried."""
        first = int(self.tree.first_edge[node])
        for edge in range(first, first + int(self.tree.tried[node])):
            if self.tree.move[edge] == move:
                return int(self.tree.child[edge])
        return None
