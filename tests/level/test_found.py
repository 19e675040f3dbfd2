"""What a level starts from: the best move is legal for its side, and no pass early in the game."""

from dataclasses import replace

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine import Config, Game
from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.go.constants import BLACK, PASS, WHITE, Move
from gtp_engine.go.coords import parse_vertex
from gtp_engine.level.found import found_by_network, found_by_search
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.report import SearchReport

CORNER = parse_vertex("A1", width=7, height=7)


def black_corner() -> Game:
    """Return a position with White to play, in which A1 is an eye of Black's, suicide for White."""
    game = Game(7, 7)
    game.set_up([Move(BLACK, parse_vertex(vertex, width=7, height=7)) for vertex in ("A2", "B1")], WHITE)
    return game


def report_with(point: int, game: Game, color: int) -> SearchReport:
    """Return a report of a search in which only one move was tried."""
    search = PuctSearch(Config(), FakeEvaluator())
    report = search.run(game, Limits(visits=4), to_play=color)
    search.close()
    return replace(report, moves=(replace(report.moves[0], point=point),))


def test_moves_are_those_of_the_side_that_plays_even_out_of_turn():
    game, evaluation = black_corner(), new_evaluation(1, 7, 7)
    evaluation.policy[0] = 0.0
    evaluation.policy[0, CORNER] = 1.0
    assert found_by_network(game, BLACK, evaluation, 0).best == CORNER
    assert found_by_search(game, report_with(CORNER, game, BLACK)).best == CORNER


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_a_pass_is_not_the_best_move_early_in_the_game(color: int):
    game, evaluation = Game(7, 7), new_evaluation(1, 7, 7)
    evaluation.policy[0] = 0.0
    evaluation.policy[0, [PASS, CORNER]] = (0.9, 0.1)
    assert found_by_network(game, color, evaluation, 0).best == CORNER
    found = found_by_search(game, report_with(PASS, game, color))
    assert found.best != PASS
