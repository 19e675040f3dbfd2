"""The commands about this machine and installation: `benchmark`, `doctor`, `warmup`, `config`, and two of KataGo's."""

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from gtp_engine import __version__
from gtp_engine.base.errors import TengenError
from gtp_engine.base.files import check_result, write_result
from gtp_engine.base.streams import write_log
from gtp_engine.base.worker_process import join_command
from gtp_engine.cli.katago_command import KataGoCommand, katago_model
from gtp_engine.cli.options import FILE, ConfigCommand, F, config_options, settings_options
from gtp_engine.config import Config, NetworkConfig
from gtp_engine.config.katago import KATAGO_VERSION
from gtp_engine.config.option import Section, option
from gtp_engine.go.rules import Rules

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of a table.")


_KATAGOS_SWITCHES: Final = ("--tune -s", "--half-batch-size")
_KATAGOS_FLAGS: Final = (
    *("--visits -v", "--threads -t", "--numpositions -n", "--time -i", "--sgf", "--boardsize", "--fixed-batch-size"),
    *_KATAGOS_SWITCHES,
)
"""Flags of `katago benchmark` without effect here; the others have a value."""


@dataclass(frozen=True)
class BenchmarkSettings(Section, name="benchmark"):
    """How long each measurement is, and what is measured."""

    seconds: float = option(2.0, "Length of each measurement.", unit="seconds", bounds=(0.05, 600))
    repeats: int = option(3, "Measurements of each kind; their median is reported.", bounds=(1, 100))
    compare: str | None = option(None, unit="command")
    """Also run this `katago benchmark` command, with the same network, and print how many times as fast Tengen is."""


def _without_effect(function: F) -> F:
    """Add the flags of `katago benchmark` that have no effect, hidden."""
    for names in _KATAGOS_FLAGS:
        function = click.option(*names.split(), hidden=True, is_flag=names in _KATAGOS_SWITCHES)(function)
    for name in ("--config", "--override-config"):
        function = click.option(name, multiple=True, hidden=True)(function)
    return function


@click.command(
    "benchmark",
    cls=KataGoCommand,
    aliases={(name := flag.split()[0]): name for flag in _KATAGOS_FLAGS},
    texts={
        "network.model": "Measure this network, and find its best threads and batch size. [default: the one to play "
        "with]"
    },
)
@settings_options(BenchmarkSettings, is_own=True)
@settings_options(NetworkConfig, "network", only=("model", "provider", "device", "precision"), is_own=True)
@click.option("--no-network", is_flag=True, help="Measure only what needs no network, in half the time.")
@_without_effect
@_AS_JSON
def benchmark_command(
    settings: BenchmarkSettings, network: NetworkConfig, no_network: bool, as_json: bool, **flags: Any
) -> None:
    """Measure how fast the engine is on this machine.

    Reports rollouts per second on one core, search playouts per second on all cores, and the time from the start of a
    process to its first replies. Then come the network's evaluations per second by threads and batch size, and the
    playouts per second of a search with it. All this takes about two minutes; run nothing else meanwhile.

    To compare with KataGo, which needs the network in its own format:

    \N{BACKSPACE}
    gtp-engine benchmark --model b15c192.onnx \N{REVERSE SOLIDUS}
        --compare "katago benchmark -model b15c192.bin.gz -config gtp.cfg"
    """
    from gtp_engine.arena.benchmark import format_report, run_benchmark
    from gtp_engine.nn.evaluators import with_imported_model

    network = with_imported_model(replace(network, model=katago_model(network.model)))
    if ignored := [name for name, value in flags.items() if value]:
        text = "the benchmark tries threads and batch sizes by itself, with positions of its own"
        click.echo(f"Without effect here: {', '.join(ignored)}; {text}.", err=True)
    if no_network and (network.model is not None or settings.compare is not None):
        raise click.UsageError("--no-network leaves out what --model and --compare ask for; give one or the other")

    report = run_benchmark(
        seconds=settings.seconds,
        repeats=settings.repeats,
        progress=write_log,
        network=None if no_network else network,
        katago=settings.compare,
    )
    click.echo(json.dumps(report, indent=2) if as_json else format_report(report))


