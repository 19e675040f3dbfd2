"""Who has won: dead stones estimated or not, and scores in one form."""

import doctest
import re

import pytest
from board_helpers import parse_diagram

from gtp_engine.arena.match import match_game
from gtp_engine.arena.match.match_game import Referee, winner_of
from gtp_engine.arena.match.settings import MatchSettings
from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import Move
from gtp_engine.go.game import Game
from gtp_engine.sgf.values import parse_point

# Black owns the left side and White the right; the white stone at B8 cannot live, even if White plays first.
POSITION = """
    . . X X O . . . .
    . O X X O . . . .
    X X X X O . . . .
    X X X X O . . . .
    . X X X O . . . .
    X X X X O . . . .
    X X X X O . . . .
    X X X X O . . . .
    . X X X O . . . .
"""


@pytest.mark.parametrize(("mode", "score"), [("estimate", "W+16"), ("board", "W+21")])
def test_dead_stones_are_removed_or_not(mode: str, score: str) -> None:
    game = Game(9, komi=7.0)
    game.set_up(Move(color, point) for point, color in parse_diagram(POSITION).stones.items())
    referee = Referee(MatchSettings(first="a", second="b", size=9, komi=7.0, referee=mode))
    # The two sides have 36 and 45 points; alive, the stone would make the 3 points around it neutral.
    assert [referee.decide(game, []) for _ in range(2)] == [{"referee": score}] * 2
    referee.close()


def test_stones_that_rollouts_give_to_the_loser() -> None:
    """The end of a game between GNU Go and a policy: both said W+8; by rollouts it was B+23."""
    moves = "cffcgeddefggfhcebffegffffggdeefdhgbeheafagaebhhdidiciehcdeedcdbd"
    game = Game(9, komi=7.0)
    for move in re.findall("..", moves):
        game.play(parse_point(move, width=9, height=9))
    game.play(PASS)
    game.play(PASS)
    referee = Referee(MatchSettings(first="a", second="b", size=9, komi=7.0, referee="estimate"))
    assert referee.decide(game, []) == {"referee": "W+8"}
    referee.close()


def test_winner_of() -> None:
    winners = [winner_of(score, black="second", white="first") for score in ("B+0.5", "W+12", "0")]
    assert winners == ["second", "first", "draw"]


def test_docstring_examples() -> None:
    failed, attempted = doctest.testmod(match_game)
    assert (failed, attempted) == (0, 2)
