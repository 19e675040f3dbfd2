"""Kernels of one playout: walk down the tree to a leaf, play it out, back up the result.

They work on a batch: `select_leaves` finds several leaves, leaving virtual visits on each path so that the next walk
takes another one; `evaluate_leaves` plays some of them out, on any thread, and writes to their rows only; `back_up`
adds the results to the tree.  So a single thread changes the tree, and the number of threads does not change the
search.

Choosing a child.  With n visits (imaginary ones included) and mean result q for the side to play:

    uct    q + c sqrt(ln(N + 2) / n)                                  UCB1 (Auer, Cesa-Bianchi and Fischer 2002)
    rave   (1 − β) q + β a + c sqrt(ln(N + 2) / n),  β = m / (m + n + m n / E)

where a is the mean result of the m playouts in which the move was played at any time after the node (all moves as
first), N the visits of the parent, and E the `rave_equivalence`: the number of visits at which both means are equally
reliable.  It is the minimum-mean-square-error schedule of Gelly and Silver (2011) with 4 b² = 1 / E.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import GROUP_TAX, NO_TAX
from gtp_engine.go.area import TaxWork, area_margin, tax_balance
from gtp_engine.go.board import (
    HEIGHT,
    STRIDE,
    WIDTH,
    Board,
    IntArray,
    clear_ko,
    copy_board,
    play_assume_legal,
    view_storage_in_kernel,
)
from gtp_engine.go.constants import BLACK, BUTTON_POINTS, NULL_POINT, PASS, WHITE
from gtp_engine.search.repetition import position_key, would_repeat
from gtp_engine.search.rng import State
from gtp_engine.search.rollouts.rollout import RolloutWork, count_area, play_out
from gtp_engine.search.rollouts.rollout_tree import ROOT, USED, BeforeMove, RolloutTree, expand

MAX_DEPTH: Final = 512
"""Longest path from the root; deeper nodes are leaves."""


class RolloutParams(NamedTuple):
    """The parameters of a search, as scalars for kernels."""

    is_rave: bool  # else UCT
    exploration: float  # c above
    rave_equivalence: float  # E above, visits
    expand_visits: int  # a leaf gets children once it has this many visits
    prior_weight: float  # factor on all prior visits
    won_weight: float  # of winning and losing in a result
    margin_weight: float  # of the margin, as a fraction of the board
    policy: int  # rollout.UNIFORM or TACTICAL
    komi: float  # points for White beside the area, everything included (`Game.area_komi`)
    superko: int  # 0 simple ko, 1 positional, 2 situational
    tax: int  # as in `Conditions`


class RolloutPosition(NamedTuple):
    """The root position, for kernels."""

    board: Board
    color: int  # to play
    last: int  # the last move, PASS or NULL_POINT
    passes: int  # passes in a row before it, 0 or 1
    free_button: bool  # whether the next pass takes the button
    history: NDArray[np.uint64]  # uint64[any], sorted: keys of positions that may not occur again
    avoid_until: IntArray  # [3, n] avoid_until[color, move]: the move is left out at depths below this
    unrestricted_from: int  # the largest of these: the depth from which on no move is left out
    params: RolloutParams


class RolloutLeaves(NamedTuple):
    """A batch of B leaves; n is the padded length, S the storage length of a board."""

    storage: Annotated[IntArray, "B", "S"]  # the positions
    hash: Annotated[NDArray[np.uint64], "B", 1]
    path: Annotated[IntArray, "B", MAX_DEPTH]  # nodes from the root to the leaf
    depth: Annotated[IntArray, "B"]  # index of the leaf in its path
    color: Annotated[IntArray, "B"]  # to play at the leaf
    last: Annotated[IntArray, "B"]  # move that led there
    is_over: Annotated[IntArray, "B"]  # 1 if two passes ended the game
    button: Annotated[NDArray[np.float64], "B"]  # points Black got from the button on the path: 0.5, −0.5 or 0
    has_free_button: Annotated[IntArray, "B"]  # 1 if the next pass takes the button
    value: Annotated[NDArray[np.float32], "B"]  # result for Black
    first_player: Annotated[NDArray[np.int8], "B", "n"]  # colour that first played on a point after the leaf, 0 if none
    rng: Annotated[State, "B", 1]
    path_keys: Annotated[NDArray[np.uint64], MAX_DEPTH]  # keys on the path being walked, for superko


class ThreadWork(NamedTuple):
    """The sums over one thread's rollouts, and its work arrays."""

    owner: Annotated[IntArray, "n"]  # rollouts that ended with the point Black's, less those with it White's
    beside_area: Annotated[NDArray[np.float64], 1]  # Black's points by the button, taken after the root, and the tax
    rollouts: Annotated[NDArray[np.int64], 1]
    queue: Annotated[IntArray, "n"]
    tax: TaxWork
    rollout: RolloutWork


