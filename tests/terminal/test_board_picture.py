"""Boards in colours and as plain text, and whole screens."""

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from gtp_engine.go.constants import BLACK, NULL_POINT, WHITE
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.people.terminal.board_picture import BoardView, Screen, colored_board, plain_board
from gtp_engine.people.terminal.displays import picture_of
from gtp_engine.people.terminal.typed_command import help_text

DIAGRAM = """
    . . . . . . .
    . . X . . . .
    . . X O . . .
    . . . O . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
"""


def at(vertex: str) -> int:
    return parse_vertex(vertex, width=7, height=7)


def view(**values: object) -> BoardView:
    game = Game.from_diagram(DIAGRAM)
    game.play("F4", BLACK)
    return BoardView(game, **values)  # type: ignore[arg-type]


def style_at(board: BoardView, vertex: str, cursor: str = "a1") -> str:
    """Return the character and the style of a point."""
    text = colored_board(board, at(cursor))
    point = at(vertex)
    row, column = point // 8 - 1, point % 8 - 1
    offset = sum(len(line) + 1 for line in text.plain.split("\n")[: row + 1]) + 3 + 2 * column
    styles = [str(span.style) for span in text.spans if span.start <= offset < span.end]
    return f"{text.plain[offset]} {styles[-1]}"


def test_a_board_in_colors() -> None:
    labels = {at("b2"): "a"}
    owners = np.zeros(8 * 9 + 1, dtype=np.int32)
    owners[at("a7")], owners[at("g1")] = BLACK, WHITE
    board = view(dead=frozenset([at("f4")]), labels=labels, owners=owners)
    assert colored_board(board).plain.splitlines() == [
        "   A B C D E F G",
        " 7 ▪─┬─┬─┬─┬─┬─┐ 7",
        " 6 ├─┼─●─┼─┼─┼─┤ 6",
        " 5 ├─┼─●─●─╋─┼─┤ 5",
        " 4 ├─┼─┼─●─┼─×─┤ 4",
        " 3 ├─┼─╋─┼─╋─┼─┤ 3",
        " 2 ├─a─┼─┼─┼─┼─┤ 2",
        " 1 └─┴─┴─┴─┴─┴─▪ 1",
        "   A B C D E F G",
    ]


def test_stones_last_move_and_cursor_have_colors_of_their_own() -> None:
    board = view()
    assert style_at(board, "c6") == "● #101010 on #dcb35c"
    assert style_at(board, "d5") == "● #ffffff on #dcb35c"
    assert style_at(board, "f4") == "● #101010 on #d0524a"
    assert style_at(board, "e2", cursor="e2").endswith("on #4f9d4f")
    owners = np.full(8 * 9 + 1, WHITE, dtype=np.int32)
    marked = view(owners=owners, labels={at("b2"): "a"})
    assert [style_at(marked, each) for each in ("g1", "b2")] == ["▪ #ffffff on #dcb35c", "a bold #0b3d91 on #dcb35c"]
    assert style_at(board, "f4", cursor="f4").endswith("on #4f9d4f"), "the cursor hides the mark of the last move"


def test_white_stones_stand_out_where_there_are_sixteen_colors() -> None:
    """The nearest of them to wood would be a grey, on which White's stones are hard to see."""
    output = io.StringIO()
    for colors in ("standard", "256"):
        console = Console(file=output, width=80, force_terminal=True, color_system=colors)  # type: ignore[arg-type]
        console.print(picture_of(Screen(view(), (), "", ""), console))
    bright_white_on_yellow, white_on_wood = "\x1b[97;43m", "\x1b[38;5;231;48;5;179m"
    assert [output.getvalue().count(f"{each}●") for each in (bright_white_on_yellow, white_on_wood)] == [2, 2]


def test_a_board_without_colors() -> None:
    board = view(dead=frozenset([at("d5"), at("d4")]), labels={at("b2"): "a"})
    assert plain_board(board).splitlines() == [
        "    A B C D E F G",
        " 7  . . . . . . .  7",
        " 6  . . X . . . .  6",
        " 5  . . X @ + . .  5",
        " 4  . . . @ .(X).  4",
        " 3  . . + . + . .  3",
        " 2  . a . . . . .  2",
        " 1  . . . . . . .  1",
        "    A B C D E F G",
    ]


def drawn(
    screen: Screen, columns: int, rows: int, cursor: int = NULL_POINT, typed: str = "", **terminal: Any
) -> list[str]:
    """Return the lines of a screen on a terminal of that size, which has room for them."""
    console = Console(file=io.StringIO(), width=columns, height=rows, **terminal)
    with console.capture() as capture:
        console.print(picture_of(screen, console, cursor, typed))
    lines = capture.get().rstrip("\n").split("\n")
    assert len(lines) <= rows
    return lines


@pytest.mark.parametrize("message", ["Tengen plays F4.", "word " * 60, "\n".join(map(str, range(14)))])
@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("vertex", ["A1", "M13", "Z25"])
def test_a_screen_is_not_higher_than_the_terminal(message: str, width: int, vertex: str) -> None:
    """Of a board that has no room the lines around the cursor are shown."""
    board = BoardView(Game(25))
    board.game.play("N14")
    screen = Screen(board, ("Black: you",) * 7, message, "your move>")
    lines = drawn(screen, width, 24, parse_vertex(vertex, width=25, height=25))
    assert any(line.startswith(f"{vertex[1:]:>2} ") for line in lines)
    assert lines[-1].startswith("your move>")


