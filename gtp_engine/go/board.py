"""Stones on a board: placing, capturing, simple ko, hash.  Compiled kernels over a NamedTuple of arrays.

Not here: history, hence superko, passes and the side to play (`game.Game`), and the score (`scoring`).

Layout.  A board of width W and height H is a 1-D array with a wall around it and n = (W+1)(H+2)+1 entries:

    point = (x + 1) + (y + 1) * stride,   stride = W + 1,   x from the left, y from the top

so the neighbours of p are p-1, p+1, p-stride, p+stride, and one wall column serves both sides.  All arrays indexed by
a point have length n.  Stones of one chain form a circular list through `next_stone`; `head` names the chain by one of
its stones, and the chain's size and liberties are stored at that point.

Liberties are *pseudo*-liberties: a liberty is counted once for every stone it touches.  Count, sum and sum of squares
of their points are updated by additions alone.  The count is 0 exactly when the chain has no liberty, and
count * squares == sum**2 (Cauchy-Schwarz) exactly when it has a single one, which then is sum / count.  That decides
capture and atari, which is all that random play needs; exact counts come from walking the chain (`liberties_into`).

Empty points and walls have head 0.  The liberty arrays hold garbage at index 0: updates write there instead of testing
whether a neighbour is a stone, because a branch that the processor cannot predict is slower.

The hash (Zobrist, 1970) is the exclusive or of one random number per stone and one for the board's size.  A move
changes it by a few exclusive ors, and equal positions have equal hashes on every machine and in every run.

Speed: all int32 fields are views of one buffer, so that copying a board is one memory copy.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, wide
from gtp_engine.go.constants import BLACK, EMPTY, KEYS, NULL_POINT, PASS, WALL, WHITE, padded_length, size_key

IntArray = NDArray[np.int32]

WIDTH: Final = 0
HEIGHT: Final = 1
STRIDE: Final = 2
KO_POINT: Final = 3
"""Point where KO_COLOR may not recapture a simple ko, or NULL_POINT; any move or pass lifts it (`clear_ko`)."""
KO_COLOR: Final = 4
EMPTY_COUNT: Final = 5
CAPTURED: Final = 6
"""info[CAPTURED + BLACK] and info[CAPTURED + WHITE]: stones of that colour captured so far."""
INFO_SIZE: Final = 16

TABLE: Final = np.array(KEYS, dtype=np.uint64)
"""`constants.KEYS` as an array, uint64[3, MAX_POINTS], which kernels read as a constant."""


class Board(NamedTuple):
    """The arrays of one board, see the module docstring; `n` is the padded length."""

    storage: IntArray  # int32[INFO_SIZE + 9 n], the buffer that the int32 fields below are views of
    info: IntArray  # int32[INFO_SIZE], indexed by WIDTH … CAPTURED
    color: IntArray  # [n] EMPTY, BLACK, WHITE or WALL
    head: IntArray  # [n] the head of the stone's chain, 0 for empty points and walls
    next_stone: IntArray  # [n] next stone of the same chain, circular
    size: IntArray  # [head] stones of the chain
    libs: IntArray  # [head] pseudo-liberties
    lib_sum: IntArray  # [head] sum of their points
    lib_squares: IntArray  # [head] sum of their squares; below 2**31: at most 1200 contacts, points below 703
    empties: IntArray  # [0 … EMPTY_COUNT) the empty points in no particular order
    empty_at: IntArray  # [n] position of an empty point in `empties`
    hash: NDArray[np.uint64]  # uint64[1], Zobrist hash of the stones and the board's size


def storage_length(width: int, height: int) -> int:
    """Return the length of a board's int32 buffer."""
    return INFO_SIZE + 9 * padded_length(width, height)


def new_board(width: int, height: int) -> Board:
    """Return an empty board; sizes (MIN_SIZE … MAX_SIZE) are not checked."""
    storage = np.zeros(storage_length(width, height), dtype=np.int32)
    board = view_storage(storage, np.zeros(1, dtype=np.uint64), padded_length(width, height))
    board.hash[0] = np.uint64(size_key(width, height))
    board.info[WIDTH], board.info[HEIGHT], board.info[STRIDE] = width, height, width + 1
    board.color[:] = WALL
    for y in range(height):
        row = (y + 1) * (width + 1) + 1
        board.color[row : row + width] = EMPTY
    points = np.flatnonzero(board.color == EMPTY)
    board.empties[: points.size] = points
    board.empty_at[points] = np.arange(points.size)
    board.info[EMPTY_COUNT] = points.size
    return board


def clone(board: Board) -> Board:
    """Return an independent copy of a board."""
    return view_storage(board.storage.copy(), board.hash.copy(), board.color.size)


