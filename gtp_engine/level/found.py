"""What was found about a position, in the form in which a level chooses its move: from a search or one evaluation."""

import numpy as np

from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.go.late_game import is_late
from gtp_engine.level.drawing import Found
from gtp_engine.search.puct.root import ending_points
from gtp_engine.search.report import SearchReport


def found_by_network(
    game: Game, color: int, evaluation: Evaluation, row: int, left_out: frozenset[int] = frozenset()
) -> Found:
    """Return what one evaluation, in a row, says about the position of `game` with `color` to play.

    Moves of `left_out` are not played.
    """
    useless = _useless(game, color, evaluation.ownership_black[row]) | left_out
    policy = evaluation.policy[row]
    return Found(
        best=_likeliest(game, color, policy, useless),
        policy=policy,
        lead_black=float(evaluation.lead_black[row]),
        visits={},
        leads_black={},
        useless=useless,
    )


def found_by_search(game: Game, report: SearchReport, left_out: frozenset[int] = frozenset()) -> Found:
    """Return what a search found; one that tried no move has the network's evaluation of the root.

    Moves of `left_out` are not played.
    """
    assert report.raw is not None, "levels need a network"
    color = report.to_play
    useless = _useless(game, color, report.raw.ownership_black) | left_out
    tried = [move for move in report.moves if move.visits > 0 and _is_allowed(game, color, move.point, useless)]
    return Found(
        best=tried[0].point if tried else _likeliest(game, color, report.raw.policy, useless),
        policy=report.raw.policy,
        lead_black=tried[0].lead_black if tried else report.raw.lead_black,
        visits={move.point: move.visits for move in tried},
        leads_black={move.point: move.lead_black for move in tried},
        useless=useless,
    )


def _useless(game: Game, color: int, ownership_black: FloatArray) -> frozenset[int]:
    """Return the moves in settled territory that change nothing, and the pass early in the game."""
    if not is_late(game):
        return frozenset({PASS})
    penalties = ending_points(game, color, ownership_black, 1.0)
    return frozenset(int(point) for point in np.flatnonzero(penalties < 0.0) if point != PASS)


def _is_allowed(game: Game, color: int, point: int, useless: frozenset[int]) -> bool:
    return point not in useless and (point == PASS or game.is_legal(point, color))


def _likeliest(game: Game, color: int, policy: FloatArray, useless: frozenset[int]) -> int:
    """Return the move of largest probability that changes something; a pass if there is none."""
    order = np.argsort(-policy, kind="stable")
    for point in order[policy[order] > 0.0]:
        if _is_allowed(game, color, int(point), useless):
            return int(point)
    return PASS
