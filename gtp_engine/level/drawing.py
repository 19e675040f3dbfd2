"""Draws a move as a person of some rank might: from the policy of a network that imitates people.

    Found         what that starts from: what people play, and what a strong network thinks of the position (`found_at`)
    choose_move   the draw

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

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.go.phases import is_late
from gtp_engine.level.blunders import Blunders
from gtp_engine.level.table import LevelSettings
from gtp_engine.search.puct.root import ending_points
from gtp_engine.search.report import RawEvaluation, for_color

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
        lead = yield _after(game, point, color)
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
    refuted = blunders.refuted(found.best) or _after(game, found.best, color)
    least = for_color((yield refuted), color) + _CLEARLY_BETTER
    best = found.best
    likely = np.argsort(-found.policy, kind="stable")[:_LIKELY_MOVES].tolist()
    likely = [point for point in likely if point != PASS and game.is_legal(point, color)]
    for point in dict.fromkeys([*blunders.rescues(), *likely]):
        if point in found.excluded:
            continue
        lead = for_color((yield _after(game, point, color)), color)
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
    relative = weights[points] / max(weights.max(), 1e-30)
    return points, relative ** (1.0 / temperature)


def _after(game: Game, point: int, color: int) -> Game:
    """Return the game after a move."""
    after = game.copy()
    after.play(point, color)
    return after


def found_at(
    game: Game, color: int, raw: RawEvaluation, people: FloatArray, excluded: frozenset[int] = frozenset()
) -> Found:
    """Return what the strong network's evaluation and people's policy say about the position of `game`.

    Moves that change nothing are excluded besides those of `excluded`.
    """
    excluded |= _useless(game, color, raw.ownership_black)
    best = _likeliest(game, color, raw.policy, excluded)
    return Found(best, raw.policy, people, raw.lead_black, excluded)


def _useless(game: Game, color: int, ownership_black: FloatArray) -> frozenset[int]:
    """Return the moves in settled territory that change nothing, and the pass early in the game."""
    if not is_late(game):
        return frozenset({PASS})
    penalties = ending_points(game, color, ownership_black, 1.0)
    return frozenset(int(point) for point in np.flatnonzero(penalties < 0.0) if point != PASS)


def _likeliest(game: Game, color: int, policy: FloatArray, excluded: frozenset[int]) -> int:
    """Return the legal move of largest probability that is not excluded; a pass if there is none."""
    order = np.argsort(-policy, kind="stable")
    for point in order[policy[order] > 0.0]:
        if point not in excluded and (point == PASS or game.is_legal(int(point), color)):
            return int(point)
    return PASS
