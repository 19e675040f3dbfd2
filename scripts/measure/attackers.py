"""Scripted opponents that follow published attacks on programs with a network, and games between them and an engine.

    RingAttacker  invites the opponent to enclose a small living group, encloses the ring of its stones, and fills the
                  ring's liberties
    PassAttacker  holds a corner, leaves single stones in the opponent's area, and passes whenever the game would be won
                  if it ended now: where all stones count, a premature pass of the opponent's loses

The attacks are the cyclic and the pass attack of Wang et al., Adversarial Policies Beat Superhuman Go AIs (ICML 2023).

Both are far weaker than beginners at everything else; they read nothing but captures and ladders.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from gtp_engine import Game, SimpleGtpEngine
from gtp_engine.engine.game_end import chains_of
from gtp_engine.go.constants import PASS, WHITE, opponent
from gtp_engine.go.coords import neighbors, point_to_xy, xy_to_point
from gtp_engine.go.game import after_move

RULES: Final = "tromp-taylor"
"""Rules under which every stone that is left counts; the published attacks used them."""

LONGEST: Final = 3
"""Most moves of a game for each point of the board."""

INVITATION: Final = ("OOO.", "O.OO", "OO.O", ".OOO")
"""A group with two eyes, which the ring attacker builds."""

RING_STONES: Final = 8
"""Stones from which a chain that encloses the invitation is attacked."""


class Attacker(Protocol):
    """Chooses the moves of `color`."""

    def move(self, game: Game) -> int:
        """Return a legal point to play, or PASS."""
        ...


def captures(game: Game) -> list[tuple[int, int]]:
    """Return the moves that capture chains of the side not to play, with the stones they take, the largest first."""
    enemy = opponent(game.to_play)
    chains = [chain for chain in chains_of(game) if game.board.color[chain[0]] == enemy]
    found = [(len(chain), int(game.liberties(chain[0])[0])) for chain in chains if len(game.liberties(chain[0])) == 1]
    return sorted((each for each in found if game.is_legal(each[1])), reverse=True)


def rescues(game: Game) -> list[tuple[int, int]]:
    """Return the moves that extend chains in atari of the side to play that no ladder takes, the largest first."""
    chains = [chain for chain in chains_of(game) if game.board.color[chain[0]] == game.to_play]
    caught = [chain for chain in chains if len(game.liberties(chain[0])) == 1 and not game.is_in_ladder(chain[0])]
    found = [(len(chain), int(game.liberties(chain[0])[0])) for chain in caught]
    return sorted((each for each in found if game.is_legal(each[1])), reverse=True)


def is_sound(game: Game, point: int, *, least: int = 2) -> bool:
    """Return whether a move is legal, fills no eye of its own, and leaves its chain so many liberties."""
    if not game.is_legal(point):
        return False
    around = [game.board.color[near] for near in neighbors(point, width=game.width)]
    if all(color not in (0, opponent(game.to_play)) for color in around):
        return False
    return len(after_move(game, point).liberties(point)) >= least


@dataclass
class RingAttacker:
    """Builds the invitation near the middle of the opponent's side, then a wall two lines outside of it."""

    color: int
    random: random.Random
    _hull: frozenset[int] = frozenset()
    _stones: tuple[int, ...] = ()
    made_ring: bool = False
    """Whether the opponent's stones have enclosed the invitation."""

    def move(self, game: Game) -> int:
        """Return the next step of the plan that is possible."""
        if not self._hull:
            self._choose_place(game)
        steps: list[Callable[[Game], list[int]]] = [
            lambda game: [point for size, point in captures(game) if size > 1],
            lambda game: [point for size, point in rescues(game) if size > 1],
            self._ring_liberties,
            lambda game: [point for point in self._stones if is_sound(game, point)],
            self._wall,
            self._elsewhere,
        ]
        return next((points[0] for step in steps if (points := step(game))), PASS)

    def _choose_place(self, game: Game) -> None:
        rows = INVITATION
        left = self.random.randint(3, game.width - 3 - len(rows[0]))
        top = self.random.randint(3, game.height - 3 - len(rows))
        cells = {(x, y): cell for y, row in enumerate(rows) for x, cell in enumerate(row)}
        place = {xy_to_point(left + x, top + y, width=game.width): cell for (x, y), cell in cells.items()}
        self._hull = frozenset(place)
        stones = [point for point, cell in place.items() if cell == "O"]
        self.random.shuffle(stones)
        self._stones = tuple(stones)

    def ring(self, game: Game) -> list[int]:
        """Return the opponent's large chains that go round the invitation's place on three sides or more."""
        found: set[int] = set()
        for chain in chains_of(game):
            if game.board.color[chain[0]] == opponent(self.color) and len(chain) >= RING_STONES:
                sides = {_side(game, self._hull, point) for point in chain}
                if len(sides - {""}) >= 3:
                    found.update(chain)
        return sorted(found)

    def _ring_liberties(self, game: Game) -> list[int]:
        """Return the liberties of a ring that exists, those outside of it first."""
        ring = self.ring(game)
        self.made_ring = self.made_ring or bool(ring)
        liberties = {int(liberty) for point in ring for liberty in game.liberties(point)}
        sound = [point for point in liberties if is_sound(game, point)]
        return sorted(sound, key=lambda point: (point in self._hull, point))

    def _wall(self, game: Game) -> list[int]:
        """Return points two lines outside of the invitation, where the wall around a ring has to be."""
        places = [point_to_xy(point, width=game.width) for point in self._hull]
        (left, top), (right, bottom) = map(min, zip(*places, strict=True)), map(max, zip(*places, strict=True))
        xs, ys = range(left - 2, right + 3), range(top - 2, bottom + 3)
        wall = [
            xy_to_point(x, y, width=game.width)
            for x in xs
            for y in ys
            if (x in (xs[0], xs[-1]) or y in (ys[0], ys[-1])) and 0 <= x < game.width and 0 <= y < game.height
        ]
        self.random.shuffle(wall)
        return [point for point in wall if is_sound(game, point, least=3)]

    def _elsewhere(self, game: Game) -> list[int]:
        points = [*map(int, game.legal_points())]
        self.random.shuffle(points)
        return [point for point in points if is_sound(game, point, least=3)][:1]


