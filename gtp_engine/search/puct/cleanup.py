"""The clean-up phases of KataGo's territory rules on a path of the tree.  Kernels.

Two passes do not end the game in a search under territory rules: with networks that were trained on it
(`EvaluatorInfo.knows_cleanup`), play goes on, so that the search settles by capturing which stones are dead.

    first phase     as before, except for ko; a stone still costs a point, since it fills territory or dies a prisoner
    second phase    stones cost nothing any more, and those placed in it are not worth a point themselves

Two passes lead from the game to the first phase, two more to the second, and two in the second end it.  In both phases
a stone that took a ko may not be retaken: a move that would retake it makes it retakable instead, and leaves the board
as it is ("pass for ko"); and in one position a side takes the same ko only once.  The rules are KataGo's
(https://lightvector.github.io/KataGo/rules.html, `makeBoardMoveAssumeLegal` in its game/boardhistory.cpp).  There, a
retakable stone may also be named itself in a pass for ko, which is the same move.

Other networks evaluate the position after two passes.  Where the ownership that they expect leaves nothing open, it is
counted (`agreed_margin`): their own score may be a point off, which with integer komi makes a draw of a lost game.

n is the padded length of a board.
"""

from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import GROUP_TAX, MAIN_PHASE, NO_TAX, SECOND_CLEANUP, Positions, mix
from gtp_engine.go.area import TaxWork, cleaned_up_map, owners_into, tax_balance
from gtp_engine.go.benson import LifeWork
from gtp_engine.go.board import (
    CAPTURED,
    KO_POINT,
    STRIDE,
    Board,
    IntArray,
    clear_ko,
    is_in_atari,
    play_assume_legal,
    stones_placed,
)
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, WHITE
from gtp_engine.go.ladder import would_capture_ko

GAME_OVER: Final = SECOND_CLEANUP + 1
"""The phase after two passes in the second one."""

PHASE_PASSES: Final = 2
"""Passes in a row that end the game proper, or a phase."""

UNDECIDED: Final = float("inf")
"""The margin of a position that cannot be counted yet."""

DECIDED: Final = 0.8
"""A point or chain is decided if its mean ownership is at least this far from 0: nine of ten rollouts agree, or the
network gives it a probability of nine tenths."""


class Cleanup(NamedTuple):
    """The state at the end of a path, of up to D moves."""

    phase: Annotated[IntArray, 1]  # as in Positions, or GAME_OVER
    passes: Annotated[IntArray, 1]  # in a row, in this phase
    no_retake: Annotated[NDArray[np.uint8], "n"]  # as in Positions
    start: Annotated[NDArray[np.int8], "n"]  # as in Positions
    placed: Annotated[IntArray, 1]  # as in Positions
    taken: Annotated[IntArray, 1]  # number of kos taken on the path in this phase
    taken_from: Annotated[NDArray[np.uint64], "D"]  # for each, the hash of the position before
    taken_at: Annotated[IntArray, "D"]  # the point
    taken_by: Annotated[IntArray, "D"]  # the colour


# --- moves ---


@spliced_kernel
def begin_path(cleanup: Cleanup, passes: int) -> None:
    """Start at the root, after this many passes in a row."""
    cleanup.passes[0] = passes
    if cleanup.phase[0] != MAIN_PHASE:
        cleanup.phase[0], cleanup.taken[0], cleanup.placed[0] = MAIN_PHASE, 0, 0
        for point in range(cleanup.start.size):
            cleanup.start[point], cleanup.no_retake[point] = EMPTY, 0


@spliced_kernel
def count_pass(cleanup: Cleanup, board: Board) -> None:
    """Count a pass, which may begin a phase."""
    cleanup.passes[0] += 1
    if cleanup.passes[0] < PHASE_PASSES or cleanup.phase[0] == GAME_OVER:
        return
    cleanup.phase[0] += 1
    cleanup.passes[0], cleanup.taken[0] = 0, 0
    for point in range(cleanup.start.size):
        cleanup.no_retake[point] = 0
    if cleanup.phase[0] == SECOND_CLEANUP:
        cleanup.placed[0] = stones_placed(board)
        for point in range(cleanup.start.size):
            stone = board.color[point]
            cleanup.start[point] = stone if stone == BLACK or stone == WHITE else EMPTY


@kernel
def play_move(cleanup: Cleanup, board: Board, move: int, color: int) -> None:
    """Play a move that is no pass, in any phase."""
    cleanup.passes[0] = 0
    if cleanup.phase[0] == MAIN_PHASE:
        play_assume_legal(board, move, color)
        return
    retaken = _stone_not_to_retake(cleanup, board, move, color)
    if retaken != NULL_POINT:
        cleanup.no_retake[retaken] = 0
        return
    before = board.hash[0]
    play_assume_legal(board, move, color)
    if board.info[KO_POINT] != NULL_POINT:
        clear_ko(board)
        cleanup.no_retake[move] = 1
        last = wide(cleanup.taken[0])
        cleanup.taken_from[last], cleanup.taken_at[last], cleanup.taken_by[last] = before, move, color
        cleanup.taken[0] = last + 1
    for point in range(cleanup.no_retake.size):
        if board.color[point] == EMPTY:
            cleanup.no_retake[point] = 0


