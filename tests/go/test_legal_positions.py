"""The number of legal positions: 57 on 2x2, 12675 on 3x3, 24318165 on 4x4 (Tromp and Farneback, OEIS A094777).

A position is legal when every chain has a liberty.  Up to 3x3 the colourings are simply all tried (3^9), by the
oracle and by the kernels' own liberties.  On 4x4 (3^16 = 43 million) a compiled walk builds positions stone by stone
in row-major order with the engine's `is_legal` and `play_assume_legal`, and counts those that come about without any
capture or suicide.  That finds each legal position once, and no other: take stones off a legal position, and what is
left of a chain has lost no liberty unless it is next to a point just emptied, which is one; so all partial positions
on the way are legal, no stone captures and none is without liberty.  By exchange of colours it is enough to count
the positions whose first stone is black.
"""

import itertools

import numpy as np
import pytest
import reference
from board_helpers import board_of, points_of

from gtp_engine._jit import kernel
from gtp_engine.go.board import EMPTY_COUNT, Board, IntArray, copy_board, is_legal, new_board, play_assume_legal
from gtp_engine.go.constants import EMPTY, WHITE
from gtp_engine.go.coords import board_points

LEGAL = {1: 1, 2: 57, 3: 12675, 4: 24318165}
MOST_POINTS = 16


@kernel
def count_positions(boards: tuple[Board, ...], points: IntArray, choice: IntArray) -> int:
    """Return the number of positions that can be built on `boards[0]` point by point without removing a stone.

    boards[k] is the position of the first k points, and later boards are not used; choice[k], int[points.size], is the
    colour being tried on point k (EMPTY first, so that BLACK is the colour of the first stone tried, after which WHITE
    is skipped).
    """
    depth, found = 0, 0
    choice[0] = -1
    while depth >= 0:
        choice[depth] += 1
        color = choice[depth]
        is_first_stone = boards[depth].info[EMPTY_COUNT] == points.size
        if color > WHITE or (color == WHITE and is_first_stone):
            depth -= 1
            continue
        copy_board(boards[depth + 1], boards[depth])
        if color != EMPTY:
            if not is_legal(boards[depth], points[depth], color, False):
                continue
            if play_assume_legal(boards[depth + 1], points[depth], color) != 0:
                continue
        depth += 1
        if depth == points.size:
            found += 1
            depth -= 1
        else:
            choice[depth] = -1
    return found


@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 2), (3, 2), (3, 3)])
def test_oracle_and_kernels_agree_on_every_colouring(width: int, height: int):
    legal = 0
    for cells in itertools.product(".XO", repeat=width * height):
        position = reference.Position(width, height, "".join(cells))
        board = board_of(position)
        heads = [int(board.head[p]) for p in points_of(position) if board.color[p] != EMPTY]
        has_liberties = all(board.libs[head] > 0 for head in heads)
        assert has_liberties == reference.is_legal_position(position), reference.draw(position)
        legal += has_liberties
    if width == height:
        assert legal == LEGAL[width]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_count(size: int):
    assert legal_positions(size, size) == LEGAL[size]


def test_count_is_the_same_on_a_rectangle_turned():
    assert legal_positions(4, 3) == legal_positions(3, 4) == 321689


def legal_positions(width: int, height: int) -> int:
    """Return the number of legal positions; every size has as many boards, so that the walk is compiled once."""
    points = np.array(board_points(width, height), dtype=np.int32)
    boards = tuple(new_board(width, height) for _ in range(MOST_POINTS + 1))
    with_black_first = count_positions(boards, points, np.zeros(points.size, dtype=np.int32)) - 1
    return 2 * with_black_first + 1
