"""Drawing moves by the linear softmax policy of AlphaGo (Silver et al. 2016, extended data table 4).  Kernels.

Besides the pattern around a move (`linear_weights`) there are local features, of moves that answer the opponent's last
one:

    save_by_capture   captures stones beside a chain that the last move left in atari, beside it
    save_by_escape    gives such a chain a second liberty, or captures something; ladders are not read
    nakade            plays in the middle of a shape that the last move captured
    answers           a place of the diamond around the last move, at one or two steps: nearness; for diamonds of the
                      policy's list, a weight for each place

What each feature contributes, by training without it on 2,269 games that a network played by sampling on 9×9: the
share of moves in 567 other games that the policy ranks first; then, on 3,000 of their positions, the mean squared error
between the average of 24 rollouts and the result of the game (0.665 for uniform, 0.656 for tactical rollouts).

    all                                27.8 %   0.633      without nakade              27.8 %
    without weights of diamonds        26.9 %   0.630      without save_by_escape      27.6 %
    without local features             23.2 %   0.648      without save_by_capture     26.7 %
    plain 3×3 patterns alone           19.6 %              without liberties           25.7 %

Diamonds predict moves rather than results, and cost a tenth of the speed; a policy without them has an empty list.
Reading ladders for save_by_escape gained 0.1 % and cost another tenth.  From the empty 9×9 board one core plays 0.17
times as many rollouts as with the uniform policy and 0.64 times as many as with the tactical one.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.board import HEIGHT, KO_COLOR, KO_POINT, STRIDE, WIDTH, Board, IntArray, is_legal
from gtp_engine.go.constants import BLACK, NULL_POINT, PASS, WALL, WHITE
from gtp_engine.go.tactics import would_be_self_atari
from gtp_engine.search.rng import State, random_below
from gtp_engine.search.rollouts.linear_weights import (
    CAPTURED,
    CAPTURED_FROM,
    MOST_URGENT,
    URGENT,
    LinearTables,
    LinearWork,
)
from gtp_engine.search.rollouts.neighborhoods import DIAMOND_SIZE, diamond_of, diamond_step

SAVE_BY_CAPTURE: Final = 0
SAVE_BY_ESCAPE: Final = 1
NAKADE: Final = 2
FIRST_DIAMOND: Final = 3
"""Local features: these three, then DIAMOND_SIZE for each diamond; the first such block is for unknown diamonds."""

_DRAWS: Final = 1 << 31
"""Number of values that a random number in [0, 1) can have."""
_NAKADE_SIZES: Final = (3, 6)
"""Least and greatest number of stones in a shape with a vital point."""
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_HASH_SHIFT: Final = np.uint64(40)
"""Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): 2⁶⁴ by the golden ratio, and the upper bits."""


@spliced_kernel
def draw_linear(board: Board, color: int, last: int, work: LinearWork, rng: State) -> int:
    """Return a move drawn with the policy's odds after an opponent's move on `last` (PASS, NULL_POINT: none), or PASS.

    The first draw decides whether the move is one of the few points with local features, and which one.  All other
    points keep their odds relative to each other, so one of them is drawn from the sums by rows; a draw that hits a
    local point is repeated.  This avoids updating and restoring the sums.
    """
    weights, place = work.local_weight, color - BLACK
    count = _weigh_local(board, color, work, find_local(board, color, last, work))
    others, local = work.total[place], 0.0
    for i in range(count):
        others -= work.weight[place, work.point[i]]
        local += weights[i]
    rest = (others + local) * (random_below(rng, _DRAWS) / _DRAWS)
    drawn = wide(PASS)
    for i in range(count):
        if weights[i] > 0.0 and rest >= 0.0:
            drawn = wide(work.point[i])
            rest -= weights[i]
    if rest >= 0.0 and others > 0.0:
        is_local = True
        while is_local:
            drawn = _draw_by_pattern(board, work, place, rng)
            is_local = False
            for i in range(count):
                is_local |= work.point[i] == drawn
    return drawn


@inlined_kernel
def _draw_by_pattern(board: Board, work: LinearWork, color: int, rng: State) -> int:
    """Return a point drawn with the weights of a colour, 0 or 1, not all of them 0."""
    width, height, stride = wide(board.info[WIDTH]), wide(board.info[HEIGHT]), wide(board.info[STRIDE])
    rest = work.total[color] * (random_below(rng, _DRAWS) / _DRAWS)
    row = wide(1)
    while row < height and rest >= work.row_sum[color, row]:
        rest -= work.row_sum[color, row]
        row += 1
    drawn = wide(PASS)
    for point in range(row * stride + 1, row * stride + 1 + width):
        weight = work.weight[color, point]
        if weight > 0.0 and rest >= 0.0:
            drawn = wide(point)
            rest -= weight
    return drawn


@spliced_kernel
def _weigh_local(board: Board, color: int, work: LinearWork, features: int) -> int:
    """Return the number of points with local features, or closed by ko, and write them and their weights."""
    count = wide(0)
    if board.info[KO_POINT] != NULL_POINT and board.info[KO_COLOR] == color:
        work.point[count] = board.info[KO_POINT]
        work.local_weight[count] = 0.0
        count += 1
    several = wide(0)
    for i in range(features):
        if i <= work.info[URGENT]:
            several = count  # `answers` are one to a point, but the point may also have urgent features, written before
        point = wide(work.local_point[i])
        factor = np.float64(work.tables.factors[work.local_feature[i]])
        found = wide(0)
        while found < several and work.point[found] != point:
            found += 1
        if found < several:
            work.local_weight[found] *= factor
        else:
            work.point[count] = point
            work.local_weight[count] = work.weight[color - BLACK, point] * factor
            count += 1
    return count


@inlined_kernel
def find_local(board: Board, color: int, last: int, work: LinearWork) -> int:
    """Return the number of local features of `color`'s moves, and write them to `local_point` and `local_feature`."""
    work.info[URGENT] = 0
    if last <= PASS:
        return wide(0)
    count = _find_rescues(board, color, last, work)
    count = _find_nakade(board, color, work, count)
    work.info[URGENT] = count
    return _find_answers(board, color, last, work, count)


