"""Ladders: whole-board maps of drawn positions, and equality with the oracle's search on random ones.

In a diagram "#" is a black and "@" a white stone that a ladder captures (a chain in atari even if it moves
first, a chain of two liberties if the attacker moves first); every other stone must come out as not captured.
In those of `MARKED`, "b" and "w" are moves of Black and White that capture a chain of two liberties.
"""

import functools
import random

import numpy as np
import pytest
import reference
from board_helpers import KO, board_of, fingerprint, map_of, points_of, random_position, to_points

from gtp_engine.go import ladder
from gtp_engine.go.board import KO_COLOR, KO_POINT, is_legal, play_assume_legal
from gtp_engine.go.constants import BLACK, WHITE

MAPS = {
    "a net is no ladder: no series of ataris catches the stone": """
        . . . . . . . .
        . . . . . . . .
        . . . X . X . .
        . . X O . . . .
        . . . . . X . .
        . . X . X . . .
        . . . . . . . .
        . . . . . . . .""",
    "saved by capturing an attacker in atari": """
        . . . . . . .
        . O X X . . .
        O X O . X . .
        . . X X . . .
        . O . . . . .
        . . . . . . .""",
    "snapback: taking the stone thrown in leaves one liberty": """
        # O . O . .
        # # # O . .
        O O O . . .
        . . . . . .""",
    "an atari that takes a ko is no ladder": """
        . X X O
        X X O .
        . O . O
        . O . O""",
    "double ko death: each ko taken, the other is lost": """
        @ X X @
        . X O .
        X . X @""",
}


MARKED = """
    . . . X . . .
    . . X @ b . .
    . . X . . . .
    . . . . . . .
    O O O . . . .
    # # # O . . .
    # w w O . . ."""
"""A ladder that works from one side, and a snapback, of which either move works."""


work_of = functools.cache(ladder.new_ladder_work)
"""Leftovers of one reading must not reach the next: all of a size share their arrays."""


class Reader:
    """The kernels' answers about one position, with the board checked to be as before each time."""

    def __init__(self, position: reference.Position):
        self.board = board_of(position)
        self.work = work_of(position.width, position.height)

    def marks(self) -> ladder.MarkArray:
        counts, out = (np.full(self.board.color.size, 7, dtype=kind) for kind in (np.int32, np.uint8))
        before = fingerprint(self.board)
        ladder.ladder_marks(self.board, counts, self.work, out)
        assert fingerprint(self.board) == before
        return out

    def map(self) -> ladder.MarkArray:
        return self.marks() & ladder.CAPTURED

    def attacks(self, point: int) -> list[int]:
        out = np.zeros(2, dtype=np.int32)
        before = fingerprint(self.board)
        count = ladder.working_attacks_into(self.board, point, self.work, out)
        assert fingerprint(self.board) == before
        return sorted(out[:count].tolist())


def oracle_captures(position: reference.Position, index: int) -> bool:
    if len(reference.liberties(position, index)) == 1:
        return not reference.ladder_escapes(position, index)
    return bool(reference.ladder_attacks(position, index))


@pytest.mark.parametrize("diagram", MAPS.values(), ids=MAPS)
def test_map(diagram: str):
    position = reference.parse(diagram.replace("#", "X").replace("@", "O"))
    drawn = "".join(diagram.split())
    captured = [i for i, cell in enumerate(drawn) if cell in "#@"]
    oracle = [i for i, cell in enumerate(position.cells) if cell in "XO" and oracle_captures(position, i)]
    assert oracle == captured, "the oracle's view of the diagram"
    out = Reader(position).map()
    expected = "\n".join("".join("1" if c in "#@" else "0" for c in row.split()) for row in diagram.split("\n") if row)
    assert map_of(position, out) == expected
    walls = set(range(out.size)) - set(points_of(position))
    assert not out[list(walls)].any()


