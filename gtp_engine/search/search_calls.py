"""The calls of kernels that Python makes in searches, with arguments of the right types, to be compiled in advance."""

from typing import Final

import numpy as np

from gtp_engine._jit import KernelCall
from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.go.constants import BLACK
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct import expand, select, subtree_bias, transpositions, tree, utility
from gtp_engine.search.puct.leaf_batches import Buffers
from gtp_engine.search.puct.root import new_root, params_of
from gtp_engine.search.rollouts import rollout_select, rollout_tree
from gtp_engine.search.rollouts.reusable_rollout_tree import RolloutBuffers
from gtp_engine.search.rollouts.rollout_search import kernel_position
from gtp_engine.search.tree_reuse import RootPosition

_SIZE: Final = 2
"""Side of the board; the types of the arrays are those of every board."""


def puct_calls() -> list[KernelCall]:
    """Return one call for each kernel of a search with a network; meant for their types, not to be executed."""
    position, buffers = RootPosition(Game(_SIZE), BLACK), Buffers((_SIZE, _SIZE), batches=1, size=1)
    batch, work, arrays = buffers.batches[0], buffers.means_work, tree.new_tree(1, 1)
    leaves, evaluation, root = batch.leaves, batch.evaluation, new_root(position, buffers.root_positions)
    params = params_of(Config(), position.game, Limits(visits=1), EvaluatorInfo("", 1), has_errors=True)
    ownership = expand.new_ownership(_SIZE, _SIZE, with_moves=False)
    floats, moves, nodes = evaluation.policy[0], np.zeros(1, dtype=np.int64), np.zeros((4, 1), dtype=np.int32)
    return [
        KernelCall(select.select_batch, (arrays, root, params, leaves, 0, buffers.path_work)),
        KernelCall(expand.expand_and_back_up, (arrays, params, leaves, evaluation, ownership, work)),
        KernelCall(expand.abandon, (arrays, leaves)),
        KernelCall(tree.set_priors, (arrays, tree.ROOT, floats)),
        KernelCall(select.exploration, (arrays, tree.ROOT, 0.0, params)),
        KernelCall(tree.write_pv, (arrays, tree.ROOT, moves, moves)),
        KernelCall(utility.utility_per_point, (0.0, params)),
        KernelCall(utility.utility_radius, (params,)),
        KernelCall(tree.copy_subtree, (arrays, tree.ROOT, arrays, nodes, 0)),
        KernelCall(transpositions.add_all_keys, (arrays.graph, 0)),
        KernelCall(subtree_bias.carry_over, (arrays.bias, 0, arrays.bias, 0, 0.0, nodes[0])),
        KernelCall(expand.recompute_utilities, (arrays, BLACK, params, nodes, work)),
        KernelCall(expand.write_network_evaluation, (arrays, tree.ROOT, evaluation, 0, params)),
        KernelCall(expand.update_means, (arrays, tree.ROOT, BLACK, params, work)),
        KernelCall(expand.add_ownership, (ownership, 0, 0.0, 0, floats)),
    ]


def mixing_calls() -> list[KernelCall]:
    """Return the same for what a search with a network calls besides where it mixes rollouts in."""
    position, buffers = RootPosition(Game(_SIZE), BLACK), Buffers((_SIZE, _SIZE), batches=1, size=1)
    params = params_of(Config(), position.game, Limits(visits=1), EvaluatorInfo("", 1), has_errors=True)
    arrays, batch, results = tree.new_tree(1, 1), buffers.batches[0], expand.new_results(1, _SIZE, _SIZE)
    batch_of = arrays, params, batch.leaves, batch.evaluation
    ownership = expand.new_ownership(_SIZE, _SIZE, with_moves=False)
    return [
        KernelCall(expand.expand_leaves, batch_of),
        KernelCall(expand.mix_rollouts, (*batch_of, results)),
        KernelCall(expand.back_up, (*batch_of, ownership, buffers.means_work)),
    ]


def rollout_calls() -> list[KernelCall]:
    """Return the same for a search without a network."""
    arrays, buffers = rollout_tree.new_tree(1), RolloutBuffers((_SIZE, _SIZE), batch=1, threads=1, seed=0)
    position = kernel_position(RootPosition(Game(_SIZE), BLACK), Config().search)
    leaves, work = buffers.leaves, buffers.works[0]
    return [
        KernelCall(rollout_select.select_leaves, (arrays, position, leaves, 0, work.rollout)),
        KernelCall(rollout_select.evaluate_leaves, (position, leaves, 0, 0, work)),
        KernelCall(rollout_select.back_up, (arrays, position.params, leaves, 0)),
        KernelCall(rollout_tree.copy_subtree, (arrays, rollout_tree.ROOT, arrays, np.zeros(1, dtype=np.int32))),
    ]
