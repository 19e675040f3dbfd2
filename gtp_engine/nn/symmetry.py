"""The eight orientations of a board, numbered as in KataGo.

A symmetry is three bits: 1 mirrors top and bottom, 2 mirrors left and right, 4 exchanges x and y after that.  On a
board of W columns and H rows (N of both), with x from the left and y from the top:

    ======  ==================  =================================
    number  (x, y) goes to      in words
    ======  ==================  =================================
    0       x, y                as it is
    1       x, H−1−y            mirrored top to bottom
    2       W−1−x, y            mirrored left to right
    3       W−1−x, H−1−y        half a turn
    4       y, x                transposed
    5       N−1−y, x            a quarter turn clockwise
    6       y, N−1−x            a quarter turn counterclockwise
    7       N−1−y, N−1−x        transposed along the other diagonal
    ======  ==================  =================================

Only square boards have the last four: the others would change their shape, which a network's input has fixed.  The
numbers are those of `kata-raw-nn` (`SymmetryHelpers` in KataGo's neuralnet/nninputs.cpp), so that outputs can be
compared one by one.
"""

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.board import IntArray
from gtp_engine.go.constants import padded_length
from gtp_engine.go.coords import board_points, transform

IDENTITY: Final = 0
NO_CELL: Final = -1
"""In a table: the point is not on the board."""


def symmetry_count(width: int, height: int) -> int:
    """Return how many symmetries a board has; they are the numbers from 0 on."""
    return 8 if width == height else 4


@cache
def cell_table(width: int, height: int) -> IntArray:
    """Return the cells of all points: int32[S, n], read only, S = `symmetry_count`, n the padded length of a board.

    `table[symmetry, point]` is y * width + x of the cell that shows the point, in a network's input planes and in its
    outputs alike; NO_CELL (−1) for walls, PASS and NULL_POINT.
    """
    table = np.full((symmetry_count(width, height), padded_length(width, height)), NO_CELL, dtype=np.int32)
    for symmetry in range(len(table)):
        for action, point in enumerate(board_points(width, height)):
            x, y = transform(action % width, action // width, symmetry, width=width, height=height)
            table[symmetry, point] = y * width + x
    table.flags.writeable = False
    return table


@cache
def cell_orders(width: int, height: int) -> NDArray[np.intp]:
    """Return, for each symmetry and each cell of the board that it leads to, the cell that comes there: [S, W * H]."""
    return np.argsort(cell_table(width, height)[:, board_points(width, height)], axis=1)
