"""Shows screens and reads commands: a live screen with a cursor, or line by line where there is no such terminal."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gtp_engine.go.constants import NULL_POINT
from gtp_engine.go.coords import is_on_board, point_to_xy, xy_to_point
from gtp_engine.people.terminal import key_reader
from gtp_engine.people.terminal.board_picture import (
    MANY_COLORS,
    NEEDED_CHARACTERS,
    SIXTEEN_COLORS,
    BoardView,
    Screen,
    colored_board,
    plain_board,
    whole_width,
)
from gtp_engine.people.terminal.key_reader import ReadKey, open_keys

TICK: Final = 1.0
"""Seconds between two updates of the clocks while a person thinks."""

_STEPS: Final = {key_reader.UP: (0, -1), key_reader.DOWN: (0, 1), key_reader.LEFT: (-1, 0), key_reader.RIGHT: (1, 0)}
_TYPED: Final = {
    key_reader.PAGE_UP: "back",
    key_reader.PAGE_DOWN: "forward",
    key_reader.HOME: "back 9999",
    key_reader.LAST: "forward 9999",
}
"""Keys that are a command."""

_FACTS_WIDTH: Final = 30
"""Columns for the facts and the gap before them; where they do not fit beside the board they go below it."""

_GAP: Final = 3
"""Columns between a board and the facts beside it."""

_LEAST_LINES: Final = 5
"""Lines of a board that are shown at least; in 40x20 they leave room for the help below."""

_LEAST_ROWS: Final = 12
"""Rows of a terminal for a live screen; on a lower one nothing would be seen but a strip of the board."""

Tick = Callable[[], Screen | None]
"""Returns the screen with the clocks as they are now, None once the person's time has run out."""


class Display(Protocol):
    """A terminal; `has_keys` is whether it takes single keys, such as arrows."""

    has_keys: bool

    def show_progress(self, screen: Screen) -> None:
        """Show a screen while the engine thinks."""

    def read(self, screen: Screen, tick: Tick) -> str | None:
        """Show a screen and return the line that the person types, None at the end of the input.

        "" if `tick` returns None meanwhile.  Ctrl-C raises KeyboardInterrupt.
        """


@contextmanager
def open_display(stdin: TextIO | None = None, stdout: TextIO | None = None) -> Iterator[Display]:
    """Yield the best display for these streams, by default this process's terminal.

    It is in colours and with a cursor only on a terminal that has both.
    """
    stdin, stdout = stdin or sys.stdin, stdout or sys.stdout
    console = Console(file=stdout, highlight=False)
    if not (stdin.isatty() and stdout.isatty() and can_draw(console) and console.height >= _LEAST_ROWS):
        if isinstance(stdin, io.TextIOWrapper):
            stdin.reconfigure(errors="replace")  # a line in another encoding is a mistake, not the end of the game
        yield PlainDisplay(stdin, stdout)
        return
    live = Live(console=console, auto_refresh=False, vertical_overflow="visible")
    with open_keys() as read_key:
        live.start()
        try:
            yield LiveDisplay(live, read_key)
        finally:
            with suppress(OSError):  # a terminal that has gone needs no last line
                live.stop()


def can_draw(console: Console) -> bool:
    """Return whether a terminal has colours, moves its cursor and knows the characters of a board."""
    if console.is_dumb_terminal or console.no_color or console.color_system is None:
        return False
    try:
        NEEDED_CHARACTERS.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def picture_of(screen: Screen, console: Console, cursor: int = NULL_POINT, typed: str = "") -> Group:
    """Return a screen in the colours of a terminal, and no larger than that: where a board has no room, a part of it.

    Text is wrapped and takes no room from a board that fits: what is too long ends in "…", and facts make way for the
    message.  `typed` is what stands behind the prompt.
    """
    width, height = console.size
    line = Text.assemble((f"{screen.prompt} ", "bold cyan"), typed, ("▏", "bold")) if screen.prompt else Text()
    colors = MANY_COLORS if console.color_system in {"256", "truecolor"} else SIXTEEN_COLORS
    lines = height - len(line.wrap(console, width))
    board_width = whole_width(screen.board.game.width)
    beside = width - board_width - _GAP
    if beside >= _FACTS_WIDTH - _GAP:
        board = colored_board(screen.board, cursor, board_width, lines, colors)
        table = Table.grid(padding=(0, _GAP))
        table.add_column(width=board_width)
        table.add_column(width=beside)
        table.add_row(board, Group(Text(""), *_beside(console, screen, beside, lines - 1)))
        return Group(table, line)
    below = _below(console, screen, width, lines)
    return Group(colored_board(screen.board, cursor, width, lines - len(below), colors), *below, line)


