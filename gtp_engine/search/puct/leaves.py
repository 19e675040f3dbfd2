"""Batches of leaves: the paths to them, and their positions as rows for the evaluator.  Kernels.

A walk down the tree needs no board, because edges hold legal moves only.  So a leaf's position is set up afterwards, by
playing the moves of its path from the root's board, and only if the evaluator or the rules need it.  B is the number of
rows of a batch, S that of its positions, which are half as many; n is the padded length of a board.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import (
    ENDS,
    GOES_ON,
    HISTORY,
    IS_OVER,
    MAIN_PHASE,
    SIMPLE_KO,
    Positions,
    board_of,
    end_history,
    finish_row,
    forbid_ko,
    new_positions,
    write_move,
)
from gtp_engine.go.area import TaxWork
from gtp_engine.go.benson import LifeWork
from gtp_engine.go.board import (
    EMPTY_COUNT,
    Board,
    IntArray,
    clear_ko,
    copy_board,
    has_empty_neighbor,
    is_legal,
    play_assume_legal,
)
from gtp_engine.go.constants import BLACK, PASS, WHITE, padded_length
from gtp_engine.search.puct.cleanup import (
    Cleanup,
    begin_path,
    count_pass,
    forbid_repeated_kos,
    phase_key,
    play_move,
    write_phase,
)
from gtp_engine.search.puct.utility import HumanExploration, Params
from gtp_engine.search.repetition import position_key, would_repeat
from gtp_engine.search.rng import State

_ROWS_PER_PLAYOUT: Final = 2
"""Rows of a batch for each playout: as many may be collisions as are playouts."""

MAX_DEPTH: Final = 500
"""Longest path from the root, moves."""

EVALUATE: Final = 0
"""A row that ends at a new node: the evaluator evaluates its position."""
TERMINAL: Final = 1
"""A row in which the game is over: the rules give its result."""
REVISIT: Final = 2
"""A row that ends at an evaluated node without edges: its evaluation counts once more."""
COLLISION: Final = 3
"""A row that ends at a node whose evaluation is under way for another row.  It is no playout, but while the batch lasts
its virtual visits send later walks elsewhere."""
TRANSPOSITION: Final = 4
"""A row that ends at an evaluated node with more visits than the edge to it: its mean counts as one more visit's."""
CYCLE: Final = 5
"""A row that ends in a position which occurs for the third time: under simple ko, the game has no result."""


class Root(NamedTuple):
    """The position that is searched, for kernels."""

    positions: Positions  # a single row
    color: int  # to play
    last_move: int  # the point of the move before it, also where the network is not told; NULL_POINT if there is none
    passes: int  # passes in a row before it; two or more if the game is over, so that another one ends it again
    free_button: bool  # whether the next pass takes the button
    cleans_up: bool  # whether two passes lead to a clean-up phase (`cleanup`)
    pass_goes_on: bool  # whether the game goes on after a pass at the root, whatever the rules say
    retaken: int  # the colour whose captures in kos may be retaken at once; EMPTY: neither's
    tells_history: bool  # whether the evaluator is told the moves before a leaf
    history: NDArray[np.uint64]  # [any] sorted: keys for `would_repeat`, or under simple ko for `has_no_result`
    occupied: NDArray[np.uint8]  # [n] bit 0 where Black ever had a stone, bit 1 where White had
    avoid_until: IntArray  # [3, n] avoid_until[color, move]: the move is left out at depths below this
    unrestricted_from: int  # the largest of these: the depth from which on no move is left out
    is_restricted: NDArray[np.bool_]  # [3] whether some moves of a colour are left out on request, at any depth
    bonus: NDArray[np.float64]  # [n] added to the utility of the root's moves once they have been tried, Black's
    people: HumanExploration  # how moves are selected by a human-like policy
    rng: State  # random numbers of walks


