"""Commands that play and take back moves, the controller's and the engine's."""

from typing import TYPE_CHECKING

from gtp_engine.errors import counted, problem, shown
from gtp_engine.go.coords import parse_color
from gtp_engine.gtp.args import Args, parse_integer, parse_moves
from gtp_engine.gtp.commands.common import ponder_when_sent, read_vertex, record_choice
from gtp_engine.gtp.protocol import GtpError
from gtp_engine.gtp.registry import command
from gtp_engine.gtp.server import GOGUI, GOGUI_CLEAR

if TYPE_CHECKING:
    from gtp_engine.engine import Choice
    from gtp_engine.go.game import Game
    from gtp_engine.gtp.server import GtpServer
    from gtp_engine.search.limits import Limits


@command(
    "play",
    "COLOR VERTEX",
    "Play a stone or a pass, in any order of colors.",
    syntax="invalid color or coordinate",
    exact=True,
)
def play(server: "GtpServer", args: Args) -> str:
    """Play a move; the engine ponders after it if it has chosen the last move of this colour, as with kata-search."""
    color = parse_color(args[0])
    point = read_vertex(server.engine.game, args[1])
    server.engine.play(color, point)
    choice = server.last_choice
    if choice is not None and choice.report.to_play == color:
        ponder_when_sent(server, choice)
        server.last_choice = None
    return ""


@command("gogui-play_sequence", "[COLOR VERTEX]...", "Play several moves, all or none, for GoGui.")
def gogui_play_sequence(server: "GtpServer", args: Args) -> str:
    """Play moves; when one of them is illegal nothing is played."""
    game = server.engine.game
    server.engine.play_sequence(parse_moves(args.words, width=game.width, height=game.height))
    return ""


@command("genmove", "COLOR", "Choose a move and play it: a vertex, pass or resign.", syntax="invalid color")
def genmove(server: "GtpServer", args: Args) -> str:
    """Play the engine's move."""
    color = parse_color(args[0])
    return _choose(server, color)


@command("reg_genmove", "COLOR", "Choose a move as genmove does, but do not play it.", syntax="invalid color")
def reg_genmove(server: "GtpServer", args: Args) -> str:
    """Return the engine's move without playing it."""
    color = parse_color(args[0])
    return _choose(server, color, play=False)


@command(
    "kgs-genmove_cleanup",
    "COLOR",
    "Like genmove, but do not pass while dead stones of the opponent are on the board.",
    syntax="invalid color",
)
def kgs_genmove_cleanup(server: "GtpServer", args: Args) -> str:
    """Play the engine's move after a dispute about dead stones."""
    color = parse_color(args[0])
    return _choose(server, color, cleanup=True)


@command("undo", "", "Take back one move.")
def undo(server: "GtpServer", args: Args) -> str:
    """Take back the last move of either color; handicap and set-up stones are not moves.

    GNU Go and KataGo ignore a number here, and qGo sends 0 for one move; but 2 or more is not meant to be one.
    """
    if len(args) and args[0].isdecimal() and args[0].lstrip("0") not in ("", "1"):
        raise GtpError(f"syntax error: undo takes back one move; send gg-undo {shown(args[0])} for several")
    server.engine.undo()
    return ""


@command("gg-undo", "[NUMBER]", "Take back a number of moves (default 1), all or none.", exact=True)
def gg_undo(server: "GtpServer", args: Args) -> str:
    """Take back several moves."""
    number = parse_integer(args[0], failure="syntax error") if len(args) else 1
    if number < 0:
        raise GtpError(problem(f"cannot undo {counted(number, 'move')}", expected="0 or more"))
    server.engine.undo(number)
    return ""


@command(
    "gomill-explain_last_move",
    "",
    "Winrate, visits and expected moves of the last search.",
    needs_engine=False,
)
def gomill_explain_last_move(server: "GtpServer", args: Args) -> str:
    """Return one line about the engine's last move; nothing before its first."""
    return server.explanation


def _choose(server: "GtpServer", color: int, *, play: bool = True, cleanup: bool = False) -> str:
    """Return the engine's move as text; stores an explanation of it, and reports it to OGS's chat if configured.

    Meanwhile GoGui or a person who watches stderr sees the search.
    """
    engine = server.engine
    position = engine.game.copy()
    limits = _limits(server, position)
    choice = engine.genmove(color, play=play, cleanup=cleanup, ponder=False, limits=limits)
    if play:
        ponder_when_sent(server, choice)
    if server.watching == GOGUI:
        server.log(GOGUI_CLEAR)
    if engine.config.gtp.ogs_chat:
        _report_to_ogs(server, position, choice)
    return record_choice(server, choice)


def _limits(server: "GtpServer", position: "Game") -> "Limits":
    """Return the limits of a search that reports to stderr if that is watched."""
    from gtp_engine.gtp.live_reports import live_reporting  # here: these need numpy, which comes with the engine
    from gtp_engine.search.limits import Limits

    return Limits(reporting=live_reporting(server, position) if server.watching else None, cancel=server.cancel)


def _report_to_ogs(server: "GtpServer", position: "Game", choice: "Choice") -> None:
    from gtp_engine.gtp.server_reports import ogs_chat_line  # here: it needs numpy, which comes with the engine

    if line := ogs_chat_line(position, choice):
        server.log(line)
