"""Long cycles under simple ko: where a position occurs for the third time, the search knows that there is no result."""

import pytest
from puct_support import AreaEvaluator, game_from, search

from gtp_engine.go.constants import PASS, WHITE
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.search.report import SearchReport

TRIPLE_KO = """
    . O X X O O X .
    O O X O . O X X
    . O X X O O X .
    O O X . X O X X
    . O X X O O X .
    O O X . X O X X
    . O X X O O X .
"""
"""White is to play, and the four chains in the middle live as long as both sides take one ko after the other."""

LAP = ("D2", "E6", "D4", "E2", "D6", "E4")

BLACK_WINS, WHITE_WINS = -40.5, 40.5
"""Komi with which one side wins even without its stones in the middle."""


def triple_ko(moves: int, komi: float, rules: str = "chinese") -> Game:
    """Return a game after so many moves of the cycle."""
    game = game_from(TRIPLE_KO, WHITE, rules, komi)
    for number in range(moves):
        game.play(LAP[number % 6])
    return game


def found(game: Game, vertex: str) -> tuple[SearchReport, int]:
    """Return a search of `game`, and the point of a vertex."""
    return search(game, 60, AreaEvaluator()), parse_vertex(vertex, width=game.width, height=game.height)


@pytest.mark.parametrize(("moves", "komi"), [(11, BLACK_WINS), (12, WHITE_WINS), (17, BLACK_WINS)])
def test_the_winner_leaves_a_cycle_that_would_end_without_result(moves: int, komi: float) -> None:
    report, repeating = found(triple_ko(moves, komi), LAP[moves % 6])
    (cycle,) = [move for move in report.moves if move.point == repeating]
    assert (cycle.no_result, cycle.value_black) == (1.0, 0.0)
    assert report.best_point != repeating
    assert report.winrate > 0.8


@pytest.mark.parametrize(("moves", "komi"), [(11, WHITE_WINS), (12, BLACK_WINS)])
def test_the_loser_goes_on_with_the_cycle(moves: int, komi: float) -> None:
    report, repeating = found(triple_ko(moves, komi), LAP[moves % 6])
    assert report.best_point == repeating
    assert report.winrate == 0.5


def test_two_occurrences_are_no_cycle() -> None:
    report, repeating = found(triple_ko(5, BLACK_WINS), "E4")
    assert all(move.no_result < 1.0 for move in report.moves if move.point == repeating)


def test_a_pass_begins_the_count_again() -> None:
    game = triple_ko(6, BLACK_WINS)
    game.play(PASS)
    game.play(PASS)
    for vertex in LAP[:5]:
        game.play(vertex)
    report, repeating = found(game, "E4")
    assert all(move.no_result < 1.0 for move in report.moves if move.point == repeating)
    assert len(game.keys_since_pass()) == 1 + 5


def test_keys_since_the_last_pass_follow_the_game() -> None:
    game = triple_ko(12, BLACK_WINS)
    keys = game.keys_since_pass().tolist()
    assert keys.count(keys[-1]) == 3
    assert len({*keys}) == 6
    game.undo(6)
    assert game.keys_since_pass().tolist() == keys[:7]
    assert game.copy().keys_since_pass().tolist() == keys[:7]
    other = game.copy()
    other.play(PASS)
    assert len(other.keys_since_pass()) == 1
    assert len(game.keys_since_pass()) == 7
