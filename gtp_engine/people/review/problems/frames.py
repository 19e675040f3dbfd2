"""Frame: a problem in a settled board.

In a settled board everything beyond the problem is replaced by living stones of both sides.  On an open board a network
expects fights and large areas outside the region, and a lead that is larger than any it was trained with; inside a
frame the result of the region decides.  The idea is that of the frames of tsumego solvers (the one of KaTrain and
LizGoban).

    . . . .             the zone: the region and stones next to it, the defender's chains there and what they touch
    S S S S S . S S     S the side that surrounds the zone: a wall around it, and eyes
    D . D D S S . S     D the other side, far away, so that both have about the same

The frame is on the smallest board of `SIZES` that has room for it: there an evaluation takes a third of the time that
it takes on 19×19.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from gtp_engine.base.errors import IllegalMoveError
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.board import IntArray
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import board_points, neighbors, point_to_xy, xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.people.review.problems.regions import NEAR

EYES: Final = 2
"""Points of a group that lives, besides its stones."""

RULES: Final = Rules.parse("chinese")

SURROUNDED_SHARE: Final = 0.75
"""Share of the zone counted for the surrounding side: the mean of all of it, if it succeeds, and half, if it fails."""

CLEAR_SHARE: Final = 0.7
"""Share of the outermost stones from which on one side surrounds a problem; else each has its part of the wall."""

SHARES: Final = (1.0, 0.8, 0.6, 0.4, 0.2)
"""How much of its fair part the other side gets, in the order tried: on small boards the wall needs room for eyes."""

SIZES: Final = (11, 13, 15, 17, 19)
"""Lines of boards for a frame, in the order tried."""

Grid = NDArray[np.bool_]
"""Points of a board, by row and column."""


@dataclass(frozen=True)
class Frame:
    """A problem in a settled board, which shows a part of the original board from column `left` and row `top` on.

    `life` is Black's margin without komi in the middle between the life and the death of the surrounded stones; None
    where neither side surrounds the other.
    """

    board: Game
    original: Game
    region: frozenset[int]
    """Where the first move may be, by points of the original board."""
    left: int = 0
    top: int = 0
    life: float | None = None
    surrounded: int = EMPTY
    """The colour of the surrounded stones."""

    @property
    def color(self) -> int:
        """The side that moves first."""
        return self.board.to_play

    def outside(self, point: int) -> int:
        """Return the point of the original board for one of the frame's, or PASS."""
        if point == PASS:
            return PASS
        x, y = point_to_xy(point, width=self.board.width)
        return xy_to_point(x + self.left, y + self.top, width=self.original.width)

    def beside(self, points: Iterable[int]) -> set[int]:
        """Return points of the frame and those next to them."""
        return {near for point in points for near in (point, *neighbors(point, width=self.board.width))}

    @cached_property
    def points(self) -> frozenset[int]:
        """The points of the frame in the region."""
        places = (point_to_xy(point, width=self.original.width) for point in self.region)
        width, height = self.board.width, self.board.height
        found = ((x - self.left, y - self.top) for x, y in places)
        return frozenset(xy_to_point(x, y, width=width) for x, y in found if 0 <= x < width and 0 <= y < height)


def framed(game: Game, region: frozenset[int]) -> Frame | None:
    """Return the problem in `region` of a position in a settled board, None if it cannot be cut out.

    That is so if neither side surrounds stones of the other there, or if there is no room for two eyes of each side.
    If either side could be the surrounding one, it is the side with more of the stones that are outermost.  Area counts
    there, and a ko forbids only to retake at once.
    """
    points = _points_of(game)
    colors, inside = game.board.color[points], np.isin(points, list(region))
    enclosed = ((each, _zone(game, colors, inside, each)) for each in (BLACK, WHITE))
    zones = [(each, _to_near_edges(zone)) for each, zone in enclosed if zone is not None]
    zones.sort(key=lambda each: (-_outer_share(colors, each[1], each[0]), each[1].sum()))
    if len(zones) == 2 and _outer_share(colors, zones[0][1], zones[0][0]) < CLEAR_SHARE:
        zones.insert(0, (EMPTY, zones[0][1] | zones[1][1]))
    sizes = [(size, size) for size in SIZES if size < min(game.width, game.height)] + [(game.width, game.height)]
    for size in sizes:
        for surrounding, zone in zones:
            place = _window(zone, size)
            if place is not None:
                left, top = place
                part = np.s_[top : top + size[1], left : left + size[0]]
                shares = SHARES if zone.shape == (size[1], size[0]) else SHARES[:1]
                filled = _filled(game, colors[part], zone[part], surrounding, shares)
                if filled is not None:
                    surrounded = EMPTY if surrounding == EMPTY else opponent(surrounding)
                    return Frame(filled[0], game, region, left, top, filled[1], surrounded)
    return None


