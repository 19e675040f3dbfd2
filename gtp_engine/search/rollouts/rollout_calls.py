"""The calls of kernels that Python makes in a search by rollouts, with arguments of the right types."""

from typing import Final

import numpy as np

from gtp_engine._jit import KernelCall
from gtp_engine.config import Config
from gtp_engine.go.constants import BLACK
from gtp_engine.go.game import Game
from gtp_engine.search.rollouts.reusable_rollout_tree import RolloutBuffers
from gtp_engine.search.rollouts.rollout_run import kernel_params, kernel_position
from gtp_engine.search.rollouts.rollout_select import back_up, evaluate_leaves, select_leaves
from gtp_engine.search.rollouts.rollout_tree import ROOT, copy_subtree, new_tree
from gtp_engine.search.tree_reuse import RootPosition

_SIZE: Final = 2
"""Side of the board; the types of the arrays are those of every board."""


def rollout_calls() -> list[KernelCall]:
    """Return one call for each kernel; they are meant for their types, not to be executed."""
    game, tree = Game(_SIZE), new_tree(1)
    buffers = RolloutBuffers((_SIZE, _SIZE), batch=1, threads=1, seed=0)
    position, params = kernel_position(RootPosition(game, BLACK)), kernel_params(Config().search, game)
    leaves = buffers.leaves
    return [
        KernelCall(select_leaves, (tree, position, params, leaves, 0, buffers.works[0])),
        KernelCall(evaluate_leaves, (leaves, 0, 0, position.board.zobrist, params, buffers.works[0], buffers.sums[0])),
        KernelCall(back_up, (tree, params, leaves, 0)),
        KernelCall(copy_subtree, (tree, ROOT, tree, np.zeros(1, dtype=np.int32))),
    ]
