"""The calls of kernels that Python makes to evaluate by a network, with arguments of the right types."""

from typing import Final

import numpy as np

from gtp_engine._jit import KernelCall
from gtp_engine.evaluation.evaluation import new_evaluation, no_result, value_black
from gtp_engine.evaluation.positions import finish_row, new_positions
from gtp_engine.go.board import padded_length
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

_SIZE: Final = 2
"""Side of the board, and number of rows; the types of the arrays are those of every board."""


def network_calls(*, is_katago: bool) -> list[KernelCall]:
    """Return one call for each kernel; they are meant for their types, not to be executed.

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
