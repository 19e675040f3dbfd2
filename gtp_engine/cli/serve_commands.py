"""The commands that answer other programs and machines.

`serve` and `connect` are the engine in the browser and for other machines, and its use from there; `analysis` is
KataGo's analysis protocol, also as `katago analysis`; `mcp` has tools for language models.
"""

import os
import sys
from importlib.util import find_spec
from typing import Any

import click

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.installation import advice_for
from gtp_engine.base.streams import write_log
from gtp_engine.cli.katago_command import KataGoCommand, katago_options
from gtp_engine.cli.options import ConfigCommand, UserPath, config_options, language_option, settings_options
from gtp_engine.config import Config
from gtp_engine.people.web.server_settings import TOKEN_VARIABLE, ServerSettings


@click.command("serve", cls=ConfigCommand)
@settings_options(ServerSettings, "given", is_whole=False)
@language_option
@config_options()
def serve_command(config: Config, given: dict[str, Any]) -> None:
    """Play and analyse in the browser, and let other machines use this engine.

    \N{BACKSPACE}
    gtp-engine serve --open                      for this machine
    gtp-engine serve --host 0.0.0.0              for others, too

    Open the address that it prints: the token in it lets you in. KaTrain can use the server as its remote engine, every
    other Go program through `gtp-engine connect`.
    """
    if given.get("token", "") == "":
        given["token"] = os.environ.get(TOKEN_VARIABLE) or None
    settings = ServerSettings(**given)
    from gtp_engine.engine.shared_engines import SharedEngines
    from gtp_engine.people.web.operations import ServerLog
    from gtp_engine.people.web.web_process import run

    log = ServerLog(is_json=settings.log_format == "json")
    sys.exit(run(config, settings, lambda config: SharedEngines(config, log).load_for_analyses(), log))


@click.command("connect")
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
    """Use the engine of another machine: pass GTP on between stdin, stdout and `gtp-engine serve`.

    SERVER is where `gtp-engine serve` runs, HOST, HOST:PORT or a whole address (wss://HOST:PORT/gtp). Give this command
    to Sabaki, GoGui or any other Go program as the engine's command:

    \N{BACKSPACE}
        gtp-engine connect desktop.local --token TOKEN
    """
    from gtp_engine.people.web.bridge import run

    sys.exit(run(server, token, certificate))


@click.command(
    "analysis",
    cls=KataGoCommand,
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
    """Answer queries in KataGo's JSON analysis protocol on stdin and stdout.

    For KaTrain and other programs that use KataGo's analysis engine: enter

    \N{BACKSPACE}
        gtp-engine analysis --model NETWORK.onnx

    as the engine's command. KataGo's own command line (katago analysis -model … -config … -override-config …) works,
    too. A config file that does not end in .toml is read as one of KataGo's; a network file of KataGo's is imported
    once.
    """
    from gtp_engine.protocols.analysis.server import serve

    def load() -> Any:
        from gtp_engine.engine.shared_engines import SharedEngines

        engines = SharedEngines(config, write_log).load_for_analyses()
        write_log("Started, ready to begin handling requests")  # some front ends wait for this text
        return engines

    sys.exit(serve(config, load, quit_without_waiting=quit_without_waiting))


@click.command("mcp", cls=ConfigCommand, usual=("network.model", "search.threads"))
@config_options()
def mcp_command(config: Config) -> None:
    """Answer a language model's questions about Go, as tools of the Model Context Protocol.

    Register the command in a program that speaks the protocol on stdin and stdout, for example as

    \N{BACKSPACE}
        {"mcpServers": {"tengen": {"command": "gtp-engine", "args": ["mcp"]}}}

    The tools analyse positions, compare moves, play lines, solve life and death, score and review; every answer says
    what it rests on.
    """
    if find_spec("mcp") is None:
        raise ConfigError("this command needs mcp", advice=advice_for("mcp"))
    from gtp_engine.engine import Engine
    from gtp_engine.people.mcp_server import GoTools, server

    with Engine(config, write_log) as engine:
        server(GoTools(engine)).run("stdio")
