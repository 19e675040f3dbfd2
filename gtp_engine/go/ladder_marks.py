"""The ladders of a whole board, as input for networks: stones that are captured, and moves that capture them.

`ladder` does the reading; its `ladder_map` marks the same stones for display.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import spliced_kernel, wide
from gtp_engine.go.board import Board, IntArray, count_liberties
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.ladder import LadderWork, is_captured_defender_first, working_attacks_into

MarkArray = NDArray[np.uint8]

CAPTURED: Final = 1
WORKS_FOR_BLACK: Final = 2
WORKS_FOR_WHITE: Final = 4
"""Bits of a mark: a stone that a ladder captures; a move by which this colour captures a chain of two liberties."""


@spliced_kernel
def _mark_moves(board: Board, point: int, work: LadderWork, out: MarkArray) -> bool:
    """Mark the moves that capture the chain on `point`, of two liberties, in a ladder; return whether there are any."""
    mark = WORKS_FOR_WHITE if board.color[point] == BLACK else WORKS_FOR_BLACK
    found = working_attacks_into(board, point, work, work.working)
    for i in range(found):
        out[work.working[i]] |= mark
    return found > 0


@spliced_kernel
def ladder_marks(board: Board, counts: IntArray, work: LadderWork, out: MarkArray) -> None:
    """Set out[p], uint8[n], for every point to a sum of CAPTURED, WORKS_FOR_BLACK and WORKS_FOR_WHITE.

    CAPTURED marks the stones of chains in atari that cannot escape even when they move first, and of chains of two
    liberties that the attacker captures when it moves first.  The board's ko ban applies to the first move.  `counts`,
    int32[n], is work; the board is restored.
    """
    count_liberties(board, counts)
    for point in range(out.size):
        out[point] = 0
    for point in range(out.size):
        color = board.color[point]
        if (color != BLACK and color != WHITE) or board.head[point] != point or counts[point] > 2:
            continue
        is_in_atari = counts[point] == 1
        if is_captured_defender_first(board, point, work) if is_in_atari else _mark_moves(board, point, work, out):
            stone = wide(point)
            while True:
                out[stone] |= CAPTURED
                stone = board.next_stone[stone]
                if stone == point:
                    break
