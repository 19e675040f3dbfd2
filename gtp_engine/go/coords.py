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
policy.  `Color`, `Point` and `Move` are what the public interface takes and returns: numbers that print as text.
`BLACK` and the like are here such values; kernels take the plain numbers of `constants`.
"""

import re
from functools import cache
from numbers import Integral
from operator import index
from typing import ClassVar, Final, NamedTuple

from gtp_engine.base.errors import (
    ArgumentError,
    InvalidColorError,
    InvalidSizeError,
    InvalidVertexError,
    of_kind,
    shown,
)
from gtp_engine.go import constants
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE, NULL_POINT

__all__ = ["BLACK", "EMPTY", "PASS", "WHITE", "Color", "Move", "Point", "format_vertex", "parse_vertex"]

COLUMN_LETTERS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""The letter of each column from the left; there is no I, which looks like 1."""

_SGF_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"

_INTEGER_FORMATS: Final = frozenset("bcdoxXn")
"""Last letters of format specifications that are for integers."""

_VERTEX: Final = re.compile(r"([A-Za-z])([0-9]{1,2})")


class Color(int):
    """EMPTY, BLACK or WHITE, as a number that prints as a word; equal to the constants of these names.

    `Color("b")`, `Color("white")` and `Color(2)` are read; raises InvalidColorError.  No enumeration, because kernels
    would be compiled again for its values.

    >>> Color("w").opponent, Color.WHITE.letter, f"{Color.WHITE:d} {Color.WHITE}"
    (BLACK, 'W', '2 white')
    """

    EMPTY: ClassVar["Color"]
    BLACK: ClassVar["Color"]
    WHITE: ClassVar["Color"]

    def __new__(cls, value: int | str) -> "Color":
        """Return one of the three colours."""
        is_number = isinstance(value, Integral) and not isinstance(value, bool)  # False is python-chess's Black
        is_empty = value.lower() == "empty" if isinstance(value, str) else is_number and value == EMPTY
        return EMPTY if is_empty else to_color(value)

    @property
    def opponent(self) -> "Color":
        """The other player's colour; EMPTY for EMPTY."""
        return COLORS[(BLACK + WHITE - self) % 3]

    @property
    def letter(self) -> str:
        """B, W, or E for EMPTY: as SGF and results name the colours."""
        return repr(self)[0]

    def __repr__(self) -> str:
        return ("EMPTY", "BLACK", "WHITE")[self]

    def __str__(self) -> str:
        return repr(self).lower()

    def __format__(self, spec: str) -> str:
        """Format the word, or the number for a `spec` of integers such as "d"."""
        return _formatted(self, spec)

    def __reduce__(self) -> str:
        return repr(self)


COLORS: Final = (
    int.__new__(Color, constants.EMPTY),
    int.__new__(Color, constants.BLACK),
    int.__new__(Color, constants.WHITE),
)
"""The colours by their numbers."""
Color.EMPTY, Color.BLACK, Color.WHITE = COLORS

EMPTY: Final = Color.EMPTY
"""The colour of a point without a stone."""
BLACK: Final = Color.BLACK
"""The side that plays first without a handicap."""
WHITE: Final = Color.WHITE
"""The other side."""

_COLORS: Final = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


