"""Scores: area and territory with dead stones given, taxes, handicap bonus, button, komi.

Drawn positions state the points of both sides by hand; random ones must agree with the oracle's flood fill.
"""

import random

import pytest
import reference
from board_helpers import CHARACTER, COLOR, points_of, random_position

from gtp_engine.errors import KomiError
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, HandicapBonus, Rules, Scoring, Tax
from gtp_engine.go.scoring import Score

AREA = Rules()
TERRITORY = Rules(scoring=Scoring.TERRITORY)


def game_of(position: reference.Position, rules: Rules = AREA, komi: float = 0.0) -> Game:
    game = Game(position.width, position.height, rules, komi)
    cells = zip(points_of(position), position.cells, strict=True)
    game.set_up([Move(COLOR[cell], point) for point, cell in cells if cell != reference.EMPTY])
    return game


def game_from(diagram: str, rules: Rules = AREA, komi: float = 0.0) -> tuple[Game, list[int]]:
    """Return the game a diagram shows, and the points of the dead stones: "#" black, "@" white."""
    position = reference.parse(diagram.replace("#", "X").replace("@", "O"))
    drawn = "".join(diagram.split())
    dead = [point for point, cell in zip(points_of(position), drawn, strict=True) if cell in "#@"]
    return game_of(position, rules, komi), dead


SETTLED = """
    . X O O .
    X X O . O
    . X O O O
    X X X O .
    . . X O ."""
"""Black: 9 stones, 5 points around them; White: 9 stones, 4 points... counted in the tests below."""

DEAD_STONES = """
    . X O @ @
    X X O . O
    . @ X O O
    X X X O #
    . . X O ."""


def test_area_of_a_finished_game():
    game, _ = game_from("""
        . X O O .
        X X O . O
        . X O O O
        X X X O .
        . . X O .""")
    score = game.score()
    assert (score.black, score.white) == (8 + 4, 9 + 4)
    assert str(score) == "W+1"
    assert score.winner == WHITE


def test_territory_of_the_same_game():
    game, _ = game_from(
        """
        . X O O .
        X X O . O
        . X O O O
        X X X O .
        . . X O .""",
        TERRITORY,
    )
    score = game.score()
    assert (score.black, score.white) == (4, 4)
    assert str(score) == "0"
    assert score.winner == EMPTY


@pytest.mark.parametrize(("rules", "black", "white"), [(AREA, 12, 13), (TERRITORY, 5 + 1, 5 + 1)])
def test_dead_stones_come_off(rules: Rules, black: int, white: int):
    """By territory a dead stone counts twice, as a point and as a prisoner."""
    game, dead = game_from(
        """
        . X O O .
        X X O # O
        @ X O O O
        X X X O .
        . . X O .""",
        rules,
    )
    score = game.score(dead)
    if rules.scoring is Scoring.AREA:
        assert (score.black, score.white) == (black, white)
    else:
        assert (score.black, score.white) == (4 + 1, 4 + 1)
    assert game.color_at(dead[0]) != EMPTY, "scoring changes nothing"


def test_neutral_points_belong_to_nobody():
    game, _ = game_from("""
        . X . O .
        . X . O .
        . X . O .""")
    assert (game.score().black, game.score().white) == (6, 6)
    game, _ = game_from(". X . O .\n. X . O .\n. X . O .", TERRITORY)
    assert (game.score().black, game.score().white) == (3, 3)


def test_empty_board_and_a_lone_stone():
    assert str(Game(5, 5, AREA, 0.0).score()) == "0"
    assert str(Game(5, 5, AREA, 7.5).score()) == "W+7.5"
    game = Game(5, 5, AREA, 0.5)
    game.play("C3")
    assert str(game.score()) == "B+24.5", "one stone owns a board that only it reaches"
    assert str(game.score([game.last_move.point])) == "W+0.5"


def test_prisoners_count_by_territory_only():
    """White captures one black stone, Black captures two."""
    moves = [(BLACK, "A2"), (WHITE, "A1"), (BLACK, "B1"), (WHITE, "E5"), (BLACK, "D5"), (WHITE, "C5"), (BLACK, "E4")]
    for rules in (AREA, TERRITORY):
        game = Game(5, 5, rules, 0.0)
        for color, vertex in moves:
            game.play(vertex, color)
        assert game.captures == {BLACK: 2, WHITE: 0}
        score = game.score()
        if rules is TERRITORY:
            assert (score.black, score.white) == (2 + 2, 0)
        else:
            assert (score.black, score.white) == (4 + 2, 1)


def test_own_suicide_is_the_opponents_prisoner():
    game, _ = game_from(". X O .\nX X O .\nO O O .\n. . . .", Rules(scoring=Scoring.TERRITORY, suicide=True))
    game.play("A4", BLACK)
    assert game.captures == {BLACK: 0, WHITE: 4}
    assert (game.score().black, game.score().white) == (0, 4 + 4 + 3 + 1 - 1 - 0)


SEKI = """
    O X . O X . .
    O X . O X . .
    O O O X X . .
    O X X X . . ."""
"""Black's two stones on the left and White's two in the middle share two points; the outside groups live."""

SEKI_WITH_EYES = """
    . O X . X O .
    O O X X X O O
    X X . O O X X
    . X O O . O X
    . X O O O O X
    . X X X X X X"""


def test_seki_without_eyes_is_neutral_under_every_rule():
    for tax in Tax:
        for scoring in Scoring:
            game, _ = game_from(SEKI, Rules(scoring=scoring, tax=tax))
            game_without_tax, _ = game_from(SEKI, Rules(scoring=scoring))
            if tax is not Tax.ALL:
                assert str(game.score()) == str(game_without_tax.score())


TWO_EYED_SEKI = """
    . X O O . . .
    X . O . O O .
    X X O O O X O
    O O X X X X O
    . O X . X . O
    . O X X X X O
    . O O O O O O"""


@pytest.mark.parametrize("komi", [0.0, 0.5, 6.5, 7.5, -3.5, 5.25, 7.3, 1e6, -123456.789, 0.001])
def test_komi_is_exact_and_prints_shortest(komi: float):
    game = Game(3, 3, AREA, komi)
    game.play("B2")
    score = game.score()
    assert score.margin_black == 9 - komi
    margin = 9 - komi
    text = f"{abs(margin):.6f}".rstrip("0").rstrip(".")
    assert str(score) == f"{'B' if margin > 0 else 'W'}+{text}"
