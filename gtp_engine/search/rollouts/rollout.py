"""Rollouts: playing a position out to the end with a fast policy, and counting the result.

Two policies.  UNIFORM plays any legal move that does not fill an own eye.  TACTICAL first answers the last move: it
captures the stones just played, or saves a chain of its own that they put in atari (by a capture, or by an escape that
no ladder catches); otherwise it plays a move around them that fits a 3×3 pattern, and only then a random one, seldom a
self-atari.  The order is that of MoGo (Gelly, Wang, Munos and Teytaud 2006).

A rollout ends with two passes or after `MOVES_PER_POINT` moves per point of the board.  Only simple ko is observed: the
limit on the moves ends the rare longer cycles.  The result is the area of the final position, in which every
empty point is an eye or cannot be played by either side.  What the rules count besides (a tax, the button) is added by
the caller that knows them.

This is one rollout of one position.  The search without a network calls it for its leaves (`rollout_select`).  Both
searches can be handed players that choose moves otherwise, as AlphaGo's do (`training.alphago.rollout_players`).

Speed, on a Zen 4 core: a uniform rollout on 9×9 takes 10.4 µs for 112 moves, of which putting down and capturing stones
takes 58 ns a move and choosing them 35 ns; copying the board takes 0.07 µs.  Branches and loads that depend on each
other bound it, not memory.  Bitboards (two words for 9×9, chains found by filling) played uniform rollouts 1.6 to 1.9
times as fast; they are not used, because the searches play the other two policies, which ask for chains in atari at
every move, and a second kind of board would double the code.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.board import (
    EMPTY_COUNT,
    HEIGHT,
    STRIDE,
    WIDTH,
    Board,
    IntArray,
    add_once,
    atari_liberty,
    clear_ko,
    has_empty_neighbor,
    is_in_atari,
    is_legal,
    play_assume_legal,
)
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WALL, WHITE
from gtp_engine.go.ladder import LadderWork, new_ladder_work
from gtp_engine.go.tactics import is_escape, is_eye, would_be_self_atari
from gtp_engine.search.rng import State, random_below
from gtp_engine.search.rollouts.patterns import PatternTable, fits_pattern, pattern_table

UNIFORM: Final = 0
TACTICAL: Final = 1
POLICIES: Final = {"uniform": UNIFORM, "tactical": TACTICAL}

MOVES_PER_POINT: Final = 3
"""A rollout is cut off after this many moves per point; games without long cycles take 1.1 to 1.4."""

SELF_ATARI_DENOMINATOR: Final = 8
"""A random move of the tactical policy that is self-atari is accepted once in this many times: now and then it
is the throw-in or the nakade that kills."""

_CANDIDATES: Final = 32
"""Most candidates that are collected around the last move."""


class RolloutWork(NamedTuple):
    """Work arrays of one thread that plays rollouts."""

    ladder: LadderWork
    candidates: IntArray  # [_CANDIDATES]
    patterns: PatternTable


def new_rollout_work(width: int, height: int) -> RolloutWork:
    """Return work arrays for boards of this size."""
    return RolloutWork(new_ladder_work(width, height), np.zeros(_CANDIDATES, dtype=np.int32), pattern_table())


@inlined_kernel
def _add_candidate(work: RolloutWork, count: int, point: int) -> int:
    """Return the number of candidates after adding `point`, unless it is there already or the list is full."""
    return add_once(point, work.candidates, count) if count < work.candidates.size else count


@spliced_kernel
def _add_rescues(board: Board, head: int, color: int, work: RolloutWork, count: int) -> int:
    """Return the number of candidates after adding the moves that save the chain of `color` in atari named `head`."""
    stride = wide(board.info[STRIDE])
    enemy = BLACK + WHITE - color
    stone = wide(head)
    for _ in range(board.size[head]):
        for step in (-1, 1, -stride, stride):
            neighbor = stone + step
            if board.color[neighbor] == enemy and is_in_atari(board, wide(board.head[neighbor])):
                liberty = wide(atari_liberty(board, wide(board.head[neighbor])))
                if is_legal(board, liberty, color, False):
                    count = _add_candidate(work, count, liberty)
        stone = wide(board.next_stone[stone])
    liberty = wide(atari_liberty(board, wide(head)))
    if is_legal(board, liberty, color, False) and is_escape(board, liberty, color, work.ladder):
        count = _add_candidate(work, count, liberty)
    return count


@spliced_kernel
def _tactical_candidates(board: Board, color: int, last: int, work: RolloutWork) -> int:
    """Return the number of candidates that answer the last move by capturing its chain or saving one beside it."""
    stride = wide(board.info[STRIDE])
    count = wide(0)
    if board.color[last] == BLACK + WHITE - color and is_in_atari(board, wide(board.head[last])):
        liberty = wide(atari_liberty(board, wide(board.head[last])))
        if is_legal(board, liberty, color, False):
            count = _add_candidate(work, count, liberty)
    for step in (-1, 1, -stride, stride):
        neighbor = last + step
        if board.color[neighbor] == color and is_in_atari(board, wide(board.head[neighbor])):
            count = _add_rescues(board, wide(board.head[neighbor]), color, work, count)
    return count


@spliced_kernel
def _pattern_candidates(board: Board, color: int, last: int, work: RolloutWork) -> int:
    """Return the number of candidates around the last move that fit a pattern and are not self-atari."""
    stride = wide(board.info[STRIDE])
    count = wide(0)
    for step in (-stride - 1, -stride, -stride + 1, -1, 1, stride - 1, stride, stride + 1):
        point = last + step
        if (
            board.color[point] == EMPTY
            and fits_pattern(board, point, color, work.patterns)
            and is_legal(board, point, color, False)
            and not would_be_self_atari(board, point, color)
        ):
            count = _add_candidate(work, count, point)
    return count


@inlined_kernel
def _random_move(board: Board, color: int, self_ataris: int, rng: State) -> int:
    """Return a random legal move that fills no own eye, or PASS; self-ataris once in `self_ataris` times (0: always).

    Draws from the list of empty points without replacement: a point that is refused moves behind those not yet drawn.
    The order of that list is free, so nothing has to be restored.
    """
    left = wide(board.info[EMPTY_COUNT])
    while left > 0:
        place = random_below(rng, left)
        point = wide(board.empties[place])
        playable = has_empty_neighbor(board, point) or (
            not is_eye(board, point, color) and is_legal(board, point, color, False)
        )
        if playable and self_ataris > 0 and would_be_self_atari(board, point, color):
            playable = random_below(rng, self_ataris) == 0
        if playable:
            return point
        left -= 1
        other = board.empties[left]
        board.empties[place] = other
        board.empty_at[other] = place
        board.empties[left] = point
        board.empty_at[point] = left
    return PASS


@spliced_kernel
def _tactical_move(board: Board, color: int, last: int, work: RolloutWork, rng: State) -> int:
    """Return the move of the tactical policy after an opponent's move on `last` (PASS or NULL_POINT: none)."""
    if last > PASS:
        count = _tactical_candidates(board, color, last, work)
        if count == 0:
            count = _pattern_candidates(board, color, last, work)
        if count > 0:
            return wide(work.candidates[random_below(rng, count)])
    return _random_move(board, color, wide(SELF_ATARI_DENOMINATOR), rng)


