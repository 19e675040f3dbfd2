"""The commands `gtp-engine generate` and `gtp-engine train …`: from a teacher's labels to a network file."""

import sys
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gtp_engine.base.errors import ConfigError, counted, shown_path
from gtp_engine.base.files import owning
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.signals import stop_on_signals
from gtp_engine.base.steps import carry_out_all, long_work, open_folder
from gtp_engine.cli.options import (
    FILE,
    FOLDER,
    INTERRUPTED,
    NETWORK,
    PATH,
    ConfigCommand,
    UserPath,
    out_option,
    refuse_unused,
    settings_options,
)
from gtp_engine.training.core.learning import check_torch, shipped_teacher
from gtp_engine.training.distillation.distillation_settings import (
    OF_PLAYER,
    DistillationLearning,
    GenerateSettings,
    HumanDataSettings,
    RankFitSettings,
    TrainConfig,
)
from gtp_engine.training.nets.new import Shape

if TYPE_CHECKING:
    from gtp_engine.training.core.checkpoint import Checkpoint

_OF_GAMES: Final = ("sizes", "workers", "ray", "temperature", "hot_share", "player", *OF_PLAYER)
"""Settings of games that are played."""


@click.command("generate", cls=ConfigCommand)
@click.argument("net", type=NETWORK)
@click.argument("folder", type=PATH)
@click.option(
    "--sgf",
    "records",
    metavar="FOLDER",
    type=PATH,
    help="Label the positions of the .sgf files in this folder instead of playing.",
)
@settings_options(GenerateSettings)
def generate_command(net: Path, folder: Path, records: Path | None, settings: GenerateSettings) -> None:
    """Generate labelled positions for training, as shards in FOLDER.

    A network, NET, plays games by sampling its policy and labels every position; with --sgf it labels the positions of
    recorded games instead. Ctrl-C ends a run after its current positions; the same command continues it.

    \N{BACKSPACE}
    gtp-engine generate teacher.onnx data --positions 1000000 --workers 2
    gtp-engine generate teacher.onnx data --minutes 60 --sizes 9=4,13=2,19=3,19x13=.2
    gtp-engine generate teacher.onnx data --sgf games
    gtp-engine generate teacher.onnx data --positions 10000000 --workers 64 --ray auto
    gtp-engine generate teacher.bin.gz data --torch --compiled --workers 32 --batch 128 --minutes 9

    In gtp_engine/training/distillation, shards.py describes the format of a shard, labelled_games.py the kinds of
    games.
    """
    if records is not None:
        refuse_unused(settings, _OF_GAMES, "with --sgf, which labels recorded games")
    elif settings.player is None:
        refuse_unused(settings, OF_PLAYER, "without --player")
    if settings.torch:
        refuse_unused(settings, ("provider",), "with --torch")
    else:
        refuse_unused(settings, ("compiled",), "without --torch")
    from gtp_engine.training.distillation.generate import generate

    with long_work(folder, total=settings.positions) as (bar, is_stopped):
        table = generate(net, folder, settings, bar, is_stopped, records=records)
    click.echo(table)
    if is_stopped():
        sys.exit(INTERRUPTED)


@click.group("train")
def train_command() -> None:
    """Train networks (needs PyTorch).

    \N{BACKSPACE}
    gtp-engine generate TEACHER data --positions 1000000
    gtp-engine train run --data data --out run --blocks 6 --channels 96 --minutes 600
    gtp-engine train resume run
    gtp-engine train export run -o b6c96.onnx --license CC0-1.0
    gtp-engine --model b6c96.onnx

    A run writes a checkpoint every few minutes and when it is interrupted with Ctrl-C.
    """


@train_command.command("run", cls=ConfigCommand)
@click.option("--data", required=True, type=FOLDER, help="Folder that `gtp-engine generate` filled.")
@click.option("--out", required=True, type=FOLDER, help="Folder of the run: checkpoint, log, curves, network.")
@click.option("--name", default="", help="Name of the network. [default: its size, such as b6c96, or that of --init]")
@click.option(
    "--init", type=NETWORK, help="Begin with this network: a checkpoint, an exported .onnx, KataGo's .bin.gz."
)
@click.option("--boards", metavar="SHARES", help="Shares of the batches by board size: 9=2,19=1. [default: as in DATA]")
@click.option("--in-memory", is_flag=True, help="Hold all positions in the memory of the device, for a GPU.")
@settings_options(DistillationLearning, "learning")
@settings_options(Shape, "shape")
def run_command(boards: str | None, learning: DistillationLearning, shape: Shape, **flags: Any) -> None:
    """Begin a training run."""
    check_torch()
    from gtp_engine.training.distillation.labelled_games import parse_sizes

    if flags["init"] is not None:
        refuse_unused(shape, [field.name for field in fields(Shape)], "with --init, whose network has its own sizes")
    shares = tuple((*board, share) for board, share in parse_sizes(boards).items()) if boards else ()
    _train(TrainConfig(learning=learning, shape=shape, board_shares=shares, **flags))


