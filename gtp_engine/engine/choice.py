"""The engine's answer to a request for a move, and its line in the log."""

from dataclasses import dataclass

from gtp_engine.engine.request import Request
from gtp_engine.errors import counted
from gtp_engine.go.game import Game
from gtp_engine.search.report import SearchReport, for_color


@dataclass(frozen=True)
class Choice:
    """The engine's move, a point or PASS, or its resignation (`point` is PASS then), and the report of the search."""

    point: int
    report: SearchReport
    resign: bool = False


def describe(game: Game, choice: Choice, request: Request) -> str:
    """Return one line about a choice and its search, for the log; `request` is what was searched with."""
    report = choice.report
    line = next((found.pv for found in report.moves if found.point == choice.point), ())
    lead = "" if not report.has_score else f"lead {for_color(report.lead_black, report.to_play):+.1f}, "
    if request.advantage_black:
        lead += f"advantage {for_color(request.advantage_black, report.to_play):+g} doublings, "
    rate = report.playouts / max(report.seconds, 1e-6)
    return (
        f"{'resign' if choice.resign else game.vertex(choice.point)}: winrate {100 * report.winrate:.1f} %, {lead}"
        f"{counted(report.visits, 'visit')}, {rate:.0f} playouts/s, {report.seconds:.2f} s, "
        f"pv {' '.join(map(game.vertex, line)) or 'none'}"
    )
