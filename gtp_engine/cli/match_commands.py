"""The commands about engines against each other: `gtp-engine match`, `gtp-engine tournament`."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gtp_engine.arena.match.settings import MOST_AT_ONCE, SIDES, MatchSettings, Sprt, other_side
from gtp_engine.base.errors import counted
from gtp_engine.base.files import owning
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.streams import write_log
from gtp_engine.base.workers import open_workers
from gtp_engine.cli.options import FILE, FOLDER, INTERRUPTED, ConfigCommand, saying_when_interrupted, settings_options

if TYPE_CHECKING:
    from gtp_engine.arena.match.records import GameRecord, MatchFolder
    from gtp_engine.arena.match.runner import GamePool

_RAY_HELP = (
    "Play on a Ray cluster, as many games at once as it has room for; auto: the running one. Files that commands of "
    "gtp-engine name are sent along; other engines must be installed there."
)


def cluster_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for games on a cluster."""
    ray = click.option("--ray", metavar="ADDRESS", is_eager=True, help=_RAY_HELP)
    about = "Cores of the cluster for each game. [default: 2]"
    return ray(click.option("--cores", type=click.IntRange(1), callback=_cores, help=about)(command))


def _cores(context: click.Context, _option: click.Parameter, cores: int | None) -> int:
    if cores is not None and context.params["ray"] is None:
        raise click.UsageError("--cores belongs to --ray ADDRESS")
    return cores or 2


@contextmanager
def _game_pool(
    commands: Sequence[str], address: str | None, *, cores: int, count: int | None = None
) -> "Iterator[GamePool | None]":
    """Yield the pool of a cluster's workers, None without an address."""
    if address is None:
        yield None
        return
    from gtp_engine.arena.match.runner import job_of_games

    with open_workers(job_of_games(commands, threads=cores), count, address, note=write_log) as pool:
        yield pool


@click.command("match", cls=ConfigCommand)
@click.option("--first", required=True, metavar="COMMAND", help="Command line of the first engine, in quotes.")
@click.option("--second", required=True, metavar="COMMAND", help="Command line of the second engine.")
@click.option(
    "--out",
    required=True,
    type=FOLDER,
    help="Folder for results, game records and logs; a match found there continues.",
)
@settings_options(MatchSettings, "given", is_own=True, is_whole=False)
@click.option(
    "--sprt",
    type=(float, float),
    metavar="ELO0 ELO1",
    help="Stop when the games decide whether the first engine is ELO0 or ELO1 stronger (game pairs, GSPRT).",
)
@click.option("--alpha", type=float, help="Probability that --sprt wrongly accepts ELO1. [default: 0.05]")
@click.option("--beta", type=float, help="Probability that --sprt wrongly accepts ELO0. [default: 0.05]")
@click.option("--plot", type=FILE, help="Draw the winrate over the games as .svg or .png (needs matplotlib).")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON instead of a table.")
@cluster_options
def match_command(
    given: dict[str, Any], out: Path, plot: Path | None, as_json: bool, ray: str | None, cores: int, **flags: Any
) -> None:
    """Let two GTP engines play a match.

    \N{BACKSPACE}
    gtp-engine match --first "gtp-engine --time-per-move 1" \N{REVERSE SOLIDUS}
        --second "gnugo --mode gtp --level 10 --chinese-rules" \N{REVERSE SOLIDUS}
        --size 9 --komi 7 --games 60 --out matches/gnugo-9x9

    Run the same command again to continue an interrupted match; a finished match prints its table. --games may be
    raised later.

    With --sprt the match ends as soon as the games so far decide between two Elo differences of the first engine:

    \N{BACKSPACE}
    gtp-engine match … --games 2000 --random-plies 4 --sprt 0 30
    """
    from gtp_engine.arena.match.records import MatchFolder
    from gtp_engine.arena.match.statistics import check_plot, format_table, summarize, write_plot

    elos = flags.pop("sprt")
    errors = {name: error for name in ("alpha", "beta") if (error := flags.pop(name)) is not None}
    if elos is None and errors:
        raise click.UsageError("--alpha and --beta belong to --sprt ELO0 ELO1")
    test = None if elos is None else Sprt(*elos, **errors)
    if folder_of_openings := given.get("openings"):  # in full, as the match may be continued from another folder
        given["openings"] = str(Path(folder_of_openings).resolve())
    count = given.get("parallel")
    if ray is not None and count is None:
        given["parallel"] = MOST_AT_ONCE
    match = MatchSettings(**given, **flags, sprt=test)
    if plot is not None:
        check_plot(plot)
    folder = MatchFolder(out, match)
    with _game_pool([match.first, match.second], ray, cores=cores, count=count) as pool:
        records = _play(match, folder, pool)
    summary = summarize(records, match.sprt)
    names = _different_names(match, {"first": folder.engine_name("first"), "second": folder.engine_name("second")})
    if plot is not None:
        write_plot(plot, records, **names)
    click.echo(json.dumps(names | summary.to_json(), indent=2) if as_json else format_table(summary, **names))


