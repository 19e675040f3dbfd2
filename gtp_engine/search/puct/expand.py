"""Expansion and backup: what an evaluated batch adds to the tree.  Kernels.

    expand_leaves   the evaluations of the leaves, and their edges with priors
    back_up         visits and means on the paths to the leaves, and sums of the ownership
    abandon         takes a batch back whose evaluation has not been waited for

Everything is Black's view, in float64 where it is summed up.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.evaluation import Evaluation, no_result, value_black
from gtp_engine.evaluation.positions import Positions, board_of
from gtp_engine.go.board import (
    HEIGHT,
    STRIDE,
    WIDTH,
    IntArray,
    is_legal,
    padded_length,
)
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.search.puct.leaves import COLLISION, CYCLE, EVALUATE, TERMINAL, TRANSPOSITION, Leaves
from gtp_engine.search.puct.means import MeansWork, update_means
from gtp_engine.search.puct.select import remove_virtual_visits
from gtp_engine.search.puct.tree import (
    EDGES,
    EXPANDED,
    LEAD,
    NEW,
    NO_RESULT,
    PENDING,
    ROOT,
    SCORE,
    SCORE_SQUARE,
    UNEXPANDABLE,
    UTILITY,
    VALUE,
    WEIGHT,
    Tree,
    has_edge_visits,
    promote_untried,
    write_post_order,
)
from gtp_engine.search.puct.utility import Params, evaluation_weight, score_utility


class Ownership(NamedTuple):
    """Weighted sums of the ownership at the leaves of a search; n is the padded length."""

    weight: NDArray[np.float64]  # [1]
    samples: NDArray[np.int64]  # [1]
    total: NDArray[np.float64]  # [n]
    squares: NDArray[np.float64]  # [n]
    move_weight: NDArray[np.float64]  # [n] of the samples below the root move on a point
    moves: NDArray[np.float64]  # [n, n] their sums, by the root move's point; [1, n] if not collected
    move_squares: NDArray[np.float64]  # of the shape of `moves`


def new_ownership(width: int, height: int, *, with_moves: bool) -> Ownership:
    """Return sums of no samples; `with_moves` also below each root move."""
    n = padded_length(width, height)
    rows = n if with_moves else 1
    return Ownership(
        weight=np.zeros(1),
        samples=np.zeros(1, dtype=np.int64),
        total=np.zeros(n),
        squares=np.zeros(n),
        move_weight=np.zeros(n),
        moves=np.zeros((rows, n)),
        move_squares=np.zeros((rows, n)),
    )


# --- the leaf ---


@spliced_kernel
def _add_edges(tree: Tree, node: int, positions: Positions, evaluation: Evaluation, slot: int, suicide: bool) -> None:
    """Give `node` an edge for every legal move, or none if the arrays of the tree are full."""
    board, color = board_of(positions, slot, wide(0)), wide(positions.to_play[slot])
    area = wide(board.info[WIDTH]) * wide(board.info[HEIGHT])
    first = wide(tree.info[EDGES])
    if first + area + 1 > tree.move.size:
        tree.state[node] = UNEXPANDABLE
        return
    edge, stride = first, wide(board.info[STRIDE])
    for point in range(stride, stride + area + wide(board.info[HEIGHT])):
        if board.color[point] != EMPTY or positions.forbidden[slot, point] != 0:
            continue
        if is_legal(board, point, color, suicide):
            tree.move[edge] = point
            tree.prior[edge] = evaluation.policy[slot, point]
            tree.child[edge] = 0
            edge += 1
    if has_edge_visits(tree):
        for place in range(first, edge + 1):
            tree.edge_visits[place] = 0
    tree.move[edge] = PASS
    tree.prior[edge] = evaluation.policy[slot, PASS]
    tree.child[edge] = 0
    tree.info[EDGES] = edge + 1
    tree.first_edge[node] = first
    tree.edges[node] = edge + 1 - first
    tree.state[node] = EXPANDED
    promote_untried(tree, node)


@inlined_kernel
def write_own_values(
    tree: Tree, node: int, value: float, no_result: float, score: float, stdev: float, lead: float, params: Params
) -> None:
    """Write the evaluation of a node's position, without its weight."""
    own = tree.own
    own[node, VALUE] = value
    own[node, NO_RESULT] = no_result
    own[node, SCORE] = score
    own[node, SCORE_SQUARE] = score * score + stdev * stdev
    own[node, LEAD] = lead
    own[node, UTILITY] = value + score_utility(score, stdev, params)


