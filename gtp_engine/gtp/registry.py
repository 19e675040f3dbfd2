"""The table of GTP commands: which exist, their arguments and what they do.

A handler is a function `(server, args) -> text of the reply`, entered into the table by a decorator; one that returns
None has passed `server.reply` to a background job, which finishes the reply:

    @command("play", "COLOR VERTEX", "Play a stone or a pass.", syntax="invalid color or coordinate")
    def play(server: GtpServer, args: Args) -> str: ...

The usage is for readers and for `CommandSpec.check_count`: plain words are required, words in brackets are optional,
`...` stands for any number.  `list_commands`, `known_command`, the tables in the documentation and the checks on the
number of arguments all come from this table.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from gtp_engine.gtp.args import Args
from gtp_engine.gtp.protocol import GtpError

if TYPE_CHECKING:
    from gtp_engine.config import GtpConfig
    from gtp_engine.gtp.server import GtpServer

Handler: TypeAlias = Callable[["GtpServer", Args], str | None]
H = TypeVar("H", bound=Handler)

SECTIONS: Final = {
    "admin": "Session and engine",
    "setup": "Board, komi, handicap, rules and time",
    "moves": "Playing and scoring",
    "analyze": "Analysis",
    "evaluations": "Evaluation of the position",
    "params": "Settings",
    "sgf": "Game records",
    "gogui": "GoGui",
    "debug": "Board and game state, ladders, eyes and life",
}
"""Heading of each module of `commands` in the documentation, in its order."""


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command of the table.

    `section` is the module that defines it, `syntax` the words that start the error for a missing argument,
    `needs_engine` whether the handler waits until the engine is loaded, `exact` whether surplus arguments are an error,
    and `option` the flag of GtpConfig without which the command does not exist.
    """

    name: str
    usage: str
    summary: str
    handler: Handler
    section: str
    needs_engine: bool
    syntax: str
    exact: bool
    option: str | None

    @property
    def call(self) -> str:
        """Name and arguments, as a user writes them."""
        return f"{self.name} {self.usage}".rstrip()

    def check_count(self, args: Args) -> None:
        """Raise GtpError when there are too few arguments, or too many for a command that takes exactly its own.

        Most commands ignore surplus arguments, as GNU Go does, because some front ends send them (qGo's `undo 0`).
        Those that set something from their arguments are exact, as in KataGo: in `komi 7 5` or `play b D4 E4` each word
        may be the one that was meant.
        """
        least, most = _argument_range(self.usage)
        if len(args) < least:
            raise GtpError(f"{self.syntax}: expected {self.call}")
        if self.exact and most is not None and len(args) > most:
            raise GtpError(f"syntax error: too many arguments, expected {self.call}")


_OPTIONAL: Final = re.compile(r"\[[^]]*\](\.\.\.)?")

COMMANDS: Final[dict[str, CommandSpec]] = {}
"""Every command by name, filled by `@command` while the modules of `gtp_engine.gtp.commands` are imported; use
`all_commands`, which imports them."""


def command(
    name: str,
    usage: str,
    summary: str,
    *,
    needs_engine: bool = True,
    syntax: str = "syntax error",
    exact: bool = False,
    option: str | None = None,
) -> Callable[[H], H]:
    """Return a decorator that enters a handler into the table; for the parameters see CommandSpec."""

    def register(handler: H) -> H:
        if name in COMMANDS:
            raise ValueError(f"GTP command {name} is defined twice")
        section = handler.__module__.rpartition(".")[2]
        COMMANDS[name] = CommandSpec(name, usage, summary, handler, section, needs_engine, syntax, exact, option)
        return handler

    return register


def all_commands() -> list[CommandSpec]:
    """Return all commands in alphabetical order."""
    import_module("gtp_engine.gtp.commands")  # not at the top: the modules of that package import this one
    return [spec for _, spec in sorted(COMMANDS.items())]


def enabled_commands(config: "GtpConfig") -> dict[str, CommandSpec]:
    """Return the commands that exist under `config` by name, in alphabetical order."""
    return {spec.name: spec for spec in all_commands() if spec.option is None or getattr(config, spec.option)}


def markdown_table() -> str:
    """Return the command tables of the documentation: one per section, one row per command."""
    commands = all_commands()
    blocks = []
    for section, title in SECTIONS.items():
        rows = [spec for spec in commands if spec.section == section]
        lines = [f"## {title}", "", "| command | what it does |", "|---|---|"]
        lines += [f"| `{_escape(spec.call)}` | {_escape(spec.summary)}{_condition(spec)} |" for spec in rows]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _condition(spec: CommandSpec) -> str:
    return "" if spec.option is None else f" Only with the option `gtp.{spec.option}`."


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def _argument_range(usage: str) -> tuple[int, int | None]:
    """Return the least and the greatest number of arguments (None: no limit) that `usage` allows."""
    required = len(_OPTIONAL.sub("", usage).split())
    return required, None if "..." in usage else len(usage.split())
