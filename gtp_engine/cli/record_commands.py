"""The commands about game records: `gtp-engine review`, `gtp-engine score`, `gtp-engine rank`, `gtp-engine solve`."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from gtp_engine.base.errors import ConfigError, SgfError, shown
from gtp_engine.base.files import check_result, data_folder, write_result
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.streams import write_log
from gtp_engine.cli.options import (
    FILE,
    FOLDER,
    RECORD,
    ConfigCommand,
    config_options,
    given_text,
    language_option,
    saying_when_interrupted,
    settings_options,
)
from gtp_engine.config import Config
from gtp_engine.config.human import MOVES_OF_RANK
from gtp_engine.config.option import Section, option
from gtp_engine.go.coords import parse_color
from gtp_engine.go.rules import Rules
from gtp_engine.sgf import parse_sgf, play_record, read_sgf_file
from gtp_engine.sgf.collection import game_in
from gtp_engine.sgf.record import no_game_of_player

if TYPE_CHECKING:
    from gtp_engine.people.review.review_files import FileReviewer, PooledSearcher, RecordSource, ReviewOutcome, Terms

MOST_WORKERS: Final = 1024
"""Most processes that may be requested; a larger number is taken for a typing error."""

_UNITS: Final = {"": 1.0, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def _command(
    name: str, usual: tuple[str, ...], *, texts: dict[str, str] | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Return the decorator of a command whose help leaves out the options for playing."""
    own = {
        "game.rules": "Rules of records that name none. [default chinese]",
        "game.komi": "Komi of records that name none. [default: the usual one of the rules]",
    }
    unused = ("play", "variety", "time", "gtp", "analysis")
    return click.command(name, cls=ConfigCommand, usual=usual, unused=unused, texts=own | (texts or {}))


@dataclass(frozen=True)
class ChosenPosition(Section, name="record"):
    """Which position of a file is meant."""

    game: int | None = option(None, "Take game N of a file with several games.", unit="n", low=1)
    move: int | None = option(None, "Take the position before move N.", unit="n", low=1)