@train_command.command("resume", cls=ConfigCommand)
@click.argument("folder", metavar="RUN", type=FOLDER)
@click.option("--data", type=FOLDER, help="Folder of the run's data, if that is elsewhere now.")
@settings_options(
    DistillationLearning, "new", only=("minutes", "samples", "batch", "threads"), show_defaults=False, is_whole=False
)
def resume_command(folder: Path, data: Path | None, new: dict[str, Any]) -> None:
    """Resume a run from its checkpoint, with another length, batch or number of threads if given."""
    check_torch()
    from gtp_engine.training.core.checkpoint import read_checkpoint
    from gtp_engine.training.distillation.run import config_of

    checkpoint = read_checkpoint(folder)
    config = config_of(checkpoint)
    config = replace(config, out=folder, data=data or config.data, learning=replace(config.learning, **new))
    if not config.data.is_dir():
        given = f"no folder {shown_path(config.data)}"
        raise ConfigError(given, expected="the data of the run", advice="name their folder with --data")
    _train(config, checkpoint)


@train_command.command("new", cls=ConfigCommand)
@click.option("-o", "--out", required=True, type=FILE, help="File to write.")
@settings_options(Shape, "shape")
@settings_options(DistillationLearning, "given", only=("seed",), is_whole=False)
def new_command(out: Path, shape: Shape, given: dict[str, Any]) -> None:
    """Write a network with random weights as an ONNX file, to play against."""
    check_torch()
    from gtp_engine.training.distillation.run import export_new

    click.echo(f"Written: {export_new(shape, out, seed=given.get('seed', DistillationLearning.seed))}")


@train_command.command("export")
@click.argument("folder", metavar="RUN", type=FOLDER)
@out_option("NAME.onnx in RUN")
@click.option("--name", default="", help="Name of the network. [default: the run's]")
@click.option("--license", "terms", default="", help="Licence of the weights, to be written into the file.")
@click.option("--origin", help="Where the weights are from. [default: how they were trained]")
def export_command(folder: Path, target: Path | None, name: str, terms: str, origin: str | None) -> None:
    """Write the network of a run's checkpoint as an ONNX file."""
    check_torch()
    from gtp_engine.training.distillation.run import export_run

    click.echo(f"Written: {export_run(folder, target, name=name, terms=terms, origin=origin)}")


@train_command.command("validate")
@click.argument("network", type=NETWORK)
@click.argument("data", type=FOLDER)
@click.option(
    "--positions", default=100_000, show_default=True, type=click.IntRange(1), help="Most positions of each board size."
)
@settings_options(DistillationLearning, "given", only=("device",), is_whole=False)
def validate_command(network: Path, data: Path, positions: int, given: dict[str, Any]) -> None:
    """Print how well NETWORK, in float32, agrees with its teacher on the held-out positions in DATA.

    NETWORK is an .onnx file that `train export` wrote, a checkpoint, or a file of KataGo's; DATA is the folder that
    `gtp-engine generate` filled. The divergence of the policy is in nats; errors are mean differences: of winrates
    from 0 to 1, of leads in points, of ownership from -1 to 1.
    """
    check_torch()
    from gtp_engine.training.distillation.losses import AGREEMENT_HEAD, agreement_row
    from gtp_engine.training.distillation.run import validate_file

    device = given.get("device", DistillationLearning.device)
    agreements = validate_file(network, data, positions=positions, device=device)
    click.echo(AGREEMENT_HEAD)
    for place, found in agreements.items():
        click.echo(agreement_row(place, found))


@train_command.command("human", cls=ConfigCommand)
@click.argument("games", nargs=-1, required=True, type=UserPath(path_type=Path, exists=True))
@click.option("--data", required=True, type=FOLDER, help="Folder to fill, for `gtp-engine train run`.")
@click.option(
    "--mix",
    type=UserPath(path_type=Path, file_okay=False, exists=True),
    help="Add the positions in this folder of `gtp-engine generate`, for boards without games.",
)
@settings_options(HumanDataSettings)
def human_command(games: tuple[Path, ...], data: Path, mix: Path | None, settings: HumanDataSettings) -> None:
    """Make data of GAMES between people, for a network that plays like people of each rank.

    GAMES are files of JSON Lines (.jsonl, .jsonl.xz, .jsonl.gz) or folders of SGF files with the ranks of both players
    (BR, WR). The network that ships then learns to imitate the players:

    \N{BACKSPACE}
    gtp-engine train human games.jsonl.xz --data data
    gtp-engine train run --data data --init models/tengen-b10c128.onnx \N{REVERSE SOLIDUS}
        --frozen-blocks 6 --out run --minutes 80

    gtp_engine/training/people/human_data.py describes the lines and how players are held out.
    """
    from gtp_engine.training.people.human_data import fill_folder, fresh_shards, mix_in, read_games

    total = settings.positions + settings.held_out_positions
    with long_work(data, total=total) as (bar, is_stopped):
        read = list(read_games(games, bar.log))
        with fresh_shards(data, is_stopped=is_stopped):
            written = fill_folder(
                read,
                data,
                settings,
                progress=lambda count: bar.update(count, f"{count:,} positions"),
                is_stopped=is_stopped,
            )
            mixed = 0 if mix is None or is_stopped() else mix_in(mix, data, seed=settings.seed)
    parts = [f"{count:,} {part}" for part, count in written.items()]
    click.echo(f"{counted(len(read), 'game')}; positions: {', '.join(parts)}; mixed in: {mixed:,}")
    if is_stopped():
        sys.exit(INTERRUPTED)


