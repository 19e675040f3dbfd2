"""Commands about the end of the game: the score and the status of stones."""

from typing import TYPE_CHECKING, Final

from gtp_engine.errors import problem, shown
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.commands.common import read_point, show_vertices
from gtp_engine.gtp.protocol import GtpError
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.gtp.server import GtpServer

STATUSES: Final = ("alive", "seki", "dead")


@command("final_score", "", "The score, such as B+3.5, W+0.5 or 0; dead stones are estimated.")
def final_score(server: "GtpServer", args: Args) -> str:
    """Return the score of the position under the game's rules."""
    return str(server.engine.score(server.cancel))


@command(
    "final_status",
    "VERTEX",
    "Status of a stone (alive, seki or dead) or of an empty point.",
    syntax="invalid coordinate",
)
def final_status(server: "GtpServer", args: Args) -> str:
    """Return the status of one point at the end of the game."""
    engine = server.engine
    point = read_point(engine.game, args[0])  # before the estimate, which takes seconds
    return engine.final_status(server.cancel)[point]


@command(
    "final_status_list",
    "STATUS",
    "Groups of stones with that status (alive, seki or dead), one per line.",
    syntax="missing status",
)
def final_status_list(server: "GtpServer", args: Args) -> str:
    """Return the groups that are alive, in seki or dead, one per line; nothing if there are none."""
    status = args[0].lower()
    if status not in STATUSES:
        raise GtpError(problem(f"invalid status {shown(args[0])}", expected=", ".join(STATUSES)))
    engine = server.engine
    return "\n".join(show_vertices(engine.game, group) for group in engine.groups_by_status(status, server.cancel))
