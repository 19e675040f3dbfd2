"""The command `gtp-engine generate`."""

import sys
from pathlib import Path
from typing import Any, Final

import click

from gtp_engine.cli.options import INTERRUPTED, ConfigCommand, refuse_unused, settings_of, settings_options
from gtp_engine.training.distillation.distillation_settings import OF_PLAYER, GenerateSettings

_OF_GAMES: Final = ("sizes", "workers", "ray", "temperature", "hot_share", "player", *OF_PLAYER)
"""Settings of games that are played."""

_HELP = """Generate labelled positions for training, as shards in FOLDER.

A network, NET, plays games by sampling its policy and labels every position; with --sgf it labels the positions of
recorded games instead. The same command continues an earlier run; Ctrl-C ends a run after its current positions.

\b
gtp-engine generate teacher.onnx data --positions 1000000 --workers 2
gtp-engine generate teacher.onnx data --minutes 60 --sizes 9=4,13=2,19=3,19x13=.2
gtp-engine generate teacher.onnx data --sgf games
gtp-engine generate teacher.onnx data --positions 10000000 --workers 64 --ray auto

The format of a shard is described in gtp_engine/training/distillation/shards.py, the kinds of games in game_variety.py.
"""


@click.command("generate", cls=ConfigCommand, help=_HELP)
@click.argument("net", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--sgf",
    "records",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Label the positions of the .sgf files in this folder instead of playing.",
)
@settings_options(GenerateSettings)
def generate_command(net: Path, folder: Path, records: Path | None, **flags: Any) -> None:
    """Generate the data and print what was done."""
    settings = settings_of(GenerateSettings, flags)
    if records is not None:
        refuse_unused(settings, _OF_GAMES, "with --sgf, which labels recorded games")
    elif settings.player is None:
        refuse_unused(settings, OF_PLAYER, "without --player")
    if settings.torch:
        refuse_unused(settings, ("provider",), "with --torch")
    from gtp_engine.progress import ProgressBar
    from gtp_engine.training.core.runs import stop_on_signals
    from gtp_engine.training.distillation.generate import generate

    with ProgressBar(total=settings.positions) as bar, stop_on_signals() as is_stopped:
        table = generate(net, folder, settings, bar, is_stopped, records=records)
    click.echo(table)
    if is_stopped():
        sys.exit(INTERRUPTED)
