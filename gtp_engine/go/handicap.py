"""The points of handicap stones: GTP's fixed places, a free choice for any number, and star points for drawing.

A fixed handicap (GTP 2 draft, section 4.1.1) has nine possible places: corner stars, side stars and the centre.
Corner and side stars stand on the third line of boards smaller than 13 and on the fourth line of larger ones.
On a rectangle each direction has its own line, as in KataGo: 9x19 has its stars on the third column and the
fourth row.

    ====================================  =================
    board                                 largest handicap
    ====================================  =================
    a side below 7                        none
    a side of 7, or a side of even length 4
    all others                            9
    ====================================  =================

GNU Go 3.8 differs on 12x12, where its stars already stand on the fourth line.

The engine chooses the points of a free handicap.  It uses the fixed places when the number allows, and adds others so
that any number up to width * height - 1 is placed exactly, because a controller that asked for n stones and gets
fewer may resign the game (gtp2ogs does).

Not here: the check that the board is empty, and the effect of a handicap on komi or score.
"""

from functools import cache
from numbers import Integral
from typing import Final

from gtp_engine.base.errors import HandicapError, of_kind
from gtp_engine.go.coords import point_to_xy, xy_to_point

MIN_HANDICAP: Final = 2
"""One stone is not a handicap but Black's ordinary first move."""

HANDICAP_KOMI: Final = 0.5
"""Komi of a handicap game without one of its own, as on OGS and KGS: it only excludes a draw."""

_FOURTH_LINE_SIZE: Final = 13
"""Smallest side whose stars stand on the fourth line (GTP 2 draft, section 4.1.1)."""
_SMALLEST_FIXED_SIZE: Final = 7
_SMALLEST_NINE_SIZE: Final = 9
"""Smallest side on which a side star stands apart from the corner stars, so that nine places make sense."""
_LINE_WEIGHTS: Final = (1, 3, 5)
"""Weights of the first, second and any higher line: factors on the squared distance of a new stone to the others.

Set by eye: with these, 5x5 fills in the shape of a five on a die, and 19x19 leaves the first line to the end.
"""

_PLACES: Final = ((0, 2), (2, 0), (0, 0), (2, 2), (0, 1), (2, 1), (1, 2), (1, 0))
"""The corners and the sides in the order of the GTP draft (D4 Q16 D16 Q4 ... on 19x19): column and row as 0 = left or
top star line, 1 = middle, 2 = right or bottom one."""
_CENTRE: Final = (1, 1)
"""The place of the last of five, seven and nine stones."""


def max_fixed_handicap(width: int, height: int) -> int:
    """Return the largest fixed handicap of the board: 9, 4, or 0 when there is none."""
    largest = _largest_pattern(width, height)
    return 4 if largest == 9 and (width % 2 == 0 or height % 2 == 0) else largest


def fixed_handicap_points(n: int, width: int, height: int) -> tuple[int, ...]:
    """Return the points of a fixed handicap of `n` stones, in the order of the GTP draft.

    Raises HandicapError, naming the maximum, when `n` is not 2 to `max_fixed_handicap(width, height)`.
    """
    maximum = max_fixed_handicap(width, height)
    if maximum == 0:
        raise HandicapError(f"invalid handicap: {width}x{height} is too small for a fixed handicap (7x7 or larger)")
    _check_handicap(n, maximum, what="fixed handicap", width=width, height=height)
    return _pattern_points(n, width, height)


def free_handicap_points(n: int, width: int, height: int) -> tuple[int, ...]:
    """Return exactly `n` different points for a free handicap; the same call always gives the same points.

    Up to nine stones (four on boards with a side of 7 or 8) take the places of a fixed handicap; the middle of an
    even side is its lower or right middle line.  Larger numbers keep all of those, add the 3-3 points where the stars
    stand on the fourth line, and then spread out: each time the point farthest from the stones so far, with points
    near the edge weighted less and the corners last.

    No stone is without a liberty: the board is connected, so in a position of one colour each chain touches an
    empty point.  The last two empty points are opposite corners, which are two eyes.

    Raises HandicapError, naming the maximum, when `n` is not 2 to width * height - 1.
    """
    _check_handicap(n, width * height - 1, what="handicap", width=width, height=height)
    if n <= _largest_pattern(width, height):
        return _pattern_points(n, width, height)
    return _free_order(width, height)[:n]


