"""Commands for GoGui: interrupts and its menu of analyze commands."""

from typing import TYPE_CHECKING, Final

from gtp_engine.gtp.args import Args
from gtp_engine.gtp.registry import command
from gtp_engine.gtp.server import GOGUI

if TYPE_CHECKING:
    from gtp_engine.gtp.server import GtpServer

ANALYZE_COMMANDS: Final = (
    "hstring/Winrate/tengen-winrate",
    "pspairs/Best moves/tengen-top_moves",
    "varc/Expected moves/tengen-pv %c",
    "dboard/Ownership/tengen-ownership",
    "plist/Dead stones/final_status_list dead",
    "plist/Stones in seki/final_status_list seki",
    "string/Final score/final_score",
    "plist/Legal moves/all_legal %c",
    "plist/Liberties/findlib %p",
    "hpstring/Ladder/ladder_attack %p",
    "cboard/Ladders/tengen-ladders",
    "cboard/Pass-alive/tengen-pass_alive",
    "cboard/Eyes/tengen-eyes",
    "pstring/Last move/last_move",
    "hpstring/Moves/move_history",
    "hpstring/Last search/gomill-explain_last_move",
    "hstring/Rules/kata-get-rules",
    "string/Set rules/kata-set-rules %s",
    "none/Clear cache/clear_cache",
)
"""Type, label and command of each entry; the types are defined in GoGui's manual."""

NETWORK_COMMANDS: Final = ("dboard/Policy/tengen-policy",)
"""Entries that need a network."""


@command("gogui-analyze_commands", "", "The entries of GoGui's analyze menu.", needs_engine=False)
def gogui_analyze_commands(server: "GtpServer", args: Args) -> str:
    """Return one line TYPE/LABEL/COMMAND for each entry; from now on GoGui gets live graphics."""
    server.watching = GOGUI
    return "\n".join((*(NETWORK_COMMANDS if server.config.wants_network else ()), *ANALYZE_COMMANDS))


@command(
    "gogui-interrupt",
    "",
    "Indicates that the comment `# interrupt` ends a search early.",
    needs_engine=False,
)
def gogui_interrupt(server: "GtpServer", args: Args) -> str:
    """Return nothing: GoGui only checks that the command exists."""
    return ""
