"""Commands that report a search while it runs, and the move of CGOS together with what the search thinks.

The reply to an analyze command continues until the next line comes; the genmove and search variants end with `play
VERTEX`.  Names and formats are KataGo's and Leela Zero's, so that their front ends work.

Their arguments: whose move, how often to report, what to show, which moves to leave out.

    lz-analyze [COLOR] [CENTISECONDS] {KEY VALUE}
    kata-analyze b 50 maxmoves 10 ownership true avoid w D4,Q16 3

Keys and grammar are KataGo's (`docs/GTP_Extensions.md`): interval, minmoves, maxmoves, avoid and allow for all, the
rest for the kata- commands.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from gtp_engine.base.errors import shown
from gtp_engine.go.clock import read_number
from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import board_points, format_color, is_color, parse_color
from gtp_engine.go.game import Game
from gtp_engine.protocols.gtp.commands.moves import log_choice, ponder_when_sent, record_choice
from gtp_engine.protocols.gtp.protocol import Command, GtpError, parse_integer
from gtp_engine.protocols.gtp.reports import analysis_line, cgos_analysis
from gtp_engine.protocols.gtp.server import GtpServer, command
from gtp_engine.protocols.report_values import ReportView
from gtp_engine.search.limits import Limits, Reporting, Restriction, SearchRequest
from gtp_engine.search.report import SearchReport

if TYPE_CHECKING:
    from gtp_engine.engine import Choice

SHORTEST_INTERVAL: Final = 0.01
"""Seconds; shorter intervals between reports are raised to this, which is faster than any front end draws."""

LONGEST_INTERVAL: Final = 1e9
"""Seconds; a longer interval is refused."""

MOST_RESTRICTIONS: Final = 1000
"""Of moves, in a command."""

FLAGS: Final = (
    "rootInfo",
    "ownership",
    "ownershipStdev",
    "movesOwnership",
    "movesOwnershipStdev",
    "pvVisits",
    "pvEdgeVisits",
    "noResultValue",
)
"""Keys of the kata- commands that are followed by true or false."""

_BOOLEANS: Final = {"true": True, "false": False, "1": True, "0": False}

_ANALYZE: Final = "[COLOR] [CENTISECONDS] [KEY VALUE]..."


# --- arguments ---


@dataclass(slots=True)
class AnalysisOptions:
    """The arguments of an analyze command; without an `interval` (seconds) the search sends no reports."""

    color: int | None = None
    interval: float | None = None
    min_moves: int = 0
    max_moves: int | None = None
    flags: set[str] = field(default_factory=set)
    """Those of `FLAGS` that are true."""
    restrictions: list[Restriction] = field(default_factory=list)
    allowed: set[int] = field(default_factory=set)
    """The colors whose restrictions are those of `allow`."""


def parse_analysis(words: tuple[str, ...], game: Game, *, is_kata: bool) -> AnalysisOptions:
    """Return the arguments of an analyze command; raises GtpError, InvalidColorError or InvalidVertexError."""
    options, rest = AnalysisOptions(), deque(words)
    if rest and is_color(rest[0]):
        options.color = parse_color(rest.popleft())
    if rest and read_number(rest[0]) >= 0:
        options.interval = _interval(rest.popleft())
    while rest:
        key = rest.popleft()
        if key == "interval":
            options.interval = _interval(_next(rest, key))
        elif key == "minmoves":
            options.min_moves = _count(_next(rest, key), key)
        elif key == "maxmoves":
            options.max_moves = _count(_next(rest, key), key)
        elif key in FLAGS and is_kata:
            (options.flags.add if _flag(_next(rest, key), key) else options.flags.discard)(key)
        elif key in ("avoid", "allow"):
            _restrict(options, key, rest, game)
        else:
            known = ["interval", "minmoves", "maxmoves", "avoid", "allow", *(FLAGS if is_kata else ())]
            raise GtpError(f"syntax error: {shown(key)}", expected=f"one of {', '.join(known)}")
    return options


def _restrict(options: AnalysisOptions, key: str, rest: deque[str], game: Game) -> None:
    """Leave out the moves of `avoid COLOR VERTEX,... DEPTH`, or all others for `allow`."""
    color = parse_color(_next(rest, key))
    vertices = [word for word in _next(rest, key).split(",") if word]
    named = frozenset[int](map(game.point, vertices))
    depth = parse_integer(_next(rest, key), failure=f"syntax error in {key}", expected="a depth in moves")
    if depth < 1:
        raise GtpError(f"syntax error in {key}: depth {depth}", expected="1 or more")
    if len(options.restrictions) >= MOST_RESTRICTIONS:
        raise GtpError("syntax error: too many restrictions", expected=f"{MOST_RESTRICTIONS} at most")
    if color in options.allowed or (key == "allow" and any(known.color == color for known in options.restrictions)):
        expected = "one allow or any number of avoid for a color, not both"
        raise GtpError(f"syntax error in {key}: {format_color(color)} again", expected=expected)
    if key == "allow":
        options.allowed.add(color)
        named = frozenset((*board_points(game.width, game.height), PASS)) - named
    options.restrictions.append(Restriction(color, named, depth))


def _interval(word: str) -> float:
    """Return the seconds in a number of centiseconds."""
    value = read_number(word)
    if not 0 <= value <= 100 * LONGEST_INTERVAL:
        raise GtpError(f"syntax error in interval: got {shown(word)}", expected="centiseconds, 0 or more")
    return max(SHORTEST_INTERVAL, value / 100)


def _count(word: str, key: str) -> int:
    count = parse_integer(word, failure=f"syntax error in {key}", expected="a number of moves")
    if count < 0:
        raise GtpError(f"syntax error in {key}: got {count}", expected="0 or more")
    return count


def _flag(word: str, key: str) -> bool:
    if word.lower() not in _BOOLEANS:
        raise GtpError(f"syntax error in {key}: got {shown(word)}", expected="true or false")
    return _BOOLEANS[word.lower()]


def _next(rest: deque[str], key: str) -> str:
    if not rest:
        raise GtpError(f"syntax error: {key} at the end", expected="a value after it")
    return rest.popleft()


# --- commands ---


@command("lz-analyze", _ANALYZE, "Search until the next line, with reports at an interval, as Leela Zero does.")
@command(
    "kata-analyze",
    _ANALYZE,
    "Search until the next line, with reports in KataGo's format and more options: ownership, rootInfo ...",
)
def analyze(server: GtpServer, args: Command) -> None:
    """Start an analysis in the background; its reports become lines of the running command's reply."""
    color, request, _ = _asked(server, args)
    server.reply.interrupted = ""
    server.reply.open()
    server.engine.start_analysis(color, request)


