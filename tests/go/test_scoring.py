"""Scores: area and territory with dead stones given, taxes, handicap bonus, button, komi.

Drawn positions state the points of both sides by hand; random ones must agree with the oracle's flood fill.  In a
diagram "#" is a dead black and "@" a dead white stone.
"""

import random
from dataclasses import replace

import pytest
import reference
from board_helpers import COLOR, SEKI, game_from, game_of, parse_diagram, points_of, random_position

from gtp_engine import Game, KomiError, Rules, Score
from gtp_engine.go.area import area_owners
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.go.rules import PRESETS, Ko, Scoring, Tax

AREA = Rules()
TERRITORY = Rules(scoring=Scoring.TERRITORY)

FINISHED = """
    . X O O .
    X X O . O
    . X O O O
    X X X O .
    . . X O ."""
"""Black has 8 stones and surrounds 4 points, White has 9 and surrounds 4."""

FINISHED_WITH_DEAD_STONES = """
    . X O O .
    X X O . O
    . X O O O
    X X X O #
    @ . X O ."""

UNFILLED = """
    . X . O .
    . X . O .
    . X . O ."""
"""Three stones and three points each; the middle is still empty."""


def game_and_dead(diagram: str, rules: Rules = AREA, komi: float = 0.0) -> tuple[Game, list[int]]:
    """Return the game that a diagram shows, and the points of its dead stones."""
    game = game_from(diagram, rules)
    game.komi = komi
    return game, [*parse_diagram(diagram).marked_stones]


def points(score: Score) -> tuple[float, float]:
    return score.black, score.white


@pytest.mark.parametrize(
    ("diagram", "rules", "black", "white", "text"),
    [
        (FINISHED, AREA, 12, 13, "W+1"),
        (FINISHED, TERRITORY, 4, 4, "0"),
        (FINISHED_WITH_DEAD_STONES, AREA, 12, 13, "W+1"),
        (FINISHED_WITH_DEAD_STONES, TERRITORY, 5, 5, "0"),
        (UNFILLED, AREA, 6, 6, "0"),
        (UNFILLED, TERRITORY, 3, 3, "0"),
    ],
    ids=["area", "territory", "area, dead", "territory, dead count twice", "area, neutral", "territory, neutral"],
)
def test_points_by_hand(diagram: str, rules: Rules, black: int, white: int, text: str):
    game, dead = game_and_dead(diagram, rules)
    before = game.board.storage.tobytes()
    score, owners = game.score(dead), area_owners(game.board, dead)
    assert points(score) == (black, white)
    if rules == AREA:
        assert ((owners == BLACK).sum(), (owners == WHITE).sum()) == (black, white)
    assert str(score) == text
    assert score.margin_black == black - white
    assert score.winner == {"W": WHITE, "0": EMPTY}[text[0]]
    assert game.board.storage.tobytes() == before, "scoring takes nothing off the board"


def test_empty_board_and_a_lone_stone():
    assert str(Game(5, 5, AREA, 0.0).score()) == "0"
    assert str(Game(5, 5, AREA, 7.5).score()) == "W+7.5"
    game = Game(5, 5, AREA, 0.5)
    stone = game.play("C3")
    assert str(game.score()) == "B+24.5", "a lone stone owns the board"
    assert str(game.score([stone.point])) == "W+0.5"


@pytest.mark.parametrize(
    ("scoring", "tax", "black", "white"),
    [
        (Scoring.AREA, Tax.NONE, 13 + 12 + 1, 12 + 2 + 1),
        (Scoring.AREA, Tax.SEKI, 13 + 12, 12 + 2),
        (Scoring.AREA, Tax.ALL, 13 + 12 - 2, 12 + 2 - 2),
        (Scoring.TERRITORY, Tax.NONE, 12 + 1, 2 + 1),
        (Scoring.TERRITORY, Tax.SEKI, 12, 2),
        (Scoring.TERRITORY, Tax.ALL, 12 - 2, 2 - 2),
    ],
)
def test_eyes_in_seki_and_the_group_tax(scoring: Scoring, tax: Tax, black: int, white: int):
    game, _ = game_and_dead(SEKI, Rules(scoring=scoring, tax=tax))
    assert points(game.score()) == (black, white)


