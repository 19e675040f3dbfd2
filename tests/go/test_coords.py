"""Coordinates: the table in the docstring, round trips over every board size, and the words of the errors."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import meaning, texts

from gtp_engine.base.errors import InvalidVertexError
from gtp_engine.go import coords
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE, NULL_POINT, PASS

SIZES = range(MIN_SIZE, MAX_SIZE + 1)
ALL_BOARDS = [(width, height) for width in SIZES for height in SIZES]
sizes = st.integers(MIN_SIZE, MAX_SIZE)


def test_docstring_table_of_the_corners_is_true() -> None:
    lines = [re.split(r"  +", line.strip()) for line in (coords.__doc__ or "").splitlines()]
    table = {cells[0]: cells[1:5] for cells in lines if len(cells) == 7}
    corners = [coords.parse_vertex(vertex, width=19, height=19) for vertex in table["vertex"]]
    assert [f"{point:d}" for point in corners] == table["point"]
    assert [str(coords.point_to_xy(point, width=19)) for point in corners] == [f"({xy})" for xy in table["x, y"]]
    assert [str(coords.board_points(19, 19).index(point)) for point in corners] == table["action"]


def test_round_trips_on_every_point_of_every_board() -> None:
    for width, height in ALL_BOARDS:
        points = coords.board_points(width, height)
        assert len(set(points)) == width * height
        assert PASS not in points
        assert NULL_POINT not in points
        for action, point in enumerate(points):
            x, y = coords.point_to_xy(point, width=width)
            assert (x, y) == (action % width, action // width)
            assert coords.xy_to_point(x, y, width=width) == point
            vertex = coords.format_vertex(point, width=width, height=height)
            assert coords.parse_vertex(vertex, width=width, height=height) == point
            assert coords.parse_vertex(vertex.lower(), width=width, height=height) == point


@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 25), (25, 2), (5, 9), (19, 19), (25, 25)])
def test_only_the_board_is_on_the_board(width: int, height: int) -> None:
    length = (width + 1) * (height + 2) + 1
    on_board = {point for point in range(-50, length + 50) if coords.is_on_board(point, width=width, height=height)}
    assert on_board == set(coords.board_points(width, height))


def color(text: str) -> str:
    return coords.format_color(coords.parse_color(text))


def vertex_on(width: int, height: int) -> Callable[[str], str]:
    size = {"width": width, "height": height}
    return lambda text: coords.format_vertex(coords.parse_vertex(text, **size), **size)


@pytest.mark.parametrize(("kind", "text", "expected"), texts("coords"))
def test_texts(kind: str, text: str, expected: str) -> None:
    parse = color if kind == "color" else vertex_on(*map(int, kind.removeprefix("vertex on ").split("x")))
    assert meaning(parse, text) == expected


@given(text=st.text(), width=sizes, height=sizes)
def test_any_text_is_a_vertex_or_an_error_of_one_printable_line(text: str, width: int, height: int) -> None:
    try:
        point = coords.parse_vertex(text, width=width, height=height)
    except InvalidVertexError as error:
        assert str(error).isprintable()
    else:
        assert point == PASS or coords.is_on_board(point, width=width, height=height)


@given(point=st.integers(-2000, 2000), width=sizes, height=sizes)
def test_points_off_the_board_have_no_name(point: int, width: int, height: int) -> None:
    if point == PASS or coords.is_on_board(point, width=width, height=height):
        return
    with pytest.raises(InvalidVertexError):
        coords.format_vertex(point, width=width, height=height)
