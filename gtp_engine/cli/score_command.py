"""The command `gtp-engine score`."""

import json
from pathlib import Path

import click

from gtp_engine.cli.config_options import build_config, config_options
from gtp_engine.cli.evaluator_setup import evaluator_of
from gtp_engine.cli.parameters import FILE
from gtp_engine.cli.record_file import RecordCommand, game_option, read_record, record_argument
from gtp_engine.cli.result_file import write_result


class ScoreCommand(RecordCommand):
    """A command whose help begins with the options that matter for scoring."""

    usual = ("network.model", "game.rules", "game.komi")


@click.command("score", cls=ScoreCommand)
@record_argument
@game_option
@click.option("--move", type=click.IntRange(1), metavar="N", help="Score the position before move N.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option(
    "--sgf",
    "target",
    type=FILE,
    metavar="FILE",
    help="Also write the record with territory and dead stones marked in that position.",
)
@config_options()
def score_command(
    record: Path,
    game: int | None,
    move: int | None,
    as_json: bool,
    target: Path | None,
    config_file: str | None,
    **flags: object,
) -> None:
    """Score a finished or nearly finished game.

    FILE is a record, or - for stdin. Prints the result under the record's rules, and the stones that count as dead.
    """
    config = build_config(config_file, flags)
    from gtp_engine.engine import Engine
    from gtp_engine.review.score_report import score_record
    from gtp_engine.streams import write_log

    data = read_record(record, game)
    engine = Engine(config, log=write_log, evaluator=evaluator_of(config))
    engine.load_kernels()
    try:
        report = score_record(engine, data, move_number=move)
    finally:
        engine.close()
    click.echo(json.dumps(report.to_json(), indent=2) if as_json else report.to_text())
    if target is not None:
        write_result(target, report.marked(data, move_number=move))
