"""Ladders: whether a chain of one or two liberties can be captured by an unbroken series of ataris.

The attacker plays on one of the chain's two liberties; the defender, in atari, plays on the last liberty or captures a
chain beside it that is in atari.  The chain is captured when it is left in atari with the attacker to move, and has
escaped with three liberties at the attacker's turn or two at its own.  The defender is assumed to win kos: a ladder
does not work if the attacker has to leave the defender a ko on the way.  The one exception is a chain whose two last
liberties are both ko mouths (double-ko death), which is captured.  These are KataGo's definitions
(`searchIsLadderCaptured` in its game/board.cpp), because its networks were trained with them.

`ladder_marks` marks the ladders of a board: stones that are captured, and moves that capture them.

Reading plays on the given board and takes every move back, so the board is unchanged afterwards.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.board import (
    HEIGHT,
    KO_POINT,
    STRIDE,
    WIDTH,
    Board,
    IntArray,
    add_once,
    atari_liberty,
    clone,
    count_liberties,
    is_in_atari,
    is_legal,
    liberties_into,
)
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, WALL, WHITE
from gtp_engine.go.undo import RECORD_SIZE, play_recorded, undo

MAX_NODES: Final = 25_000
"""Moves that one reading may try before the chain counts as safe; KataGo's MAX_LADDER_SEARCH_NODE_BUDGET."""

MarkArray = NDArray[np.uint8]

CAPTURED: Final = 1
WORKS_FOR_BLACK: Final = 2
WORKS_FOR_WHITE: Final = 4
"""Bits that `ladder_marks` sets: a stone that a ladder captures; a move by which this colour captures a chain of two
liberties."""

_CURRENT: Final = 0
_START: Final = 1
_COUNT: Final = 2


class LadderWork(NamedTuple):
    """Work arrays, reused for every reading; D is about 1.5 times the points of the board, M more than 6 D.

    `_read` leaves the last two rows of `records` to the functions that call it, which play a first move themselves.
    """

    records: Annotated[IntArray, "D", RECORD_SIZE]
    plies: Annotated[IntArray, "D", 3]  # move being tried (−1: none generated yet), start and count of the ply's moves
    moves: Annotated[IntArray, "M"]  # the moves of all plies, one ply after the other
    liberties: Annotated[IntArray, 3]
    working: Annotated[IntArray, 2]  # working attacks on one chain


def new_ladder_work(width: int, height: int) -> LadderWork:
    """Return work arrays for boards up to this size."""
    depth = width * height * 3 // 2 + 4
    return zeros(LadderWork, D=depth, M=6 * depth + 4 * width * height)


@kernel
def _add_saving_captures(board: Board, point: int, work: LadderWork, start: int) -> int:
    """Write the moves that capture a chain in atari beside `point`'s to work.moves[start:]; return their number."""
    stride = wide(board.info[STRIDE])
    enemy = BLACK + WHITE - wide(board.color[point])
    count = wide(0)
    stone = wide(point)
    for _ in range(board.size[board.head[point]]):
        for step in (-1, 1, -stride, stride):
            neighbor = stone + step
            is_weak = board.color[neighbor] == enemy and is_in_atari(board, wide(board.head[neighbor]))
            if is_weak and start + count < work.moves.size - 2:
                count = add_once(atari_liberty(board, wide(board.head[neighbor])), work.moves[start:], count)
        stone = board.next_stone[stone]
    return count


@inlined_kernel
def count_empty_neighbors(board: Board, point: int) -> int:
    """Return the number of empty points next to `point`."""
    stride = wide(board.info[STRIDE])
    count = 0
    for step in (-1, 1, -stride, stride):
        count += wide(board.color[point + step] == EMPTY)
    return count


@kernel
def would_capture_ko(board: Board, point: int, color: int) -> bool:
    """Return whether `color` on `point` would capture exactly one stone and could be retaken at once (a ko)."""
    stride = wide(board.info[STRIDE])
    enemy = BLACK + WHITE - color
    captured = 0
    for step in (-1, 1, -stride, stride):
        stone = board.color[point + step]
        if stone != WALL and stone != enemy:
            return False
        if stone == enemy and is_in_atari(board, wide(board.head[point + step])):
            captured += board.size[board.head[point + step]]
    return captured == 1


