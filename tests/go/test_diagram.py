"""Diagrams: what may stand in one, what is refused, and that drawing and reading are inverse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine.errors import InvalidSizeError
from gtp_engine.go import diagram as diagram_module
from gtp_engine.go.constants import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, NULL_POINT, PASS, WHITE
from gtp_engine.go.coords import board_points, parse_vertex
from gtp_engine.go.diagram import Diagram, format_board, format_diagram, parse_diagram, stones_on
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules


def at(vertex: str, width: int, height: int) -> int:
    return parse_vertex(vertex, width=width, height=height)


def test_the_example_of_the_docstring() -> None:
    lines = (diagram_module.__doc__ or "").splitlines()
    top, bottom = (index for index, line in enumerate(lines) if line.split() == list("ABCD"))
    diagram = parse_diagram("\n".join(lines[top : bottom + 1]))
    assert (diagram.width, diagram.height) == (4, 3)
    assert diagram.stones == {
        at("B3", 4, 3): BLACK,
        at("C3", 4, 3): WHITE,
        at("A2", 4, 3): BLACK,
        at("B2", 4, 3): WHITE,
        at("D2", 4, 3): WHITE,
        at("B1", 4, 3): BLACK,
        at("C1", 4, 3): WHITE,
    }
    assert diagram.marks == {"a": at("D3", 4, 3)}
    assert diagram.last_move == at("C1", 4, 3)


@pytest.mark.parametrize(
    "text",
    [
        "X.\n.O",
        "  X .\n  . O\n",
        "\n\nX\t.\n\n. O\n\n",
        "A B\n2 X .\n1 . O",
        "2 X . 2\n1 . O 1",
        "X . 2\n. O 1\nA B",
        "AB\n2X.2\n1.O1\nAB",
        "X,\r\n+O\r\n",
    ],
)
def test_space_labels_and_kinds_of_empty_points_do_not_matter(text: str) -> None:
    assert parse_diagram(text) == Diagram(2, 2, {at("A2", 2, 2): BLACK, at("B1", 2, 2): WHITE})


def test_names_and_marked_stones() -> None:
    diagram = parse_diagram("""
        . # c
        a @ X
        O z #
    """)
    assert diagram.marks == {"a": at("A2", 3, 3), "c": at("C3", 3, 3), "z": at("B1", 3, 3)}
    assert diagram.marked_stones == (at("B3", 3, 3), at("B2", 3, 3), at("C1", 3, 3))
    black = [at("B3", 3, 3), at("C2", 3, 3), at("C1", 3, 3)]
    assert diagram.stones == {point: BLACK if point in black else WHITE for point in diagram.stones}
    assert set(diagram.stones) == {*black, at("B2", 3, 3), at("A1", 3, 3)}


def test_a_row_of_digits_above_nine() -> None:
    rows = "\n".join(f"{12 - y} . . . {12 - y}" for y in range(12))
    assert (parse_diagram(rows).width, parse_diagram(rows).height) == (3, 12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("..\n...", "row '...' has 3 points: expected 2"),
        ("..\n.?", r"character '\?'"),
        (".o\n..", "character 'o'"),
        ("x.\n..", "character 'x'"),
        ("a.\n.a", "mark 'a' occurs twice"),
        ("3 ..\n1 ..", "labelled 3: expected 2"),
        ("2 ..\n1 .. 2", "labelled 2: expected 1"),
        ("ABC\n..\n..", "columns 'ABC' do not fit the row '..'"),
        ("..\n..\nA B C", "columns 'ABC' do not fit"),
        ("B A\n..\n..", "character 'B'"),
        (".5.\n...", "digits are allowed only at the ends"),
        ("(X\n..", "one pair of parentheses"),
        ("X)\n..", "one pair of parentheses"),
        ("(XO)\n..", "one pair of parentheses"),
        ("(X)(O)\n..", "one pair of parentheses"),
        ("(", "one pair of parentheses"),
        ("()\n..", "one pair of parentheses"),
    ],
)
def test_faulty_diagrams_are_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_diagram(text)


@pytest.mark.parametrize("text", ["", "\n \n", ".", "..", ".\n.", "." * 26 + "\n" + "." * 26, "..\n" * 26])
def test_boards_outside_the_limits_are_refused(text: str) -> None:
    with pytest.raises(InvalidSizeError, match="expected 2 to 25 columns and rows"):
        parse_diagram(text)


@st.composite
def diagrams(draw: st.DrawFn) -> Diagram:
    width, height = draw(st.integers(MIN_SIZE, MAX_SIZE)), draw(st.integers(MIN_SIZE, MAX_SIZE))
    points = board_points(width, height)
    colors = draw(st.lists(st.sampled_from((EMPTY, BLACK, WHITE)), min_size=len(points), max_size=len(points)))
    stones = {point: color for point, color in zip(points, colors, strict=True) if color != EMPTY}
    empty = [point for point in points if point not in stones]
    named = draw(st.lists(st.sampled_from(empty), unique=True, max_size=20)) if empty else []
    marks = dict(zip("abcdefghijklmnpqrstuvwyz", named, strict=False))
    marked = draw(st.sets(st.sampled_from(sorted(stones)))) if stones else set()
    last_move = draw(st.sampled_from((NULL_POINT, *points)))
    return Diagram(width, height, stones, marks, tuple(sorted(marked)), last_move)


@given(diagram=diagrams(), coordinates=st.booleans(), stars=st.booleans())
def test_format_and_parse_are_inverse(diagram: Diagram, coordinates: bool, stars: bool) -> None:
    text = format_diagram(diagram, coordinates=coordinates, stars=stars)
    assert parse_diagram(text) == diagram
    assert all(line.strip() for line in text.split("\n"))


def test_layout_of_a_board() -> None:
    colors = [EMPTY] * 200
    colors[at("C7", 9, 9)] = BLACK
    colors[at("J9", 9, 9)] = WHITE
    stones = stones_on(colors, width=9, height=9)
    text = format_diagram(Diagram(9, 9, stones, last_move=at("C7", 9, 9)))
    assert text.split("\n") == [
        "    A B C D E F G H J",
        " 9  . . . . . . . . O  9",
        " 8  . . . . . . . . .  8",
        " 7  . .(X). . . + . .  7",
        " 6  . . . . . . . . .  6",
        " 5  . . . . + . . . .  5",
        " 4  . . . . . . . . .  4",
        " 3  . . + . . . + . .  3",
        " 2  . . . . . . . . .  2",
        " 1  . . . . . . . . .  1",
        "    A B C D E F G H J",
    ]


@pytest.mark.parametrize(
    ("vertex", "first", "last"), [("A2", " 2 (X)X  2", " 1  . .  1"), ("B1", " 2  X X  2", " 1  .(.) 1")]
)
def test_parentheses_fit_at_the_edges(vertex: str, first: str, last: str) -> None:
    colors = {at("A2", 2, 2): BLACK, at("B2", 2, 2): BLACK}
    diagram = Diagram(2, 2, colors, last_move=at(vertex, 2, 2))
    assert format_diagram(diagram).split("\n")[1:3] == [first, last]


def test_a_last_pass_is_not_drawn() -> None:
    assert "(" not in format_diagram(Diagram(2, 2, last_move=PASS))


def test_board_with_the_facts_of_the_game() -> None:
    game = Game(3, 3, Rules.parse("chinese"), 3.75)
    for vertex in ("A1", "A2", "C1", "B1", "pass", "C2", "A3", "B2"):
        game.play(vertex)
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
