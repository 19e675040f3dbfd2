"""A settled board around a problem: everything beyond the problem is replaced by living stones of both sides.

On an open board a network expects fights and large areas outside the region, and a lead that is larger than any it was
trained with; inside a frame the result of the region decides.  The idea is that of the frames of tsumego solvers (the
one of KaTrain and LizGoban).

    . . . .             the zone: the region, the defender's chains that touch it and what they touch, one line around
    S S S S S . S S     S the side that surrounds the zone: a wall around it, and eyes
    D . D D S S . S     D the other side, far away, so that both have about the same
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.errors import IllegalMoveError
from gtp_engine.go.benson import new_life_work, pass_alive_map
from gtp_engine.go.constants import BLACK, EMPTY, WHITE, Move, opponent
from gtp_engine.go.coords import point_to_xy, xy_to_point
from gtp_engine.go.game import Game

SURROUNDED_SHARE: Final = 0.75
"""Share of the zone counted for the surrounding side: the mean of all of it, if it succeeds, and half, if it fails."""

SHARES: Final = (1.0, 0.8, 0.6, 0.4, 0.2)
"""How much of its fair part the other side gets, in the order tried: on small boards the wall needs room for eyes."""

Grid = NDArray[np.bool_]
"""Points of a board, by row and column."""


def framed(game: Game, region: frozenset[int]) -> Game | None:
    """Return a position with the problem in `region` in a settled board, None if it cannot be cut out.

    That is so if neither side surrounds stones of the other there, or if there is no room for two eyes of each side.
    If either side could be the surrounding one, the smaller zone is taken.
    """
    colors = np.array(
        [[game.color_at(xy_to_point(x, y, width=game.width)) for x in range(game.width)] for y in range(game.height)]
    )
    inside = np.zeros(colors.shape, dtype=np.bool_)
    for point in region:
        x, y = point_to_xy(point, width=game.width)
        inside[y, x] = True
    found = []
    for surrounding in (BLACK, WHITE):
        zone = _zone(game, colors, inside, surrounding)
        if zone is not None and (board := _filled(game, colors, zone, surrounding)) is not None:
            found.append((int(zone.sum()), surrounding, board))
    return min(found, key=lambda each: each[:2])[2] if found else None


def _zone(game: Game, colors: NDArray[np.int64], inside: Grid, surrounding: int) -> Grid | None:
    """Return the points of a problem that `surrounding` encloses, None if it encloses nothing."""
    defending = colors == opponent(surrounding)
    zone = _grown(inside)
    if not (defending & zone).any():
        return None
    while (new := _with_chains(game, zone, defending & zone)).sum() > zone.sum():
        zone = new
    return zone if (zone & (colors == surrounding)).any() else None


def _with_chains(game: Game, zone: Grid, stones: Grid) -> Grid:
    """Return the zone with the chains of these stones and one line around them."""
    chains = np.zeros_like(zone)
    for y, x in zip(*np.nonzero(stones), strict=True):
        if not chains[y, x]:
            for point in game.chain(xy_to_point(int(x), int(y), width=game.width)):
                column, row = point_to_xy(point, width=game.width)
                chains[row, column] = True
    return zone | _grown(chains)


def _grown(points: Grid) -> Grid:
    """Return the points with one line around them."""
    padded = np.pad(points, 1)
    height, width = points.shape
    grown = np.zeros_like(points)
    for y in range(3):
        for x in range(3):
            grown |= padded[y : y + height, x : x + width]
    return grown


def _filled(game: Game, colors: NDArray[np.int64], zone: Grid, surrounding: int) -> Game | None:
    """Return the position with everything outside the zone filled, None if one side would not live there."""
    wall = _grown(zone) & ~zone
    fair = (int((~zone).sum()) + SURROUNDED_SHARE * int(zone.sum())) / 2
    for share in SHARES:
        far = _farthest(~zone & ~wall, zone, round(share * fair))
        near = ~zone & ~far
        stones = np.where(zone, colors, np.where(far, opponent(surrounding), surrounding))
        for area in (near, far):
            stones[_eyes(area)] = EMPTY
        board = _board_of(game, stones)
        if board is not None and _lives(board, ~zone & (stones != EMPTY)):
            return board
    return None


def _board_of(game: Game, stones: NDArray[np.int64]) -> Game | None:
    """Return a game that begins with these stones, None if one of them has no liberty."""
    board = Game(game.width, game.height, game.rules, game.komi)
    try:
        board.set_up(_moves(stones), game.to_play)
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


def _moves(stones: NDArray[np.int64]) -> Iterable[Move]:
    width = stones.shape[1]
    for y, x in zip(*np.nonzero(stones), strict=True):
        yield Move(int(stones[y, x]), xy_to_point(int(x), int(y), width=width))


def _lives(game: Game, stones: Grid) -> bool:
    """Return whether these stones are of both colours and all pass-alive."""
    alive = np.zeros_like(game.board.color)
    pass_alive_map(game.board, game.rules.suicide, new_life_work(game.width, game.height), alive)
    points = [xy_to_point(int(x), int(y), width=game.width) for y, x in zip(*np.nonzero(stones), strict=True)]
    colors = [game.color_at(point) for point in points]
    return len(set(colors)) == 2 and all(alive[point] == color for point, color in zip(points, colors, strict=True))
