"""Rows that follow games: always the same as newly written ones."""

import numpy as np
import pytest
from board_helpers import play_moves

from gtp_engine import Game, IllegalMoveError, Move
from gtp_engine.evaluation import from_game
from gtp_engine.evaluation.from_game import GameRows, replayed_rows, write_game
from gtp_engine.evaluation.positions import Conditions, Positions, new_positions
from gtp_engine.go.constants import BLACK, NULL_POINT, PASS, WHITE, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import replayed
from gtp_engine.go.rules import PRESETS

MOVES = 60


def assert_equal(found: Positions, row: int, expected: Positions) -> None:
    """Assert that a row equals the first row of `expected`, except for the boards' scratch parts."""
    assert found.key[row] == expected.key[0]
    for name in ("hash", "to_play", "points", "colors", "forbidden", "pass_ends", "button"):
        np.testing.assert_array_equal(getattr(found, name)[row], getattr(expected, name)[0], err_msg=name)


def random_move(game: Game, rng: np.random.Generator) -> Move:
    """Return a move: a pass now and then, one that only records have, and rarely one out of turn."""
    color = game.to_play if rng.random() < 0.95 else opponent(game.to_play)
    points = game.legal_points(color)
    if rng.random() < 0.2 and (illegal := [p for p in board_points(game.width, game.height) if recorded(game, p)]):
        return Move(game.to_play, int(rng.choice(illegal)))
    is_pass = rng.random() < 0.1 or not points
    return Move(color, PASS if is_pass else int(rng.choice(points)))


def recorded(game: Game, point: int) -> bool:
    """Return whether a move breaks the rules and can be played all the same."""
    try:
        return not game.is_legal(point) and bool(game.copy().play(point, tolerant=True))
    except IllegalMoveError:
        return False


@pytest.mark.parametrize("rules", dict.fromkeys(PRESETS.values()))
@pytest.mark.parametrize("size", [(3, 3), (5, 4)])
def test_rows_that_follow_games_equal_rows_written_from_scratch(size: tuple[int, int], rules: object) -> None:
    """On such small boards there are kos, repetitions and suicide; games continue after passes end them."""
    rng = np.random.default_rng(1)
    games = [Game(*size, rules, 6.5) for _ in range(3)]  # type: ignore[arg-type]
    positions, alone = new_positions(3, *size), new_positions(1, *size)
    rows = GameRows(positions)
    for _ in range(MOVES):
        for row, game in enumerate(games):
            rows.fill(row, game)
            write_game(alone, 0, game)
            assert_equal(positions, row, alone)
            game.play(random_move(game, rng), tolerant=True)


@pytest.mark.parametrize(("moves", "shown"), [("A2 A1 B2 J9 C1 B1", ""), ("A2 A1 B2 J9 C1 B1 E5 E6", "E6 E5")])
def test_moves_up_to_one_against_the_rules_are_not_shown(moves: str, shown: str) -> None:
    game, positions = Game(9, rules="chinese"), new_positions(1, 9, 9)
    play_moves(game, moves, tolerant=True)
    write_game(positions, 0, game)
    assert [game.vertex(point) for point in positions.points[0] if point != NULL_POINT] == shown.split()


@pytest.mark.parametrize("rules", ["tromp-taylor", "aga", "chinese"])
def test_moves_that_repeat_a_position_are_marked(rules: str) -> None:
    """Some of the games above reach a repetition or a ko; the marks must be in the following rows."""
    rng = np.random.default_rng(2)
    positions = new_positions(1, 3, 3)
    marked = 0
    for _ in range(20):
        game, rows = Game(3, 3, PRESETS[rules], 0.5), GameRows(positions)
        for _ in range(40):
            rows.fill(0, game)
            banned = [p for p in board_points(3, 3) if game.illegal_reason(p) in ("ko", "superko")]
            assert np.flatnonzero(positions.forbidden[0]).tolist() == banned
            marked += len(banned)
            points = game.legal_points()
            game.play(int(rng.choice(points)) if points else PASS)
            if game.is_over:
                break
    assert marked > 0


def test_a_row_is_written_from_scratch_only_where_it_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def write(positions: Positions, row: int, game: Game, *, conditions: Conditions) -> None:
        written.append(len(game.moves))
        write_game(positions, row, game, conditions=conditions)

    monkeypatch.setattr(from_game, "write_game", write)
    rows, game = GameRows(new_positions(1, 5, 5)), Game(5)
    for vertex in ("A1", "B2", "C3", "pass"):
        rows.fill(0, game)
        game.play(vertex)
    assert written == [0], "a side after the other"
    rows.fill(0, game)
    game.play("pass")
    rows.fill(0, game)
    assert written == [0, 5], "passes have ended the game: what came before is no history any more"
    game.play("D4", game.to_play)
    rows.fill(0, game)
    assert written == [0, 5]
    game.play("E5", opponent(game.to_play))
    rows.fill(0, game)
    assert written == [0, 5, 7], "a side out of turn"
    game.undo()
    game.play("E4")
    rows.fill(0, game)
    game.undo(2)
    play_moves(game, "A2 A3 A4")
    rows.fill(0, game)
    assert written == [0, 5, 7, 7, 8], "as long as it would have grown by a move, but with other moves"
    rows.fill(0, Game(5))
    assert written[-1] == 0, "another game"


def test_a_handicap_game_is_followed_from_white_on() -> None:
    positions, alone = new_positions(1, 5, 5), new_positions(1, 5, 5)
    rows, game = GameRows(positions), Game(5)
    game.set_up([Move(BLACK, 8), Move(BLACK, 16)], WHITE)
    for _ in range(4):
        rows.fill(0, game)
        write_game(alone, 0, game)
        assert_equal(positions, 0, alone)
        game.play(game.legal_points()[0])
    numbers = (0, 1, 4)
    found = replayed_rows(replayed(game), numbers, 5, 5)
    for row, before in enumerate(before for number, before in enumerate(replayed(game)) if number in numbers):
        write_game(alone, 0, before)
        assert_equal(found, row, alone)
