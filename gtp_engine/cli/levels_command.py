"""The command `gtp-engine calibrate-levels`: measures the levels of a human-like network."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import click

from gtp_engine.base.errors import ConfigError, shown
from gtp_engine.base.files import check_result, owning
from gtp_engine.base.streams import write_log
from gtp_engine.cli.options import FILE, ConfigCommand, settings_options
from gtp_engine.config import NetworkConfig
from gtp_engine.config.option import Section, option


def _sizes(text: str) -> str:
    """Return a list of the sides of boards, unchanged; raises ConfigError."""
    if not all(word.isdecimal() and 7 <= int(word) <= 25 for word in text.split(",")):
        raise ConfigError(f"sizes {shown(text)}", expected="sides from 7 to 25, such as 9,13,19")
    return text


@dataclass(frozen=True)
class CalibrationSettings(Section, name="calibration"):
    """Which games measure the levels, and how ranks follow from them."""

    sizes: str = option("9,13,19", "Sizes of the boards.", unit="list", normalize=_sizes)
    coarse_games: int = option(12, bounds=(2, 1000))
    """Games of each pair of skills on the coarse scale, which come first."""
    games: int = option(40, "Games of each pair of levels three ranks apart, to check them.", bounds=(0, 10_000))
    handicap_games: int = option(40, bounds=(0, 10_000))
    """Games in which a rank gives three stones to the rank three below it, for each of three pairs; from 17x17 on."""
    spacing: float | None = option(None, bounds=(1, 400))
    """Elo points from rank to rank; not set: the worth of a stone, and less on small boards."""
    below_top: float = option(0.0, bounds=(0, 2000))
    """Elo points by which 9d stays below the strongest skill; set it so that an opponent of known rank is as strong as
    that rank here."""
    refit: bool = option(False)
    """Fit the curve to all games so far, including those that checked an earlier curve, and check the new curve."""
    keep: bool = option(False)
    """Keep the ranks of NET.levels.json and only check them, to continue an interrupted check or to play more games."""
    batch: int = option(16, "Games played side by side.", bounds=(1, 256))
    threads: int = option(0, "Threads of the network; 0: all cores.", bounds=(0, 1024))


_TEXTS: Final = {"network.human_model": "The human-like network. [default: the one that ships]"}


@click.command("calibrate-levels", cls=ConfigCommand, texts=_TEXTS)
@settings_options(NetworkConfig, "network", only=("human_model",), is_own=True)
@click.option(
    "--games-file", required=True, type=FILE, help="Where games are kept; those found there are not played again."
)
@settings_options(CalibrationSettings, is_own=True)
def calibrate_levels_command(games_file: Path, network: NetworkConfig, settings: CalibrationSettings) -> None:
    """Measure the levels of a human-like network (--level 20k … 9d), by games between them in this process.

    \N{BACKSPACE}
    gtp-engine calibrate-levels --human-model NET.onnx --games-file NET.games.jsonl

    Writes NET.levels.json beside the network; the engine reads it when it plays at a level. Every game is saved as it
    ends. To continue an interrupted measurement, run the same command again, with --keep in place of --refit. Measuring
    19x19 takes far longer than 9x9; the weak levels come first.
    """
    network = replace(network, network_threads=settings.threads)
    from gtp_engine.engine.level_table import HUMAN_MODEL, STRONG_MODEL, read_skills, table_path, write_board
    from gtp_engine.nn.loading import load_evaluator
    from gtp_engine.nn.named_networks import model_path, shipped_network
    from gtp_engine.training.people.calibration import LevelNetworks, Measurement, checked_board, fitted_skills

    if settings.keep and (settings.refit or settings.below_top or settings.spacing):
        raise click.UsageError("--keep with --refit, --below-top or --spacing: give one or the other")
    check_result(games_file, advice="name another file with --games-file")
    human = shipped_network(HUMAN_MODEL) if network.human_model is None else model_path(network.human_model)
    with owning(games_file.parent, file=games_file.name):
        for size in map(int, settings.sizes.split(",")):
            load = partial(load_evaluator, log=write_log, board=(size, size), batch=settings.batch)
            paths = (shipped_network(STRONG_MODEL), human)
            networks = LevelNetworks(*(load(replace(network, model=str(path))) for path in paths))
            name = networks.human.info.name
            measurement = Measurement(networks, size, games_file, batch=settings.batch, log=write_log)
            path = table_path(human, name)
            check_result(path, advice="copy the network to a folder of yours, and name it there with --human-model")
            if not networks.human.info.needs_profile:
                raise ConfigError(f"network {shown(name)}", expected="one that imitates people")
            if settings.keep:
                skills = read_skills(path, size)
            else:
                skills = fitted_skills(
                    measurement,
                    coarse_games=settings.coarse_games,
                    spacing=settings.spacing,
                    below_top=settings.below_top,
                    refit=settings.refit,
                )
                write_board(path, name, size, {"skills": skills})
            board = checked_board(measurement, skills, games=settings.games, handicap_games=settings.handicap_games)
            write_board(path, name, size, board)
            for evaluator in networks:
                evaluator.close()
            click.echo(f"{size}x{size}: written to {path}")