@kernel
def recompute_utilities(
    tree: Tree, root_color: int, params: Params, colors: NDArray[np.int8], order: IntArray, work: MeansWork
) -> None:
    """Recompute all utilities of a tree whose root is `root_color` to play, for the score centre in `params`.

    `colors` (zeros, int8[nodes]) is filled with the colour to play at each node; `order` is work, int32[3, nodes].
    """
    colors[ROOT] = root_color
    for place in range(write_post_order(tree, colors, order)):
        node = wide(order[0, place])
        if tree.visits[node] > 0:
            score = np.float64(tree.own[node, SCORE])
            stdev = sqrt(max(0.0, np.float64(tree.own[node, SCORE_SQUARE]) - score * score))
            tree.own[node, UTILITY] = tree.own[node, VALUE] + score_utility(score, stdev, params)
            update_means(tree, node, wide(colors[node]), params, work)


@kernel
def write_network_evaluation(tree: Tree, node: int, evaluation: Evaluation, slot: int, params: Params) -> None:
    """Write the evaluation of a node's position by the evaluator, row `slot`."""
    score, stdev = np.float64(evaluation.score_black[slot]), np.float64(evaluation.score_stdev[slot])
    lead = np.float64(evaluation.lead_black[slot])
    write_own_values(tree, node, value_black(evaluation, slot), no_result(evaluation, slot), score, stdev, lead, params)
    winloss_error, score_error = evaluation.winloss_error[slot], evaluation.score_error[slot]
    weight = evaluation_weight(score, np.float64(winloss_error), np.float64(score_error), params)
    tree.own[node, WEIGHT] = weight


@spliced_kernel
def _write_result(tree: Tree, node: int, margin: float, params: Params) -> None:
    """Write the result of a game that is over at a node, won by Black by `margin` points (negative: lost)."""
    value = 1.0 if margin > 0.0 else (-1.0 if margin < 0.0 else 0.0)
    write_own_values(tree, node, value, 0.0, margin, 0.0, margin, params)
    tree.own[node, WEIGHT] = params.certain_weight


# --- the path ---


@spliced_kernel
def _back_up_path(tree: Tree, leaves: Leaves, row: int, params: Params, work: MeansWork) -> None:
    """Count a playout in the nodes on its path, from the leaf up to where it counts, and recompute their means."""
    color = wide(leaves.color[row])
    depth, counted_from = wide(leaves.depth[row]), wide(leaves.counted_from[row])
    for at in range(depth, -1, -1):
        node = wide(leaves.path[row, at])
        if at > 0:
            tree.virtual_visits[node] -= 1
        if counted_from <= at < depth and has_edge_visits(tree):
            tree.edge_visits[leaves.edges[row, at]] += 1
        if at >= counted_from and (at < depth or leaves.kind[row] != TRANSPOSITION):
            tree.visits[node] += 1
            update_means(tree, node, color, params, work)
        color = BLACK + WHITE - color


# --- ownership ---


@kernel
def add_ownership(
    ownership: Ownership, move: int, weight: float, counted_from: int, value: NDArray[np.float32]
) -> None:
    """Add the ownership at a leaf, at the depths from `counted_from` on.

    `move` is the root move that led there, 0 if the leaf is the root.
    """
    with_root, with_move = counted_from == 0, counted_from <= 1 and move > 0 and ownership.moves.shape[0] > 1
    for point in range(value.size):
        owned = weight * value[point]
        if with_root:
            ownership.total[point] += owned
            ownership.squares[point] += owned * value[point]
        if with_move:
            ownership.moves[move, point] += owned
            ownership.move_squares[move, point] += owned * value[point]
    _count_sample(ownership, move, weight, counted_from)


@spliced_kernel
def _count_sample(ownership: Ownership, move: int, weight: float, counted_from: int) -> None:
    """Add the weight of an ownership that was added."""
    if counted_from == 0:
        ownership.weight[0] += weight
        ownership.samples[0] += 1
    if counted_from <= 1:
        ownership.move_weight[move] += weight