@pytest.mark.parametrize("typed", ["", "save /home/" + "folder/" * 20 + "game.sgf"])
@pytest.mark.parametrize(("size", "width"), [(25, 80), (19, 76), (19, 40), (9, 30)])
@pytest.mark.parametrize("at_end", [False, True])
def test_a_long_line_and_a_narrow_terminal_leave_the_screen_whole(
    typed: str, size: int, width: int, at_end: bool
) -> None:
    """A typed line of several rows pushed the board out of the screen, and the right side of a board was cut off."""
    corner = parse_vertex(f"{'ABCDEFGHJKLMNOPQRSTUVWXYZ'[size - 1]}1" if at_end else "A1", width=size, height=size)
    screen = Screen(BoardView(Game(size)), ("Black: you",) * 7, "Tengen plays F4.", "your move>")
    lines = drawn(screen, width, 24, corner, typed)
    assert any(line.lstrip().startswith("1 ") and ("┘" in line if at_end else "1 └" in line) for line in lines)
    assert not any("…" in line for line in lines if "─" in line)


def test_a_board_that_is_not_square() -> None:
    (game := Game(9, 5)).play("J1")
    letters = "   A B C D E F G H J"
    assert colored_board(BoardView(game), width=23, height=7).plain.splitlines() == [
        letters, " 5 ┌─┬─┬─┬─┬─┬─┬─┬─┐ 5", " 4 ├─┼─┼─┼─┼─┼─┼─┼─┤ 4", " 3 ├─┼─┼─┼─┼─┼─┼─┼─┤ 3",
        " 2 ├─┼─┼─┼─┼─┼─┼─┼─┤ 2", " 1 └─┴─┴─┴─┴─┴─┴─┴─● 1", letters,
    ]  # fmt: skip
    assert colored_board(BoardView(Game(9, 5)), width=8, height=2).plain == "   D E F\n 3 ┼─┼─┼"


def test_lines_around_the_last_move_are_shown_without_a_cursor() -> None:
    assert colored_board(view(), height=4).plain.splitlines()[1:] == [
        " 5 ├─┼─●─●─╋─┼─┤ 5",
        " 4 ├─┼─┼─●─┼─●─┤ 4",
        " 3 ├─┼─╋─┼─╋─┼─┤ 3",
    ]
    lines = colored_board(BoardView(Game(7)), height=4).plain.splitlines()
    assert [line[:2] for line in lines[1:]] == [" 5", " 4", " 3"], "those in the middle"


LONG = "White by 3.5 points, no dead stones. Type accept to end, a point to change its stones, or resume. " * 2


@pytest.mark.parametrize("message", ["", LONG, LONG * 9, "盤上の石を数えています。" * 20])
@pytest.mark.parametrize(("columns", "rows"), [(73, 24), (120, 40)])
def test_text_takes_no_room_from_a_board_that_fits(message: str, columns: int, rows: int) -> None:
    """Any long message cut the columns S and T off a board of 19 lines."""
    screen = Screen(BoardView(Game(19)), ("Black (X): you",) * 7, message, "move>")
    environment = {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(rows)}
    lines = [Text.from_ansi(line) for line in drawn(screen, columns, rows, force_terminal=True, _environ=environment)]
    assert all(line.cell_len <= columns for line in lines)
    assert lines[0].plain.startswith("   A B C D E F G H J K L M N O P Q R S T")
    assert [line.plain[:2].strip() for line in lines[1:20]] == [str(number) for number in range(19, 0, -1)]
    assert all(line.plain[40:43].strip() == line.plain[:2].strip() for line in lines[1:20])
    text = "".join(line.plain[46:] for line in lines).replace(" ", "")
    assert message.replace(" ", "") in text or "…" in text


@pytest.mark.parametrize(
    ("columns", "rows", "shown"), [(60, 24, 19), (43, 24, 19), (40, 24, 19), (40, 20, 14), (34, 15, 8)]
)
def test_below_a_board_text_takes_what_is_left(columns: int, rows: int, shown: int) -> None:
    """Six facts below a board that fits left it 14 lines, and one of 40 columns lost two of them to its coordinates."""
    facts = ("Black (X): you", "  0 captured", "White (O): Tengen, level 5k", "  0 captured", "Chinese rules, komi 7.5")
    screen = Screen(BoardView(Game(19)), (*facts, "Move 12: White D10"), "Tengen plays D10.", "move>")
    lines = drawn(screen, columns, rows)
    assert max(map(len, lines)) <= columns
    numbers = [line[:2].strip() for line in lines if line[2:3] == " " and line[:2].strip().isdecimal()]
    assert len(numbers) == shown
    assert lines[0] == "   " + " ".join("ABCDEFGHJKLMNOPQRST"[: min(19, (columns - 2) // 2)]) or columns < 40
    assert lines[-2:] == ["Tengen plays D10.", "move> ▏"]


@pytest.mark.parametrize("size", [9, 13, 19])
@pytest.mark.parametrize(("columns", "rows"), [(40, 20), (80, 24), (100, 50)])
def test_the_help_is_whole_at_every_size(size: int, columns: int, rows: int) -> None:
    """Beside a board of 9 lines it ended before `level`, `new` and `quit`, however high the terminal."""
    lines = drawn(Screen(BoardView(Game(size)), ("Black (X): you",) * 6, help_text(), "move>"), columns, rows)
    assert all(any(line in shown for shown in lines) for line in help_text().splitlines())
