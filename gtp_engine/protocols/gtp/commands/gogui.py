"""Commands for GoGui: interrupts, its menu of analyze commands and its dialog of settings."""

from typing import Final

from gtp_engine.base.errors import shown
from gtp_engine.config.option import Value
from gtp_engine.config.sections import LEVELS, MAX_LEVEL
from gtp_engine.protocols.gtp.commands.params import format_value
from gtp_engine.protocols.gtp.protocol import Command, GtpError
from gtp_engine.protocols.gtp.server import GOGUI, GtpServer, command

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
    "param/Settings/tengen-param",
    "none/Clear cache/clear_cache",
)
"""Type, label and command of each entry; the types are defined in GoGui's manual."""

PARAMETERS: Final = (
    ("level", "play.level", f"[list/{'/'.join((MAX_LEVEL, *LEVELS))}]"),
    ("delay", "play.delay", "[string]"),
    ("resign", "play.resign", "[bool]"),
    ("visits", "search.visits", "[string]"),
    ("time_per_move", "time.time_per_move", "[string]"),
    ("ponder", "time.ponder", "[bool]"),
)
"""Name, option and GoGui's type of each setting in its dialog."""

NETWORK_COMMANDS: Final = ("dboard/Policy/tengen-policy",)
"""Entries that need a network."""


@command("gogui-analyze_commands", "")
def gogui_analyze_commands(server: GtpServer, args: Command) -> str:
    """The entries of GoGui's analyze menu, a line TYPE/LABEL/COMMAND each; live graphics are shown from then on."""
    server.watching = GOGUI
    return "\n".join((*(NETWORK_COMMANDS if server.config.wants_network else ()), *ANALYZE_COMMANDS))


@command("tengen-param", "[NAME VALUE]", exact=True)
def tengen_param(server: GtpServer, args: Command) -> str:
    """Print the settings of GoGui's dialog, one per line: `[TYPE] NAME VALUE`, or change one of them."""
    engine = server.engine
    if not args:
        return "\n".join(f"{kind} {name} {_shown(engine.config.value(key))}" for name, key, kind in PARAMETERS)
    keys = {name: key for name, key, _ in PARAMETERS}
    if len(args) == 1 or args[0] not in keys:
        given = shown(" ".join(args.words))
        raise GtpError(f"syntax error: {given}", expected=f"one of {', '.join(keys)}, and a value")
    engine.configure({keys[args[0]]: args[1]})
    return ""


def _shown(value: Value) -> str:
    """Return a value as GoGui's dialog shows it."""
    return str(int(value)) if isinstance(value, bool) else format_value(value)


@command("gogui-interrupt", "")
def gogui_interrupt(server: GtpServer, args: Command) -> None:
    """Indicates that the comment `# interrupt` ends a search early; GoGui only checks that the command exists."""
