"""Commands about time settings and clocks.

Controllers differ here more than anywhere else (they send fractions, negative times, stones without overtime), and some
give up the game after a `?` reply.  So everything that can be understood is accepted; `clock` interprets it.
"""

from typing import TYPE_CHECKING, Final

from gtp_engine.clock import KATA_KINDS, KGS_KINDS, MAX_COUNT, TimeSettings
from gtp_engine.errors import TimeSettingsError
from gtp_engine.go.coords import parse_color
from gtp_engine.gtp.args import Args, parse_number
from gtp_engine.gtp.protocol import GtpError
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.gtp.server import GtpServer

_NOT_INTEGERS: Final = "not three integers"
_BAD_TIME_LEFT: Final = "time and stones not two integers"


@command(
    "time_settings",
    "MAIN_TIME OVERTIME STONES",
    "Set the time: seconds of main time, seconds and stones of Canadian overtime.",
    syntax=_NOT_INTEGERS,
)
def time_settings(server: "GtpServer", args: Args) -> str:
    """Set absolute or Canadian time, or no limit when there is overtime for no stones."""
    try:
        settings = TimeSettings.parse_gtp(args.words)
    except TimeSettingsError as error:
        raise GtpError(f"{_NOT_INTEGERS}: {error}") from error
    server.engine.set_time_settings(settings)
    return ""


@command("time_left", "COLOR TIME [STONES]", "Set the clock of a color.", syntax=_BAD_TIME_LEFT)
def time_left(server: "GtpServer", args: Args) -> str:
    """Set the seconds left; with STONES above 0 they are overtime for that many stones, or byo-yomi periods.

    Negative seconds are passed on to the clock; servers send them for a clock that has just run out.
    """
    color = parse_color(args[0])
    seconds = parse_number(args[1], failure=_BAD_TIME_LEFT)
    stones = parse_number(args[2], failure=_BAD_TIME_LEFT) if len(args) > 2 else 0
    server.engine.set_time_left(color, seconds, int(min(max(stones, 0), MAX_COUNT)))
    return ""


@command(
    "kgs-time_settings",
    "KIND [SECONDS...]",
    "Set the time as on KGS: none, absolute, byoyomi or canadian.",
)
def kgs_time_settings(server: "GtpServer", args: Args) -> str:
    """Set the time by the name of the system and its numbers; further words are ignored."""
    settings = TimeSettings.parse(args.words, KGS_KINDS)
    server.engine.set_time_settings(settings)
    return ""


@command(
    "kata-time_settings",
    "KIND [SECONDS...]",
    "Set the time as in KataGo: as kgs-time_settings does, and fischer or fischer-capped.",
)
def kata_time_settings(server: "GtpServer", args: Args) -> str:
    """Set the time by the name of the system and its numbers; further words are ignored."""
    settings = TimeSettings.parse(args.words, KATA_KINDS)
    server.engine.set_time_settings(settings)
    return ""


@command(
    "kata-list_time_settings",
    "",
    "The time systems that kata-time_settings accepts.",
    needs_engine=False,
)
def kata_list_time_settings(server: "GtpServer", args: Args) -> str:
    """Return the names on one line."""
    return " ".join(KATA_KINDS)
