"""Commands that print the state of board and game and change nothing; names and formats are GNU Go's if it has them."""

from typing import TYPE_CHECKING

from gtp_engine.go.constants import EMPTY, PASS
from gtp_engine.go.coords import board_points, format_color, parse_color
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.commands.common import read_point, read_stone, read_vertex, show_vertices
from gtp_engine.gtp.protocol import GtpError
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.go.game import Game
    from gtp_engine.gtp.server import GtpServer


@command("showboard", "", "The position as text.")
def showboard(server: "GtpServer", args: Args) -> str:
    """Return two lines about the game and the board below them."""
    return server.engine.game.diagram()


@command("is_legal", "COLOR VERTEX", "Whether a move is legal: 1 or 0.", syntax="invalid color or coordinate")
def is_legal(server: "GtpServer", args: Args) -> str:
    """Return "1" when the rules of the game allow the move, superko included, else "0"."""
    color = parse_color(args[0])
    game = server.engine.game
    point = read_vertex(game, args[1])
    return "1" if point == PASS or game.illegal_reason(point, color) is None else "0"


@command("all_legal", "COLOR", "All legal moves of a color, without the pass.", syntax="invalid color")
def all_legal(server: "GtpServer", args: Args) -> str:
    """Return the legal points on one line, row by row from the top left, without the pass."""
    color = parse_color(args[0])
    game = server.engine.game
    return show_vertices(game, game.legal_points(color))


@command("list_stones", "COLOR", "All stones of a color.", syntax="invalid color")
def list_stones(server: "GtpServer", args: Args) -> str:
    """Return the stones on one line, row by row from the top left."""
    color = parse_color(args[0])
    game = server.engine.game
    return show_vertices(game, (point for point in _points(game) if game.color_at(point) == color))


@command("color", "VERTEX", "The color of a point: black, white or empty.", syntax="invalid coordinate")
def color_of(server: "GtpServer", args: Args) -> str:
    """Return the color of a point."""
    game = server.engine.game
    color = game.color_at(read_point(game, args[0]))
    return "empty" if color == EMPTY else format_color(color)


@command("countlib", "VERTEX", "Number of liberties of a chain.", syntax="invalid coordinate")
def countlib(server: "GtpServer", args: Args) -> str:
    """Return the number of liberties of the chain on a point."""
    game = server.engine.game
    return str(len(game.liberties(read_stone(game, args[0]))))


@command("findlib", "VERTEX", "Liberties of a chain.", syntax="invalid coordinate")
def findlib(server: "GtpServer", args: Args) -> str:
    """Return the liberties of the chain on a point, row by row from the top left."""
    game = server.engine.game
    return show_vertices(game, sorted(game.liberties(read_stone(game, args[0]))))


@command("captures", "COLOR", "Number of stones a color has captured.", syntax="invalid color")
def captures(server: "GtpServer", args: Args) -> str:
    """Return the number of stones captured by a color."""
    color = parse_color(args[0])
    return str(server.engine.game.captures[color])


@command("last_move", "", "The last move: color and vertex.")
def last_move(server: "GtpServer", args: Args) -> str:
    """Return the last move; fails when none was played."""
    game = server.engine.game
    if not game.moves:
        raise GtpError("no previous move known")
    return _show_moves(game)[-1]


@command("move_history", "", "All moves, the last one first, one per line.")
def move_history(server: "GtpServer", args: Args) -> str:
    """Return the moves without handicap and set-up stones."""
    return "\n".join(reversed(_show_moves(server.engine.game)))


def _show_moves(game: "Game") -> list[str]:
    return [f"{format_color(move.color)} {game.vertex(move.point)}" for move in game.moves]


def _points(game: "Game") -> tuple[int, ...]:
    return board_points(game.width, game.height)
