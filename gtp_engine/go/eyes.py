"""Eyes of one point: eye shapes, real eyes and false eyes.

An *eye shape* of a colour is an empty point whose neighbours are all stones of that colour or the edge.  It becomes a
*false* eye when the opponent holds enough of its diagonal points to force one of the surrounding chains to connect by
filling it: two of them in the middle of the board, one at an edge or in a corner.  These are the local rules of Monte
Carlo Go programs (Gelly, Wang, Munos and Teytaud 2006); `benson` decides whether a group lives.
"""

from gtp_engine._jit import inlined_kernel, kernel, wide
from gtp_engine.go.board import STRIDE, Board, IntArray
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE


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