@kernel
def _liberties_after(board: Board, point: int, color: int, work: LadderWork, depth: int) -> int:
    """Return the liberties, counted up to 3, of the chain on `point` after `color` plays there; 0 if illegal."""
    if not is_legal(board, point, color, False):
        return 0
    play_recorded(board, point, color, work.records[depth])
    count = liberties_into(board, point, work.liberties)
    undo(board, work.records[depth])
    return count


@kernel
def _is_double_ko_death(board: Board, point: int, work: LadderWork, depth: int) -> bool:
    """Return whether a chain whose two liberties (`work.liberties`) are ko mouths cannot be saved by filling either."""
    a, b = wide(work.liberties[0]), wide(work.liberties[1])
    defender = wide(board.color[point])
    attacker = BLACK + WHITE - defender
    if count_empty_neighbors(board, a) > 0 or count_empty_neighbors(board, b) > 0:
        return False
    if not (would_capture_ko(board, a, attacker) and would_capture_ko(board, b, attacker)):
        return False
    if _liberties_after(board, a, defender, work, depth) > 2 or _liberties_after(board, b, defender, work, depth) > 2:
        return False
    return _add_saving_captures(board, point, work, wide(work.plies[depth, _START])) == 0


@inlined_kernel
def _extension_liberties(board: Board, chain: int, point: int, taken: int, out: IntArray) -> int:
    """Return the liberties, counted up to 3, that the chain named `chain` would have after extending to `point`.

    The chain's only liberties are `point` and `taken`, which the attacker fills first (NULL_POINT: it has one liberty).
    Captures by either move are disregarded, so the true number may be higher.  `out`, int32[3], is work.
    """
    stride = wide(board.info[STRIDE])
    count = 0
    for step in (-1, 1, -stride, stride):
        if board.color[point + step] == EMPTY and point + step != taken:
            count = add_once(point + step, out, count)
            if count == 3:
                return 3
    for step in (-1, 1, -stride, stride):
        friend = point + step
        if board.color[friend] != board.color[chain] or board.head[friend] == chain:
            continue
        stone = wide(friend)
        for _ in range(board.size[board.head[friend]]):
            for side in (-1, 1, -stride, stride):
                neighbor = stone + side
                if board.color[neighbor] == EMPTY and neighbor != point and neighbor != taken:
                    count = add_once(neighbor, out, count)
                    if count == 3:
                        return 3
            stone = board.next_stone[stone]
    return count


@inlined_kernel
def _would_capture(board: Board, point: int, color: int) -> bool:
    """Return whether a stone of `color` on the empty `point` would capture anything."""
    stride = wide(board.info[STRIDE])
    enemy = BLACK + WHITE - color
    for step in (-1, 1, -stride, stride):
        if board.color[point + step] == enemy and is_in_atari(board, wide(board.head[point + step])):
            return True
    return False


@inlined_kernel
def _generate_attacks(board: Board, point: int, work: LadderWork, depth: int) -> int:
    """Write the attacker's moves for this ply and return their number; −1 if it has failed, −2 if it has captured."""
    start = wide(work.plies[depth, _START])
    liberties = liberties_into(board, point, work.liberties)
    if liberties <= 1:
        return -2
    if liberties >= 3:
        return -1
    a, b = wide(work.liberties[0]), wide(work.liberties[1])
    if _is_double_ko_death(board, point, work, depth):
        return -2
    head = wide(board.head[point])
    # An attack fails at once if the defender gets three liberties by extending to the other liberty.
    fails_a = _extension_liberties(board, head, b, a, work.liberties) >= 3
    fails_b = _extension_liberties(board, head, a, b, work.liberties) >= 3
    if fails_a and fails_b:
        return -1
    if fails_a or fails_b:
        work.moves[start] = b if fails_a else a
        return 1
    # Try the liberty with more empty neighbours first: it would give the defender most liberties.
    empty_a, empty_b = count_empty_neighbors(board, a), count_empty_neighbors(board, b)
    if empty_b > empty_a:
        a, b = b, a
    work.moves[start] = a
    work.moves[start + 1] = b
    return 2


