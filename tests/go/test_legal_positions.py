"""The number of legal positions: 57 on 2x2, 12675 on 3x3, 24318165 on 4x4 (Tromp and Farneback, OEIS A094777).

A position is legal when every chain has a liberty.  A compiled walk builds positions stone by stone in row-major order
with the engine's `is_legal` and `play_assume_legal`, and counts those that come about without any capture or suicide.
That finds each legal position once, and no other: take stones off a legal position, and what is left of a chain has
lost no liberty unless it is next to a point just emptied, which is one; so all partial positions on the way are legal,
no stone captures and none is without liberty.  By exchange of colours it is enough to count the positions whose first
stone is black.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from gtp_engine.compiled.jit import kernel
from gtp_engine.go.board import EMPTY_COUNT, Board, IntArray, is_legal, new_board, play_assume_legal
from gtp_engine.go.constants import EMPTY, WHITE
from gtp_engine.go.coords import board_points

LEGAL = {2: 57, 3: 12675, 4: 24318165}


@kernel
def count_positions(
    board: Board, saved: IntArray, hashes: NDArray[np.uint64], points: IntArray, choice: IntArray
) -> int:
    """Return the number of positions that can be built on the empty `board` point by point without removing a stone.

    saved[k], int[points.size + 1, storage], is set to the position of the first k points, hashes[k] to its hash, and
    choice[k], int[points.size], to the colour being tried on point k (EMPTY first, so that BLACK is the colour of the
    first stone tried, after which WHITE is skipped).
    """
    depth, found = 0, 0
    choice[0] = -1
    for i in range(board.storage.size):
        saved[0, i] = board.storage[i]
    hashes[0] = board.hash[0]
    while depth >= 0:
        for i in range(board.storage.size):
            board.storage[i] = saved[depth, i]
        board.hash[0] = hashes[depth]
        choice[depth] += 1
        color = choice[depth]
        is_first_stone = board.info[EMPTY_COUNT] == points.size
        if color > WHITE or (color == WHITE and is_first_stone):
            depth -= 1
            continue
        if color != EMPTY:
            if not is_legal(board, points[depth], color, False):
                continue
            if play_assume_legal(board, points[depth], color) != 0:
                continue
        depth += 1
        if depth == points.size:
            found += 1
            depth -= 1
        else:
            choice[depth] = -1
            for i in range(board.storage.size):
                saved[depth, i] = board.storage[i]
            hashes[depth] = board.hash[0]
    return found


@pytest.mark.parametrize("size", [2, 3, 4])
def test_count(size: int):
    assert legal_positions(size, size) == LEGAL[size]


def test_count_is_the_same_on_a_rectangle_turned():
    assert legal_positions(4, 3) == legal_positions(3, 4) == 321689


def legal_positions(width: int, height: int) -> int:
    points, board = np.array(board_points(width, height), dtype=np.int32), new_board(width, height)
    saved = np.zeros((points.size + 1, board.storage.size), dtype=board.storage.dtype)
    hashes, choice = np.zeros(points.size + 1, dtype=np.uint64), np.zeros(points.size, dtype=np.int32)
    return 2 * (count_positions(board, saved, hashes, points, choice) - 1) + 1
