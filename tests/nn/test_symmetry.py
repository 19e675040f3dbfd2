"""The eight symmetries: KataGo's numbers, and tables that agree with them."""

import numpy as np
import pytest

from gtp_engine.go.constants import NULL_POINT, PASS
from gtp_engine.go.coords import board_points, is_on_board, point_to_xy, transform
from gtp_engine.nn.symmetry import NO_CELL, cell_table, symmetry_count

SQUARES = [(2, 2), (5, 5), (19, 19), (25, 25)]
RECTANGLES = [(2, 3), (3, 2), (19, 7), (25, 2)]
each_size = pytest.mark.parametrize("size", SQUARES + RECTANGLES)

KATAGO = {
    0: "abc def ghi",
    1: "ghi def abc",
    2: "cba fed ihg",
    3: "ihg fed cba",
    4: "adg beh cfi",
    5: "gda heb ifc",
    6: "cfi beh adg",
    7: "ifc heb gda",
}
"""What becomes of the board abc / def / ghi."""


@pytest.mark.parametrize("symmetry", range(8))
def test_numbers_are_katagos(symmetry: int):
    cells = cell_table(3, 3)[symmetry]
    seen = [""] * 9
    for letter, point in zip("abcdefghi", board_points(3, 3), strict=True):
        seen[cells[point]] = letter
    assert " ".join("".join(seen[i : i + 3]) for i in (0, 3, 6)) == KATAGO[symmetry]


@each_size
def test_tables_follow_the_coordinates(size: tuple[int, int]):
    width, height = size
    table = cell_table(width, height)
    assert table.shape == (symmetry_count(width, height), (width + 1) * (height + 2) + 1)
    assert table.dtype == np.int32 and not table.flags.writeable
    for symmetry, cells in enumerate(table):
        for point in range(cells.size):
            if not is_on_board(point, width=width, height=height):
                assert cells[point] == NO_CELL
                continue
            x, y = transform(*point_to_xy(point, width=width), symmetry, width=width, height=height)
            assert cells[point] == y * width + x
        assert sorted(cells[list(board_points(width, height))]) == list(range(width * height))
        assert cells[PASS] == cells[NULL_POINT] == NO_CELL


def test_only_squares_are_transposed():
    assert [symmetry_count(*size) for size in SQUARES] == [8] * len(SQUARES)
    assert [symmetry_count(*size) for size in RECTANGLES] == [4] * len(RECTANGLES)
