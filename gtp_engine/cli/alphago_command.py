"""The commands `gtp-engine alphago …`: the stages of AlphaGo's training, and the whole chain."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gtp_engine.base.errors import counted
from gtp_engine.base.files import owning
from gtp_engine.base.steps import long_work
from gtp_engine.cli.options import FOLDER, INTERRUPTED, NETWORK, ConfigCommand, settings_options
from gtp_engine.config import NetworkConfig
from gtp_engine.config.option import Section, option
from gtp_engine.training.alphago.stages.stage_settings import (
    PolicyGameSettings,
    PolicyLearning,
    PolicySettings,
    RecordSettings,
    ReinforceSettings,
    RolloutNetSettings,
    RolloutSettings,
    StageRun,
    ValueLearning,
    ValueSettings,
)
from gtp_engine.training.core.learning import check_torch, shipped_teacher


@click.group("alphago")
def alphago_command() -> None:
    """Train AlphaGo's networks: policy, rollout policy, reinforcement, value.

    \N{BACKSPACE}
    gtp-engine alphago chain runs/alphago --mini
    gtp-engine --model runs/alphago/network --rollout-share 0.5

    `chain` runs all stages. Each stage is a command too, and writes its files to a folder of its own. Ctrl-C stops a
    stage after it has written a checkpoint; the same command resumes it. All but `records` need PyTorch.
    """


@dataclass(frozen=True)
class ExportSettings(Section, name="export"):
    """What the file of a trained network says about it."""

    name: str = option("", "Name of the network in its file. [default: from its size]", unit="name")
    license: str = option("", "Licence of the weights, recorded in the file.", unit="text")


@alphago_command.command("records", cls=ConfigCommand)
@click.argument("net", type=NETWORK)
@click.argument("folder", type=FOLDER)
@settings_options(RecordSettings)
@settings_options(NetworkConfig, "network", only=("provider", "precision"), is_own=True)
def records_command(net: Path, folder: Path, settings: RecordSettings, network: NetworkConfig) -> None:
    """Have a network play against itself and write the games as SGF files to FOLDER.

    NET is an ONNX file: one of KataGo's networks, or a policy network trained here. Its moves are drawn from its
    policy. Games are played to the end and scored.
    """
    from gtp_engine.training.alphago.stages.play_records import load_player, play_records

    how = {"provider": network.provider, "precision": network.precision}
    with long_work(folder) as (bar, is_stopped):
        player = load_player(net, batch=settings.parallel_games, threads=settings.threads, **how)
        before, now = play_records(player, folder, settings, bar, is_stopped)
    click.echo(f"{counted(now - before, 'game')} played, {now:,} in {folder}")
    if is_stopped():
        sys.exit(INTERRUPTED)


@alphago_command.command("policy", cls=ConfigCommand)
@click.argument("records", type=FOLDER)
@click.argument("run", type=FOLDER)
@settings_options(PolicySettings)
@settings_options(PolicyLearning, "learning")
@settings_options(ExportSettings, "export", is_own=True)
def policy_command(records: Path, run: Path, **settings: Any) -> None:
    """Train a policy network to predict the moves of RECORDS; write RUN/policy.onnx.

    RECORDS is a folder of SGF files on one board size. RUN receives checkpoint, log, curves and network.
    """
    _supervised(records, run, **settings)


@alphago_command.command("rollout-policy", cls=ConfigCommand)
@click.argument("records", type=FOLDER)
@click.argument("run", type=FOLDER)
@settings_options(RolloutSettings)
@settings_options(ExportSettings, "export", is_own=True)
def rollout_policy_command(records: Path, run: Path, settings: RolloutSettings, export: ExportSettings) -> None:
    """Train a linear rollout policy on the moves of RECORDS; write RUN/rollout-policy.npz.

    RECORDS is a folder of SGF files on one board size; the policy plays on any. RUN receives checkpoint, log, curves
    and the policy.
    """
    with _stage(run, export) as stage:
        from gtp_engine.training.alphago.stages.game_records import read_games
        from gtp_engine.training.alphago.stages.rollout_policy import run_rollout_policy

        run_rollout_policy(read_games(records, log=stage.bar.log), settings, stage)


@alphago_command.command("rollout-network", cls=ConfigCommand)
@click.argument("records", type=FOLDER)
@click.argument("run", type=FOLDER)
@settings_options(RolloutNetSettings)
@settings_options(PolicyLearning, "learning")
@settings_options(ExportSettings, "export", is_own=True)
def rollout_network_command(records: Path, run: Path, **settings: Any) -> None:
    """Train a small policy network for rollouts on the moves of RECORDS; write RUN/rollout.onnx.

    Beside a policy and a value network, --rollout-policy network plays rollouts with it. RECORDS is a folder of SGF
    files on one board size. RUN receives checkpoint, log, curves and network.
    """
    _supervised(records, run, **settings)


@alphago_command.command("reinforce", cls=ConfigCommand)
@click.argument("supervised", type=FOLDER)
@click.argument("run", type=FOLDER)
@settings_options(ReinforceSettings)
@settings_options(PolicyGameSettings, "game")
@settings_options(ExportSettings, "export", is_own=True)
def reinforce_command(
    supervised: Path, run: Path, settings: ReinforceSettings, game: PolicyGameSettings, export: ExportSettings
) -> None:
    """Improve a policy network by games against its earlier versions; write RUN/policy.onnx.

    SUPERVISED is the run of `policy` to start from. RUN receives checkpoint, log, curves, the pool of earlier versions,
    all games, and the network.
    """
    with _stage(run, export) as stage:
        from gtp_engine.training.alphago.stages.reinforce import run_reinforcement

        run_reinforcement(supervised, settings, game, stage)


@alphago_command.command("value", cls=ConfigCommand)
@click.argument("supervised", type=FOLDER)
@click.argument("reinforced", type=FOLDER)
@click.argument("run", type=FOLDER)
@settings_options(ValueSettings)
@settings_options(PolicyGameSettings, "game")
@settings_options(ValueLearning, "learning")
@settings_options(ExportSettings, "export", is_own=True)
def value_command(supervised: Path, reinforced: Path, run: Path, export: ExportSettings, **settings: Any) -> None:
    """Train a value network on games of the reinforced policy; write RUN/value.onnx.

    SUPERVISED and REINFORCED are runs of `policy` and `reinforce`. RUN receives the games, checkpoint, log, curves and
    network.
    """
    with _stage(run, export) as stage:
        from gtp_engine.training.alphago.stages.value import run_value

        run_value((supervised, reinforced), run=stage, **settings)


@alphago_command.command("chain")
@click.argument("folder", type=FOLDER)
@click.option("--mini", is_flag=True, help="In miniature: 12 minutes on two cores instead of some hours.")
@click.option("--size", type=click.IntRange(2, 25), default=9, show_default=True, help="Lines of the board.")
@click.option("--teacher", type=NETWORK, help="Network that plays the records. [default: the one that ships]")
@click.option("--license", "terms", default="", help="Licence of the weights, recorded in the files.")
def chain_command(folder: Path, mini: bool, size: int, teacher: Path | None, terms: str) -> None:
    """Train all networks of AlphaGo's pipeline and compare them in a round robin.

    FOLDER/network is for `gtp-engine --model`, FOLDER/table.md has the Elo table. The commands are printed. After an
    interruption the same command resumes.
    """
    from gtp_engine.training.alphago.stages.stage_chain import FULL, MINI, TABLE, run_chain

    check_torch()
    with owning(folder):
        run_chain((MINI if mini else FULL).on(size), folder, teacher or shipped_teacher(), terms)
    click.echo("\n" + (folder / TABLE).read_text("utf-8"), nl=False)


def _supervised(
    records: Path, run: Path, settings: PolicySettings, learning: PolicyLearning, export: ExportSettings
) -> None:
    """Train a network to predict the moves of records; the kind of its settings decides which one."""
    with _stage(run, export) as stage:
        from gtp_engine.training.alphago.stages.game_records import read_games
        from gtp_engine.training.alphago.stages.supervised import run_supervised

        run_supervised(read_games(records, log=stage.bar.log), settings, learning, stage)


@contextmanager
def _stage(out: Path, export: ExportSettings) -> Iterator[StageRun]:
    """Yield a run with a progress bar, and exit after one that was interrupted; raises ConfigError without PyTorch."""
    check_torch()
    with long_work(out) as (bar, is_stopped):
        yield StageRun(out, bar, is_stopped, name=export.name, terms=export.license)
    if is_stopped():
        click.echo("Interrupted. The same command resumes.", err=True)
        sys.exit(INTERRUPTED)