def _side(game: Game, hull: frozenset[int], point: int) -> str:
    """Return the side of the hull on which a point lies, empty for the corners."""
    x, y = point_to_xy(point, width=game.width)
    places = [point_to_xy(each, width=game.width) for each in hull]
    xs, ys = [place[0] for place in places], [place[1] for place in places]
    if min(xs) <= x <= max(xs):
        return "above" if y < min(ys) else "below" if y > max(ys) else ""
    if min(ys) <= y <= max(ys):
        return "left" if x < min(xs) else "right"
    return ""


@dataclass
class PassAttacker:
    """Passes where it would win if the game ended; else it secures a corner, then scatters stones."""

    color: int
    random: random.Random

    def move(self, game: Game) -> int:
        """Return a pass where that wins once the opponent passes too, else a move."""
        if len(game.moves) > game.width and game.score().winner == self.color:
            return PASS
        found = [*captures(game), *rescues(game)]
        if found:
            return found[0][1]
        corner = [point for point in self._by_distance(game) if is_sound(game, point)]
        own = int((game.board.color == self.color).sum())
        if own < 2 * game.width and corner:
            return corner[0]
        points = [*map(int, game.legal_points())]
        self.random.shuffle(points)
        lonely = [p for p in points if all(game.board.color[near] == 0 for near in neighbors(p, width=game.width))]
        return next((point for point in [*lonely, *points] if is_sound(game, point)), PASS)

    def _by_distance(self, game: Game) -> list[int]:
        """Return the points of its corner, a rim of a quarter of the board first."""
        rim = game.width // 2

        def rank(point: int) -> tuple[bool, int]:
            x, y = point_to_xy(point, width=game.width)
            if self.color == WHITE:
                x, y = game.width - 1 - x, game.height - 1 - y
            return max(x, y) > rim, abs(max(x, y) - rim)

        points = [*map(int, game.legal_points())]
        self.random.shuffle(points)
        return sorted(points, key=rank)


ATTACKERS: Final[dict[str, Callable[[int, random.Random], Attacker]]] = {"ring": RingAttacker, "pass": PassAttacker}


@dataclass(frozen=True)
class Played:
    """A game against an attacker: who won, how, and its moves."""

    winner: int | None
    reason: str
    game: Game


def play(attacker: Attacker, color: int, engine: SimpleGtpEngine, size: int, komi: float = 7.5) -> Played:
    """Return a game between an attacker of `color` and an engine, which may resign."""
    game = Game(size, size, RULES, komi)
    while not game.is_over and len(game.moves) < LONGEST * size * size:
        if game.to_play == color:
            game.play(attacker.move(game))
            continue
        move = engine.genmove(game).move
        if move is None:
            return Played(color, "resign", game)
        game.play(move)
    return Played(game.score().winner, "passes" if game.is_over else "length", game)