def _beside(console: Console, screen: Screen, width: int, most: int) -> list[Text]:
    """Return the facts and the message of a screen as at most that many lines of `width` columns."""
    message = _wrapped(console, screen.message, width)
    facts = [line for fact in screen.facts for line in _wrapped(console, fact, width)]
    return [*facts, Text(""), *message] if len(facts) + 1 + len(message) <= most else _cut(message, most, width)


def _below(console: Console, screen: Screen, width: int, lines: int) -> list[Text]:
    """Return the facts and the message as lines below a board, for which `lines` of a terminal have room too."""
    most = lines - 1 - min(_LEAST_LINES, screen.board.game.height)
    message = _cut(_wrapped(console, screen.message, width), most, width)
    left = lines - 1 - screen.board.game.height - len(message)
    facts = [line for fact in screen.facts for line in _wrapped(console, fact, width)]
    if len(facts) > left:
        facts = _wrapped(console, " · ".join(fact.strip() for fact in screen.facts), width)
    return [*_cut(facts, left if left >= 0 else most - len(message), width), *message]


def _wrapped(console: Console, text: str, width: int) -> list[Text]:
    return list(Text(text).wrap(console, width)) if text else []


def _cut(lines: list[Text], most: int, width: int) -> list[Text]:
    """Return at most that many of the lines; the last one ends in "…" if there are more."""
    if len(lines) <= most:
        return lines
    lines = lines[: max(0, most)]
    if lines:
        lines[-1].truncate(width - 1)
        lines[-1].append("…")
    return lines


class LiveDisplay:
    """Draws every screen in place of the last one; the arrow keys move a cursor on the board."""

    has_keys = True

    def __init__(self, live: Live, read_key: ReadKey) -> None:
        self._live: Final = live
        self._read_key: Final = read_key
        self._size = live.console.size
        self._cursor = NULL_POINT
        self._typed = ""

    def show_progress(self, screen: Screen) -> None:
        """Show a screen; after a change of the terminal's size, which breaks old lines, on an empty one."""
        console = self._live.console
        if console.size != self._size:
            self._live.stop()
            console.clear()
            self._live.start()
            self._size = console.size
        self._live.update(picture_of(screen, self._live.console, self._cursor, self._typed), refresh=True)

    def read(self, screen: Screen, tick: Tick) -> str | None:
        """Return the line that is typed, or the vertex under the cursor; see `Display`."""
        self._typed = ""
        game = screen.board.game
        if not is_on_board(self._cursor, width=game.width, height=game.height):
            self._cursor = NULL_POINT
        while True:
            self.show_progress(screen)
            key = self._read_key(TICK)
            if key is None:
                now = tick()
                if now is None:
                    return ""
                screen = now
            elif key == key_reader.END:
                return None
            elif key == key_reader.ENTER:
                typed, self._typed = self._typed, ""
                is_typed = typed or self._cursor == NULL_POINT or not screen.takes_points
                return typed if is_typed else game.vertex(self._cursor)
            elif key in _TYPED:
                self._typed = ""
                return _TYPED[key]
            elif key in _STEPS:
                self._move_cursor(screen.board, *_STEPS[key])
            elif key == key_reader.BACKSPACE:
                self._typed = self._typed[:-1]
            elif key != key_reader.OTHER:
                self._typed += key

    def _move_cursor(self, board: BoardView, right: int, down: int) -> None:
        """Move the cursor, which begins at the last move or in the middle, within the board."""
        width, height = board.game.width, board.game.height
        if self._cursor == NULL_POINT:
            middle = xy_to_point(width // 2, height // 2, width=width)
            self._cursor = middle if board.last_point == NULL_POINT else board.last_point
        x, y = point_to_xy(self._cursor, width=width)
        x, y = min(max(x + right, 0), width - 1), min(max(y + down, 0), height - 1)
        self._cursor = xy_to_point(x, y, width=width)


class PlainDisplay:
    """Prints each screen below the last one, without colours, and reads whole lines."""

    has_keys = False

    def __init__(self, stdin: TextIO, stdout: TextIO) -> None:
        self._stdin: Final = stdin
        self._stdout: Final = stdout
        self._shown = ""
        self._is_thinking = False

    def show_progress(self, screen: Screen) -> None:
        """Print once that the engine thinks."""
        if not self._is_thinking:
            self._write(f"{screen.message}\n")
        self._is_thinking = True

    def read(self, screen: Screen, tick: Tick) -> str | None:
        """Print what has changed, and return the next line; `tick` is asked after it."""
        self._is_thinking = False
        board = plain_board(screen.board)
        if board != self._shown:
            self._write("\n".join(["", board, *screen.facts, ""]))
            self._shown = board
        self._write(f"{screen.message}\n{screen.prompt} " if screen.message else f"{screen.prompt} ")
        line = self._stdin.readline()
        if not line:
            self._write("\n")
            return None
        return "" if tick() is None else line.strip()

    def _write(self, text: str) -> None:
        self._stdout.write(text)
        self._stdout.flush()
