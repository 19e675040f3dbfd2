"""Commands that evaluate the position by the network or a short search, for GoGui's drawings and as KataGo does."""

import json
from typing import Final

from gtp_engine.base.errors import counted, shown
from gtp_engine.base.machine import available_cores
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES
from gtp_engine.go.clock import read_number
from gtp_engine.go.coords import format_color, is_color, parse_color
from gtp_engine.go.game import Game
from gtp_engine.protocols.gtp.protocol import Command, GtpError, parse_integer, show_vertices
from gtp_engine.protocols.gtp.reports import board_text, format_evaluation, result_lines, search_text
from gtp_engine.protocols.gtp.server import SYNTAX_ERROR, GtpServer, command

SEARCH_SECONDS: Final = 1.0
"""Duration of a search whose result a user at the board is waiting for."""

TOP_MOVES: Final = 10
"""Number of moves shown at most."""

MOST_VISITS: Final = 10**9
"""Most visits of each search of `kata-benchmark`."""

_NAME_HUMAN: Final = "start the engine with --human-model FILE"
_SET_PROFILE: Final = "set it with kata-set-param humanSLProfile rank_5k"


@command("tengen-policy", "")
def policy(server: GtpServer, args: Command) -> str:
    """Map: the network's probability of each move, from 0 to 1, without a search."""
    shares = server.engine.raw_evaluation().policy[0]
    return board_text(server.engine.game, lambda point: f"{shares[point]:.3f}")


@command("tengen-ownership", "")
def ownership(server: GtpServer, args: Command) -> str:
    """Map: the expected owner of each point after a second of search, 1 for Black, -1 for White."""
    report = server.engine.search(SEARCH_SECONDS, cancel=server.cancel)
    return board_text(server.engine.game, lambda point: f"{report.ownership_black[point]:.3f}")


@command("tengen-top_moves", "")
def top_moves(server: GtpServer, args: Command) -> str:
    """The best moves after a second of search, the best first, each with its winrate in percent."""
    game, report = server.engine.game, server.engine.search(SEARCH_SECONDS, cancel=server.cancel)
    return " ".join(
        f"{game.vertex(move.point)} {100 * move.seen_by(report.to_play).winrate:.1f}"
        for move in report.moves[:TOP_MOVES]
    )


@command("tengen-pv", "COLOR", syntax=SYNTAX_ERROR)
def principal_variation(server: GtpServer, args: Command) -> str:
    """The expected moves if this color plays, after a second of search."""
    color = parse_color(args[0])
    report = server.engine.search(SEARCH_SECONDS, color, server.cancel)
    return "" if report.best is None else show_vertices(server.engine.game, report.best.pv)


@command("tengen-winrate", "")
def winrate(server: GtpServer, args: Command) -> str:
    """Winrate, lead and visits after a second of search, on three lines, from the view of the side to play."""
    report = server.engine.search(SEARCH_SECONDS, cancel=server.cancel)
    color, lead = format_color(report.to_play), report.seen_by(report.to_play).lead
    return f"Winrate: {color} {100 * report.winrate:.1f}%\nLead: {color} {lead:+.1f}\nVisits: {report.visits}"


@command("kata-raw-nn", "[COLOR] [SYMMETRY] [OPTIMISM]")
def kata_raw_nn(server: GtpServer, args: Command) -> str:
    """The network's evaluation of the position, White's view, without a search, in one symmetry (0 to 7) or all."""
    engine = server.engine
    color, symmetries, words = _raw_arguments(engine.game, args)
    optimism = read_number(words[0]) if words else None
    if optimism is not None and not 0 <= optimism <= 1:
        raise GtpError(f"syntax error: optimism {shown(words[0])}", expected="a number from 0 to 1")
    if len(words) > 1:
        raise GtpError(f"syntax error: too many arguments, got {shown(words[1])} after the optimism")
    evaluation = engine.raw_evaluation(color, symmetries, optimism)
    return format_evaluation(evaluation, symmetries, engine.game, color)