@spliced_kernel
def _add_final_ownership(ownership: Ownership, move: int, weight: float, counted_from: int, owner: IntArray) -> None:
    """Add the ownership of a game that is over; as `add_ownership`, with `owner` int32[n] holding colours."""
    with_root, with_move = counted_from == 0, counted_from <= 1 and move > 0 and ownership.moves.shape[0] > 1
    for point in range(owner.size):
        owned = weight * (wide(owner[point] == BLACK) - wide(owner[point] == WHITE))
        if with_root:
            ownership.total[point] += owned
            ownership.squares[point] += abs(owned)
        if with_move:
            ownership.moves[move, point] += owned
            ownership.move_squares[move, point] += abs(owned)
    _count_sample(ownership, move, weight, counted_from)


# --- the batch ---


@inlined_kernel
def leaf_node(leaves: Leaves, row: int) -> int:
    """Return the node at the end of a row's path."""
    return wide(leaves.path[row, leaves.depth[row]])


@kernel
def expand_leaves(
    tree: Tree, params: Params, leaves: Leaves, rows: int, positions: Positions, evaluation: Evaluation
) -> None:
    """Write the evaluations of the leaves in the first `rows` rows into the tree, and give their nodes edges."""
    for row in range(rows):
        if wide(leaves.kind[row]) != EVALUATE:
            continue
        node, slot = leaf_node(leaves, row), wide(leaves.slot[row])
        if tree.visits[node] == 0:  # a collapsed node keeps the mean of its former subtree
            write_network_evaluation(tree, node, evaluation, slot, params)
        if leaves.passes[row] >= 2 and leaves.depth[row] > 0 and not params.counts_area:
            tree.state[node] = UNEXPANDABLE  # players would now agree on dead stones
        else:
            _add_edges(tree, node, positions, evaluation, slot, params.suicide)


@kernel
def back_up(
    tree: Tree,
    params: Params,
    leaves: Leaves,
    rows: int,
    evaluation: Evaluation,
    ownership: Ownership,
    work: MeansWork,
) -> None:
    """Count the first `rows` rows in the nodes on their paths and in the ownership, one after the other."""
    for row in range(rows):
        kind, node = wide(leaves.kind[row]), leaf_node(leaves, row)
        if kind == COLLISION:  # its virtual visits have done their work
            remove_virtual_visits(tree, leaves, row)
            continue
        move = wide(leaves.moves[row, 0]) if leaves.depth[row] > 0 else 0
        counted_from = wide(leaves.counted_from[row])
        if kind == EVALUATE and (params.has_ownership or params.rollout_share > 0.0):
            owned = evaluation.ownership_black[leaves.slot[row]]
            add_ownership(ownership, move, np.float64(tree.own[node, WEIGHT]), counted_from, owned)
        elif kind == TERMINAL:
            if tree.state[node] != UNEXPANDABLE:
                _write_result(tree, node, leaves.margin[row], params)
                tree.state[node] = UNEXPANDABLE
            weight = np.float64(tree.own[node, WEIGHT])
            _add_final_ownership(ownership, move, weight, counted_from, leaves.owner[row])
        elif kind == CYCLE:
            write_own_values(tree, node, 0.0, 1.0, 0.0, 0.0, 0.0, params)
            tree.own[node, WEIGHT] = params.certain_weight
            tree.state[node] = UNEXPANDABLE
        _back_up_path(tree, leaves, row, params, work)


@kernel
def expand_and_back_up(
    tree: Tree,
    params: Params,
    leaves: Leaves,
    rows: int,
    positions: Positions,
    evaluation: Evaluation,
    ownership: Ownership,
    work: MeansWork,
) -> None:
    """Add the first `rows` rows, whose positions have this `evaluation`, to the tree: expand, then back up.

    A search that mixes rollouts in calls the two kernels itself, with the mixing in between.  One kernel with a branch
    would make every first start compile the rollouts as well.
    """
    expand_leaves(tree, params, leaves, rows, positions, evaluation)
    back_up(tree, params, leaves, rows, evaluation, ownership, work)


@kernel
def abandon(tree: Tree, leaves: Leaves, rows: int) -> None:
    """Take the first `rows` rows back as if they had not been selected."""
    for row in range(rows):
        remove_virtual_visits(tree, leaves, row)
        node = leaves.path[row, leaves.depth[row]]
        if leaves.kind[row] == EVALUATE and tree.state[node] == PENDING:
            tree.state[node] = NEW
