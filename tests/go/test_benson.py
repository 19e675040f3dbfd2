"""Unconditional life (Benson): the oracle's algorithm, and the meaning of the word itself."""

import functools
import random

import numpy as np
import pytest
import reference
from board_helpers import COLOR, board_of, map_of, random_position

from gtp_engine.compiled.arrays import zeros
from gtp_engine.go.benson import LifeWork, alive_colors, area_map, pass_alive_map
from gtp_engine.go.board import IntArray
from gtp_engine.go.constants import EMPTY

work_of = functools.cache(lambda n: zeros(LifeWork, n=n))
"""Many positions share the arrays of a size."""


def run_map(position: reference.Position, kernel: object = pass_alive_map, *, suicide: bool = False) -> IntArray:
    board = board_of(position)
    before = board.storage.tobytes()
    out = np.full(board.color.size, 7, dtype=np.int32)
    kernel(board, suicide, work_of(out.size), out)
    assert board.storage.tobytes() == before
    return out


def oracle_map(position: reference.Position, *, suicide: bool = False) -> str:
    owner = dict.fromkeys(range(len(position.cells)), EMPTY)
    for color in "XO":
        stones, territory = reference.pass_alive(position, color, suicide=suicide)
        owner |= dict.fromkeys(stones | territory, COLOR[color])
    cells = "".join(str(owner[i]) for i in range(len(position.cells)))
    return reference.draw(position._replace(cells=cells))


def oracle_area(position: reference.Position, *, suicide: bool) -> str:
    """Tromp-Taylor's area, in which all pass-alive territory belongs to the colour that encloses it.

    A region of one colour alone keeps its owner by area, dead stones elsewhere too.
    """
    cells = list(reference.area(position))
    for color in "XO":
        for index in reference.pass_alive(position, color, suicide=suicide)[1]:
            cells[index] = color
    cells = ["." if c == "." else str(COLOR[c]) for c in cells]
    return reference.draw(position._replace(cells="".join(cells))).replace(".", "0")


def test_suicide_lets_the_opponent_clear_the_middle_of_an_eye():
    """All empty points of the large eye touch Black's chain, the point under White's stone does not.

    White can fill the eye but for one point next to Black; where suicide is legal it empties the eye by it and gets
    the middle point free, so that filling starts afresh, and Black's eye is no longer vital.
    """
    position = reference.parse("""
        X X X X X X
        X . . . X .
        X . O . X X
        X . . . X X
        X X X X X X
        . . . . . .
        . . . . . .""")
    assert "1" in map_of(position, run_map(position, suicide=False))
    assert "1" not in map_of(position, run_map(position, suicide=True))
    for suicide in (False, True):
        assert map_of(position, run_map(position, suicide=suicide)) == oracle_map(position, suicide=suicide)


def test_oracle_computes_what_cannot_be_captured():
    """On crowded small boards the algorithm's chains are exactly those no series of moves can capture."""
    rng = random.Random(11)
    alive = 0
    for _ in range(350):
        width, height = rng.randint(2, 6), rng.randint(2, 4)
        position = random_position(rng, width, height, 3 * width * height)
        if position.cells.count(reference.EMPTY) > 8:
            continue
        for color in "XO":
            for suicide in (False, True):
                stones = reference.pass_alive(position, color, suicide=suicide)[0]
                meant = reference.unconditionally_alive(position, color, suicide=suicide)
                assert stones == meant, f"{color} suicide={suicide}\n{reference.draw(position)}"
                alive += bool(stones)
    assert alive > 25


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("size", [(2, 2), (3, 3), (4, 3), (5, 5), (7, 6), (2, 9), (9, 9)])
def test_random_positions_agree_with_the_oracle(size: tuple[int, int], suicide: bool):
    rng = random.Random(f"benson {size} {suicide}")
    alive = 0
    for _ in range(1200 // (size[0] * size[1]) + 15):
        position = random_position(rng, *size, rng.choice((2, 4, 6)) * size[0] * size[1])
        expected = oracle_map(position, suicide=suicide)
        found = map_of(position, run_map(position, suicide=suicide))
        assert found == expected, reference.draw(position)
        alive += "1" in expected or "2" in expected
        area = map_of(position, run_map(position, area_map, suicide=suicide))
        assert area == oracle_area(position, suicide=suicide), reference.draw(position)
        stones = map_of(position, board_of(position).color)
        kept = [stone if owner in ("0", stone) else "0" for stone, owner in zip(stones, expected, strict=True)]
        assert map_of(position, run_map(position, alive_colors, suicide=suicide)) == "".join(kept)
    assert alive > 10