@spliced_kernel
def _best_child(tree: RolloutTree, node: int, depth: int, color: int, position: RolloutPosition) -> int:
    """Return the child of an expanded node that `color` should try next; 0 if every move is left out at this depth."""
    params, sign = position.params, np.float32(1.0 if color == BLACK else -1.0)
    log_parent = np.float32(np.log(tree.visits[node] + 2.0))
    exploration = np.float32(params.exploration)
    equivalence = np.float32(params.rave_equivalence)
    best, best_score = wide(0), np.float32(-1e30)
    first = tree.first_child[node]
    for child in range(first, first + tree.child_count[node]):
        if tree.move[child] == NULL_POINT:
            continue
        if depth < position.unrestricted_from and position.avoid_until[color, tree.move[child]] > depth:
            continue
        pending = np.float32(tree.virtual_visits[child])
        prior = tree.prior_visits[child]
        visits = np.float32(tree.visits[child]) + pending + prior + np.float32(1e-6)
        score = np.float32((sign * (tree.value[child] + prior * tree.prior_value[child]) - pending) / visits)
        amaf_visits = np.float32(tree.amaf_visits[child])
        if params.is_rave and amaf_visits > 0:
            beta = amaf_visits / (amaf_visits + visits + amaf_visits * visits / equivalence)
            score += beta * (np.float32(sign * tree.amaf_value[child]) / amaf_visits - score)
        if exploration > 0:
            score += exploration * np.sqrt(log_parent / visits)
        if score > best_score:
            best, best_score = wide(child), score
    return best


@spliced_kernel  # called from one place: compiled only as a part of `select_leaves` (see `compiled.jit`)
def _select_leaf(
    tree: RolloutTree, position: RolloutPosition, leaves: RolloutLeaves, row: int, work: RolloutWork
) -> None:
    """Walk from the root to a leaf, expanding it if it has enough visits, and write its position to row `row`."""
    board = view_storage_in_kernel(leaves.storage[row], leaves.hash[row], position.board.color.size)
    copy_board(board, position.board)
    params = position.params
    node, depth = wide(ROOT), wide(0)
    color, last, passes = wide(position.color), wide(position.last), wide(position.passes)
    free_button, button, first_key = position.free_button, 0.0, wide(0)
    leaves.path[row, 0] = ROOT
    leaves.path_keys[0] = position_key(board.hash[0], color, params.superko)
    while passes < 2 and depth < MAX_DEPTH - 1:
        if tree.first_child[node] == 0:
            if depth > 0 and tree.visits[node] < params.expand_visits:
                break
            if tree.info[USED] + board.color.size > tree.move.size:
                break  # the tree is full
            expand(tree, node, BeforeMove(board, color, last, params.prior_weight), work, leaves.rng[row])
        child = _best_child(tree, node, depth, color, position)
        if child == 0:
            break
        move = wide(tree.move[child])
        if move == PASS:
            clear_ko(board)
            if free_button:  # from here on, earlier positions may recur
                free_button, first_key = False, depth + 1
                button = BUTTON_POINTS if color == BLACK else -BUTTON_POINTS
            else:
                passes += 1
        else:
            if params.superko != 0 and would_repeat(
                board, move, color, params.superko, position.history, leaves.path_keys, first_key, depth
            ):
                tree.move[child] = NULL_POINT  # select again at the same node
                continue
            play_assume_legal(board, move, color)
            passes = 0
        color, last, node = BLACK + WHITE - color, move, child
        depth += 1
        leaves.path[row, depth] = node
        leaves.path_keys[depth] = position_key(board.hash[0], color, params.superko)
        tree.virtual_visits[node] += 1
    leaves.depth[row] = depth
    leaves.color[row] = color
    leaves.last[row] = last
    leaves.is_over[row] = wide(passes >= 2)
    leaves.button[row] = button
    leaves.has_free_button[row] = wide(free_button)


@kernel
def select_leaves(
    tree: RolloutTree, position: RolloutPosition, leaves: RolloutLeaves, count: int, work: RolloutWork
) -> None:
    """Fill the first `count` rows of `leaves`, one after the other."""
    for row in range(count):
        _select_leaf(tree, position, leaves, row, work)