def _duration(text: str) -> str:
    """Return the seconds of a time such as "90", "90s", "5min" or "1h" as a number; raises ConfigError."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", text.strip().lower())
    if match is None or match[2] not in _UNITS or float(match[1]) <= 0:
        raise ConfigError(f"time {shown(text)}", expected="a time such as 90s, 5min or 1h")
    return f"{float(match[1]) * _UNITS[match[2]]:f}"


@dataclass(frozen=True)
class ReviewSettings(Section, name="review"):
    """How long games are reviewed, by whom, and what is shown of them."""

    seconds: str | None = option(None, unit="time", normalize=_duration)
    """Search each position this long, instead of --visits."""
    total: str | None = option(None, "Time for a whole game, such as 5min.", unit="time", normalize=_duration)
    workers: int | None = option(None, unit="n", bounds=(1, MOST_WORKERS))
    """Processes that search; not set: as many as suit this machine."""
    ray: str | None = option(None, "Ray cluster to run the workers on; auto: the running one.", unit="address")
    player: str | None = option(None, unit="name")
    """Whom the review is for: its mistakes come first. [default: the person against an engine]"""
    variations: bool = option(False, "Review the variations of the records, too.")
    learn: bool = option(False, "Then ask in this terminal for better moves than the player's mistakes.")
    terminal: bool = option(False, "Also print the graph and the mistakes.")
    territory: bool = option(False, "Mark the expected territory in the last position of the SGF.")


_record_argument: Final = click.argument("record", metavar="FILE", type=RECORD)


def _read_record(record: Path, place: ChosenPosition, target: Path | None) -> bytes:
    """Return one game of a file, or of stdin for `-`; raises SgfError, also where there is no such game or move.

    Raises ConfigError for a result that cannot be written to `target`.
    """
    if target is not None:
        check_result(target, record)
    data = game_in(sys.stdin.buffer.read() if str(record) == "-" else read_sgf_file(str(record)), place.game)
    if place.move is not None and place.move > (last := len(parse_sgf(data).moves) + 1):
        raise ConfigError(f"the position before move {place.move} of {last - 1}", expected=f"1 to {last}")
    return data


@_command(
    "review",
    ("network.model", "search.visits", "game.rules", "game.komi", "analysis.ignore_history"),
    texts={"search.visits": "Visits of each position. [default 80 on 19x19, 171 on 13x13, 357 on 9x9]"},
)
@click.argument("files", nargs=-1, required=True, type=RECORD)
@click.option("-o", "--out", type=FOLDER, help="Folder for the results. [default: beside each record]")
@settings_options(ReviewSettings, is_own=True)
@settings_options(ChosenPosition, "place", only=("game",), is_own=True)
@click.option("--csv", "table", type=FILE, help="Also write a table of all games.")
@language_option
@config_options()
def review_command(
    files: tuple[Path, ...],
    out: Path | None,
    table: Path | None,
    settings: ReviewSettings,
    place: ChosenPosition,
    config: Config,
) -> None:
    """Review games: what each move lost, and what would have been better.

    \N{BACKSPACE}
    gtp-engine review GAME.sgf
    gtp-engine review games/ --out reviews/ --csv reviews/table.csv

    For GAME.sgf it writes GAME.review.html, a page with graphs and the biggest mistakes, GAME.review.sgf, the record
    with comments, variations and winrates that Sabaki, KaTrain and Lizzie show, and GAME.review.json for programs.
    FILES are records, folders of records, or - for stdin.

    Ctrl-C keeps what is done; the same command continues from there. Files that cannot be read are listed at the end,
    and the exit code is then 1.
    """
    if table is not None and (out is None or out not in table.parents):  # folders below `out` come with the results
        check_result(table, *files)
    from gtp_engine.engine.rehearsal import warm_up
    from gtp_engine.engine.resources import Resources
    from gtp_engine.nn.evaluators import evaluator_of
    from gtp_engine.people.review.finished_reviews import csv_of, summary, terminal_report
    from gtp_engine.people.review.game_analysis import Effort, GameAnalysis
    from gtp_engine.people.review.lessons import open_people
    from gtp_engine.people.review.review_files import FileReviewer, Terms, open_searcher

    seconds, total = (None if text is None else float(text) for text in (settings.seconds, settings.total))
    is_timed = seconds is not None or total is not None
    overrides_file = is_timed and given_text("search.visits") is None
    effort = Effort(visits=None if overrides_file else config.search.visits or None, seconds=seconds, total=total)
    sources = _sources(files, out)
    _check_readable(sources, place.game, settings.player)
    if settings.learn and (len(sources) != 1 or Path("-") in files):
        raise click.UsageError("--learn with several records or stdin: name one file")
    log = cache(write_log)  # once for each line, such as what holds for both networks
    evaluator = evaluator_of(config, log)
    warm_up(Resources(evaluator), config, log)
    people = open_people(config, evaluator, log)
    rules, komi = Rules.parse(config.game.rules), config.game.komi
    terms = Terms(rules, komi, place.game, settings.territory, settings.variations, settings.player)
    with open_searcher(
        config, effort, games=len(sources), workers=settings.workers, address=settings.ray, note=write_log
    ) as searcher:
        analysis = GameAnalysis(config, evaluator, effort, searcher=None if searcher is None else searcher.search)
        reviewer = FileReviewer(analysis, terms, people, None if searcher is None else searcher.complete)
        outcomes = _review(reviewer, sources, searcher)
    reviews = [(each.source.name, each.result) for each in outcomes if each.result is not None]
    if settings.terminal:
        width = shutil.get_terminal_size().columns
        for name, result in reviews:
            click.echo(name)
            click.echo(terminal_report(result, width=width, color=sys.stdout.isatty()), nl=False)
    elif len(reviews) == 1:
        click.echo(summary(reviews[0][1]), err=True)
    if table is not None:
        write_result(table, csv_of(reviews).encode())
    for outcome in outcomes:
        if outcome.failure is not None:
            click.echo(f"Could not review {outcome.source.name}: {outcome.failure}", err=True)
        elif outcome.result is None:
            click.echo(f"Skipped {outcome.source.name}: it is a review already.", err=True)
    if settings.learn and len(reviews) == 1:
        _learn(sources[0].read(), terms, reviews[0][1])
    sys.exit(any(outcome.failure is not None for outcome in outcomes))


def _learn(data: bytes, terms: "Terms", result: dict[str, Any]) -> None:
    """Ask for better moves than the mistakes of a review."""
    from gtp_engine.people.review.game_line import read_game
    from gtp_engine.people.review.lessons import LearningRecord
    from gtp_engine.people.terminal.displays import open_display
    from gtp_engine.people.terminal.terminal_game import solve_lessons

    line = read_game(game_in(data, terms.game), rules=terms.rules, komi=terms.komi)
    with open_display() as display:
        learned = solve_lessons(line, result, LearningRecord(data_folder() / "lessons.json"), display)
    click.echo(learned)


def _sources(files: Sequence[Path], out: Path | None) -> "list[RecordSource]":
    """Return the records that the arguments name; raises SgfError if there is none."""
    from gtp_engine.people.review.review_files import STDIN_NAME, RecordSource, sources_of

    paths = [path for path in files if str(path) != "-"]
    sources = sources_of(paths, out)
    if len(paths) < len(files):
        data = sys.stdin.buffer.read()
        sources.append(RecordSource(STDIN_NAME, lambda: data, (out or Path()) / STDIN_NAME))
    if not sources:
        expected = "files that end in .sgf, .gib, .ngf, .ugf or .ugi"
        raise SgfError("no records", expected=expected, advice="name others one by one")
    return sources


def _check_readable(sources: "Sequence[RecordSource]", game: int | None, player: str | None) -> None:
    """End the program, with the reasons, if no record can be read, or none names the player, if one is given.

    Networks need not be loaded then.  `game` is the number of the game that is to be read of each file of several.
    """
    failures, records = {}, []
    for source in sources:
        try:
            records.append(parse_sgf(source.read() if game is None else game_in(source.read(), game)))
            if player is None or records[-1].names_player(player):
                return
        except SgfError as error:
            failures[source.name] = str(error)
    if player is not None and records:
        click.echo(f"{player}: {no_game_of_player(records)}", err=True)
        sys.exit(1)
    _end_unreadable(failures)


def _end_unreadable(failures: Mapping[str, str]) -> NoReturn:
    """End the program, because none of these records can be read for these reasons."""
    click.echo("\n".join(f"Could not read {name}: {reason}" for name, reason in failures.items()), err=True)
    sys.exit(1)


def _review(
    reviewer: "FileReviewer", sources: "Sequence[RecordSource]", searcher: "PooledSearcher | None"
) -> "list[ReviewOutcome]":
    """Review the records and return the outcomes in their order; an interruption ends the program."""
    from gtp_engine.people.review.review_files import review_all

    outcomes, interrupted = {}, "Interrupted. The same command continues from here."
    with saying_when_interrupted(interrupted), ProgressBar(total=len(sources)) as bar:
        if searcher is not None:
            searcher.pool.note = bar.log
        at_once = 1 if searcher is None else searcher.at_once
        for outcome in review_all(reviewer, sources, bar.update, at_once=at_once):
            outcomes[outcome.source.name] = outcome
            if outcome.result is not None:
                bar.log(f"{outcome.source.target}.review.html")
        bar.update(len(sources), "done")
    return [outcomes[source.name] for source in sources]


@_command("score", ("network.model", "game.rules", "game.komi"))
@_record_argument
@settings_options(ChosenPosition, "place", is_own=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option(
    "--sgf", "target", type=FILE, help="Also write the record with territory and dead stones marked in that position."
)
@language_option
@config_options()
def score_command(record: Path, as_json: bool, target: Path | None, place: ChosenPosition, config: Config) -> None:
    """Score a finished or nearly finished game.

    FILE is a record, or - for stdin. Prints the result under the record's rules, and the stones that count as dead.
    """
    from gtp_engine.engine import Engine
    from gtp_engine.people.review.score_report import score_record

    data = _read_record(record, place, target)
    with Engine(config, write_log) as engine:
        engine.load_kernels()
        report = score_record(engine, data, move_number=place.move)
    click.echo(json.dumps(report.to_json(), indent=2) if as_json else report.to_text())
    if target is not None:
        write_result(target, report.marked(data))


@_command("rank", ("network.human_model",), texts={"network.human_model": "Human-like network. [default tengen-human]"})
@click.argument("files", nargs=-1, required=True, type=RECORD)
@click.option("--player", metavar="NAME", help="Only this player, as PB and PW name it. [default: all]")
@click.option(
    "--moves",
    default=MOVES_OF_RANK,
    show_default=True,
    type=click.IntRange(1),
    help="Most moves of a player to look at in one game.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@language_option
@config_options()
def rank_command(files: tuple[Path, ...], player: str | None, moves: int, as_json: bool, config: Config) -> None:
    """Estimate which rank players played like, with an interval.

    FILES are records of even games on 19x19, folders of records, or - for stdin. All of a player's games count
    together.
    """
    from gtp_engine.people.rank_estimate import estimate_ranks

    records, unreadable = dict[str, bytes](), dict[str, str]()
    for source in _sources(files, None):
        try:
            records[source.name] = source.read()
        except SgfError as error:
            unreadable[source.name] = str(error)
    report = estimate_ranks(records, config, player=player, most=moves)
    report.left_out = unreadable | report.left_out
    if not report.games:
        _end_unreadable(report.left_out)
    click.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2) if as_json else report.to_text())
    sys.exit(not report.ranks)


@_command(
    "solve",
    ("network.model", "search.visits"),
    texts={"search.visits": "Visits of each search; four times as many where no move is clearly right. [default 500]"},
)
@_record_argument
@settings_options(ChosenPosition, "place", is_own=True)
@click.option("--region", help="Where to play: vertices and rectangles, such as A1:F5. [default: around the stones]")
@click.option("--first", type=click.Choice(["black", "white"]), help="Who moves first. [default: whose turn it is]")
@click.option("--sgf", "target", type=FILE, help="Write the answer tree.")
@language_option
@config_options()
def solve_command(
    record: Path, region: str | None, first: str | None, target: Path | None, place: ChosenPosition, config: Config
) -> None:
    """Solve a problem of life and death in a region of the board.

    FILE is a record, or - for stdin. Searches its last position, with moves in the region only, and prints the best
    first move with its line, and the answers to other first moves.
    """
    from gtp_engine.engine.rehearsal import warm_up
    from gtp_engine.engine.resources import Resources
    from gtp_engine.nn.evaluators import evaluator_of
    from gtp_engine.people.review.problems import LifeAndDeath, parse_region
    from gtp_engine.people.review.problems.life_and_death import DEFAULT_VISITS

    data = _read_record(record, place, target)
    rules, komi = Rules.parse(config.game.rules), config.game.komi
    position, played = play_record(parse_sgf(data), move_number=place.move, rules=rules, komi=komi)
    for note in played.notes:
        write_log(f"the record: {note}")
    points = None if region is None else parse_region(region, width=position.width, height=position.height)
    evaluator = evaluator_of(config)
    solver = LifeAndDeath(config, evaluator, config.search.visits or DEFAULT_VISITS, log=write_log)
    warm_up(Resources(evaluator), config, write_log)
    solution = solver.solve(position, position.to_play if first is None else parse_color(first), points)
    click.echo(solution.to_text())
    if target is not None:
        write_result(target, f"{solution.to_sgf()}\n".encode())
