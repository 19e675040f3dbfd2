"""The command `gtp-engine connect`."""

import sys
from typing import Final

import click

from gtp_engine.web.server_settings import check_aiohttp

_HELP: Final = """Use the engine of another machine: pass GTP on between stdin, stdout and `gtp-engine serve`.

SERVER is where `gtp-engine serve` runs, HOST, HOST:PORT or a whole address (wss://HOST:PORT/gtp). Give this command to
Sabaki, GoGui or any other Go program as the engine's command:

\b
    gtp-engine connect desktop.local --token TOKEN

Needs aiohttp: pip install "gtp-engine[web]".
"""


@click.command("connect", help=_HELP)
@click.argument("server", metavar="SERVER")
@click.option("--token", envvar="TENGEN_TOKEN", help="The token of the server. [default: TENGEN_TOKEN, if that is set]")
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
