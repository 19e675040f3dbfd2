"""Commands that evaluate the position by the network or a short search, in formats that GoGui draws."""

from typing import TYPE_CHECKING, Any, Final

from gtp_engine.go.coords import board_points, format_color, parse_color
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.commands.common import show_vertices
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.go.game import Game
    from gtp_engine.gtp.server import GtpServer

SEARCH_SECONDS: Final = 1.0
"""Duration of a search whose result a user at the board is waiting for."""

TOP_MOVES: Final = 10
"""Number of moves shown at most."""


@command("tengen-policy", "", "Map: the network's probability of each move.")
def policy(server: "GtpServer", args: Args) -> str:
    """Return a number from 0 to 1 for every point; no search."""
    engine = server.engine
    return _number_board(engine.game, engine.raw_evaluation().policy[0])


@command(
    "tengen-ownership", "", "Map: the expected owner of each point after a second of search, 1 for Black, -1 for White."
)
def ownership(server: "GtpServer", args: Args) -> str:
    """Return a number from −1 to 1 for every point."""
    report = server.engine.timed_search(SEARCH_SECONDS, cancel=server.cancel)
    return _number_board(server.engine.game, report.ownership_black)


@command("tengen-top_moves", "", "The best moves after a second of search, each with its winrate in percent.")
def top_moves(server: "GtpServer", args: Args) -> str:
    """Return pairs of a vertex and the winrate of the side to play, the best move first."""
    game, report = server.engine.game, server.engine.timed_search(SEARCH_SECONDS, cancel=server.cancel)
    pairs = [
        f"{game.vertex(move.point)} {100 * move.seen_by(report.to_play).winrate:.1f}"
        for move in report.moves[:TOP_MOVES]
    ]
    return " ".join(pairs)


@command("tengen-pv", "COLOR", "The expected moves if this color plays, after a second of search.")
def principal_variation(server: "GtpServer", args: Args) -> str:
    """Return vertices of alternating colors."""
    color = parse_color(args[0])
    report = server.engine.timed_search(SEARCH_SECONDS, color, server.cancel)
    return "" if report.best is None else show_vertices(server.engine.game, report.best.pv)


@command("tengen-winrate", "", "Winrate and lead after a second of search.")
def winrate(server: "GtpServer", args: Args) -> str:
    """Return winrate, lead and visits on three lines, from the view of the side to play."""
    from gtp_engine.search.report import completed  # here: it needs numpy, which comes with the engine

    game = server.engine.game
    report = completed(server.engine.timed_search(SEARCH_SECONDS, cancel=server.cancel), game)
    return "\n".join(
        [
            f"Winrate: {format_color(report.to_play)} {100 * report.winrate:.1f} %",
            f"Lead: {format_color(report.to_play)} {report.seen_by(report.to_play).lead:+.1f}",
            f"Visits: {report.visits}",
        ]
    )


def _number_board(game: "Game", values: Any) -> str:
    """Return one row of numbers for each row of the board, from the top; `values` is indexed by point."""
    numbers = [f"{float(values[point]):.3f}" for point in board_points(game.width, game.height)]
    rows = [numbers[start : start + game.width] for start in range(0, len(numbers), game.width)]
    return "\n".join(" ".join(row) for row in rows)
