"""What stderr shows of a search while it runs: draw commands for GoGui, or a line now and then for a person.

GoGui draws what follows `gogui-gfx:` on stderr until an empty line while it waits for a reply (chapter "Live Graphics"
of its manual; the commands are those of the type `gfx` in chapter "Analyze Commands").  Other front ends would show
these lines as text, so they are written only once GoGui has asked for its menu.
"""

from typing import TYPE_CHECKING, Final

from gtp_engine.errors import counted
from gtp_engine.go.constants import BLACK, PASS
from gtp_engine.go.coords import board_points, format_color
from gtp_engine.gtp.server import GOGUI, GOGUI_CLEAR
from gtp_engine.search.limits import Reporting
from gtp_engine.search.report import SearchReport, completed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gtp_engine.go.game import Game
    from gtp_engine.gtp.server import GtpServer

GOGUI_INTERVAL: Final = 0.5
"""Seconds between two pictures: as often as an eye can follow a changing variation."""

TERMINAL_INTERVAL: Final = 1.0
"""Seconds between two lines in a terminal, five for a move by default."""

PV_LENGTH: Final = 8
"""Moves of the expected continuation that are shown; more hide the board."""

LABELLED_MOVES: Final = 8
"""Other moves that are marked with their share of the visits, in percent."""

_LEAST_OWNERSHIP: Final = 0.1
"""Points closer to neutral are not marked: their squares would be dots."""


def live_reporting(server: "GtpServer", position: "Game") -> Reporting:
    """Return how a search from `position` reports to stderr, as GoGui or a person reads it."""
    if server.watching == GOGUI:
        return Reporting(GOGUI_INTERVAL, lambda report: server.log(gogui_graphics(position, report)))
    return Reporting(TERMINAL_INTERVAL, lambda report: server.log(progress_line(position, report)))


def gogui_graphics(game: "Game", report: SearchReport) -> str:
    """Return draw commands for GoGui with a newline after the last, so that the end of the line makes an empty one.

    They show the ownership, the expected continuation as numbered stones, other moves by their visits, and a line.
    """
    report = completed(report, game)
    if report.best is None:
        return GOGUI_CLEAR
    pv = report.best.pv[:PV_LENGTH]
    others = [move for move in report.moves[: LABELLED_MOVES + 1] if move.point not in (PASS, *pv)]
    shares = [(move.point, f"{100 * move.visits / max(1, report.visits):.0f}%") for move in others]
    owned = [
        (point, f"{report.ownership_black[point]:.2f}")
        for point in board_points(game.width, game.height)
        if abs(report.ownership_black[point]) >= _LEAST_OWNERSHIP
    ]
    lines = ["gogui-gfx:", "CLEAR"]
    lines += [f"INFLUENCE {_pairs(game, owned)}"] if owned else []
    lines += [f"LABEL {_pairs(game, shares)}"] if shares else []
    lines += [f"VAR {_variation(game, report.to_play, pv)}", f"TEXT {progress_line(game, report)}"]
    return "\n".join(lines) + "\n"


def progress_line(game: "Game", report: SearchReport) -> str:
    """Return one line about a running search, from the view of the side to play."""
    report = completed(report, game)
    if report.best is None:
        return "Thinking …"
    lead = report.seen_by(report.to_play).lead
    return (
        f"Thinking: {format_color(report.to_play)} {game.vertex(report.best.point)}, winrate {report.winrate:.0%}, "
        f"lead {lead:+.1f}, {counted(report.visits, 'visit')}, {report.seconds:.0f} s"
    )


def _variation(game: "Game", color: int, points: "Iterable[int]") -> str:
    """Return moves of alternating colors as GoGui writes them; a pass keeps its place in the numbering."""
    letters = "bw" if color == BLACK else "wb"
    return " ".join(f"{letters[number % 2]} {game.vertex(point)}" for number, point in enumerate(points))


def _pairs(game: "Game", values: "Iterable[tuple[int, str]]") -> str:
    return " ".join(f"{game.vertex(point)} {text}" for point, text in values)
