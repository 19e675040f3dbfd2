"""The linear rollout policy's weights of all moves, kept up to date while a game is played: kernels.

A move's odds are the product of a factor for each of its features, exp(weight).  Two kinds of features:

    everywhere   the pattern around the point, with liberties (`neighborhoods`): its factor is stored here for every
                 empty point and both colours, and looked up again where a move changed stones or liberties
    local        answers to the opponent's last move (`linear`): multiplied in for one draw

A point where the pattern shows that a stone is illegal, simple ko aside, or would fill an eye has weight 0.

Weights are multiples of 2⁻²⁰ up to 2¹² (`linear_tables`), so that adding and subtracting them in any order is exact:
sums that are updated do not drift from sums computed afresh.

Letters: n is the padded length of a board, F counts the local features, T is the size of a hash table.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.board import EMPTY_COUNT, STRIDE, Board, IntArray, padded_length, play_assume_legal
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.search.rollouts.neighborhoods import DIAMOND_SIZE, MANY_LIBERTIES, pattern_of

MOST_URGENT: Final = 19
"""Most features of moves that save or kill; any more are ignored."""
_MOST_LOCAL: Final = 1 + MOST_URGENT + DIAMOND_SIZE
"""Most points whose weight differs from the stored one: the ko's, and those with local features."""
_MOST_CONTACTS: Final = 8
"""Most contacts of a chain with two liberties, each with four sides: a cheap test that rules out many liberties."""

CAPTURED_FROM: Final = 0
CAPTURED: Final = 1
"""info[CAPTURED] stones were captured by the last move; their points are empties[info[CAPTURED_FROM]:] of the board."""
URGENT: Final = 2
"""info[URGENT] of the local features found last are of moves that save or kill; they come first."""
_STAMP: Final = 3
_DIRTY: Final = 4
_INFO_SIZE: Final = 5


class LinearTables(NamedTuple):
    """The factors, read by all threads."""

    patterns: NDArray[np.float32]  # [PATTERNS, 2] of Black's move, of White's
    factors: NDArray[np.float32]  # [F] of local features
    keys: NDArray[np.int64]  # [T] diamonds, in every orientation
    entries: IntArray  # [T] first local feature of a diamond · 8 + its orientation; 0: empty
    places: IntArray  # [8, DIAMOND_SIZE] where each orientation takes the places of a diamond


class LinearWork(NamedTuple):
    """Work arrays of one thread; weights by colour are at 0 for Black, at 1 for White."""

    tables: LinearTables
    weight: NDArray[np.float64]  # [2, n] of a move on each empty point, local features aside; 0 elsewhere
    row_sum: NDArray[np.float64]  # [2, height + 1] of the rows of the board, from 1
    total: NDArray[np.float64]  # [2]
    row: IntArray  # [n] row of each point
    liberties: IntArray  # [n] by head: 1 to MANY_LIBERTIES; 0 at 0
    first: IntArray  # [n] by head: a liberty, if there are less than MANY_LIBERTIES
    second: IntArray  # [n] by head: another one, if there are two
    pair: IntArray  # [2] liberties of one chain
    dirty: IntArray  # [n] points whose patterns may have changed in this move
    stamp: IntArray  # [n] by point: the move at which it was last put into `dirty`
    local_point: IntArray  # [_MOST_LOCAL] points with local features
    local_feature: IntArray  # [_MOST_LOCAL] the features of these, one by one
    point: IntArray  # [_MOST_LOCAL] the points once each
    local_weight: NDArray[np.float64]  # [_MOST_LOCAL] their weights with local features
    info: IntArray  # [_INFO_SIZE] CAPTURED_FROM …


