"""The calls of kernels that Python makes for AlphaGo's networks and for rollouts from leaves, compiled in advance.

Each group is what a kind of configuration needs beside what all need; `ALPHAGO_CALLS` has them by name.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from gtp_engine._jit import KernelCall
from gtp_engine.alphago.linear_rollouts import (
    LinearTables,
    LinearWork,
    new_linear_work,
    play_leaves_linear,
    play_rows_linear,
    store_diamonds,
)
from gtp_engine.alphago.planes import new_planes_work, write_planes
from gtp_engine.alphago.rollout_batches import (
    Policy,
    Scratch,
    count_unfinished,
    new_network_rollouts,
    new_scratch,
    play_moves,
    play_rows,
    start_rollouts,
)
from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.board import padded_length
from gtp_engine.go.constants import BLACK
from gtp_engine.go.game import Game
from gtp_engine.kernel_cache import ALPHAGO, LINEAR_LEAVES
from gtp_engine.nn.decode import EncodedRows, decode_value
from gtp_engine.nn.symmetry import cell_table
from gtp_engine.search.puct.expand import new_results
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.reusable_rollout_tree import RolloutBuffers
from gtp_engine.search.rollouts.rollout import new_rollout_work
from gtp_engine.search.rollouts.rollout_search import kernel_position
from gtp_engine.search.rollouts.rollout_select import write_results
from gtp_engine.search.tree_reuse import RootPosition

KERNEL_ROLLOUTS: Final = "kernel-rollouts"
NETWORK_ROLLOUTS: Final = "network-rollouts"
LINEAR_ROLLOUTS: Final = "linear-rollouts"
"""The groups of rollouts in a search with a network, by each kind of policy; the others are in `kernel_cache`."""

_SIZE: Final = 2
"""Side of the board, and number of rows; the types of the arrays are those of every board."""


def _networks() -> list[KernelCall]:
    """Return the calls for encoding and decoding; meant for their types, not to be executed."""
    cells, rows = cell_table(_SIZE, _SIZE), np.zeros(_SIZE, dtype=np.int32)
    cube, values = np.zeros((_SIZE, _SIZE, _SIZE), dtype=np.float32), np.zeros((_SIZE, 1), dtype=np.float32)
    encoded = EncodedRows(rows, cells, rows, 1.0, np.zeros(padded_length(_SIZE, _SIZE), dtype=np.float32))
    positions, work = new_positions(_SIZE, _SIZE, _SIZE), new_planes_work(_SIZE, _SIZE, cells)
    return [
        KernelCall(write_planes, (positions, 0, 0, rows, work, cube)),
        KernelCall(decode_value, (positions.to_play, encoded, values, new_evaluation(_SIZE, _SIZE, _SIZE))),
    ]


def _kernel_rollouts() -> list[KernelCall]:
    positions, results = new_positions(_SIZE, _SIZE, _SIZE), new_results(_SIZE, _SIZE, _SIZE)
    return [KernelCall(play_rows, (positions, 0, Policy(0, 0, new_rollout_work(_SIZE, _SIZE)), results, _scratch()))]


def _network_rollouts() -> list[KernelCall]:
    positions, results = new_positions(_SIZE, _SIZE, _SIZE), new_results(_SIZE, _SIZE, _SIZE)
    rollouts = new_network_rollouts(_SIZE, _SIZE, _SIZE)
    return [
        KernelCall(start_rollouts, (positions, 0, rollouts)),
        KernelCall(play_moves, (rollouts, 0, results, _scratch().rng)),
        KernelCall(count_unfinished, (rollouts, 0, results)),
    ]


def _linear_rollouts() -> list[KernelCall]:
    positions, results = new_positions(_SIZE, _SIZE, _SIZE), new_results(_SIZE, _SIZE, _SIZE)
    return [_store(), KernelCall(play_rows_linear, (positions, 0, results, _scratch(), _linear_work()))]


def _linear_leaves() -> list[KernelCall]:
    buffers = RolloutBuffers((_SIZE, _SIZE), batch=1, threads=1, seed=0)
    position = kernel_position(RootPosition(Game(_SIZE), BLACK), Config().search)
    return [
        _store(),
        KernelCall(play_leaves_linear, (buffers.leaves, 0, 0, position.board.zobrist, _linear_work())),
        KernelCall(write_results, (position, buffers.leaves, 0, 0, buffers.works[0])),
    ]


def _scratch() -> Scratch:
    return new_scratch(_SIZE, _SIZE, new_states(1, 0)[0])


def _linear_work() -> LinearWork:
    floats, ints = np.zeros((_SIZE, _SIZE), dtype=np.float32), np.zeros((_SIZE, _SIZE), dtype=np.int32)
    tables = LinearTables(floats, floats[0], np.zeros(_SIZE, dtype=np.int64), ints[0], ints)
    return new_linear_work(tables, _SIZE, _SIZE)


def _store() -> KernelCall:
    keys, entries = np.zeros(_SIZE, dtype=np.int64), np.zeros(_SIZE, dtype=np.int32)
    return KernelCall(store_diamonds, (keys, entries, keys, entries))


ALPHAGO_CALLS: Final[Mapping[str, Callable[[], list[KernelCall]]]] = MappingProxyType(
    {
        ALPHAGO: _networks,
        KERNEL_ROLLOUTS: _kernel_rollouts,
        NETWORK_ROLLOUTS: _network_rollouts,
        LINEAR_ROLLOUTS: _linear_rollouts,
        LINEAR_LEAVES: _linear_leaves,
    }
)