class Point(int):
    """A point of a board of `width` by `height`, or the pass, as its number, which prints as a vertex.

    `value` is a vertex such as "E5", or the point's number.  The height defaults to the width.  Points are equal if
    their numbers are; what takes a point of a board refuses one of another size.  There is one pass, `PASS`, of every
    board.  Raises InvalidVertexError and InvalidSizeError.

    >>> Point("E5", 9), Point("E5", 9).xy, Point("E5", 9).sgf, Point.from_sgf("ee", 9)
    (E5, (4, 4), 'ee', E5)
    >>> Point("A1", 9).neighbors
    [B1, A2]
    """

    vertex: str
    """The point as text such as "E5", or "pass"."""
    width: int
    height: int
    """The size of its board; 0 for the pass."""

    def __new__(cls, value: int | str, width: int = 19, height: int | None = None) -> "Point":
        """Return the point of that board."""
        return to_point(value, width=width, height=width if height is None else height)

    @classmethod
    def _made(cls, number: int, vertex: str, width: int, height: int) -> "Point":
        point = int.__new__(cls, number)
        point.vertex, point.width, point.height = vertex, width, height
        return point

    @classmethod
    def from_xy(cls, x: int, y: int, width: int = 19, height: int | None = None) -> "Point":
        """Return the point in column `x` from the left and row `y` from the top, both from 0."""
        height = width if height is None else height
        check_size(width, height)
        if x not in range(width) or y not in range(height):
            raise InvalidVertexError(f"invalid point at x {shown(x)}, y {shown(y)}: {_board_span(width, height)}")
        return points_by_number(width, height)[xy_to_point(x, y, width=width)]

    @classmethod
    def from_sgf(cls, text: str, width: int = 19, height: int | None = None) -> "Point":
        """Return the point of SGF's two letters, such as "pd"; the pass for none, and for "tt" up to 19 by 19."""
        height = width if height is None else height
        check_size(width, height)
        if text == "" or (text == "tt" and max(width, height) <= 19):
            return PASS
        if not isinstance(text, str) or len(text) != 2 or not set(text) <= set(_SGF_LETTERS):
            raise InvalidVertexError(f"SGF point {shown(text)}", expected="two letters such as pd, or none")
        x, y = map(_SGF_LETTERS.index, text)
        return cls.from_xy(x, y, width, height)

    @property
    def xy(self) -> tuple[int, int]:
        """Column from the left and row from the top, both from 0; raises InvalidVertexError for the pass."""
        if self == PASS:
            raise InvalidVertexError("the pass has no column and row")
        return point_to_xy(int(self), width=self.width)

    @property
    def sgf(self) -> str:
        """SGF's two letters, empty for the pass."""
        return "" if self == PASS else "".join(_SGF_LETTERS[each] for each in self.xy)

    def transformed(self, symmetry: int) -> "Point":
        """Return where a symmetry takes the point, as `Game.transformed` takes its board; raises ArgumentError."""
        return self if self == PASS else transformed_points(symmetry, self.width, self.height)[self]

    @property
    def neighbors(self) -> "list[Point]":
        """The points left, right, above and below, as far as they are on its board; none of the pass."""
        width, height = self.width, self.height
        around = () if self == PASS else neighbors(self, width=width)
        return [Point(each, width, height) for each in around if is_on_board(each, width=width, height=height)]

    @property
    def is_pass(self) -> bool:
        """Whether this is the pass."""
        return self == PASS

    def __repr__(self) -> str:
        return self.vertex

    def __format__(self, spec: str) -> str:
        """Format the vertex, or the number for a `spec` of integers such as "d"."""
        return _formatted(self, spec)

    def __reduce__(self) -> str | tuple[object, ...]:
        return "PASS" if self == PASS else (Point, (int(self), self.width, self.height))


PASS: Final = Point._made(constants.PASS, "pass", 0, 0)
"""The pass, as a point; lies in the padding of every board."""


class Move(NamedTuple):
    """A stone of `color` (BLACK or WHITE) on `point`, or a pass of that colour (`point == PASS`).

    >>> print(Move(BLACK, PASS))
    black pass
    """

    color: Color
    point: Point

    def __str__(self) -> str:
        return f"{self.color} {self.point}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


AnyMove = tuple[int | str, int | str]
"""A colour and a point, either perhaps as text or as a plain number: a `Move`, too."""


def _formatted(value: Color | Point, spec: str) -> str:
    return format(int(value) if spec[-1:] in _INTEGER_FORMATS else str(value), spec)


@cache
def points_by_number(width: int, height: int) -> dict[int, Point]:
    """Return the points of a board, and the pass, by number; raises InvalidSizeError."""
    check_size(width, height)
    points: dict[int, Point] = {PASS: PASS}
    for y in range(height):
        for x in range(width):
            number = xy_to_point(x, y, width=width)
            points[number] = Point._made(number, f"{COLUMN_LETTERS[x]}{height - y}", width, height)
    return points


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


def parse_vertex(text: str, *, width: int, height: int) -> Point:
    """Return the point of a vertex ("Q16", "q16"), or PASS for "pass" in any case.

    Raises InvalidVertexError with the text and the size of the board, and InvalidSizeError.

    >>> parse_vertex("q16", width=19, height=19)
    Q16
    """
    if of_kind(text, str, "vertex").lower() == "pass":
        check_size(width, height)
        return PASS
    match, points = _VERTEX.fullmatch(text), points_by_number(width, height)
    if match:
        x = COLUMN_LETTERS.find(match[1].upper())
        y = height - int(match[2])
        if 0 <= x < width and 0 <= y < height:
            return points[xy_to_point(x, y, width=width)]
    no_i = ", and no column is called I" if match and match[1].upper() == "I" else ""
    raise InvalidVertexError(f"invalid coordinate {shown(text)}: {_board_span(width, height)}{no_i}")


def format_vertex(point: int, *, width: int, height: int) -> str:
    """Return the vertex of `point` ("Q16"), or "pass"; raises InvalidVertexError when it is not on the board.

    >>> format_vertex(Point("Q16"), width=19, height=19)
    'Q16'
    """
    return to_point(point, width=width, height=height).vertex