@click.command("doctor")
@click.option(
    "--clean",
    is_flag=True,
    help="Remove the compiled code instead: before you uninstall the engine, or to have it compiled again.",
)
@_AS_JSON
def doctor_command(clean: bool, as_json: bool) -> None:
    """Describe this machine and installation, and report problems.

    This includes what the first start will do and how many threads the search uses. The exit status is 1 if something
    is missing or broken.
    """
    from gtp_engine.people.doctor import examine, format_findings, remove_compiled_code

    if clean and as_json:
        raise click.UsageError("--clean with --json: give one or the other")
    if clean:
        click.echo(remove_compiled_code())
        return
    findings = examine()
    click.echo(json.dumps(findings, indent=2) if as_json else format_findings(findings))
    if findings["problems"]:
        sys.exit(1)


@click.command("warmup", cls=ConfigCommand)
@config_options()
def warmup_command(config: Config) -> None:
    """Compile the engine now instead of at its first start.

    Run this once before a bot's first game. Otherwise the first start compiles for up to a minute, and meanwhile small
    searches choose the moves, which are weaker. Give the flags of the later start: a search without a network, one with
    rollouts, or a network with other inputs (--model alphago-9x9) needs other code.
    """
    from gtp_engine.engine import Engine

    started = time.perf_counter()
    engine = Engine(config=config, log=write_log)
    engine.warm_up(write_log)
    engine.close()
    click.echo(f"Ready after {time.perf_counter() - started:.1f} s.")


@click.command("config", cls=ConfigCommand)
@config_options()
def config_command(config: Config) -> None:
    """Print a config file with all options.

    Flags set their options in it: `gtp-engine config --rules japanese > tengen.toml`, then
    `gtp-engine --config tengen.toml`.
    """
    click.echo(config.to_toml())


@click.command("genconfig", cls=KataGoCommand)
@settings_options(NetworkConfig, "network", only=("model",), is_own=True)
@click.option("--output", "target", type=FILE, default="gtp.cfg", show_default=True, help="Config file to write.")
def genconfig_command(target: Path, network: NetworkConfig) -> None:
    """Ask for rules, limits and pondering, and write a config file in KataGo's form.

    For programs and people used to `katago genconfig`: the questions are KataGo's, without those about the machine,
    which the engine answers itself. `gtp-engine config` prints a file with all options.
    """
    model = katago_model(network.model)
    check_result(target)
    if target.exists() and not click.confirm(f"{target} exists. Replace it?"):
        return
    lines = [f"rules = {_asked_rules()}"]
    if click.confirm("Limit the search for a move, besides the game's clock?"):
        kind = click.prompt("Limit its visits, playouts or seconds?", type=click.Choice(list(_LIMITS)))
        name, usual, allowed = _LIMITS[kind]
        lines.append(f"{name} = {click.prompt(f'How many {kind}?', default=usual, type=allowed)}")
    else:
        click.prompt("Then a move without a clock takes five seconds. Press Enter", default="", show_default=False)
    ponders = click.confirm("Think while the opponent does?")
    lines.append(f"ponderingEnabled = {str(ponders).lower()}")
    if ponders:
        lines.append(f"maxTimePondering = {click.prompt('For how many seconds?', default=60.0, type=_SECONDS)}")
    written = ["# Configuration in KataGo's form, written by `gtp-engine genconfig`.", *lines]
    write_result(target, "\n".join([*written, "allowResignation = true", ""]).encode())
    named = [] if model is None else ["-model", model]
    command = join_command(["gtp-engine", "gtp", *named, "-config", str(target)])
    click.echo(f"Written: {target}. Play with it: {command}")


_SECONDS: Final = click.FloatRange(min=0.01, max=1e6)
_LIMITS: Final[Mapping[str, tuple[str, float, click.IntRange | click.FloatRange]]] = {
    "visits": ("maxVisits", 500, click.IntRange(min=1)),
    "playouts": ("maxPlayouts", 300, click.IntRange(min=1)),
    "seconds": ("maxTime", 10.0, _SECONDS),
}
"""What limits a move: KataGo's name, its usual value and those allowed."""


def _asked_rules() -> str:
    """Return the name of a rule set that the user enters."""
    while True:
        name = str(click.prompt("Rules (chinese, japanese, korean, tromp-taylor, aga, new-zealand …)"))
        try:
            Rules.parse(name)
        except TengenError as error:
            click.echo(str(error))
        else:
            return name


@click.command("version")
def version_command() -> None:
    """Print the version of the engine, and of the KataGo whose command line it accepts."""
    click.echo(f"gtp-engine {__version__}\nAccepts the command line and config files of KataGo {KATAGO_VERSION}.")
