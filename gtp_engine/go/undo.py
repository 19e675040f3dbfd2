"""Moves that can be taken back, for reading ahead on one board.

A record is a row of int32[RECORD_SIZE].  Moves must be undone in the reverse order of playing them; then every field
of the board is restored, except for the order of the list of empty points, which has no meaning.  A move and its undo
touch a few dozen numbers, where copying the board would touch thousands.

Layout of a record: point, colour, ko point and ko colour before, `next_stone` of the point before, stones captured,
number of chains joined, number of chains removed, then 4 × (head kept, head joined, its size, pseudo-liberties, their
sum, their squares), then 5 × (head removed, its size).
"""

from typing import Final

from gtp_engine.compiled.jit import kernel, wide
from gtp_engine.go.board import (
    CAPTURED,
    KO_COLOR,
    KO_POINT,
    STRIDE,
    TABLE,
    Board,
    IntArray,
    add_stone,
    add_to_empties,
    merge,
    remove_chain,
    remove_from_empties,
    set_ko,
)
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, WHITE

_POINT: Final = 0
_COLOR: Final = 1
_KO_POINT: Final = 2
_KO_COLOR: Final = 3
_NEXT: Final = 4
_MERGES: Final = 5
_REMOVALS: Final = 6
_MERGE_ROWS: Final = 7
_MERGE_SIZE: Final = 6
_REMOVAL_ROWS: Final = _MERGE_ROWS + 4 * _MERGE_SIZE
_REMOVAL_SIZE: Final = 2
RECORD_SIZE: Final = _REMOVAL_ROWS + 5 * _REMOVAL_SIZE


@kernel
def _record_merge(board: Board, a: int, b: int, record: IntArray) -> None:
    """Join the chains named `a` and `b`, and write to `record` the values that `_unmerge` needs."""
    if board.size[a] < board.size[b]:  # as `merge` does: `b` is the chain whose head disappears
        a, b = b, a
    row = _MERGE_ROWS + record[_MERGES] * _MERGE_SIZE
    record[row] = a
    record[row + 1] = b
    record[row + 2] = board.size[b]
    record[row + 3] = board.libs[b]
    record[row + 4] = board.lib_sum[b]
    record[row + 5] = board.lib_squares[b]
    record[_MERGES] += 1
    merge(board, a, b)


@kernel
def _record_removal(board: Board, head: int, record: IntArray) -> int:
    """Remove a chain, write it to `record`, and return the number of its stones."""
    row = _REMOVAL_ROWS + record[_REMOVALS] * _REMOVAL_SIZE
    size = wide(board.size[head])
    record[row] = head
    record[row + 1] = size
    record[_REMOVALS] += 1
    remove_chain(board, head)
    return size


@kernel
def play_recorded(board: Board, point: int, color: int, record: IntArray) -> int:
    """Play like `play_assume_legal`, with the same result, and write to `record` the values that `undo` needs."""
    record[_POINT] = point
    record[_COLOR] = color
    record[_KO_POINT] = board.info[KO_POINT]
    record[_KO_COLOR] = board.info[KO_COLOR]
    record[_NEXT] = board.next_stone[point]  # may belong to the list of a chain captured earlier, see `remove_chain`
    record[_MERGES] = 0
    record[_REMOVALS] = 0
    add_stone(board, point, color)
    stride = wide(board.info[STRIDE])
    enemy = BLACK + WHITE - color
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        if board.color[neighbor] == color and board.head[neighbor] != board.head[point]:
            _record_merge(board, wide(board.head[neighbor]), wide(board.head[point]), record)
    captured, last_captured = wide(0), wide(NULL_POINT)
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        if board.color[neighbor] == enemy and board.libs[board.head[neighbor]] == 0:
            last_captured = neighbor
            captured += _record_removal(board, wide(board.head[neighbor]), record)
    if board.libs[board.head[point]] == 0:
        captured = -_record_removal(board, wide(board.head[point]), record)
    set_ko(board, point, captured, last_captured)
    return captured


@kernel
def _put_back(board: Board, head: int, size: int, color: int) -> None:
    """Put the chain named `head`, of `size` stones of `color`, back on the board, without liberties."""
    stride = wide(board.info[STRIDE])
    stone = head
    for _ in range(size):  # first all stones, then liberties: the heads of all its points must be set
        remove_from_empties(board, stone)
        board.color[stone] = color
        board.head[stone] = head
        board.hash[0] ^= TABLE[color, stone]
        stone = board.next_stone[stone]
    for _ in range(size):
        for step in (-1, 1, -stride, stride):
            chain = board.head[stone + step]
            board.libs[chain] -= 1
            board.lib_sum[chain] -= stone
            board.lib_squares[chain] -= stone * stone
        stone = board.next_stone[stone]
    board.size[head] = size
    board.libs[head] = 0  # the loop above has also changed the chain's own entries, which were 0 when it was captured
    board.lib_sum[head] = 0
    board.lib_squares[head] = 0
    board.info[CAPTURED + color] -= size


@kernel
def _unmerge(board: Board, record: IntArray, row: int) -> None:
    """Separate the two chains that `_record_merge` joined at this row of the record."""
    a, b = wide(record[row]), wide(record[row + 1])
    board.next_stone[a], board.next_stone[b] = board.next_stone[b], board.next_stone[a]
    stone = b
    for _ in range(record[row + 2]):
        board.head[stone] = b
        stone = board.next_stone[stone]
    board.size[b] = record[row + 2]
    board.libs[b] = record[row + 3]
    board.lib_sum[b] = record[row + 4]
    board.lib_squares[b] = record[row + 5]
    board.size[a] -= record[row + 2]
    board.libs[a] -= record[row + 3]
    board.lib_sum[a] -= record[row + 4]
    board.lib_squares[a] -= record[row + 5]


@kernel
def _take_stone(board: Board, point: int, color: int) -> None:
    """Remove a chain of one stone: the inverse of `add_stone`."""
    stride = wide(board.info[STRIDE])
    board.color[point] = EMPTY
    board.head[point] = 0
    board.hash[0] ^= TABLE[color, point]
    add_to_empties(board, point)
    for step in (-1, 1, -stride, stride):
        chain = board.head[point + step]
        board.libs[chain] += 1
        board.lib_sum[chain] += point
        board.lib_squares[chain] += point * point


@kernel
def undo(board: Board, record: IntArray) -> None:
    """Take back the move that `play_recorded` wrote to `record`; it must be the last move that is not undone yet."""
    point, color = wide(record[_POINT]), wide(record[_COLOR])
    for i in range(record[_REMOVALS] - 1, -1, -1):
        row = _REMOVAL_ROWS + i * _REMOVAL_SIZE
        head = wide(record[row])
        # The removed chain that contains the point itself was a suicide; it was removed last.
        is_suicide = i == record[_REMOVALS] - 1 and board.color[point] == EMPTY
        _put_back(board, head, wide(record[row + 1]), color if is_suicide else BLACK + WHITE - color)
    for i in range(record[_MERGES] - 1, -1, -1):
        _unmerge(board, record, _MERGE_ROWS + i * _MERGE_SIZE)
    _take_stone(board, point, color)
    board.next_stone[point] = record[_NEXT]
    board.info[KO_POINT] = record[_KO_POINT]
    board.info[KO_COLOR] = record[_KO_COLOR]
