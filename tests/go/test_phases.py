"""How far a side was ahead at the start, by KataGo's formula worked out by hand; when a game may end."""

import pytest

from gtp_engine import Game, Move, Rules
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.go.phases import initial_advantage_black, is_late, may_stop


@pytest.mark.parametrize(
    ("rules", "komi", "stones", "expected"),
    [
        ("tromp-taylor", 7.0, 0, 0.0),
        ("chinese", 7.5, 0, -0.5),
        ("japanese", -50.5, 0, 57.5),
        ("tromp-taylor", 0.5, 9, 15 * 8 + 6.5),
        ("chinese", 0.5, 9, 15 * 8 + 6.5 - 9),
        ("aga", 0.5, 4, 15 * 3 + 6.5 - 3),
        ("japanese", 0.5, 2, 14 + 6.5),
    ],
)
def test_initial_advantage(rules: str, komi: float, stones: int, expected: float) -> None:
    game = Game(19, rules=Rules.parse(rules), komi=komi)
    if stones:
        game.set_handicap(fixed_handicap_points(stones, 19, 19))
    assert initial_advantage_black(game) == expected


def test_stones_played_in_a_row_count_as_handicap() -> None:
    points = fixed_handicap_points(4, 19, 19)
    placed, played = Game(19, komi=0.5), Game(19, komi=0.5)
    placed.set_handicap(points)
    for point in points:
        played.play(Move(BLACK, point))
        played.play(Move(WHITE, PASS))
    assert initial_advantage_black(played) == initial_advantage_black(placed) > 40


@pytest.mark.parametrize(
    ("rules", "stones", "passes", "late", "stop"),
    [
        ("chinese", 29, 0, False, False),
        ("chinese", 30, 0, True, True),
        ("chinese", 15, 1, False, False),
        ("japanese", 15, 1, False, True),
        ("japanese", 14, 1, False, False),
        ("japanese", 15, 0, False, False),
    ],
)
def test_when_people_stop(rules: str, stones: int, passes: int, late: bool, stop: bool) -> None:
    """Where 30 of 100 points hold stones; 15 after a pass where playing on costs points."""
    game = Game(20, 5, Rules.parse(rules))
    points = board_points(20, 5)[: 2 * stones : 2]
    game.set_up([Move(BLACK, point) for point in points])
    for _ in range(passes):
        game.play(PASS)
    assert (is_late(game), may_stop(game)) == (late, stop)
