"""Properties of one point: what a move there captures, whether it is self-atari, whether it saves a chain; eyes.

An *eye shape* of a colour is an empty point whose neighbours are all stones of that colour or the edge.  It becomes a
*false* eye when the opponent holds enough of its diagonal points to force one of the surrounding chains to connect by
filling it: two of them in the middle of the board, one at an edge or in a corner.  These are the local rules of Monte
Carlo Go programs (Gelly, Wang, Munos and Teytaud 2006); `benson` decides whether a group lives.
"""

import numpy as np

from gtp_engine.compiled.jit import inlined_kernel, kernel, wide
from gtp_engine.go.board import STRIDE, Board, IntArray, is_in_atari, liberties_into
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE
from gtp_engine.go.ladder import LadderWork, count_empty_neighbors, working_attacks_into
from gtp_engine.go.undo import play_recorded, undo


@inlined_kernel
def would_be_self_atari(board: Board, point: int, color: int) -> bool:
    """Return whether the legal move `color` on `point` would leave the stone's chain with a single liberty.

    A move that captures is never self-atari here (the captured stones leave liberties, or it takes a ko).  The sums of
    pseudo-liberties after the move are computed without playing it.
    """
    colors, stride = board.color, wide(board.info[STRIDE])
    count, total, squares = wide(0), wide(0), wide(0)
    done_1, done_2, done_3 = wide(0), wide(0), wide(0)  # heads already counted: kernels cannot allocate a set
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        stone = colors[neighbor]
        if stone == WALL:
            continue
        if stone == EMPTY:
            count += 1
            total += neighbor
            squares += neighbor * neighbor
            continue
        head = wide(board.head[neighbor])
        if stone != color:
            if is_in_atari(board, head):
                return False
        elif head != done_1 and head != done_2 and head != done_3:
            count += board.libs[head]
            total += board.lib_sum[head]
            squares += board.lib_squares[head]
            done_1, done_2, done_3 = head, done_1, done_2
        if stone == color:  # every contact counts the point itself as a liberty of that chain once
            count -= 1
            total -= point
            squares -= point * point
    return count * squares == total * total


@kernel
def count_captures(board: Board, point: int, color: int) -> int:
    """Return how many stones a legal move of `color` on `point` captures."""
    colors, stride = board.color, wide(board.info[STRIDE])
    captured = 0
    done_1, done_2, done_3 = wide(0), wide(0), wide(0)
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        if colors[neighbor] == BLACK + WHITE - color:
            head = wide(board.head[neighbor])
            if head != done_1 and head != done_2 and head != done_3 and is_in_atari(board, head):
                captured += board.size[head]
                done_1, done_2, done_3 = head, done_1, done_2
    return captured


@kernel
def is_escape(board: Board, liberty: int, color: int, work: LadderWork) -> bool:
    """Return whether the legal move `color` on `liberty` results in a chain that cannot be captured in a ladder.

    The chain must get three liberties, or two from which no series of ataris captures it.
    """
    if count_empty_neighbors(board, liberty) >= 3:
        return True
    record = work.records[work.records.shape[0] - 2]
    play_recorded(board, liberty, color, record)
    count = liberties_into(board, liberty, work.liberties)
    escapes = count >= 3 or (count == 2 and working_attacks_into(board, liberty, work, work.working) == 0)
    undo(board, record)
    return escapes


@inlined_kernel
def is_eye_shape(board: Board, point: int, color: int) -> bool:
    """Return whether all four neighbours of `point`, assumed empty, are stones of `color` or the edge."""
    colors, stride = board.color, wide(board.info[STRIDE])
    for step in (-1, 1, -stride, stride):
        neighbor = colors[point + step]
        if neighbor != color and neighbor != WALL:
            return False
    return True


@inlined_kernel
def is_eye(board: Board, point: int, color: int) -> bool:
    """Return whether `point`, assumed empty, is an eye of `color` that is not false in the current position.

    Only enemy *stones* on the diagonals count against it: the rule for random play, which fills empty diagonals later.
    """
    if not is_eye_shape(board, point, color):
        return False
    colors, stride = board.color, wide(board.info[STRIDE])
    enemies, walls = 0, 0
    for step in (-stride - 1, -stride + 1, stride - 1, stride + 1):
        diagonal = colors[point + step]
        enemies += wide(diagonal == BLACK + WHITE - color)
        walls |= wide(diagonal == WALL)
    # Two diagonals off the board, or three in a corner, count as one enemy stone: there one more makes the eye false.
    return enemies + walls < 2


@kernel
def is_real_eye(board: Board, point: int, color: int) -> bool:
    """Return whether `point`, assumed empty, is an eye of `color` that the opponent cannot make false.

    Stricter than `is_eye`: a diagonal point is secure only if it holds a stone of `color` or is an eye shape of
    `color`; all but one must be secure in the middle of the board, all of them at an edge or in a corner.
    """
    if not is_eye_shape(board, point, color):
        return False
    colors, stride = board.color, wide(board.info[STRIDE])
    insecure, walls = 0, 0
    for step in (-stride - 1, -stride + 1, stride - 1, stride + 1):
        diagonal = colors[point + step]
        if diagonal == WALL:
            walls = 1
        elif diagonal != color and not (diagonal == EMPTY and is_eye_shape(board, point + step, color)):
            insecure += 1
    return insecure + walls < 2


@kernel
def eye_map(board: Board, out: IntArray) -> None:
    """Set out[p], int32[n]: 1 for a real eye, 2 for an eye shape that is or can become false, 0 elsewhere."""
    for point in range(board.color.size):
        out[point] = 0
        if board.color[point] != EMPTY:
            continue
        for color in (BLACK, WHITE):
            if is_real_eye(board, point, color):
                out[point] = 1
            elif is_eye_shape(board, point, color):
                out[point] = 2


def real_eyes(board: Board, color: int) -> list[int]:
    """Return the points that are eyes of `color` and cannot become false, see `eye_map`."""
    marks, colors = np.zeros_like(board.color), board.color
    eye_map(board, marks)
    found = np.flatnonzero(marks == 1)  # all their neighbours are of one colour, or the edge
    return [int(point) for point in found[(colors[found - 1] == color) | (colors[found + 1] == color)]]
