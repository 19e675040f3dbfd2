"""The commands about this machine and installation: `benchmark`, `doctor`, `warmup`, `config`."""

import json
import sys
import time
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import click

from gtp_engine.cli.evaluator_setup import evaluator_of
from gtp_engine.cli.options import ConfigCommand, build_config, config_options, settings_of, settings_options
from gtp_engine.config import NetworkConfig
from gtp_engine.config.option import Section, option

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of a table.")


_BENCHMARK_HELP = """Measure how fast the engine is on this machine.

Reports rollouts per second on one core, search playouts per second on all cores, the time from the start of a process
to its first replies, the network's evaluations per second by threads and batch size, and the playouts per second of a
search with it. Takes about two minutes; run nothing else meanwhile.

To compare with KataGo, which needs the network in its own format:

\b
gtp-engine benchmark --model b15c192.onnx \\
    --compare "katago benchmark -model b15c192.bin.gz -config gtp.cfg"
"""


@dataclass(frozen=True)
class BenchmarkSettings(Section, name="benchmark"):
    """How long each measurement is, and what is measured."""

    seconds: float = option(2.0, "Length of each measurement.", unit="seconds", low=0.05, high=600)
    repeats: int = option(3, "Measurements of each kind; their median is reported.", low=1, high=100)
    compare: str | None = option(
        None,
        "Run this `katago benchmark` command too, with the same network, and print how many times as fast Tengen is.",
        unit="command",
    )


class BenchmarkCommand(ConfigCommand):
    """A command that measures a network."""

    texts = MappingProxyType(
        {
            "network.model": "Measure this network, and find its best threads and batch size. [default: the one to "
            "play with]"
        }
    )


@click.command("benchmark", cls=BenchmarkCommand, help=_BENCHMARK_HELP)
@settings_options(BenchmarkSettings, is_own=True)
@settings_options(NetworkConfig, only=("model", "provider", "precision"), is_own=True)
@click.option("--no-network", is_flag=True, help="Measure only what needs no network, in half the time.")
@_AS_JSON
def benchmark_command(no_network: bool, as_json: bool, **flags: Any) -> None:
    """Run the measurements and print their report."""
    from gtp_engine.benchmark import format_report, run_benchmark

    settings, network = settings_of(BenchmarkSettings, flags), settings_of(NetworkConfig, flags)
    if no_network and (network.model is not None or settings.compare is not None):
        raise click.UsageError("--no-network leaves out what --model and --compare ask for; give one or the other")

    def progress(text: str) -> None:
        click.echo(text, err=True)

    report = run_benchmark(
        seconds=settings.seconds,
        repeats=settings.repeats,
        progress=progress,
        network=None if no_network else network,
        katago=settings.compare,
    )
    click.echo(json.dumps(report, indent=2) if as_json else format_report(report))


@click.command("doctor")
@click.option(
    "--clean",
    is_flag=True,
    help="Remove the compiled code from the disk instead, before uninstalling the engine or to have it compiled again.",
)
@_AS_JSON
def doctor_command(clean: bool, as_json: bool) -> None:
    """Describe this machine and installation, and report problems.

    That includes what the first start will do and how many threads the search uses.
    Exits with 1 when something is missing or broken.
    """
    from gtp_engine.doctor import examine, format_findings, remove_compiled_code

    if clean:
        click.echo(remove_compiled_code())
        return
    findings = examine()
    click.echo(json.dumps(findings, indent=2) if as_json else format_findings(findings))
    if findings["problems"]:
        sys.exit(1)


@click.command("warmup", cls=ConfigCommand)
@config_options()
def warmup_command(config_file: str | None, **flags: object) -> None:
    """Compile the engine now instead of at its first start.

    Run this once before a bot's first game. Otherwise the first start compiles for up to a minute, and meanwhile small
    searches choose the moves, which are weaker. Give the flags of the later start: a search without a network, one with
    rollouts, or a network other than KataGo's needs other code.
    """
    from gtp_engine.engine import Engine

    started = time.perf_counter()
    config = build_config(config_file, flags)
    engine = Engine(config=config, log=lambda text: click.echo(text, err=True), evaluator=evaluator_of(config))
    engine.warm_up(lambda text: click.echo(text, err=True))
    engine.close()
    click.echo(f"Ready after {time.perf_counter() - started:.1f} s.")


@click.command("config", cls=ConfigCommand)
@config_options()
def config_command(config_file: str | None, **flags: object) -> None:
    """Print a config file with all options.

    Flags set their options in it: `gtp-engine config --rules japanese > tengen.toml`, then
    `gtp-engine --config tengen.toml`.
    """
    click.echo(build_config(config_file, flags).to_toml())
