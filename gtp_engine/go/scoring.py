"""Scores of finished positions under area and territory rules, for given dead stones.

Not here: the estimate of which stones are dead (`engine.game_end`).  Positions are whole-board colour arrays, int[n]
padded as in `board`.  Nothing here is in a hot path, so it is plain Python.

Seki.  Under the taxes SEKI and ALL, eyes of groups in seki do not count.  By the letter of the Japanese rules every
group beside an unfilled neutral point is in seki, but players leave those points open and still expect their territory.
So a group (stones of one colour with the territory that joins them) is taken to be in seki if it cannot live by itself,
having at most one eye of `LARGEST_SEKI_EYE` points, and shares a neutral area of at most `LARGEST_SHARED_AREA` points
with a group of the other colour that cannot live by itself either.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gtp_engine.go.area import LARGEST_SEKI_EYE, LARGEST_SHARED_AREA, owners_into
from gtp_engine.go.benson import new_life_work, pass_alive_map
from gtp_engine.go.board import CAPTURED, HEIGHT, STRIDE, WIDTH, Board, IntArray
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE, opponent
from gtp_engine.go.coords import Color, neighbors
from gtp_engine.go.rules import Rules, Scoring, Tax


@dataclass(frozen=True)
class Score:
    """Points of both sides; `white` are those with komi, handicap bonus and White's share of the button."""

    black: float
    white: float

    @property
    def margin_black(self) -> float:
        """Points by which Black leads; negative when White leads."""
        return self.black - self.white

    @property
    def winner(self) -> Color:
        """BLACK, WHITE, or EMPTY for a draw."""
        if self.margin_black == 0:
            return Color.EMPTY
        return Color.BLACK if self.margin_black > 0 else Color.WHITE

    def __str__(self) -> str:
        """Return GTP's form: `B+3.5`, `W+0.5` or `0`, without trailing zeros, exact to a millionth of a point."""
        margin = round(self.margin_black, 6)
        if margin == 0:
            return "0"
        text = f"{abs(margin):.6f}".rstrip("0").rstrip(".")
        return f"{'B' if margin > 0 else 'W'}+{text}"


@dataclass(frozen=True)
class SideCount:
    """What the points of one side are made of."""

    territory: int
    """Surrounded points."""
    stones: int
    """Living stones, where the rules count them."""
    prisoners: int
    """Captured and dead stones of the opponent, where the rules count them."""
    tax: int
    """Points that are subtracted: eyes in seki, or two for each group."""
    komi: float
    """White's komi with its points for handicap stones, and less the button that Black has taken."""

    @property
    def total(self) -> float:
        """All points."""
        return self.territory + self.stones + self.prisoners - self.tax + self.komi


@dataclass(frozen=True)
class TaxedGroup:
    """Stones of one colour and the territory that connects them, as the taxes on eyes and groups count them."""

    color: int
    stones: frozenset[int]
    eyes: tuple[frozenset[int], ...]
    shared: frozenset[frozenset[int]]
    """The small neutral areas beside the group."""

    @property
    def needs_seki(self) -> bool:
        """Whether the group cannot live by eyes of its own."""
        return len(self.eyes) < 2 and sum(map(len, self.eyes)) <= LARGEST_SEKI_EYE


def remove_dead(board: Board, dead: Collection[int]) -> IntArray:
    """Return the colours of all points, int32[n], with the stones on the points `dead` taken off."""
    colors = board.color.copy()
    colors[np.fromiter(dead, dtype=np.int64, count=len(dead))] = EMPTY
    return colors


def area_owners(colors: IntArray, stride: int) -> IntArray:
    """Return int32[n] with BLACK or WHITE for its stones and empty points that reach only them, else EMPTY."""
    owners = np.zeros_like(colors)
    owners_into(colors, stride, np.zeros_like(colors), owners)
    return owners


def territory_owners(colors: IntArray, stride: int) -> IntArray:
    """Return int32[n] with BLACK or WHITE for empty points that reach only stones of that colour, else EMPTY."""
    return np.where(colors == EMPTY, area_owners(colors, stride), EMPTY)


