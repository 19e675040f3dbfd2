"""The command `gtp-engine analysis`; it also accepts KataGo's spelling of flags, which front ends pass."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from gtp_engine.cli.evaluator_setup import networks_of
from gtp_engine.cli.options import ConfigCommand, build_config, config_options
from gtp_engine.config import Config

KATAGO_FLAGS: Final[Mapping[str, str]] = {
    "-model": "--model",
    "-config": "--config",
    "-override-config": "--override-config",
    "-analysis-threads": "--parallel",
    "-quit-without-waiting": "--quit-without-waiting",
    "-human-model": "--human-model",
}
"""Flags of `katago analysis` and our names for them."""

_HELP: Final = """Answer queries in KataGo's JSON analysis protocol on stdin and stdout.

For KaTrain and other programs that use KataGo's analysis engine: enter

\b
    gtp-engine analysis --model NETWORK.onnx

as the engine's command. KataGo's own command line (katago analysis -model … -config … -override-config …) is
accepted as well; a config file that does not end in .toml is read as one of KataGo's.
"""


class AnalysisCommand(ConfigCommand):
    """A command that also accepts its flags by KataGo's names, with one hyphen."""

    usual = ("network.model", "analysis.analysis_visits", "analysis.analysis_time", "analysis.parallel")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Translate KataGo's flags."""
        return super().parse_args(ctx, [KATAGO_FLAGS.get(word, word) for word in args])


@click.command("analysis", cls=AnalysisCommand, help=_HELP)
@click.option(
    "--override-config",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE,…",
    help="Settings by KataGo's names, such as maxVisits=800; unsupported ones are reported and ignored.",
)
@click.option(
    "--quit-without-waiting",
    is_flag=True,
    help="Quit at the end of the input; otherwise every query is answered first.",
)
@config_options()
def analysis_command(
    config_file: str | None,
    overrides: tuple[str, ...],
    quit_without_waiting: bool,
    **flags: object,
) -> None:
    """Run the analysis server."""
    from gtp_engine.analysis.server import serve
    from gtp_engine.nn.network_files import is_katago_file
    from gtp_engine.streams import write_log

    config, ignored = _configuration(config_file, overrides, flags)
    if ignored:
        write_log(f"Ignored settings of KataGo's, not supported here: {', '.join(ignored)}")

    human_model = config.network.human_model
    if human_model is not None and is_katago_file(Path(human_model)):  # front ends for KataGo pass KataGo's own file
        write_log(f"{human_model} is ignored: convert it with `gtp-engine models import` and name the ONNX file.")
        config = config.with_values({"network.human_model": None})

    def load() -> Any:
        from gtp_engine.engine.shared_engines import SharedEngines

        engines = SharedEngines(config, write_log, *networks_of(config)).load_for_analyses()
        write_log("Started, ready to begin handling requests")  # some front ends wait for this text
        return engines

    sys.exit(serve(config, load, quit_without_waiting=quit_without_waiting, log=write_log))


def _configuration(
    config_file: str | None, overrides: tuple[str, ...], flags: Mapping[str, object]
) -> tuple[Config, list[str]]:
    """Return the configuration, and the names of KataGo's settings that were ignored.

    Flags take precedence over overrides, and overrides over the file.  Raises ConfigError.
    """
    from gtp_engine.config.katago import parse_overrides, read_katago_config, with_katago_settings

    settings: dict[str, str] = {}
    base = Config()
    if config_file is not None and Path(config_file).suffix.lower() == ".toml":
        base = Config.from_toml(config_file)
    elif config_file is not None:
        settings = read_katago_config(config_file)
    for text in overrides:
        settings |= parse_overrides(text)
    base, ignored = with_katago_settings(base, settings)
    return build_config(None, flags, base=base), sorted(ignored)
