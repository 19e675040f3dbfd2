"""Commands that set up a game: board size, komi, handicap, positions, rules and time.

Controllers differ in their time commands more than anywhere else (they send fractions, negative times, stones without
overtime), and some give up the game after a `?` reply.  So everything that can be understood is accepted; `clock`
interprets it.
"""

from typing import Final

from gtp_engine.base.errors import BoardNotEmptyError, InvalidSizeError, TimeSettingsError, shown
from gtp_engine.go.clock import KATA_KINDS, KGS_KINDS, MAX_COUNT, TimeSettings
from gtp_engine.go.coords import parse_color
from gtp_engine.go.rules import Rules
from gtp_engine.protocols.gtp.protocol import (
    Command,
    GtpError,
    parse_integer,
    parse_number,
    read_point,
    read_setup,
    show_vertices,
)
from gtp_engine.protocols.gtp.server import GtpServer, command

_NOT_AN_INTEGER = "boardsize not an integer"

_NOT_INTEGERS: Final = "not three integers"
_BAD_TIME_LEFT: Final = "time and stones not two integers"


@command("boardsize", "WIDTH [HEIGHT]", syntax=_NOT_AN_INTEGER, exact=True)
@command("rectangular_boardsize", "WIDTH [HEIGHT]", "The same as boardsize.", syntax=_NOT_AN_INTEGER, exact=True)
def boardsize(server: GtpServer, args: Command) -> None:
    """Set the board size, 2 to 25, and clear the board; a rectangle is also WIDTH:HEIGHT."""
    words = args[0].split(":", 1) if len(args) == 1 else args.words
    width, height = (parse_integer(word, failure=_NOT_AN_INTEGER) for word in (words[0], words[-1]))
    try:
        server.engine.set_board_size(width, height)
    except InvalidSizeError as error:
        raise GtpError(f"unacceptable size: {error}") from error


@command("query_boardsize", "")
def query_boardsize(server: GtpServer, args: Command) -> str:
    """The board size as boardsize takes it: one number, or width and height when they differ."""
    game = server.engine.game
    return str(game.width) if game.width == game.height else f"{game.width} {game.height}"


@command("clear_board", "")
def clear_board(server: GtpServer, args: Command) -> None:
    """Start a new game: no stones, no history, clocks reset; size, komi, rules and time settings stay."""
    server.engine.clear_board()


@command("komi", "KOMI", syntax="komi not a float", exact=True)
def komi(server: GtpServer, args: Command) -> None:
    """Set the komi, any finite number."""
    points = parse_number(args[0], failure="komi not a float")  # before the engine, which may still be loading
    server.engine.set_komi(points)


@command("get_komi", "")
def get_komi(server: GtpServer, args: Command) -> str:
    """The komi, with at least one decimal, such as 7.5, 0.0 or 3.75."""
    return str(float(server.engine.game.komi))


@command("fixed_handicap", "NUMBER", syntax="handicap not an integer", exact=True)
def fixed_handicap(server: GtpServer, args: Command) -> str:
    """Place 2 to 9 handicap stones on their fixed points, which are the reply."""
    number = parse_integer(args[0], failure="handicap not an integer")
    return show_vertices(server.engine.game, server.engine.fixed_handicap(number))


@command("place_free_handicap", "NUMBER", syntax="handicap not an integer", exact=True)
def place_free_handicap(server: GtpServer, args: Command) -> str:
    """Choose and place exactly that many handicap stones; their points are the reply."""
    number = parse_integer(args[0], failure="handicap not an integer")
    return show_vertices(server.engine.game, server.engine.free_handicap(number))


@command("set_free_handicap", "VERTEX...", syntax="bad vertex list")
def set_free_handicap(server: GtpServer, args: Command) -> None:
    """Place two or more handicap stones on these points of an empty board; undo does not remove them."""
    game = server.engine.game
    points = [read_point(game, word) for word in args.words]
    if len(set(points)) < len(points):
        raise GtpError("repeated vertex: every point can hold one stone only")
    server.engine.free_handicap(points)


@command("get_handicap", "")
def get_handicap(server: GtpServer, args: Command) -> str:
    """Number of handicap stones."""
    return str(server.engine.game.handicap)


