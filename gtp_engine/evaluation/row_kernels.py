"""A row of positions made that of one move later: kernels.

The rest of what `game_rows` needs stands there; kernels depend on files of kernels only (`_jit`).
"""

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import BOARDS, HISTORY, Positions, board_of, set_key
from gtp_engine.go.board import EMPTY_COUNT, KO_COLOR, KO_POINT, Board, hash_after, is_legal
from gtp_engine.go.constants import BLACK, WHITE

Keys = NDArray[np.uint64]


@spliced_kernel
def write_forbidden(positions: Positions, row: int, suicide: bool, situational: bool, superko_keys: Keys) -> None:
    """Mark the points of a row's newest board where ko or superko, nothing else, forbids to play."""
    board, color = board_of(positions, row, wide(0)), wide(positions.to_play[row])
    opponent = BLACK + WHITE - color
    for point in range(positions.forbidden.shape[1]):
        positions.forbidden[row, point] = 0
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        if not is_legal(board, point, color, suicide):
            is_ko = point == board.info[KO_POINT] and color == board.info[KO_COLOR]
            positions.forbidden[row, point] = np.uint8(is_ko)
        elif superko_keys.size > 0:
            key = hash_after(board, point, color)
            if situational:
                key = key ^ board.zobrist[0, opponent]
            for k in range(superko_keys.size):
                if superko_keys[k] == key:
                    positions.forbidden[row, point] = 1


@kernel
def shift_row(
    positions: Positions,
    row: int,
    board: Board,
    point: int,
    color: int,
    pass_ends: int,
    suicide: bool,
    situational: bool,
    superko_keys: Keys,
) -> None:
    """Make a row that of one move later: `color` has played `point`, which led to `board`.

    `pass_ends` as in `Positions`; the rules say whether `suicide` is legal and superko is `situational`.
    `superko_keys` are the keys of the positions that may not occur again (`Game.superko_keys`).
    """
    for ago in range(BOARDS - 1, 0, -1):
        for i in range(board.storage.size):
            positions.storage[row, ago, i] = positions.storage[row, ago - 1, i]
        positions.hash[row, ago, 0] = positions.hash[row, ago - 1, 0]
    for i in range(board.storage.size):
        positions.storage[row, 0, i] = board.storage[i]
    positions.hash[row, 0, 0] = board.hash[0]
    for i in range(HISTORY - 1, 0, -1):
        positions.points[row, i] = positions.points[row, i - 1]
        positions.colors[row, i] = positions.colors[row, i - 1]
    positions.points[row, 0] = point
    positions.colors[row, 0] = color
    positions.to_play[row] = BLACK + WHITE - color
    positions.pass_ends[row] = pass_ends
    positions.button[row] = 0
    write_forbidden(positions, row, suicide, situational, superko_keys)
    set_key(positions, row)