def view_storage(storage: IntArray, hash: NDArray[np.uint64], n: int) -> Board:
    """Return the board whose int32 fields are views of `storage` (int32[INFO_SIZE + 9 n]); nothing is copied."""
    start = INFO_SIZE
    return Board(
        storage,
        storage[:start],
        storage[start : start + n],
        storage[start + n : start + 2 * n],
        storage[start + 2 * n : start + 3 * n],
        storage[start + 3 * n : start + 4 * n],
        storage[start + 4 * n : start + 5 * n],
        storage[start + 5 * n : start + 6 * n],
        storage[start + 6 * n : start + 7 * n],
        storage[start + 7 * n : start + 8 * n],
        storage[start + 8 * n : start + 9 * n],
        hash,
    )


view_storage_in_kernel = kernel(view_storage)
"""`view_storage` for kernels; Python calls the plain function, as no kernel may return an array (`compiled.jit`)."""


@kernel
def copy_board(target: Board, source: Board) -> None:
    """Make `target`, a board of the same size, equal to `source`."""
    for i in range(source.storage.size):  # a slice assignment would allocate, in case the two overlap
        target.storage[i] = source.storage[i]
    target.hash[0] = source.hash[0]


@kernel
def clear_ko(board: Board) -> None:
    """Lift the simple-ko ban: the effect of a pass on a board."""
    board.info[KO_POINT] = NULL_POINT


@inlined_kernel
def has_empty_neighbor(board: Board, point: int) -> bool:
    """Return whether a point next to `point` is empty."""
    color, stride = board.color, wide(board.info[STRIDE])
    return bool(
        color[point - 1] == EMPTY
        or color[point + 1] == EMPTY
        or color[point - stride] == EMPTY
        or color[point + stride] == EMPTY
    )


@inlined_kernel
def _step(k: int, stride: int) -> int:
    """Return the offset of neighbour number k: 0 left, 1 right, 2 up, 3 down."""
    if k < 2:
        return 2 * k - 1
    return stride if k == 3 else -stride


@inlined_kernel
def is_in_atari(board: Board, head: int) -> bool:
    """Return whether the chain named `head` has exactly one liberty."""
    count = board.libs[head]
    total = wide(board.lib_sum[head])
    # The products need 64 bits.
    return bool(count > 0 and wide(count) * wide(board.lib_squares[head]) == total * total)