@command("set_position", "[COLOR VERTEX]...")
def set_position(server: GtpServer, args: Command) -> None:
    """Replace the position by these stones, without any history; without stones the same as clear_board."""
    server.engine.set_up(read_setup(server.engine.game, args.words))


@command("gogui-setup", "[COLOR VERTEX]...")
def gogui_setup(server: GtpServer, args: Command) -> None:
    """Set up stones on the empty board, for GoGui; fails on another one, as its manual requires."""
    game = server.engine.game
    stones = read_setup(game, args.words)
    if game.moves or game.setup_stones or game.handicap:
        raise BoardNotEmptyError("board not empty: send clear_board before gogui-setup")
    server.engine.set_up(stones)


@command("gogui-setup_player", "COLOR", exact=True)
def gogui_setup_player(server: GtpServer, args: Command) -> None:
    """Set the side to play in a set-up position, for GoGui."""
    color = parse_color(args[0])
    if server.engine.game.moves:
        raise GtpError(f"moves have been played: {shown(args[0])} can only be set before the first one")
    server.engine.set_up(server.engine.game.setup_stones, color)


@command("kata-get-rules", "")
def kata_get_rules(server: GtpServer, args: Command) -> str:
    """The rules as JSON on one line, in KataGo's form."""
    return server.engine.game.rules.to_json()


@command("kata-set-rules", "RULES...")
def kata_set_rules(server: GtpServer, args: Command) -> None:
    """Set the rules: a name such as chinese, or JSON as kata-get-rules prints it; the position stays."""
    rules = Rules.parse(args.text)
    server.engine.set_rules(rules)


@command("kata-set-rule", "KEY VALUE", exact=True)
def kata_set_rule(server: GtpServer, args: Command) -> None:
    """Set one field of the rules, for example: ko SIMPLE; the others stay."""
    server.engine.set_rules(server.engine.game.rules.with_value(args[0], args[1]))


@command("kgs-rules", "RULES")
def kgs_rules(server: GtpServer, args: Command) -> None:
    """Set the rules by KGS's name: chinese, japanese, aga or new_zealand; words that follow are ignored."""
    rules = Rules.parse_kgs(args[0])
    server.engine.set_rules(rules)


@command("time_settings", "MAIN_TIME OVERTIME STONES", syntax=_NOT_INTEGERS)
def time_settings(server: GtpServer, args: Command) -> None:
    """Set the time: main time, then seconds and stones of Canadian overtime; overtime for no stones is no limit."""
    try:
        settings = TimeSettings.parse_gtp(args.words)
    except TimeSettingsError as error:
        raise GtpError(f"{_NOT_INTEGERS}: {error}") from error
    server.engine.set_time_settings(settings)


@command("time_left", "COLOR TIME [STONES]", syntax=_BAD_TIME_LEFT)
def time_left(server: GtpServer, args: Command) -> None:
    """Set the clock of a color: seconds left, with STONES above 0 of overtime, for so many stones or byo-yomi periods.

    Negative seconds are passed on to the clock; servers send them for a clock that has just run out.
    """
    color = parse_color(args[0])
    seconds = parse_number(args[1], failure=_BAD_TIME_LEFT)
    stones = parse_number(args[2], failure=_BAD_TIME_LEFT) if len(args) > 2 else 0
    server.engine.set_time_left(color, seconds, int(min(max(stones, 0), MAX_COUNT)))


@command("kgs-time_settings", "KIND [SECONDS...]")
def kgs_time_settings(server: GtpServer, args: Command) -> None:
    """Set the time as on KGS: none, absolute, byoyomi or canadian; words that follow are ignored."""
    settings = TimeSettings.parse(args.words, KGS_KINDS)
    server.engine.set_time_settings(settings)


@command("kata-time_settings", "KIND [SECONDS...]")
def kata_time_settings(server: GtpServer, args: Command) -> None:
    """Set the time as in KataGo: as kgs-time_settings does, and fischer or fischer-capped."""
    settings = TimeSettings.parse(args.words, KATA_KINDS)
    server.engine.set_time_settings(settings)


@command("kata-list_time_settings", "")
def kata_list_time_settings(server: GtpServer, args: Command) -> str:
    """The time systems that kata-time_settings accepts, on one line."""
    return " ".join(KATA_KINDS)
