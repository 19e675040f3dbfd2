"""Commands that report a search while it runs.

The reply to an analyze command continues until the next line comes; the genmove and search variants end with `play
VERTEX`.  Names and formats are KataGo's and Leela Zero's, so that their front ends work.
"""

from typing import TYPE_CHECKING, Final

from gtp_engine.go.coords import parse_color
from gtp_engine.gtp.analysis_options import AnalysisOptions, parse_analysis
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.commands.common import ponder_when_sent, record_choice
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.engine import Choice, Engine
    from gtp_engine.gtp.analysis_output import ReportWriter
    from gtp_engine.gtp.server import GtpServer
    from gtp_engine.search.limits import Limits

_ANALYZE: Final = "[COLOR] [CENTISECONDS] [KEY VALUE]..."
_COLOR: Final = "invalid color"


@command("lz-analyze", _ANALYZE, "Search until the next line, with reports at an interval, as Leela Zero does.")
def lz_analyze(server: "GtpServer", args: Args) -> None:
    """Begin an analysis; see `analysis_options` for the arguments."""
    _start_analysis(server, args, is_kata=False)


@command(
    "kata-analyze",
    _ANALYZE,
    "Search until the next line, with reports in KataGo's format and more options: ownership, rootInfo ...",
)
def kata_analyze(server: "GtpServer", args: Args) -> None:
    """Begin an analysis; see `analysis_options` for the arguments."""
    _start_analysis(server, args, is_kata=True)


@command("lz-genmove_analyze", _ANALYZE, "Play a move like genmove, with reports like lz-analyze meanwhile.")
def lz_genmove_analyze(server: "GtpServer", args: Args) -> str:
    """Play the engine's move; the next line does not interrupt the search."""
    return _search_and_report(server, args, is_kata=False, play=True)


@command("kata-genmove_analyze", _ANALYZE, "Play a move like genmove, with reports like kata-analyze meanwhile.")
def kata_genmove_analyze(server: "GtpServer", args: Args) -> str:
    """Play the engine's move; the next line does not interrupt the search."""
    return _search_and_report(server, args, is_kata=True, play=True)


@command("kata-search", "COLOR", "Choose a move without playing it.", syntax=_COLOR)
def kata_search(server: "GtpServer", args: Args) -> str:
    """Return the engine's move."""
    color = parse_color(args[0])
    choice = server.engine.genmove(color, play=False, cancel=server.cancel)
    return record_choice(server, choice)


@command("kata-search_analyze", _ANALYZE, "Choose a move without playing it, with reports like kata-analyze.")
def kata_search_analyze(server: "GtpServer", args: Args) -> str:
    """Return `play` and the engine's move, which is not played."""
    return _search_and_report(server, args, is_kata=True, play=False)


@command("kata-search_cancellable", "COLOR", "The same as kata-search, but the next line cancels it.", syntax=_COLOR)
def kata_search_cancellable(server: "GtpServer", args: Args) -> None:
    """Choose a move in the background; the reply is the move or `cancelled`."""
    color = parse_color(args[0])
    engine, reply = server.engine, server.reply
    reply.interrupted = "cancelled"
    limits = _limits(server, AnalysisOptions())
    engine.start_genmove(color, limits, lambda choice: reply.end(record_choice(server, choice)))


@command("kata-search_analyze_cancellable", _ANALYZE, "The same as kata-search_analyze, but the next line cancels it.")
def kata_search_analyze_cancellable(server: "GtpServer", args: Args) -> None:
    """Choose a move in the background; the reply ends with `play VERTEX` or `play cancelled`."""
    engine, reply = server.engine, server.reply
    options = parse_analysis(args.words, engine.game, is_kata=True)
    writer = _writer(engine, options, is_kata=True)

    def done(choice: "Choice") -> None:
        reply.line(writer.line(choice.report))
        reply.end(f"play {record_choice(server, choice)}")

    color = engine.game.to_play if options.color is None else options.color
    limits = _limits(server, options, writer)
    reply.interrupted = "play cancelled"
    reply.open()
    engine.start_genmove(color, limits, done)


@command("stop", "", "End an analysis or pondering, as any other line does too.", needs_engine=False)
def stop(server: "GtpServer", args: Args) -> str:
    """Return nothing: the arrival of this line has already ended the analysis."""
    return ""


def _start_analysis(server: "GtpServer", args: Args, *, is_kata: bool) -> None:
    """Start an analysis in the background; its reports become lines of the running command's reply."""
    engine, reply = server.engine, server.reply
    options = parse_analysis(args.words, engine.game, is_kata=is_kata)
    writer = _writer(engine, options, is_kata=is_kata)
    limits = _limits(server, options, writer)
    reply.open()
    engine.start_analysis(options.color, limits)


def _search_and_report(server: "GtpServer", args: Args, *, is_kata: bool, play: bool) -> str:
    """Return the last line of the reply, with the engine's move; the search's reports are sent as lines before it."""
    engine, reply = server.engine, server.reply
    options = parse_analysis(args.words, engine.game, is_kata=is_kata)
    writer = _writer(engine, options, is_kata=is_kata)
    limits = _limits(server, options, writer)
    color = engine.game.to_play if options.color is None else options.color
    reply.open()
    choice = engine.genmove(color, play=play, ponder=False, limits=limits)
    if play:
        ponder_when_sent(server, choice)
    reply.line(writer.line(choice.report))
    return f"play {record_choice(server, choice)}"


def _writer(engine: "Engine", options: AnalysisOptions, *, is_kata: bool) -> "ReportWriter":
    from gtp_engine.gtp.analysis_output import ReportWriter  # here: it needs numpy, which comes with the engine

    return ReportWriter(engine.game.copy(), options, engine.config.gtp.analysis_perspective, is_kata=is_kata)


def _limits(server: "GtpServer", options: AnalysisOptions, writer: "ReportWriter | None" = None) -> "Limits":
    """Return the limits of a search whose reports, if `writer` writes any, become lines of the reply."""
    from gtp_engine.search.limits import Limits, Reporting  # here: it needs numpy, which comes with the engine

    reporting, reply = None, server.reply
    if writer is not None and options.interval is not None:
        reporting = Reporting(options.interval, lambda report: reply.line(writer.line(report)))
    return Limits(
        reporting=reporting,
        restrictions=options.restrictions,
        move_ownership=not options.flags.isdisjoint(("movesOwnership", "movesOwnershipStdev")),
        cancel=server.cancel,
    )
