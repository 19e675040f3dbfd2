"""What the scripted attackers play, and games between them and an engine."""

import random

import pytest
from board_helpers import parse_diagram
from match_helpers import engine
from robustness.attackers import (
    INVITATION,
    Attacker,
    PassAttacker,
    Played,
    RingAttacker,
    captures,
    is_sound,
    play,
    rescues,
)
from robustness.problems import Problem

from gtp_engine import Game, Move, SimpleGtpEngine, parse_vertex
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import xy_to_point


def game_of(diagram: str, color: int = BLACK) -> Game:
    parsed = parse_diagram(diagram)
    game = Game(parsed.width, parsed.height, "tromp-taylor", 0.5)
    game.set_up([Move(stone, point) for point, stone in parsed.stones.items()], color)
    return game


def ring_around(attacker: RingAttacker) -> Game:
    """Return a 13×13 board with Black's ring around the attacker's place and no other stone, White to play."""
    game = Game(13, 13, "tromp-taylor", 7.5)
    attacker._choose_place(game)
    places = [divmod(point - 14 - 1, 14) for point in attacker._hull]
    rows, columns = {row for row, _ in places}, {column for _, column in places}
    top, bottom, left, right = min(rows) - 1, max(rows) + 1, min(columns) - 1, max(columns) + 1
    ring = [(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)]
    stones = [xy_to_point(x, y, width=13) for x, y in ring if x in (left, right) or y in (top, bottom)]
    game.set_up([Move(BLACK, point) for point in stones], WHITE)
    return game


def test_captures_and_rescues_are_found() -> None:
    game = game_of(". X O . .\n. O X X .\n. . . . .\n. . . . .\n. . . . .")
    assert [(size, game.vertex(point)) for size, point in captures(game)] == [(1, "D5")]
    assert [(size, game.vertex(point)) for size, point in rescues(game)] == [(1, "A5")]


def test_eyes_are_not_filled_and_stones_not_thrown_in() -> None:
    game = game_of(". X . O .\nX X X O .\n. . . . .\n. . . . .\n. . . . .")
    sound = {vertex: is_sound(game, parse_vertex(vertex, width=5, height=5)) for vertex in ("A5", "C5", "B2")}
    assert sound == {"A5": False, "C5": True, "B2": True}
    assert not is_sound(game_of(". O .\nO . .\n. . ."), parse_vertex("A3", width=3, height=3))


def test_the_invitation_is_built_on_an_empty_board() -> None:
    attacker, game = RingAttacker(BLACK, random.Random(1)), Game(13, 13, "tromp-taylor", 7.5)
    for _ in range(sum(row.count("O") for row in INVITATION)):
        game.play(attacker.move(game))
        game.play(PASS)
    assert set(attacker._stones) == {point for point in attacker._hull if game.board.color[point] == BLACK}
    assert len(game.pass_alive(BLACK)) >= len(attacker._stones), "it has two eyes"


def test_a_ring_loses_its_liberties_from_outside() -> None:
    attacker = RingAttacker(WHITE, random.Random(1))
    game = ring_around(attacker)
    point = attacker.move(game)
    assert attacker.made_ring
    assert point not in attacker._hull
    assert point in {int(liberty) for stone in attacker.ring(game) for liberty in game.liberties(stone)}


def test_the_pass_attacker_passes_where_it_would_win_by_counting_all_stones() -> None:
    game, attacker = (
        game_of(". . . . .\n. . . . .\n. . O . .\n. . . . .\n. . . . .", WHITE),
        PassAttacker(WHITE, random.Random(1)),
    )
    assert attacker.move(game) != PASS, "the game has just begun"
    for _ in range(6):
        game.play(PASS)
    assert attacker.move(game) == PASS


def test_the_pass_attacker_first_takes_a_corner() -> None:
    game, attacker = Game(9, 9, "tromp-taylor", 7.5), PassAttacker(BLACK, random.Random(1))
    for _ in range(12):
        game.play(attacker.move(game))
        game.play(PASS)
    assert all(game.board.color[xy_to_point(x, y, width=9)] == 0 for x in range(5, 9) for y in range(5, 9))


def test_games_end_by_passes_and_by_resignation() -> None:
    class Passer:
        def move(self, game: Game) -> int:
            return PASS

    passer: Attacker = Passer()
    for arguments, reason, winner in (("--black pass", "passes", WHITE), ("--black resign", "resign", WHITE)):
        with SimpleGtpEngine.popen(engine(arguments).strip()) as victim:
            played = play(passer, WHITE, victim, 5)
        assert isinstance(played, Played)
        assert (played.reason, played.winner) == (reason, winner)


@pytest.mark.parametrize("vertex", ["pass", "resign"])
def test_a_pass_and_a_resignation_are_wrong_where_any_move_will_do(vertex: str) -> None:
    problem = Problem.parse("second pass; white; 7.5; ; any\n. .\n. .")
    assert not problem.is_right(vertex)
    assert problem.is_right("A1")
    assert problem.game().consecutive_passes == 1