@inlined_kernel
def _generate_defences(board: Board, point: int, work: LadderWork, depth: int) -> int:
    """Write the defender's moves for this ply and return their number; −1 if it is captured, −2 if it has escaped."""
    # A ko that the attacker has just taken counts as an escape.
    if not is_in_atari(board, wide(board.head[point])) or board.info[KO_POINT] != NULL_POINT:
        return -2
    start = wide(work.plies[depth, _START])
    head = wide(board.head[point])
    extension = atari_liberty(board, head)
    liberties = _extension_liberties(board, head, extension, wide(NULL_POINT), work.liberties)
    if liberties >= 3:
        return -2
    count = _add_saving_captures(board, point, work, start)
    if count == 0 and liberties <= 1 and not _would_capture(board, extension, wide(board.color[point])):
        return -1
    work.moves[start + count] = extension
    return count + 1


@kernel
def _read(board: Board, point: int, defender_first: bool, work: LadderWork) -> bool:
    """Return whether the chain on `point` is captured.

    A depth-first search with an explicit stack, `work.plies`, because kernels do not recurse.  `captured` is the result
    of the ply just finished; a ply is finished as soon as one of its moves succeeds for the side that plays it.
    """
    defender = wide(board.color[point])
    attacker = BLACK + WHITE - defender
    work.plies[0, _CURRENT] = -1
    work.plies[0, _START] = 0
    depth = wide(0)
    nodes = 0
    captured = False
    while True:
        is_defender = (depth % 2 == 0) == defender_first
        ply = work.plies[depth]
        if ply[_CURRENT] == -1:
            if is_defender:
                count = _generate_defences(board, point, work, depth)
            else:
                count = _generate_attacks(board, point, work, depth)
            if depth >= work.records.shape[0] - 3 or nodes >= MAX_NODES:
                count = -2 if is_defender else -1  # out of budget: the chain counts as safe
            ply[_COUNT] = count
            ply[_CURRENT] = 0
            finished = count < 0
            captured = (count == -1) == is_defender  # meaningful only if finished
        else:  # back from the move tried last
            undo(board, work.records[depth])
            finished = captured != is_defender
            ply[_CURRENT] += 1
        if not finished:
            color = defender if is_defender else attacker
            while ply[_CURRENT] < ply[_COUNT] and not is_legal(
                board, wide(work.moves[ply[_START] + ply[_CURRENT]]), color, False
            ):
                ply[_CURRENT] += 1
            if ply[_CURRENT] == ply[_COUNT]:  # every move failed
                captured = is_defender
                finished = True
        if finished:
            if depth == 0:
                return captured
            depth -= 1
            continue
        play_recorded(board, wide(work.moves[ply[_START] + ply[_CURRENT]]), color, work.records[depth])
        nodes += 1
        depth += 1
        work.plies[depth, _CURRENT] = -1
        work.plies[depth, _START] = ply[_START] + ply[_COUNT]


@kernel
def is_captured_defender_first(board: Board, point: int, work: LadderWork) -> bool:
    """Return whether the chain on `point`, in atari and to move, cannot escape from a ladder.

    A chain with two or more liberties is not captured.  A ko ban on the defender is disregarded.
    """
    if not is_in_atari(board, wide(board.head[point])):
        return False
    ko = board.info[KO_POINT]
    board.info[KO_POINT] = NULL_POINT
    captured = _read(board, point, True, work)
    board.info[KO_POINT] = ko
    return captured


@kernel
def working_attacks_into(board: Board, point: int, work: LadderWork, out: IntArray) -> int:
    """Write the attacker's first moves that capture the chain on `point` to `out`, int32[2]; return their number.

    A chain in atari is captured by playing its liberty, without reading further; a chain of three or more liberties
    cannot be captured (0).
    """
    attacker = BLACK + WHITE - wide(board.color[point])
    count = liberties_into(board, point, work.liberties)
    if count > 2:
        return 0
    first, second = wide(work.liberties[0]), wide(work.liberties[1])
    if count == 1:
        if not is_legal(board, first, attacker, False):
            return 0
        out[0] = first
        return 1
    found = 0
    for i in range(2):
        move, other = (first, second) if i == 0 else (second, first)
        if _extension_liberties(board, wide(board.head[point]), other, move, work.liberties) >= 3:
            continue
        if is_legal(board, move, attacker, False):
            record = work.records[work.records.shape[0] - 1]
            play_recorded(board, move, attacker, record)
            works = is_captured_defender_first(board, point, work)
            undo(board, record)
            if works:
                out[found] = move
                found += 1
    return found


