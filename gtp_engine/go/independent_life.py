"""Area under group tax: eyes count only where a group lives by itself, not in seki.

The area of one colour (`benson.area_map`) consists of connected pieces of stones and eyes.  A piece that touches an
empty point without an owner, or that has a stone in atari, is treated as seki: only its stones count.  Any other piece
*lives independently* and counts in full; under rules that tax groups, each of these pays two points.

Method and corner cases follow KataGo (`calculateIndependentLifeArea` in its game/board.cpp), whose networks see these
maps under such rules.
"""

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import spliced_kernel, wide
from gtp_engine.go.benson import LifeWork, area_map
from gtp_engine.go.board import STRIDE, Board, IntArray, is_in_atari
from gtp_engine.go.constants import BLACK, EMPTY, WHITE

_UNSEEN = -1


@spliced_kernel
def _needs_help(board: Board, point: int, area: IntArray) -> bool:
    """Return whether the owned `point` holds its owner's stone in atari or touches an empty point without an owner."""
    if board.color[point] == area[point] and is_in_atari(board, wide(board.head[point])):
        return True
    stride = wide(board.info[STRIDE])
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        if board.color[neighbor] == EMPTY and area[neighbor] == EMPTY:
            return True
    return False


@spliced_kernel
def _fill_piece(board: Board, start: int, area: IntArray, work: LifeWork) -> int:
    """Write the points of the piece around `start` to work.queue and return their number, negative for a seki."""
    stride = wide(board.info[STRIDE])
    work.queue[0] = start
    work.region[start] = start
    read, write = 0, 1
    is_seki = False
    while read < write:
        point = wide(work.queue[read])
        read += 1
        is_seki |= _needs_help(board, point, area)
        for step in (-1, 1, -stride, stride):
            neighbor = point + step
            if area[neighbor] == area[start] and work.region[neighbor] == _UNSEEN:
                work.region[neighbor] = start
                work.queue[write] = neighbor
                write += 1
    return -write if is_seki else write


@spliced_kernel
def taxed_area_map(board: Board, suicide: bool, work: LifeWork, area: IntArray, out: IntArray) -> int:
    """Return Black's pieces that live independently minus White's, and set out[p], int32[n], to the owner of p.

    A colour owns its independent pieces and, elsewhere, its stones that are not dead in pass-alive territory; all other
    points are EMPTY.  `area`, int32[n], receives the area without tax; `suicide` is as in `area_map`.
    """
    area_map(board, suicide, work, area)
    for point in range(out.size):
        out[point] = area[point] if area[point] == board.color[point] else EMPTY
    return _add_independent_pieces(board, area, work, out)


@spliced_kernel
def cleaned_up_map(
    board: Board,
    start: NDArray[np.int8],
    keeps_territory: bool,
    suicide: bool,
    work: LifeWork,
    area: IntArray,
    out: IntArray,
) -> int:
    """Return Black's pieces that live independently minus White's, and set out[p], int32[n], to whose point p is.

    This is how KataGo's territory rules count at the end of the second clean-up phase, which began with the stones
    `start` (int8[n]).  A colour owns its independent pieces and, elsewhere, its stones of `start` that are still there;
    with `keeps_territory` also its other area in seki.  `area`, `suicide` and `work` are as in `taxed_area_map`.
    """
    area_map(board, suicide, work, area)
    for point in range(out.size):
        is_territory = keeps_territory and area[point] != board.color[point]
        out[point] = area[point] if is_territory else EMPTY
    balance = _add_independent_pieces(board, area, work, out)
    for point in range(out.size):
        stone = board.color[point]
        if out[point] == EMPTY and (stone == BLACK or stone == WHITE) and start[point] == stone:
            out[point] = stone
    return balance


@spliced_kernel
def _add_independent_pieces(board: Board, area: IntArray, work: LifeWork, out: IntArray) -> int:
    """Return Black's pieces that live independently minus White's, after writing their points to `out`."""
    for point in range(out.size):
        work.region[point] = _UNSEEN
    balance = 0
    for start in range(out.size):
        owner = area[start]
        if owner == EMPTY or work.region[start] != _UNSEEN:
            continue
        size = _fill_piece(board, wide(start), area, work)
        for i in range(size):
            out[work.queue[i]] = owner
        if size > 0:
            balance += wide(owner == BLACK) - wide(owner == WHITE)
    return balance
