"""Scores of finished positions under area and territory rules, for given dead stones.

Not here: the estimate of which stones are dead (`engine.game_end`).  Positions are the colours of all points, padded as
in `board`.  Nothing here is in a hot path, so it is plain Python; `area` has the same for kernels.

Seki.  Under the taxes SEKI and ALL, eyes of groups in seki do not count.  By the letter of the Japanese rules every
group beside an unfilled neutral point is in seki, but players leave those points open and still expect their territory.
So a group (stones of one colour with the territory that joins them) is taken to be in seki if it cannot live by itself,
having at most one eye of `LARGEST_SEKI_EYE` points, and shares a neutral area of at most `LARGEST_SHARED_AREA` points
with a group of the other colour that cannot live by itself either.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gtp_engine.go.constants import BLACK, EMPTY, LARGEST_SEKI_EYE, LARGEST_SHARED_AREA, WALL, WHITE, opponent
from gtp_engine.go.coords import Color, neighbors
from gtp_engine.go.rules import Rules, Scoring, Tax


@dataclass(frozen=True)
class Score:
    """Points of both sides; `white` are those with komi, handicap bonus and White's share of the button.

    >>> print(Score(40.0, 36.5), Score(40.0, 36.5).winner)
    B+3.5 black
    """

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
        """Return SGF's form: `B+3.5`, `W+7` or `0`, without trailing zeros, exact to a millionth of a point."""
        margin = round(self.margin_black, 6)
        if margin == 0:
            return "0"
        text = f"{abs(margin):.6f}".rstrip("0").rstrip(".")
        return f"{'B' if margin > 0 else 'W'}+{text}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


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


class TaxedGroup(NamedTuple):
    """Stones of one colour and the territory that connects them, as the taxes on eyes and groups count them."""

    color: int
    stones: frozenset[int]
    eyes: tuple[frozenset[int], ...]
    is_in_seki: bool
    """Whether it lives only because neither side can play in a small area that it shares."""


def territory_of(colors: Sequence[int], stride: int) -> list[int]:
    """Return the colour that each empty point belongs to: that of the stones it reaches, if it is one; else EMPTY."""
    owners = [EMPTY] * len(colors)
    for part in components([point for point, color in enumerate(colors) if color == EMPTY], stride):
        borders = {colors[point] for point in _around(part, stride)} - {WALL}
        if len(borders) == 1:
            owner = borders.pop()
            for point in part:
                owners[point] = owner
    return owners


def tally_position(
    colors: Sequence[int],
    stride: int,
    rules: Rules,
    *,
    captured: Sequence[int],
    komi: float,
    dead: Collection[int] = (),
) -> dict[Color, SideCount]:
    """Return what both sides have in a position in which the stones on `dead` are dead and all other stones alive.

    `komi` are all points that White gets, those for handicap and button too.  `captured[color]` is the number of stones
    of that colour that were captured.  Points in `dead` must hold stones, which is not checked.
    """
    removed = Counter(colors[point] for point in dead)
    colors = list(colors)
    for point in dead:
        colors[point] = EMPTY
    owners = territory_of(colors, stride)
    tax = _tax(colors, owners, stride, rules.tax)
    is_area = rules.scoring is Scoring.AREA
    tallies = {}
    for color in (Color.BLACK, Color.WHITE):
        stones, prisoners = colors.count(color), captured[color.opponent] + removed[color.opponent]
        tallies[color] = SideCount(
            territory=owners.count(color),
            stones=stones if is_area else 0,
            prisoners=0 if is_area else prisoners,
            tax=tax[color],
            komi=0.0 if color == BLACK else komi,
        )
    return tallies


def _tax(colors: Sequence[int], owners: Sequence[int], stride: int, tax: Tax) -> dict[int, int]:
    """Return what the tax takes from each colour: eyes in seki (SEKI and ALL), two points per living group (ALL)."""
    points = {BLACK: 0, WHITE: 0}
    if tax is Tax.NONE:
        return points
    for group in find_groups(colors, owners, stride):
        eye_points = sum(map(len, group.eyes))
        if group.is_in_seki:
            points[group.color] += eye_points
        elif tax is Tax.ALL:
            points[group.color] += min(2, eye_points)
    return points


def find_groups(colors: Sequence[int], owners: Sequence[int], stride: int) -> list[TaxedGroup]:
    """Return the groups of a position; `owners` are those of the empty points (`territory_of`)."""
    holders = [color or owner for color, owner in zip(colors, owners, strict=True)]
    neutral = components([point for point, holder in enumerate(holders) if holder == EMPTY], stride)
    small = [(area, _around(area, stride)) for area in neutral if len(area) <= LARGEST_SHARED_AREA]
    groups = []
    needed: dict[int, set[frozenset[int]]] = {BLACK: set(), WHITE: set()}  # beside groups that cannot live by eyes
    for color in (BLACK, WHITE):
        for members in components([point for point, holder in enumerate(holders) if holder == color], stride):
            stones = frozenset(point for point in members if colors[point] == color)
            eyes, shared = components(members - stones, stride), set[frozenset[int]]()
            if len(eyes) < 2 and sum(map(len, eyes)) <= LARGEST_SEKI_EYE:
                shared = {area for area, border in small if not border.isdisjoint(stones)}
            needed[color] |= shared
            groups.append((color, stones, eyes, shared))
    return [
        TaxedGroup(color, stones, eyes, not shared.isdisjoint(needed[opponent(color)]))
        for color, stones, eyes, shared in groups
    ]


def components(points: Collection[int], stride: int) -> tuple[frozenset[int], ...]:
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
