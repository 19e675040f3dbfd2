"""Area under group tax, and territory after clean-up: an oracle on random positions."""

import random

import numpy as np
import pytest
import reference
from board_helpers import COLOR, board_of, map_of, points_of, random_position

from gtp_engine.compiled.arrays import zeros
from gtp_engine.go.area import cleaned_up_map, taxed_area_map
from gtp_engine.go.benson import LifeWork
from gtp_engine.go.constants import EMPTY


def taxed_area(position: reference.Position, *, suicide: bool = False) -> tuple[int, str]:
    """Return the kernel's balance of groups and its map as rows of digits."""
    board = board_of(position)
    before = board.storage.tobytes()
    area, out = (np.full(board.color.size, 7, dtype=np.int32) for _ in range(2))
    balance = taxed_area_map(board, suicide, zeros(LifeWork, n=out.size), area, out)
    assert board.storage.tobytes() == before
    return balance, map_of(position, out)


def oracle(position: reference.Position, *, suicide: bool) -> tuple[int, str]:
    """Return the same from KataGo's description, by sets."""
    owner, pieces = reference.independent_pieces(position, suicide=suicide)
    taxed = [o if o == c and o in COLOR else "." for o, c in zip(owner, position.cells, strict=True)]
    return digits_of(position, taxed, pieces)


def oracle_after_cleanup(
    position: reference.Position, start: str, *, keeps_territory: bool, suicide: bool
) -> tuple[int, str]:
    """Return the same for the end of the second clean-up phase, which began with the stones `start`."""
    owner, pieces = reference.independent_pieces(position, suicide=suicide)
    owners = [
        o if keeps_territory and o != c else c if c == s else "."
        for o, c, s in zip(owner, position.cells, start, strict=True)
    ]
    return digits_of(position, owners, pieces)


def digits_of(position: reference.Position, owners: list[str], pieces: list[tuple[str, set[int]]]) -> tuple[int, str]:
    """Return the balance of pieces, and owners to which the pieces are added as rows of digits."""
    for color, piece in pieces:
        for p in piece:
            owners[p] = color
    digits = "".join(str(COLOR.get(o, EMPTY)) for o in owners)
    balance = sum(1 if color == "X" else -1 for color, _ in pieces)
    return balance, reference.draw(position._replace(cells=digits))


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("size", [(2, 2), (3, 3), (4, 3), (5, 5), (7, 6), (2, 9), (9, 9)])
def test_random_positions_agree_with_the_oracle(size: tuple[int, int], suicide: bool):
    rng = random.Random(f"tax {size} {suicide}")
    balances = set()
    for _ in range(1000 // (size[0] * size[1]) + 15):
        position = random_position(rng, *size, rng.choice((1, 2, 4)) * size[0] * size[1])
        expected = oracle(position, suicide=suicide)
        assert taxed_area(position, suicide=suicide) == expected, reference.draw(position)
        balances.add(expected[0])
    assert len(balances) > 1


@pytest.mark.parametrize("keeps_territory", [False, True])
@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("size", [(3, 3), (5, 5), (7, 6), (9, 9)])
def test_territory_after_cleanup_agrees_with_the_oracle(size: tuple[int, int], suicide: bool, keeps_territory: bool):
    rng = random.Random(f"cleanup {size} {suicide}")
    maps = set()
    for _ in range(50):
        position = random_position(rng, *size, rng.choice((1, 2, 4)) * size[0] * size[1])
        start = "".join(rng.choice((cell, "X", "O", ".")) for cell in position.cells)
        board = board_of(position)
        area, out = (np.full(board.color.size, 7, dtype=np.int32) for _ in range(2))
        colors = np.zeros(board.color.size, dtype=np.int8)
        colors[list(points_of(position))] = [COLOR.get(cell, EMPTY) for cell in start]
        balance = cleaned_up_map(board, colors, keeps_territory, suicide, zeros(LifeWork, n=out.size), area, out)
        expected = oracle_after_cleanup(position, start, keeps_territory=keeps_territory, suicide=suicide)
        assert (balance, map_of(position, out)) == expected, (reference.draw(position), start)
        maps.add(expected[1])
    assert len(maps) > 20
