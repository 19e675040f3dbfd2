"""Boards as text: layout, the last move, dead stones, names, and the facts of a game."""

import pytest
from board_helpers import parse_diagram, play_moves

from gtp_engine import Game, Rules, parse_vertex
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WHITE
from gtp_engine.go.diagram import draw_board, format_board


def test_layout_of_a_board() -> None:
    at = {vertex: parse_vertex(vertex, width=9, height=9) for vertex in ("C7", "J9", "A1", "B1", "G3", "H3")}
    colors = [EMPTY] * 200
    for vertex, color in {"C7": BLACK, "J9": WHITE, "A1": BLACK, "B1": WHITE}.items():
        colors[at[vertex]] = color
    names, dead = {at["G3"]: "a", at["H3"]: "b"}, {at["A1"], at["B1"]}
    text = draw_board(colors, width=9, height=9, last_move=at["C7"], dead=dead, names=names)
    assert text.split("\n") == [
        "    A B C D E F G H J",
        " 9  . . . . . . . . O  9",
        " 8  . . . . . . . . .  8",
        " 7  . .(X). . . + . .  7",
        " 6  . . . . . . . . .  6",
        " 5  . . . . + . . . .  5",
        " 4  . . . . . . . . .  4",
        " 3  . . + . . . a b .  3",
        " 2  . . . . . . . . .  2",
        " 1  # @ . . . . . . .  1",
        "    A B C D E F G H J",
    ]
    assert parse_diagram(text).marked_stones == (at["A1"], at["B1"])


@pytest.mark.parametrize(
    ("vertex", "first", "last"),
    [
        ("A2", " 2 (X)X  2", " 1  . .  1"),
        ("B2", " 2  X(X) 2", " 1  . .  1"),
        ("A1", " 2  X X  2", " 1 (.).  1"),
        ("B1", " 2  X X  2", " 1  .(.) 1"),
        ("pass", " 2  X X  2", " 1  . .  1"),
    ],
)
def test_parentheses_fit_at_the_edges(vertex: str, first: str, last: str) -> None:
    game = Game(2, 2)
    game.set_up([(BLACK, "A2"), (BLACK, "B2")])  # type: ignore[list-item]
    point = parse_vertex(vertex, width=2, height=2)
    assert draw_board(game.board.color, width=2, height=2, last_move=point).split("\n")[1:3] == [first, last]


def test_board_with_the_facts_of_the_game() -> None:
    game = play_moves(Game(3, 3, Rules.parse("chinese"), 3.75), "A1 A2 C1 B1 pass C2 A3 B2")
    text = format_board(game)
    assert text.split("\n") == [
        "Move 8, last B2, black (X) to play",
        "Captured by black 0, by white 2, komi 3.75, rules chinese",
        "    A B C",
        " 3  X . .  3",
        " 2  O(O)O  2",
        " 1  . O .  1",
        "    A B C",
    ]


@pytest.mark.parametrize(
    ("last_move", "komi", "expected"),
    [
        (PASS, 7.0, "last pass, white (O) to play\nCaptured by black 0, by white 0, komi 7, rules tromp-taylor"),
        (NULL_POINT, -0.5, "last none, white (O) to play\nCaptured by black 0, by white 0, komi -0.5,"),
        (PASS, 1234567.25, "komi 1234567.25,"),
    ],
)
def test_facts_without_a_last_stone_and_with_odd_komi(last_move: int, komi: float, expected: str) -> None:
    game = Game(2, 2, Rules.parse("tromp-taylor"), komi)
    if last_move == PASS:
        game.play(PASS)
    else:
        game.to_play = WHITE
    assert expected in format_board(game)
