"""Eyes of one point: real, false, or no eye, as whole-board maps and against the definitions in the oracle.

In a diagram "1" is a real eye, "2" an eye shape that is false or can be made so (`eye_map`); every other empty point
must come out as no eye.
"""

import random

import numpy as np
import pytest
import reference
from board_helpers import COLOR, board_of, map_of, points_of, random_position

from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.tactics import eye_map, is_eye, is_eye_shape, is_real_eye

MAPS = {
    "middle: all four corners held": """
        . . . . .
        . X X X .
        . X 1 X .
        . X X X .
        . . . . .""",
    "middle: one corner may be missing": """
        . . . . .
        . X X O .
        . X 1 X .
        . X X X .
        . . . . .""",
    "middle: two corners of the opponent make it false": """
        . . . . .
        . X X O .
        . X 2 X .
        . O X X .
        . . . . .""",
    "middle: two empty corners, the opponent may still take both": """
        . . . . .
        . . X X .
        . X 2 X .
        . X X . .
        . . . . .""",
    "edge: both corners held": """
        X 1 X .
        X X X .
        . . . .""",
    "edge: one corner of the opponent makes it false": """
        . X 2 X .
        . X X O .
        . . . . .""",
    "edge: one empty corner may be taken": """
        . X 2 X .
        . X X . .
        . . . . .""",
    "corner: its one diagonal decides": """
        1 X . O 2
        X X . X O
        . . . . .
        X X . . O
        1 X . O 2""",
    "eyes that secure each other's missing corner": """
        1 X 1
        X 1 X
        1 X X""",
    "a row of eyes on the edge": """
        X 1 X 1 X 1 X
        X X X X X X X
        . . . . . . .""",
    "not surrounded by one colour: no eye": """
        . O . X .
        X . O . O
        . O . X .""",
    "white eyes count alike": """
        1 O . O 1
        O O . O O
        . . . . .
        O O O O O
        O 1 O 1 O""",
    "smallest board": """
        1 X
        X X""",
    "two eyes on the smallest board, each false alone": """
        1 X
        X 1""",
}


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


@pytest.mark.parametrize("diagram", MAPS.values(), ids=MAPS)
def test_map(diagram: str):
    position = reference.parse(diagram)
    rows = [row.replace(" ", "") for row in diagram.strip().splitlines()]
    expected = "\n".join("".join(c if c in "12" else "0" for c in row) for row in rows)
    assert oracle_map(position) == expected, "the oracle's view of the diagram"
    assert run_map(position) == expected


def test_is_eye_counts_only_stones_against_an_eye():
    """The rule for random play: empty corners are not held against an eye, stones of the opponent are."""
    position = reference.parse("""
        . X . . .
        X . X O .
        . X . . .
        . . X . O
        . X . X .""")
    board, points = board_of(position), points_of(position)
    assert is_eye(board, points[6], BLACK)
    assert not is_real_eye(board, points[6], BLACK)
    assert not is_eye_shape(board, points[17], BLACK)
    assert is_eye(board, points[0], BLACK) and is_eye_shape(board, points[0], BLACK)
    assert not is_eye(board, points[0], WHITE)


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
