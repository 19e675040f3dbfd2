"""The command `gtp-engine serve`."""

import sys
from typing import Any, Final

import click

from gtp_engine.cli.config_options import ConfigCommand, build_config, config_options
from gtp_engine.cli.evaluator_setup import networks_of
from gtp_engine.cli.settings_options import settings_of, settings_options
from gtp_engine.web.server_settings import ServerSettings, check_aiohttp

_HELP: Final = """Play and analyse in the browser, and let other machines use this engine.

\b
gtp-engine serve                             for this machine
gtp-engine serve --host 0.0.0.0              for others too, who need the token that is printed

KaTrain can use it as its remote engine, every other Go program through `gtp-engine connect`. Needs aiohttp:
pip install "gtp-engine[web]".
"""


@click.command("serve", cls=ConfigCommand, help=_HELP)
@settings_options(ServerSettings)
@config_options()
def serve_command(config_file: str | None, **flags: Any) -> None:
    """Run the server."""
    settings = settings_of(ServerSettings, flags)
    config = build_config(config_file, flags)
    check_aiohttp()
    from gtp_engine.streams import write_log
    from gtp_engine.web.web_process import run

    def load() -> Any:
        from gtp_engine.engine.shared_engines import SharedEngines

        return SharedEngines(config, write_log, *networks_of(config)).load_for_analyses()

    sys.exit(run(config, settings, load))
