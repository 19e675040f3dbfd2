"""Boards as text: parsing diagrams in tests and documents, drawing boards.

A diagram has one character for each point, with any white space between and around them:

    .  +  ,   an empty point ("+" is drawn on the stars)
    X  O      a black stone, a white stone
    #  @      a marked black stone, a marked white stone (collected in `marked_stones`)
    a to z    a named empty point, each name once; not x and o, which look like stones
    ( )       around the last move, as in `(X)`

Column letters above or below and row numbers left or right are optional; they must be correct:

        A B C D
     3  . X O a  3
     2  X O . O  2
     1  . X(O).  1
        A B C D

Blank lines are ignored.  Rules are not checked: a diagram may show stones without liberties.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from gtp_engine.errors import InvalidSizeError
from gtp_engine.go.constants import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, NULL_POINT, WHITE
from gtp_engine.go.coords import COLUMN_LETTERS, board_points, format_color, xy_to_point
from gtp_engine.go.handicap import star_points

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gtp_engine.go.game import Game

_EMPTY_CHARACTERS: Final = ".+,"
_STONES: Final = {"X": BLACK, "O": WHITE, "#": BLACK, "@": WHITE}
_MARKED_STONES: Final = "#@"
_NAMES: Final = frozenset("abcdefghijklmnpqrstuvwyz")
_COLOR_CHARACTERS: Final = {EMPTY: ".", BLACK: "X", WHITE: "O"}
_ROW: Final = re.compile(r"([0-9]{0,2})([^0-9]+?)([0-9]{0,2})")


@dataclass(frozen=True)
class Diagram:
    """The contents of a diagram; points are those of a board of `width` by `height`."""

    width: int
    height: int
    stones: dict[int, int] = field(default_factory=dict)
    """Colour (BLACK or WHITE) of every stone by its point; empty points are absent."""
    marks: dict[str, int] = field(default_factory=dict)
    """The named empty points: letter to point."""
    marked_stones: tuple[int, ...] = ()
    """Points of the stones drawn as # or @, row by row from the top left."""
    last_move: int = NULL_POINT
    """The point in parentheses, or NULL_POINT."""


def parse_diagram(text: str) -> Diagram:
    """Return the contents of a diagram, see the module docstring.

    Raises InvalidSizeError when it is not 2 to 25 by 2 to 25, and ValueError with the line when rows differ in length,
    a label is wrong, a character is unknown or a name occurs twice.
    """
    rows = [_split_parentheses(row) for row in _diagram_rows(text)]
    width, height = len(rows[0][0]) if rows else 0, len(rows)
    if not (MIN_SIZE <= width <= MAX_SIZE and MIN_SIZE <= height <= MAX_SIZE):
        raise InvalidSizeError(f"diagram of {width}x{height}: expected {MIN_SIZE} to {MAX_SIZE} columns and rows")
    stones: dict[int, int] = {}
    marks: dict[str, int] = {}
    marked_stones: list[int] = []
    last_move = NULL_POINT
    for y, (cells, last_x) in enumerate(rows):
        if len(cells) != width:
            raise ValueError(f"diagram row {cells!r} has {len(cells)} points: expected {width} as in the first row")
        for x, cell in enumerate(cells):
            point = xy_to_point(x, y, width=width)
            if cell in _STONES:
                stones[point] = _STONES[cell]
            elif cell in _NAMES:
                if marks.setdefault(cell, point) != point:
                    raise ValueError(f"diagram mark {cell!r} occurs twice: each letter names one point")
            elif cell not in _EMPTY_CHARACTERS:
                raise ValueError(f"diagram character {cell!r}: expected one of . + , X O # @ or a to z without o, x")
            if cell in _MARKED_STONES:
                marked_stones.append(point)
            if x == last_x:
                last_move = point
    return Diagram(width, height, stones, marks, tuple(marked_stones), last_move)


def _diagram_rows(text: str) -> list[str]:
    """Return the rows without white space and labels; raises ValueError for a wrong label."""
    lines = ["".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line]
    headers = [lines.pop(end) for end in (0, -1) if len(lines) > 1 and COLUMN_LETTERS.startswith(lines[end])]
    rows = [_strip_labels(line, number=len(lines) - index) for index, line in enumerate(lines)]
    for header in headers:
        if len(header) != len(_split_parentheses(rows[0])[0]):
            raise ValueError(f"diagram columns {header!r} do not fit the row {rows[0]!r}")
    return rows


