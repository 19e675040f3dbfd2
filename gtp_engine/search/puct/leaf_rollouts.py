"""Mixing the results of rollouts from leaves with the network's values, as in AlphaGo.  Kernels.

AlphaGo (Silver et al. 2016) evaluates a leaf by (1 − λ) times its value network and λ times the result of one rollout;
λ is `rollout_share`.  The search is handed a player of rollouts (`evaluation_thread.RolloutPlayer`) that plays out a
batch of leaves.  Final positions are counted by area, larger empty areas included, without the tax and the button that
rules may have.

B is the number of rows of a batch, n the padded length of a board.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.evaluation import Evaluation
from gtp_engine.go.board import IntArray, padded_length
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.search.puct.expand import OwnValues, leaf_node, write_own_values
from gtp_engine.search.puct.leaves import EVALUATE, Leaves
from gtp_engine.search.puct.tree import LEAD, NO_RESULT, SCORE, SCORE_SQUARE, VALUE, WEIGHT, Tree
from gtp_engine.search.puct.utility import Params


class Results(NamedTuple):
    """The final positions of rollouts, by the slots of a batch."""

    margin: NDArray[np.int64]  # [B] Black's area less White's
    owner: IntArray  # [B, n] whose point it is: BLACK, WHITE or EMPTY


def new_results(size: int, width: int, height: int) -> Results:
    """Return zeros for the results of `size` positions."""
    n = padded_length(width, height)
    return Results(np.zeros(size, dtype=np.int64), np.zeros((size, n), dtype=np.int32))


@kernel
def mix_rollouts(tree: Tree, params: Params, leaves: Leaves, evaluation: Evaluation, results: Results) -> None:
    """Mix the results of rollouts into the evaluations and the ownership of the leaves."""
    for row in range(wide(leaves.filled[0])):
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
    outcome = OwnValues(mixed, network_share * own[node, NO_RESULT], score, stdev, lead)
    write_own_values(tree, node, outcome, params)
    own[node, WEIGHT] = network_share * own[node, WEIGHT] + share


@spliced_kernel
def _mix_ownership(evaluation: Evaluation, slot: int, owner: IntArray, params: Params) -> None:
    """Mix the owners at the end of a rollout, int32[n] of colours, into the ownership of a slot."""
    for point in range(owner.size):
        mixed = params.rollout_share * (wide(owner[point] == BLACK) - wide(owner[point] == WHITE))
        if params.has_ownership:
            mixed += (1.0 - params.rollout_share) * evaluation.ownership_black[slot, point]
        evaluation.ownership_black[slot, point] = mixed
