"""Handicap stones: the tables of the GTP draft, rectangles, and a free choice that never falls short."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import meaning, texts

from gtp_engine.go.constants import BLACK, MAX_SIZE, MIN_SIZE
from gtp_engine.go.coords import Move, board_points, format_vertex, is_on_board, point_to_xy
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points, free_handicap_points, max_fixed_handicap, star_points

SIZES = (2, 3, 6, 7, 8, 9, 12, 13, 14, 18, 19, 24, 25)


def vertices(points: tuple[int, ...], width: int, height: int) -> str:
    return " ".join(format_vertex(point, width=width, height=height) for point in points)


PLACES: dict[str, Callable[[int, int, str], object]] = {
    "fixed handicap": lambda width, height, n: vertices(fixed_handicap_points(int(n), width, height), width, height),
    "free handicap": lambda width, height, n: vertices(free_handicap_points(int(n), width, height), width, height),
    "largest fixed handicap": lambda width, height, _: max_fixed_handicap(width, height),
    "star points": lambda width, height, _: vertices(star_points(width, height), width, height),
}


@pytest.mark.parametrize(("kind", "text", "expected"), texts("handicap"))
def test_places(kind: str, text: str, expected: object) -> None:
    board, _, stones = text.partition(": ")
    assert meaning(partial(PLACES[kind], *map(int, board.split("x"))), stones) == expected


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
    Game(width, height).set_up(Move(BLACK, point) for point in points)  # which refuses chains without a liberty


def test_the_last_two_free_points_are_two_eyes() -> None:
    for width in SIZES:
        for height in {2, 3, 8, width, 25}:
            empty = set(board_points(width, height)) - set(free_handicap_points(width * height - 2, width, height))
            (x1, y1), (x2, y2) = xy_set(tuple(empty), width)
            assert (abs(x1 - x2), abs(y1 - y2)) == (width - 1, height - 1)
