"""What the terminal shows at one moment, as values, and its board in colours (rich) or as plain text.

`displays` draws the rest of a screen.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Final

from rich.text import Text

from gtp_engine.go.board import IntArray
from gtp_engine.go.constants import BLACK, EMPTY, MAX_SIZE, NULL_POINT, PASS
from gtp_engine.go.coords import COLUMN_LETTERS, board_points, point_to_xy, xy_to_point
from gtp_engine.go.diagram import draw_board
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import star_points

NEEDED_CHARACTERS: Final = "●×▪╋┼┌┬┐├┤└┴┘─"
"""What the output's encoding must have for a board in colours."""

_GRID: Final = ("┌┬┐", "├┼┤", "└┴┘")


@dataclass(frozen=True)
class BoardView:
    """A position to draw; no move is played in `game` any more."""

    game: Game
    dead: frozenset[int] = frozenset()
    """Stones that are drawn as dead."""
    labels: Mapping[int, str] = field(default_factory=dict)
    """A letter for empty points."""
    owners: IntArray | None = None
    """The expected owner of each point, int32[n] by padded point, EMPTY for neither; None: not drawn."""

    @property
    def last_point(self) -> int:
        """The point of the last move, NULL_POINT for a pass or no move."""
        last = self.game.last_move
        return NULL_POINT if last is None or last.point == PASS else last.point


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
    size = view.game.height
    has_right, has_below = whole_width(view.game.width) <= width, size + 2 <= height
    columns, rows = _shown_part(view, cursor, (width - 2) // 2, height - 1)
    letters = "   " + " ".join(COLUMN_LETTERS[x] for x in columns)
    board = Text(f"{letters}\n", no_wrap=True)
    for y in rows:
        number = size - y
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
    width, height = view.game.width, view.game.height
    middle = (width // 2, height // 2)
    for point in (view.last_point, cursor):
        x, y = point_to_xy(point, width=width)
        middle = (x, y) if 0 <= x < width and 0 <= y < height else middle
    return _around(middle[0], most_columns, width), _around(middle[1], most_rows, height)


def _around(middle: int, most: int, size: int) -> range:
    """Return at most `most` numbers below `size`, at least one, with `middle` in their middle where possible."""
    count = min(max(1, most), size)
    first = min(max(0, middle - count // 2), size - count)
    return range(first, first + count)


def _row(view: BoardView, columns: range, y: int, cursor: int, colors: BoardColors) -> Iterator[tuple[str, str]]:
    """Yield the characters of a row with their styles."""
    width, height = view.game.width, view.game.height
    stars, last = star_points(width, height), view.last_point
    for x in columns:
        if x != columns[0]:
            yield "─", f"{colors.lines} on {colors.wood}"
        point = xy_to_point(x, y, width=width)
        grid = "╋" if point in stars else _GRID[_place(y, height)][_place(x, width)]
        character, ink = _cell(view, point, grid, colors)
        background = colors.cursor if point == cursor else colors.last if point == last else colors.wood
        yield character, f"{ink} on {background}"


def _cell(view: BoardView, point: int, grid: str, colors: BoardColors) -> tuple[str, str]:
    """Return the character of a point and its colour; `grid` is what an empty one shows."""
    color = view.game.color_at(point)
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
    game = view.game
    colors = dict.fromkeys(board_points(game.width, game.height), EMPTY) | game.stones
    return draw_board(
        colors, width=game.width, height=game.height, last_move=view.last_point, dead=view.dead, names=view.labels
    )
