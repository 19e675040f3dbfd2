"""Draws a move as a person of some rank might: from the policy of a network that imitates people.

    Found         what that starts from: what people play, and what a strong network thinks of the position (`found_at`)
    choose_move   the draw
    Blunders      names moves that people do not make; read from the board alone

Moves are drawn with probabilities p^(1/T), p being the probability that people of the rank play the move.  A move that
is drawn is refused if it is a blunder that people do not make, or if it changes nothing late in the game; the more
points it loses by the strong network, the likelier it is refused too: a person sees a loss of x points with probability
1 − exp(−x / tolerance).  Then another one is drawn.  The strong network's best move is refused only if it is such a
blunder and another move is clearly better once the opponent has captured.  It also decides when to pass.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.engine.level_table import LevelSettings
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.go.board import clone
from gtp_engine.go.constants import PASS, opponent
from gtp_engine.go.coords import neighbors
from gtp_engine.go.game import Game, after_move
from gtp_engine.go.ladder import is_captured_defender_first, new_ladder_work
from gtp_engine.go.phases import is_late
from gtp_engine.go.tactics import count_captures, is_real_eye, would_be_self_atari
from gtp_engine.search.puct.root import ending_points
from gtp_engine.search.report import RawEvaluation, for_color

SELF_ATARI: Final = "self-atari"
OWN_EYE: Final = "filled own eye"
LADDER_RUN: Final = "ladder run"
UNANSWERED_ATARI: Final = "unanswered atari"

MANY_STONES: Final = 3
"""Stones from which giving them up is no throw-in."""


class Blunders:
    """Names the blunders of `color` in the position of `game`, which must not change meanwhile.

        SELF_ATARI         leaves three stones or more of one's own with a single liberty
        OWN_EYE            fills one's own eye
        LADDER_RUN         extends a chain that a ladder captures all the same
        UNANSWERED_ATARI   leaves a chain of three stones or more in atari that could be saved

    The network knows of exceptions (a sacrifice, a nakade, a ko threat), and does not see every atari: the caller asks
    what its best move loses once the opponent has captured (`refuted`).
    """

    def __init__(self, game: Game, color: int) -> None:
        self._game: Final = game
        self._color: Final = color
        self._work: Final = new_ladder_work(game.width, game.height)
        self._savable, self._lost = self._chains_in_atari()

    def kind(self, point: int) -> str | None:
        """Return the kind of blunder that a legal move is, None if it is none of them."""
        board, color = self._game.board, self._color
        if point == PASS:
            return UNANSWERED_ATARI if self._savable else None
        if is_real_eye(board, point, color):
            return OWN_EYE
        captured = count_captures(board, point, color)
        after = after_move(self._game, point, color)
        if would_be_self_atari(board, point, color) and len(after.chain(point)) >= MANY_STONES:
            return SELF_ATARI
        if captured == 0 and point in self._lost and len(after.liberties(point)) <= 2:
            return LADDER_RUN
        if captured < MANY_STONES and any(len(after.liberties(stone)) == 1 for stone in self._savable):
            return UNANSWERED_ATARI
        return None

    def rescues(self) -> list[int]:
        """Return moves that save a large chain in atari by extending it or by capturing beside it."""
        points: set[int] = {self._game.liberties(stone)[0] for stone in self._savable}
        for stone in self._savable:
            points |= self._captures_beside(stone)
        return sorted(point for point in points if self._game.is_legal(point, self._color) and self.kind(point) is None)

    def refuted(self, point: int) -> Game | None:
        """Return the game after a move and the capture of the largest chain that it leaves in atari, None if none."""
        after = after_move(self._game, point, self._color)
        stones = [*self._savable, *([] if point == PASS else [point])]
        exposed = [stone for stone in stones if len(after.liberties(stone)) == 1]
        for stone in sorted(exposed, key=lambda stone: -len(after.chain(stone))):
            liberty = after.liberties(stone)[0]
            if after.is_legal(liberty, opponent(self._color)):
                after.play(liberty, opponent(self._color))
                return after
        return None

    def _captures_beside(self, stone: int) -> set[int]:
        """Return the last liberties of enemy chains in atari that touch a chain."""
        game, found = self._game, set[int]()
        for own in game.chain(stone):
            for neighbor in neighbors(own, width=game.width):
                if game.board.color[neighbor] == opponent(self._color) and len(game.liberties(neighbor)) == 1:
                    found.add(game.liberties(neighbor)[0])
        return found

    def _chains_in_atari(self) -> tuple[tuple[int, ...], dict[int, int]]:
        """Return a stone of each large chain that can be saved, and of each lost one by its last liberty."""
        game, savable, lost = self._game, list[int](), dict[int, int]()
        board = clone(game.board)
        heads = np.flatnonzero((board.color == self._color) & (board.head == np.arange(board.head.size)))
        counts, sums, squares = (
            values[heads].astype(np.int64) for values in (board.libs, board.lib_sum, board.lib_squares)
        )
        for point in heads[(counts > 0) & (counts * squares == sums * sums)].tolist():  # as `is_in_atari`
            liberty = game.liberties(point)[0]
            if is_captured_defender_first(board, point, self._work):
                lost[liberty] = point
            elif len(game.chain(point)) >= MANY_STONES:
                savable.append(point)
        return tuple(savable), lost


_DRAWS: Final = 12
"""Moves drawn at most, before the best one is played."""

_CHECKS: Final = 3
"""Moves at most whose loss the network is asked for; where so many lose too much, the best move is played."""

_CLEARLY_BETTER: Final = 2.0
"""Points by which another move must be better than the best one after the capture that refutes it: more than the
network's evaluations differ by chance from one move to the next."""

