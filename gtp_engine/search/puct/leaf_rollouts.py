"""Rollouts from the leaves of a PUCT search, and their mixture with the network's values, as in AlphaGo.  Kernels.

AlphaGo (Silver et al. 2016) evaluates a leaf by (1 − λ) times its value network and λ times the result of one rollout;
λ is `rollout_share`.  Where things are:

    rollouts.rollout    plays one position out with a policy of kernels; the search without a network uses it too
    leaf_rollouts       (here) does so for a batch of leaves, and mixes any results into the tree
    network_rollouts    plays a batch out with a network's policy instead, all positions move by move
    rollout_players     chooses between the two and owns their work arrays

In all rollouts neither side fills an eye of its own or passes while it has another move, and only simple ko is
observed.  The final positions of leaves are counted by area, larger empty areas included, without the
tax and the button that rules may have.

B is the number of rows of a batch, n the padded length of a board.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.evaluation import Evaluation
from gtp_engine.evaluation.positions import Positions, board_of
from gtp_engine.go.area import area_margin
from gtp_engine.go.board import Board, IntArray, copy_board, padded_length
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.search.puct.expand import leaf_node, write_own_values
from gtp_engine.search.puct.leaves import EVALUATE, Leaves
from gtp_engine.search.puct.tree import LEAD, NO_RESULT, SCORE, SCORE_SQUARE, VALUE, WEIGHT, Tree
from gtp_engine.search.puct.utility import Params
from gtp_engine.search.rng import State
from gtp_engine.search.rollouts.linear_weights import LinearWork
from gtp_engine.search.rollouts.rollout import RolloutWork, play_out


class Results(NamedTuple):
    """The final positions of rollouts, by the slots of a batch."""

    margin: NDArray[np.int64]  # [B] Black's area less White's
    owner: IntArray  # [B, n] whose point it is: BLACK, WHITE or EMPTY


def new_results(size: int, width: int, height: int) -> Results:
    """Return zeros for the results of `size` positions."""
    n = padded_length(width, height)
    return Results(np.zeros(size, dtype=np.int64), np.zeros((size, n), dtype=np.int32))


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
    """Write into `results` how the first `count` rows of `positions` (not changed) end; see `play_out`.

    `board`, `work`, `first_player` int8[n] and `queue` int32[n] are scratch.
    """
    for slot in range(count):
        copy_board(board, board_of(positions, slot, wide(0)))
        color, last = wide(positions.to_play[slot]), wide(positions.points[slot, 0])
        play_out(board, color, last, policy, work, rng, first_player, limit, linear)
        results.margin[slot] = area_margin(board, queue, results.owner[slot])


@kernel
def mix_rollouts(
    tree: Tree, params: Params, leaves: Leaves, rows: int, evaluation: Evaluation, results: Results
) -> None:
    """Mix the results of rollouts into the evaluations and the ownership of the leaves in the first `rows` rows."""
    for row in range(rows):
        if wide(leaves.kind[row]) == EVALUATE:
            slot, komi = wide(leaves.slot[row]), params.komi - leaves.button[row]
            if tree.visits[leaf_node(leaves, row)] == 0:  # a collapsed node keeps the mean of its former subtree
                _mix_value(tree, leaf_node(leaves, row), results.margin[slot] - komi, params)
            _mix_ownership(evaluation, slot, results.owner[slot], params)


@spliced_kernel
def _mix_value(tree: Tree, node: int, margin: float, params: Params) -> None:
    """Mix a game that Black wins by `margin` points (negative: loses) into the evaluation of a node."""
    value = 1.0 if margin > 0.0 else (-1.0 if margin < 0.0 else 0.0)
    share, own = params.rollout_share, tree.own
    network_share = 1.0 - share
    score = network_share * own[node, SCORE] + share * margin
    square = network_share * own[node, SCORE_SQUARE] + share * margin * margin
    mixed = network_share * own[node, VALUE] + share * value
    stdev = sqrt(max(0.0, square - score * score))
    lead = network_share * own[node, LEAD] + share * margin
    write_own_values(tree, node, mixed, network_share * own[node, NO_RESULT], score, stdev, lead, params)
    own[node, WEIGHT] = network_share * own[node, WEIGHT] + share


@spliced_kernel
def _mix_ownership(evaluation: Evaluation, slot: int, owner: IntArray, params: Params) -> None:
    """Mix the owners at the end of a rollout, int32[n] of colours, into the ownership of a slot."""
    for point in range(owner.size):
        mixed = params.rollout_share * (wide(owner[point] == BLACK) - wide(owner[point] == WHITE))
        if params.has_ownership:
            mixed += (1.0 - params.rollout_share) * evaluation.ownership_black[slot, point]
        evaluation.ownership_black[slot, point] = mixed