@kernel
def evaluate_leaves(position: RolloutPosition, leaves: RolloutLeaves, begin: int, end: int, work: ThreadWork) -> None:
    """Play out the rows begin … end − 1 in which the game is not over, and write all their results."""
    policy = position.params.policy
    for row in range(begin, end):
        board = leaf_board(leaves, row)
        if leaves.is_over[row] == 0:
            color, last, first_player = wide(leaves.color[row]), wide(leaves.last[row]), leaves.first_player[row]
            play_out(board, color, last, policy, work.rollout, leaves.rng[row], first_player, wide(0))
        _write_result(position.params, leaves, row, board, work)


@kernel
def write_results(position: RolloutPosition, leaves: RolloutLeaves, begin: int, end: int, work: ThreadWork) -> None:
    """Write the results of the rows begin … end − 1, which a `LeafPlayer` has played out."""
    for row in range(begin, end):
        board = view_storage_in_kernel(leaves.storage[row], leaves.hash[row], leaves.first_player.shape[1])
        _write_result(position.params, leaves, row, board, work)


@inlined_kernel
def leaf_board(leaves: RolloutLeaves, row: int) -> Board:
    """Return the board of a row, on which a rollout can be played; sets its `first_player` to 0."""
    first_player = leaves.first_player[row]
    for point in range(first_player.size):
        first_player[point] = 0
    return view_storage_in_kernel(leaves.storage[row], leaves.hash[row], first_player.size)


@spliced_kernel
def _write_result(params: RolloutParams, leaves: RolloutLeaves, row: int, board: Board, work: ThreadWork) -> None:
    """Write the `value` of a row that has been played out on `board`, and add it to the work.

    Rows in which the game was over are scored as they are, and do not count in the work.
    """
    beside = leaves.button[row]
    if leaves.is_over[row] == 1:
        margin = area_margin(board, work.queue, board.head)  # the board is not played on any more: `head` is scratch
    else:
        first_player = leaves.first_player[row]
        margin = count_area(board, work.owner)
        work.rollouts[0] += 1
        if leaves.has_free_button[row] == 1 and first_player[PASS] != 0:
            beside += BUTTON_POINTS if first_player[PASS] == BLACK else -BUTTON_POINTS
        first_player[PASS] = 0  # passing later is no evidence about passing now
    if params.tax != NO_TAX:
        beside -= tax_balance(board.color, wide(board.info[STRIDE]), params.tax == GROUP_TAX, work.tax)
    if leaves.is_over[row] == 0:
        work.beside_area[0] += beside
    leaves.value[row] = _result(margin + beside - params.komi, board, params)


@spliced_kernel
def _result(margin: float, board: Board, params: RolloutParams) -> float:
    """Return Black's result of a game: 1, 0 or −1, and the margin as a fraction of the board, each with its weight."""
    won = 1.0 if margin > 0 else (-1.0 if margin < 0 else 0.0)
    area = float(board.info[WIDTH]) * float(board.info[HEIGHT])
    share = min(1.0, max(-1.0, margin / area))
    return params.won_weight * won + params.margin_weight * share


@kernel
def back_up(tree: RolloutTree, params: RolloutParams, leaves: RolloutLeaves, count: int) -> None:
    """Add the results of the first `count` rows to all nodes on their paths; for RAVE also to moves played later."""
    for row in range(count):
        value = leaves.value[row]
        # Moves of the path are added on the way up: at each node, `first_player` covers everything after it.
        first_player = leaves.first_player[row]
        depth = wide(leaves.depth[row])
        color = wide(leaves.color[row])
        for at in range(depth, -1, -1):
            node = leaves.path[row, at]
            tree.visits[node] += 1
            tree.value[node] += value
            if tree.first_child[node] != 0 and params.is_rave:
                _back_up_amaf(tree, wide(node), color, value, first_player)
            if at > 0:
                tree.virtual_visits[node] -= 1
                color = BLACK + WHITE - color
                if tree.move[node] != PASS:  # as in `evaluate_leaves`
                    first_player[tree.move[node]] = color


@spliced_kernel
def _back_up_amaf(tree: RolloutTree, node: int, color: int, value: float, first_player: NDArray[np.int8]) -> None:
    """Add a result to every child of a node whose move `color` was the first to play after it."""
    first = wide(tree.first_child[node])
    for child in range(first, first + wide(tree.child_count[node])):
        if first_player[tree.move[child]] == color:
            tree.amaf_visits[child] += np.float32(1.0)
            tree.amaf_value[child] += value
