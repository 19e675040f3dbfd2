"""A board as records name its points: by two letters, the column from the left and the row from the top.

"aa" is the top left corner, on 19x19 the vertex A19; `Point.sgf` writes them.  All text here is already decoded and
without SGF's escapes.
"""

import contextlib
import functools
import re
from collections.abc import Callable, Sequence
from string import ascii_lowercase
from typing import Final

from gtp_engine.base.errors import InvalidVertexError, SgfError, shown
from gtp_engine.go.coords import BLACK, PASS, WHITE, Move, Point, parse_vertex, points_by_number, xy_to_point

_LARGEST_TT_SIZE: Final = 19
"""Up to this width or height "tt" lies outside the board and is a pass (FF[3]); in FF[4] a pass is empty."""

_VERTEX: Final = re.compile(r"[A-Za-z][1-9][0-9]?")
"""What SmartGo wrote for points."""
_POINT: Final = re.compile(r"[A-Za-z]{2}")
_PASSES: Final = frozenset({"", "``", "zz", "pass"})
"""Values that are passes on every board, in small letters.

"``" is a point before A, "zz" parts the problems of a collection, "pass" is what scripts write.
"""


class SgfBoard:
    """The points and moves of a board of one size; `board_of` returns it."""

    def __init__(self, width: int, height: int) -> None:
        self.width: Final = width
        self.height: Final = height
        points = points_by_number(width, height).values()
        self.moves: Final[dict[int, dict[int, Move]]] = {
            color: {point: Move(color, point) for point in points} for color in (BLACK, WHITE)
        }
        """The moves by their colours and points, the pass among them."""
        self.usual_moves: Final = {
            name: {move.point.sgf: move for move in self.moves[color].values() if move.point != PASS}
            for name, color in (("B", BLACK), ("W", WHITE))
        }
        """The moves by the names "B" and "W", and by what nearly all values are: two small letters on the board."""

    def move(self, name: str, text: str) -> Move:
        """Return the move of a B or W value; a pass for `is_usual_pass`, and for others that are beyond a corner.

        Raises SgfError.
        """
        if usual := self.usual_moves[name].get(text):
            return usual
        moves = self.moves[BLACK if name == "B" else WHITE]
        if self.is_usual_pass(text):
            return moves[PASS]
        text = _without_blanks(text)
        if _POINT.fullmatch(text) and all(
            ord(letter) - ord("a") >= size for letter, size in zip(text.lower(), (self.width, self.height), strict=True)
        ):
            return moves[PASS]
        return moves[self.point(text)]

    def is_usual_pass(self, text: str) -> bool:
        """Return whether a B or W value is a pass as programs write it: empty, or "tt" outside the board.

        So are points one beyond a corner of the board, which some programs write (LizzieYzy "jj" on 9x9), and
        `_PASSES`.
        """
        text = _without_blanks(text).lower()
        beyond = ascii_lowercase[self.width] + ascii_lowercase[self.height]
        return text in (*_PASSES, beyond) or (text == "tt" and min(self.width, self.height) <= _LARGEST_TT_SIZE)

    def point(self, text: str) -> Point:
        """Return the point of two letters such as "pd"; raises SgfError when it is not on the board.

        Capitals, which SGF has for boards of more than 26 lines, are read as small letters.  Vertices such as "Q16" are
        known too, which SmartGo wrote.
        """
        text = text.strip()
        if usual := self.usual_moves["B"].get(text.lower()):
            return usual.point
        if _VERTEX.fullmatch(text):
            with contextlib.suppress(InvalidVertexError):
                return parse_vertex(text, width=self.width, height=self.height)
        last = ascii_lowercase[self.width - 1] + ascii_lowercase[self.height - 1]
        raise SgfError(f"point {shown(text)}", expected=f"two letters from aa to {last} on {self.width}x{self.height}")

    def points(
        self, texts: Sequence[str], pass_over: Callable[[SgfError], None] = lambda error: None
    ) -> tuple[Point, ...]:
        """Return the points of a list such as AB's, each once, in order; "aa:cc" is the rectangle between two corners.

        They should be the upper left and the lower right one; others are accepted.  `pass_over` gets the errors of
        values that are left out.
        """
        points: dict[Point, None] = {}
        for text in dict.fromkeys(texts):  # so that a value repeated a million times is parsed only once
            first, colon, last = text.partition(":")
            try:
                start = self.point(first)
                end = self.point(last) if colon else start
            except SgfError as error:
                pass_over(error)
                continue
            rectangle = _rectangle(start, end, self.width, self.height)
            if len(texts) == 1:
                return rectangle
            points.update(dict.fromkeys(rectangle))
        return tuple(points)

    def label(self, text: str) -> tuple[Point, str] | None:
        """Return point and text of an LB value such as "pd:A"; None if it is none, or not on the board."""
        point, colon, label = text.partition(":")
        try:
            return (self.point(point), label) if colon else None
        except SgfError:
            return None


@functools.cache
def board_of(width: int, height: int) -> SgfBoard:
    """Return the board of a size, always the same one; raises InvalidSizeError."""
    return SgfBoard(width, height)


@functools.lru_cache(512)
def _rectangle(start: Point, end: Point, width: int, height: int) -> tuple[Point, ...]:
    """Return the points between two corners, row by row."""
    points = points_by_number(width, height)
    (left, right), (top, bottom) = (sorted(places) for places in zip(start.xy, end.xy, strict=True))
    return tuple(points[xy_to_point(x, y, width=width)] for y in range(top, bottom + 1) for x in range(left, right + 1))


def _without_blanks(text: str) -> str:
    """Return the value of a move as it is meant: mail breaks lines anywhere, and damage leaves brackets and marks."""
    return re.sub(r"[\s\[();]", "", text)
