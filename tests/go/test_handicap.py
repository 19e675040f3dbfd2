"""Handicap stones: the tables of the GTP draft, rectangles, and a free choice that never falls short."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine.base.errors import HandicapError
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE
from gtp_engine.go.coords import board_points, format_vertex, is_on_board, point_to_xy
from gtp_engine.go.handicap import fixed_handicap_points, free_handicap_points, max_fixed_handicap, star_points

SIZES = (2, 3, 6, 7, 8, 9, 12, 13, 14, 18, 19, 24, 25)


def vertices(points: tuple[int, ...], width: int, height: int) -> str:
    return " ".join(format_vertex(point, width=width, height=height) for point in points)


@pytest.mark.parametrize(
    ("width", "height", "n", "expected"),
    [
        (19, 19, 2, "D4 Q16"),
        (19, 19, 3, "D4 Q16 D16"),
        (19, 19, 4, "D4 Q16 D16 Q4"),
        (19, 19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
        (19, 19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
        (19, 19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
        (13, 13, 9, "D4 K10 D10 K4 D7 K7 G4 G10 G7"),
        (12, 12, 4, "C3 K10 C10 K3"),
        (11, 11, 5, "C3 J9 C9 J3 F6"),
        (9, 9, 9, "C3 G7 C7 G3 C5 G5 E3 E7 E5"),
        (8, 8, 4, "C3 F6 C6 F3"),
        (7, 7, 4, "C3 E5 C5 E3"),
        (18, 18, 4, "D4 P15 D15 P4"),
        (25, 25, 5, "D4 W22 D22 W4 N13"),
        (9, 19, 9, "C4 G16 C16 G4 C10 G10 E4 E16 E10"),
        (19, 9, 6, "D3 Q7 D7 Q3 D5 Q5"),
        (7, 19, 4, "C4 E16 C16 E4"),
    ],
)
def test_fixed_handicap(width: int, height: int, n: int, expected: str) -> None:
    assert vertices(fixed_handicap_points(n, width, height), width, height) == expected


@pytest.mark.parametrize(
    ("maximum", "boards"),
    [
        (0, "2x2 6x6 6x19 19x6"),
        (4, "7x7 7x19 8x8 9x10 18x18 24x25"),
        (9, "9x9 13x9 19x19 25x25"),
    ],
)
def test_largest_fixed_handicap(maximum: int, boards: str) -> None:
    for board in boards.split():
        assert max_fixed_handicap(*map(int, board.split("x"))) == maximum, board


def test_fixed_handicaps_are_distinct_on_the_board_and_symmetric() -> None:
    for width in SIZES:
        for height in SIZES:
            for n in range(2, max_fixed_handicap(width, height) + 1):
                points = fixed_handicap_points(n, width, height)
                assert len(set(points)) == n
                assert all(is_on_board(point, width=width, height=height) for point in points)
                if n % 2 == 0:
                    turned = {(width - 1 - x, height - 1 - y) for x, y in xy_set(points, width)}
                    assert turned == xy_set(points, width)


def xy_set(points: tuple[int, ...], width: int) -> set[tuple[int, int]]:
    return {point_to_xy(point, width=width) for point in points}


def test_free_handicap_starts_with_the_fixed_one() -> None:
    for width in SIZES:
        for height in SIZES:
            maximum = max_fixed_handicap(width, height)
            for n in range(2, maximum + 1):
                assert free_handicap_points(n, width, height) == fixed_handicap_points(n, width, height)
            if maximum and maximum < width * height - 1:
                more = free_handicap_points(maximum + 1, width, height)
                assert set(more) > set(fixed_handicap_points(maximum, width, height))


@given(data=st.data(), width=st.integers(MIN_SIZE, MAX_SIZE), height=st.integers(MIN_SIZE, MAX_SIZE))
def test_free_handicap_on_any_board(data: st.DataObject, width: int, height: int) -> None:
    n = data.draw(st.integers(2, width * height - 1))
    points = free_handicap_points(n, width, height)
    assert len(points) == len(set(points)) == n
    assert set(points) < set(board_points(width, height))
    assert points == free_handicap_points(n, width, height)
    assert all_chains_have_a_liberty(set(points), width=width, height=height)


def all_chains_have_a_liberty(stones: set[int], *, width: int, height: int) -> bool:
    board = set(board_points(width, height))
    unseen = set(stones)
    while unseen:
        chain, frontier, free = set[int](), [unseen.pop()], False
        while frontier:
            point = frontier.pop()
            chain.add(point)
            around = {point - 1, point + 1, point - width - 1, point + width + 1} & board
            free = free or bool(around - stones)
            frontier.extend((around & stones) - chain)
        unseen -= chain
        if not free:
            return False
    return True


@pytest.mark.parametrize(
    ("n", "size", "last"),
    [(13, 19, "K10 C3 R17 C17 R3"), (5, 14, "D4 L11 D11 L4 H7")],
    ids=["3-3 points", "the centre of an even board"],
)
def test_large_free_handicaps(n: int, size: int, last: str) -> None:
    assert vertices(free_handicap_points(n, size, size), size, size).endswith(last)


@pytest.mark.parametrize(
    ("place", "n", "width", "height", "message"),
    [
        (fixed_handicap_points, 1, 19, 19, "invalid fixed handicap 1: expected 2 to 9 stones on 19x19"),
        (fixed_handicap_points, 10, 19, 19, "invalid fixed handicap 10: expected 2 to 9 stones on 19x19"),
        (fixed_handicap_points, 5, 8, 8, "invalid fixed handicap 5: expected 2 to 4 stones on 8x8"),
        (fixed_handicap_points, -3, 7, 19, "invalid fixed handicap -3: expected 2 to 4 stones on 7x19"),
        (fixed_handicap_points, 2, 5, 5, "invalid handicap: 5x5 is too small for a fixed handicap (7x7 or larger)"),
        (free_handicap_points, 1, 9, 9, "invalid handicap 1: expected 2 to 80 stones on 9x9"),
        (free_handicap_points, 81, 9, 9, "invalid handicap 81: expected 2 to 80 stones on 9x9"),
        (free_handicap_points, 10**30, 9, 9, f"invalid handicap {10**30}: expected 2 to 80 stones on 9x9"),
    ],
)
def test_wrong_handicaps(place: Callable[..., object], n: int, width: int, height: int, message: str) -> None:
    with pytest.raises(HandicapError, match=f"^{re.escape(message)}$"):
        place(n, width, height)


def test_the_last_two_free_points_are_two_eyes() -> None:
    for width in SIZES:
        for height in {2, 3, 8, width, 25}:
            empty = set(board_points(width, height)) - set(free_handicap_points(width * height - 2, width, height))
            (x1, y1), (x2, y2) = xy_set(tuple(empty), width)
            assert (abs(x1 - x2), abs(y1 - y2)) == (width - 1, height - 1)


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (19, 19, "D16 K16 Q16 D10 K10 Q10 D4 K4 Q4"),
        (13, 13, "D10 G10 K10 D7 G7 K7 D4 G4 K4"),
        (9, 9, "C7 G7 E5 C3 G3"),
        (8, 8, "C6 F6 C3 F3"),
        (9, 13, "C10 G10 E7 C4 G4"),
        (6, 19, ""),
    ],
)
def test_star_points(width: int, height: int, expected: str) -> None:
    assert vertices(star_points(width, height), width, height) == expected
