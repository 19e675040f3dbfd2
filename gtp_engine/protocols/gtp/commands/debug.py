"""Commands that print the state of board and game and change nothing, and what the rules alone say about it.

Names and formats are GNU Go's if it has them; maps of ladders, eyes and pass-alive stones have GoGui's format `cboard`.
"""

from collections.abc import Mapping
from math import inf
from typing import Any, Final

import numpy as np

from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.clock import TimeKind
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import format_color, parse_color
from gtp_engine.go.game import Game
from gtp_engine.go.ladder import stones_in_ladders
from gtp_engine.go.tactics import eye_map
from gtp_engine.protocols.gtp.protocol import Command, GtpError, read_point, read_stone, show_vertices
from gtp_engine.protocols.gtp.reports import board_text
from gtp_engine.protocols.gtp.server import GtpServer, command

_UNLIMITED: Final = 1e30
"""Seconds of a clock without a limit, in KataGo's words."""

NO_COLOR: Final = '""'
"""GoGui's notation for a point that keeps its background."""


@command("showboard", "")
def showboard(server: GtpServer, args: Command) -> str:
    """The position as text: two lines about the game, the board below them."""
    return server.engine.game.diagram()


@command("kata-debug-print-tc", "")
def print_time_control(server: GtpServer, args: Command) -> str:
    """Both clocks in KataGo's form, and the least, the planned and the longest time for a move."""
    return "\n".join(_clock_line(server, color) for color in (BLACK, WHITE))


def _clock_line(server: GtpServer, color: int) -> str:
    """Return the settings and the state of a clock, without what the settings do not have."""
    clock, allowed = server.engine.time_for_move(color)
    settings, left = clock.settings, clock.left
    is_limited, in_overtime = settings.kind is not TimeKind.NONE, clock.in_overtime
    facts = {
        "increment": settings.increment,
        "mainTimeLimit": settings.main_time_limit,
        "maxTimePerMove": settings.move_time_limit,
        "originalNumPeriods": settings.periods or int(settings.has_overtime),
        "numStonesPerPeriod": settings.stones or int(settings.has_overtime),
        "perPeriodTime": settings.overtime,
    }
    now = {
        "numPeriodsLeftIncludingCurrent": left.periods or int(settings.has_overtime),
        "numStonesLeftInPeriod": (left.stones or 1) * in_overtime,
        "timeLeftInPeriod": left.period * in_overtime,
    }
    main, rest = (settings.main_time, left.main) if is_limited else (_UNLIMITED, _UNLIMITED)
    words = [f"{format_color(color).capitalize()} originalMainTime {main:g}", *_known(facts)]
    words += [f"mainTimeLeft {rest:g} inOvertime {in_overtime:d}", *_known(now)]
    return " ".join([*words, f"minRecMax 0 {allowed.target:g} {allowed.maximum:g}"])


def _known(facts: Mapping[str, float]) -> list[str]:
    """Return names and values but for those that are 0 or infinite, which the settings do not have."""
    return [f"{name} {value:g}" for name, value in facts.items() if 0 < value < inf]


@command("is_legal", "COLOR VERTEX")
def is_legal(server: GtpServer, args: Command) -> str:
    """Whether a move is legal, superko included: 1 or 0."""
    color = parse_color(args[0])
    return "1" if server.engine.game.is_legal(args[1], color) else "0"


@command("all_legal", "COLOR")
def all_legal(server: GtpServer, args: Command) -> str:
    """All legal moves of a color, row by row from the top left, without the pass."""
    color = parse_color(args[0])
    game = server.engine.game
    return show_vertices(game, game.legal_points(color))


@command("list_stones", "COLOR")
def list_stones(server: GtpServer, args: Command) -> str:
    """All stones of a color, row by row from the top left."""
    color = parse_color(args[0])
    game = server.engine.game
    return show_vertices(game, (point for point, stone in game.stones.items() if stone == color))


@command("color", "VERTEX")
def color_of(server: GtpServer, args: Command) -> str:
    """The color of a point: black, white or empty."""
    game = server.engine.game
    return str(game.color_at(read_point(game, args[0])))


@command("countlib", "VERTEX")
def countlib(server: GtpServer, args: Command) -> str:
    """Number of liberties of a chain."""
    game = server.engine.game
    return str(len(game.liberties(read_stone(game, args[0]))))


@command("findlib", "VERTEX")
def findlib(server: GtpServer, args: Command) -> str:
    """Liberties of a chain, row by row from the top left."""
    game = server.engine.game
    return show_vertices(game, game.liberties(read_stone(game, args[0])))


@command("captures", "COLOR")
def captures(server: GtpServer, args: Command) -> str:
    """Number of stones a color has captured."""
    color = parse_color(args[0])
    return str(server.engine.game.captures[color])


@command("last_move", "")
def last_move(server: GtpServer, args: Command) -> str:
    """The last move: color and vertex; fails when none was played."""
    last = server.engine.game.last_move
    if last is None:
        raise GtpError("no previous move known")
    return str(last)


@command("move_history", "")
def move_history(server: GtpServer, args: Command) -> str:
    """All moves, the last one first, one per line, without handicap and set-up stones."""
    return "\n".join(map(str, reversed(server.engine.game.moves)))


@command("ladder_attack", "VERTEX")
def ladder_attack(server: GtpServer, args: Command) -> str:
    """Whether a ladder captures a chain of one or two liberties, the attacker first: 1 and the move, or 0."""
    game = server.engine.game
    point = read_stone(game, args[0])
    if len(game.liberties(point)) > 2:
        raise GtpError(f"string must have at most 2 liberties: {args[0]} has {len(game.liberties(point))}")
    moves = game.ladder_moves(point)
    return f"1 {moves[0].vertex}" if moves else "0"


@command("tengen-ladders", "")
def ladders(server: GtpServer, args: Command) -> str:
    """Map: stones that can be captured in a ladder are red, the attacker first on chains of two liberties."""
    game = server.engine.game
    return _color_board(game, stones_in_ladders(game.board), {1: "red"})


@command("tengen-eyes", "")
def eyes(server: GtpServer, args: Command) -> str:
    """Map: real eyes are green; eyes that are or may become false are yellow."""
    game = server.engine.game
    values = np.zeros_like(game.board.color)
    eye_map(game.board, values)
    return _color_board(game, values, {1: "green", 2: "yellow"})


@command("tengen-pass_alive", "")
def pass_alive(server: GtpServer, args: Command) -> str:
    """Map: Black's pass-alive stones and territory (Benson) are green, White's cyan."""
    game = server.engine.game
    owners = pass_alive_owners(game.board, suicide=game.rules.suicide)
    return _color_board(game, owners, {BLACK: "green", WHITE: "cyan"})


def _color_board(game: Game, values: Any, names: Mapping[int, str]) -> str:
    """Return one row of color names for each row of the board, from the top; `values` is indexed by point."""
    return board_text(game, lambda point: names.get(int(values[point]), NO_COLOR))