def _different_names(match: MatchSettings, names: dict[str, str]) -> dict[str, str]:
    """Return the engines' names; equal ones with the words in which their commands differ, or else their places."""
    if names["first"] != names["second"]:
        return names
    words: dict[str, list[str]] = {side: match.command(side).split() for side in SIDES}
    own = {side: [word for word in words[side] if word not in words[other_side(side)]] for side in SIDES}
    is_told = own["first"] != own["second"]
    return {side: f"{names[side]} ({' '.join(own[side]) or 'as it is' if is_told else side})" for side in SIDES}


def _play(match: MatchSettings, folder: "MatchFolder", pool: "GamePool | None") -> "list[GameRecord]":
    """Play the missing games of the match and return all; an interruption ends the program."""
    from gtp_engine.arena.match.runner import run_match, show_games

    try:
        with ProgressBar(total=match.games) as bar:
            if pool is not None:
                pool.note = bar.log
            show = partial(show_games, bar, folder, match.sprt)
            show()
            return run_match(match, folder, show, pool=pool)
    except KeyboardInterrupt:
        played = counted(len(folder.records()), "finished game")
        click.echo(f"Interrupted; {folder.path} keeps {played}. Run the same command again to continue.", err=True)
        sys.exit(INTERRUPTED)


@click.command("tournament")
@click.argument("file", type=FILE)
@click.option("--out", type=FOLDER, help="Where results are written. [default: FILE without .toml]")
@cluster_options
def tournament_command(file: Path, out: Path | None, ray: str | None, cores: int) -> None:
    """Let any number of GTP engines play a tournament.

    FILE is TOML:

    \N{BACKSPACE}
    games = 20                  # of each pair under each condition
    format = "round-robin"      # or "gauntlet": the first engine against the others
    parallel = 2                # games at once
    bind-to-cores = true        # each of them on cores of its own (Linux)

    \N{BACKSPACE}
    [[engines]]
    name = "Tengen"
    command = "gtp-engine"

    \N{BACKSPACE}
    [[engines]]
    name = "GNU Go"
    command = "gnugo --mode gtp --level 10 --chinese-rules"

    \N{BACKSPACE}
    [[conditions]]
    size = 9
    time-per-move = 1
    random-plies = 4

    A condition takes the options of `gtp-engine match` as keys; a relative path of openings is relative to FILE's
    folder. With a handicap the engine listed later is Black.

    Run the same command again to continue an interrupted tournament, or to play more games after raising `games`. The
    folder gets tables as index.html and results.json, and each match as `gtp-engine match` stores it.
    """
    from gtp_engine.arena.match.settings import MatchError
    from gtp_engine.arena.tournament.standings import format_tables, tables_of
    from gtp_engine.arena.tournament.tournament_file import read_description
    from gtp_engine.arena.tournament.tournament_runner import TournamentRunner, show_games

    description = read_description(file)
    folder = file.with_suffix("") if out is None else out
    if folder == file:
        raise MatchError(f"{file} has no suffix, so results need a folder of another name: give --out FOLDER")
    if ray is not None and description.bind_to_cores:
        raise MatchError("bind-to-cores with --ray", advice="leave out one of them; see --cores")
    commands = [entrant.command for entrant in description.entrants]
    interrupted = f"Interrupted; {folder} keeps the finished games. Run the same command again to continue."
    with (
        saying_when_interrupted(interrupted),
        owning(folder, MatchError),
        _game_pool(commands, ray, cores=cores) as pool,
        ProgressBar(total=description.games * len(description.meetings)) as bar,
    ):
        if pool is not None:
            pool.note = bar.log
        runner = TournamentRunner(description, folder, lambda *ended: show_games(runner, file.stem, bar, ended), pool)
        if others := ", ".join(runner.other_matches):
            bar.log(f"{folder} holds matches that {file} does not describe; their games do not count: {others}")
        show_games(runner, file.stem, bar)
        runner.run()
    click.echo(format_tables(description, tables_of(description, runner.results)))
    click.echo(f"\nTables and games for the browser: {folder / 'index.html'}")