def test_territory_beside_unfilled_neutral_points_is_no_seki():
    game, _ = game_and_dead(UNFILLED, Rules(scoring=Scoring.TERRITORY, tax=Tax.SEKI))
    assert points(game.score()) == (3, 3)


@pytest.mark.parametrize("scoring", Scoring)
@pytest.mark.parametrize(("rules", "bonus"), [("chinese", 5), ("aga", 4), ("tromp-taylor", 0)])
def test_a_handicap_bonus_counts_under_all_rules(rules: str, bonus: int, scoring: Scoring) -> None:
    """As in KataGo, whose presets of territory rules have none."""
    game = Game(9, 9, replace(PRESETS[rules], scoring=scoring), 0.5)
    game.set_handicap(board_points(9, 9)[:10:2])
    assert (game.handicap, game.to_play, game.score().white) == (5, WHITE, 0.5 + bonus)
    assert [*game.stones.values()] == [BLACK] * 5
    assert game.area_komi == 0.5 + bonus + 5 * (scoring is Scoring.TERRITORY), "Black has placed five stones more"


@pytest.mark.parametrize(
    ("komi", "text"),
    [
        (0, "B+9"),
        (0.5, "B+8.5"),
        (7.5, "B+1.5"),
        (9, "0"),
        (9.5, "W+0.5"),
        (-3.5, "B+12.5"),
        (5.25, "B+3.75"),
        (7.3, "B+1.7"),
        (9.3, "W+0.3"),
        (0.001, "B+8.999"),
        (1e6, "W+999991"),
        (-1e6, "B+1000009"),
        (9 + 1e-9, "0"),
    ],
)
def test_any_finite_komi_is_counted_and_printed(komi: float, text: str):
    game = Game(3, 3, AREA, komi)
    game.play("B2")
    assert game.score().margin_black == 9 - komi
    assert str(game.score()) == text


@pytest.mark.parametrize("komi", [float("nan"), float("inf"), float("-inf")])
def test_komi_that_is_no_number_is_refused(komi: float):
    game = Game(3, 3, AREA, 6.5)
    with pytest.raises(KomiError):
        game.komi = komi
    with pytest.raises(KomiError):
        Game(3, 3, AREA, komi)
    assert game.komi == 6.5


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (5, 4), (2, 9), (7, 7), (9, 9), (19, 19)])
def test_random_positions_agree_with_the_oracle(size: tuple[int, int]):
    rng = random.Random(f"score {size}")
    for _ in range(30):
        position = random_position(rng, *size, rng.choice((1, 2, 3)) * size[0] * size[1])
        marked: set[int] = set()
        for index, cell in enumerate(position.cells):
            if cell != reference.EMPTY and rng.random() < 0.1:
                marked |= reference.chain(position, index)
        dead = [points_of(position)[i] for i in marked]
        owners = reference.area(reference.with_points(position, marked, reference.EMPTY))
        area = game_of(position, AREA, 6.5).score(dead)
        assert points(area) == (owners.count("X"), owners.count("O") + 6.5)
        territory = reference.territory_score(position, marked, {"X": 0, "O": 0})
        assert points(game_of(position, TERRITORY, 0.0).score(dead)) == (territory["X"], territory["O"])


def test_prisoners_of_random_games_agree_with_the_oracle():
    rng = random.Random(8)
    for _ in range(20):
        game = Game(6, 5, Rules(ko=Ko.SIMPLE, scoring=Scoring.TERRITORY), 0.0)
        oracle = reference.ReferenceGame(reference.empty_position(6, 5), ko="simple", suicide=True)
        for _ in range(150):
            index, color = rng.randrange(30), rng.choice("XO")
            if oracle.illegal_reason(index, color) is None:
                oracle.play(index, color)
                game.play(points_of(oracle.position)[index], COLOR[color])
        expected = reference.territory_score(oracle.position, (), oracle.captures)
        assert points(game.score()) == (expected["X"], expected["O"])
