"""What a search keeps from move to move.

`ReusableTree` is its tree: arrays that grow, are pruned when memory runs out, and are re-rooted as the game goes on.
`Buffers` are the batches of playouts, and all other arrays that searching boards of one size needs, allocated once.
"""

from collections.abc import Collection
from math import inf
from typing import Final

import numpy as np

from gtp_engine.compiled.arrays import copy_used, zeros
from gtp_engine.evaluation.memory_budget import BUDGET
from gtp_engine.evaluation.positions import new_evaluation, new_positions
from gtp_engine.go.constants import PASS, padded_length
from gtp_engine.go.game import Game
from gtp_engine.search.limits import RootPosition, find_position, follow_game
from gtp_engine.search.puct.evaluation_thread import Job, RolloutPlayer
from gtp_engine.search.puct.expand import MeansWork, Results
from gtp_engine.search.puct.expected_line import Bounds
from gtp_engine.search.puct.leaves import EVALUATE, MAX_DEPTH, PathWork, new_leaves
from gtp_engine.search.puct.subtree_bias import BUCKETS, carry_over
from gtp_engine.search.puct.transpositions import add_all_keys
from gtp_engine.search.puct.tree import (
    EDGES,
    EXPANDED,
    NODES,
    ROOT,
    Extras,
    Tree,
    copy_subtree,
    edge_visits,
    new_tree,
    set_human_priors,
)
from gtp_engine.search.report import RawEvaluation
from gtp_engine.search.rng import new_states


class Batch:
    """Up to `size` playouts under way: their paths and positions, the evaluations, and the job that computes them.

    `results` are those of rollouts from the positions, if the search mixes them in; `by_people` the evaluations of the
    human-like network, None unless the search explores by its policy.
    """

    def __init__(self, size: int, width: int, height: int, *, with_people: bool) -> None:
        self.leaves: Final = new_leaves(size, width, height)
        self.evaluation: Final = new_evaluation(size, width, height)
        self.by_people: Final = new_evaluation(size, width, height) if with_people else None
        self.results: Final = zeros(Results, S=size, n=padded_length(width, height))
        self.job: Job | None = None

    @property
    def rows(self) -> int:
        """The number of rows in use."""
        return int(self.leaves.filled[0])

    @property
    def evaluations(self) -> int:
        """The number of positions to be evaluated."""
        return int(self.leaves.filled[1])

    @property
    def playouts(self) -> int:
        """The number of rows that are playouts."""
        return int(self.leaves.filled[2])

    @property
    def counted(self) -> int:
        """The number of playouts that count to the limits of the search."""
        return int(self.leaves.filled[2] - self.leaves.filled[3])

    def add_human_priors(self, tree: Tree) -> None:
        """Give the nodes that the batch has expanded the human-like policy, if it was evaluated."""
        if self.by_people is None:
            return
        for row in np.flatnonzero(self.leaves.kind[: self.rows] == EVALUATE).tolist():
            node = int(self.leaves.path[row, self.leaves.depth[row]])
            set_human_priors(tree, node, self.by_people.policy[self.leaves.slot[row]])


