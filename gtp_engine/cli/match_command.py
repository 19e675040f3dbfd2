"""The command `gtp-engine match`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gtp_engine.cli.config_options import ConfigCommand
from gtp_engine.cli.parameters import FILE, FOLDER, INTERRUPTED
from gtp_engine.cli.settings_options import given_settings, settings_options
from gtp_engine.errors import counted
from gtp_engine.match.settings import DEFAULT_ERROR, MatchSettings, Sprt

if TYPE_CHECKING:
    from gtp_engine.match.records import GameRecord, MatchFolder

_HELP = "Rule set: chinese, japanese, aga, tromp-taylor … It is sent to engines that list a command for it."

_HELP = """Let two GTP engines play a match.

\b
gtp-engine match --first "gtp-engine --time-per-move 1" \\
    --second "gnugo --mode gtp --level 10 --chinese-rules" \\
    --size 9 --komi 7 --games 60 --out matches/gnugo-9x9

Run the same command again to continue an interrupted match; a finished match prints its table. --games may be raised
later.

With --sprt the match ends as soon as the games so far decide between two Elo differences of the first engine:

\b
gtp-engine match … --games 2000 --random-plies 4 --sprt 0 30
"""


@click.command("match", cls=ConfigCommand, help=_HELP)
@click.option("--first", required=True, metavar="COMMAND", help="Command line of the first engine, in quotes.")
@click.option("--second", required=True, metavar="COMMAND", help="Command line of the second engine.")
@click.option(
    "--out",
    required=True,
    type=FOLDER,
    metavar="FOLDER",
    help="Where results, game records and logs are written; a match found there is continued.",
)
@settings_options(MatchSettings)
@click.option(
    "--sprt",
    type=(float, float),
    metavar="ELO0 ELO1",
    help="Stop when the games decide whether the first engine is ELO0 or ELO1 stronger (game pairs, GSPRT).",
)
@click.option("--alpha", type=float, help="Probability that --sprt wrongly accepts ELO1. [default: 0.05]")
@click.option("--beta", type=float, help="Probability that --sprt wrongly accepts ELO0. [default: 0.05]")
@click.option(
    "--plot",
    type=FILE,
    metavar="FILE",
    help="Draw the winrate over the games as .svg or .png (needs matplotlib: pip install 'gtp-engine[plot]').",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON instead of a table.")
def match_command(out: Path, plot: Path | None, as_json: bool, **flags: Any) -> None:
    """Play the match that the flags describe, or resume it, and print its result."""
    from gtp_engine.match.records import MatchFolder
    from gtp_engine.match.statistics import check_plot, format_table, summarize, write_plot

    test = _test(flags.pop("sprt"), flags.pop("alpha"), flags.pop("beta"))
    given = given_settings(MatchSettings, flags)
    if folder_of_openings := given.get("openings"):  # in full, as the match may be continued from another folder
        given["openings"] = str(Path(folder_of_openings).resolve())
    match = MatchSettings(**given, **flags, sprt=test)
    if plot is not None:
        check_plot(plot)
    folder = MatchFolder(out, match)
    records = _play(match, folder)
    summary = summarize(records, match.sprt)
    names = {"first": folder.engine_name("first"), "second": folder.engine_name("second")}
    if plot is not None:
        write_plot(plot, records, **names)
    click.echo(json.dumps(names | summary.to_json(), indent=2) if as_json else format_table(summary, **names))


def _play(match: MatchSettings, folder: "MatchFolder") -> "list[GameRecord]":
    """Play the missing games of the match and return all; an interruption ends the program."""
    from gtp_engine.match.runner import MatchProgress, run_match
    from gtp_engine.progress import ProgressBar

    try:
        with ProgressBar(total=match.games) as bar:
            return run_match(match, folder, MatchProgress(bar, folder.records(), match.sprt).game_over)
    except KeyboardInterrupt:
        played = counted(len(folder.records()), "finished game")
        click.echo(f"Interrupted; {folder.path} keeps {played}. Run the same command again to continue.", err=True)
        sys.exit(INTERRUPTED)


def _test(sprt: tuple[float, float] | None, alpha: float | None, beta: float | None) -> Sprt | None:
    """Return the sequential test the flags describe; raises a usage error for --alpha or --beta without --sprt."""
    if sprt is not None:
        return Sprt(*sprt, *(DEFAULT_ERROR if value is None else value for value in (alpha, beta)))
    if alpha is not None or beta is not None:
        raise click.UsageError("--alpha and --beta belong to --sprt ELO0 ELO1")
    return None
