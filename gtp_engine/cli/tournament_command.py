"""The command `gtp-engine tournament`."""

import sys
from pathlib import Path

import click

from gtp_engine.cli.parameters import INTERRUPTED

_HELP = """Let any number of GTP engines play a tournament.

FILE is TOML:

\b
games = 20                  # of each pair under each condition
format = "round-robin"      # or "gauntlet": the first engine against the others
parallel = 2                # games at once
bind-to-cores = true        # each of them on cores of its own (Linux)

\b
[[engines]]
name = "Tengen"
command = "gtp-engine"

\b
[[engines]]
name = "GNU Go"
command = "gnugo --mode gtp --level 10 --chinese-rules"

\b
[[conditions]]
size = 9
time-per-move = 1
random-plies = 4

A condition takes the options of `gtp-engine match` as keys; a relative path of openings is relative to FILE's folder.
With a handicap the engine listed later is Black.

Run the same command again to continue an interrupted tournament, or to play more games after raising `games`. The
folder gets tables as index.html and results.json, and each match as `gtp-engine match` stores it.
"""


@click.command("tournament", help=_HELP)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where results are written. [default: FILE without .toml]",
)
def tournament_command(file: Path, out: Path | None) -> None:
    """Play the tournament, or what is left of it, and print its tables."""
    from gtp_engine.match.records import playing_alone
    from gtp_engine.match.settings import MatchError
    from gtp_engine.progress import ProgressBar
    from gtp_engine.tournament.standings import format_tables, tables_of
    from gtp_engine.tournament.tournament_file import read_description
    from gtp_engine.tournament.tournament_runner import TournamentProgress, TournamentRunner

    description = read_description(file)
    folder = file.with_suffix("") if out is None else out
    if folder == file:
        raise MatchError(f"{file} has no suffix, so results need a folder of another name: give --out FOLDER")
    try:
        total = description.games * len(description.pairings)
        with playing_alone(folder), ProgressBar(total=total) as bar:
            progress = TournamentProgress(description, folder, file.stem, bar)
            runner = TournamentRunner(description, folder, progress.game_over)
            if others := ", ".join(runner.other_matches):
                bar.log(f"{folder} holds matches that {file} does not describe; their games do not count: {others}")
            progress.begin(runner.results)
            runner.run()
    except KeyboardInterrupt:
        click.echo(f"Interrupted; {folder} keeps the finished games. Run the same command again to continue.", err=True)
        sys.exit(INTERRUPTED)
    click.echo(format_tables(description, tables_of(description, runner.results)))
