"""Commands that analyse the board by rules alone: ladders, eyes, pass-alive stones; maps have GoGui's format `cboard`.

The kernels are imported when a command runs, because importing this module must not delay the handshake, and only after
`server.engine`, which waits for the loader: importing numpy in two threads at once may fail.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import xy_to_point
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.commands.common import read_stone
from gtp_engine.gtp.protocol import GtpError
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.go.game import Game
    from gtp_engine.gtp.server import GtpServer

NO_COLOR: Final = '""'
"""GoGui's notation for a point that keeps its background."""


@command(
    "ladder_attack",
    "VERTEX",
    "Whether a ladder captures a chain of one or two liberties: 1 and the move, or 0.",
    syntax="invalid coordinate",
)
def ladder_attack(server: "GtpServer", args: Args) -> str:
    """Return "1 D4" when the attacker, moving first, captures the chain with D4, "0" when it escapes."""
    game = server.engine.game
    import numpy as np

    from gtp_engine.go.board import clone
    from gtp_engine.go.ladder import new_ladder_work, working_attacks_into

    point = read_stone(game, args[0])
    if len(game.liberties(point)) > 2:
        raise GtpError(f"string must have at most 2 liberties: {args[0]} has {len(game.liberties(point))}")
    moves = np.zeros(2, dtype=np.int32)
    work = new_ladder_work(game.width, game.height)
    found = working_attacks_into(clone(game.board), point, work, moves)
    return f"1 {game.vertex(int(moves[0]))}" if found else "0"


@command("tengen-ladders", "", "Map: stones that can be captured in a ladder are red.")
def ladders(server: "GtpServer", args: Args) -> str:
    """Return the stones that a ladder captures, the attacker moving first on chains of two liberties."""
    game = server.engine.game
    import numpy as np

    from gtp_engine.go.board import clone
    from gtp_engine.go.ladder import ladder_map, new_ladder_work

    values = np.zeros_like(game.board.color)
    ladder_map(clone(game.board), new_ladder_work(game.width, game.height), values)
    return _color_board(game, values, {1: "red"})


@command("tengen-eyes", "", "Map: real eyes are green; eyes that are or may become false are yellow.")
def eyes(server: "GtpServer", args: Args) -> str:
    """Return the points surrounded by stones of one color."""
    game = server.engine.game
    import numpy as np

    from gtp_engine.go.tactics import eye_map

    values = np.zeros_like(game.board.color)
    eye_map(game.board, values)
    return _color_board(game, values, {1: "green", 2: "yellow"})


@command("tengen-pass_alive", "", "Map: Black's pass-alive stones and territory are green, White's cyan.")
def pass_alive(server: "GtpServer", args: Args) -> str:
    """Return the stones and territory that are safe even if their owner always passes (Benson)."""
    game = server.engine.game
    from gtp_engine.go.scoring import pass_alive_owners

    owners = pass_alive_owners(game.board, suicide=game.rules.suicide)
    return _color_board(game, owners, {BLACK: "green", WHITE: "cyan"})


def _color_board(game: "Game", values: Any, names: Mapping[int, str]) -> str:
    """Return one row of color names for each row of the board, from the top; `values` is indexed by point."""
    rows = [
        [names.get(int(values[xy_to_point(x, y, width=game.width)]), NO_COLOR) for x in range(game.width)]
        for y in range(game.height)
    ]
    return "\n".join(" ".join(row) for row in rows)