def _to_near_edges(zone: Grid) -> Grid:
    """Return the zone with the lines between it and edges that are near: the corner stays what it is."""
    grown = zone.copy()
    for _side in range(4):
        grown = np.rot90(grown)
        first = int(np.flatnonzero(grown.any(axis=1))[0])
        if first < NEAR:
            grown[:first] = grown[first]
    return grown


def _window(zone: Grid, size: tuple[int, int]) -> tuple[int, int] | None:
    """Return the first column and row of a part of the board, of this width and height, that holds a zone.

    It lies at the edges that the zone lies at; None if it is too small, or the zone lies at opposite edges of a larger
    board.
    """
    starts = []
    for axis, length in ((0, size[0]), (1, size[1])):
        used, whole = np.flatnonzero(zone.any(axis=axis)), zone.shape[1 - axis]
        first, last = int(used[0]), int(used[-1])
        if last - first >= length or (first == 0 and last == whole - 1 and whole > length):
            return None
        if first == 0 or last == whole - 1:
            starts.append(0 if first == 0 else whole - length)
        else:  # in the middle, with a line beyond it at least
            if last - first + 2 >= length:
                return None
            starts.append(
                min(max(1 if whole > length else 0, first - (length - (last - first + 1)) // 2), whole - length)
            )
    return starts[0], starts[1]


def _outer_share(colors: IntArray, zone: Grid, color: int) -> float:
    """Return the share of `color` in the outermost stones of a zone."""
    outer = _outermost(colors, zone)
    return int((outer == color).sum()) / max(1, int((outer != EMPTY).sum()))


def _outermost(colors: IntArray, zone: Grid) -> IntArray:
    """Return the stones of a zone that come first in a row or column from the open board, by row and column."""
    stones, outer = np.where(zone, colors, EMPTY), np.full_like(colors, EMPTY)
    for _side in range(4):
        stones, zone, outer = np.rot90(stones), np.rot90(zone), np.rot90(outer)
        for y in np.flatnonzero(stones.any(axis=1)) if not zone[:, 0].any() else ():  # it is open on the left
            x = np.flatnonzero(stones[y])[0]
            outer[y, x] = stones[y, x]
    return outer


def _zone(game: Game, colors: IntArray, inside: Grid, surrounding: int) -> Grid | None:
    """Return the points of a problem that `surrounding` encloses, None if it encloses nothing."""
    defending = colors == opponent(surrounding)
    zone = inside | (_grown(inside) & (colors != EMPTY))
    if not (defending & zone).any():
        return None
    points, size = _points_of(game), 0
    while zone.sum() > size:
        size = int(zone.sum())
        chains = [point for stone in points[defending & zone] for point in game.chain(int(stone))]
        zone = zone | _grown(np.isin(points, chains))
    return zone if (zone & (colors == surrounding)).any() else None


def _points_of(game: Game) -> IntArray:
    """Return the points of a board by row and column."""
    return np.array(board_points(game.width, game.height), dtype=np.int32).reshape(game.height, game.width)


def _grown(points: Grid) -> Grid:
    """Return the points with one line around them."""
    grown: Grid = sliding_window_view(np.pad(points, 1), (3, 3)).max(axis=(2, 3))
    return grown


def _filled(
    game: Game, colors: IntArray, zone: Grid, surrounding: int, shares: Sequence[float]
) -> tuple[Game, float | None] | None:
    """Return the position with everything outside the zone filled, and `Frame.life`; None if one side does not live.

    `shares` are those of the other side's fair part to try.  If no side is `surrounding` (EMPTY), each point gets the
    colour of the outermost stone that is nearest.
    """
    wall = _grown(zone) & ~zone
    fair = (int((~zone).sum()) + SURROUNDED_SHARE * int(zone.sum())) / 2
    for share in shares:
        if surrounding == EMPTY:
            outer = _outermost(colors, zone)
            if not all((outer == color).any() for color in (BLACK, WHITE)):  # the zone lies at all edges
                return None
            owner = _nearest(outer)
        else:
            far = _farthest(~zone & ~wall, zone, round(share * fair))
            owner = np.where(far, opponent(surrounding), surrounding)
        stones = np.where(zone, colors, owner)
        for color in (BLACK, WHITE):
            area = ~zone & (owner == color)
            stones[_eyes(area) & ~(_grown(~area) if surrounding == EMPTY else ~area)] = EMPTY
        board = _board_of(game, stones)
        if board is not None and _lives(board, ~zone & (stones != EMPTY)):
            if surrounding == EMPTY:
                return board, None
            own, other = (int((~zone & (owner == color)).sum()) for color in (surrounding, opponent(surrounding)))
            surrounded = int((zone & (colors == opponent(surrounding))).sum())
            margin = own + int(zone.sum()) - other - surrounded - EYES
            return board, float(margin if surrounding == BLACK else -margin)
    return None


def _nearest(stones: IntArray) -> IntArray:
    """Return the colour of the stone that is nearest to each point, Black where both are as near."""
    height, width = stones.shape
    ys, xs = np.mgrid[:height, :width]
    black, white = (
        np.min([(ys - y) ** 2 + (xs - x) ** 2 for y, x in zip(*np.nonzero(stones == color), strict=True)], axis=0)
        for color in (BLACK, WHITE)
    )
    return np.where(black <= white, BLACK, WHITE)


def _board_of(game: Game, stones: IntArray) -> Game | None:
    """Return a game that begins with these stones, None if one of them has no liberty."""
    height, width = stones.shape
    board = Game(width, height, replace(RULES, suicide=game.rules.suicide), game.komi)
    placed = stones != EMPTY
    try:
        board.set_up(zip(stones[placed].tolist(), _points_of(board)[placed].tolist(), strict=True), game.to_play)
    except IllegalMoveError:
        return None
    return board


def _farthest(beyond: Grid, zone: Grid, count: int) -> Grid:
    """Return up to `count` connected points of `beyond`, grown from the one farthest from the zone."""
    distance = np.zeros(zone.shape, dtype=np.int64)
    reached = zone
    while not reached.all():
        distance[~reached] += 1
        reached = _grown(reached)
    chosen = np.zeros_like(zone)
    if not beyond.any():
        return chosen
    chosen[np.unravel_index(np.argmax(np.where(beyond, distance, -1)), zone.shape)] = True
    while chosen.sum() < count:
        edge = _grown(chosen) & beyond & ~chosen
        if not edge.any():
            break
        candidates = sorted(zip(*np.nonzero(edge), strict=True), key=lambda place: (-distance[place], place))
        for place in candidates[: count - int(chosen.sum())]:
            chosen[place] = True
    return chosen


def _eyes(area: Grid) -> Grid:
    """Return single points of an area, apart from each other and from its border, to be eyes."""
    eyes = np.zeros_like(area)
    padded = np.pad(area, 1, constant_values=True)
    taken = np.pad(eyes, 1)
    for y, x in zip(*np.nonzero(area), strict=True):
        neighbors = (padded[y, x + 1], padded[y + 2, x + 1], padded[y + 1, x], padded[y + 1, x + 2])
        if all(neighbors) and not taken[y : y + 3, x : x + 3].any():
            taken[y + 1, x + 1] = eyes[y, x] = True
    return eyes


def _lives(game: Game, stones: Grid) -> bool:
    """Return whether these stones are of both colours and all pass-alive."""
    alive = pass_alive_owners(game.board, suicide=game.rules.suicide)
    points = _points_of(game)[stones]
    colors = game.board.color[points]
    return len(np.unique(colors)) == 2 and bool((alive[points] == colors).all())