@train_command.command("rank", cls=ConfigCommand)
@click.argument("games", nargs=-1, required=True, type=UserPath(path_type=Path, exists=True))
@click.option("--human-model", "network", required=True, help="Human-like network: a file, a folder or a name.")
@out_option("beside the network, where it is read")
@settings_options(RankFitSettings)
def rank_command(games: tuple[Path, ...], network: str, target: Path | None, settings: RankFitSettings) -> None:
    """Measure how moves depend on the rank in GAMES between people, for `gtp-engine rank`.

    GAMES are as for `train human`. The network that ships says how many points moves lose, the human-like network how
    likely people of three ranks play them. Prints how well the result recognises the ranks of held-out players.
    """
    from gtp_engine.config.sections import NetworkConfig
    from gtp_engine.engine.level_table import table_path
    from gtp_engine.nn.loading import load_evaluator
    from gtp_engine.nn.named_networks import model_path, shipped_folder
    from gtp_engine.people.rank_estimate import RANKS_ENDING, measured_moves, write_table
    from gtp_engine.training.people.human_data import read_games
    from gtp_engine.training.people.rank_fit import ACCURACY_HEAD, accuracies, fit_table, look_at

    looked = []
    with ProgressBar(total=None) as bar, stop_on_signals() as is_stopped:
        read = list(read_games(games, bar.log))
        strong, human = (
            load_evaluator(NetworkConfig(model=model, cache_positions=0), log=bar.log, batch=settings.moves)
            for model in (str(shipped_folder()), network)
        )
        measure = partial(measured_moves, strong, human, most=settings.moves)
        for found in look_at(read, measure, settings, is_stopped=is_stopped):
            looked.append(found)
            bar.update(len(looked), f"{counted(len(looked), 'game')} of a player")
    table = fit_table(looked, (strong.info.name, human.info.name))
    target = target or table_path(model_path(network), human.info.name, RANKS_ENDING)
    write_table(table, target)
    click.echo("\n".join([ACCURACY_HEAD, *map(str, accuracies(looked, table))]))
    click.echo(f"{counted(len(looked), 'game')} of a player; written: {target}")


@train_command.command("chain")
@click.argument("folder", type=FOLDER)
@click.option("--tiny", is_flag=True, help="In miniature: a small network for 9×9, in less than ten minutes.")
@click.option("--teacher", type=NETWORK, help="Network that plays and labels. [default: the one that ships]")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Play and train for so many minutes together, a third of them games. [default: as much as the network needs]",
)
def chain_command(folder: Path, tiny: bool, teacher: Path | None, minutes: float | None) -> None:
    """Train a small network (b6c96) on the games of a teacher.

    Generates data, trains, exports, quantizes, and plays a match on 9×9 against an untrained network. Everything goes
    into FOLDER, and the commands are printed. After an interruption the same command continues.
    """
    check_torch()
    from gtp_engine.training.distillation.chain import FULL, TINY, steps_of, won_games

    plan, teacher = TINY if tiny else FULL, teacher or shipped_teacher()
    with owning(folder):
        open_folder(folder, plan.command, teacher)
        steps = steps_of(plan, folder, teacher, minutes)
        carry_out_all(steps)
    rate, games = won_games(steps[-1])
    click.echo(f"\nThe trained network won {rate:.0%} of {counted(games, 'game')} against the untrained one.")
    sys.exit(0 if rate > 0.5 else 1)


def _train(config: TrainConfig, checkpoint: "Checkpoint | None" = None) -> None:
    """Train with a bar on the terminal; Ctrl-C ends the run after the current step."""
    from gtp_engine.training.distillation.run import run_training

    with long_work(config.out) as (bar, is_stopped):
        is_done = run_training(config, bar, is_stopped, checkpoint)
    if not is_done:
        click.echo(f"Interrupted. To continue: gtp-engine train resume {config.out}", err=True)
        sys.exit(INTERRUPTED)