def test_marks():
    drawn = "".join(MARKED.split())
    position = reference.Position(7, 7, drawn.translate(str.maketrans("#@bw", "XO..")))
    marks = {"#": ladder.CAPTURED, "@": ladder.CAPTURED, "b": ladder.WORKS_FOR_BLACK, "w": ladder.WORKS_FOR_WHITE}
    reader = Reader(position)
    expected = [marks.get(cell, 0) for cell in drawn]
    assert reader.marks()[list(points_of(position))].tolist() == expected
    assert ladder.stones_in_ladders(reader.board).tolist() == reader.map().tolist()


@pytest.mark.parametrize("size", [9, 19, 25])
def test_long_ladders_and_their_breakers(size: int):
    """A ladder across the whole board is read to its end; one stone in its way decides it."""
    corner = {(2, 1): "X", (1, 2): "X", (1, 3): "X", (2, 2): "O"}
    for breaker in [None, *((k, k) for k in range(5, size - 1))]:
        stones = corner | ({breaker: "O"} if breaker else {})
        cells = "".join(stones.get((x, y), ".") for y in range(size) for x in range(size))
        position = reference.Position(size, size, cells)
        out = Reader(position).map()
        expected = breaker is None
        assert bool(out[points_of(position)[2 * size + 2]]) == expected, f"breaker {breaker}"
        assert not out[points_of(position)[2 * size + 1]]


@pytest.mark.parametrize("size", [(3, 3), (4, 3), (2, 7), (5, 5), (6, 4), (7, 7), (9, 9)])
def test_random_positions_agree_with_the_oracle(size: tuple[int, int]):
    rng = random.Random(f"ladders {size}")
    area = size[0] * size[1]
    captured = safe = 0
    for _ in range(1000 // area + 20):
        position = random_position(rng, *size, rng.randint(area // 3, 2 * area))
        reader = Reader(position)
        out, moves = reader.map(), np.zeros(reader.board.color.size, dtype=np.uint8)
        for index, cell in enumerate(position.cells):
            if cell == reference.EMPTY:
                continue
            point = points_of(position)[index]
            expected = oracle_captures(position, index)
            assert bool(out[point]) == expected, reference.draw(position, [index])
            attacks = to_points(position, reference.ladder_attacks(position, index))
            assert reader.attacks(point) == attacks, reference.draw(position, [index])
            if len(reference.liberties(position, index)) == 2:
                moves[attacks] |= ladder.WORKS_FOR_WHITE if cell == "X" else ladder.WORKS_FOR_BLACK
            captured += expected
            safe += not expected
        assert (reader.marks() & ~np.uint8(ladder.CAPTURED)).tolist() == moves.tolist(), reference.draw(position)
    assert captured > 100 and safe > 100


def test_a_ko_ban_on_the_defender_is_disregarded():
    """Black has just taken the ko at b; White's chain there may retake in the reading, as KataGo's reader lets it."""
    position = reference.parse("""
        . X O . .
        X . X O .
        . X O . .
        . . . . .""")
    board, work = board_of(position), ladder.new_ladder_work(5, 4)
    ko, mouth = points_of(position)[6], points_of(position)[7]
    assert play_assume_legal(board, ko, WHITE) == 1
    assert board.info[KO_POINT] == mouth and board.info[KO_COLOR] == BLACK
    banned = fingerprint(board)
    with_ban = ladder.is_captured_defender_first(board, points_of(position)[1], work)
    assert fingerprint(board) == banned, "the ban is back after the reading"
    board.info[KO_POINT] = 0
    assert ladder.is_captured_defender_first(board, points_of(position)[1], work) == with_ban


def test_a_ko_ban_on_the_attacker_counts():
    position = reference.parse(KO)
    reader = Reader(position)
    ko, mouth = points_of(position)[5], points_of(position)[6]
    assert play_assume_legal(reader.board, ko, WHITE) == 1
    assert not is_legal(reader.board, mouth, BLACK, False)
    assert reader.attacks(ko) == [], "the stone that took the ko cannot be retaken now"
    reader.board.info[KO_POINT] = 0
    assert reader.attacks(ko) == [mouth]
