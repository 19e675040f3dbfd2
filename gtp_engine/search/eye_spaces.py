"""What proofs know about eye spaces without a search: chains that are pass-alive, and spaces too small for life."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import kernel, wide
from gtp_engine.go.benson import find_pass_alive
from gtp_engine.go.board import STRIDE, Board, is_legal, liberties_into
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.search.proof_work import SAFE, STAMP, Aim, ProofWork

LARGE_CORE: Final = 12
"""Points of an eye space that are too many to be known as dead."""


@kernel
def core_into(board: Board, work: ProofWork, out: NDArray[np.int64]) -> int:
    """Write the points to `out` that the attacker of the first chain cannot fill safely, and return their number.

    They are found among the points within the attacker's pass-alive chains around, and hold no stone of the defender
    and touch no such chain.  The number is `LARGE_CORE` for more than fit, or if the defender has such chains there.
    """
    color, stride = board.color, wide(board.info[STRIDE])
    defender = wide(color[work.targets[0]])
    attacker = BLACK + WHITE - defender
    if work.counters[SAFE + attacker] == 0:
        return LARGE_CORE
    work.counters[STAMP] += 1
    stamp = work.counters[STAMP]
    for point in range(color.size):
        work.within[point] = 0
        if work.safe[point] == attacker:
            work.seen[board.head[point]] = stamp
    first, last, count = wide(0), wide(1), wide(0)
    work.queue[0] = work.targets[0]
    work.within[work.targets[0]] = 1
    while first < last:
        point = wide(work.queue[first])
        first += 1
        is_reached = False
        for step in (-1, 1, -stride, stride):
            near = point + step
            if color[near] == attacker and work.seen[board.head[near]] == stamp:
                is_reached = True
            elif work.within[near] == 0 and color[near] <= WHITE:
                work.within[near] = 1
                work.queue[last] = near
                last += 1
        if work.safe[point] == defender:
            return LARGE_CORE
        if color[point] != defender and not is_reached:
            work.within[point] = 2
            if count < out.size:
                out[count] = point
            count += 1
            if count == LARGE_CORE:
                return count
    return count


@kernel
def _is_doomed(board: Board, work: ProofWork, to_play: int) -> bool:
    """Return whether all chains that the attacker encloses together with the first one are captured for certain.

    The attacker fills everything but the core (`core_into`); what the defender plays makes no core larger.  So no eye
    is left besides one of one or two points, or of three whose middle the attacker has, or takes at once.
    """
    core = work.result
    count = core_into(board, work, core)
    if count < 2:
        return True
    if count > 3:
        return False
    stride = wide(board.info[STRIDE])
    for i in range(count):
        middle, others = wide(core[i]), wide(0)
        for k in range(count):
            steps = abs(wide(core[k]) - middle)
            others += wide(steps == 1 or steps == stride)
        if others == count - 1:
            attacker = BLACK + WHITE - wide(board.color[work.targets[0]])
            takes = to_play == attacker and board.color[middle] == EMPTY and is_legal(board, middle, attacker, False)
            return count == 2 or board.color[middle] == attacker or takes
    return False


@kernel
def _closed_liberties(board: Board, work: ProofWork, stone: int) -> int:
    """Return the number of a chain's liberties beside which each empty point is one too.

    Each empty point of a region that is vital for the chain is of this kind.
    """
    stride, head = wide(board.info[STRIDE]), board.head[stone]
    count = liberties_into(board, stone, work.liberties)
    closed = wide(0)
    for i in range(min(count, work.liberties.size)):
        is_closed = True
        for step in (-1, 1, -stride, stride):
            near = wide(work.liberties[i]) + step
            if board.color[near] == EMPTY:
                touches = False
                for side in (-1, 1, -stride, stride):
                    touches |= board.head[near + side] == head
                is_closed &= touches
        closed += wide(is_closed)
    return closed


@kernel
def _lives(board: Board, work: ProofWork, aim: Aim) -> bool:
    """Return whether all the chains are pass-alive (`work.life` describes why)."""
    for i in range(aim.targets):
        if _closed_liberties(board, work, wide(work.targets[i])) < 2:
            return False
    find_pass_alive(board, wide(board.color[work.targets[0]]), aim.suicide == 1, work.life)
    for i in range(aim.targets):
        if work.life.is_dropped[board.head[work.targets[i]]] == 1:
            return False
    return True


@kernel
def known_result(board: Board, work: ProofWork, aim: Aim, depth: int, color: int) -> int:
    """Return 1 if a position is proved without a search, with its zone written, −1 if it is a failure, else 0."""
    zone = work.zones[depth]
    is_doomed = _is_doomed(board, work, color)
    if is_doomed and aim.captures == 1:
        count = core_into(board, work, work.result)
        stride = wide(board.info[STRIDE])
        for i in range(count):
            point = wide(work.result[i])
            for step in (0, -1, 1, -stride, stride):
                zone[point + step] = 1
        for point in range(board.color.size):
            if board.color[point] == aim.winner and work.seen[board.head[point]] == work.counters[STAMP]:
                zone[point] = 1
        return 1
    if is_doomed:
        return -1
    if not _lives(board, work, aim):
        return 0
    if aim.captures == 1:
        return -1
    life = work.life
    for point in range(board.color.size):
        region = wide(life.region[point])
        is_eye = region >= 0 and life.is_open[region] == 0 and life.vital_count[region] > 0
        is_alive = board.color[point] == aim.winner and life.is_dropped[board.head[point]] == 0
        if is_eye or is_alive:
            zone[point] = 1
    return 1
