"""What the terminal shows at one moment, as values, and how: a live screen with a cursor, or line by line.

The board is in colours (rich), or plain text where there is no such terminal.
"""

import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Final, Protocol, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gtp_engine.go.board import IntArray
from gtp_engine.go.constants import BLACK, EMPTY, MAX_SIZE, NULL_POINT
from gtp_engine.go.coords import COLUMN_LETTERS, format_vertex, point_to_xy, xy_to_point
from gtp_engine.go.diagram import draw_board
from gtp_engine.go.handicap import star_points
from gtp_engine.people.terminal import key_reader
from gtp_engine.people.terminal.key_reader import ReadKey, open_keys

NEEDED_CHARACTERS: Final = "●×▪╋┼┌┬┐├┤└┴┘─"
"""What the output's encoding must have for a board in colours."""

_GRID: Final = ("┌┬┐", "├┼┤", "└┴┘")


@dataclass(frozen=True)
class BoardView:
    """A board to draw; `colors` is int32[n] by padded point."""

    width: int
    height: int
    colors: IntArray
    last_move: int = NULL_POINT
    dead: frozenset[int] = frozenset()
    """Stones that are drawn as dead."""
    labels: Mapping[int, str] = field(default_factory=dict)
    """A letter for empty points."""
    owners: IntArray | None = None
    """The expected owner of each point, int32[n], EMPTY for neither; None: not drawn."""


@dataclass(frozen=True)
class Screen:
    """A board, the facts beside it, a message below and what a typed line is expected to be, "" if none."""

    board: BoardView
    facts: tuple[str, ...]
    message: str
    prompt: str
    takes_points: bool = True
    """Whether the point under a cursor answers the prompt."""


@dataclass(frozen=True)
class BoardColors:
    """Colours as rich names them; `last` and `cursor` are backgrounds, as `wood` is."""

    wood: str
    lines: str
    label: str
    last: str
    cursor: str
    black: str
    white: str

    def ink(self, color: int) -> str:
        """Return the colour of a stone."""
        return self.black if color == BLACK else self.white


MANY_COLORS: Final = BoardColors("#dcb35c", "#6b4a1b", "#0b3d91", "#d0524a", "#4f9d4f", "#101010", "#ffffff")
SIXTEEN_COLORS: Final = BoardColors("yellow", "bright_black", "blue", "red", "green", "black", "bright_white")
"""For terminals with 16 colours, where the nearest to wood is a grey on which White's stones do not show."""


def whole_width(columns: int) -> int:
    """Return how many columns of a terminal a board takes with its coordinates on both sides."""
    return 2 * columns + 5


