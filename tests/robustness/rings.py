"""Random positions with a ring: stones around a group of the other side, in a race with what is around them.

From inside out there are the inner group, alive or not; the ring, one chain around it; stones of the inner group's side
around the ring, with gaps, which are the ring's liberties; and the rest of the board, which is the inner group's side's
left of a line and the ring's right of it, to which a gate may lead.  Where the two meet, some points are empty.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from robustness.races import Race

from gtp_engine import Game, Move
from gtp_engine.errors import IllegalMoveError
from gtp_engine.go.constants import BLACK, EMPTY, WHITE, opponent
from gtp_engine.go.coords import xy_to_point
from gtp_engine.go.scoring import pass_alive_owners

Place = tuple[int, int]

LIVING: Final = (
    (" OO ", "O.OO", " O.O", "  OO"),
    (".OO.", "O.OO", "OO.O", ".OO."),
    ("OOO.", "O.OO", "OO.O", ".OOO"),
    ("OOOOO", "O.O.O", "OOOOO"),
    (".O.O.", "O.O.O", ".OOO."),
    ("OOOO", "O..O", "OOOO", "O.OO", "OOOO"),
    ("OOO", "O.O", "OOO", "O.O", "OOO"),
    ("OOOOOO", "O.OO.O", "OOOOOO"),
    ("OOOOOOO", "O.O.OOO", "OOOOOOO"),
    ("OOOOO", "O.O.O", "OO.OO", "O.O.O", "OOOOO"),
    (".OOOO", "OO.OO", "O.O.O", "OO.OO", "OOOO."),
    ("OOOOOOO", "OO.O.OO", "O.OOO.O", "OOOOOOO"),
)
"""Groups with two eyes, or nearly; the first five have room for a ring on 9×9."""
_SMALL: Final = 5
_NOISE: Final = (-12, -6, -3, 3, 6, 12)
"""Points by which the komi of some positions differs from the one that makes the ring decide the game."""

_MOST_KOMI: Final = 60


@dataclass
class _Drawing:
    """A board being drawn: the stones by their places, True for the ring's side, and what nothing is put upon later."""

    size: int
    stones: dict[Place, bool]
    fixed: set[Place]

    def around(self, places: Iterable[Place], *, diagonally: bool) -> set[Place]:
        """Return the places on the board beside `places`, without these."""
        places = set(places)
        steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i or j) and (diagonally or not (i and j))]
        near = {(x + i, y + j) for x, y in places for i, j in steps}
        return {(x, y) for x, y in near - places if 0 <= x < self.size and 0 <= y < self.size}

    def game(self, ring: int, komi: float, to_play: int) -> Game:
        """Return the game with the position, in which the ring's color is `ring`."""
        game = Game(self.size, self.size, "chinese", komi)
        colors = {True: ring, False: opponent(ring)}
        moves = [Move(colors[side], xy_to_point(*place, width=self.size)) for place, side in self.stones.items()]
        game.set_up(moves, to_play)
        return game


def draw_ring(size: int, rng: random.Random) -> tuple[Game, int]:
    """Return a game with a ring, on a board of 9×9 or more, and a point of the ring.

    Either side is to play, the ring is not pass-alive, and the komi is mostly one with which it decides the game.
    """
    while True:
        ring, to_play = rng.choice((BLACK, WHITE)), rng.choice((BLACK, WHITE))
        drawn = _draw(size, rng)
        if drawn is None:
            continue
        drawing, stones = drawn
        try:
            game = drawing.game(ring, 0, to_play)
        except IllegalMoveError:  # a chain without liberties
            continue
        point = int(xy_to_point(*min(stones), width=size))
        is_safe = pass_alive_owners(game.board, suicide=False)[point] != EMPTY
        if len(game.chain(point)) < len(stones) or is_safe:
            continue
        low, high = sorted(Race.of(game, point).margins_black(game))
        komi = 7.5 if low < 7 < high and rng.random() < 0.7 else (low + high) // 2 + 0.5
        if rng.random() < 0.3:
            komi += rng.choice(_NOISE)
        if abs(komi) <= _MOST_KOMI:
            return drawing.game(ring, komi, to_play), point


