"""The command `gtp-engine calibrate-levels`."""

from pathlib import Path

import click

from gtp_engine.cli.result_file import check_result
from gtp_engine.config import Config, NetworkConfig

_HELP = """Measure the levels of a network (--level 20k … 9d), by games between them in this process.

\b
gtp-engine calibrate-levels --model NET.onnx --games-file NET.games.jsonl

Writes NET.levels.json beside the network; the engine reads it when it plays at a level. Every game is kept in the file
of games as it ends: run the same command again to continue an interrupted measurement (with --keep instead of --refit).
Measuring 19x19 takes far longer than 9x9; the weak levels come first.
"""


@click.command("calibrate-levels", help=_HELP)
@click.option("--model", metavar="PATH", help="The network. [default: the one to play with]")
@click.option("--sizes", default="9,13,19", show_default=True, metavar="LIST", help="Sizes of the boards.")
@click.option(
    "--games-file",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where games are kept; those found there are not played again.",
)
@click.option(
    "--coarse-games",
    default=12,
    show_default=True,
    type=click.IntRange(2, 1000),
    help="Games of each pair of skills on the coarse scale, which come first.",
)
@click.option(
    "--games",
    default=40,
    show_default=True,
    type=click.IntRange(0, 10_000),
    help="Games of each pair of neighbouring levels, to check them.",
)
@click.option(
    "--handicap-games",
    default=40,
    show_default=True,
    type=click.IntRange(0, 10_000),
    help="Games in which a rank gives three stones to the rank three below it, for each of three pairs; from 17x17 on.",
)
@click.option(
    "--spacing",
    type=click.FloatRange(1, 400),
    help="Elo points from rank to rank. [default: the worth of a stone; less on small boards]",
)
@click.option(
    "--below-top",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 2000),
    help="Elo points by which 9d stays below the strongest skill; set it so that an opponent of known rank is as "
    "strong as that rank here.",
)
@click.option(
    "--refit",
    is_flag=True,
    help="Fit the curve to all games so far, including those that checked an earlier curve, and check the new curve.",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Keep the ranks of NET.levels.json and only check them, to continue an interrupted check or to play more "
    "games.",
)
@click.option("--batch", default=16, show_default=True, type=click.IntRange(1, 256), help="Games played side by side.")
@click.option(
    "--threads",
    "threads",
    default=0,
    show_default=True,
    type=click.IntRange(0, 1024),
    help="Threads of the network; 0: all cores.",
)
def calibrate_levels_command(
    model: str | None,
    sizes: str,
    games_file: Path,
    coarse_games: int,
    games: int,
    handicap_games: int,
    spacing: float | None,
    below_top: float,
    refit: bool,
    keep: bool,
    batch: int,
    threads: int,
) -> None:
    """Measure the levels of a network."""
    from gtp_engine.engine.level_play import check_level
    from gtp_engine.level.table import read_skills, table_path, write_board
    from gtp_engine.match.level_calibration import Measurement, checked_board, fitted_skills
    from gtp_engine.nn import load_evaluator
    from gtp_engine.nn.named_networks import model_path

    def log(line: str) -> None:
        click.echo(line, err=True)

    if keep and (refit or below_top or spacing):
        raise click.UsageError("--keep with --refit, --below-top or --spacing: expected one or the other")
    network = NetworkConfig(model=model, network_threads=threads)
    check_result(games_file, "name another file with --games-file")
    for size in _sides(sizes):
        evaluator = load_evaluator(network, log=log, board=(size, size), batch=batch)
        check_level(Config().with_values({"play.level": "1d"}), evaluator)
        measurement = Measurement(evaluator, size, games_file, batch=batch, log=log)
        path = table_path(model_path(model), evaluator.info.name)
        check_result(path, "copy the network to a folder of yours, and name it there with --model")
        if keep:
            skills = read_skills(path, size)
        else:
            skills = fitted_skills(
                measurement, coarse_games=coarse_games, spacing=spacing, below_top=below_top, refit=refit
            )
            write_board(path, evaluator.info.name, size, {"skills": skills})
        board = checked_board(measurement, skills, games=games, handicap_games=handicap_games)
        write_board(path, evaluator.info.name, size, board)
        evaluator.close()
        click.echo(f"{size}x{size}: written to {path}")


def _sides(text: str) -> list[int]:
    """Return the sides of boards that a list names; raises UsageError."""
    words = text.split(",")
    if not all(word.isdecimal() and 7 <= int(word) <= 25 for word in words):
        raise click.UsageError(f"--sizes {text}: expected sides from 7 to 25, such as 9,13,19")
    return [int(word) for word in words]
