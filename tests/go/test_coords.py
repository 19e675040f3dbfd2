"""Coordinates: the table in the docstring, round trips over every board size, and the words of the errors."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine.base.errors import InvalidVertexError
from gtp_engine.go import coords
from gtp_engine.go.constants import BLACK, MAX_SIZE, MIN_SIZE, NULL_POINT, PASS, WHITE

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


@pytest.mark.parametrize(
    ("text", "color"),
    [("b", BLACK), ("B", BLACK), ("Black", BLACK), ("BLACK", BLACK), ("w", WHITE), ("W", WHITE), ("wHiTe", WHITE)],
)
def test_words_for_colors(text: str, color: int) -> None:
    assert coords.parse_color(text) == coords.parse_color(coords.format_color(color)) == color


@pytest.mark.parametrize(("text", "same"), [("PaSs", "pass"), ("D04", "D4"), ("d4", "D4")])
def test_vertices_written_otherwise(text: str, same: str) -> None:
    point = coords.parse_vertex(text, width=19, height=19)
    assert point == (PASS if same == "pass" else coords.parse_vertex(same, width=19, height=19))
    assert coords.format_vertex(point, width=19, height=19) == same


@pytest.mark.parametrize(
    ("text", "width", "height", "message"),
    [
        ("Z99", 9, 9, "invalid coordinate 'Z99': the board is 9x9 (A1 to J9)"),
        ("A10", 9, 9, "invalid coordinate 'A10': the board is 9x9 (A1 to J9)"),
        ("K1", 9, 9, "invalid coordinate 'K1': the board is 9x9 (A1 to J9)"),
        ("A0", 9, 9, "invalid coordinate 'A0': the board is 9x9 (A1 to J9)"),
        ("i5", 9, 9, "invalid coordinate 'i5': the board is 9x9 (A1 to J9), and no column is called I"),
        ("D5", 3, 25, "invalid coordinate 'D5': the board is 3x25 (A1 to C25)"),
        ("", 25, 25, "invalid coordinate '': the board is 25x25 (A1 to Z25)"),
    ],
)
def test_a_wrong_vertex_says_what_the_board_holds(text: str, width: int, height: int, message: str) -> None:
    with pytest.raises(InvalidVertexError) as caught:
        coords.parse_vertex(text, width=width, height=height)
    assert str(caught.value) == message


NEAR_MISSES = ["4D", "D", "16", "D4 ", " D4", "D 4", "D-4", "D+4", "D4.0", "D004", "DD4"]
NEAR_MISSES += ["D\u0664", "\uff244", "resign", "D4\n", "\0D4"]


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_near_misses_are_not_vertices(text: str) -> None:
    with pytest.raises(InvalidVertexError):
        coords.parse_vertex(text, width=19, height=19)


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
