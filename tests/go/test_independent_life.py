"""Area under group tax, and territory after clean-up: drawn positions, and an oracle on random ones.

Next to each diagram are the owners of its points: 1 Black, 2 White, 0 neither.
"""

import random

import numpy as np
import pytest
import reference
from board_helpers import COLOR, board_of, map_of, points_of, random_position

from gtp_engine.go.area import cleaned_up_map, taxed_area_map
from gtp_engine.go.benson import new_life_work
from gtp_engine.go.constants import EMPTY

MAPS = {
    "two that need not each other": (
        0,
        """
        . X O .   1 1 2 2
        X X O O   1 1 2 2
        . X O .   1 1 2 2""",
    ),
    "seki: eyes of groups with common liberties do not count": (
        0,
        """
        . X . O .   0 1 0 2 0
        X X . O O   1 1 0 2 2
        X X . O O   1 1 0 2 2""",
    ),
    "stones in atari are taken for a seki": (
        0,
        """
        . X O O   0 1 2 2
        X O O O   1 2 2 2
        O O O .   2 2 2 0""",
    ),
    "dead stones belong to who encloses them": (
        -1,
        """
        . X O .   2 2 2 2
        X O O O   2 2 2 2
        O O . O   2 2 2 2""",
    ),
    "one group of Black's against two of White's": (
        -1,
        """
        . O X . X . X O .   2 2 1 1 1 1 1 2 2
        O O X X X X X O O   2 2 1 1 1 1 1 2 2
        . O X X X X X O .   2 2 1 1 1 1 1 2 2""",
    ),
    "a group in seki costs no tax, a living one beside it does": (
        1,
        """
        . X . O . O X .   0 1 0 2 0 2 1 1
        X X . O O O X X   1 1 0 2 2 2 1 1
        X X . O O O X .   1 1 0 2 2 2 1 1""",
    ),
    "a lone stone owns the board by area, and no more by itself": (
        1,
        """
        . . .   1 1 1
        . X .   1 1 1
        . . .   1 1 1""",
    ),
    "an empty board has no owner": (
        0,
        """
        . .   0 0
        . .   0 0""",
    ),
}


def taxed_area(position: reference.Position, *, suicide: bool = False) -> tuple[int, str]:
    """Return the kernel's balance of groups and its map as rows of digits."""
    board = board_of(position)
    before = board.storage.tobytes()
    area, out = (np.full(board.color.size, 7, dtype=np.int32) for _ in range(2))
    balance = taxed_area_map(board, suicide, new_life_work(position.width, position.height), area, out)
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


@pytest.mark.parametrize(("balance", "diagram"), MAPS.values(), ids=MAPS)
def test_map(balance: int, diagram: str):
    rows = [row.split("   ") for row in diagram.strip().split("\n")]
    drawn = [[part.replace(" ", "") for part in row if part.strip()] for row in rows]
    position = reference.parse("\n".join(stones for stones, _ in drawn))
    expected = "\n".join(owners for _, owners in drawn)
    assert oracle(position, suicide=False) == (balance, expected), "the oracle's view of the diagram"
    assert taxed_area(position) == (balance, expected)


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("size", [(2, 2), (3, 3), (4, 3), (5, 5), (7, 6), (2, 9), (9, 9), (13, 13)])
def test_random_positions_agree_with_the_oracle(size: tuple[int, int], suicide: bool):
    rng = random.Random(f"tax {size} {suicide}")
    balances = set()
    for _ in range(3000 // (size[0] * size[1]) + 30):
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
    for _ in range(100):
        position = random_position(rng, *size, rng.choice((1, 2, 4)) * size[0] * size[1])
        start = "".join(rng.choice((cell, "X", "O", ".")) for cell in position.cells)
        board = board_of(position)
        area, out = (np.full(board.color.size, 7, dtype=np.int32) for _ in range(2))
        colors = np.zeros(board.color.size, dtype=np.int8)
        colors[list(points_of(position))] = [COLOR.get(cell, EMPTY) for cell in start]
        balance = cleaned_up_map(board, colors, keeps_territory, suicide, new_life_work(*size), area, out)
        expected = oracle_after_cleanup(position, start, keeps_territory=keeps_territory, suicide=suicide)
        assert (balance, map_of(position, out)) == expected, (reference.draw(position), start)
        maps.add(expected[1])
    assert len(maps) > 20
