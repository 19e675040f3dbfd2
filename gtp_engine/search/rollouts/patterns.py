"""3×3 patterns that mark a move as worth trying: hane, cut and edge shapes around the point played.

The set is that of Gelly, Wang, Munos and Teytaud, "Modification of UCT with Patterns in Monte-Carlo Go" (INRIA report
6062, 2006), figures 2 to 4.  A pattern is drawn with the point played in the middle:

    X O   stones of the two sides      x o   anything but that stone
    .     empty                        ?     anything
    #     outside the board            *     the point played

It matches in all eight orientations.  Patterns apply to either side to play, so they also match with the colours
exchanged, except for those that only make sense for X.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, spliced_kernel, wide
from gtp_engine.go.board import STRIDE, Board
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE

PatternTable = NDArray[np.uint8]


class _Pattern(NamedTuple):
    rows: str
    x_only: bool = False


_PATTERNS: Final = (
    _Pattern("XOX .*. ???"),  # hane that encloses
    _Pattern("XO. .*. ?.?"),  # hane
    _Pattern("XO? X*. x.?"),  # turn (magari)
    _Pattern("XOO .*. ?.?", x_only=True),  # hane at the head of two
    _Pattern("XO? O*o ?o?"),  # cut that is not protected
    _Pattern("XO? O*X ???"),  # cut after a peep
    _Pattern("?X? O*O ooo"),  # push through
    _Pattern("OX? o*O ???"),  # cut of a knight's move
    _Pattern("X.? O*? ##?"),  # edge: pursue
    _Pattern("OX? X*O ###"),  # edge: block a cut
    _Pattern("?X? x*O ###"),  # edge: block a connection
    _Pattern("?XO x*x ###", x_only=True),  # edge: descend
    _Pattern("?OX X*O ###", x_only=True),  # edge: cut
)

_MEANINGS: Final = {
    "X": (BLACK,),
    "O": (WHITE,),
    "x": (EMPTY, WHITE, WALL),
    "o": (EMPTY, BLACK, WALL),
    ".": (EMPTY,),
    "?": (EMPTY, BLACK, WHITE, WALL),
    "#": (WALL,),
}
_SWAPPED: Final = {EMPTY: EMPTY, BLACK: WHITE, WHITE: BLACK, WALL: WALL}


def _orientations(rows: str) -> Iterator[str]:
    """Yield the eight symmetric images of a pattern, each as its nine characters."""
    grid = np.array([list(row) for row in rows.split()])
    for flipped in (grid, grid.T):
        for turns in range(4):
            yield "".join(np.rot90(flipped, turns).ravel())


def _code(colors: tuple[int, ...]) -> int:
    """Return the code of eight neighbours in reading order, two bits each, as `neighborhood_code` computes it."""
    return sum(color << (2 * place) for place, color in enumerate(colors))


@cache
def pattern_table() -> PatternTable:
    """Return, uint8[65536], for each neighbourhood code: bit 0 if Black's move there fits one, bit 1 for White."""
    table = np.zeros(1 << 16, dtype=np.uint8)
    for pattern in _PATTERNS:
        for text in _orientations(pattern.rows):
            for colors in product(*(_MEANINGS[character] for character in text if character != "*")):
                swapped = tuple(_SWAPPED[color] for color in colors)
                table[_code(colors)] |= 1 if pattern.x_only else 3
                table[_code(swapped)] |= 2 if pattern.x_only else 3
    return table


@spliced_kernel
def neighborhood_code(board: Board, point: int) -> int:
    """Return the colours of the eight points around `point` as a number below 65536, two bits each."""
    colors, stride = board.color, wide(board.info[STRIDE])
    code = 0
    place = 0
    for step in (-stride - 1, -stride, -stride + 1, -1, 1, stride - 1, stride, stride + 1):
        code |= wide(colors[point + step]) << place
        place += 2
    return code


@inlined_kernel
def fits_pattern(board: Board, point: int, color: int, table: PatternTable) -> bool:
    """Return whether a move of `color` on the empty `point` fits one of the patterns."""
    return bool((table[neighborhood_code(board, point)] >> (color - 1)) & 1 == 1)
