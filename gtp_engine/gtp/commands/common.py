"""Helpers of several command modules: parse and format vertices of the running game, and the engine's choices."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from gtp_engine.errors import counted
from gtp_engine.go.coords import parse_vertex
from gtp_engine.gtp.args import parse_point
from gtp_engine.gtp.protocol import GtpError

if TYPE_CHECKING:
    from gtp_engine.engine import Choice
    from gtp_engine.go.game import Game
    from gtp_engine.gtp.server import GtpServer


def read_vertex(game: "Game", word: str) -> int:
    """Return the point of the game's board that `word` names, or PASS; raises InvalidVertexError."""
    return parse_vertex(word, width=game.width, height=game.height)


def read_point(game: "Game", word: str) -> int:
    """Return the point of the game's board that `word` names; raises for a pass."""
    return parse_point(word, width=game.width, height=game.height)


def read_stone(game: "Game", word: str) -> int:
    """Return the point that `word` names, which must hold a stone; raises GtpError otherwise."""
    point = read_point(game, word)
    if not game.color_at(point):
        raise GtpError(f"vertex must not be empty: {word} has no stone")
    return point


def show_vertices(game: "Game", points: Iterable[int]) -> str:
    """Return vertices on one line, separated by spaces."""
    return " ".join(map(game.vertex, points))


def show_move(game: "Game", choice: "Choice") -> str:
    """Return the move that the engine chose: a vertex, pass or resign."""
    return "resign" if choice.resign else game.vertex(choice.point)


def ponder_when_sent(server: "GtpServer", choice: "Choice") -> None:
    """Have the engine ponder after a choice that it has played, once the reply with the move has been sent."""
    server.after_reply = partial(server.engine.ponder_after, choice, server.cancel)


def record_choice(server: "GtpServer", choice: "Choice") -> str:
    """Store a choice, and an explanation of it for gomill-explain_last_move; return its move as text."""
    server.last_choice = choice
    server.explanation = explain(server.engine.game, choice)
    return show_move(server.engine.game, choice)


def explain(game: "Game", choice: "Choice") -> str:
    """Return one line about a choice: move, winrate, visits and expected continuation."""
    report, move = choice.report, show_move(game, choice)
    if report.best is None:
        return f"{move} without a search"
    percent = 100 * report.winrate
    expected = show_vertices(game, report.best.pv)
    return f"{move}, winrate {percent:.1f} % after {counted(report.visits, 'visit')}, expected {expected}"