class Leaves(NamedTuple):
    """A batch of playouts under way, one to a row."""

    path: Annotated[IntArray, "B", MAX_DEPTH + 1]  # nodes from the root to the leaf
    edges: Annotated[IntArray, "B", MAX_DEPTH]  # edges between them; only where edges have visits of their own
    moves: Annotated[NDArray[np.int16], "B", MAX_DEPTH]  # their moves
    depth: Annotated[IntArray, "B"]  # index of the leaf in its path
    color: Annotated[IntArray, "B"]  # to play at the leaf
    counted_from: Annotated[IntArray, "B"]  # depth from which it counts; 0 unless a move was selected without weight
    is_extra: Annotated[NDArray[np.bool_], "B"]  # whether a move was tried only because a pass ends the game there
    kind: Annotated[IntArray, "B"]  # EVALUATE, TERMINAL, REVISIT, COLLISION, TRANSPOSITION or CYCLE
    slot: Annotated[IntArray, "B"]  # row of the positions and of their evaluation, where there is one
    passes: Annotated[IntArray, "B"]  # passes in a row before the leaf, in its phase
    button: Annotated[NDArray[np.float64], "B"]  # points Black got from the button on the path: 0.5, −0.5 or 0
    margin: Annotated[NDArray[np.float64], "B"]  # points Black wins by where the game is over
    owner: Annotated[IntArray, "B", "n"]  # whose point it is where the game is over: BLACK, WHITE or EMPTY
    filled: Annotated[IntArray, 4]  # numbers of rows, of positions to evaluate, of playouts, of extra ones among these
    positions: Positions  # [S] of the leaves to be evaluated, by slot; the last ones where the game is over


class PathWork(NamedTuple):
    """Work arrays for a path of up to D moves; D is MAX_DEPTH."""

    keys: Annotated[NDArray[np.uint64], MAX_DEPTH + 1]  # keys of its positions (`position_key`), the root's first
    first_key: Annotated[IntArray, 1]  # the first that counts: after the button's pass, or any (simple ko, clean-up)
    occupied: Annotated[NDArray[np.uint8], "n"]  # as in Root, with the path
    queue: Annotated[IntArray, "n"]
    colors: Annotated[IntArray, "n"]
    life: LifeWork
    tax: TaxWork
    cleanup: Cleanup  # where `Root.cleans_up`


def new_leaves(size: int, width: int, height: int) -> Leaves:
    """Return an empty batch of up to `size` playouts on boards of this size."""
    rows, positions = _ROWS_PER_PLAYOUT * size, new_positions(size, width, height)
    return zeros(Leaves, B=rows, n=padded_length(width, height), positions=positions)


@kernel
def _play_path(
    board: Board, root: Root, superko: int, leaves: Leaves, row: int, begin: int, end: int, work: PathWork
) -> None:
    """Play the moves begin … end − 1 of a row's path, and record in `work` what the rules on repetition need."""
    color = root.color if begin % 2 == 0 else BLACK + WHITE - root.color
    for i in range(begin, end):
        move = wide(leaves.moves[row, i])
        if move == PASS:
            clear_ko(board)
            if root.cleans_up:
                count_pass(work.cleanup, board)
            in_cleanup = work.cleanup.phase[0] != MAIN_PHASE
            if superko == SIMPLE_KO or in_cleanup or (root.free_button and work.first_key[0] == 0):
                work.first_key[0] = i + 1
        elif root.cleans_up:
            play_move(work.cleanup, board, move, color)
        else:
            play_assume_legal(board, move, color)
            if color == root.retaken:
                clear_ko(board)
        color = BLACK + WHITE - color
        if superko != SIMPLE_KO and move != PASS:
            work.occupied[move] |= BLACK + WHITE - color  # BLACK is bit 0, WHITE bit 1
        work.keys[i + 1] = phase_key(work.cleanup, position_key(board.hash[0], color, superko))


