"""Which display a terminal gets, the cursor and the typed line of the live one, the lines of the plain one."""

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rich.live import Live
from rich.text import Text

from gtp_engine.go.game import Game
from gtp_engine.people.terminal import key_reader
from gtp_engine.people.terminal.board_picture import BoardView, Screen, plain_board
from gtp_engine.people.terminal.displays import LiveDisplay, PlainDisplay, _cut, can_draw, open_display
from gtp_engine.people.terminal.key_reader import ReadKey

SCREEN = Screen(BoardView(Game(5, 7)), ("Black: you",), "Hello.", "move>")


def pressed(*keys: str | None) -> ReadKey:
    """Return what reads these keys one after the other; None is a second without one."""
    left = iter(keys)
    return lambda timeout: next(left)


def console(**values: object) -> Console:
    output = io.TextIOWrapper(io.BytesIO(), encoding=str(values.pop("encoding", "utf-8")))
    environment = {"TERM": str(values.pop("term", "xterm-256color")), "COLUMNS": "80", "LINES": "30"}
    return Console(**{"file": output, "force_terminal": True, "_environ": environment, **values})  # type: ignore


@pytest.mark.parametrize(
    ("values", "is_possible"),
    [({}, True), ({"no_color": True}, False), ({"term": "dumb"}, False), ({"encoding": "cp1252"}, False)],
)
def test_a_live_screen_needs_colors_a_cursor_and_its_characters(values: dict[str, object], is_possible: bool) -> None:
    assert can_draw(console(**values)) == is_possible


def read(*keys: str | None, tick: object = SCREEN) -> str | None:
    with Live(console=console(), auto_refresh=False) as live:
        return LiveDisplay(live, pressed(*keys)).read(SCREEN, lambda: tick)  # type: ignore


@pytest.mark.parametrize(("most", "shown"), [(3, ["a", "b"]), (2, ["a", "b"]), (1, ["a…"]), (0, []), (-1, [])])
def test_only_text_that_is_cut_ends_in_an_ellipsis(most: int, shown: list[str]) -> None:
    assert [line.plain for line in _cut([Text("a"), Text("b")], most, 9)] == shown


def test_a_typed_line() -> None:
    assert read("d", "x", key_reader.BACKSPACE, "4", key_reader.OTHER, key_reader.ENTER) == "d4"
    assert read(key_reader.ENTER) == ""
    assert read("d", key_reader.END) is None


def test_the_cursor_begins_in_the_middle_and_stays_on_the_board() -> None:
    up, down, left, right, enter = (getattr(key_reader, name) for name in ("UP", "DOWN", "LEFT", "RIGHT", "ENTER"))
    assert read(up, enter) == "C5"
    assert read(*[right] * 9, *[down] * 9, enter) == "E1"
    assert read(*[left] * 9, *[up] * 9, enter) == "A7"
    assert read(up, "p", enter) == "p", "what is typed counts more"
    small = replace(SCREEN, board=BoardView(Game(2)))
    with Live(console=console(), auto_refresh=False) as live:
        display = LiveDisplay(live, pressed(down, enter, enter))
        assert [display.read(each, lambda: SCREEN) for each in (SCREEN, small)] == ["C3", ""], "no point of that board"
    with Live(console=console(), auto_refresh=False) as live:
        (game := Game(5, 4)).play("A1")
        played = replace(SCREEN, board=BoardView(game))
        assert LiveDisplay(live, pressed(right, enter)).read(played, lambda: SCREEN) == "B1", "beside the last move"


def test_the_cursor_answers_no_question() -> None:
    """Enter, which means yes, was taken for the point under the cursor, and nothing was saved."""
    question = replace(SCREEN, takes_points=False)
    with Live(console=console(), auto_refresh=False) as live:
        display = LiveDisplay(live, pressed(key_reader.UP, *[key_reader.ENTER] * 3))
        assert [display.read(each, lambda: SCREEN) for each in (SCREEN, question, SCREEN)] == ["C5", "", "C5"]


def test_a_second_without_a_key_updates_the_clocks_and_may_end_the_turn() -> None:
    assert read("d", None, "4", key_reader.ENTER) == "d4"
    assert read("d", None, tick=None) == ""


def test_a_line_in_another_encoding_is_read_all_the_same() -> None:
    """It ended the game with a traceback."""
    lines = io.TextIOWrapper(io.BytesIO(b"save J\xf6rg\nd4\n"), encoding="utf-8")
    with open_display(lines, io.StringIO()) as display:
        assert [display.read(SCREEN, lambda: SCREEN) for _ in range(2)] == ["save J\ufffdrg", "d4"]


def test_plain_lines() -> None:
    output = io.StringIO()
    display = PlainDisplay(io.StringIO("d4\n  pass \n"), output)
    display.show_progress(SCREEN)
    assert [display.read(SCREEN, lambda: SCREEN) for _ in range(3)] == ["d4", "pass", None]
    display.show_progress(SCREEN)
    display.show_progress(SCREEN)
    board, prompts = plain_board(SCREEN.board).splitlines(), ["move> Hello.", "move> Hello.", "move> "]
    assert output.getvalue().splitlines() == ["Hello.", "", *board, "Black: you", "Hello.", *prompts, "Hello."]


def test_a_change_of_size_redraws_on_an_empty_screen() -> None:
    """The rest of the old board stayed above the new one."""
    output = io.StringIO()
    with Live(console=console(file=output), auto_refresh=False) as live:
        display = LiveDisplay(live, pressed())
        display.show_progress(SCREEN)
        display.show_progress(SCREEN)
        assert "\x1b[2J" not in output.getvalue()
        live.console.size = (60, 26)
        display.show_progress(SCREEN)
        assert output.getvalue().count("\x1b[2J") == 1


def test_keys_that_look_back() -> None:
    with Live(console=console(file=(output := io.StringIO())), auto_refresh=False) as live:
        display = LiveDisplay(live, pressed(*"wxyz", key_reader.PAGE_UP))
        assert display.read(SCREEN, lambda: SCREEN) == "back"
        begun = len(output.getvalue())
        display.show_progress(SCREEN)
        assert "wxyz" in output.getvalue()[:begun] and "wxyz" not in output.getvalue()[begun:]
    assert read("d", key_reader.PAGE_UP) == "back"
    keys = (key_reader.PAGE_DOWN, key_reader.HOME, key_reader.LAST)
    assert [read(key) for key in keys] == ["forward", "back 9999", "forward 9999"]
