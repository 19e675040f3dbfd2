"""Draws a move as a person of some rank might, from the network's policy and the visits of a small search.

    Found         what that starts from: one evaluation of the network (`found_by_network`), or a search
    choose_move   the draw

Moves are drawn with probabilities p^(1/T), p being the share of a move in the visits, in which the policy counts as one
visit.  A move that is drawn is refused if it is a blunder that the rank does not make, if it changes nothing late in
the game, or if the network expects it to lose more points than the skill allows; then another one is drawn.  The best
move is refused only if it is such a blunder and another move is clearly better once the opponent has captured.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.go.phases import is_late
from gtp_engine.level.blunders import Blunders
from gtp_engine.level.table import LevelSettings
from gtp_engine.search.puct.root import ending_points
from gtp_engine.search.report import SearchReport, for_color

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

_GREEDY: Final = 0.01
"""Temperature up to which the best move is played."""

Question = Generator[Game, float, int]
"""Yields games, one or two moves on, that have to be evaluated, and receives Black's lead in each; returns the move."""


@dataclass(frozen=True)
class Found:
    """What was found about a position: the network's evaluation of it and, beyond one visit, a search."""

    best: int
    """The best move, which may be a pass."""
    policy: FloatArray
    """[n] by point, the pass at PASS."""
    lead_black: float
    """Points; the best move's after a search."""
    visits: Mapping[int, int]
    """Of each move that was tried."""
    leads_black: Mapping[int, float]
    """Points after each move that was tried."""
    excluded: frozenset[int] = frozenset()
    """Moves that are not played: they change nothing, or were left out on request."""


def choose_move(game: Game, color: int, found: Found, settings: LevelSettings, random: np.random.Generator) -> Question:
    """Return the move of `color` (a generator's result); a pass only if that is the best move."""
    if settings.temperature <= _GREEDY:
        return found.best
    blunders = Blunders(game, color)
    best = yield from _best_unless_refuted(game, color, found, blunders)
    if best == PASS or best != found.best:
        return best
    points, shares = _shares(game, color, found, settings.temperature)
    checks = 0
    for _ in range(_DRAWS):
        if checks == _CHECKS or not shares.any():
            break
        drawn = int(random.choice(points.size, p=shares / shares.sum()))
        point = int(points[drawn])
        if point == best:
            break
        shares[drawn] = 0.0
        if blunders.kind(point) is not None:
            continue
        lead = found.leads_black.get(point)
        if lead is None:
            lead = yield _after(game, point, color)
            checks += 1
        if for_color(lead - found.lead_black, color) >= -settings.allowed_loss:
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


def _shares(game: Game, color: int, found: Found, temperature: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the moves that may be drawn, without a pass, and numbers in proportion to their chance."""
    weights = found.policy.astype(np.float64)
    for point, visits in found.visits.items():
        weights[point] += visits
    weights[PASS] = 0.0
    weights[weights < _LEAST_SHARE * weights.max()] = 0.0
    weights[[*found.excluded]] = 0.0  # last: without the likeliest move, the unlikeliest are still not drawn
    points = np.array([point for point in np.flatnonzero(weights) if game.is_legal(int(point), color)], dtype=np.int64)
    relative = weights[points] / max(weights.max(), 1e-30)
    return points, relative ** (1.0 / temperature)


def _after(game: Game, point: int, color: int) -> Game:
    """Return the game after a move."""
    after = game.copy()
    after.play(point, color)
    return after


def found_by_network(
    game: Game, color: int, evaluation: Evaluation, row: int, excluded: frozenset[int] = frozenset()
) -> Found:
    """Return what one evaluation, in a row, says about the position of `game` with `color` to play.

    Moves that change nothing are excluded besides those of `excluded`.
    """
    excluded |= _useless(game, color, evaluation.ownership_black[row])
    policy = evaluation.policy[row]
    return Found(
        best=_likeliest(game, color, policy, excluded),
        policy=policy,
        lead_black=float(evaluation.lead_black[row]),
        visits={},
        leads_black={},
        excluded=excluded,
    )


def found_by_search(game: Game, report: SearchReport, excluded: frozenset[int] = frozenset()) -> Found:
    """Return what a search found; one that tried no move has the network's evaluation of the root.

    Moves that change nothing are excluded besides those of `excluded`.
    """
    assert report.raw is not None, "levels need a network"
    color = report.to_play
    excluded |= _useless(game, color, report.raw.ownership_black)
    tried = [move for move in report.moves if move.visits > 0 and _is_allowed(game, color, move.point, excluded)]
    return Found(
        best=tried[0].point if tried else _likeliest(game, color, report.raw.policy, excluded),
        policy=report.raw.policy,
        lead_black=tried[0].lead_black if tried else report.raw.lead_black,
        visits={move.point: move.visits for move in tried},
        leads_black={move.point: move.lead_black for move in tried},
        excluded=excluded,
    )


def _useless(game: Game, color: int, ownership_black: FloatArray) -> frozenset[int]:
    """Return the moves in settled territory that change nothing, and the pass early in the game."""
    if not is_late(game):
        return frozenset({PASS})
    penalties = ending_points(game, color, ownership_black, 1.0)
    return frozenset(int(point) for point in np.flatnonzero(penalties < 0.0) if point != PASS)


def _is_allowed(game: Game, color: int, point: int, excluded: frozenset[int]) -> bool:
    return point not in excluded and (point == PASS or game.is_legal(point, color))


def _likeliest(game: Game, color: int, policy: FloatArray, excluded: frozenset[int]) -> int:
    """Return the legal move of largest probability that is not excluded; a pass if there is none."""
    order = np.argsort(-policy, kind="stable")
    for point in order[policy[order] > 0.0]:
        if _is_allowed(game, color, int(point), excluded):
            return int(point)
    return PASS
