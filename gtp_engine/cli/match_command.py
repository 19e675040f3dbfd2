"""The command `gtp-engine match`."""

import json
import sys
from pathlib import Path
from typing import Any

import click

_RULES_HELP = "Rule set: chinese, japanese, aga, tromp-taylor … The engines are told, where they list a command for it."


_HELP = """Let two GTP engines play a match.

\b
gtp-engine match --first "gtp-engine --time-per-move 1" \\
    --second "gnugo --mode gtp --level 10 --chinese-rules" \\
    --size 9 --komi 7 --games 60 --out matches/gnugo-9x9

A match that was interrupted goes on when the same command is given again, and one that is finished prints its
table. --games may be raised later.
"""


@click.command("match", help=_HELP)
@click.option("--first", required=True, metavar="COMMAND", help="Command line of the first engine, in quotes.")
@click.option("--second", required=True, metavar="COMMAND", help="Command line of the second engine.")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where results, game records and logs go; a match found there is continued.",
)
@click.option("--games", default=10, show_default=True, type=int, help="Number of games; colours alternate.")
@click.option(
    "--parallel",
    default=1,
    show_default=True,
    type=int,
    help="Games played at once, each with its own two processes.",
)
@click.option("--size", "board_size", default=19, show_default=True, type=int, help="Board size.")
@click.option("--komi", type=float, help="Points for White. [default: what the rules suggest]")
@click.option("--rules", default="chinese", show_default=True, help=_RULES_HELP)
@click.option("--time-per-move", type=float, metavar="SECONDS", help="A clock that allows this much for each move.")
@click.option("--main-time", type=float, metavar="SECONDS", help="A clock with this main time.")
@click.option("--overtime", type=float, metavar="SECONDS", help="Canadian overtime after it …")
@click.option("--overtime-stones", type=int, metavar="MOVES", help="… for this many moves.")
@click.option(
    "--time-grace",
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="Forgiven to each move before it loses on time.",
)
@click.option(
    "--forfeit-on-time/--no-forfeit-on-time",
    default=True,
    show_default=True,
    help="Whether running out of time loses the game or is only counted.",
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
    help="Tell both engines their visits for a move (kata-set-param maxVisits).",
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
@click.option("--max-moves", default=1000, show_default=True, help="Longer games are stopped and count for nobody.")
@click.option(
    "--referee",
    type=click.Choice(["estimate", "board", "players"]),
    default="estimate",
    show_default=True,
    help="Who counts: our engine, estimating dead stones; the bare board; or the engines where they agree.",
)
@click.option(
    "--reply-timeout",
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="An engine silent for so long is ended and loses.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON instead of a table.")
def match_command(
    out: Path,
    komi: float | None,
    rules: str,
    openings: str | None,
    time_per_move: float | None,
    main_time: float | None,
    overtime: float | None,
    overtime_stones: int | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Play the match that the flags describe, or go on with it, and print its result."""
    from gtp_engine.go.rules import Rules
    from gtp_engine.match.progress import MatchProgress
    from gtp_engine.match.records import MatchFolder
    from gtp_engine.match.runner import run_match
    from gtp_engine.match.settings import MatchSettings
    from gtp_engine.match.statistics import format_table, summarize

    match = MatchSettings(
        komi=Rules.parse(rules).default_komi() if komi is None else komi,
        rules=rules,
        openings=openings or "",
        **_clock(time_per_move, main_time, overtime, overtime_stones),
        **settings,
    )
    folder = MatchFolder(out, match)
    try:
        with MatchProgress(folder.records(), games=match.games) as progress:
            records = run_match(match, folder, progress.game_over)
    except KeyboardInterrupt:
        click.echo(f"Interrupted; {len(folder.records())} games are kept in {out}. The same command goes on.", err=True)
        sys.exit(130)
    summary = summarize(records)
    names = {"first": folder.engine_name("first"), "second": folder.engine_name("second")}
    click.echo(json.dumps(names | summary.to_json(), indent=2) if as_json else format_table(summary, **names))


def _clock(
    time_per_move: float | None, main_time: float | None, overtime: float | None, overtime_stones: int | None
) -> dict[str, Any]:
    """Return the clock as MatchSettings has it; raises a usage error for two clocks at once."""
    if time_per_move is None:
        return {
            "main_time": main_time or 0.0,
            "overtime": overtime or 0.0,
            "overtime_stones": overtime_stones or 0,
        }
    if main_time or overtime or overtime_stones:
        raise click.UsageError("--time-per-move is a clock of its own; leave out --main-time and --overtime")
    return {"overtime": time_per_move, "overtime_stones": 1}
