"""The kernel that counts taxes agrees with the plain Python of `scoring`, by hand and in random positions."""

import random

import pytest
import reference
from board_helpers import SEKI, game_of, random_position, score_area

from gtp_engine.compiled.arrays import zeros
from gtp_engine.go.area import TaxWork, tax_balance
from gtp_engine.go.board import STRIDE, Board
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.rules import Rules, Tax

TWO_GROUPS_AGAINST_ONE = """
    . X O . O X .
    X X O O O X X
    O O O . O O O
    . . O O O . ."""
"""Black's groups have one eye point each, White's has two."""

TWO_POINTS_THAT_ARE_ONE_EYE = """
    . . X . O . . O
    X X X O O O O O
    O O O X X X X X
    . . O X . X . X"""


def expected(board: Board, tax: Tax) -> int:
    """Return the balance by the scoring in plain Python."""
    without, taxed = (score_area(board, Rules(tax=each)) for each in (Tax.NONE, tax))
    return (without[BLACK] - taxed[BLACK]) - (without[WHITE] - taxed[WHITE])


def counted(board: Board, tax: Tax) -> int:
    return tax_balance(board.color, int(board.info[STRIDE]), tax is Tax.ALL, zeros(TaxWork, n=board.color.size))


@pytest.mark.parametrize("diagram", [TWO_GROUPS_AGAINST_ONE, SEKI, TWO_POINTS_THAT_ARE_ONE_EYE])
def test_taxes_that_are_equal_for_both_sides(diagram: str) -> None:
    board = game_of(reference.parse(diagram)).board
    for tax in (Tax.SEKI, Tax.ALL):
        assert expected(board, tax) == counted(board, tax) == 0


@pytest.mark.parametrize("size", [(2, 2), (4, 4), (5, 7), (9, 9), (19, 19)], ids=str)
def test_the_tax_of_random_positions_is_that_of_the_scoring(size: tuple[int, int]) -> None:
    rng = random.Random(f"tax {size}")
    seen = set()
    for _ in range(40):
        board = game_of(random_position(rng, *size, rng.choice((1, 2, 3)) * size[0] * size[1])).board
        for tax in (Tax.SEKI, Tax.ALL):
            balance = counted(board, tax)
            assert balance == expected(board, tax)
            seen.add((tax, balance != 0))
    assert size == (2, 2) or len(seen) == 4, "with and without tax"