def star_points(width: int, height: int) -> tuple[int, ...]:
    """Return the points to draw as stars, row by row: nine from 13x13, five from 9x9, four from 7x7, else none.

    Where a side has no middle line (even length) only the four corner stars are drawn.
    """
    maximum = max_fixed_handicap(width, height)
    if maximum == 9 and min(width, height) < _FOURTH_LINE_SIZE:
        maximum = 5
    return tuple(sorted(_pattern_points(maximum, width, height)))


def _check_handicap(n: int, maximum: int, *, what: str, width: int, height: int) -> None:
    if not MIN_HANDICAP <= of_kind(n, Integral, what) <= maximum:
        raise HandicapError(f"invalid {what} {n}", expected=f"{MIN_HANDICAP} to {maximum} stones on {width}x{height}")


def _pattern_points(n: int, width: int, height: int) -> tuple[int, ...]:
    """Return the points of the pattern of `n` stones, none for 0; for others the board must be 7x7 or larger."""
    columns, rows = _star_lines(width), _star_lines(height)
    places = (*_PLACES[: n - 1], _CENTRE) if n in (5, 7, 9) else _PLACES[:n]
    return tuple(xy_to_point(columns[column], rows[row], width=width) for column, row in places)


def _star_lines(size: int) -> tuple[int, int, int]:
    """Return the first star line, the middle and the last star line of a side, counted from 0."""
    edge = 3 if size >= _FOURTH_LINE_SIZE else 2
    # An even side has two middle lines; this is the right one, or the lower one since rows count from the top.
    return edge, size // 2, size - 1 - edge


def _largest_pattern(width: int, height: int) -> int:
    if min(width, height) >= _SMALLEST_NINE_SIZE:
        return 9
    return 4 if min(width, height) >= _SMALLEST_FIXED_SIZE else 0


@cache
def _free_order(width: int, height: int) -> tuple[int, ...]:
    """Return all points of the board in the order in which a large free handicap takes them.

    After the places of a pattern it is always the one with the largest weighted distance to the points before it; among
    equals the point opposite the last one, else the first from the bottom left, where the fixed places begin too.
    """
    pattern = _pattern_points(_largest_pattern(width, height), width, height)
    order = [point_to_xy(point, width=width) for point in pattern]
    if min(width, height) >= _FOURTH_LINE_SIZE:
        order += [(2, height - 3), (width - 3, 2), (2, 2), (width - 3, height - 3)]
    rest = [(x, y) for y in reversed(range(height)) for x in range(width) if (x, y) not in order]
    weight = {place: _edge_weight(*place, width, height) for place in rest}
    nothing_near = width**2 + height**2
    distance = {place: min((_distance(place, other) for other in order), default=nothing_near) for place in rest}
    opposite = None
    while distance:
        chosen = max(distance, key=lambda place: (weight[place] * distance[place], place == opposite))
        order.append(chosen)
        del distance[chosen]
        opposite = width - 1 - chosen[0], height - 1 - chosen[1]
        for place, old in distance.items():
            distance[place] = min(old, _distance(place, chosen))
    return tuple(xy_to_point(x, y, width=width) for x, y in order)


def _edge_weight(x: int, y: int, width: int, height: int) -> int:
    """Return the weight of a point for a handicap stone: 0 for a corner, which comes last, else by its line."""
    from_side, from_end = min(x, width - 1 - x), min(y, height - 1 - y)
    if from_side == from_end == 0:
        return 0
    return _LINE_WEIGHTS[min(from_side, from_end, len(_LINE_WEIGHTS) - 1)]


def _distance(place: tuple[int, int], other: tuple[int, int]) -> int:
    """Return the squared distance, which unlike a count of steps prefers gaps that are wide in both directions."""
    return (place[0] - other[0]) ** 2 + (place[1] - other[1]) ** 2
