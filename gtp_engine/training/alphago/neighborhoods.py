"""The stones around a point as a number, and the numbers of equal shapes in other orientations or colours.

    pattern   the eight points around an empty one, 20 bits: three for the state of each point beside it (left, right,
              up, down), then two for the colour of each diagonal point
    diamond   the twelve points at most two steps from a stone, 36 bits: three for the state of each

The state of a point is its colour and, for a stone, how many liberties its chain has:

    0 empty    1 off the board    2, 3, 4 Black with 1, 2, more liberties    5, 6, 7 White with 1, 2, more

A pattern determines whether a stone on its point is legal (simple ko aside) and whether it would fill an eye.  Weights
are for Black's moves; those for White's are looked up with the colours exchanged.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, wide
from gtp_engine.go.board import STRIDE, Board, IntArray
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE

Codes = NDArray[np.int64]
"""Numbers of neighbourhoods."""
Places = tuple[tuple[int, int], ...]
"""Points around another one, as steps to the right and down."""

STATE_EMPTY: Final = 0
STATE_EDGE: Final = 1
STATE_BLACK: Final = 1
STATE_WHITE: Final = 4
"""A stone's state is this plus the number of its chain's liberties, three meaning three or more."""
MANY_LIBERTIES: Final = 3
STATE_BITS: Final = 3

_FIRST_STATES: Final = STATE_EMPTY | STATE_BLACK << 4 * BLACK | STATE_WHITE << 4 * WHITE | STATE_EDGE << 4 * WALL
"""The first state of each colour, four bits apart: a shift is faster than a branch."""

_BESIDE: Final[Places] = ((-1, 0), (1, 0), (0, -1), (0, 1))
_DIAGONAL: Final[Places] = ((-1, -1), (1, -1), (-1, 1), (1, 1))
_FIRST_DIAGONAL: Final = STATE_BITS * len(_BESIDE)
PATTERNS: Final = 1 << (_FIRST_DIAGONAL + 2 * len(_DIAGONAL))
"""Every pattern is below this."""

DIAMOND: Final[Places] = (*_BESIDE, *_DIAGONAL, (-2, 0), (2, 0), (0, -2), (0, 2))
"""The places of the diamond: beside, diagonal, two steps away."""
DIAMOND_SIZE: Final = len(DIAMOND)
SYMMETRIES: Final = 8

_SWAPPED_STATES: Final = np.array([0, 1, 5, 6, 7, 2, 3, 4])
_SWAPPED_COLORS: Final = np.array([EMPTY, WHITE, BLACK, WALL])
_PLAIN_STATES: Final = np.array([0, 1, 2, 2, 2, 5, 5, 5])
_UNCHANGED: Final = np.arange(1 << STATE_BITS)


@inlined_kernel
def state_of(board: Board, point: int, liberties: IntArray) -> int:
    """Return the state of a point; liberties[head], int32[n], is 1 to 3 for every chain and 0 at 0."""
    return wide(liberties[board.head[point]]) + (_FIRST_STATES >> (4 * wide(board.color[point])) & 7)


@inlined_kernel
def pattern_of(board: Board, point: int, liberties: IntArray) -> int:
    """Return the pattern around a point; `liberties` as in `state_of`."""
    stride, code, shift = wide(board.info[STRIDE]), wide(0), wide(0)
    for step in (-1, 1, -stride, stride):
        code |= state_of(board, point + step, liberties) << shift
        shift += STATE_BITS
    for step in (-stride - 1, -stride + 1, stride - 1, stride + 1):
        code |= wide(board.color[point + step]) << shift
        shift += 2
    return code


@inlined_kernel
def diamond_of(board: Board, point: int, color: int, liberties: IntArray) -> int:
    """Return the diamond around a point from the view of `color`: its own stones count as Black.

    `liberties` as in `state_of`.  The board's array has a single wall between rows, so a point two steps away behind a
    wall belongs to another row; it counts as off the board.
    """
    stride, code, shift = wide(board.info[STRIDE]), wide(0), wide(0)
    for reach in range(3):
        for place in range(4):
            step = diamond_step(reach, place, stride)
            if reach == 2 and board.color[point + step // 2] == WALL:
                state = wide(STATE_EDGE)
            else:
                state = state_of(board, point + step, liberties)
            if color == WHITE and state > STATE_EDGE:
                state += STATE_WHITE - STATE_BLACK if state <= STATE_WHITE else STATE_BLACK - STATE_WHITE
            code |= state << shift
            shift += STATE_BITS
    return code


@inlined_kernel
def diamond_step(reach: int, place: int, stride: int) -> int:
    """Return the step to place number 4 · reach + place of DIAMOND in the array of a board."""
    if reach == 1:
        return (stride if place >= 2 else -stride) + (1 if place % 2 == 1 else -1)
    step = (1 if place % 2 == 1 else -1) * (stride if place >= 2 else 1)
    return 2 * step if reach == 2 else step


@cache
def orientations(places: Places) -> NDArray[np.int64]:
    """Return, int64 [SYMMETRIES, len(places)], where each symmetry takes the places from: image[i] = original[…[i]]."""
    number = {place: i for i, place in enumerate(places)}
    images = []
    for symmetry in range(SYMMETRIES):
        for x, y in places:
            x, y = (-x if symmetry & 1 else x), (-y if symmetry & 2 else y)
            images.append(number[(y, x) if symmetry & 4 else (x, y)])
    return np.array(images).reshape(SYMMETRIES, len(places))


def pattern_images(codes: Codes) -> Codes:
    """Return the eight images of each pattern, [SYMMETRIES, …]; the least of them stands for all."""
    places = zip(orientations(_BESIDE), orientations(_DIAGONAL), strict=True)
    return np.stack([_states(codes, beside) | _colors(codes, diagonal) for beside, diagonal in places])


def diamond_images(codes: Codes) -> Codes:
    """Return the eight images of each diamond, [SYMMETRIES, …]; the least of them stands for all."""
    return np.stack([_states(codes, places) for places in orientations(DIAMOND)])


def swapped_patterns(codes: Codes) -> Codes:
    """Return the patterns with the colours exchanged."""
    return _states(codes, range(4), _SWAPPED_STATES) | _colors(codes, range(4), _SWAPPED_COLORS)


def plain_patterns(codes: Codes) -> Codes:
    """Return the patterns with all chains in atari, so that liberties make no difference."""
    return _states(codes, range(4), _PLAIN_STATES) | _colors(codes, range(4))


def _states(codes: Codes, places: Iterable[int], values: Codes = _UNCHANGED) -> Codes:
    """Return the part of each code that has the states, taken from these places and replaced by their `values`."""
    states = (values[codes >> (STATE_BITS * place) & 7] << (STATE_BITS * to) for to, place in enumerate(places))
    return sum(states, np.zeros_like(codes))


def _colors(codes: Codes, places: Iterable[int], values: Codes = _UNCHANGED) -> Codes:
    """Return the part of each pattern that has the colours of the diagonal points, likewise."""
    colors = (values[codes >> (_FIRST_DIAGONAL + 2 * place) & 3] << (2 * to) for to, place in enumerate(places))
    return sum(colors, np.zeros_like(codes)) << _FIRST_DIAGONAL


def playable_patterns(codes: Codes) -> NDArray[np.bool_]:
    """Return for which patterns Black may play on their point, simple ko aside, without filling an eye."""
    beside = np.stack([codes >> (STATE_BITS * place) & 7 for place in range(len(_BESIDE))])
    diagonal = np.stack([codes >> (_FIRST_DIAGONAL + 2 * place) & 3 for place in range(len(_DIAGONAL))])
    lives = (beside == STATE_EMPTY) | (beside == STATE_WHITE + 1)
    lives |= (beside > STATE_BLACK + 1) & (beside <= STATE_BLACK + MANY_LIBERTIES)
    has_eye_shape = ((beside > STATE_EMPTY) & (beside <= STATE_BLACK + MANY_LIBERTIES)).all(axis=0)
    against = (diagonal == WHITE).sum(axis=0) + (diagonal == WALL).any(axis=0)
    playable: NDArray[np.bool_] = lives.any(axis=0) & ~(has_eye_shape & (against < 2))
    return playable