@inlined_kernel
def atari_liberty(board: Board, head: int) -> int:
    """Return the only liberty of a chain in atari, which is not checked."""
    return wide(board.lib_sum[head] // board.libs[head])


@inlined_kernel
def is_legal(board: Board, point: int, color: int, suicide: bool) -> bool:
    """Return whether `color` may play on `point`: empty, no simple-ko recapture, no forbidden suicide.

    `point` lies in the padded array (a wall point is not empty, so not legal).  `suicide` allows a move that leaves its
    own chain of two or more stones without liberties; suicide of a single stone never is legal.  Superko is not
    checked.  Liberty counts are changed and restored, so two threads must not call this on one board at the same time.
    """
    if board.color[point] != EMPTY or (point == board.info[KO_POINT] and color == board.info[KO_COLOR]):
        return False
    if has_empty_neighbor(board, point):
        return True
    stride = wide(board.info[STRIDE])
    lives = False
    connects = False
    # A chain may touch the point on several sides, so subtracting all contacts at once is the simplest exact count.
    for step in (-1, 1, -stride, stride):  # subtract the pseudo-liberties at this point …
        neighbor = point + step
        if board.color[neighbor] != WALL:
            board.libs[board.head[neighbor]] -= 1
    for step in (-1, 1, -stride, stride):  # … test which chains would have none left …
        neighbor = point + step
        stone = board.color[neighbor]
        if stone == WALL:
            continue
        if stone == color:
            connects = True
            lives |= board.libs[board.head[neighbor]] > 0
        else:
            lives |= board.libs[board.head[neighbor]] == 0
    for step in (-1, 1, -stride, stride):  # … and add them again.
        neighbor = point + step
        if board.color[neighbor] != WALL:
            board.libs[board.head[neighbor]] += 1
    return lives or (suicide and connects)


@inlined_kernel
def add_to_empties(board: Board, point: int) -> None:
    """Append `point` to the list of empty points."""
    count = board.info[EMPTY_COUNT]
    board.empties[count] = point
    board.empty_at[point] = count
    board.info[EMPTY_COUNT] = count + 1


@inlined_kernel
def remove_from_empties(board: Board, point: int) -> None:
    """Remove `point` from the list of empty points; the last entry takes its place."""
    last = board.info[EMPTY_COUNT] - 1
    moved = board.empties[last]
    place = board.empty_at[point]
    board.empties[place] = moved
    board.empty_at[moved] = place
    board.info[EMPTY_COUNT] = last


@inlined_kernel
def add_stone(board: Board, point: int, color: int) -> None:
    """Put a stone of `color` on an empty point, as a chain of its own, and update the liberties around it.

    Neighbours of the same colour are not joined yet (`merge`), and chains without liberties stay on the board.
    """
    info = board.info
    board.color[point] = color
    board.head[point] = point
    board.next_stone[point] = point
    board.size[point] = 1
    board.hash[0] ^= TABLE[color, point]
    remove_from_empties(board, point)
    stride = wide(info[STRIDE])
    count, total, squares = 0, 0, 0
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        empty = wide(board.color[neighbor] == EMPTY)  # 0 or 1: a factor instead of a branch
        count += empty
        total += empty * neighbor
        squares += empty * neighbor * neighbor
        chain = board.head[neighbor]  # 0 for empty points and walls, whose entries have no meaning
        board.libs[chain] -= 1
        board.lib_sum[chain] -= point
        board.lib_squares[chain] -= point * point
    board.libs[point] = count
    board.lib_sum[point] = total
    board.lib_squares[point] = squares


@inlined_kernel
def merge(board: Board, a: int, b: int) -> None:
    """Join two different chains of one colour, given by their heads; the larger one keeps its head."""
    if board.size[a] < board.size[b]:  # fewer stones change their head
        a, b = b, a
    board.size[a] += board.size[b]
    board.libs[a] += board.libs[b]
    board.lib_sum[a] += board.lib_sum[b]
    board.lib_squares[a] += board.lib_squares[b]
    stone = b
    for _ in range(board.size[b]):
        board.head[stone] = a
        stone = board.next_stone[stone]
    # Exchanging one successor each turns two circular lists into one (and one into two, see `undo`).
    board.next_stone[a], board.next_stone[b] = board.next_stone[b], board.next_stone[a]


@kernel
def remove_chain(board: Board, head: int) -> None:
    """Remove a chain and give its points as liberties to the chains around it.

    `next_stone` of its points is left unchanged: `undo` walks that list to put the chain back.
    """
    info = board.info
    color = board.color[head]
    stride = wide(info[STRIDE])
    info[CAPTURED + color] += board.size[head]
    stone = head
    for _ in range(board.size[head]):
        board.color[stone] = EMPTY
        board.head[stone] = 0
        board.hash[0] ^= TABLE[color, stone]
        add_to_empties(board, stone)
        for step in (-1, 1, -stride, stride):
            neighbor = stone + step
            chain = board.head[neighbor]
            board.libs[chain] += 1
            board.lib_sum[chain] += stone
            board.lib_squares[chain] += stone * stone
        stone = board.next_stone[stone]


@inlined_kernel
def play_assume_legal(board: Board, point: int, color: int) -> int:
    """Return the number of opponent's stones captured by `color` on `point`, or minus the stones of a suicide.

    `point` must be empty; legality is not checked.  Updates every field, including the ko point.
    """
    add_stone(board, point, color)
    stride = wide(board.info[STRIDE])
    enemy = BLACK + WHITE - color
    captured, last_captured = wide(0), wide(NULL_POINT)  # variables, as literals would compile `set_ko` once more
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        stone = board.color[neighbor]
        if stone == color:
            if board.head[neighbor] != board.head[point]:
                merge(board, wide(board.head[neighbor]), wide(board.head[point]))
        elif stone == enemy and board.libs[board.head[neighbor]] == 0:
            captured += board.size[board.head[neighbor]]
            last_captured = neighbor
            remove_chain(board, wide(board.head[neighbor]))
    head = wide(board.head[point])
    if board.libs[head] == 0:  # after the captures, which may have given the chain liberties: suicide
        captured = -wide(board.size[head])
        remove_chain(board, head)
    set_ko(board, point, captured, last_captured)
    return captured


@kernel
def set_up_stone(board: Board, point: int, color: int) -> None:
    """Put a stone of `color` on an empty point and join it with the chains beside it; nothing is captured."""
    add_stone(board, point, color)
    stride = wide(board.info[STRIDE])
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        if board.color[neighbor] == color and board.head[neighbor] != board.head[point]:
            merge(board, wide(board.head[neighbor]), wide(board.head[point]))


@kernel
def play_or_pass(board: Board, point: int, color: int) -> None:
    """Play a move, which is assumed to be legal, or a pass."""
    if point == PASS:
        clear_ko(board)
    else:
        play_assume_legal(board, point, color)


@kernel
def _play_all(board: Board, setup: IntArray, moves: IntArray) -> None:
    """Set up stones and play moves, rows of colour and point; see `play_moves`."""
    for i in range(setup.shape[0]):
        set_up_stone(board, wide(setup[i, 1]), wide(setup[i, 0]))
    for i in range(moves.shape[0]):
        play_or_pass(board, wide(moves[i, 1]), wide(moves[i, 0]))


def play_moves(board: Board, setup: Sequence[tuple[int, int]], moves: Sequence[tuple[int, int]]) -> None:
    """Set up stones on a board that is empty if there are any, and play moves, which are assumed to be legal."""
    _play_all(board, *(np.array(each, dtype=np.int32).reshape(-1, 2) for each in (setup, moves)))


@inlined_kernel
def set_ko(board: Board, point: int, captured: int, last_captured: int) -> None:
    """Set or lift the simple-ko ban after a stone on `point` has captured `captured` stones (negative: suicide)."""
    head = board.head[point]
    if captured == 1 and board.size[head] == 1 and board.libs[head] == 1:
        board.info[KO_POINT] = last_captured
        board.info[KO_COLOR] = BLACK + WHITE - board.color[point]
    else:
        board.info[KO_POINT] = NULL_POINT


@inlined_kernel
def add_once(point: int, out: IntArray, count: int) -> int:
    """Append `point` to the first `count` entries of `out` unless it is among them; return the new count.

    A linear search, for a handful of points.
    """
    for i in range(count):
        if out[i] == point:
            return count
    out[count] = point
    return count + 1


@kernel
def liberties_into(board: Board, point: int, out: IntArray) -> int:
    """Write the different liberties of the chain on `point` to `out`, at most out.size, and return how many."""
    color, stride = board.color, wide(board.info[STRIDE])
    limit = out.size
    count = 0
    stone = point
    while True:
        for step in (-1, 1, -stride, stride):
            neighbor = stone + step
            if color[neighbor] == EMPTY:
                known = False  # a linear search: callers want a handful of liberties
                for i in range(count):
                    if out[i] == neighbor:
                        known = True
                        break
                if not known:
                    out[count] = neighbor
                    count += 1
                    if count == limit:
                        return count
        stone = board.next_stone[stone]
        if stone == point:
            break
    return count


@kernel
def count_liberties(board: Board, out: IntArray) -> None:
    """Set out[head] to the number of liberties of every chain, int32[n]; other entries have no meaning.

    Faster for all chains at once: it visits each empty point once, where `liberties_into` walks along one chain.
    """
    head, stride = board.head, wide(board.info[STRIDE])
    for point in range(out.size):
        out[point] = 0
    for i in range(board.info[EMPTY_COUNT]):
        point = wide(board.empties[i])
        left, right, up, down = head[point - 1], head[point + 1], head[point - stride], head[point + stride]
        out[left] += 1  # index 0, the head of walls and empty points, has no meaning
        out[right] += wide(right != left)
        out[up] += wide(up != left and up != right)
        out[down] += wide(down != left and down != right and down != up)


@kernel
def hash_after(board: Board, point: int, color: int) -> Any:
    """Return the hash (uint64) of the position after `color` plays on `point`, which is assumed to be legal.

    The board is not changed: superko tests a move before it is played.
    """
    if point <= PASS:  # PASS and NULL_POINT change no stone
        return board.hash[0]
    stride = wide(board.info[STRIDE])
    result = board.hash[0] ^ TABLE[color, point]
    lives = has_empty_neighbor(board, point)
    for k in range(4):
        neighbor = point + _step(k, stride)
        stone = board.color[neighbor]
        if stone == EMPTY or stone == WALL:
            continue
        chain = board.head[neighbor]
        contacts, is_first = 1, True  # a chain that touches the point on several sides is captured once
        for j in range(4):
            if j != k and board.head[point + _step(j, stride)] == chain:
                contacts += 1
                is_first &= j > k
        left = board.libs[chain] - contacts
        if stone == color:
            lives |= left > 0
        elif left == 0:
            lives = True
            if is_first:
                result ^= _chain_hash(board, chain)
    if not lives:  # suicide: the new stone and every chain that it joins are removed
        result = board.hash[0]
        for k in range(4):
            chain = board.head[point + _step(k, stride)]
            is_first = chain != 0 and board.color[chain] == color
            for j in range(k):
                is_first &= board.head[point + _step(j, stride)] != chain
            if is_first:
                result ^= _chain_hash(board, chain)
    return result


@kernel
def _chain_hash(board: Board, head: int) -> Any:
    """Return the exclusive or (uint64) of the Zobrist numbers of a chain's stones."""
    color = board.color[head]
    result = np.uint64(0)
    stone = head
    for _ in range(board.size[head]):
        result ^= TABLE[color, stone]
        stone = board.next_stone[stone]
    return result


@kernel
def stones_placed(board: Board) -> int:
    """Return the stones Black has put on the board, captured ones included, minus White's."""
    balance = wide(board.info[CAPTURED + BLACK]) - wide(board.info[CAPTURED + WHITE])
    for point in range(board.color.size):
        balance += wide(board.color[point] == BLACK) - wide(board.color[point] == WHITE)
    return balance
