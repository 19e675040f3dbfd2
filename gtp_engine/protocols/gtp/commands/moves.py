"""Commands that play and take back moves, the controller's and the engine's, and count the game at its end."""

from functools import partial
from typing import TYPE_CHECKING, Final

from gtp_engine.base.errors import counted, shown
from gtp_engine.go.coords import parse_color
from gtp_engine.go.game import Game
from gtp_engine.protocols.gtp.protocol import Command, GtpError, parse_integer, read_moves, read_point, show_vertices
from gtp_engine.protocols.gtp.reports import GOGUI_CLEAR, choice_text, gogui_graphics, ogs_chat_line, progress_line
from gtp_engine.protocols.gtp.server import GOGUI, GtpServer, command
from gtp_engine.search.limits import Limits, Reporting, SearchRequest

if TYPE_CHECKING:
    from gtp_engine.engine import Choice

STATUSES: Final = ("alive", "seki", "dead")

GOGUI_INTERVAL: Final = 0.5
"""Seconds between two pictures: as often as an eye can follow a changing variation."""

TERMINAL_INTERVAL: Final = 1.0
"""Seconds between two lines in a terminal, five for a move by default."""


@command("play", "COLOR VERTEX", exact=True)
def play(server: GtpServer, args: Command) -> None:
    """Play a stone or a pass, in any order of colors; the engine ponders if it chose this color's last move."""
    color = parse_color(args[0])
    point = server.engine.game.point(args[1])
    server.engine.play(point, color)
    choice = server.last_choice
    if choice is not None and choice.report.to_play == color:
        ponder_when_sent(server, choice)
        server.last_choice = None


@command("gogui-play_sequence", "[COLOR VERTEX]...")
def gogui_play_sequence(server: GtpServer, args: Command) -> None:
    """Play several moves, all or none, for GoGui."""
    server.engine.play_sequence(read_moves(server.engine.game, args.words))


@command("genmove", "COLOR", "Choose a move and play it: a vertex, pass or resign.")
@command("genmove_debug", "COLOR", "The same as genmove, and a table of the search on stderr.")
@command("reg_genmove", "COLOR", "Choose a move as genmove does, but do not play it.")
@command(
    "kgs-genmove_cleanup", "COLOR", "Like genmove, but do not pass while dead stones of the opponent are on the board."
)
def genmove(server: GtpServer, args: Command) -> str:
    """Choose a move; meanwhile GoGui or a person who watches stderr sees the search.

    It is explained by `gomill-explain_last_move`, and reported to OGS's chat if that is configured.
    """
    color, name = parse_color(args[0]), args.name.lower()
    engine = server.engine
    position = engine.game.copy()
    reporting = None
    if is_gogui := server.watching == GOGUI:
        reporting = Reporting(GOGUI_INTERVAL, lambda report: server.log(gogui_graphics(position, report)))
    elif server.watching:
        reporting = Reporting(TERMINAL_INTERVAL, lambda report: server.log(progress_line(position, report)))
    request = SearchRequest(Limits(cancel=server.cancel), reporting=reporting)
    is_played, cleanup = name != "reg_genmove", name == "kgs-genmove_cleanup"
    choice = engine.genmove(color, play=is_played, cleanup=cleanup, ponder=False, request=request)
    if is_played:
        ponder_when_sent(server, choice)
    if is_gogui:
        server.log(GOGUI_CLEAR)
    if engine.config.gtp.ogs_chat and (line := ogs_chat_line(position, choice)):
        server.log(line)
    if name == "genmove_debug":
        log_choice(server, position, choice)
    return record_choice(server, choice)


@command("undo", "")
def undo(server: GtpServer, args: Command) -> None:
    """Take back one move of either color; handicap and set-up stones are not moves.

    GNU Go and KataGo ignore a number here, and qGo sends 0 for one move; but 2 or more is not meant to be one.
    """
    if len(args) and args[0].isdecimal() and args[0].lstrip("0") not in ("", "1"):
        raise GtpError(f"syntax error: undo takes back one move; send gg-undo {shown(args[0])} for several")
    server.engine.undo()


@command("gg-undo", "[NUMBER]", exact=True)
def gg_undo(server: GtpServer, args: Command) -> None:
    """Take back a number of moves (default 1), all or none."""
    number = parse_integer(args[0], failure="syntax error") if len(args) else 1
    if number < 0:
        raise GtpError(f"cannot undo {counted(number, 'move')}", expected="0 or more")
    server.engine.undo(number)


@command("gomill-explain_last_move", "")
def gomill_explain_last_move(server: GtpServer, args: Command) -> str:
    """Winrate, visits and expected moves of the engine's last search; nothing before its first."""
    return server.explanation


def log_choice(server: GtpServer, position: Game, choice: "Choice") -> None:
    """Write a table of the search that a choice in `position` is based on to stderr."""
    server.log(choice_text(position, choice, server.engine.config.gtp.analysis_perspective))


@command("final_score", "")
def final_score(server: GtpServer, args: Command) -> str:
    """The score, such as B+3.5, W+7.0 or 0; dead stones are estimated, and stderr says where it is an estimate.

    There is always a decimal: gogui-twogtp compares the text with those of GNU Go and KataGo.
    """
    found = server.engine.outcome(server.cancel)
    if not found.is_counted:
        server.log(f"The score is an estimate: {found.doubt}.")
    text = str(found.score)
    return text if text == "0" or "." in text else f"{text}.0"


@command("final_status", "VERTEX")
def final_status(server: GtpServer, args: Command) -> str:
    """Status of a stone (alive, seki or dead) or of an empty point at the end of the game."""
    engine = server.engine
    point = read_point(engine.game, args[0])  # before the estimate, which takes seconds
    return engine.outcome(server.cancel).statuses[point]


@command("final_status_list", "STATUS", syntax="missing status")
def final_status_list(server: GtpServer, args: Command) -> str:
    """Groups of stones with that status (alive, seki or dead), one per line; nothing if there are none."""
    status = args[0].lower()
    if status not in STATUSES:
        raise GtpError(f"invalid status {shown(args[0])}", expected=", ".join(STATUSES))
    engine = server.engine
    return "\n".join(show_vertices(engine.game, group) for group in engine.groups_by_status(status, server.cancel))


def ponder_when_sent(server: GtpServer, choice: "Choice") -> None:
    """Have the engine ponder after a choice that it has played, once the reply with the move has been sent."""
    server.after_reply = partial(server.engine.ponder, server.cancel, after=choice)


def record_choice(server: GtpServer, choice: "Choice") -> str:
    """Store a choice and a line that explains it; return its move as text: a vertex, pass or resign."""
    game, report = server.engine.game, choice.report
    move = "resign" if choice.resign else game.vertex(choice.point)
    server.last_choice = choice
    if report.best is None:
        server.explanation = f"{move} without a search"
    else:
        found = f"winrate {100 * report.winrate:.1f}% after {counted(report.visits, 'visit')}"
        server.explanation = f"{move}, {found}, expected {show_vertices(game, report.best.pv)}"
    return move