@kernel
def mark_escapes(board: Board, point: int, work: LadderWork, out: IntArray) -> None:
    """Set out[p] = 1, int32[n], for every legal move p that saves the chain on `point` from capture in a ladder.

    The chain is in atari and its owner moves first, by extending or by capturing a chain beside it.  Such moves exist
    exactly if `is_captured_defender_first` is false, except for moves that a ko forbids.  Other entries are unchanged.
    """
    stride, enemy = wide(board.info[STRIDE]), BLACK + WHITE - wide(board.color[point])
    _mark_if_escape(board, point, atari_liberty(board, wide(board.head[point])), work, out)
    stone = wide(point)
    for _ in range(board.size[board.head[point]]):
        for step in (-1, 1, -stride, stride):
            neighbor = stone + step
            if board.color[neighbor] == enemy and is_in_atari(board, wide(board.head[neighbor])):
                _mark_if_escape(board, point, atari_liberty(board, wide(board.head[neighbor])), work, out)
        stone = board.next_stone[stone]


@kernel
def _mark_if_escape(board: Board, point: int, move: int, work: LadderWork, out: IntArray) -> None:
    """Set out[move] = 1 if the owner of the chain on `point` may play `move` and the chain then escapes."""
    color = wide(board.color[point])
    if out[move] != 0 or not is_legal(board, move, color, False):
        return
    record = work.records[work.records.shape[0] - 1]
    play_recorded(board, move, color, record)
    if not _read(board, point, False, work):
        out[move] = 1
    undo(board, record)


@spliced_kernel
def ladder_marks(board: Board, counts: IntArray, work: LadderWork, out: MarkArray) -> None:
    """Set out[p], uint8[n], for every point to a sum of CAPTURED, WORKS_FOR_BLACK and WORKS_FOR_WHITE.

    CAPTURED marks the stones of chains in atari that cannot escape even when they move first, and of chains of two
    liberties that the attacker captures when it moves first.  The board's ko ban applies to the first move.  `counts`,
    int32[n], is work; the board is restored.
    """
    count_liberties(board, counts)
    for point in range(out.size):
        out[point] = 0
    for point in range(out.size):
        color = board.color[point]
        if (color != BLACK and color != WHITE) or board.head[point] != point or counts[point] > 2:
            continue
        if counts[point] == 1:
            is_captured = is_captured_defender_first(board, point, work)
        else:
            found = working_attacks_into(board, point, work, work.working)
            for i in range(found):
                out[work.working[i]] |= WORKS_FOR_WHITE if color == BLACK else WORKS_FOR_BLACK
            is_captured = found > 0
        if is_captured:
            stone = wide(point)
            for _ in range(board.size[point]):
                out[stone] |= CAPTURED
                stone = board.next_stone[stone]


def stones_in_ladders(board: Board) -> MarkArray:
    """Return uint8[n] with 1 for the stones that a ladder captures, see `ladder_marks`."""
    marks, counts = np.zeros(board.color.size, dtype=np.uint8), np.zeros_like(board.color)
    ladder_marks(clone(board), counts, new_ladder_work(int(board.info[WIDTH]), int(board.info[HEIGHT])), marks)
    return marks & np.uint8(CAPTURED)


def working_attacks(board: Board, point: int) -> list[int]:
    """Return the opponent's first moves that capture the chain on `point`; the board is not changed."""
    moves = np.zeros(2, dtype=np.int32)
    work = new_ladder_work(int(board.info[WIDTH]), int(board.info[HEIGHT]))
    found = working_attacks_into(clone(board), point, work, moves)
    return [int(move) for move in moves[:found]]