def _draw(size: int, rng: random.Random) -> tuple[_Drawing, set[Place]] | None:
    """Return a board and the ring's stones, or None if what was drawn has no room on it."""
    inner = _inner(size, rng)
    height, width = len(inner), len(inner[0])
    if width + 2 > size - 2 or height + 2 > size - 1:
        return None
    left, top = rng.randint(1, size - 3 - width), rng.randint(1, size - 1 - height)
    hull = {(left + x, top + y) for x in range(width) for y in range(height)}
    stones = {(x, y): False for x, y in hull if inner[y - top][x - left] == "O"}
    drawing = _Drawing(size, stones, set(hull))
    ring = drawing.around(hull, diagonally=True)
    if len(ring) != 2 * (width + height) + 4:
        return None  # beyond the edge
    outside = drawing.around(hull | ring, diagonally=True)
    stones.update(dict.fromkeys(ring, True) | dict.fromkeys(outside, False))
    beside = sorted(outside & drawing.around(ring, diagonally=False))
    for place in rng.sample(beside, rng.randint(1, min(9, len(beside) - 2))):
        del stones[place]
    drawing.fixed |= ring | outside
    line = left + width + 2
    if rng.random() < 0.85:
        _open_gate(drawing, [(line - 1, y) for y in range(max(top - 1, 1), min(top + height + 1, size - 1))], rng)
    _fill(drawing, line, rng)
    return drawing, ring


def _inner(size: int, rng: random.Random) -> list[str]:
    """Return the rows of an inner group: a living one, or some stones."""
    if rng.random() < 0.8:
        rows = list(rng.choice(LIVING[:_SMALL] if size < 13 else LIVING))
    else:
        width, height = rng.choice([(2, 2), (3, 2), (3, 1), (3, 3), (4, 2), (4, 1), (4, 3)])
        share = rng.choice((0.3, 0.4, 0.5))
        rows = ["".join("." if rng.random() < share else "O" for _ in range(width)) for _ in range(height)]
    return ["".join(row) for row in zip(*rows, strict=True)] if rng.random() < 0.5 else rows


def _open_gate(drawing: _Drawing, places: list[Place], rng: random.Random) -> None:
    """Open one of `places`, through which the ring may connect to its side, or a way around it."""
    x, y = rng.choice(places)
    drawing.stones.pop((x, y), None)
    if rng.random() < 0.45:
        drawing.stones[x, y] = False
        step = rng.choice((-1, 1))
        if (x, y + step) in drawing.fixed:
            drawing.stones.pop((x, y + step), None)
        if (x, y - step) in drawing.fixed:
            drawing.stones[x, y - step] = rng.random() < 0.7


def _fill(drawing: _Drawing, line: int, rng: random.Random) -> None:
    """Fill the rest of the board, for the ring's side from column `line` on, with an open area there and with eyes."""
    size, fixed = drawing.size, drawing.fixed
    free = {(x, y) for x in range(size) for y in range(size)} - fixed
    rows, columns, before = rng.randint(3, 6), rng.randint(2, 5), rng.randint(1, 4)
    first = rng.choice((0, size - rows))
    area = {(x, y) for x, y in free if first <= y < first + rows and line - before <= x < line - before + columns}
    opened = area - drawing.around(fixed, diagonally=False)
    places = sorted(free - opened)
    drawing.stones.update({(x, y): x >= line for x, y in places})
    rng.shuffle(places)
    share = rng.choice((0.2, 0.3, 0.4))
    for place in places:
        sides = {drawing.stones.get(near) for near in drawing.around([place], diagonally=False)}
        if rng.random() < share and sides == {drawing.stones[place]}:
            del drawing.stones[place]