@spliced_kernel
def _find_answers(board: Board, color: int, last: int, work: LinearWork, count: int) -> int:
    """Return the number of local features after adding those of the points in the diamond around the last move."""
    stride = wide(board.info[STRIDE])
    entry = _entry(work.tables, diamond_of(board, last, color, work.liberties))
    feature, orientation = entry >> 3, entry & 7
    for place in range(DIAMOND_SIZE):
        step = diamond_step(place // 4, place % 4, stride)
        is_hidden = place >= 8 and board.color[last + step // 2] == WALL
        if not is_hidden and work.weight[color - BLACK, last + step] > 0.0:
            work.local_point[count] = last + step
            work.local_feature[count] = feature + work.tables.places[orientation, place]
            count += 1
    return count


@inlined_kernel
def _entry(tables: LinearTables, diamond: int) -> int:
    """Return the entry of a diamond in the hash table: its first feature · 8 + its orientation."""
    place = _first_place(diamond, tables.keys.size)
    while tables.entries[place] != 0:
        if tables.keys[place] == diamond:
            return wide(tables.entries[place])
        place = (place + 1) & (tables.keys.size - 1)
    return wide(FIRST_DIAMOND << 3)


@kernel
def store_diamonds(keys: NDArray[np.int64], entries: IntArray, diamonds: NDArray[np.int64], values: IntArray) -> None:
    """Insert diamonds with their entries into a hash table large enough for them, unless they are in it already."""
    for i in range(diamonds.size):
        place = _first_place(diamonds[i], keys.size)
        while entries[place] != 0 and keys[place] != diamonds[i]:
            place = (place + 1) & (keys.size - 1)
        if entries[place] == 0:
            keys[place] = diamonds[i]
            entries[place] = values[i]


@inlined_kernel
def _first_place(diamond: int, size: int) -> int:
    """Return the place in a hash table of `size` places, a power of two, at which the search for a diamond begins."""
    return wide((np.uint64(diamond) * _MULTIPLIER) >> _HASH_SHIFT) & (size - 1)


@spliced_kernel
def _find_rescues(board: Board, color: int, last: int, work: LinearWork) -> int:
    """Return the number of features of moves that save a chain beside the last move from atari."""
    stride, enemy, count = wide(board.info[STRIDE]), BLACK + WHITE - color, wide(0)
    for step in (-1, 1, -stride, stride):
        head = wide(board.head[last + step])
        if board.color[last + step] != color or work.liberties[head] != 1:
            continue
        stone = head
        while True:
            for beside in (-1, 1, -stride, stride):
                other = wide(board.head[stone + beside])
                if board.color[stone + beside] == enemy and work.liberties[other] == 1:
                    count = _add_local(board, color, work, count, wide(work.first[other]), wide(SAVE_BY_CAPTURE))
            stone = wide(board.next_stone[stone])
            if stone == head:
                break
        liberty = wide(work.first[head])
        if is_legal(board, liberty, color, False) and not would_be_self_atari(board, liberty, color):
            count = _add_local(board, color, work, count, liberty, wide(SAVE_BY_ESCAPE))
    return count


@spliced_kernel
def _find_nakade(board: Board, color: int, work: LinearWork, count: int) -> int:
    """Return the number of local features after adding the vital point of the shape that the last move captured."""
    stones, first = wide(work.info[CAPTURED]), wide(work.info[CAPTURED_FROM])
    if not _NAKADE_SIZES[0] <= stones <= _NAKADE_SIZES[1]:
        return count
    stride, contacts, most, vital = wide(board.info[STRIDE]), wide(0), wide(0), wide(NULL_POINT)
    for i in range(first, first + stones):
        beside = wide(0)
        for j in range(first, first + stones):
            distance = abs(wide(board.empties[i]) - wide(board.empties[j]))
            beside += wide(distance == 1 or distance == stride)
        contacts += beside
        if beside > most:
            most, vital = beside, wide(board.empties[i])
    # In rows, T and plus one stone touches all others; bulky five and rabbity six are a square with an appendage.
    is_star = most == stones - 1 and contacts == 2 * most
    is_square = stones >= 5 and most == stones - 2 and contacts == 2 * stones
    if is_star or is_square:
        count = _add_local(board, color, work, count, vital, wide(NAKADE))
    return count


@inlined_kernel
def _add_local(board: Board, color: int, work: LinearWork, count: int, point: int, feature: int) -> int:
    """Return the number of local features after adding one, unless it is known already or the move is not possible."""
    if work.weight[color - BLACK, point] == 0.0 or count >= MOST_URGENT:
        return count
    for i in range(count):
        if work.local_point[i] == point and work.local_feature[i] == feature:
            return count
    work.local_point[count] = point
    work.local_feature[count] = feature
    return count + 1
