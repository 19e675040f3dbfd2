"""Rollouts for the mixture of AlphaGo (Silver et al. 2016): played from leaves, mixed into judgements.  Kernels.

Positions are played out by a policy of `search.rollouts`, one after the other, or by a network, whose moves all
positions of a batch make side by side (`players` asks it).  In either case nobody fills an eye of his own or passes
while there is another move, only simple ko is observed, and the final position is counted by area.

B is the number of rows of a batch, n the padded length of a board.
"""

from math import sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.evaluation.positions import ENDS, GOES_ON, Positions, board_of
from gtp_engine.evaluation.row_kernels import copy_row, finish_row, forbid_ko, shift_row
from gtp_engine.go.area import area_margin
from gtp_engine.go.board import (
    EMPTY_COUNT,
    Board,
    IntArray,
    clear_ko,
    copy_board,
    is_legal,
    padded_length,
    play_assume_legal,
)
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.eyes import is_eye
from gtp_engine.search.puct.expand import leaf_node, write_own_values
from gtp_engine.search.puct.leaves import EVALUATE, Leaves
from gtp_engine.search.puct.tree import LEAD, NO_RESULT, SCORE, SCORE_SQUARE, VALUE, WEIGHT, Tree
from gtp_engine.search.puct.utility import Params
from gtp_engine.search.rng import State, random_below
from gtp_engine.search.rollouts.linear_weights import LinearWork
from gtp_engine.search.rollouts.rollout import RolloutWork, play_out

_RANDOM_STEPS: Final = 1 << 24
"""A uniform random number in (0, 1] is one of so many."""


class Results(NamedTuple):
    """How the positions of a batch ended, by their slots."""

    margin: NDArray[np.int64]  # [B] Black's area less White's
    owner: IntArray  # [B, n] whose point it is: BLACK, WHITE or EMPTY


class Running(NamedTuple):
    """Rollouts on their way by a network; those that have not ended come first, in rows of `positions`."""

    positions: Positions
    slot: IntArray  # [B] of the batch, where a row began
    passes: IntArray  # [B] passes in a row, since the rollout began
    policy: FloatArray  # [B, n] the network's; work
    queue: IntArray  # [n] work


def new_results(size: int, width: int, height: int) -> Results:
    """Return room for the results of `size` positions."""
    n = padded_length(width, height)
    return Results(np.zeros(size, dtype=np.int64), np.zeros((size, n), dtype=np.int32))


# --- by a policy of kernels ---


@kernel
def play_out_batch(
    positions: Positions,
    count: int,
    policy: int,
    limit: int,
    results: Results,
    board: Board,
    work: RolloutWork,
    first_player: NDArray[np.int8],
    queue: IntArray,
    rng: State,
    linear: LinearWork | None,
) -> None:
    """Play out the positions of the first `count` rows on `board`, which leaves them as they are; see `play_out`.

    `board`, `work`, `first_player` int8[n] and `queue` int32[n] are work.
    """
    for slot in range(count):
        copy_board(board, board_of(positions, slot, wide(0)))
        color, last = wide(positions.to_play[slot]), wide(positions.points[slot, 0])
        play_out(board, color, last, policy, work, rng, first_player, limit, linear)
        results.margin[slot] = area_margin(board, queue, results.owner[slot])


# --- by a network ---


@kernel
def begin(positions: Positions, count: int, running: Running) -> None:
    """Begin a rollout from each of the first `count` rows of `positions`."""
    for slot in range(wide(count)):
        copy_row(running.positions, slot, positions, slot)
        running.slot[slot] = slot
        running.passes[slot] = 0


@kernel
def play_moves(running: Running, count: int, results: Results, rng: State) -> int:
    """Return how many rollouts go on after a move in each of the first `count` rows, drawn from their policy.

    What has ended is counted, and its row given to one that goes on.
    """
    for row in range(count):
        _play(running, row, _draw(running, row, rng))
    row = wide(0)
    while row < count:
        if running.passes[row] < 2:
            row += 1
            continue
        _count(running, row, results)
        count -= 1
        if row < count:
            copy_row(running.positions, row, running.positions, wide(count))
            running.slot[row] = running.slot[count]
            running.passes[row] = running.passes[count]
    return count