@command("lz-genmove_analyze", _ANALYZE, "Play a move like genmove, with reports like lz-analyze meanwhile.")
@command("kata-genmove_analyze", _ANALYZE, "Play a move like genmove, with reports like kata-analyze meanwhile.")
@command(
    "kata-search_analyze",
    _ANALYZE,
    "Choose a move without playing it, with reports like kata-analyze; the reply ends with `play VERTEX`.",
)
def genmove_analyze(server: GtpServer, args: Command) -> str:
    """Choose a move, with the search's reports as lines before it; the next line does not interrupt the search."""
    color, request, write = _asked(server, args)
    server.reply.open()
    is_played = "genmove" in args.name.lower()
    choice = server.engine.genmove(color, play=is_played, ponder=False, request=request)
    if is_played:
        ponder_when_sent(server, choice)
    server.reply.line(write(choice.report))
    return f"play {record_choice(server, choice)}"


@command("kata-search", "COLOR", "Choose a move without playing it.")
@command("kata-search_debug", "COLOR", "The same as kata-search, and a table of the search on stderr.")
def kata_search(server: GtpServer, args: Command) -> str:
    """Choose a move; the next line does not interrupt the search."""
    color = parse_color(args[0])
    choice = server.engine.genmove(color, play=False, cancel=server.cancel)
    if args.name.lower().endswith("_debug"):
        log_choice(server, server.engine.game, choice)
    return record_choice(server, choice)


@command("kata-search_cancellable", "COLOR")
def kata_search_cancellable(server: GtpServer, args: Command) -> None:
    """The same as kata-search, but the next line cancels it; then the reply is `cancelled`."""
    color, reply = parse_color(args[0]), server.reply
    reply.interrupted = "cancelled"
    limits = Limits(cancel=server.cancel)
    server.engine.start_analysis(color, limits, lambda choice: reply.end(record_choice(server, choice)))


@command("kata-search_analyze_cancellable", _ANALYZE)
def kata_search_analyze_cancellable(server: GtpServer, args: Command) -> None:
    """The same as kata-search_analyze, but the next line cancels it; then the reply ends with `play cancelled`."""
    color, request, write = _asked(server, args)
    reply = server.reply

    def done(choice: "Choice") -> None:
        reply.line(write(choice.report))
        reply.end(f"play {record_choice(server, choice)}")

    reply.interrupted = "play cancelled"
    reply.open()
    server.engine.start_analysis(color, request, done)


@command("stop", "")
def stop(server: GtpServer, args: Command) -> None:
    """End an analysis or pondering, as any other line does too when it arrives."""


def _asked(server: GtpServer, args: Command) -> tuple[int | None, SearchRequest, Callable[[SearchReport], str]]:
    """Return whose move is asked for, the search, whose reports become lines of the reply, and what writes these."""
    engine, reply, is_kata = server.engine, server.reply, args.name.lower().startswith("kata-")
    options = parse_analysis(args.words, engine.game, is_kata=is_kata)
    perspective, pv_length = engine.config.gtp.analysis_perspective, engine.config.analysis.pv_length + 1
    game = engine.game.copy()  # an analysis in the background goes on while the engine's changes

    def write(report: SearchReport) -> str:
        view = ReportView(game, perspective, report.to_play, pv_length, options.flags)
        least, most = options.min_moves, options.max_moves
        return analysis_line(report, view, is_kata=is_kata, min_moves=least, max_moves=most)

    reporting = None
    if options.interval is not None:
        reporting = Reporting(options.interval, lambda report: reply.line(write(report)))
    request = SearchRequest(
        Limits(cancel=server.cancel),
        reporting=reporting,
        restrictions=tuple(options.restrictions),
        move_ownership=not options.flags.isdisjoint(("movesOwnership", "movesOwnershipStdev")),
    )
    return options.color, request, write


@command("cgos-genmove_analyze", "COLOR")
def cgos_genmove_analyze(server: GtpServer, args: Command) -> str:
    """Play a move like genmove; the reply is a line of JSON about the search, then `play VERTEX`."""
    color, engine = parse_color(args[0]), server.engine
    position = engine.game.copy()
    choice = engine.genmove(color, ponder=False, cancel=server.cancel)
    ponder_when_sent(server, choice)
    server.reply.line(cgos_analysis(position, choice.report))
    return f"play {record_choice(server, choice)}"
