"""The commands that answer other programs and machines, and the one that sets these programs up.

`serve` and `connect` are the engine in the browser and for other machines, and its use from there; `analysis` is
KataGo's analysis protocol, also as `katago analysis`; `mcp` has tools for language models; `setup` writes the
configurations of programs and servers that start the engine.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.files import expanded
from gtp_engine.base.installation import advice_for
from gtp_engine.base.streams import write_log
from gtp_engine.cli.katago_command import KataGoCommand, katago_options
from gtp_engine.cli.options import (
    FILE,
    ConfigCommand,
    UserPath,
    config_options,
    given_text,
    language_option,
    settings_options,
)
from gtp_engine.config import Config, Option
from gtp_engine.config.config import find_option
from gtp_engine.config.option import Section, option
from gtp_engine.people.front_ends import FRONT_ENDS, EngineCommand, Locations, apply, difference, engine_program
from gtp_engine.people.web.server_settings import TOKEN_VARIABLE, ServerSettings

_SERVE_HELP: Final = """Play and analyse in the browser, and let other machines use this engine.

\b
gtp-engine serve --open                      for this machine
gtp-engine serve --host 0.0.0.0              for others, too

Open the address that it prints: the token in it lets you in. KaTrain can use the server as its remote engine, every
other Go program through `gtp-engine connect`.
"""


@click.command("serve", cls=ConfigCommand, help=_SERVE_HELP)
@settings_options(ServerSettings, "given", is_whole=False)
@language_option
@config_options()
def serve_command(config: Config, given: dict[str, Any]) -> None:
    """Run the server."""
    if given.get("token", "") == "":
        given["token"] = os.environ.get(TOKEN_VARIABLE) or None
    settings = ServerSettings(**given)
    from gtp_engine.engine.shared_engines import SharedEngines
    from gtp_engine.people.web.operations import ServerLog
    from gtp_engine.people.web.web_process import run

    log = ServerLog(is_json=settings.log_format == "json")
    sys.exit(run(config, settings, lambda config: SharedEngines(config, log).load_for_analyses(), log))


_CONNECT_HELP: Final = """Use the engine of another machine: pass GTP on between stdin, stdout and `gtp-engine serve`.

SERVER is where `gtp-engine serve` runs, HOST, HOST:PORT or a whole address (wss://HOST:PORT/gtp). Give this command to
Sabaki, GoGui or any other Go program as the engine's command:

\b
    gtp-engine connect desktop.local --token TOKEN
"""


@click.command("connect", help=_CONNECT_HELP)
@click.argument("server", metavar="SERVER")
@click.option(
    "--token", envvar=TOKEN_VARIABLE, help=f"The token of the server. [default: {TOKEN_VARIABLE}, if that is set]"
)
@click.option(
    "--certificate",
    type=UserPath(dir_okay=False),
    help="For wss: trust this certificate of the server (PEM), though no authority has signed it.",
)
def connect_command(server: str, token: str | None, certificate: str | None) -> None:
    """Pass lines to the server and replies back."""
    from gtp_engine.people.web.bridge import run

    sys.exit(run(server, token, certificate))


_ANALYSIS_HELP: Final = """Answer queries in KataGo's JSON analysis protocol on stdin and stdout.

For KaTrain and other programs that use KataGo's analysis engine: enter

\b
    gtp-engine analysis --model NETWORK.onnx

as the engine's command. KataGo's own command line (katago analysis -model … -config … -override-config …) works, too.
A config file that does not end in .toml is read as one of KataGo's; a network file of KataGo's is imported once.
"""


@click.command(
    "analysis",
    cls=KataGoCommand,
    help=_ANALYSIS_HELP,
    usual=("network.model", "analysis.analysis_visits", "analysis.analysis_time", "analysis.parallel"),
    aliases={"--analysis-threads": "--parallel"},
)
@click.option(
    "--quit-without-waiting",
    is_flag=True,
    help="Quit at the end of the input, without answering the queries that are left.",
)
@katago_options(for_gtp=False)
def analysis_command(config: Config, quit_without_waiting: bool) -> None:
    """Run the analysis server."""
    from gtp_engine.protocols.analysis.server import serve

    def load() -> Any:
        from gtp_engine.engine.shared_engines import SharedEngines

        engines = SharedEngines(config, write_log).load_for_analyses()
        write_log("Started, ready to begin handling requests")  # some front ends wait for this text
        return engines

    sys.exit(serve(config, load, quit_without_waiting=quit_without_waiting, log=write_log))


_MCP_HELP: Final = """Answer a language model's questions about Go, as tools of the Model Context Protocol.

Register the command in a program that speaks the protocol on stdin and stdout, for example as

\b
    {"mcpServers": {"tengen": {"command": "gtp-engine", "args": ["mcp"]}}}

The tools analyse positions, compare moves, play lines, solve life and death, score and review; every answer says what
it rests on.
"""


@click.command("mcp", cls=ConfigCommand, help=_MCP_HELP, usual=("network.model", "search.threads"))
@config_options()
def mcp_command(config: Config) -> None:
    """Run the server of the tools."""
    if find_spec("mcp") is None:
        raise ConfigError("this command needs mcp", advice=advice_for("mcp"))
    from gtp_engine.engine import Engine
    from gtp_engine.people.mcp_server import GoTools, server

    with Engine(config, write_log) as engine:
        server(GoTools(engine)).run("stdio")


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
    _refuse_unused(given, chosen.unused_options, chosen.title)
    arguments = _engine_arguments(config_file, {**chosen.engine_options, **given})
    command = EngineCommand(settings.command or engine_program(), arguments, settings.label)
    if only_print:
        click.echo(chosen.printed(command))
        return
    place = Locations(file=None if file is None else file.absolute())
    change = chosen.change(command, place)
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
    click.echo(f"{chosen.title} is set up. {chosen.next_steps(command, place)}")


def _refuse_unused(given: dict[str, str], unused: Mapping[str, str], title: str) -> None:
    """Raise ConfigError for an option that changes nothing in the program with this title."""
    for key, value in given.items():
        option = find_option(key)
        advice = unused.get(key) or unused.get(option.section)
        if advice:
            raise ConfigError(f"{_words(option, value)[0]} has no effect in {title}", advice=advice)


def _engine_arguments(config_file: str | None, values: dict[str, str]) -> tuple[str, ...]:
    """Return the command line arguments that set these options, with full paths."""
    arguments = [] if config_file is None else ["--config", _full_path(config_file)]
    for key, value in values.items():
        arguments += _words(find_option(key), value)
    return tuple(arguments)


def _words(option: Option, value: str) -> list[str]:
    """Return the words of a command line that set an option."""
    if option.kind is bool:
        return [option.flag if value == "true" else f"--no-{option.flag[2:]}"]
    is_path = option.key == _LOG or (option.key in _NETWORKS and expanded(value).exists())
    return [option.flag, _full_path(value) if is_path else value]


def _full_path(text: str) -> str:
    """Return a path in full, with slashes, which Windows takes too and no program reads as escapes."""
    return expanded(text).absolute().as_posix()