@kernel
def cut_off(running: Running, count: int, results: Results) -> None:
    """Count the first `count` rows as they stand."""
    for row in range(count):
        _count(running, row, results)


@kernel
def _count(running: Running, row: int, results: Results) -> None:
    """Count a row."""
    slot = wide(running.slot[row])
    results.margin[slot] = area_margin(board_of(running.positions, row, wide(0)), running.queue, results.owner[slot])


@spliced_kernel
def _draw(running: Running, row: int, rng: State) -> int:
    """Return a move drawn with the probabilities of a row's policy from those that fill no own eye, or PASS.

    Takes out of the policy what may not be played.
    """
    positions, policy = running.positions, running.policy
    board, color = board_of(positions, row, wide(0)), wide(positions.to_play[row])
    empties = wide(board.info[EMPTY_COUNT])
    total = 0.0
    for i in range(empties):
        point = wide(board.empties[i])
        if (
            is_eye(board, point, color)
            or positions.forbidden[row, point] != 0
            or not is_legal(board, point, color, False)
        ):
            policy[row, point] = 0.0
        total += policy[row, point]
    rest = total * (1 + random_below(rng, _RANDOM_STEPS)) / _RANDOM_STEPS
    drawn = wide(PASS)
    for i in range(empties):
        point = wide(board.empties[i])
        if policy[row, point] > 0.0 and rest > 0.0:
            rest -= policy[row, point]
            drawn = point
    return drawn


@spliced_kernel
def _play(running: Running, row: int, move: int) -> None:
    """Make a move in a row; the button is left alone, as in other rollouts."""
    positions = running.positions
    color = wide(positions.to_play[row])
    shift_row(positions, row, move, color)
    board = board_of(positions, row, wide(0))
    if move == PASS:
        clear_ko(board)
        running.passes[row] += 1
    else:
        play_assume_legal(board, move, color)
        running.passes[row] = 0
    to_play = BLACK + WHITE - color
    forbid_ko(positions, row, to_play)
    pass_ends = wide(ENDS) if running.passes[row] == 1 else wide(GOES_ON)
    finish_row(positions, row, to_play, pass_ends, wide(positions.button[row]))


# --- into the tree ---


@kernel
def mix_rollouts(
    tree: Tree, params: Params, leaves: Leaves, rows: int, evaluation: Evaluation, results: Results
) -> None:
    """Mix how rollouts ended into what was said of the first `rows` rows, and into their ownership."""
    for row in range(rows):
        if wide(leaves.kind[row]) == EVALUATE:
            slot, komi = wide(leaves.slot[row]), params.komi - leaves.button[row]
            _mix_value(tree, leaf_node(leaves, row), results.margin[slot] - komi, params)
            _mix_ownership(evaluation, slot, results.owner[slot], params)


@spliced_kernel
def _mix_value(tree: Tree, node: int, margin: float, params: Params) -> None:
    """Mix a game that Black wins by `margin` points (negative: loses) into what was said of a node."""
    value = 1.0 if margin > 0.0 else (-1.0 if margin < 0.0 else 0.0)
    share, own = params.rollout_share, tree.own
    kept = 1.0 - share
    score = kept * own[node, SCORE] + share * margin
    square = kept * own[node, SCORE_SQUARE] + share * margin * margin
    mixed = kept * own[node, VALUE] + share * value
    stdev = sqrt(max(0.0, square - score * score))
    lead = kept * own[node, LEAD] + share * margin
    write_own_values(tree, node, mixed, kept * own[node, NO_RESULT], score, stdev, lead, params)
    own[node, WEIGHT] = kept * own[node, WEIGHT] + share


@spliced_kernel
def _mix_ownership(evaluation: Evaluation, slot: int, owner: IntArray, params: Params) -> None:
    """Mix who owned what at the end of a rollout, int32[n], into the ownership of a slot."""
    for point in range(owner.size):
        mixed = params.rollout_share * (wide(owner[point] == BLACK) - wide(owner[point] == WHITE))
        if params.has_ownership:
            mixed += (1.0 - params.rollout_share) * evaluation.ownership_black[slot, point]
        evaluation.ownership_black[slot, point] = mixed
