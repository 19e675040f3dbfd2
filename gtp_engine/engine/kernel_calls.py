"""The calls of kernels that Python makes, with arguments of the right types, to be compiled in advance (`kernels`).

They are meant for their types, not to be executed.  A kernel that Python code calls in games gets a line here; those
of AlphaGo's networks and rollouts are in `alphago.alphago_calls`.
"""

from typing import Final

import numpy as np

from gtp_engine._jit import KernelCall
from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import new_evaluation, no_result, value_black
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import finish_row, new_positions
from gtp_engine.go.area import owners_into
from gtp_engine.go.benson import new_life_work, pass_alive_map
from gtp_engine.go.board import (
    add_stone,
    clear_ko,
    hash_after,
    is_legal,
    merge,
    new_board,
    padded_length,
    play_assume_legal,
)
from gtp_engine.go.constants import BLACK
from gtp_engine.go.game import Game
from gtp_engine.go.ladder import is_captured_defender_first, new_ladder_work
from gtp_engine.go.tactics import count_captures, is_real_eye, would_be_self_atari
from gtp_engine.kernel_cache import ALPHAGO, LINEAR_LEAVES, NETWORK, ROLLOUTS, groups_of
from gtp_engine.nn.cache import find, new_cache, store
from gtp_engine.nn.decode import (
    EncodedRows,
    KatagoOutputs,
    PolicyOptions,
    clear_rows,
    decode_katago_value,
    decode_ownership,
    decode_policy,
    finish_rows,
)
from gtp_engine.nn.katago_inputs import encode_rows, new_encoder_work
from gtp_engine.nn.symmetry import cell_table
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct import expand, select, subtree_bias, transpositions, tree, utility
from gtp_engine.search.puct.root import new_root, params_of
from gtp_engine.search.puct.tree_store import Buffers
from gtp_engine.search.rollouts import rollout_select, rollout_tree
from gtp_engine.search.rollouts.reusable_rollout_tree import RolloutBuffers
from gtp_engine.search.rollouts.rollout_search import kernel_position
from gtp_engine.search.tree_reuse import RootPosition

_SIZE: Final = 2
"""Side of the board, and number of rows; the types of the arrays are those of every board."""


def kernel_halves(kernels: str) -> tuple[list[KernelCall], list[KernelCall]]:
    """Return the calls of kernels that Python makes in games for which these groups are compiled, each kernel once.

    The first half are the kernels of the search, the second all others, which take about as long to compile.
    """
    first, second = dict[str, KernelCall](), dict[str, KernelCall]()
    for group in groups_of(kernels):
        searching, others = _halves_of_group(group)
        first |= {call.name: call for call in searching}
        second |= {call.name: call for call in others}
    return [*first.values()], [*second.values()]


def _halves_of_group(group: str) -> tuple[list[KernelCall], list[KernelCall]]:
    if group == NETWORK:
        return _puct_calls(), [*_game_calls(), *_network_calls(is_katago=True)]
    if group == ROLLOUTS:
        return _rollout_calls(), _game_calls()
    from gtp_engine.alphago.alphago_calls import ALPHAGO_CALLS  # here: few starts need it

    if group == ALPHAGO:
        return _puct_calls(), [*_game_calls(), *_network_calls(is_katago=False), *ALPHAGO_CALLS[group]()]
    return [] if group == LINEAR_LEAVES else _mixing_calls(), ALPHAGO_CALLS[group]()


def kernel_calls(kernels: str) -> list[KernelCall]:
    """Return both halves."""
    first, second = kernel_halves(kernels)
    return [*first, *second]


def _game_calls() -> list[KernelCall]:
    """Return the calls that play and score a game."""
    board = new_board(_SIZE, _SIZE)
    points = np.zeros_like(board.color)
    return [
        KernelCall(is_legal, (board, 0, 0, False)),
        KernelCall(play_assume_legal, (board, 0, 0)),
        KernelCall(hash_after, (board, 0, 0)),
        KernelCall(clear_ko, (board,)),
        KernelCall(add_stone, (board, 0, 0)),
        KernelCall(merge, (board, 0, 0)),
        KernelCall(count_captures, (board, 0, 0)),
        KernelCall(would_be_self_atari, (board, 0, 0)),
        KernelCall(is_real_eye, (board, 0, 0)),
        KernelCall(is_captured_defender_first, (board, 0, new_ladder_work(_SIZE, _SIZE))),
        KernelCall(pass_alive_map, (board, False, new_life_work(_SIZE, _SIZE), points)),
        KernelCall(owners_into, (board.color, 0, points, points)),
    ]


