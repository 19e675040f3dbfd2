"""Flags generated from the configuration's options, and the configuration built from flags and file.

A command decorated with `config_options()` gets a flag for every option (`--visits` for search.visits), grouped by
section in its help, and `--config FILE`.  A flag overrides the file, the file the default.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import click

from gtp_engine.config import Config, Option

F = TypeVar("F", bound=Callable[..., Any])

USUAL_OPTIONS: Final = (
    "network.model",
    "play.level",
    "time.time_per_move",
    "search.visits",
    "game.rules",
    "game.komi",
    "game.board_size",
    "time.ponder",
    "play.resign",
    "search.search",
    "gtp.log",
)
"""The options of play that most users need: those of the README, the board, and the log that a bug report needs."""

_FIRST_BLOCK: Final = "Options"


class ConfigOption(click.Option):
    """A flag for an option of the configuration; its value stays text until the configuration parses it."""

    def __init__(self, declared: Option) -> None:
        self.declared = declared
        flag = declared.flag
        is_switch = declared.kind is bool
        super().__init__(
            [parameter_name(declared), f"{flag}/--no-{flag[2:]}" if is_switch else flag],
            type=click.BOOL if is_switch else click.STRING,
            default=None,
            metavar=None if is_switch else _metavar(declared),
            help=_help(declared),
        )


class ConfigCommand(click.Command):
    """A command whose help lists the usual flags and its own first, then the configuration's others by section."""

    usual: tuple[str, ...] = USUAL_OPTIONS
    """Full names of the options that most users need."""
    unused: tuple[str, ...] = ()
    """Sections of options that change nothing in this command; its help leaves them out."""
    texts: Mapping[str, str] = MappingProxyType({})
    """Help texts of options that differ for this command, by full name."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a block of the usual flags and the command's own, then one for each section."""
        blocks: dict[str, list[tuple[str, str]]] = {_FIRST_BLOCK: []}
        for parameter in sorted(self.get_params(ctx), key=self._rank):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option) and self._block(parameter) not in self.unused:
                text = self.texts.get(parameter.declared.key) if isinstance(parameter, ConfigOption) else None
                blocks.setdefault(self._block(parameter), []).append((record[0], text or record[1]))
        for name, records in blocks.items():
            with formatter.section(name if name == _FIRST_BLOCK else f"Options [{name}]"):
                formatter.write_dl(records)

    def _rank(self, parameter: click.Parameter) -> int:
        """Return the place of a flag in the help: the usual options, then the rest as declared."""
        key = parameter.declared.key if isinstance(parameter, ConfigOption) else ""
        return self.usual.index(key) if key in self.usual else len(self.usual)

    def _block(self, parameter: click.Option) -> str:
        """Return the block of the help in which a flag is listed: the first for settings of this very command."""
        declared = parameter.declared if isinstance(parameter, ConfigOption) else None
        return _FIRST_BLOCK if declared is None or self._is_first(declared) else declared.section

    def _is_first(self, declared: Option) -> bool:
        is_own = declared.section == self.name and declared not in Config.options()
        return is_own or declared.key in self.usual


def config_options() -> Callable[[F], F]:
    """Return a decorator that adds `--config` and the flags of all options to a command.

    The command receives `config_file` and a keyword argument for each option (`parameter_name`), for `build_config`.
    """

    def decorate(function: F) -> F:
        for option in reversed(Config.options()):
            add_parameter(function, ConfigOption(option))
        decorator = click.option(
            "--config",
            "config_file",
            metavar="FILE",
            help="Read options from a TOML file; `gtp-engine config` prints one. Flags override it.",
        )
        return decorator(function)

    return decorate


def build_config(config_file: str | None, flags: Mapping[str, object], *, base: Config | None = None) -> Config:
    """Return the configuration of a command line; other parameters in `flags` are ignored.

    Without a file, flags change `base`, or the defaults.

    Raises ConfigError, and RulesError when game.rules is not a rule set: better now than at the first move.
    """
    from gtp_engine.go.rules import Rules

    config = Config.from_toml(config_file) if config_file is not None else base or Config()
    given = {option.key: flags.get(parameter_name(option)) for option in Config.options()}
    config = config.with_values({key: value_text(value) for key, value in given.items() if value is not None})
    Rules.parse(config.game.rules)
    return config


def add_parameter(function: Callable[..., Any], parameter: click.Parameter) -> None:
    """Attach a parameter the way click's own decorators do before the command exists."""
    parameters: list[click.Parameter] = function.__dict__.setdefault("__click_params__", [])
    parameters.append(parameter)


def parameter_name(option: Option) -> str:
    """Return the name of the keyword argument that carries the flag's value."""
    return option.key.replace(".", "__")


def value_text(value: object) -> str:
    """Return a flag's value as the text that `Option.parse` reads."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _metavar(option: Option) -> str:
    if option.choices:
        return "[" + "|".join(option.choices) + "]"
    return option.unit.upper().replace(" ", "_") if option.unit else option.kind.__name__.upper()


def _help(option: Option) -> str:
    """Return the option's help with its bounds and, unless it is unset by default, its default."""
    notes = []
    if option.low is not None and option.high is not None:
        notes.append(f"{_number(option.low)} to {_number(option.high)}")
    if option.kind is bool:
        notes.append(f"default {'on' if option.default else 'off'}")
    elif option.default not in (None, ""):
        notes.append(f"default {option.default}")
    text = " ".join(option.help.split())
    return f"{text} [{', '.join(notes)}]" if notes else text


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else str(value)
