"""Scores, utilities and bounds for the report of a search without a network, or with one that predicts no score.

Front ends written for engines with networks draw scores and lower bounds.  Both follow from the owner of every point
and the results of every move.
"""

from dataclasses import replace
from math import sqrt
from typing import Final

from gtp_engine.go.game import Game
from gtp_engine.search.report import MoveReport, SearchReport, winrate_of

LCB_STDEVS: Final = 5.0
"""Standard errors between a winrate and its lower bound; KataGo's `lcbStdevs`."""


def completed(report: SearchReport, game: Game) -> SearchReport:
    """Return a report of a search of `game` with scores, utilities, weights and bounds filled in.

    A report with a network's score is returned unchanged.  Otherwise the lead is the area by ownership, with what
    rollouts count beside it, less komi.  It is the same for every move, because ownership is not collected by move;
    without ownership it stays 0.  Without a network the utility is the value, the weight the visits.
    """
    if report.has_score:
        return report
    lead = 0.0
    if report.ownership_samples:
        lead = float(report.ownership_black.sum()) + report.beside_area_black - game.area_komi
    if report.raw is not None:
        moves = tuple(replace(move, lead_black=lead, score_black=lead) for move in report.moves)
        position = report.retrospect and replace(report.retrospect, lead_black=lead, score_black=lead)
        return replace(report, lead_black=lead, score_black=lead, moves=moves, retrospect=position)
    return replace(
        report,
        lead_black=lead,
        score_black=lead,
        utility_black=report.value_black,
        weight=float(report.visits),
        moves=tuple(_completed_move(move, report.to_play, lead) for move in report.moves),
    )


def _completed_move(move: MoveReport, to_play: int, lead: float) -> MoveReport:
    winrate = winrate_of(move.value_black, to_play)
    # One win and one loss are added for the standard error only: with few visits, all won or all lost, it would be 0
    # and the bound would coincide with the mean.
    share = (winrate * move.visits + 1) / (move.visits + 2)
    bound = winrate - LCB_STDEVS * sqrt(share * (1 - share) / max(1, move.visits))
    return replace(
        move,
        lead_black=lead,
        score_black=lead,
        utility_black=move.value_black,
        weight=float(move.visits),
        selection_weight=float(move.visits),
        lcb=bound,
        utility_lcb=2 * bound - 1,
    )
