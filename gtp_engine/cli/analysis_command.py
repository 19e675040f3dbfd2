"""The commands that answer other programs' questions: `gtp-engine analysis`, also as `katago analysis`, and `mcp`."""

import sys
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final

import click

from gtp_engine.cli.katago_command import KataGoCommand, katago_config, katago_options
from gtp_engine.cli.options import ConfigCommand, build_config, config_options
from gtp_engine.errors import ConfigError, problem

_HELP: Final = """Answer queries in KataGo's JSON analysis protocol on stdin and stdout.

For KaTrain and other programs that use KataGo's analysis engine: enter

\b
    gtp-engine analysis --model NETWORK.onnx

as the engine's command. KataGo's own command line (katago analysis -model … -config … -override-config …) is
accepted as well: a config file that does not end in .toml is read as one of KataGo's, and a network file of KataGo's is
imported once.
"""


class AnalysisCommand(KataGoCommand):
    """The analysis server, which is `katago analysis` too."""

    usual = ("network.model", "analysis.analysis_visits", "analysis.analysis_time", "analysis.parallel")
    aliases = MappingProxyType({"--analysis-threads": "--parallel"})


@click.command("analysis", cls=AnalysisCommand, help=_HELP)
@click.option(
    "--quit-without-waiting",
    is_flag=True,
    help="Quit at the end of the input; otherwise every query is answered first.",
)
@katago_options()
def analysis_command(
    config_files: tuple[str, ...],
    overrides: tuple[str, ...],
    quit_without_waiting: bool,
    **flags: object,
) -> None:
    """Run the analysis server."""
    from gtp_engine.analysis.server import serve
    from gtp_engine.streams import write_log

    config, lines = katago_config(config_files, overrides, flags, for_gtp=False)
    for line in lines:
        write_log(line)

    def load() -> Any:
        from gtp_engine.engine.shared_engines import SharedEngines

        engines = SharedEngines(config, write_log).load_for_analyses()
        write_log("Started, ready to begin handling requests")  # some front ends wait for this text
        return engines

    sys.exit(serve(config, load, quit_without_waiting=quit_without_waiting, log=write_log))


class McpCommand(ConfigCommand):
    """The tools for language models."""

    usual = ("network.model", "search.threads")


_MCP_HELP: Final = """Answer a language model's questions about Go, as tools of the Model Context Protocol.

Register the command in a program that speaks the protocol on stdin and stdout, for example as

\b
    {"mcpServers": {"tengen": {"command": "gtp-engine", "args": ["mcp"]}}}

The tools analyse positions, compare moves, play lines, solve life and death, score and review; every answer says what
it rests on. Needs the package mcp: pip install "gtp-engine[mcp]".
"""


@click.command("mcp", cls=McpCommand, help=_MCP_HELP)
@config_options()
def mcp_command(config_file: str | None, **flags: object) -> None:
    """Run the server of the tools."""
    config = build_config(config_file, flags)
    if find_spec("mcp") is None:
        raise ConfigError(problem("this command needs mcp", advice='install it: pip install "gtp-engine[mcp]"'))
    from gtp_engine.engine import Engine
    from gtp_engine.mcp_server import GoTools, run
    from gtp_engine.streams import write_log

    with Engine(config, write_log) as engine:
        run(GoTools(engine))
