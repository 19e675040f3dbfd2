"""What was found about a position, in the form in which a level chooses its move: from a search or one evaluation."""

import numpy as np

from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.go.phases import is_late
from gtp_engine.level.drawing import Found
from gtp_engine.search.puct.root import ending_points
from gtp_engine.search.report import SearchReport


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
