"""Boards as text and as pictures.

Text has one character for each point, with blanks between them and coordinates around:

        A B C D
     3  . X b O  3
     2  X O + #  2
     1  . X(O).  1
        A B C D

X and # are black stones, O and @ white ones, # and @ dead; "+" is an empty star point, a small letter a named empty
point.  The last move is in parentheses.

Pictures (`draw_svg`) need no font, no script and nothing from outside, so that they look alike in documents, notebooks
and browsers.
"""

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

from gtp_engine.base.errors import ArgumentError, InvalidSizeError, of_kind, shown
from gtp_engine.go.constants import EMPTY, NULL_POINT, PASS
from gtp_engine.go.coords import (
    BLACK,
    COLORS,
    COLUMN_LETTERS,
    WHITE,
    Color,
    board_points,
    point_to_xy,
    to_color,
    xy_to_point,
)
from gtp_engine.go.handicap import star_points

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gtp_engine.go.game import Game

CHARACTERS: Final = {EMPTY: ".", BLACK: "X", WHITE: "O"}
_DEAD: Final = {BLACK: "#", WHITE: "@"}
_COLORS: Final = {".": EMPTY, "+": EMPTY, "X": BLACK, "#": BLACK, "O": WHITE, "@": WHITE}
_ROW: Final = re.compile(r"\s*(?:\d{1,2}\s)?([\s.+XO#@()]*[.+XO#@][\s.+XO#@()]*?)(?:\s\d{1,2})?\s*")
_NO_ROW: Final = re.compile(r"\s*(?:A(?: [A-Z])*\s*|(?:Move \d|Captured by ).*)?")
"""The other lines of a diagram: letters of columns, and facts."""


