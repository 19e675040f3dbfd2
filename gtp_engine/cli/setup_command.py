"""The command `gtp-engine setup`: writes the configurations of programs and servers that start the engine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.files import expanded
from gtp_engine.cli.options import FILE, ConfigCommand, config_options, given_text, settings_options
from gtp_engine.config import Config
from gtp_engine.config.config import find_option
from gtp_engine.config.option import Option, Section, option
from gtp_engine.people.front_ends import FRONT_ENDS, EngineCommand, apply, difference, engine_program

_NETWORKS: Final = ("network.model", "network.human_model")
_LOG: Final = "gtp.log"
"""Options whose value is a file (or a network's name).  Programs start the engine in other folders, so the path is
given in full."""


_USUAL: Final = ("network.model", "play.level", "game.rules", "time.time_per_move", "search.visits")
"""Options of the engine that a front end does not send."""


@dataclass(frozen=True)
class SetupSettings(Section, name="setup"):
    """What is entered in a program, and whether it is written."""

    label: str = option("Tengen", "The engine's name in the program.", unit="name")
    command: str | None = option(None, "The command to start. [default: this installation's]", unit="path")
    dry_run: bool = option(False, "Show what would change, and write nothing.")
    yes: bool = option(False, "Change an existing file without asking.")


@click.command("setup", cls=ConfigCommand, usual=_USUAL)
@click.argument("front_end", metavar="PROGRAM", type=click.Choice(list(FRONT_ENDS), case_sensitive=False))
@settings_options(SetupSettings, is_own=True)
@click.option("--print", "only_print", is_flag=True, help="Print what to enter, and write nothing.")
@click.option("--file", "file", type=FILE, help="The file to write, if it is not the usual one.")
@config_options()
def setup_command(front_end: str, only_print: bool, file: Path | None, settings: SetupSettings, config: Config) -> None:
    """Set up PROGRAM to use this engine: sabaki, gogui, katrain, lizzie, ogs, kgs or cgos.

    Adds the engine to the program's settings, and keeps everything else and a backup. For the servers OGS, KGS and CGOS
    it writes the configuration of the client that runs a bot. Options of the engine (--model, --level and others)
    become part of the engine's command; it refuses those without effect in the program.
    """
    chosen, config_file = FRONT_ENDS[front_end.lower()], click.get_current_context().params["config_file"]
    pairs = ((option.key, given_text(option.key)) for option in config.options())
    given = {key: text for key, text in pairs if text is not None}
    for key, value in given.items():
        option = find_option(key)
        if advice := chosen.unused_options.get(key) or chosen.unused_options.get(option.section):
            raise ConfigError(f"{_words(option, value)[0]} has no effect in {chosen.title}", advice=advice)
    arguments = [] if config_file is None else ["--config", _full_path(config_file)]
    for key, value in {**chosen.engine_options, **given}.items():
        arguments += _words(find_option(key), value)
    command = EngineCommand(settings.command or engine_program(), tuple(arguments), settings.label)
    if only_print:
        click.echo(chosen.printed(command))
        return
    change = chosen.change(command, (file or chosen.usual_file()).absolute())
    if change.old == change.new:
        click.echo(f"{chosen.title} is already set up.")
        return
    click.echo(difference(change))
    if settings.dry_run:
        return
    if change.old is not None and not settings.yes:
        try:
            click.confirm(f"Close {chosen.title} first; backups are kept. Change these files?", abort=True, err=True)
        except click.Abort:
            click.echo("Nothing was changed; --yes changes the files without asking.", err=True)
            raise
    if (backup := apply(change)) is not None:
        click.echo(f"Backup: {backup}")
    click.echo(f"{chosen.title} is set up. {chosen.next_steps(command, change.path)}")


def _words(option: Option, value: str) -> list[str]:
    """Return the words of a command line that set an option, with a full path."""
    if option.kind is bool:
        return [option.flag if value == "true" else f"--no-{option.flag[2:]}"]
    is_path = option.key == _LOG or (option.key in _NETWORKS and expanded(value).exists())
    return [option.flag, _full_path(value) if is_path else value]


def _full_path(text: str) -> str:
    """Return a path in full, with slashes, which Windows takes too and no program reads as escapes."""
    return expanded(text).absolute().as_posix()
