"""Moves that mirror each other in a symmetric position, so that only one of them is searched."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import numpy as np

from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.board import KO_POINT, padded_length
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT
from gtp_engine.go.coords import xy_to_point
from gtp_engine.go.game import Game

Mirror = tuple[int, ...]
"""Where a symmetry of the board takes each point, by point; PASS, NULL_POINT and the wall stay where they are."""


_HALF_TURN: Final = 3
"""The number of the half turn, which reverses rows and columns; see `_image`."""


def mirrors_of(game: Game, root: Positions) -> list[Mirror]:
    """Return the symmetries of the position in row 0 of `root`, without the identity; none while ko forbids a move."""
    if game.board.info[KO_POINT] != NULL_POINT or root.forbidden[0].any():
        return []
    colors = game.board.color
    return [mirror for mirror in _mirrors(game.width, game.height) if np.array_equal(colors[list(mirror)], colors)]


def duplicates(game: Game, color: int, mirrors: list[Mirror]) -> set[int]:
    """Return the empty points that mirror another one, so that one of each kind remains.

    Black keeps the one on the right, and the upper one of two there, which is the etiquette for the first move; White
    keeps the one on the left, and the lower one.  The order is KataGo's.
    """
    xs, ys = range(game.width), range(game.height)
    columns = reversed(xs) if color == BLACK else iter(xs)
    found: set[int] = set()
    for x in columns:
        for y in ys if color == BLACK else reversed(ys):
            point = xy_to_point(x, y, width=game.width)
            if point not in found and game.board.color[point] == EMPTY:
                found.update(mirror[point] for mirror in mirrors if mirror[point] != point)
    return found


def _mirrors(width: int, height: int) -> Iterator[Mirror]:
    """Yield the symmetries of a board of this size, without the identity."""
    return (_mirror(number, width, height) for number in range(1, 8 if width == height else 4))


def half_turn(width: int, height: int) -> Mirror:
    """Return the symmetry that turns the board by 180 degrees."""
    return _mirror(_HALF_TURN, width, height)


@cache
def _mirror(number: int, width: int, height: int) -> Mirror:
    """Return symmetry `number`; see `_image`."""
    points = list(range(padded_length(width, height)))
    for y in range(height):
        for x in range(width):
            point = xy_to_point(x, y, width=width)
            points[point] = xy_to_point(*_image(x, y, number, width, height), width=width)
    return tuple(points)


def _image(x: int, y: int, number: int, width: int, height: int) -> tuple[int, int]:
    """Return where symmetry `number` takes a point: bit 0 reverses the rows, bit 1 the columns, bit 2 transposes."""
    if number & 1:
        y = height - 1 - y
    if number & 2:
        x = width - 1 - x
    return (y, x) if number & 4 else (x, y)