def draw_board(
    colors: "Mapping[int, int] | Sequence[int] | NDArray[np.integer]",
    *,
    width: int,
    height: int,
    last_move: int = NULL_POINT,
    dead: Collection[int] = (),
    names: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """Return a board whose points have these colours as text, without blank lines and without a final newline.

    `names` are letters for empty points.
    """
    stars = star_points(width, height)
    header = "    " + " ".join(COLUMN_LETTERS[:width])
    lines = [header]
    for y in range(height):
        row = ""
        for point in (xy_to_point(x, y, width=width) for x in range(width)):
            color = COLORS[colors[point]]
            empty = names.get(point) or ("+" if point in stars else ".")
            cell = empty if color == EMPTY else (_DEAD if point in dead else CHARACTERS)[color]
            row += "(" if point == last_move else ")" if point - 1 == last_move and row else " "
            row += cell
        row += ")" if xy_to_point(width - 1, y, width=width) == last_move else " "
        lines.append(f"{height - y:2d} {row} {height - y}")
    return "\n".join([*lines, header])


def format_board(game: "Game") -> str:
    """Return the board as text with coordinates, the last move, captures, komi and rules, as GTP's `showboard`.

    Two lines of facts come first, so that GTP's "= " does not misalign the columns of the diagram.  No line is blank,
    because a blank line ends a GTP reply.
    """
    last, color, captures, komi = game.last_move, game.to_play, game.captures, _number(game.komi)
    point = NULL_POINT if last is None else last.point
    facts = (
        f"Move {len(game.moves)}, last {'none' if last is None else game.vertex(last.point)}, "
        f"{color} ({CHARACTERS[color]}) to play",
        f"Captured by black {captures[BLACK]}, by white {captures[WHITE]}, komi {komi}, rules {game.rules}",
    )
    colors = dict.fromkeys(board_points(game.width, game.height), EMPTY) | game.stones
    return "\n".join((*facts, draw_board(colors, width=game.width, height=game.height, last_move=point)))


def parse_board(text: str) -> tuple[list[list[int]], int]:
    """Return the colours of a board's points by row and column, the top row first, and the side that is to play.

    The text is what `format_board` or `draw_board` return, or rows alone.  Raises ArgumentError.
    """
    colors = []
    for line in of_kind(text, str, "diagram").splitlines():
        if row := _ROW.fullmatch(line):
            colors.append([_COLORS[cell] for cell in row[1] if cell in _COLORS])
        elif not _NO_ROW.fullmatch(line):
            raise ArgumentError(f"line {shown(line)} of a diagram", expected="points as . X O")
    if len({len(row) for row in colors}) != 1:
        raise ArgumentError("a diagram without rows of one length", expected="as many points in each")
    side = re.search(r"(black|white) \([XO]\) to play", text)
    return colors, BLACK if side is None else to_color(side[1])


def _number(value: float) -> str:
    """Return `value` in its short form (7 for 7.0) unless that would round it."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


# --- pictures ---

MOST_CANDIDATES: Final = 8
"""Moves of an analysis that are drawn; more would hide the position."""

LARGEST_PICTURE: Final = 100_000
"""Width of a picture, pixels."""

_CELL: Final = 24
"""Distance of two lines, in units of the picture."""
_BOARD, _LINE, _BLACK, _WHITE = "#e3b76b", "#5d4420", "#1b1b1b", "#fcfcfa"
_REGION, _ARROW = "#f3dca4", "#2563b0"
_CANDIDATES: Final = ("#12856f", "#4f7f2a", "#9a6a12")
"""Colours of the best move, of those with a tenth of its visits, and of the others."""
_LEAST_OWNERSHIP: Final = 0.1
"""Ownership that is not drawn: its squares would be dots."""
_LARGEST_OWNERSHIP: Final = 1.001
"""Ownership that rounding makes of 1."""


class ShownAnalysis(Protocol):
    """What a picture shows of an analysis (`engine.answers.Analysis`)."""

    @property
    def to_play(self) -> Color:
        """Whose move is searched."""

    def seen_by(self, side: int | str) -> "ShownAnalysis":
        """Return the same with the winrates of that side."""

    @property
    def moves(self) -> Sequence[Any]:
        """Those that were searched, the best first, each with vertex, visits and winrate."""

    @property
    def ownership(self) -> Mapping[str, float]:
        """The owner of each point by vertex, from −1 to 1: Black's, or those of its `side`."""


def draw_svg(
    game: "Game",
    *,
    marks: Mapping[Any, str] | None = None,
    analysis: ShownAnalysis | None = None,
    ownership: Mapping[Any, float] | None = None,
    numbers: int = 0,
    arrows: Iterable[tuple[int | str, int | str]] = (),
    region: Collection[int | str] = (),
    size: int = 480,
) -> str:
    """Return the board as an SVG picture, `size` pixels wide; notebooks show games by it.

    `marks` are "triangle", "square", "circle", "cross", "selected" or any short text, by point or vertex: those of a
    `GameNode` too.  `analysis` (of an engine) draws its moves with visits and the winrate of the side to play, and the
    expected owner of each point, which `ownership` draws alone: from −1, White's, to 1, Black's, or as an engine's own
    says whose.  The last `numbers` moves are numbered; `arrows` lead from one point to another, and the points of a
    `region` are lighter.  Raises InvalidVertexError, InvalidSizeError, and ArgumentError for marks or ownership that
    are none, or of another board.
    """
    marks = {} if marks is None else marks
    if not (isinstance(size, Real) and 0 < size <= LARGEST_PICTURE):
        raise InvalidSizeError(f"picture of {shown(size)} pixels", expected=f"1 to {LARGEST_PICTURE}")
    if not isinstance(marks, Mapping):
        raise ArgumentError(f"marks {shown(marks)}", expected="marks by vertex")
    width, height = (length * _CELL for length in (game.width + 2, game.height + 2))
    moves = () if analysis is None else analysis.seen_by(analysis.to_play).moves[:MOST_CANDIDATES]
    owners = _owners_by_point(game, analysis.ownership if ownership is None and analysis is not None else ownership)
    placed: dict[int, str] = {game.point(key): str(text) for key, text in marks.items() if text is not None}
    numbered = _numbers(game, numbers)
    if game.last_move and not numbered and game.last_move.point != PASS:
        placed.setdefault(game.last_move.point, "circle")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{size}" '
        f'height="{round(size * height / width)}" role="img" font-family="sans-serif" text-anchor="middle">',
        f"<title>{html.escape(repr(game).strip('<>'))}</title>",
        f'<rect width="{width}" height="{height}" fill="{_BOARD}"/>',
        *(_square(game, point, _CELL, f'fill="{_REGION}"') for point in game.all_on_board(region)),
        *_grid(game),
        *(_stone(game, point, color) for point, color in game.stones.items()),
        *_owners(game, owners),
        *(_text(game, point, str(number), 10) for point, number in numbered.items() if point not in placed),
        *(_mark(game, point, mark) for point, mark in placed.items()),
        *_candidates(game, moves),
        *(_arrow(game, start, end) for start, end in map(game.all_on_board, arrows or ())),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _owners_by_point(game: "Game", ownership: Mapping[Any, float] | None) -> dict[int, float]:
    """Return the owners of points as Black sees them.

    Raises ArgumentError for what is not a number from −1 to 1, and for an engine's (it has a `side`) of another board.
    """
    if ownership is None:
        return {}
    side = getattr(ownership, "side", None)
    try:
        sign = -1 if side == WHITE else 1
        owners: dict[int, float] = {game.point(key): sign * owner for key, owner in ownership.items()}
        is_fitting = side is None or len(owners) in (0, game.width * game.height)
        if is_fitting and all(abs(owner) <= _LARGEST_OWNERSHIP for owner in owners.values()):
            return owners
    except (AttributeError, TypeError):
        pass
    expected = f"numbers from -1 to 1 by points of the {game.width}x{game.height} board"
    raise ArgumentError(f"ownership {shown(ownership)}", expected=expected)


def _center(game: "Game", point: int) -> tuple[int, int]:
    """Return the middle of a point in the picture."""
    x, y = point_to_xy(int(point), width=game.width)
    return round((x + 1.5) * _CELL), round((y + 1.5) * _CELL)


def _grid(game: "Game") -> Iterator[str]:
    """Yield lines, stars and coordinates."""
    (left, top), (right, bottom) = (_center(game, board_points(game.width, game.height)[i]) for i in (0, -1))
    across = "".join(f"M{left} {top + y * _CELL}H{right}" for y in range(game.height))
    down = "".join(f"M{left + x * _CELL} {top}V{bottom}" for x in range(game.width))
    yield f'<path d="{across}{down}" stroke="{_LINE}" fill="none"/>'
    for point in star_points(game.width, game.height):
        x, y = _center(game, point)
        yield f'<circle cx="{x}" cy="{y}" r="2.5" fill="{_LINE}"/>'
    letters = [(left + i * _CELL, top - 19, COLUMN_LETTERS[i]) for i in range(game.width)]
    letters += [(x, bottom + 26, letter) for x, _, letter in letters]
    digits = [(left - 23, top + i * _CELL + 4, str(game.height - i)) for i in range(game.height)]
    digits += [(right + 23, y, number) for _, y, number in digits]
    yield f'<g font-size="10" fill="{_LINE}">'
    yield from (f'<text x="{x}" y="{y}">{text}</text>' for x, y, text in (*letters, *digits))
    yield "</g>"


def _stone(game: "Game", point: int, color: int) -> str:
    x, y = _center(game, point)
    fill = _BLACK if color == BLACK else _WHITE
    return f'<circle cx="{x}" cy="{y}" r="11.3" fill="{fill}" stroke="{_BLACK}" stroke-width="0.8"/>'


def _owners(game: "Game", owners: Mapping[int, float]) -> Iterator[str]:
    """Yield a square for each point whose expected owner has no stone there; the larger, the surer."""
    for point, owner in owners.items():
        color = BLACK if owner > 0 else WHITE
        if abs(owner) >= _LEAST_OWNERSHIP and point != PASS and game.color_at(point) != color:
            fill = _BLACK if color == BLACK else _WHITE
            paint = f'fill="{fill}" stroke="{_LINE}" stroke-width="0.4"'
            yield _square(game, point, round(10 * min(1.0, abs(owner)), 1), paint)


def _square(game: "Game", point: int, side: float, paint: str) -> str:
    (x, y), half = _center(game, point), side / 2
    return f'<rect x="{x - half:g}" y="{y - half:g}" width="{side:g}" height="{side:g}" {paint}/>'


def _arrow(game: "Game", start: int, end: int) -> str:
    """Return a line with a head at its end."""
    tail, tip = (complex(*_center(game, point)) for point in (start, end))
    along = (tip - tail) / (abs(tip - tail) or 1)
    neck = tip - 9 * along
    left, right = neck + 5j * along, neck - 5j * along
    line = " ".join(f"{place.real:.1f} {place.imag:.1f}" for place in (tail, neck, left, tip, right, neck))
    return f'<path d="M{line}" fill="{_ARROW}" stroke="{_ARROW}" stroke-width="2.5"/>'


def _numbers(game: "Game", count: int) -> dict[int, int]:
    """Return the numbers of the last `count` moves by point, where their stones still are; of two the later."""
    first = max(0, len(game.moves) - of_kind(count, Integral, "numbers"))
    found = {move.point: number + 1 for number, move in enumerate(game.moves) if number >= first}
    return {point: number for point, number in found.items() if point != PASS and game.color_at(point) != EMPTY}


def _ink(game: "Game", point: int) -> str:
    """Return the colour in which something is seen on a point."""
    return _WHITE if game.color_at(point) == BLACK else _BLACK


def _text(game: "Game", point: int, text: str, size: int) -> str:
    x, y = _center(game, point)
    place = f'x="{x}" y="{y + 0.36 * size:g}" font-size="{size}"'
    shown_text = "".join(each if each.isprintable() else " " for each in text)  # XML has no control characters
    return f'<text {place} fill="{_ink(game, point)}">{html.escape(shown_text)}</text>'


def _mark(game: "Game", point: int, mark: str) -> str:
    """Return a mark by name, or a text; on an empty point, lines of the board do not cross it."""
    x, y = _center(game, point)
    shapes = {
        "triangle": f'<path d="M{x} {y - 7}l6.5 11h-13z"',
        "square": f'<path d="M{x - 5} {y - 5}h10v10h-10z"',
        "circle": f'<circle cx="{x}" cy="{y}" r="5.5"',
        "cross": f'<path d="M{x - 5} {y - 5}l10 10M{x + 5} {y - 5}l-10 10"',
        "selected": f'<path d="M{x} {y - 7}l7 7l-7 7l-7 -7z"',
    }
    if mark in shapes:
        return f'{shapes[mark]} stroke="{_ink(game, point)}" stroke-width="1.8" fill="none"/>'
    hole = f'<circle cx="{x}" cy="{y}" r="9" fill="{_BOARD}"/>' if game.color_at(point) == EMPTY else ""
    return hole + _text(game, point, mark, 13 if len(mark) < 3 else 9)


def _candidates(game: "Game", moves: Iterable[Any]) -> Iterator[str]:
    """Yield the moves of an analysis: winrate in percent, and visits."""
    most = 0
    for move in moves:
        point, most = game.point(move.vertex), max(most, move.visits)
        if point == PASS or game.color_at(point) != EMPTY:
            continue
        (x, y), rank = _center(game, point), 0 if move.visits == most else 1 if 10 * move.visits >= most else 2
        visits = str(move.visits) if move.visits < 1000 else f"{move.visits / 1000:.{move.visits < 10_000:d}f}k"
        yield f'<circle cx="{x}" cy="{y}" r="11.3" fill="{_CANDIDATES[rank]}" fill-opacity="0.92"/>'
        for text, below, size in ((f"{100 * move.winrate:.0f}", 1, 10), (visits, 8, 6)):
            yield f'<text x="{x}" y="{y + below}" font-size="{size}" fill="{_WHITE}">{text}</text>'
