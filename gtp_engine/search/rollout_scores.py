"""What a search without a network leaves open in its report, filled in as well as its rollouts allow.

Front ends that were written for engines with networks draw scores and bounds; rollouts know the owner of every point
and the results of every move, and both follow from these.
"""

from dataclasses import replace
from math import sqrt
from typing import Final

from gtp_engine.go.game import Game
from gtp_engine.search.report import MoveReport, SearchReport, winrate_of

LCB_STDEVS: Final = 5.0
"""Standard errors between a winrate and its lower bound; KataGo's `lcbStdevs`."""


def completed(report: SearchReport, game: Game) -> SearchReport:
    """Return a report of a search of `game` with scores, utilities, weights and bounds in it.

    One of a search with a network has them.  Otherwise the lead is the area that ownership promises less komi, for
    single moves too: rollouts do not tell their scores apart.  Utility is the value, weight the visits.
    """
    if report.raw is not None:
        return report
    lead = float(report.ownership_black.sum()) - game.area_komi
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
    # With one more win and one more loss than there were: a bound of few visits must not sit on the mean.
    share = (winrate * move.visits + 1) / (move.visits + 2)
    bound = winrate - LCB_STDEVS * sqrt(share * (1 - share) / max(1, move.visits))
    return replace(
        move,
        lead_black=lead,
        score_black=lead,
        utility_black=move.value_black,
        weight=float(move.visits),
        lcb=bound,
        utility_lcb=2 * bound - 1,
    )
