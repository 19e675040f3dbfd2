"""The coordinate systems of the board and the conversions between them.

A board is `width` columns by `height` rows.  On 19x19 (stride = width + 1 = 20), and in general:

    =======  ========  =========  ========  =========  ==========================================  ============
    system   top left  top right  bot left  bot right  any point                                   pass
    =======  ========  =========  ========  =========  ==========================================  ============
    vertex   A19       T19        A1        T1         column letter (no I), row from the bottom   pass
    x, y     0, 0      18, 0      0, 18     18, 18     x from the left, y from the top             none
    point    21        39         381       399        (x + 1) + (y + 1) * stride                  PASS = 1
    action   0         18         342       360        y * width + x                               361 = w * h
    sgf      aa        sa         as        ss         letter of x, letter of y                    empty, or tt
    =======  ========  =========  ========  =========  ==========================================  ============

A vertex is text (GTP 2 draft, section 2.11); a point indexes the padded arrays of a board, which hold
(width + 1) * (height + 2) + 1 entries with a wall in row 0, in the last row and in column 0; an action indexes a
policy.  SGF's letters are read and written in `gtp_engine.sgf`.  The module is pure Python, without numpy, because
the GTP server reads vertices before the compiled part of the engine is loaded.
"""

import re
from functools import cache
from operator import index
from typing import Final

from gtp_engine.arguments import checked
from gtp_engine.errors import InvalidColorError, InvalidSizeError, InvalidVertexError, problem, shown
from gtp_engine.go.constants import BLACK, MAX_SIZE, MIN_SIZE, PASS, WHITE

COLUMN_LETTERS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""The letter of each column from the left; there is no I, which looks like 1."""

_VERTEX: Final = re.compile(r"([A-Za-z])([0-9]{1,2})")
_COLORS: Final = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}
_COLOR_NAMES: Final = {BLACK: "black", WHITE: "white"}


def xy_to_point(x: int, y: int, *, width: int) -> int:
    """Return the point in column `x` from the left, row `y` from the top, both from 0; ranges are not checked."""
    return (x + 1) + (y + 1) * (width + 1)


def point_to_xy(point: int, *, width: int) -> tuple[int, int]:
    """Return (x, y) of `point`, which must be on the board (not checked)."""
    return point % (width + 1) - 1, point // (width + 1) - 1


def is_on_board(point: int, *, width: int, height: int) -> bool:
    """Return whether `point` is one of the width * height points: not the pass, a wall, or outside the array."""
    x, y = point_to_xy(point, width=width)
    return 0 <= x < width and 0 <= y < height


def neighbors(point: int, *, width: int) -> tuple[int, int, int, int]:
    """Return the points left, right, above and below of `point`; some of them are walls if it is at the edge."""
    return point - 1, point + 1, point - width - 1, point + width + 1


@cache
def board_points(width: int, height: int) -> tuple[int, ...]:
    """Return all points of the board row by row from the top left: entry number `action` is the action's point."""
    return tuple(xy_to_point(x, y, width=width) for y in range(height) for x in range(width))


@checked
def parse_vertex(text: str, *, width: int, height: int) -> int:
    """Return the point of a vertex ("Q16", "q16"), or PASS for "pass" in any case.

    Raises InvalidVertexError with the text and the size of the board, and InvalidSizeError.
    """
    check_size(width, height)
    if text.lower() == "pass":
        return PASS
    match = _VERTEX.fullmatch(text)
    if match:
        x = COLUMN_LETTERS.find(match[1].upper())
        y = height - int(match[2])
        if 0 <= x < width and 0 <= y < height:
            return xy_to_point(x, y, width=width)
    no_i = ", and no column is called I" if match and match[1].upper() == "I" else ""
    raise InvalidVertexError(f"invalid coordinate {shown(text)}: {_board_span(width, height)}{no_i}")


@checked
def format_vertex(point: int, *, width: int, height: int) -> str:
    """Return the vertex of `point` ("Q16"), or "pass"; raises InvalidVertexError when it is not on the board."""
    check_size(width, height)
    if point == PASS:
        return "pass"
    _check_on_board(point, width=width, height=height)
    x, y = point_to_xy(point, width=width)
    return f"{COLUMN_LETTERS[x]}{height - y}"


def parse_color(text: str) -> int:
    """Return BLACK for "b" or "black", WHITE for "w" or "white", in any case; else raises InvalidColorError."""
    color = _COLORS.get(text.lower())
    if color is None:
        raise InvalidColorError(problem(f"invalid color {shown(text)}", expected="b, black, w or white"))
    return color


def to_color(color: int | str) -> int:
    """Return BLACK or WHITE, given as such or as the text that `parse_color` reads; raises InvalidColorError."""
    if isinstance(color, str):
        return parse_color(color)
    check_color(color)
    return int(color)


def to_point(vertex: int | str, *, width: int, height: int) -> int:
    """Return a point, given as such (its range is not checked) or as a vertex; raises InvalidVertexError."""
    if isinstance(vertex, str):
        return parse_vertex(vertex, width=width, height=height)
    try:
        return index(vertex)
    except TypeError:
        raise InvalidVertexError(problem(f"point {shown(vertex)}", expected="a point, or a vertex as Q16")) from None


def to_stone(vertex: int | str, *, width: int, height: int) -> int:
    """Return a point of the board, given as such or as a vertex; raises InvalidVertexError, also for a pass."""
    point = to_point(vertex, width=width, height=height)
    _check_on_board(point, width=width, height=height)
    return point


def check_color(color: int) -> None:
    """Raise InvalidColorError unless `color` is BLACK or WHITE."""
    try:
        if color in _COLOR_NAMES:
            return
    except TypeError:  # a list or so
        pass
    raise InvalidColorError(problem(f"invalid color {shown(color)}", expected=f"{BLACK} (black) or {WHITE} (white)"))


def format_color(color: int) -> str:
    """Return "black" or "white"; raises InvalidColorError for any other number."""
    check_color(color)
    return _COLOR_NAMES[color]


def _check_on_board(point: int, *, width: int, height: int) -> None:
    if not is_on_board(point, width=width, height=height):
        raise InvalidVertexError(f"invalid point {shown(point)}: {_board_span(width, height)}")


def check_size(width: int, height: int) -> None:
    """Raise InvalidSizeError unless a board can have this width and height."""
    for size in (width, height):
        if not MIN_SIZE <= size <= MAX_SIZE:
            raise InvalidSizeError(problem(f"board size {shown(size)}", expected=f"{MIN_SIZE} to {MAX_SIZE}"))


def _board_span(width: int, height: int) -> str:
    return f"the board is {width}x{height} (A1 to {COLUMN_LETTERS[width - 1]}{height})"
