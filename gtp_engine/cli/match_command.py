"""The command `gtp-engine match`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gtp_engine.cli.parameters import INTERRUPTED
from gtp_engine.errors import counted

if TYPE_CHECKING:
    from gtp_engine.match.records import GameRecord, MatchFolder
    from gtp_engine.match.settings import MatchSettings, Sprt

_RULES_HELP = "Rule set: chinese, japanese, aga, tromp-taylor … It is sent to engines that list a command for it."

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


@click.command("match", help=_HELP)
@click.option("--first", required=True, metavar="COMMAND", help="Command line of the first engine, in quotes.")
@click.option("--second", required=True, metavar="COMMAND", help="Command line of the second engine.")
@click.option("--first-name", default="", metavar="NAME", help="Name of the first engine. [default: its own]")
@click.option("--second-name", default="", metavar="NAME", help="Name of the second engine. [default: its own]")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where results, game records and logs are written; a match found there is continued.",
)
@click.option("--games", default=10, show_default=True, type=int, help="Number of games; colours alternate.")
@click.option(
    "--parallel",
    default=1,
    show_default=True,
    type=int,
    help="Games played at once, each with two engine processes of its own.",
)
@click.option("--size", "board_size", default=19, show_default=True, type=int, help="Board size.")
@click.option("--komi", type=float, help="Points for White. [default: usual under the rules; 0.5 with a handicap]")
@click.option("--rules", default="chinese", show_default=True, help=_RULES_HELP)
@click.option(
    "--handicap",
    default=0,
    show_default=True,
    metavar="STONES",
    help="Handicap stones of the second engine, which then is Black in every game.",
)
@click.option(
    "--time-per-move",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="A clock that allows this much for each move.",
)
@click.option("--main-time", type=float, metavar="SECONDS", help="A clock with this main time.")
@click.option("--overtime", type=float, metavar="SECONDS", help="Overtime after it …")
@click.option("--overtime-stones", type=int, metavar="MOVES", help="… for this many moves (Canadian) …")
@click.option("--overtime-periods", type=int, metavar="PERIODS", help="… or in this many periods (byo-yomi).")
@click.option(
    "--increment", type=float, metavar="SECONDS", help="Added to the main time after each move (a Fischer clock)."
)
@click.option(
    "--time-grace",
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="Tolerance for each move before it loses on time.",
)
@click.option(
    "--forfeit-on-time/--no-forfeit-on-time",
    default=True,
    show_default=True,
    help="A move over time loses the game; otherwise such moves are only counted.",
)
@click.option(
    "--time-left",
    "send_time_left",
    is_flag=True,
    help="Send time_left before each move, as servers do (gogui-twogtp does not).",
)
@click.option(
    "--visits",
    default=0,
    metavar="VISITS",
    help="Set the visits of both engines for each move (kata-set-param maxVisits).",
)
@click.option(
    "--openings",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    metavar="FOLDER",
    help="Begin with the .sgf records of this folder, each played twice with colours swapped.",
)
@click.option(
    "--random-plies",
    default=0,
    show_default=True,
    type=int,
    help="Begin with this many random moves, the same for both games of a pair.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the random moves.")
@click.option("--max-moves", default=1000, show_default=True, help="Longer games are stopped and do not count.")
@click.option(
    "--referee",
    type=click.Choice(["players", "estimate", "board"]),
    default="players",
    show_default=True,
    help="What scores games: players, the engines if they name the same winner, otherwise Tengen; estimate, always "
    "Tengen, which finds dead stones; board, the stones as they stand on the board.",
)
@click.option(
    "--reply-timeout",
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="An engine that does not reply for this long is killed and loses.",
)
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
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw the winrate over the games as .svg or .png (needs matplotlib: pip install 'gtp-engine[plot]').",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON instead of a table.")
def match_command(
    out: Path,
    komi: float | None,
    rules: str,
    handicap: int,
    openings: str | None,
    time_per_move: float | None,
    main_time: float | None,
    overtime: float | None,
    overtime_stones: int | None,
    overtime_periods: int | None,
    increment: float | None,
    sprt: tuple[float, float] | None,
    alpha: float | None,
    beta: float | None,
    plot: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Play the match that the flags describe, or resume it, and print its result."""
    from gtp_engine.go.handicap import HANDICAP_KOMI
    from gtp_engine.go.rules import Rules
    from gtp_engine.match.plot import check_plot, write_plot
    from gtp_engine.match.records import MatchFolder
    from gtp_engine.match.settings import MatchSettings
    from gtp_engine.match.statistics import format_table, summarize

    usual_komi = HANDICAP_KOMI if handicap else Rules.parse(rules).default_komi()
    match = MatchSettings(
        komi=usual_komi if komi is None else komi,
        rules=rules,
        handicap=handicap,
        openings=openings or "",
        sprt=_test(sprt, alpha, beta),
        **_clock(time_per_move, main_time, overtime, overtime_stones, overtime_periods, increment),
        **settings,
    )
    if plot is not None:
        check_plot(plot)
    folder = MatchFolder(out, match)
    records = _play(match, folder)
    summary = summarize(records, match.sprt)
    names = {"first": folder.engine_name("first"), "second": folder.engine_name("second")}
    if plot is not None:
        write_plot(plot, records, **names)
    click.echo(json.dumps(names | summary.to_json(), indent=2) if as_json else format_table(summary, **names))


def _play(match: "MatchSettings", folder: "MatchFolder") -> "list[GameRecord]":
    """Play the missing games of the match and return all; an interruption ends the program."""
    from gtp_engine.match.match_progress import MatchProgress
    from gtp_engine.match.runner import run_match
    from gtp_engine.progress import ProgressBar

    try:
        with ProgressBar(total=match.games) as bar:
            return run_match(match, folder, MatchProgress(bar, folder.records(), match.sprt).game_over)
    except KeyboardInterrupt:
        played = counted(len(folder.records()), "finished game")
        click.echo(f"Interrupted; {folder.path} keeps {played}. Run the same command again to continue.", err=True)
        sys.exit(INTERRUPTED)


def _test(sprt: tuple[float, float] | None, alpha: float | None, beta: float | None) -> "Sprt | None":
    """Return the sequential test the flags describe; raises a usage error for --alpha or --beta without --sprt."""
    from gtp_engine.match.settings import DEFAULT_ERROR, Sprt

    if sprt is not None:
        return Sprt(*sprt, *(DEFAULT_ERROR if value is None else value for value in (alpha, beta)))
    if alpha is not None or beta is not None:
        raise click.UsageError("--alpha and --beta belong to --sprt ELO0 ELO1")
    return None


def _clock(
    time_per_move: float | None,
    main_time: float | None,
    overtime: float | None,
    overtime_stones: int | None,
    overtime_periods: int | None,
    increment: float | None,
) -> dict[str, Any]:
    """Return the clock as arguments of MatchSettings; raises a usage error for two clocks at once."""
    if time_per_move is None:
        return {
            "main_time": main_time or 0.0,
            "overtime": overtime or 0.0,
            "overtime_stones": overtime_stones or 0,
            "overtime_periods": overtime_periods or 0,
            "increment": increment or 0.0,
        }
    if main_time or overtime or overtime_stones or overtime_periods or increment:
        raise click.UsageError("--time-per-move is a clock of its own; leave out --main-time, --overtime, --increment")
    return {"overtime": time_per_move, "overtime_stones": 1}
