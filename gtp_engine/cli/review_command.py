"""The command `gtp-engine review`."""

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from gtp_engine.cli.config_options import build_config, config_options
from gtp_engine.cli.evaluator_setup import evaluator_of
from gtp_engine.cli.parameters import FILE, FOLDER, INTERRUPTED
from gtp_engine.cli.record_file import RecordCommand, game_option
from gtp_engine.cli.result_file import check_result, write_result

if TYPE_CHECKING:
    from gtp_engine.review.review_files import FileReviewer, RecordSource, ReviewOutcome

_HELP: Final = """Review games: what each move lost, and what would have been better.

\b
gtp-engine review GAME.sgf
gtp-engine review games/ --out reviews/ --csv reviews/table.csv

For GAME.sgf it writes GAME.review.html, a page to step through the game with graphs and the biggest mistakes,
GAME.review.sgf, the record with comments, variations and winrates that Sabaki, KaTrain and Lizzie show, and
GAME.review.json for programs. FILES are records, folders of records, or - for stdin.

Ctrl-C keeps what is done; the same command continues from there. Files that cannot be read are listed at the end, and
the exit code is then 1.
"""

MOST_WORKERS: Final = 1024
"""Most processes that may be requested; a larger number is taken for a typing error."""

_UNITS: Final = {"": 1.0, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


class ReviewCommand(RecordCommand):
    """A command whose help begins with the options that matter for a review."""

    usual = ("network.model", "search.visits", "game.rules", "game.komi")
    texts = MappingProxyType(
        {
            **RecordCommand.texts,
            "search.visits": "Visits of each position. [default 80 on 19x19, 171 on 13x13, 357 on 9x9]",
        }
    )


def _duration(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Return the seconds of a time such as "90", "90s", "5min" or "1h"; raises a usage error for anything else."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", value.strip().lower())
    if match is None or match[2] not in _UNITS or float(match[1]) <= 0:
        raise click.BadParameter(f"{value!r}: expected a time such as 90s, 5min or 1h", ctx, param)
    return float(match[1]) * _UNITS[match[2]]


@click.command("review", cls=ReviewCommand, help=_HELP)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("-o", "--out", type=FOLDER, help="Folder for the results. [default: beside each record]")
@click.option(
    "--seconds", callback=_duration, metavar="TIME", help="Search each position this long, instead of --visits."
)
@click.option("--total", callback=_duration, metavar="TIME", help="Time for a whole game, such as 5min.")
@game_option
@click.option(
    "--workers",
    type=click.IntRange(1, MOST_WORKERS),
    metavar="N",
    help="Processes that search. [default: as many as suit this machine]",
)
@click.option("--ray", metavar="ADDRESS", help="Ray cluster to run the workers on; auto: the running one.")
@click.option("--variations", is_flag=True, help="Review the variations of the records too.")
@click.option("--csv", "table", type=FILE, metavar="FILE", help="Also write a table of all games.")
@click.option("--terminal", is_flag=True, help="Also print the graph and the mistakes.")
@click.option("--territory", is_flag=True, help="Mark the expected territory in the last position of the SGF.")
@config_options()
def review_command(
    files: tuple[Path, ...],
    out: Path | None,
    seconds: float | None,
    total: float | None,
    game: int | None,
    workers: int | None,
    ray: str | None,
    variations: bool,
    table: Path | None,
    terminal: bool,
    territory: bool,
    config_file: str | None,
    **flags: object,
) -> None:
    """Review the games and exit."""
    config = build_config(config_file, flags)
    if table is not None and (out is None or out not in table.parents):  # folders below `out` come with the results
        check_result(table)
    from gtp_engine.engine.resources import Resources
    from gtp_engine.go.rules import Rules
    from gtp_engine.review.game_analysis import Effort, GameAnalysis
    from gtp_engine.review.review_files import FileReviewer, Terms
    from gtp_engine.review.worker_pool import open_pool
    from gtp_engine.streams import write_log

    is_timed = seconds is not None or total is not None
    overrides_file = is_timed and flags["search__visits"] is None
    effort = Effort(visits=None if overrides_file else config.search.visits or None, seconds=seconds, total=total)
    sources = _sources(files, out)
    evaluator = evaluator_of(config)
    resources = Resources(evaluator)
    resources.warm_up(config, resources.playable_board(*resources.first_board(config)), write_log)
    terms = Terms(Rules.parse(config.game.rules), config.game.komi, game, territory, variations)
    with open_pool(config, games=len(sources), workers=workers, address=ray) as pool:
        reviewer = FileReviewer(GameAnalysis(config, evaluator, effort, searcher=pool), terms)
        outcomes = _review(reviewer, sources, at_once=1 if pool is None else pool.workers + 1)
    reviews = [(each.source.name, each.result) for each in outcomes if each.result is not None]
    if terminal:
        _print_reports(reviews)
    if table is not None:
        from gtp_engine.review.finished_reviews import csv_of

        write_result(table, csv_of(reviews).encode())
    for outcome in outcomes:
        if outcome.failure is not None:
            click.echo(f"Could not review {outcome.source.name}: {outcome.failure}", err=True)
        elif outcome.result is None:
            click.echo(f"Skipped {outcome.source.name}: it is a review already.", err=True)
    sys.exit(any(outcome.failure is not None for outcome in outcomes))


def _sources(files: Sequence[Path], out: Path | None) -> "list[RecordSource]":
    """Return the records that the arguments name; raises SgfError if there is none."""
    from gtp_engine.errors import SgfError, problem
    from gtp_engine.review.review_files import STDIN_NAME, RecordSource, sources_of

    paths = [path for path in files if str(path) != "-"]
    sources = sources_of(paths, out)
    if len(paths) < len(files):
        data = sys.stdin.buffer.read()
        sources.append(RecordSource(STDIN_NAME, lambda: data, (out or Path()) / STDIN_NAME))
    if not sources:
        raise SgfError(
            problem("no records to review", expected="files that end in .sgf", advice="name others one by one")
        )
    return sources


def _review(reviewer: "FileReviewer", sources: "Sequence[RecordSource]", *, at_once: int) -> "list[ReviewOutcome]":
    """Review the records and return the outcomes in their order; an interruption ends the program."""
    from gtp_engine.progress import ProgressBar
    from gtp_engine.review.review_files import SharesDone, review_all

    outcomes = {}
    try:
        with ProgressBar(total=len(sources)) as bar:
            shares = SharesDone(sources, bar.update)
            for outcome in review_all(reviewer, sources, shares, at_once=at_once):
                outcomes[outcome.source.name] = outcome
                if outcome.result is not None:
                    bar.log(f"{outcome.source.target}.review.html")
            bar.update(len(sources), "done")
    except KeyboardInterrupt:
        click.echo("Interrupted. The same command continues from here.", err=True)
        sys.exit(INTERRUPTED)
    return [outcomes[source.name] for source in sources]


def _print_reports(reviews: Sequence[tuple[str, dict[str, Any]]]) -> None:
    from gtp_engine.review.finished_reviews import terminal_report

    width = shutil.get_terminal_size().columns
    for name, result in reviews:
        click.echo(name)
        click.echo(terminal_report(result, width=width, color=sys.stdout.isatty()), nl=False)
