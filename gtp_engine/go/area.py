"""The area of both colours on a board where every stone counts as alive (Tromp and Taylor's rules)."""

from gtp_engine._jit import kernel, wide
from gtp_engine.go.board import STRIDE, Board, IntArray
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE

_UNSEEN = -1


@kernel
def owners_into(color: IntArray, stride: int, queue: IntArray, out: IntArray) -> None:
    """Set out[p] for every point: the colour of its stone, or the only colour that an empty point reaches.

    Empty points that reach both colours or none, and the wall, become EMPTY.  `color`, `queue` (work) and `out` are
    int32[n]; `color` is not changed.
    """
    for point in range(color.size):
        stone = color[point]
        out[point] = _UNSEEN if stone == EMPTY else (EMPTY if stone == WALL else stone)
    for start in range(color.size):
        if out[start] != _UNSEEN:
            continue
        queue[0] = start
        out[start] = EMPTY
        read, write = 0, 1
        borders = 0
        while read < write:
            point = queue[read]
            read += 1
            for step in (-1, 1, -stride, stride):
                neighbor = point + step
                stone = color[neighbor]
                if stone == EMPTY:
                    if out[neighbor] == _UNSEEN:
                        out[neighbor] = EMPTY
                        queue[write] = neighbor
                        write += 1
                elif stone != WALL:
                    borders |= stone  # BLACK | WHITE equals neither colour: a region that touches both
        if borders == BLACK or borders == WHITE:
            for i in range(write):
                out[queue[i]] = borders


@kernel
def area_margin(board: Board, queue: IntArray, owners: IntArray) -> int:
    """Return Black's area minus White's, and set `owners` as `owners_into` does."""
    return margin_of(board.color, wide(board.info[STRIDE]), queue, owners)


@kernel
def margin_of(color: IntArray, stride: int, queue: IntArray, owners: IntArray) -> int:
    """Return Black's area minus White's, and set `owners`; the arguments are those of `owners_into`."""
    owners_into(color, stride, queue, owners)
    margin = 0
    for point in range(owners.size):
        margin += wide(owners[point] == BLACK) - wide(owners[point] == WHITE)
    return margin