def colored_board(
    view: BoardView,
    cursor: int = NULL_POINT,
    width: int = whole_width(MAX_SIZE),
    height: int = MAX_SIZE + 2,
    colors: BoardColors = MANY_COLORS,
) -> Text:
    """Return the board with coordinates; the last move and the point `cursor` have a background of their own.

    It takes at most `width` columns and `height` rows of the terminal.  Where there is no room for them, the
    coordinates on the right and below are left out, and then all but the part around the cursor, or else around the
    last move.
    """
    has_right, has_below = whole_width(view.width) <= width, view.height + 2 <= height
    columns, rows = _shown_part(view, cursor, (width - 2) // 2, height - 1)
    letters = "   " + " ".join(COLUMN_LETTERS[x] for x in columns)
    board = Text(f"{letters}\n", no_wrap=True)
    for y in rows:
        number = view.height - y
        board.append(f"{number:2d} ")
        for style, cells in groupby(_row(view, columns, y, cursor, colors), key=itemgetter(1)):
            board.append("".join(character for character, _ in cells), style)
        board.append(f" {number}\n" if has_right else "\n")
    if has_below:
        board.append(letters)
    else:
        board.right_crop()
    return board


def _shown_part(view: BoardView, cursor: int, most_columns: int, most_rows: int) -> tuple[range, range]:
    """Return the columns and the rows to show, from the left and from the top."""
    middle = (view.width // 2, view.height // 2)
    for point in (view.last_move, cursor):
        x, y = point_to_xy(point, width=view.width)
        middle = (x, y) if 0 <= x < view.width and 0 <= y < view.height else middle
    return _around(middle[0], most_columns, view.width), _around(middle[1], most_rows, view.height)


def _around(middle: int, most: int, size: int) -> range:
    """Return at most `most` numbers below `size`, at least one, with `middle` in their middle where possible."""
    count = min(max(1, most), size)
    first = min(max(0, middle - count // 2), size - count)
    return range(first, first + count)


def _row(view: BoardView, columns: range, y: int, cursor: int, colors: BoardColors) -> Iterator[tuple[str, str]]:
    """Yield the characters of a row with their styles."""
    stars = star_points(view.width, view.height)
    for x in columns:
        if x != columns[0]:
            yield "─", f"{colors.lines} on {colors.wood}"
        point = xy_to_point(x, y, width=view.width)
        grid = "╋" if point in stars else _GRID[_place(y, view.height)][_place(x, view.width)]
        character, ink = _cell(view, point, grid, colors)
        background = colors.cursor if point == cursor else colors.last if point == view.last_move else colors.wood
        yield character, f"{ink} on {background}"


def _cell(view: BoardView, point: int, grid: str, colors: BoardColors) -> tuple[str, str]:
    """Return the character of a point and its colour; `grid` is what an empty one shows."""
    color = int(view.colors[point])
    if color != EMPTY:
        return "×" if point in view.dead else "●", colors.ink(color)
    if point in view.labels:
        return view.labels[point], f"bold {colors.label}"
    if view.owners is not None and view.owners[point] != EMPTY:
        return "▪", colors.ink(int(view.owners[point]))
    return grid, colors.lines


def _place(index: int, size: int) -> int:
    """Return 0 at the first line, 2 at the last, 1 between."""
    return 0 if index == 0 else 2 if index == size - 1 else 1


def plain_board(view: BoardView) -> str:
    """Return the board as `go.diagram` writes it: X black, O white, # and @ dead ones, the last move in parentheses."""
    return draw_board(
        view.colors,
        width=view.width,
        height=view.height,
        last_move=view.last_move,
        dead=view.dead,
        names={point: label for point, label in view.labels.items() if view.colors[point] == EMPTY},
    )


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


def board_colors(color_system: str | None) -> BoardColors:
    """Return the colours for a terminal whose colours rich calls by this name."""
    return MANY_COLORS if color_system in {"256", "truecolor"} else SIXTEEN_COLORS


def picture_of(screen: Screen, console: Console, cursor: int = NULL_POINT, typed: str = "") -> Group:
    """Return a screen in the colours of a terminal, and no larger than that: where a board has no room, a part of it.

    Text is wrapped and takes no room from a board that fits: what is too long ends in "…", and facts make way for the
    message.  `typed` is what stands behind the prompt.
    """
    width, height = console.size
    line = Text.assemble((f"{screen.prompt} ", "bold cyan"), typed, ("▏", "bold")) if screen.prompt else Text()
    colors = board_colors(console.color_system)
    lines = height - len(line.wrap(console, width))
    board_width = whole_width(screen.board.width)
    beside = width - board_width - _GAP
    if beside >= _FACTS_WIDTH - _GAP:
        board = colored_board(screen.board, cursor, board_width, lines, colors)
        table = Table.grid(padding=(0, _GAP))
        table.add_column(width=board_width)
        table.add_column(width=beside)
        table.add_row(board, Group(Text(""), *_beside(console, screen, beside, lines - 1)))
        return Group(table, line)
    below = _below(console, screen, width, lines)
    board = colored_board(screen.board, cursor, width, lines - len(below), colors)
    return Group(board, *below, line)


def _beside(console: Console, screen: Screen, width: int, most: int) -> list[Text]:
    """Return the facts and the message of a screen as at most that many lines of `width` columns."""
    message = _wrapped(console, screen.message, width)
    facts = [line for fact in screen.facts for line in _wrapped(console, fact, width)]
    return [*facts, Text(""), *message] if len(facts) + 1 + len(message) <= most else _cut(message, most, width)


def _below(console: Console, screen: Screen, width: int, lines: int) -> list[Text]:
    """Return the facts and the message as lines below a board, for which `lines` of a terminal have room too."""
    most = lines - 1 - min(_LEAST_LINES, screen.board.height)
    message = _cut(_wrapped(console, screen.message, width), most, width)
    left = lines - 1 - screen.board.height - len(message)
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
        if not _is_on_board(screen.board, self._cursor):
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
                return self._entered(screen)
            elif key in _TYPED:
                self._typed = ""
                return _TYPED[key]
            elif key in _STEPS:
                self._move_cursor(screen.board, *_STEPS[key])
            elif key == key_reader.BACKSPACE:
                self._typed = self._typed[:-1]
            elif key != key_reader.OTHER:
                self._typed += key

    def _entered(self, screen: Screen) -> str:
        """Return what Enter means: the typed line, or the point under the cursor."""
        typed, self._typed = self._typed, ""
        if typed or self._cursor == NULL_POINT or not screen.takes_points:
            return typed
        return format_vertex(self._cursor, width=screen.board.width, height=screen.board.height)

    def _move_cursor(self, board: BoardView, right: int, down: int) -> None:
        """Move the cursor, which begins at the last move or in the middle, within the board."""
        if self._cursor == NULL_POINT:
            last = board.last_move
            middle = xy_to_point(board.width // 2, board.height // 2, width=board.width)
            self._cursor = last if _is_on_board(board, last) else middle
        x, y = point_to_xy(self._cursor, width=board.width)
        x, y = min(max(x + right, 0), board.width - 1), min(max(y + down, 0), board.height - 1)
        self._cursor = xy_to_point(x, y, width=board.width)


def _is_on_board(board: BoardView, point: int) -> bool:
    x, y = point_to_xy(point, width=board.width)
    return 0 <= x < board.width and 0 <= y < board.height


class PlainDisplay:
    """Prints each screen below the last one, without colours, and reads whole lines."""

    has_keys = False

    def __init__(self, stdin: TextIO, stdout: TextIO) -> None:
        self._stdin: Final = stdin
        self._stdout: Final = stdout
        self._shown = ""
        self._is_thinking = False

    def _show(self, screen: Screen) -> None:
        """Print what has changed: the board with the facts, and the message."""
        self._is_thinking = False
        board = plain_board(screen.board)
        if board != self._shown:
            self._write("\n".join(["", board, *screen.facts, ""]))
            self._shown = board
        if screen.message:
            self._write(f"{screen.message}\n")

    def show_progress(self, screen: Screen) -> None:
        """Print once that the engine thinks."""
        if not self._is_thinking:
            self._write(f"{screen.message}\n")
        self._is_thinking = True

    def read(self, screen: Screen, tick: Tick) -> str | None:
        """Return the next line; `tick` is asked after it."""
        self._show(screen)
        self._write(f"{screen.prompt} ")
        line = self._stdin.readline()
        if not line:
            self._write("\n")
            return None
        return "" if tick() is None else line.strip()

    def _write(self, text: str) -> None:
        self._stdout.write(text)
        self._stdout.flush()
