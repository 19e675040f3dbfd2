"""Area under group tax: drawn positions, and equality with an oracle on random ones.

Next to each diagram are the owners of its points: 1 Black, 2 White, 0 neither.
"""

import random

import numpy as np
import pytest
import reference
from board_helpers import COLOR, board_of, map_of, random_position

from gtp_engine.go.benson import new_life_work
from gtp_engine.go.constants import EMPTY
from gtp_engine.go.independent_life import taxed_area_map

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
    owner = list(reference.area(position))
    for color in "XO":
        for index in reference.pass_alive(position, color, suicide=suicide)[1]:
            owner[index] = color
    area = position._replace(cells="".join(owner))
    around = reference.neighbors(position.width, position.height)
    taxed = [o if o == c and o in COLOR else "." for o, c in zip(owner, position.cells, strict=True)]
    balance = 0
    for color in "XO":
        for piece, _ in reference.regions(area, color):
            in_atari = any(position.cells[p] == color and len(reference.liberties(position, p)) == 1 for p in piece)
            at_dame = any(position.cells[q] == owner[q] == reference.EMPTY for p in piece for q in around[p])
            if not in_atari and not at_dame:
                balance += 1 if color == "X" else -1
                for p in piece:
                    taxed[p] = color
    digits = "".join(str(COLOR.get(o, EMPTY)) for o in taxed)
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
