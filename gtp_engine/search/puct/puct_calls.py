"""The calls of kernels that Python makes in a search with a network, with arguments of the right types."""

from typing import Final

import numpy as np

from gtp_engine._jit import KernelCall
from gtp_engine.config import Config
from gtp_engine.go.constants import BLACK
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.expand import (
    abandon,
    add_ownership,
    expand_and_back_up,
    new_ownership,
    recompute_utilities,
    write_network_evaluation,
)
from gtp_engine.search.puct.leaf_batches import Buffers
from gtp_engine.search.puct.means import update_means
from gtp_engine.search.puct.root import human_exploration_of, new_root, params_of
from gtp_engine.search.puct.select import exploration, select_batch
from gtp_engine.search.puct.subtree_bias import carry_over
from gtp_engine.search.puct.transpositions import add_all_keys
from gtp_engine.search.puct.tree import ROOT, copy_subtree, new_tree, set_priors, write_pv
from gtp_engine.search.puct.utility import utility_per_point, utility_radius

_SIZE: Final = 2
"""Side of the board; the types of the arrays are those of every board."""


def puct_calls() -> list[KernelCall]:
    """Return one call for each kernel; they are meant for their types, not to be executed."""
    game, tree, buffers = Game(_SIZE), new_tree(1, 1), Buffers(_SIZE, _SIZE, batches=1, size=1, seed=0)
    batch, work = buffers.batches[0], buffers.means_work
    leaves, positions, evaluation = batch.leaves, batch.positions, batch.evaluation
    ownership, bonus = new_ownership(_SIZE, _SIZE, with_moves=False), np.zeros(game.board.color.size)
    root = new_root(
        game, BLACK, positions, restrictions=(), left_out=(), bonus=bonus, cleans_up=False, pass_goes_on=False
    )
    params = params_of(
        Config(), game, Limits(visits=1), expected_score=0.0, has_score=True, has_ownership=True, has_errors=True
    )
    people = human_exploration_of(Config().human)
    floats, moves = evaluation.policy[0], np.zeros(1, dtype=np.int64)
    nodes, colors, order = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int8), np.zeros((3, 1), dtype=np.int32)
    path_work, rng = buffers.path_work, buffers.rng
    return [
        KernelCall(select_batch, (tree, root, params, people, leaves, positions, 0, path_work, rng, batch.filled)),
        KernelCall(expand_and_back_up, (tree, params, leaves, 0, positions, evaluation, ownership, work)),
        KernelCall(abandon, (tree, leaves, 0)),
        KernelCall(set_priors, (tree, ROOT, floats)),
        KernelCall(exploration, (tree, ROOT, 0.0, params)),
        KernelCall(write_pv, (tree, ROOT, moves, moves)),
        KernelCall(utility_per_point, (0.0, params)),
        KernelCall(utility_radius, (params,)),
        KernelCall(copy_subtree, (tree, ROOT, tree, nodes, nodes, 0)),
        KernelCall(add_all_keys, (tree.graph, 0)),
        KernelCall(carry_over, (tree.bias, 0, tree.bias, 0, 0.0, nodes)),
        KernelCall(recompute_utilities, (tree, BLACK, params, colors, order, work)),
        KernelCall(write_network_evaluation, (tree, ROOT, evaluation, 0, params)),
        KernelCall(update_means, (tree, ROOT, BLACK, params, work)),
        KernelCall(add_ownership, (ownership, 0, 0.0, 0, floats)),
    ]
