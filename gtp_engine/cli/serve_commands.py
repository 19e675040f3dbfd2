"""The commands about the engine on a network: `gtp-engine serve`, and `gtp-engine connect` to use it from elsewhere."""

import os
import sys
from typing import Any, Final

import click

from gtp_engine.cli.options import (
    ConfigCommand,
    build_config,
    config_options,
    language_option,
    settings_of,
    settings_options,
)
from gtp_engine.web.server_settings import TOKEN_VARIABLE, ServerSettings, check_aiohttp

_SERVE_HELP: Final = """Play and analyse in the browser, and let other machines use this engine.

\b
gtp-engine serve                             for this machine
gtp-engine serve --host 0.0.0.0              for others too

Open the address that is printed: its token lets you in. KaTrain can use it as its remote engine, every other Go program
through `gtp-engine connect`. Needs aiohttp: pip install "gtp-engine[web]".
"""


@click.command("serve", cls=ConfigCommand, help=_SERVE_HELP)
@settings_options(ServerSettings)
@language_option
@config_options()
def serve_command(config_file: str | None, **flags: Any) -> None:
    """Run the server."""
    token = flags.pop("serve__token") or os.environ.get(TOKEN_VARIABLE) or None
    settings = settings_of(ServerSettings, flags | {"serve__token": token})
    config = build_config(config_file, flags)
    check_aiohttp()
    from gtp_engine.web.operations import ServerLog
    from gtp_engine.web.web_process import run

    log = ServerLog(is_json=settings.log_format == "json")

    def load() -> Any:
        from gtp_engine.engine.shared_engines import SharedEngines

        return SharedEngines(config, log).load_for_analyses()

    sys.exit(run(config, settings, load, log))


_CONNECT_HELP: Final = """Use the engine of another machine: pass GTP on between stdin, stdout and `gtp-engine serve`.

SERVER is where `gtp-engine serve` runs, HOST, HOST:PORT or a whole address (wss://HOST:PORT/gtp). Give this command to
Sabaki, GoGui or any other Go program as the engine's command:

\b
    gtp-engine connect desktop.local --token TOKEN

Needs aiohttp: pip install "gtp-engine[web]".
"""


@click.command("connect", help=_CONNECT_HELP)
@click.argument("server", metavar="SERVER")
@click.option(
    "--token", envvar=TOKEN_VARIABLE, help=f"The token of the server. [default: {TOKEN_VARIABLE}, if that is set]"
)
@click.option(
    "--certificate",
    metavar="FILE",
    help="For wss, trust this certificate of the server, a PEM file, though no authority has signed it.",
)
def connect_command(server: str, token: str | None, certificate: str | None) -> None:
    """Pass lines to the server and replies back."""
    check_aiohttp()
    from gtp_engine.web.bridge import run

    sys.exit(run(server, token, certificate))
