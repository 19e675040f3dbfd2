"""Properties of one move: what it captures, whether it is self-atari, whether it saves a chain."""

from gtp_engine._jit import inlined_kernel, kernel, wide
from gtp_engine.go.board import STRIDE, Board, is_in_atari, liberties_into
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
