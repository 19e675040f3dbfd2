"""The command of the Computer Go Server: a move together with what the search thinks of the position."""

from typing import TYPE_CHECKING

from gtp_engine.go.coords import parse_color
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.commands.common import ponder_when_sent, record_choice
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.gtp.server import GtpServer


@command(
    "cgos-genmove_analyze",
    "COLOR",
    "Play a move like genmove; the reply is a line of JSON about the search, then `play VERTEX`.",
    syntax="invalid color",
)
def cgos_genmove_analyze(server: "GtpServer", args: Args) -> str:
    """Play the engine's move; its evaluation is sent as a line before it."""
    color, engine = parse_color(args[0]), server.engine
    from gtp_engine.gtp.server_reports import cgos_analysis  # here: it needs numpy, which comes with the engine

    position = engine.game.copy()
    choice = engine.genmove(color, ponder=False, cancel=server.cancel)
    ponder_when_sent(server, choice)
    server.reply.line(cgos_analysis(position, choice.report))
    return f"play {record_choice(server, choice)}"