_LIKELY_MOVES: Final = 5
"""Moves of the policy that are compared with those that save stones in atari."""

_LEAST_SHARE: Final = 0.001
"""Share of the best move's probability below which a move is not drawn, however soft the policy."""

VARIED_SHARE: Final = 0.05
"""Moves of the opening, for each point of the board (18 on 19×19), in which strong levels vary as much as people do:
the temperature is 1 at least."""

Question = Generator[Game, float, int]
"""Yields games, one or two moves on, that have to be evaluated, and receives Black's lead in each; returns the move."""


@dataclass(frozen=True)
class Found:
    """What was found about a position."""

    best: int
    """The strong network's best move, which may be a pass."""
    policy: FloatArray
    """[n] by point, the pass at PASS: the strong network's."""
    people: FloatArray
    """[n] by point: what people play."""
    lead_black: float
    """Points, by the strong network."""
    excluded: frozenset[int] = frozenset()
    """Moves that are not played: they change nothing, or were left out on request."""


def choose_move(game: Game, color: int, found: Found, settings: LevelSettings, random: np.random.Generator) -> Question:
    """Return the move of `color` (a generator's result); a pass only if that is the best move."""
    blunders = Blunders(game, color)
    best = yield from _best_unless_refuted(game, color, found, blunders)
    if best == PASS or best != found.best:
        return best
    is_opening = len(game.moves) < VARIED_SHARE * game.width * game.height
    temperature = max(settings.temperature, 1.0) if is_opening else settings.temperature
    points, shares = _shares(found, temperature)
    checks = 0
    for _ in range(_DRAWS):
        if checks == _CHECKS or not shares.any():
            break
        drawn = int(random.choice(points.size, p=shares / shares.sum()))
        point = int(points[drawn])
        if point == best:
            break
        shares[drawn] = 0.0
        if not game.is_legal(point, color) or blunders.kind(point) is not None:
            continue
        lead = yield after_move(game, point, color)
        checks += 1
        if for_color(found.lead_black - lead, color) <= settings.tolerance * random.standard_exponential():
            return point
    return best


def _best_unless_refuted(game: Game, color: int, found: Found, blunders: Blunders) -> Question:
    """Return the best move, or another one if it looks like a blunder and is clearly worse after a capture, if any.

    The network often does not see that stones are in atari.  The other moves are those that save the stones, and the
    likeliest; one that is such a move itself must be better before and after the capture.
    """
    if blunders.kind(found.best) is None:
        return found.best
    refuted = blunders.refuted(found.best) or after_move(game, found.best, color)
    least = for_color((yield refuted), color) + _CLEARLY_BETTER
    best = found.best
    likely = np.argsort(-found.policy, kind="stable")[:_LIKELY_MOVES].tolist()
    likely = [point for point in likely if found.policy[point] > 0 and point != PASS and game.is_legal(point, color)]
    for point in dict.fromkeys([*blunders.rescues(), *likely]):
        if point in found.excluded:
            continue
        lead = for_color((yield after_move(game, point, color)), color)
        if lead > least and blunders.kind(point) is not None and (capture := blunders.refuted(point)) is not None:
            lead = min(lead, for_color((yield capture), color))
        if lead > least:
            best, least = point, lead
    return best


def _shares(found: Found, temperature: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the moves that may be drawn, without a pass, and numbers in proportion to their chance."""
    weights = found.people.astype(np.float64)
    weights[PASS] = 0.0
    weights[weights < _LEAST_SHARE * weights.max()] = 0.0
    weights[[*found.excluded]] = 0.0  # last: without the likeliest move, the unlikeliest are still not drawn
    points = np.flatnonzero(weights)
    return points, (weights[points] / max(weights.max(), 1e-30)) ** (1.0 / temperature)


def found_at(
    game: Game, color: int, raw: RawEvaluation, people: FloatArray, excluded: frozenset[int] = frozenset()
) -> Found:
    """Return what the strong network's evaluation and people's policy say about the position of `game`.

    Besides the moves of `excluded` those in settled territory that change nothing are excluded, and the pass early in
    the game.  Where no move is left, the best one is a pass.
    """
    if is_late(game):
        penalties = ending_points(game, color, raw.ownership_black, 1.0)
        excluded |= {*np.flatnonzero(penalties < 0.0).tolist()} - {PASS}
    else:
        excluded |= {PASS}
    order = np.argsort(-raw.policy, kind="stable").tolist()
    likely = (point for point in order if raw.policy[point] > 0.0 and point not in excluded)
    best = next((point for point in likely if point == PASS or game.is_legal(point, color)), PASS)
    return Found(best, raw.policy, people, raw.lead_black, excluded)