def parse_color(text: str) -> Color:
    """Return BLACK for "b" or "black", WHITE for "w" or "white", in any case; else raises InvalidColorError."""
    color = _COLORS.get(text.lower())
    if color is None:
        raise InvalidColorError(f"invalid color {shown(text)}", expected="b, black, w or white")
    return color


def is_color(text: str) -> bool:
    """Return whether `parse_color` reads the text."""
    return text.lower() in _COLORS


def to_color(color: int | str) -> Color:
    """Return BLACK or WHITE, given as such or as the text that `parse_color` reads; raises InvalidColorError."""
    if isinstance(color, str):
        return parse_color(color)
    try:
        if color in (BLACK, WHITE) and not isinstance(color, bool | Point):  # True is python-chess's White
            return COLORS[color]
    except (TypeError, ValueError):  # 1.0; an array
        pass
    raise InvalidColorError(f"invalid color {shown(color)}", expected=f"{BLACK:d} (black) or {WHITE:d} (white)")


def to_point(vertex: int | str, *, width: int, height: int) -> Point:
    """Return a point of the board, or the pass, given as such, by its number or as a vertex.

    Raises InvalidVertexError, also for a `Point` of a board of another size.
    """
    if isinstance(vertex, Point):
        if vertex != PASS and (vertex.width, vertex.height) != (width, height):
            size = f"{vertex.width}x{vertex.height}"
            raise InvalidVertexError(f"point {vertex} of a board of {size}: {_board_span(width, height)}")
        return vertex
    if isinstance(vertex, str):
        return parse_vertex(vertex, width=width, height=height)
    try:
        point = points_by_number(width, height).get(NULL_POINT if isinstance(vertex, bool | Color) else index(vertex))
    except TypeError:
        raise InvalidVertexError(f"point {shown(vertex)}", expected="a point, or a vertex as Q16") from None
    if point is None:
        raise InvalidVertexError(f"invalid point {shown(vertex)}: {_board_span(width, height)}")
    return point


def to_stone(vertex: int | str, *, width: int, height: int) -> Point:
    """Return a point of the board, given as such or as a vertex; raises InvalidVertexError, also for a pass."""
    point = to_point(vertex, width=width, height=height)
    if point == PASS:
        raise InvalidVertexError(f"invalid point {point}: {_board_span(width, height)}")
    return point


def format_color(color: int) -> str:
    """Return "black" or "white"; raises InvalidColorError for any other number."""
    return str(to_color(color))


def check_size(width: int, height: int) -> None:
    """Raise InvalidSizeError unless a board can have this width and height."""
    for size in (width, height):
        if not isinstance(size, Integral) or not MIN_SIZE <= size <= MAX_SIZE:
            raise InvalidSizeError(f"board size {shown(size)}", expected=f"{MIN_SIZE} to {MAX_SIZE}")


def _board_span(width: int, height: int) -> str:
    return f"the board is {width}x{height} (A1 to {COLUMN_LETTERS[width - 1]}{height})"


# --- the eight orientations of a board, numbered as in KataGo (`nn.symmetry` has them in words) ---

MIRROR_ROWS: Final = 1
MIRROR_COLUMNS: Final = 2
TRANSPOSE: Final = 4
"""The bits of a symmetry's number: y is mirrored, x is mirrored, then both change places."""


def transform(x: int, y: int, symmetry: int, *, width: int, height: int) -> tuple[int, int]:
    """Return the column and row to which the symmetry takes column `x`, row `y` of the board."""
    if symmetry & MIRROR_COLUMNS:
        x = width - 1 - x
    if symmetry & MIRROR_ROWS:
        y = height - 1 - y
    return (y, x) if symmetry & TRANSPOSE else (x, y)


@cache
def transformed_points(symmetry: int, width: int, height: int) -> dict[int, Point]:
    """Return where a symmetry takes the points of a board, and the pass: on a board of H by W if it transposes.

    Raises ArgumentError for another number than 0 to 7.
    """
    if symmetry not in range(8):
        raise ArgumentError(f"symmetry {shown(symmetry)}", expected="a number from 0 to 7")
    new_width, new_height = (height, width) if symmetry & TRANSPOSE else (width, height)
    moved: dict[int, Point] = {PASS: points_by_number(new_width, new_height)[PASS]}
    for point in board_points(width, height):
        x, y = transform(*point_to_xy(point, width=width), symmetry, width=width, height=height)
        moved[point] = Point.from_xy(x, y, new_width, new_height)
    return moved
