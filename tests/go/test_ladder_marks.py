"""Ladder marks: maps of drawn positions, and agreement with the single readings.

In a diagram "#" and "@" are captured stones of Black and White, "b" and "w" moves of Black and White that capture a
chain of two liberties, "d" a point that is such a move for both.
"""

import random

import numpy as np
import pytest
import reference
from board_helpers import COLOR, board_of, fingerprint, map_of, points_of, random_position

from gtp_engine.go.board import Board, IntArray
from gtp_engine.go.constants import WHITE
from gtp_engine.go.ladder import (
    CAPTURED,
    WORKS_FOR_BLACK,
    WORKS_FOR_WHITE,
    MarkArray,
    ladder_map,
    ladder_marks,
    new_ladder_work,
    working_attacks_into,
)

MARK = {
    "#": CAPTURED,
    "@": CAPTURED,
    "b": WORKS_FOR_BLACK,
    "w": WORKS_FOR_WHITE,
    "d": WORKS_FOR_BLACK + WORKS_FOR_WHITE,
}

MAPS = {
    "a ladder on the open board works from one side": """
        . . . . . . .
        . . . X . . .
        . . X @ b . .
        . . X . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .""",
    "a chain in atari is captured without a move that works": """
        # . . . . . .
        O O O O O O .
        . . . . . . .""",
    "either move of a snapback": """
        # w w O .
        # # # O .
        O O O . .
        . . . . .""",
    "nothing to read": """
        . . . . .
        . X . O .
        . . . . .""",
}


def marks_of(board: Board, width: int, height: int) -> MarkArray:
    """Return the marks, after checking that the board is as before."""
    before = fingerprint(board)
    counts = np.full(board.color.size, 7, dtype=np.int32)
    out = np.full(board.color.size, 7, dtype=np.uint8)
    ladder_marks(board, counts, new_ladder_work(width, height), out)
    assert fingerprint(board) == before
    return out


@pytest.mark.parametrize("diagram", MAPS.values(), ids=MAPS)
def test_map(diagram: str):
    drawn = "\n".join("".join(row.split()) for row in diagram.strip().split("\n"))
    position = reference.parse(drawn.translate(str.maketrans("#@bwd", "XO...")))
    expected = "".join(str(MARK.get(c, 0)) if c != "\n" else c for c in drawn)
    assert map_of(position, marks_of(board_of(position), position.width, position.height)) == expected


def attacks(board: Board, point: int, width: int, height: int) -> list[int]:
    out = np.zeros(2, dtype=np.int32)
    return out[: working_attacks_into(board, point, new_ladder_work(width, height), out)].tolist()


@pytest.mark.parametrize("size", [(3, 3), (2, 7), (6, 4), (9, 9), (19, 19)])
def test_marks_agree_with_single_readings(size: tuple[int, int]):
    rng = random.Random(f"marks {size}")
    area = size[0] * size[1]
    working = 0
    for _ in range(1500 // area + 10):
        position = random_position(rng, *size, rng.randint(area // 3, 2 * area))
        board = board_of(position)
        points = points_of(position)
        expected: IntArray = np.zeros(board.color.size, dtype=np.int32)
        ladder_map(board, new_ladder_work(*size), expected)
        for index, cell in enumerate(position.cells):
            if cell != reference.EMPTY and len(reference.liberties(position, index)) == 2:
                works = WORKS_FOR_BLACK if COLOR[cell] == WHITE else WORKS_FOR_WHITE
                for move in attacks(board, points[index], *size):
                    expected[move] |= works
                    working += 1
        assert marks_of(board, *size).tolist() == expected.tolist(), reference.draw(position)
    assert working > 10
