"""What the library shows of a game: colours and points that print as words, and questions about positions."""

import json
import pickle

import pytest
from board_helpers import play_moves

from gtp_engine import BLACK, PASS, WHITE, Color, Game, InvalidColorError, InvalidVertexError, Move, Point


def test_moves_and_points_print_as_text() -> None:
    game = Game(9)
    assert repr(game.play("E5")) == "Move(color=BLACK, point=E5)"
    assert repr((game.moves, game.liberties("E5"))) == "((Move(color=BLACK, point=E5),), [E6, D5, F5, E4])"
    assert (game["E5"], game[55], game["E4"]) == (BLACK, Color.BLACK, Color("EMPTY"))
    assert f"{game['E5']} {game.to_play} {game.to_play.letter} {game.play('pass')}" == "black white W white pass"
    cells = f"{game.moves[0]:>9}|{game.score():>7}|{game.rules:<8}|{game.moves[0].point:>3}|{BLACK:<6}|{BLACK:d}"
    assert cells == " black E5| B+73.5|chinese | E5|black |1"
    assert {str(point): str(color) for point, color in game.stones.items()} == {"E5": "black"}


def test_colours_and_points_stay_numbers() -> None:
    point = Point("D4", 19)
    assert (json.dumps([Color.WHITE, point]), point + 1) == ("[2, 324]", 325)
    assert [Color("w"), Color(1).opponent] == [WHITE, WHITE]
    assert (Color.EMPTY.opponent, Color.WHITE.opponent) == (Color.EMPTY, BLACK)
    for wrong in (False, True, 3, point, "grey", None):
        with pytest.raises(InvalidColorError):
            Color(wrong)  # type: ignore[arg-type]
    for each in (Color.BLACK, point, Point("pass"), Move(Color("b"), point)):
        copy = pickle.loads(pickle.dumps(each))
        assert (copy, repr(copy), type(copy)) == (each, repr(each), type(each))


@pytest.mark.parametrize(("width", "height"), [(2, 2), (9, 9), (13, 19), (25, 25)])
def test_points_in_all_coordinates(width: int, height: int) -> None:
    for y in range(height):
        for x in range(width):
            point = Point.from_xy(x, y, width, height)
            assert point == Point(point.vertex, width, height) == Point.from_sgf(point.sgf, width, height)
            assert (point.xy, point.is_pass) == ((x, y), False)
    assert Point("pass", width, height) == Point.from_sgf("", width, height) == PASS
    assert Point("pass", width, height).sgf == ""
    assert Point.from_sgf("tt", width, height).is_pass == (width <= 19)
    for size in ((25, 9), (9, 25)):
        with pytest.raises(InvalidVertexError, match="x 19, y 19"):
            Point.from_sgf("tt", *size)


def test_games_are_compared_by_what_they_are() -> None:
    games = [Game(9), Game(9)]
    for game in games:
        play_moves(game, "E5 D5")
    assert games[0] == games[1] == games[0].copy()
    games[1].undo()
    assert games[0] != games[1]
    games[1].play("D5")
    assert games[0] == games[1]
    games[1].komi = 0.5
    assert games[0] != games[1] != "a game"
    games[1].komi, games[1].handicap_by_moves = games[0].komi, False
    assert games[0] != games[1]
    assert repr(games[0]) == "<Game 9x9, chinese rules, komi 7.5, 2 moves, last white D5, black to play>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(games[0])
    with pytest.raises(TypeError, match="not iterable"):
        list(games[0])


def test_ladders() -> None:
    ladder = """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . X X . . .
        . X O . . . .
        . . X . . . .
        . . . . . . .
    """
    game = Game.from_diagram(ladder)
    assert game.is_in_ladder("C3")
    assert not game.is_in_ladder("C4")
    assert not game.is_in_ladder("A1")
    game.play("D3")
    assert not game.is_in_ladder("D3")
    assert Game.from_diagram(ladder).ladder_moves("C3")
    assert game.ladder_moves("A1") == game.ladder_moves("C4") == []


def test_eyes_life_and_territory() -> None:
    game = Game.from_diagram("""
        . X . X . O .
        X X X X O O .
        O O O O O . .
        . . . . . . .
        . . . . . . O
    """)
    names = lambda points: sorted(map(repr, points))  # noqa: E731
    assert names(game.eyes("black")) == ["A5", "C5"]
    assert game.eyes(WHITE) == []
    assert names(game.pass_alive("black")) == ["A4", "A5", "B4", "B5", "C4", "C5", "D4", "D5"]
    assert names(game.territory("b")) == ["A5", "C5"]
    assert game["E5"] == Color.EMPTY
    assert set(names(game.territory("w"))) >= {"A1", "G5", "F3"}
    assert len(game.territory("w", dead=["A4"])) == len(game.territory("w")) + 9
    assert game.score(dead=["B5", "A1"]) == game.score(dead=game.chain("A4"))
