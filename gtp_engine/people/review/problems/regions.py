"""Regions of a board, where the first move of a problem may be."""

from typing import Final

from gtp_engine.base.errors import InvalidVertexError, shown
from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import parse_vertex, point_to_xy, xy_to_point
from gtp_engine.go.game import Game

_MARGIN: Final = 1
"""Lines around the stones of a problem that belong to it.  With 3, g170e-b15c192 has more hard problems right and more
easy ones wrong (docs/notes/2026-11-30-problems.md)."""

NEAR: Final = 3
"""Lines between a problem and an edge that belong to it, if there are fewer than that."""


def parse_region(text: str, *, width: int, height: int) -> frozenset[int]:
    """Return the points of a region: vertices and rectangles such as "A1:F5", with commas between.

    Raises InvalidVertexError.
    """
    points: set[int] = set()
    for part in text.split(","):
        try:
            corners = [parse_vertex(corner, width=width, height=height) for corner in part.split(":")]
        except InvalidVertexError as error:
            raise InvalidVertexError(f"region {shown(text)}: {error}; rectangles are given as in A1:F5") from None
        if len(corners) > 2 or PASS in corners:
            raise InvalidVertexError(f"region {shown(text)}", expected="vertices and rectangles, as in A1:F5")
        (x1, y1), (x2, y2) = point_to_xy(corners[0], width=width), point_to_xy(corners[-1], width=width)
        for y in range(min(y1, y2), max(y1, y2) + 1):
            points.update(xy_to_point(x, y, width=width) for x in range(min(x1, x2), max(x1, x2) + 1))
    return frozenset(points)


def region_of(game: Game) -> frozenset[int]:
    """Return where a problem may be: the rectangle around all stones with a line more, up to edges that are near."""
    places = [point.xy for point in game.stones] or [(0, 0)]
    sides = []
    for values, length in zip(zip(*places, strict=True), (game.width, game.height), strict=True):
        low, high = min(values) - _MARGIN, max(values) + _MARGIN
        sides.append(range(0 if low < NEAR else low, length if high >= length - NEAR else high + 1))
    return frozenset(xy_to_point(x, y, width=game.width) for x in sides[0] for y in sides[1])
