"""The command `gtp-engine solve`."""

from pathlib import Path
from types import MappingProxyType

import click

from gtp_engine.cli.config_options import build_config, config_options
from gtp_engine.cli.evaluator_setup import evaluator_of
from gtp_engine.cli.parameters import FILE
from gtp_engine.cli.record_file import RecordCommand, game_option, read_record, record_argument
from gtp_engine.cli.result_file import write_result


class SolveCommand(RecordCommand):
    """A command whose help begins with the options that matter for a problem."""

    usual = ("network.model", "search.visits")
    texts = MappingProxyType({**RecordCommand.texts, "search.visits": "Visits of each search. [default 500]"})


@click.command("solve", cls=SolveCommand)
@record_argument
@game_option
@click.option("--region", required=True, help="Where to play: vertices and rectangles, such as A1:F5.")
@click.option("--first", type=click.Choice(["black", "white"]), help="Who moves first. [default: whose turn it is]")
@click.option("--move", type=click.IntRange(1), metavar="N", help="Take the position before move N.")
@click.option("--sgf", "target", type=FILE, metavar="FILE", help="Write the answer tree.")
@config_options()
def solve_command(
    record: Path,
    game: int | None,
    region: str,
    first: str | None,
    move: int | None,
    target: Path | None,
    config_file: str | None,
    **flags: object,
) -> None:
    """Solve a problem of life and death in a region of the board.

    FILE is a record, or - for stdin; its last position is searched, with moves in the region only. Prints the best
    first move with its line, and how other first moves are answered.
    """
    config = build_config(config_file, flags)
    from gtp_engine.engine.resources import Resources
    from gtp_engine.go.coords import parse_color
    from gtp_engine.go.rules import Rules
    from gtp_engine.review.life_and_death import DEFAULT_VISITS, LifeAndDeath, parse_region
    from gtp_engine.sgf import parse_sgf, record_to_game
    from gtp_engine.streams import write_log

    data = read_record(record, game)
    rules, komi = Rules.parse(config.game.rules), config.game.komi
    position = record_to_game(parse_sgf(data), move_number=move, rules=rules, komi=komi)
    points = parse_region(region, width=position.width, height=position.height)
    evaluator = evaluator_of(config)
    solver = LifeAndDeath(config, evaluator, config.search.visits or DEFAULT_VISITS)
    Resources(evaluator).warm_up(config, (position.width, position.height), write_log)
    solution = solver.solve(position, position.to_play if first is None else parse_color(first), points)
    click.echo(solution.to_text())
    if target is not None:
        write_result(target, f"{solution.to_sgf()}\n".encode())
