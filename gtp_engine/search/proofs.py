"""Proofs of local fights: whether a chain can be captured, or cannot, whatever the other side plays anywhere.

These are the kernels; `fights` asks them.

Method: depth-first proof-number search (Nagai 2002) with the weak proof numbers of Ueda et al. (2008), and with zones
of relevant points (Shih et al. 2022).  A search proves the aim of one side, the *winner*, and nothing else: that it
fails to find a proof says nothing about the other side's aim, which is for a search of its own.  So the winner's moves
may be any selection (here those near the chain), while of the loser's moves none is left out: a move of the loser
outside the proof's zone is answered as a pass is.

Zones.  The proof of a position holds for every position that agrees with it on the zone: it contains each move of the
proof with what decides its legality and its captures, and, where the loser is to move, every chain of the winner's in
it with a liberty, so that no move elsewhere captures one.  The loser's pass is proved first; its zone shows which
moves could make a difference, each of which is proved in turn and may extend the zone.

*Survival* needs no eyes: a chain survives if it is not captured after any move, while its side may pass.  So
seki, two eyes, a connection and a won race are one thing.  *Capture* counts if the capturing chain has two liberties
then, or more where four stones or more were taken, as else the place might be retaken.

Two things are known without a search: what is pass-alive is not captured, and what an attacker's pass-alive chains
enclose is captured if the eye space left to it is too small (`eye_spaces`).  Chains that are pass-alive at the start
need no liberty in a zone: it holds as long as they stay so.

Ko.  A proof without ko holds though the loser may retake any ko at once, as if it had endless threats; the winner may
not.  With `retakes` it is the other way round.  What one side proves only with it is a ko.  A repetition is a failure
of the winner, so proofs do not depend on the way to a position.  Superko is not read.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, wide
from gtp_engine.go.board import (
    KO_COLOR,
    KO_POINT,
    STRIDE,
    Board,
    IntArray,
    clear_ko,
    is_in_atari,
    is_legal,
    liberties_into,
)
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WALL, WHITE
from gtp_engine.go.tactics import is_real_eye
from gtp_engine.search.eye_spaces import LARGE_CORE, core_into, known_result
from gtp_engine.search.proof_work import (
    DEPTH,
    FOUND,
    LIBERTIES,
    MOVES,
    NODES_OPENED,
    STAMP,
    Aim,
    ProofWork,
    Zones,
    play_move,
    position_key,
    slot_of,
    take_back,
)

_RADIUS: Final = 3
"""Steps across empty points from the chain, or from chains connected with it, within which the winner moves."""

_FREE_CHAIN: Final = 2
_WEAK_CHAIN: Final = 5
"""Liberties up to which an enemy chain is no obstacle for this distance, and up to which it counts as one step."""

LARGE_CAPTURE: Final = 4
"""Stones whose capture may leave room to cut off what captured them: a square of four is the smallest such shape."""

_IDLE_STEPS: Final = 3
"""Steps by which moves that change no eye space seem farther from the chain: they can wait."""

_LIKELY_LIBERTIES: Final = 5
"""Liberties from which a chain is expected to survive: the first proof number is what it has less."""

_SOLVED: Final = 1 << 28
"""An infinite proof number."""

_PN: Final = 0
_DN: Final = 1
_MOVE: Final = 2
_LENGTH: Final = 3
_RESERVE: Final = 4
"""Columns of `table`: proof and disproof number, the best move (the loser's longest defence), moves of the line, and
how many moves elsewhere the loser may make before chains that count as safe could be captured."""

_MAX_PN: Final = 0
_MAX_DN: Final = 1
_COUNT: Final = 2
_CHILD: Final = 3
_REPLY: Final = 4
_LINE: Final = 5
_STATE: Final = 6
_SPARE: Final = 7
"""Columns of `stack`: thresholds, moves left, the one being tried, the move and the length of the longest line so far,
1 if the node is proved, −1 if it cannot be, and what becomes `_RESERVE`."""


@kernel
def _add_chain(board: Board, stone: int, around: bool, zone: Zones) -> None:
    """Add the points of the chain of a stone to a zone, and with `around` all points next to them."""
    stride = wide(board.info[STRIDE])
    for _ in range(board.size[board.head[stone]]):
        zone[stone] = 1
        if around:
            for step in (-1, 1, -stride, stride):
                zone[stone + step] = 1
        stone = wide(board.next_stone[stone])


@kernel
def _is_safe(board: Board, work: ProofWork, head: int) -> bool:
    """Return whether a chain contains a stone that was pass-alive at the start."""
    stone = head
    for _ in range(board.size[head]):
        if work.safe[stone] == board.color[stone]:
            return True
        stone = wide(board.next_stone[stone])
    return False


@kernel
def _add_liberty(board: Board, work: ProofWork, aim: Aim, depth: int, head: int, besides: int) -> None:
    """Add a liberty of a chain other than `besides` to the zone of a node, unless one is in it or there is none.

    It is the one with the most neighbours of the chain's colour: there the other side's move means least.  A chain of
    an attacking winner needs none if it has liberties enough for all moves that the loser has during the proof, and no
    chain does that is pass-alive.
    """
    zone, stride = work.zones[depth], wide(board.info[STRIDE])
    color = board.color[head]
    if _is_safe(board, work, head):
        return
    if aim.captures == 1 and color == aim.winner:
        liberties = liberties_into(board, head, work.liberties)
        if liberties >= aim.reserve:
            work.stack[depth, _SPARE] = min(work.stack[depth, _SPARE], liberties - 2)
            return
    stone, found, most = head, wide(NULL_POINT), wide(-1)
    for _ in range(board.size[head]):
        for step in (-1, 1, -stride, stride):
            point = stone + step
            if board.color[point] != EMPTY or point == besides:
                continue
            if zone[point] == 1:
                return
            friends = wide(0)
            for side in (-1, 1, -stride, stride):
                friends += wide(board.color[point + side] == color or board.color[point + side] == WALL)
            if friends > most:
                found, most = point, friends
        stone = wide(board.next_stone[stone])
    if found != NULL_POINT:
        zone[found] = 1


@kernel
def _add_footprint(board: Board, work: ProofWork, aim: Aim, depth: int, point: int, color: int) -> None:
    """Add to the zone of a node what decides whether a move is legal and what it captures, before it is played.

    That is the point with its neighbours and the chains there; of a chain that is captured, or dies by suicide, all
    that is around it; of any other one a liberty that is left.
    """
    zone, stride = work.zones[depth], wide(board.info[STRIDE])
    zone[point] = 1
    lives = False
    for step in (-1, 1, -stride, stride):
        near = point + step
        zone[near] = 1
        stone = board.color[near]
        if stone == EMPTY:
            lives = True
        elif stone == BLACK + WHITE - color:
            is_captured = is_in_atari(board, wide(board.head[near]))
            lives |= is_captured
            _add_chain(board, wide(board.head[near]), is_captured, zone)
            if not is_captured:
                _add_liberty(board, work, aim, depth, wide(board.head[near]), point)
        elif stone == color:
            lives |= not is_in_atari(board, wide(board.head[near]))
    kept = False
    for step in (-1, 1, -stride, stride):
        near = point + step
        if board.color[near] == color:
            _add_chain(board, wide(board.head[near]), not lives, zone)
            if lives and not kept and not is_in_atari(board, wide(board.head[near])):
                _add_liberty(board, work, aim, depth, wide(board.head[near]), point)
                kept = True


@kernel
def _close_zone(board: Board, work: ProofWork, aim: Aim, depth: int) -> None:
    """Add the rest of each chain of the winner's that the zone of a node touches, with a liberty."""
    zone = work.zones[depth]
    work.counters[STAMP] += 1
    stamp = work.counters[STAMP]
    for point in range(board.color.size):
        if zone[point] == 1 and board.color[point] == aim.winner and work.seen[board.head[point]] != stamp:
            head = wide(board.head[point])
            work.seen[head] = stamp
            _add_chain(board, head, False, zone)
            _add_liberty(board, work, aim, depth, head, wide(NULL_POINT))


@kernel
def _near_into(board: Board, work: ProofWork, aim: Aim, out: IntArray) -> int:
    """Write the empty points near the chains to `out`, the nearest first, and return their number.

    `work.distance` has their distances then.
    """
    color, stride = board.color, wide(board.info[STRIDE])
    defender = wide(color[work.targets[0]])
    for point in range(color.size):
        work.distance[point] = -1
    first, last, count = wide(0), wide(0), wide(0)
    for i in range(aim.targets):
        stone = wide(work.targets[i])
        while work.distance[stone] < 0:
            work.queue[last] = stone
            work.distance[stone] = 0
            last += 1
            stone = wide(board.next_stone[stone])
    while first < last:
        point = wide(work.queue[first])
        first += 1
        for step in (-1, 1, -stride, stride):
            near = point + step
            if work.distance[near] >= 0 or (color[near] != EMPTY and color[near] != BLACK and color[near] != WHITE):
                continue
            steps = wide(work.distance[point])
            if color[near] == EMPTY:
                if steps < _RADIUS and count < out.size - 1:
                    work.distance[near] = steps + 1
                    work.queue[last] = near
                    last += 1
                    out[count] = near
                    count += 1
                continue
            if color[near] != defender:
                liberties = liberties_into(board, near, work.liberties)
                if liberties > _WEAK_CHAIN or (liberties > _FREE_CHAIN and steps >= _RADIUS):
                    continue
                steps += wide(liberties > _FREE_CHAIN)
            stone = near
            for _ in range(board.size[board.head[near]]):
                work.queue[last] = stone
                work.distance[stone] = steps
                last += 1
                stone = wide(board.next_stone[stone])
    return count


@kernel
def _is_taken_for_good(board: Board, work: ProofWork, point: int, target: int) -> bool:
    """Return whether the chain of `target`, which a move on `point` has captured, is not retaken at once.

    The capturing chain needs two liberties.  After `LARGE_CAPTURE` each chain around needs three, unless it is a single
    stone that has just been played, as one with fewer might be cut off in the place left empty.
    """
    if liberties_into(board, point, work.liberties) < 2:
        return False
    stride = wide(board.info[STRIDE])
    stones, is_safe, stone = wide(0), True, wide(target)
    while True:  # the list of a captured chain's stones stays as it was
        for step in (-1, 1, -stride, stride):
            near = stone + step
            if board.color[near] != BLACK and board.color[near] != WHITE:
                continue
            is_alone = near == point and board.size[near] == 1
            is_safe &= is_alone or liberties_into(board, near, work.liberties) >= 3
        stones += 1
        stone = wide(board.next_stone[stone])
        if stone == target:
            return is_safe or stones < LARGE_CAPTURE


@inlined_kernel
def _is_on_path(work: ProofWork, key: np.uint64, depth: int) -> bool:
    """Return whether a position is one of those on the path down to `depth`."""
    for i in range(depth + 1):
        if work.keys[i] == key:
            return True
    return False


@kernel
def _first_numbers(board: Board, work: ProofWork, aim: Aim, distance: int, out: NDArray[np.int64]) -> None:
    """Write the proof and disproof number to `out` that a position has before it is opened.

    The last move was `distance` steps from the chain.
    """
    hold = wide(LIBERTIES)
    for i in range(aim.targets):
        hold = min(hold, liberties_into(board, wide(work.targets[i]), work.liberties))
    hold = min(hold, core_into(board, work, work.result))
    lack = max(1, _LIKELY_LIBERTIES - hold)
    out[_PN] = (max(1, hold) if aim.captures == 1 else lack) + distance
    out[_DN] = lack if aim.captures == 1 else max(1, hold // 2)


@kernel
def _captured_target(board: Board, work: ProofWork, aim: Aim) -> int:
    """Return the stone of a chain that is not on the board any more, NULL_POINT if there is none."""
    for i in range(aim.targets):
        if board.color[work.targets[i]] == EMPTY:
            return wide(work.targets[i])
    return wide(NULL_POINT)


@kernel
def _add_move(board: Board, work: ProofWork, aim: Aim, depth: int, point: int, color: int, distance: int) -> int:
    """Add a legal move or PASS to those of a node unless its result is known: 1 for proved, −1 for a failure, else 0.

    For a proved position `work.counters[FOUND]` is its entry then, or −1 for the capture itself.
    """
    play_move(board, work, depth, point, color, aim)
    result, captured = wide(0), _captured_target(board, work, aim)
    if captured != NULL_POINT and aim.captures == 1:
        is_suicide = color != aim.winner
        result = 1 if is_suicide or _is_taken_for_good(board, work, point, captured) else -1
        work.counters[FOUND] = -1
    elif captured != NULL_POINT:
        result = -1
    else:
        key = position_key(board, BLACK + WHITE - color)
        if _is_on_path(work, key, depth):
            result = -1
        else:
            slot = slot_of(work, key)
            if work.table_keys[slot] == key:
                pn, dn = wide(work.table[slot, _PN]), wide(work.table[slot, _DN])
            else:
                _first_numbers(board, work, aim, distance, work.result)
                pn, dn = wide(work.result[_PN]), wide(work.result[_DN])
            if pn == 0:
                result = 1
                work.counters[FOUND] = slot
            elif dn == 0:
                result = -1
            else:
                count = work.stack[depth, _COUNT]
                work.moves[depth, count] = point
                work.numbers[depth, count, _PN] = pn
                work.numbers[depth, count, _DN] = dn
                work.stack[depth, _COUNT] = count + 1
    take_back(board, work, depth)
    return result


@kernel
def _take_proof(board: Board, work: ProofWork, aim: Aim, depth: int, point: int, color: int, slot: int) -> None:
    """Extend the zone and the line of a node by a move whose position, with entry `slot` if any, is proved."""
    zone, length = work.zones[depth], wide(1)
    if slot >= 0:
        for i in range(zone.size):
            zone[i] |= work.table_zones[slot, i]
        length += work.table[slot, _LENGTH]
        work.stack[depth, _SPARE] = min(work.stack[depth, _SPARE], wide(work.table[slot, _RESERVE]))
    if point != PASS:
        _add_footprint(board, work, aim, depth, point, color)
    if length > work.stack[depth, _LINE]:
        work.stack[depth, _LINE] = length
        work.stack[depth, _REPLY] = point


@kernel
def _open_for_winner(board: Board, work: ProofWork, aim: Aim, depth: int) -> None:
    """List the winner's moves, the nearest first; the node is proved if one of them is."""
    near, stride = work.near, wide(board.info[STRIDE])
    count = _near_into(board, work, aim, near)
    if core_into(board, work, work.result) < LARGE_CORE:
        for i in range(count):
            is_idle = True
            for step in (0, -1, 1, -stride, stride):
                is_idle &= work.within[near[i] + step] != 2
            work.distance[near[i]] += _IDLE_STEPS * wide(is_idle)
    if aim.captures == 0 and _add_move(board, work, aim, depth, wide(PASS), aim.winner, wide(0)) == 1:
        _take_proof(board, work, aim, depth, wide(PASS), aim.winner, wide(work.counters[FOUND]))
        work.stack[depth, _STATE] = 1
        return
    for i in range(count):
        point = wide(near[i])
        if not is_legal(board, point, aim.winner, False) or is_real_eye(board, point, aim.winner):
            continue
        if _add_move(board, work, aim, depth, point, aim.winner, wide(work.distance[point]) - 1) == 1:
            _take_proof(board, work, aim, depth, point, aim.winner, wide(work.counters[FOUND]))
            work.stack[depth, _STATE] = 1
            return
    if work.stack[depth, _COUNT] == 0:
        work.stack[depth, _STATE] = -1


@kernel
def _open_for_loser(board: Board, work: ProofWork, aim: Aim, depth: int) -> None:
    """Begin with the loser's pass, which has to be proved before its moves.

    A survivor answers it by a pass, and the position is the same again, unless that lifts a ban by ko.
    """
    if aim.captures == 0:
        for i in range(aim.targets):
            _add_chain(board, wide(work.targets[i]), False, work.zones[depth])
        if board.info[KO_POINT] == NULL_POINT:
            _extend(board, work, aim, depth)
            return
    result = _add_move(board, work, aim, depth, wide(PASS), BLACK + WHITE - aim.winner, wide(0))
    if result == 1:
        _take_proof(board, work, aim, depth, wide(PASS), aim.winner, wide(work.counters[FOUND]))
        _extend(board, work, aim, depth)
    elif result == -1:
        work.stack[depth, _STATE] = -1


@kernel
def _extend(board: Board, work: ProofWork, aim: Aim, depth: int) -> None:
    """List the loser's moves in the zone, which those that are proved already extend, until no other is left."""
    loser, zone = BLACK + WHITE - aim.winner, work.zones[depth]
    changed = True
    while changed:
        changed = False
        _close_zone(board, work, aim, depth)
        for point in range(board.color.size):
            if zone[point] == 0 or board.color[point] != EMPTY or work.examined[depth, point] == 1:
                continue
            work.examined[depth, point] = 1
            if not is_legal(board, point, loser, aim.suicide == 1):
                _add_footprint(board, work, aim, depth, point, loser)
                changed = True
                continue
            if work.stack[depth, _COUNT] == MOVES:
                work.stack[depth, _STATE] = -1
                return
            result = _add_move(board, work, aim, depth, point, loser, wide(0))
            if result == -1:
                work.stack[depth, _STATE] = -1
                return
            if result == 1:
                _take_proof(board, work, aim, depth, point, loser, wide(work.counters[FOUND]))
                changed = True
    if work.stack[depth, _COUNT] == 0:
        work.stack[depth, _STATE] = 1


@kernel
def _open(board: Board, work: ProofWork, aim: Aim, depth: int, color: int) -> None:
    """Open the position on the board as the node at `depth`, with `color` to play."""
    work.counters[NODES_OPENED] += 1
    work.keys[depth] = position_key(board, color)
    for i in range(_COUNT, _STATE + 1):
        work.stack[depth, i] = 0
    work.stack[depth, _SPARE] = DEPTH
    for i in range(board.color.size):
        work.zones[depth, i] = 0
        work.examined[depth, i] = 0
    state = known_result(board, work, aim, depth, color)
    if state == -1 or (state == 1 and (depth > 0 or color != aim.winner)):
        work.stack[depth, _STATE] = state
        return
    for i in range(board.color.size):
        work.zones[depth, i] = 0
    if color == aim.winner:
        _open_for_winner(board, work, aim, depth)
    else:
        _open_for_loser(board, work, aim, depth)


@kernel
def _select(work: ProofWork, depth: int, is_winner: bool, result: NDArray[np.int64]) -> None:
    """Write the numbers of an open node and the thresholds of its most promising move to `result`.

    These are its proof and disproof number, and those up to which that move is searched.  The larger kind of number is
    the greatest of the moves' and one for each other move, as sums count what lines have in common many times.
    """
    low, high = (_PN, _DN) if is_winner else (_DN, _PN)
    count = work.stack[depth, _COUNT]
    least, second, largest, best = wide(_SOLVED), wide(_SOLVED), wide(0), wide(0)
    for i in range(count):
        number = wide(work.numbers[depth, i, low])
        largest = max(largest, wide(work.numbers[depth, i, high]))
        if number < least:
            least, second, best = number, least, wide(i)
        elif number < second:
            second = number
    work.stack[depth, _CHILD] = best
    result[low] = least
    result[high] = min(largest + count - 1, wide(_SOLVED))
    # A little more than the second best, so that the search does not jump between the two at every step.
    result[2 + low] = min(work.stack[depth, low], second + 1 + second // 4)
    result[2 + high] = work.stack[depth, high] - (count - 1)


@kernel
def _store(work: ProofWork, depth: int, pn: int, dn: int) -> int:
    """Write the node at `depth` to the table, and return its entry."""
    key = work.keys[depth]
    slot = slot_of(work, key)
    if work.table_keys[slot] == 0:
        work.table_keys[slot] = key
    work.table[slot, _PN] = pn
    work.table[slot, _DN] = dn
    work.table[slot, _MOVE] = work.stack[depth, _REPLY]
    work.table[slot, _LENGTH] = work.stack[depth, _LINE]
    work.table[slot, _RESERVE] = work.stack[depth, _SPARE]
    if pn == 0:
        for i in range(work.table_zones.shape[1]):
            work.table_zones[slot, i] = work.zones[depth, i]
    return slot


@kernel
def _return_to(board: Board, work: ProofWork, aim: Aim, depth: int, color: int, slot: int) -> None:
    """Take the result of the move that the node at `depth`, with `color` to play, has tried from entry `slot`."""
    child, count = work.stack[depth, _CHILD], work.stack[depth, _COUNT]
    pn, dn = wide(work.table[slot, _PN]), wide(work.table[slot, _DN])
    work.numbers[depth, child, _PN] = pn
    work.numbers[depth, child, _DN] = dn
    point = wide(work.moves[depth, child])
    if pn > 0 and dn > 0:
        return
    is_winner = color == aim.winner
    if (pn == 0) == is_winner:  # one move decides
        if is_winner:
            _take_proof(board, work, aim, depth, point, color, slot)
        work.stack[depth, _STATE] = 1 if is_winner else -1
        return
    last = count - 1
    work.moves[depth, child] = work.moves[depth, last]
    work.numbers[depth, child, _PN] = work.numbers[depth, last, _PN]
    work.numbers[depth, child, _DN] = work.numbers[depth, last, _DN]
    work.stack[depth, _COUNT] = last
    if is_winner:
        if last == 0:
            work.stack[depth, _STATE] = -1
        return
    _take_proof(board, work, aim, depth, point, color, slot)
    _extend(board, work, aim, depth)


@kernel
def prove(board: Board, work: ProofWork, aim: Aim, to_play: int, nodes: int) -> int:
    """Return 1 if the aim is proved with `to_play` to move, −1 if these moves cannot prove it, 0 at the limit of nodes.

    It is 2 if the proof is longer than `aim.reserve` allows.  The board stays as it is, but for a ban by ko.
    The table holds the proof, `work.counters[0]` the nodes.
    """
    for i in range(work.table_keys.size):
        work.table_keys[i] = np.uint64(0)
    work.counters[NODES_OPENED] = 0
    if board.info[KO_COLOR] != aim.obeys:
        clear_ko(board)
    depth, color = wide(0), wide(to_play)
    work.stack[0, _MAX_PN] = _SOLVED
    work.stack[0, _MAX_DN] = _SOLVED
    _open(board, work, aim, depth, color)
    while True:
        state = work.stack[depth, _STATE]
        if state == 0:
            _select(work, depth, color == aim.winner, work.result)
        pn = wide(0) if state == 1 else wide(_SOLVED) if state == -1 else wide(work.result[_PN])
        dn = wide(_SOLVED) if state == 1 else wide(0) if state == -1 else wide(work.result[_DN])
        is_late = work.counters[NODES_OPENED] >= nodes
        if state != 0 or is_late or pn >= work.stack[depth, _MAX_PN] or dn >= work.stack[depth, _MAX_DN]:
            slot = _store(work, depth, pn, dn)
            if depth == 0:
                is_short = work.stack[0, _LINE] // 2 + 1 <= work.stack[0, _SPARE]
                return state if state != 1 or is_short else 2
            depth -= 1
            color = BLACK + WHITE - color
            take_back(board, work, depth)
            _return_to(board, work, aim, depth, color, slot)
            continue
        child = work.stack[depth, _CHILD]
        if depth == work.keys.size - 1:  # too deep: a failure
            work.stack[depth, _STATE] = -1
            continue
        work.stack[depth + 1, _MAX_PN] = work.result[2 + _PN]
        work.stack[depth + 1, _MAX_DN] = work.result[2 + _DN]
        play_move(board, work, depth, wide(work.moves[depth, child]), color, aim)
        depth += 1
        color = BLACK + WHITE - color
        _open(board, work, aim, depth, color)


@kernel
def read_proof(board: Board, work: ProofWork, aim: Aim, to_play: int, zone: Zones, line: IntArray) -> int:
    """Write the zone of a proof that `prove` has found on this board and its line, and return the line's length.

    The line has the loser's longest defence; it is played on the board.
    """
    slot = slot_of(work, position_key(board, to_play))
    for i in range(zone.size):
        zone[i] = work.table_zones[slot, i]
    count, color = wide(0), wide(to_play)
    while count < line.size:
        slot = slot_of(work, position_key(board, color))
        point = wide(work.table[slot, _MOVE])
        if work.table_keys[slot] == 0 or point == NULL_POINT:
            break
        line[count] = point
        count += 1
        play_move(board, work, wide(0), point, color, aim)
        color = BLACK + WHITE - color
    return count
