"""Rollouts by the linear softmax policy of AlphaGo (Silver et al. 2016, extended data table 4).  Kernels.

A move's odds are the product of a factor for each of its features, exp(weight).  Two kinds of features:

    everywhere   the pattern around the point, with liberties (`neighborhoods`): its factor is stored for every
                 empty point and both colours, and looked up again where a move changed stones or liberties
    local        answers to the opponent's last move: multiplied in for one draw

A point where the pattern shows that a stone is illegal, simple ko aside, or would fill an eye has weight 0.  Weights
are multiples of 2⁻²⁰ up to 2¹² (`linear_policy`), so that adding and subtracting them in any order is exact: sums that
are updated do not drift from sums computed afresh.

The local features:

    save_by_capture   captures stones beside a chain that the last move left in atari, beside it
    save_by_escape    gives such a chain a second liberty, or captures something; ladders are not read
    nakade            plays in the middle of a shape that the last move captured
    answers           a place of the diamond around the last move, at one or two steps: nearness; for diamonds of the
                      policy's list, a weight for each place

What each feature contributes, by training without it on 2,269 games that a network played by sampling on 9×9: the
share of moves in 567 other games that the policy ranks first; then, on 3,000 of their positions, the mean squared error
between the average of 24 rollouts and the result of the game (0.665 for uniform, 0.656 for tactical rollouts).

    all                                27.8%    0.633      without nakade              27.8%
    without weights of diamonds        26.9%    0.630      without save_by_escape      27.6%
    without local features             23.2%    0.648      without save_by_capture     26.7%
    plain 3×3 patterns alone           19.6%               without liberties           25.7%

Diamonds predict moves rather than results, and cost a tenth of the speed; a policy without them has an empty list.
Reading ladders for save_by_escape gained 0.1% and cost another tenth.  From the empty 9×9 board one core plays 0.17
times as many rollouts as with the uniform policy and 0.64 times as many as with the tactical one.

Letters: n is the padded length of a board, F counts the local features, T is the size of a hash table.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import Positions, board_of
from gtp_engine.go.area import area_margin
from gtp_engine.go.board import (
    EMPTY_COUNT,
    HEIGHT,
    KO_COLOR,
    KO_POINT,
    STRIDE,
    WIDTH,
    Board,
    IntArray,
    clear_ko,
    copy_board,
    is_legal,
    play_assume_legal,
)
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WALL, WHITE, padded_length
from gtp_engine.go.tactics import would_be_self_atari
from gtp_engine.search.puct.expand import Results
from gtp_engine.search.rng import State, random_below
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT
from gtp_engine.search.rollouts.rollout_select import RolloutLeaves, leaf_board
from gtp_engine.training.alphago.neighborhoods import DIAMOND_SIZE, MANY_LIBERTIES, diamond_of, diamond_step, pattern_of
from gtp_engine.training.alphago.rollout_batches import Scratch

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

Sums = NDArray[np.float64]


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
    limit: int  # moves of a rollout at most
    weight: Annotated[Sums, 2, "n"]  # of a move on each empty point, local features aside; 0 elsewhere
    row_sum: Annotated[Sums, 2, "rows"]  # of the rows of the board, from 1
    total: Annotated[Sums, 2]
    row: IntArray  # [n] row of each point
    liberties: Annotated[IntArray, "n"]  # by head: 1 to MANY_LIBERTIES; 0 at 0
    first: Annotated[IntArray, "n"]  # by head: a liberty, if there are less than MANY_LIBERTIES
    second: Annotated[IntArray, "n"]  # by head: another one, if there are two
    pair: Annotated[IntArray, 2]  # liberties of one chain
    dirty: Annotated[IntArray, "n"]  # points whose patterns may have changed in this move
    stamp: Annotated[IntArray, "n"]  # by point: the move at which it was last put into `dirty`
    local_point: Annotated[IntArray, _MOST_LOCAL]  # points with local features
    local_feature: Annotated[IntArray, _MOST_LOCAL]  # the features of these, one by one
    point: Annotated[IntArray, _MOST_LOCAL]  # the points once each
    local_weight: Annotated[Sums, _MOST_LOCAL]  # their weights with local features
    info: Annotated[IntArray, _INFO_SIZE]  # CAPTURED_FROM …


def new_linear_work(tables: LinearTables, width: int, height: int, limit: int = 0) -> LinearWork:
    """Return work arrays for boards of this size, and rollouts of up to `limit` moves; 0: as others."""
    n, limit = padded_length(width, height), limit or MOVES_PER_POINT * width * height
    row = np.minimum(np.arange(n) // (width + 1), height).astype(np.int32)
    return zeros(LinearWork, n=n, rows=height + 1, tables=tables, limit=limit, row=row)


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
                    count = _add_local(color, work, count, wide(work.first[other]), wide(SAVE_BY_CAPTURE))
            stone = wide(board.next_stone[stone])
            if stone == head:
                break
        liberty = wide(work.first[head])
        if is_legal(board, liberty, color, False) and not would_be_self_atari(board, liberty, color):
            count = _add_local(color, work, count, liberty, wide(SAVE_BY_ESCAPE))
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
        count = _add_local(color, work, count, vital, wide(NAKADE))
    return count


@inlined_kernel
def _add_local(color: int, work: LinearWork, count: int, point: int, feature: int) -> int:
    """Return the number of local features after adding one, unless it is known already or the move is not possible."""
    if work.weight[color - BLACK, point] == 0.0 or count >= MOST_URGENT:
        return count
    for i in range(count):
        if work.local_point[i] == point and work.local_feature[i] == feature:
            return count
    work.local_point[count] = point
    work.local_feature[count] = feature
    return count + 1


@kernel
def play_out_linear(
    board: Board, color: int, last: int, work: LinearWork, rng: State, first_player: NDArray[np.int8]
) -> int:
    """Return the number of moves played by the policy to the end of the game; see `rollout.play_out`."""
    color, last = wide(color), wide(last)
    passes = 0
    moves = 0
    begin_linear(board, work)
    while passes < 2 and moves < work.limit:
        point = draw_linear(board, color, last, work, rng)
        if point == PASS:
            passes += 1
            clear_ko(board)
        else:
            passes = 0
            play_linear(board, work, point, color)
        if first_player[point] == 0:
            first_player[point] = color
        last = point
        color = BLACK + WHITE - color
        moves += 1
    return moves


@kernel
def play_leaves_linear(leaves: RolloutLeaves, begin: int, end: int, work: LinearWork) -> None:
    """Play out the boards of the rows begin … end − 1 in which the game is not over."""
    for row in range(begin, end):
        board = leaf_board(leaves, row)
        if leaves.is_over[row] == 0:
            color, last = wide(leaves.color[row]), wide(leaves.last[row])
            play_out_linear(board, color, last, work, leaves.rng[row], leaves.first_player[row])


@kernel
def play_rows_linear(positions: Positions, count: int, results: Results, scratch: Scratch, work: LinearWork) -> None:
    """Write into `results` how the first `count` rows of `positions` (not changed) end; see `play_out_linear`."""
    for slot in range(count):
        copy_board(scratch.board, board_of(positions, slot, wide(0)))
        color, last = wide(positions.to_play[slot]), wide(positions.points[slot, 0])
        moves = play_out_linear(scratch.board, color, last, work, scratch.rng, scratch.first_player)
        results.finished[slot] = wide(moves < work.limit)
        results.margin[slot] = area_margin(scratch.board, scratch.queue, results.owner[slot])
