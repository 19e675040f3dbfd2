"""Readings of races whose results are known, and what makes them proofs."""

import pytest
from board_helpers import parse_diagram
from robustness import races
from robustness.races import Race, UnreadError

from gtp_engine import Game, Move, parse_vertex
from gtp_engine.go.board import is_legal
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE

LINK = """
    X X . X . X .
    O O O X X X X
    . O . O O O O
    O O O O . O .
"""
"""Black's stones at A4 connect at C4 to those that have two eyes, or die there."""

DEAD = """
    . X O O . O
    . X O . O O
    X X O O O O
    O O O O . O
    O . O O O O
    O O O . O O
"""
"""Black's group has room for one eye."""

KO = """
    . X O .
    X O . O
    . X O .
    . . . .
"""


def race_in(diagram: str, stone: str, color: int = BLACK) -> tuple[Game, Race]:
    parsed = parse_diagram(diagram)
    game = Game(parsed.width, parsed.height, "chinese", 0.5)
    game.set_up([Move(color, point) for point, color in parsed.stones.items()], color)
    return game, Race.of(game, parse_vertex(stone, width=game.width, height=game.height))


def right_moves(diagram: str, stone: str, color: int) -> list[str]:
    game, race = race_in(diagram, stone, color)
    return [game.vertex(point) for point in race.right_moves(game)]


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_one_point_decides_for_both(color: int) -> None:
    assert right_moves(LINK, "A4", color) == ["C4"]


def test_only_what_is_not_alive_for_good_belongs_to_the_room() -> None:
    game, race = race_in(LINK, "A4")
    assert sorted(map(game.vertex, race.room)) == ["A4", "B4", "C4"]
    assert [game.vertex(point) for point in race.links] == ["C4"]


def test_a_dead_group_has_no_right_move_and_its_attacker_has_to_take_it() -> None:
    assert right_moves(DEAD, "B6", BLACK) == []
    assert set(right_moves(DEAD, "B6", WHITE)) == {"A5", "A6"}


def test_a_reading_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "NODES", (1,))
    game, race = race_in(DEAD, "B6", WHITE)
    with pytest.raises(UnreadError):
        race.right_moves(game)


def test_who_proves_takes_no_ko_and_the_other_may_retake_it() -> None:
    game, race = race_in(KO, "B4")
    point, retake = (parse_vertex(vertex, width=4, height=4) for vertex in ("C3", "B3"))
    assert race._played(game.board, point, BLACK, BLACK) is None
    after = race._played(game.board, point, BLACK, WHITE)
    assert after is not None
    assert after.color[retake] == EMPTY
    assert is_legal(after, retake, WHITE, False)


def test_margins_count_what_is_not_proved_for_the_other_side() -> None:
    game, race = race_in(LINK, "A4")
    kept, lost = race.margins_black(game)  # Black: 8 and the two stones; White: 17; one point is open
    assert (kept, lost) == (2 * 10 - 28, 28 - 2 * 19)
    game.komi = -9.5
    assert race.is_at_stake(game)
    game.komi = 0.5
    assert not race.is_at_stake(game)


def test_a_pass_is_no_right_move() -> None:
    game, race = race_in(LINK, "A4")
    assert not race.is_proved(game.board, BLACK, prover=BLACK, first=PASS)
    assert race.is_proved(game.board, BLACK, prover=WHITE, first=PASS)
