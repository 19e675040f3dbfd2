"""Every answer of tests/data/robustness.txt is proved: races by reading them to the end, passes by counting."""

import numpy as np
import pytest
from robustness.problems import PASS_PROBLEMS, Problem, problems
from robustness.races import Race

from gtp_engine import Game, parse_vertex
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.constants import PASS, opponent
from gtp_engine.go.coords import format_vertex
from gtp_engine.search.report import for_color

PROBLEMS = [*problems()]
RACES = [problem for problem in PROBLEMS if problem.kind not in PASS_PROBLEMS]
PASSES = [problem for problem in PROBLEMS if problem.kind in PASS_PROBLEMS]


def race_of(problem: Problem) -> tuple[Game, Race]:
    game = problem.game()
    return game, Race.of(game, parse_vertex(problem.group, width=game.width, height=game.height))


@pytest.mark.parametrize("problem", RACES, ids=lambda problem: problem.name)
def test_the_right_moves_decide_the_race(problem: Problem) -> None:
    game, race = race_of(problem)
    right = race.right_moves(game)
    assert {format_vertex(point, width=game.width, height=game.height) for point in right} == problem.right


@pytest.mark.parametrize("problem", RACES, ids=lambda problem: problem.name)
def test_the_race_decides_the_game(problem: Problem) -> None:
    game, race = race_of(problem)
    assert race.is_at_stake(game)
    if "gift" not in problem.kind:
        assert len(game.chain(race.group)) >= 12


@pytest.mark.parametrize("problem", PASSES, ids=lambda problem: problem.name)
def test_a_pass_loses_what_is_won_for_good(problem: Problem) -> None:
    game = problem.game()
    owners = pass_alive_owners(game.board, suicide=True)
    sure = 2 * int(np.count_nonzero(owners == problem.color)) - game.width * game.height
    assert sure - for_color(game.komi, problem.color) > 0, "proved area wins even if all else is the opponent's"
    game.play(PASS)
    if not game.is_over:
        game.play(PASS)
    assert game.score().winner == opponent(problem.color)


@pytest.mark.parametrize(("vertex", "is_right"), [("A1", True), ("pass", False), ("resign", False)])
def test_where_any_move_will_do_a_pass_and_a_resignation_are_wrong(vertex: str, is_right: bool) -> None:
    problem = Problem.parse("second pass; white; 7.5; ; any\n. .\n. .")
    assert problem.is_right(vertex) == is_right
    assert problem.game().consecutive_passes == 1