def _network_calls(*, is_katago: bool) -> list[KernelCall]:
    """Return the calls that evaluate by a network.

    Unless `is_katago`, those that only networks with KataGo's inputs and outputs need are left out.
    """
    positions, evaluation = new_positions(_SIZE, _SIZE, _SIZE), new_evaluation(_SIZE, _SIZE, _SIZE)
    cells = cell_table(_SIZE, _SIZE)
    rows = np.zeros(_SIZE, dtype=np.int32)
    table, cube = np.zeros((_SIZE, _SIZE), dtype=np.float32), np.zeros((_SIZE, _SIZE, _SIZE), dtype=np.float32)
    n = padded_length(_SIZE, _SIZE)
    encoded = EncodedRows(rows, cells, rows, 1.0, np.zeros(n, dtype=np.float32))
    outputs = KatagoOutputs(np.zeros(_SIZE, dtype=np.float32), 0)
    cache = new_cache(_SIZE, n)
    work = new_encoder_work(_SIZE, _SIZE)
    of_katago = [
        KernelCall(encode_rows, (positions, 0, 0, False, rows, cells, work, cube, table)),
        KernelCall(decode_katago_value, (positions, encoded, outputs, table, table, evaluation)),
        KernelCall(decode_ownership, (positions.to_play, encoded, table, evaluation.ownership_black)),
    ]
    return [
        *(of_katago if is_katago else []),
        KernelCall(decode_policy, (positions, encoded, PolicyOptions(), cube, evaluation.policy)),
        KernelCall(clear_rows, (rows, evaluation)),
        KernelCall(finish_rows, (rows, evaluation)),
        KernelCall(find, (cache, positions.key, 0, evaluation, rows)),
        KernelCall(store, (cache, positions.key, rows, evaluation)),
        KernelCall(finish_row, (positions, 0, 0, 0, 0)),
        KernelCall(value_black, (evaluation, 0)),
        KernelCall(no_result, (evaluation, 0)),
    ]


def _puct_calls() -> list[KernelCall]:
    """Return the calls of a search with a network."""
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
        KernelCall(transpositions.repeats_late, (position.game.board, 0, 0, leaves.color)),
        KernelCall(transpositions.key_in_game, (position.game.board, 0, 0, False, np.uint64(0))),
        KernelCall(subtree_bias.carry_over, (arrays.bias, 0, arrays.bias, 0, 0.0, nodes[0])),
        KernelCall(expand.recompute_utilities, (arrays, BLACK, params, nodes, work)),
        KernelCall(expand.write_network_evaluation, (arrays, tree.ROOT, evaluation, 0, params)),
        KernelCall(expand.update_means, (arrays, tree.ROOT, BLACK, params, work)),
        KernelCall(expand.remember, (arrays, 0, 0, 0)),
        KernelCall(expand.add_ownership, (ownership, 0, 0.0, 0, floats)),
    ]


def _mixing_calls() -> list[KernelCall]:
    """Return what a search with a network calls besides where it mixes rollouts in."""
    position, buffers = RootPosition(Game(_SIZE), BLACK), Buffers((_SIZE, _SIZE), batches=1, size=1)
    params = params_of(Config(), position.game, Limits(visits=1), EvaluatorInfo("", 1), has_errors=True)
    arrays, batch, results = tree.new_tree(1, 1), buffers.batches[0], expand.new_results(1, _SIZE, _SIZE)
    batch_of = arrays, params, batch.leaves, batch.evaluation
    ownership = expand.new_ownership(_SIZE, _SIZE, with_moves=False)
    return [
        KernelCall(expand.expand_leaves, (*batch_of, buffers.means_work)),
        KernelCall(expand.mix_rollouts, (*batch_of, results)),
        KernelCall(expand.back_up, (*batch_of, ownership, buffers.means_work)),
    ]


def _rollout_calls() -> list[KernelCall]:
    """Return the calls of a search without a network."""
    arrays, buffers = rollout_tree.new_tree(1), RolloutBuffers((_SIZE, _SIZE), batch=1, threads=1, seed=0)
    position = kernel_position(RootPosition(Game(_SIZE), BLACK), Config().search)
    leaves, work = buffers.leaves, buffers.works[0]
    return [
        KernelCall(rollout_select.select_leaves, (arrays, position, leaves, 0, work.rollout)),
        KernelCall(rollout_select.evaluate_leaves, (position, leaves, 0, 0, work)),
        KernelCall(rollout_select.back_up, (arrays, position.params, leaves, 0)),
        KernelCall(rollout_tree.copy_subtree, (arrays, rollout_tree.ROOT, arrays, np.zeros(1, dtype=np.int32))),
    ]