def pass_alive_owners(board: Board, *, suicide: bool) -> IntArray:
    """Return int32[n] with the colour of the pass-alive chain or territory that each point belongs to, else EMPTY."""
    owners = np.zeros_like(board.color)
    pass_alive_map(board, suicide, new_life_work(int(board.info[WIDTH]), int(board.info[HEIGHT])), owners)
    return owners


def tally_position(
    board: Board,
    rules: Rules,
    *,
    komi: float,
    button: float = 0.0,
    dead: Collection[int] = (),
) -> dict[int, SideCount]:
    """Return what both sides have in a position in which the stones on `dead` are dead and all other stones alive.

    `komi` includes the handicap bonus; `button` is Black's points from the button under area rules (0.5, −0.5 or 0).
    Points in `dead` must hold stones, which is not checked.
    """
    colors = remove_dead(board, dead)
    stride = int(board.info[STRIDE])
    owners = territory_owners(colors, stride)
    tax = _tax(colors, owners, stride, rules.tax)
    is_area = rules.scoring is Scoring.AREA
    tallies = {}
    for color in (BLACK, WHITE):
        stones, prisoners = int(np.count_nonzero(colors == color)), captured_by(board, color)
        prisoners += sum(1 for point in dead if board.color[point] == opponent(color))
        tallies[color] = SideCount(
            territory=int(np.count_nonzero(owners == color)),
            stones=stones if is_area else 0,
            prisoners=0 if is_area else prisoners,
            tax=tax[color],
            komi=0.0 if color == BLACK else komi - button if is_area else komi,
        )
    return tallies


def captured_by(board: Board, color: int) -> int:
    """Return how many stones of its opponent `color` has captured."""
    return int(board.info[CAPTURED + opponent(color)])


def _tax(colors: IntArray, owners: IntArray, stride: int, tax: Tax) -> dict[int, int]:
    """Return what the tax takes from each colour: eyes in seki (SEKI and ALL), two points per living group (ALL)."""
    points = {BLACK: 0, WHITE: 0}
    if tax is Tax.NONE:
        return points
    groups = find_groups(colors, owners, stride)
    in_seki = groups_in_seki(groups)
    for group in groups:
        eye_points = sum(map(len, group.eyes))
        if group in in_seki:
            points[group.color] += eye_points
        elif tax is Tax.ALL:
            points[group.color] += min(2, eye_points)
    return points


def groups_in_seki(groups: Collection[TaxedGroup]) -> list[TaxedGroup]:
    """Return the groups that live only because neither side can play in a shared area."""
    needy = [group for group in groups if group.needs_seki]
    return [
        group
        for group in needy
        if any(other.color != group.color and not other.shared.isdisjoint(group.shared) for other in needy)
    ]


def find_groups(colors: IntArray, owners: IntArray, stride: int) -> list[TaxedGroup]:
    """Return the groups of a position; `owners` are those of the empty points (`territory_owners`)."""
    holders = np.where((colors == BLACK) | (colors == WHITE), colors, owners)
    holders[colors == WALL] = WALL
    neutral = _components(np.flatnonzero(holders == EMPTY).tolist(), stride)
    shared = [(area, _around(area, stride)) for area in neutral if len(area) <= LARGEST_SHARED_AREA]
    groups = []
    for color in (BLACK, WHITE):
        for members in _components(np.flatnonzero(holders == color).tolist(), stride):
            stones = frozenset(point for point in members if colors[point] == color)
            eyes = _components(members - stones, stride)
            beside = frozenset(area for area, border in shared if not border.isdisjoint(stones))
            groups.append(TaxedGroup(color, stones, eyes, beside))
    return groups


def _components(points: Collection[int], stride: int) -> tuple[frozenset[int], ...]:
    """Return the connected parts of a set of points."""
    left = set(points)
    parts = []
    while left:
        part = set()
        waiting = [left.pop()]
        while waiting:
            point = waiting.pop()
            part.add(point)
            for neighbor in neighbors(point, width=stride - 1):
                if neighbor in left:
                    left.remove(neighbor)
                    waiting.append(neighbor)
        parts.append(frozenset(part))
    return tuple(parts)


def _around(points: Collection[int], stride: int) -> set[int]:
    """Return the points, walls included, that are next to a set of points but not in it."""
    return {neighbor for point in points for neighbor in neighbors(point, width=stride - 1)}.difference(points)