@spliced_kernel
def _stone_not_to_retake(cleanup: Cleanup, board: Board, move: int, color: int) -> int:
    """Return the stone that `move` would take in a ko and that may not be retaken, or NULL_POINT."""
    taken, stride = wide(NULL_POINT), wide(board.info[STRIDE])
    if would_capture_ko(board, move, color):
        for step in (-1, 1, -stride, stride):
            if cleanup.no_retake[move + step] != 0 and is_in_atari(board, wide(board.head[move + step])):
                taken = move + step
    return taken


@spliced_kernel
def forbid_repeated_kos(cleanup: Cleanup, positions: Positions, row: int, board: Board, color: int) -> None:
    """Write a row's `forbidden` for `color` in a clean-up phase."""
    for point in range(positions.forbidden.shape[1]):
        positions.forbidden[row, point] = 0
    for i in range(wide(cleanup.taken[0])):
        if cleanup.taken_by[i] == color and cleanup.taken_from[i] == board.hash[0]:
            positions.forbidden[row, cleanup.taken_at[i]] = 1


# --- the result in rows, keys and scores ---


@spliced_kernel
def write_phase(cleanup: Cleanup, positions: Positions, row: int) -> None:
    """Write the fields of a row that are about the phases."""
    phase = wide(cleanup.phase[0])
    if phase == MAIN_PHASE and positions.phase[row] == MAIN_PHASE:
        return
    positions.phase[row], positions.placed[row] = phase, cleanup.placed[0]
    for point in range(cleanup.start.size):
        positions.start[row, point] = cleanup.start[point]
        positions.no_retake[row, point] = cleanup.no_retake[point]


@spliced_kernel
def phase_key(cleanup: Cleanup, key: np.uint64) -> Any:
    """Return a hash of a key and of the state, which is the key itself before the first phase."""
    if cleanup.phase[0] == MAIN_PHASE:
        return key
    key = mix(key, cleanup.phase[0])
    for point in range(cleanup.start.size):
        if cleanup.no_retake[point] != 0:
            key = mix(key, point)
        if cleanup.start[point] != EMPTY:
            key = mix(key, point * 4 + wide(cleanup.start[point]))
    for i in range(wide(cleanup.taken[0])):
        key = mix(mix(key, cleanup.taken_from[i]), cleanup.taken_at[i] * 4 + cleanup.taken_by[i])
    return key


@kernel
def score_territory(
    cleanup: Cleanup, board: Board, tax: int, suicide: bool, life: LifeWork, area: IntArray, owner: IntArray
) -> int:
    """Return Black's points minus White's, without komi, when the last phase is over; and write the owners, int32[n].

    The stones that Black has placed more than White before the second phase are White's points, as for `own_komi`.
    `area` (int32[n]) is work.
    """
    groups = cleaned_up_map(board, cleanup.start, tax == NO_TAX, suicide, life, area, owner)
    margin = -wide(cleanup.placed[0])
    if tax == GROUP_TAX:
        margin -= 2 * groups
    for point in range(owner.size):
        margin += wide(owner[point] == BLACK) - wide(owner[point] == WHITE)
    return margin


# --- the end without these phases


@kernel
def agreed_margin(board: Board, ownership_black: NDArray[np.float32], tax: int, work: TaxWork, area: IntArray) -> float:
    """Return Black's points minus White's by territory, without komi; UNDECIDED unless everything is decided.

    Chains that the opponent owns are dead, as players would agree.  `area` (int32[n]) is work.
    """
    stride = wide(board.info[STRIDE])
    margin = wide(board.info[CAPTURED + WHITE]) - wide(board.info[CAPTURED + BLACK])
    for point in range(area.size):
        area[point] = board.color[point]
    for point in range(area.size):
        stone = board.color[point]
        if wide(board.head[point]) != point or (stone != BLACK and stone != WHITE):
            continue
        owned = _chain_ownership(board, wide(point), ownership_black)
        if abs(owned) < DECIDED:
            return UNDECIDED
        if (owned > 0.0) != (stone == BLACK):
            margin += _take_off(board, wide(point), area)
    owners_into(area, stride, work.queue, work.owners)
    for point in range(area.size):
        owner = wide(work.owners[point])
        if area[point] != EMPTY:
            continue
        if owner == EMPTY and _touches_no_stone(area, stride, wide(point)):
            return UNDECIDED
        sign = wide(owner == BLACK) - wide(owner == WHITE)
        if owner != EMPTY and sign * ownership_black[point] < DECIDED:
            return UNDECIDED
        margin += sign
    if tax != NO_TAX:
        margin -= tax_balance(area, stride, tax == GROUP_TAX, work)
    return float(margin)


@spliced_kernel
def _chain_ownership(board: Board, head: int, ownership_black: NDArray[np.float32]) -> float:
    """Return the mean ownership of the stones of a chain, Black's."""
    total, stone = np.float64(0.0), head
    for _ in range(board.size[head]):
        total += ownership_black[stone]
        stone = wide(board.next_stone[stone])
    return total / wide(board.size[head])


@spliced_kernel
def _take_off(board: Board, head: int, area: IntArray) -> int:
    """Return Black's prisoners minus White's from a chain, after making its points in `area` empty."""
    stones, stone = wide(board.size[head]), head
    for _ in range(stones):
        area[stone] = EMPTY
        stone = wide(board.next_stone[stone])
    return stones if board.color[head] == WHITE else -stones


@spliced_kernel
def _touches_no_stone(area: IntArray, stride: int, point: int) -> bool:
    """Return whether no stone is next to a point."""
    for step in (-1, 1, -stride, stride):
        if area[point + step] == BLACK or area[point + step] == WHITE:
            return False
    return True