@kernel
def write_leaf_boards(root: Root, superko: int, leaves: Leaves, row: int, work: PathWork) -> None:
    """Write the boards at the leaf and one and two moves before it into the row's slot of the positions.

    Boards from before the root are those of the root's own row.  Fills `work` for the path.
    """
    positions = leaves.positions
    slot, depth = wide(leaves.slot[row]), wide(leaves.depth[row])
    start = board_of(root.positions, wide(0), wide(0))
    work.first_key[0] = 0
    work.keys[0] = position_key(start.hash[0], root.color, superko)
    if superko != SIMPLE_KO:
        for point in range(work.occupied.size):
            work.occupied[point] = root.occupied[point]
    begin_path(work.cleanup, root.passes)
    # The path is played once, in three parts: each board is copied when its part of the path is complete.
    played, last = wide(0), start
    for ago in (2, 1, 0):
        board = board_of(positions, slot, wide(ago))
        if ago > depth:
            copy_board(board, board_of(root.positions, wide(0), ago - depth))
        else:
            copy_board(board, last)
            _play_path(board, root, superko, leaves, row, played, depth - ago, work)
            played, last = depth - ago, board


@kernel
def finish_leaf(root: Root, params: Params, leaves: Leaves, row: int, began_at: int, work: PathWork) -> None:
    """Complete a row after `write_leaf_boards`: the last moves, what ko forbids, whether a pass ends the game.

    The moves that the evaluator is told are those from the depth `began_at` on.
    """
    positions = leaves.positions
    slot, depth, color = wide(leaves.slot[row]), wide(leaves.depth[row]), wide(leaves.color[row])
    mover = BLACK + WHITE - color
    for ago in range(HISTORY):
        if ago < depth:
            write_move(positions, slot, wide(ago), wide(leaves.moves[row, depth - 1 - ago]), mover)
            mover = BLACK + WHITE - mover
        else:
            before = ago - depth
            point, player = wide(root.positions.points[0, before]), wide(root.positions.colors[0, before])
            write_move(positions, slot, wide(ago), point, player)
    pass_ends, button = _pass_ends(root, leaves, row), leaves.button[row]
    end_history(positions, slot, min(depth - began_at, wide(HISTORY)) if root.tells_history else wide(0))
    write_phase(work.cleanup, positions, slot)
    _write_forbidden(root, params, leaves, row, work)
    taker = wide(0) if button == 0.0 else (wide(BLACK) if button > 0.0 else wide(WHITE))
    finish_row(positions, slot, color, pass_ends, taker)


@spliced_kernel
def _pass_ends(root: Root, leaves: Leaves, row: int) -> int:
    """Return `Positions.pass_ends` for a row; the root keeps its own."""
    passes = wide(leaves.passes[row])
    pass_ends = wide(GOES_ON)
    if wide(leaves.depth[row]) == 0:
        pass_ends = wide(root.positions.pass_ends[0])
    elif passes == 1 and not (root.free_button and leaves.button[row] == 0.0):
        pass_ends = wide(ENDS)
    elif passes >= 2:
        pass_ends = wide(IS_OVER)
    return pass_ends


@spliced_kernel
def _write_forbidden(root: Root, params: Params, leaves: Leaves, row: int, work: PathWork) -> None:
    """Write the map of the points where ko or superko forbids a move at the leaf of a row.

    Hashing every move would be slow, so moves that cannot repeat a position are skipped: a stone that stays on the
    board recreates a position only where that colour had one before (`occupied`); a stone that does not stay, as in
    the suicide of several stones, has no empty point beside it.
    """
    positions, superko, suicide = leaves.positions, params.superko, params.suicide
    slot, depth, color = wide(leaves.slot[row]), wide(leaves.depth[row]), wide(leaves.color[row])
    board = board_of(positions, slot, wide(0))
    if positions.phase[slot] != MAIN_PHASE:
        forbid_repeated_kos(work.cleanup, positions, slot, board, color)
        return
    forbid_ko(positions, slot, color)
    if superko == SIMPLE_KO:
        return
    for i in range(board.info[EMPTY_COUNT]):
        point = wide(board.empties[i])
        if (
            (work.occupied[point] & color != 0 or (suicide and not has_empty_neighbor(board, point)))
            and is_legal(board, point, color, suicide)
            and would_repeat(board, point, color, superko, root.history, work.keys, wide(work.first_key[0]), depth)
        ):
            positions.forbidden[slot, point] = 1
