"""Eyes of one point: real, false, or no eye, against the definitions in the oracle."""

import random

import numpy as np
import pytest
import reference
from board_helpers import COLOR, board_of, map_of, points_of, random_position

from gtp_engine.go.tactics import eye_map, is_eye, is_eye_shape, is_real_eye


def run_map(position: reference.Position) -> str:
    board = board_of(position)
    out = np.full(board.color.size, 7, dtype=np.int32)
    eye_map(board, out)
    return map_of(position, out)


def oracle_map(position: reference.Position) -> str:
    def value(point: int) -> str:
        for color in "XO":
            if reference.is_real_eye(position, point, color):
                return "1"
            if reference.is_eye_shape(position, point, color):
                return "2"
        return "0"

    cells = "".join(value(point) for point in range(len(position.cells)))
    return reference.draw(position._replace(cells=cells))


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (2, 6), (5, 4), (7, 7), (9, 9), (19, 19)])
def test_random_positions_agree_with_the_definitions(size: tuple[int, int]):
    rng = random.Random(f"eyes {size}")
    shapes = 0
    for _ in range(40):
        position = random_position(rng, *size, 4 * size[0] * size[1])
        board, points = board_of(position), points_of(position)
        assert run_map(position) == oracle_map(position)
        for index, cell in enumerate(position.cells):
            if cell != reference.EMPTY:
                continue
            for color in "XO":
                arguments = board, points[index], COLOR[color]
                assert is_eye_shape(*arguments) == reference.is_eye_shape(position, index, color)
                assert is_eye(*arguments) == reference.is_eye(position, index, color)
                assert is_real_eye(*arguments) == reference.is_real_eye(position, index, color)
                shapes += is_eye_shape(*arguments)
    assert shapes > 20