def new_linear_work(tables: LinearTables, width: int, height: int) -> LinearWork:
    """Return work arrays for boards of this size."""
    n = padded_length(width, height)

    def ints(size: int) -> IntArray:
        return np.zeros(size, dtype=np.int32)

    return LinearWork(
        tables=tables,
        weight=np.zeros((2, n)),
        row_sum=np.zeros((2, height + 1)),
        total=np.zeros(2),
        row=np.minimum(np.arange(n) // (width + 1), height).astype(np.int32),
        liberties=ints(n),
        first=ints(n),
        second=ints(n),
        pair=ints(2),
        dirty=ints(n),
        stamp=ints(n),
        local_point=ints(_MOST_LOCAL),
        local_feature=ints(_MOST_LOCAL),
        point=ints(_MOST_LOCAL),
        local_weight=np.zeros(_MOST_LOCAL),
        info=ints(_INFO_SIZE),
    )


@kernel
def begin_linear(board: Board, work: LinearWork) -> None:
    """Compute all weights and sums for a new position."""
    for color in range(2):
        work.total[color] = 0.0
        for row in range(work.row_sum.shape[1]):
            work.row_sum[color, row] = 0.0
    for point in range(board.color.size):
        work.weight[0, point] = work.weight[1, point] = 0.0
        work.liberties[point] = work.stamp[point] = 0
    work.info[_STAMP] = 1
    work.info[_DIRTY] = work.info[CAPTURED] = 0
    for head in range(board.color.size):
        if head != 0 and board.head[head] == head:
            _recount(board, work, wide(head))
    for i in range(wide(board.info[EMPTY_COUNT])):
        _refresh(board, work, wide(board.empties[i]))


@spliced_kernel
def play_linear(board: Board, work: LinearWork, point: int, color: int) -> None:
    """Play a legal move that is no suicide, and update the weights."""
    stride, enemy = wide(board.info[STRIDE]), BLACK + WHITE - color
    work.info[_STAMP] += 1
    work.info[_DIRTY] = 0
    for step in (-1, 1, -stride, stride):  # chains that lose this liberty: the patterns at their other one change
        head = wide(board.head[point + step])
        if work.liberties[head] == 2:
            _mark_liberties_dirty(work, head)
    first_captured = wide(board.info[EMPTY_COUNT]) - 1
    captured = wide(play_assume_legal(board, point, color))
    work.info[CAPTURED_FROM], work.info[CAPTURED] = first_captured, captured
    _set_weight(work, wide(0), point, 0.0)
    _set_weight(work, wide(1), point, 0.0)
    work.liberties[point] = 0
    _mark_around_dirty(work, point, stride)
    for i in range(first_captured, first_captured + captured):
        _handle_capture(board, work, wide(board.empties[i]), color)
    for step in (0, -1, 1, -stride, stride):
        if board.color[point + step] == (enemy if step != 0 else color):
            _recount(board, work, wide(board.head[point + step]))
    for i in range(wide(work.info[_DIRTY])):
        if board.color[work.dirty[i]] == EMPTY:
            _refresh(board, work, wide(work.dirty[i]))


@kernel
def _handle_capture(board: Board, work: LinearWork, point: int, color: int) -> None:
    """Handle a point from which a stone was captured: chains of `color` beside it have gained a liberty."""
    stride = wide(board.info[STRIDE])
    _mark_dirty(work, point)
    _mark_around_dirty(work, point, stride)
    for step in (-1, 1, -stride, stride):
        if board.color[point + step] == color:
            head = wide(board.head[point + step])
            if work.liberties[head] < MANY_LIBERTIES:
                _mark_liberties_dirty(work, head)
                _recount(board, work, head)


@inlined_kernel
def _recount(board: Board, work: LinearWork, head: int) -> None:
    """Count a chain's liberties; if there are few, the patterns at these have changed."""
    if board.libs[head] > _MOST_CONTACTS:
        work.liberties[head] = MANY_LIBERTIES
        return
    stride = wide(board.info[STRIDE])
    work.liberties[head] = _find_liberties(board.color, board.next_stone, stride, head, work.pair)
    work.first[head], work.second[head] = work.pair[0], work.pair[1]
    if work.liberties[head] < MANY_LIBERTIES:
        _mark_liberties_dirty(work, head)


@inlined_kernel
def _mark_dirty(work: LinearWork, point: int) -> None:
    """Record that the pattern of a point may have changed, once per move."""
    if work.stamp[point] != work.info[_STAMP]:
        work.stamp[point] = work.info[_STAMP]
        work.dirty[work.info[_DIRTY]] = point
        work.info[_DIRTY] += 1


@inlined_kernel
def _mark_liberties_dirty(work: LinearWork, head: int) -> None:
    """Record it for the liberties of a chain that has, or had, one or two."""
    _mark_dirty(work, wide(work.first[head]))
    if work.liberties[head] == 2:
        _mark_dirty(work, wide(work.second[head]))


@inlined_kernel
def _mark_around_dirty(work: LinearWork, point: int, stride: int) -> None:
    """Record it for the eight points around one."""
    for step in (-stride - 1, -stride, -stride + 1, -1, 1, stride - 1, stride, stride + 1):
        _mark_dirty(work, point + step)


@kernel
def _find_liberties(color: IntArray, next_stone: IntArray, stride: int, head: int, first_two: IntArray) -> int:
    """Return how many liberties a chain has, up to MANY_LIBERTIES, and write the first two, int32[2].

    Takes single arrays: passing a board, with its many arrays, would take longer than counting.
    """
    count = wide(0)
    stone = wide(head)
    while True:
        for step in (-1, 1, -stride, stride):
            neighbor = stone + step
            is_known = (count > 0 and neighbor == first_two[0]) or (count > 1 and neighbor == first_two[1])
            if color[neighbor] == EMPTY and not is_known:
                if count == 2:
                    return wide(MANY_LIBERTIES)
                first_two[count] = neighbor
                count += 1
        stone = wide(next_stone[stone])
        if stone == head:
            break
    return count


@inlined_kernel
def _refresh(board: Board, work: LinearWork, point: int) -> None:
    """Compute both weights of an empty point."""
    pattern = pattern_of(board, point, work.liberties)
    _set_weight(work, wide(0), point, np.float64(work.tables.patterns[pattern, 0]))
    _set_weight(work, wide(1), point, np.float64(work.tables.patterns[pattern, 1]))


@inlined_kernel
def _set_weight(work: LinearWork, color: int, point: int, weight: float) -> None:
    """Set a weight and update its sums; `color` is 0 or 1."""
    change = weight - work.weight[color, point]
    if change != 0.0:
        work.weight[color, point] = weight
        work.row_sum[color, work.row[point]] += change
        work.total[color] += change