class Buffers:
    """The arrays for boards of one size, with `batches` batches of `size` playouts.

    `with_people`: the leaves are evaluated by a human-like network too.  `player` plays rollouts, if there are any.
    """

    def __init__(self, board_size: tuple[int, int], *, batches: int, size: int, with_people: bool = False) -> None:
        width, height = board_size
        self.board_size: Final = board_size
        self.batch_size: Final = size
        self.batches: Final = [Batch(size, width, height, with_people=with_people) for _ in range(batches)]
        self.root_positions: Final = new_positions(1, width, height)
        self.root_evaluation: Final = new_evaluation(1, width, height)
        self.root_by_people: Final = new_evaluation(1, width, height)
        self.path_work: Final = zeros(PathWork, n=padded_length(width, height), D=MAX_DEPTH)
        self.means_work: Final = zeros(MeansWork, n=padded_length(width, height))
        self.rollout_rng: Final = np.zeros(1, dtype=np.uint64)
        self.rng: Final = np.zeros(1, dtype=np.uint64)
        self.player: RolloutPlayer | None = None

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed`; None: differently every time."""
        self.rollout_rng[:], self.rng[:] = new_states(2, seed)


_INITIAL_NODES: Final = 1 << 12
_GROWTH: Final = 4
"""Arrays of zeros take no memory until they are written to, so large steps cost nothing but save much copying."""

_LEAST_NODES: Final = 256
"""Nodes that a tree can have, however little memory is allowed."""

_MOST_EDGES: Final = 2**31 - 2
"""`first_edge` is an int32, and number 0 is none."""

_KEPT_SHARE: Final = 0.5
"""Share of the nodes and edges that pruning a full tree keeps: less would forget more, more would prune more often."""


def _bytes(tree: Tree) -> int:
    """Return the bytes that the arrays of a tree take, but for what is remembered."""
    return sum(array.nbytes for array in (*tree[:-3], *tree.bias, *tree.graph))


class ReusableTree:
    """A tree for boards of one size whose root follows a game, and the arrays for such boards; empty until `move_root`.

    It grows as needed, up to `max_memory` MiB.  Beyond its first arrays it holds what the process's budget allows.
    Where it cannot grow any more, `prune` frees memory.  While it grows, is pruned or re-rooted, the old arrays and the
    new ones exist side by side for a moment.  `bias_free_share` is for `subtree_bias.carry_over`.
    """

    def __init__(self, buffers: Buffers, extras: Extras, *, max_memory: int, bias_free_share: float) -> None:
        width, height = buffers.board_size
        self.buffers: Final = buffers
        self._max_memory: Final = max_memory
        self._moves: Final = width * height + 1
        self._bias_free_share: Final = bias_free_share
        self._extras: Final = extras
        least = _bytes(new_tree(1, 1, self._extras))
        self._node_bytes: Final = _bytes(new_tree(2, 1, self._extras)) - least
        self._edge_bytes: Final = _bytes(new_tree(1, 2, self._extras)) - least
        self._max_nodes: Final = max(_LEAST_NODES, min(self._nodes_in(self._max_memory), _MOST_EDGES // self._moves))
        self.tree = self._empty()
        self.raw: RawEvaluation | None = None
        """The network's evaluation of the root; None until it has been evaluated as a root."""
        self.human: RawEvaluation | None = None
        """The human-like network's; None also without such a network."""
        self.score_center = 0.0
        """The score, points for Black, around which the utilities in the tree count points."""
        self.bounds: Bounds = (0.0, inf, 0.0)
        """What expected lines go by."""
        self.has_moved = True
        """Whether the last call of `move_root` moved the root."""
        self._position: RootPosition | None = None
        BUDGET.join(self)

    # --- the arrays ---

    def _nodes_in(self, memory: float) -> int:
        """Return how many nodes, each with all its edges, fit into so many MiB."""
        return int(memory * 2**20 // (self._node_bytes + self._moves * self._edge_bytes))

    def _allowed(self, nodes: int) -> int:
        """Return how many nodes there may be now, where so many are wanted."""
        if nodes <= _INITIAL_NODES:
            return self._max_nodes
        wanted = self.memory * nodes / self.used
        allowed = self._nodes_in(BUDGET.allowed(self, wanted, self._max_memory))
        return min(self._max_nodes, max(_INITIAL_NODES, allowed))

    def _empty(self, nodes: int = _INITIAL_NODES) -> Tree:
        nodes = min(nodes, self._max_nodes)
        return new_tree(nodes, 1 + nodes * self._moves, self._extras)

    @property
    def used(self) -> int:
        """The number of nodes in use, the root among them."""
        return int(self.tree.info[NODES])

    @property
    def memory(self) -> float:
        """The memory that nodes and edges in use take, MiB."""
        return (self.used * self._node_bytes + int(self.tree.info[EDGES]) * self._edge_bytes) / 2**20

    def clear(self) -> None:
        """Forget everything but the buffers.

        A small tree keeps its arrays: new ones cost a page fault for every 4 KiB that is written.
        """
        self._forget_root()
        self._position = None
        if self.tree.state.size > _INITIAL_NODES:
            self.tree = self._empty()
            return
        self.tree.info[:] = self.tree.bias.info[:] = 1
        self.tree.bias.slots[:] = self.tree.graph.slots[:] = 0
        copy_used(self.tree, new_tree(1, 1, self._extras), N=1, C=1, G=1, O=1)

    def is_full(self, nodes: int) -> bool:
        """Return whether the memory allows fewer than `nodes` more."""
        return self.used + nodes > self._allowed(self.used + nodes)

    def reserve(self, nodes: int) -> None:
        """Grow the arrays to hold `nodes` more, each with its edges, as far as the memory allows.

        Nodes and edges grow together: most nodes are expanded, and then have an edge for each legal move.
        """
        tree = self.tree
        used, edges = self.used, int(tree.info[EDGES])
        needed = min(self._max_nodes, used + nodes)
        fits = needed <= tree.state.size and edges + nodes * self._moves <= tree.move.size
        if fits or tree.state.size >= self._max_nodes:
            return
        larger = self._empty(max(_GROWTH * tree.state.size, needed))
        larger.info[:] = tree.info
        copy_used(larger, tree, N=used, C=used, G=used, O=used, E=edges, V=edges, H=edges)
        self._replace(larger, nodes_left=0)

    def reroot(self, node: int, visits_to_stay_expanded: int = 0) -> None:
        """Make `node` the root and forget everything that is not below it; no playout may be under way.

        Nodes with fewer visits than `visits_to_stay_expanded` lose what is below them; see `copy_subtree`.
        """
        tree = self.tree
        target = new_tree(tree.state.size, tree.move.size, self._extras)
        copy_subtree(tree, node, target, np.zeros((2, self.used), dtype=np.int32), visits_to_stay_expanded)
        self._replace(target, nodes_left=self.used)

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
        for array in (tree.move, tree.prior, tree.child, tree.edge_visits, tree.human_prior):
            if array.size > 0:
                array[edges] = array[edges][order]
        tree.tried[ROOT] -= np.count_nonzero(is_forgotten)
        self.reroot(ROOT)
        return True

    def prune(self) -> None:
        """Forget what is below the least visited nodes, which frees half of the memory; no playout may be under way.

        No visit is lost: a node without its subtree keeps its visits and means, and is expanded again when a playout
        comes back to it.
        """
        self.reroot(ROOT, self._visits_to_stay_expanded())

    def _replace(self, tree: Tree, *, nodes_left: int) -> None:
        """Continue with a copy of the tree; those of the first `nodes_left` nodes that are not in it leave it."""
        if self._extras.bias:
            old = self.tree.bias
            numbers = np.zeros(old.info[BUCKETS], dtype=np.int32)
            carry_over(old, nodes_left, tree.bias, int(tree.info[NODES]), self._bias_free_share, numbers)
        if self._extras.graph:
            add_all_keys(tree.graph, int(tree.info[NODES]))
        self.tree = tree

    def _visits_to_stay_expanded(self) -> int:
        """Return the least number of visits such that the nodes with as many, and their children, fit `_KEPT_SHARE`."""
        tree, used = self.tree, self.used
        order = np.argsort(-tree.visits[:used], kind="stable")
        nodes = 1 + np.cumsum(tree.tried[:used][order], dtype=np.int64)
        edges = 1 + np.cumsum(tree.edges[:used][order], dtype=np.int64)
        most = self._allowed(used)
        fits = (nodes <= _KEPT_SHARE * most) & (edges <= _KEPT_SHARE * min(tree.move.size, most * self._moves))
        kept = int(np.count_nonzero(fits))
        return int(tree.visits[order[kept]]) + 1 if kept < used else 0

    def child_by_move(self, node: int, move: int) -> int | None:
        """Return the node that `move` (a point or PASS) leads to, or None if it has not been tried."""
        first = int(self.tree.first_edge[node])
        for edge in range(first, first + int(self.tree.tried[node])):
            if self.tree.move[edge] == move:
                return int(self.tree.child[edge])
        return None

    # --- the root ---

    def move_root(self, position: RootPosition, *, pass_goes_on: bool = False) -> None:
        """Make `position` the root: a node of the tree if the game continued there, otherwise that of an empty tree.

        `pass_goes_on` is as in `leaves.Root`.
        """
        self.has_moved = False
        if not self._follow(position, pass_goes_on=pass_goes_on):
            self.clear()
        self._position = position

    def node_of(self, game: Game, color: int) -> int | None:
        """Return the node of a position, however the tree was searched; None if it is not in the tree."""
        root = self._position if self.tree.state[ROOT] == EXPANDED else None
        return None if root is None else follow_game(self.child_by_move, root, game, color)

    def _follow(self, position: RootPosition, *, pass_goes_on: bool) -> bool:
        """Return whether the root could be moved to `position` in the tree.

        Not if passes count differently below the new root: because two of them ended the game there or on the way, or
        because a pass that ended it deeper in the tree does not at the root.
        """
        node = find_position(self.child_by_move, self._position, position)
        if self._position is None or node is None or self.tree.state[node] != EXPANDED:
            return False
        if not self._has_legal_moves(node, position):
            return False
        if node != ROOT:
            if _has_ended(self._position.game, position.game):
                return False
            if pass_goes_on and position.game.consecutive_passes > 0:
                return False
            self.reroot(node)
            self._forget_root()
        return True

    def _has_legal_moves(self, node: int, position: RootPosition) -> bool:
        """Return whether the edges of a node are the legal moves of `position`.

        Superko may forbid other moves if the game has reached a shared node by another line than the search did first.
        """
        tree, first = self.tree, int(self.tree.first_edge[node])
        moves = tree.move[first : first + int(tree.edges[node])]
        return tree.graph.key.size == 0 or {*moves.tolist()} == {PASS, *position.game.legal_points(position.color)}

    def _forget_root(self) -> None:
        """Drop the evaluation of the old root."""
        self.has_moved = True
        self.raw = self.human = None


def _has_ended(game: Game, later: Game) -> bool:
    """Return whether two passes have ended a game, or have while it continued up to `later`."""
    past = later.copy()
    while len(past.moves) > len(game.moves) and not past.is_over:
        past.undo()
    return past.is_over