@command("kata-raw-human-nn", "[COLOR] [SYMMETRY]")
def kata_raw_human_nn(server: GtpServer, args: Command) -> str:
    """The human-like network's evaluation, as kata-raw-nn prints it, for the profile that is set."""
    engine = server.engine
    if engine.human is None:
        raise GtpError("cannot run kata-raw-human-nn, -human-model was not provided", advice=_NAME_HUMAN)
    if engine.human.info.needs_profile and not engine.config.human.human_profile:
        raise GtpError("cannot run kata-raw-human-nn, humanSLProfile parameter was not set", advice=_SET_PROFILE)
    color, symmetries, rest = _raw_arguments(engine.game, args)
    if rest:
        raise GtpError(f"syntax error: too many arguments, got {shown(rest[0])} after the symmetry")
    evaluation = engine.raw_evaluation(color, symmetries, by_people=True)
    return format_evaluation(evaluation, symmetries, engine.game, color, is_human=True)


@command("debug_moves", "[rawstats] [VERTEX]...")
def debug_moves(server: GtpServer, args: Command) -> str:
    """The board after these moves, what the last search knows about it, and with rawstats the network's evaluation."""
    engine = server.engine
    game, words = engine.game.copy(), [word for word in args.words if word != "rawstats"]
    for word in words:
        game.play(word, tolerant=True)
    report = engine.known(game)
    parts = [game.diagram()]
    if report is not None:
        parts.append(search_text(game, report, engine.config.gtp.analysis_perspective))
    if len(words) < len(args):
        parts += result_lines(engine.raw_evaluation(symmetries=(ALL_SYMMETRIES,), game=game), 0)
    return "\n".join(parts)


@command("kata-benchmark", "VISITS", exact=True)
def kata_benchmark(server: GtpServer, args: Command) -> str:
    """Search ten positions with this many visits each; print the speed in a line of KataGo's format."""
    visits = parse_integer(args[0], failure="visits not an integer")
    if not 1 <= visits <= MOST_VISITS:
        raise GtpError(f"syntax error: {counted(visits, 'visit')}", expected=f"1 to {MOST_VISITS}")
    from gtp_engine.engine.searches import measure_searches  # here: the handshake needs no engine

    engine = server.engine
    engine.clear_cache()
    board = engine.game.width, engine.game.height
    speed = measure_searches(engine.config, engine.evaluator, board, visits, server.cancel)
    engine.clear_cache()
    seconds, batches = max(speed.seconds, 1e-6), max(speed.batches, 1)
    threads = engine.config.network.network_threads or available_cores()
    return (
        f"numSearchThreads = {threads:2d}: {speed.positions} / {speed.positions} positions, "
        f"visits/s = {speed.visits / seconds:.2f} nnEvals/s = {speed.evaluations / seconds:.2f} "
        f"nnBatches/s = {speed.batches / seconds:.2f} avgBatchSize = {speed.evaluations / batches:.2f} "
        f"({speed.seconds:.1f} secs)"
    )


@command("kata-get-models", "")
def kata_get_models(server: GtpServer, args: Command) -> str:
    """The loaded networks, as JSON with KataGo's keys."""
    engine = server.engine
    loaded = [evaluator for evaluator in (engine.evaluator, engine.human) if evaluator is not None]
    facts = [each.info.on(engine.game.width, engine.game.height).katago_facts() for each in loaded]
    return json.dumps(facts, separators=(",", ":"))


def _raw_arguments(game: Game, args: Command) -> tuple[int, tuple[int, ...], list[str]]:
    """Return the color to play, the symmetries to evaluate and the words that follow them.

    The last four symmetries do not exchange rows and columns of a rectangle.
    """
    words = list(args.words)
    color = parse_color(words.pop(0)) if words and is_color(words[0]) else game.to_play
    word = words.pop(0) if words else "all"
    if word.lower() == "all":
        return color, tuple(range(8)), words
    if word not in map(str, range(8)):
        raise GtpError(f"syntax error: symmetry {shown(word)}", expected="0 to 7 or all")
    return color, (int(word),), words
