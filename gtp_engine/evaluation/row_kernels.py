"""Rows of `Positions` copied, moved on by a move and finished: the kernels that know every field of a row.

Kernels that fill rows write the boards (`board_of`), the moves (`write_move`, `end_history`) and `forbidden`, then call
`finish_row`, which takes everything else.  So a new field of `Positions` means editing `positions` and this file; the
callers of `finish_row` then fail to compile until they pass it.  The conditions of a row stay as they are.  `from_game`
fills rows without these kernels and is what tests compare them with.  The fields about the clean-up phases are zero in
all rows but those of a search, which writes them itself (`puct.cleanup`).
"""

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import (
    BOARDS,
    HISTORY,
    SITUATIONAL_SUPERKO,
    Positions,
    board_of,
    conditions_of_row,
    set_key,
)
from gtp_engine.go.board import EMPTY_COUNT, KO_COLOR, KO_POINT, Board, copy_board, hash_after, is_legal
from gtp_engine.go.constants import BLACK, NULL_POINT, WHITE

Keys = NDArray[np.uint64]


@kernel
def copy_row(target: Positions, place: int, source: Positions, row: int) -> None:
    """Make row `place` of `target` equal to a row of `source`."""
    for ago in range(BOARDS):
        copy_board(board_of(target, place, wide(ago)), board_of(source, row, wide(ago)))
    for ago in range(HISTORY):
        target.points[place, ago] = source.points[row, ago]
        target.colors[place, ago] = source.colors[row, ago]
    for point in range(source.forbidden.shape[1]):
        target.forbidden[place, point] = source.forbidden[row, point]
        target.no_retake[place, point] = source.no_retake[row, point]
        target.start[place, point] = source.start[row, point]
    target.to_play[place] = source.to_play[row]
    target.pass_ends[place] = source.pass_ends[row]
    target.button[place] = source.button[row]
    target.phase[place] = source.phase[row]
    target.placed[place] = source.placed[row]
    target.key[place] = source.key[row]
    target.situation[place] = source.situation[row]
    for field in range(source.conditions.shape[1]):
        target.conditions[place, field] = source.conditions[row, field]
    target.conditions_key[place] = source.conditions_key[row]


@inlined_kernel
def write_move(positions: Positions, row: int, ago: int, point: int, color: int) -> None:
    """Write the move that was made `ago` moves before the last one (0: the last)."""
    positions.points[row, ago] = point
    positions.colors[row, ago] = color


@inlined_kernel
def end_history(positions: Positions, row: int, length: int) -> None:
    """Leave out all moves of a row but the last `length`."""
    for ago in range(length, HISTORY):
        positions.points[row, ago] = NULL_POINT
        positions.colors[row, ago] = 0


@inlined_kernel
def forbid_ko(positions: Positions, row: int, color: int) -> None:
    """Write a row's `forbidden` for `color`: the point that simple ko forbids on its newest board, if any."""
    board = board_of(positions, row, wide(0))
    for point in range(positions.forbidden.shape[1]):
        positions.forbidden[row, point] = 0
    ko = wide(board.info[KO_POINT])
    if ko != NULL_POINT and board.info[KO_COLOR] == color:
        positions.forbidden[row, ko] = 1


@spliced_kernel
def write_forbidden(
    positions: Positions, row: int, color: int, suicide: bool, situational: bool, superko_keys: Keys
) -> None:
    """Write a row's `forbidden` for `color`: simple ko, and the positions with these keys, which may not recur."""
    forbid_ko(positions, row, color)
    board, opponent = board_of(positions, row, wide(0)), BLACK + WHITE - color
    if superko_keys.size == 0:
        return
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        if is_legal(board, point, color, suicide):
            key = hash_after(board, point, color)
            if situational:
                key = key ^ board.zobrist[0, opponent]
            for k in range(superko_keys.size):
                if superko_keys[k] == key:
                    positions.forbidden[row, point] = 1


@kernel
def shift_row(positions: Positions, row: int, point: int, color: int) -> None:
    """Make a row's boards and moves one move older and write a new last move; the newest board stays as it was."""
    for ago in range(BOARDS - 1, 0, -1):
        copy_board(board_of(positions, row, wide(ago)), board_of(positions, row, wide(ago) - 1))
    for ago in range(HISTORY - 1, 0, -1):
        positions.points[row, ago] = positions.points[row, ago - 1]
        positions.colors[row, ago] = positions.colors[row, ago - 1]
    write_move(positions, row, wide(0), point, color)


@inlined_kernel
def finish_row(positions: Positions, row: int, to_play: int, pass_ends: int, button: int) -> None:
    """Write the rest of a row whose boards, moves and `forbidden` are written: these values, and the key of it all."""
    positions.to_play[row] = to_play
    positions.pass_ends[row] = pass_ends
    positions.button[row] = button
    set_key(positions, row)


@kernel
def advance_row(
    positions: Positions,
    row: int,
    board: Board,
    point: int,
    color: int,
    pass_ends: int,
    superko_keys: Keys,
) -> None:
    """Turn a row into that of one move later, under its conditions: `color` has played `point`, which led to `board`.

    `pass_ends` is as in `Positions`; `superko_keys` are the keys of the positions that may not recur
    (`Game.superko_keys`), none without superko.
    """
    conditions = conditions_of_row(positions, row)
    is_situational = conditions.superko == SITUATIONAL_SUPERKO
    shift_row(positions, row, point, color)
    copy_board(board_of(positions, row, wide(0)), board)
    to_play = BLACK + WHITE - color
    write_forbidden(positions, row, to_play, conditions.suicide, is_situational, superko_keys)
    finish_row(positions, row, to_play, pass_ends, wide(0))