def _strip_labels(line: str, number: int) -> str:
    """Return `line` without the row numbers at its ends; raises ValueError when they are not `number`."""
    match = _ROW.fullmatch(line)
    if not match:
        raise ValueError(f"diagram row {line!r}: digits are allowed only at the ends, as row numbers")
    for label in (match[1], match[3]):
        if label and int(label) != number:
            raise ValueError(f"diagram row {line!r} is labelled {label}: expected {number}")
    return match[2]


def _split_parentheses(row: str) -> tuple[str, int | None]:
    """Return the cells of `row` and the index of the one in parentheses; raises ValueError for a stray one."""
    before, opening, rest = row.partition("(")
    if not opening and ")" not in row:
        return row, None
    if rest[1:2] != ")" or "(" in rest or ")" in before + rest[2:]:
        raise ValueError(f"diagram row {row!r}: expected one pair of parentheses around one point")
    return before + rest[0] + rest[2:], len(before)


def stones_on(colors: "Sequence[int] | NDArray[np.integer]", *, width: int, height: int) -> dict[int, int]:
    """Return the stones of a board whose points have these colours, as `Diagram.stones`."""
    return {point: int(colors[point]) for point in board_points(width, height) if colors[point] != EMPTY}


def format_diagram(diagram: Diagram, *, coordinates: bool = True, stars: bool = True) -> str:
    """Return the board as text that `parse_diagram` can parse, without blank lines and without a final newline.

    A mark on a stone is not drawn.  `stars` draws "+" on empty star points.
    """
    width, height = diagram.width, diagram.height
    names = {point: name for name, point in diagram.marks.items()}
    star_set = set(star_points(width, height)) if stars else set()
    lines = []
    for y in range(height):
        points = [xy_to_point(x, y, width=width) for x in range(width)]
        cells = [
            _cell(
                diagram.stones.get(point, EMPTY),
                names.get(point),
                marked=point in diagram.marked_stones,
                star=point in star_set,
            )
            for point in points
        ]
        at = points.index(diagram.last_move) if diagram.last_move in points else None
        row = _join_cells(cells, at)
        lines.append(f"{height - y:2d} {row} {height - y}" if coordinates else row.strip())
    if coordinates:
        header = "    " + " ".join(COLUMN_LETTERS[:width])
        lines = [header, *lines, header]
    return "\n".join(lines)


def _cell(color: int, name: str | None, *, marked: bool, star: bool) -> str:
    if color == EMPTY:
        return name or ("+" if star else ".")
    if marked:
        return _MARKED_STONES[color - BLACK]
    return _COLOR_CHARACTERS[color]


def _join_cells(cells: list[str], last_move: int | None) -> str:
    """Return the cells with blanks before, between and after; parentheses around the last move replace two blanks."""
    separators = [" "] * (len(cells) + 1)
    if last_move is not None:
        separators[last_move : last_move + 2] = "(", ")"
    return "".join(separator + cell for separator, cell in zip(separators, [*cells, ""], strict=True))


def format_board(game: "Game") -> str:
    """Return the board with the last move, captures, komi and rules, for GTP's `showboard`.

    Two lines of facts come first, so that GTP's "= " does not misalign the columns of the diagram.  No line is blank,
    because a blank line ends a GTP reply.
    """
    last, color, captures = game.last_move, game.to_play, game.captures
    rules = game.rules.preset_name() or game.rules.to_json()
    stones = stones_on(game.board.color, width=game.width, height=game.height)
    board = Diagram(game.width, game.height, stones, last_move=NULL_POINT if last is None else last.point)
    facts = (
        f"Move {len(game.moves)}, last {'none' if last is None else game.vertex(last.point)}, "
        f"{format_color(color)} ({_COLOR_CHARACTERS[color]}) to play",
        f"Captured by black {captures[BLACK]}, by white {captures[WHITE]}, komi {_number(game.komi)}, rules {rules}",
    )
    return "\n".join((*facts, format_diagram(board)))


def _number(value: float) -> str:
    """Return `value` in its short form (7 for 7.0) unless that would round it."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