@kernel
def play_out(
    board: Board,
    color: int,
    last: int,
    policy: int,
    work: RolloutWork,
    rng: State,
    first_player: NDArray[np.int8],
    limit: int = 0,
) -> int:
    """Return the number of moves played from the position to the end of the game, leaving it on `board`.

    `color` is to play, `last` the opponent's last move (PASS and NULL_POINT allowed).  Sets first_player[p], int8[n],
    where it is still 0, to the colour that first plays on p, and first_player[PASS] to the one that first passes.  At
    most `limit` moves are played; 0: as many as the module's docstring says.
    """
    if limit == 0:
        limit = MOVES_PER_POINT * wide(board.info[WIDTH]) * wide(board.info[HEIGHT])
    color, last = wide(color), wide(last)
    passes = 0
    moves = 0
    while passes < 2 and moves < limit:
        if policy == TACTICAL:
            point = _tactical_move(board, color, last, work, rng)
        else:
            point = _random_move(board, color, wide(0), rng)  # a literal 0 would be compiled as another signature
        if point == PASS:
            passes += 1
            clear_ko(board)
        else:
            passes = 0
            play_assume_legal(board, point, color)
        if first_player[point] == 0:
            first_player[point] = color
        last = point
        color = BLACK + WHITE - color
        moves += 1
    return moves


@kernel
def count_area(board: Board, owner: IntArray) -> int:
    """Return the area of Black minus that of White in a position played out, and add it to the ownership.

    Adds 1 to owner[p], int32[n], where Black owns the point, −1 where White does.  An empty point belongs to the colour
    of the stones beside it, to neither if both colours are; larger empty areas are not searched.
    """
    colors, stride = board.color, wide(board.info[STRIDE])
    margin = 0
    for point in range(stride, colors.size - stride):
        stone = colors[point]
        if stone == WALL:
            continue
        if stone == EMPTY:
            seen = 0
            for step in (-1, 1, -stride, stride):
                neighbor = colors[point + step]
                if neighbor != WALL:
                    seen |= neighbor
            stone = seen  # BLACK | WHITE is neither
        value = wide(stone == BLACK) - wide(stone == WHITE)
        owner[point] += value
        margin += value
    return margin
