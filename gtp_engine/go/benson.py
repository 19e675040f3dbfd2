"""Unconditional life: chains that cannot be captured even if their owner always passes (Benson 1976).

A *region* of a colour is a connected set of points that hold no stone of it.  A region is *vital* for a chain if the
chain touches every one of its empty points (every point, if the rules allow suicide).  A chain with two vital regions
enclosed only by such chains is *pass-alive*: to capture it, the opponent would have to fill one of the two first, which
is suicide.  A region enclosed by pass-alive chains in which at most one point touches none of them is pass-alive
territory: nothing can live inside.

Method and corner cases follow KataGo (`calculateAreaForPla` in its game/board.cpp), whose networks see these maps.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.go.board import EMPTY_COUNT, STRIDE, Board, IntArray, add_once
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE

_VITAL_PER_REGION: Final = 4
"""Most chains that a region is vital for: all of them touch each of its points, which has four neighbours."""

_UNSEEN: Final = -1
_NO_REGION: Final = -2
"""In `LifeWork.region`: the point belongs to a region not numbered yet, or to none (a wall, a stone of the colour)."""


class LifeWork(NamedTuple):
    """Work arrays, reused for every position; n, the padded length, exceeds any number of regions."""

    region: Annotated[IntArray, "n"]  # number of the region a point belongs to, negative if none
    queue: Annotated[IntArray, "n"]  # points of the regions, one region after the other
    start: Annotated[IntArray, "n"]  # where a region's points start in `queue`
    vital: Annotated[IntArray, "n", _VITAL_PER_REGION]  # heads of the chains a region is vital for
    vital_count: Annotated[IntArray, "n"]
    interior: Annotated[IntArray, "n"]  # points of a region that touch no stone of the colour
    holds_enemy: Annotated[IntArray, "n"]  # 1 if enemy stones are in the region
    is_open: Annotated[IntArray, "n"]  # 1 if a chain that is not pass-alive borders the region
    support: Annotated[IntArray, "n"]  # by head: vital regions of a chain that are not open
    is_dropped: Annotated[IntArray, "n"]  # by head: 1 if the chain is not pass-alive
    heads: Annotated[IntArray, "n"]  # heads of the colour's chains


@spliced_kernel
def _touches_chain(board: Board, point: int, head: int) -> bool:
    """Return whether a stone of the chain named `head` is next to `point`."""
    stride = wide(board.info[STRIDE])
    for step in (-1, 1, -stride, stride):
        if board.head[point + step] == head:
            return True
    return False


@spliced_kernel
def _start_region(board: Board, point: int, color: int, index: int, work: LifeWork) -> None:
    """Open region `index` with the empty `point`; at first it is vital for every chain of `color` beside that point."""
    work.queue[work.start[index]] = point
    work.region[point] = index
    work.interior[index] = 0
    work.holds_enemy[index] = 0
    work.is_open[index] = 0
    stride = wide(board.info[STRIDE])
    count = wide(0)
    for step in (-1, 1, -stride, stride):
        if board.color[point + step] == color:
            count = add_once(wide(board.head[point + step]), work.vital[index], count)
    work.vital_count[index] = count


@spliced_kernel
def _keep_vital(board: Board, point: int, index: int, work: LifeWork) -> None:
    """Drop the chains that `point` does not touch from those that region `index` is vital for."""
    kept = 0
    for i in range(work.vital_count[index]):
        head = work.vital[index, i]
        if _touches_chain(board, point, head):
            work.vital[index, kept] = head
            kept += 1
    work.vital_count[index] = kept


@spliced_kernel
def _fill_region(board: Board, color: int, suicide: bool, index: int, work: LifeWork) -> None:
    """Collect the points of region `index` from its first one on, and describe the region in `work`."""
    stride = wide(board.info[STRIDE])
    read = work.start[index]
    write = read + 1
    while read < write:
        point = work.queue[read]
        read += 1
        if board.color[point] != EMPTY:
            work.holds_enemy[index] = 1
        if work.vital_count[index] > 0 and (suicide or board.color[point] == EMPTY):
            _keep_vital(board, point, index, work)
        touches = False
        for step in (-1, 1, -stride, stride):
            neighbor = point + step
            touches |= board.color[neighbor] == color
            if work.region[neighbor] == _UNSEEN:
                work.region[neighbor] = index
                work.queue[write] = neighbor
                write += 1
        work.interior[index] += wide(not touches)
    work.start[index + 1] = write


@spliced_kernel
def _find_regions(board: Board, color: int, suicide: bool, work: LifeWork) -> int:
    """Return the number of regions of `color`, described in `work`."""
    for point in range(board.color.size):
        stone = board.color[point]
        work.region[point] = _NO_REGION if stone == WALL or stone == color else _UNSEEN
    work.start[0] = 0
    count = wide(0)
    # Every region holds an empty point: enemy stones without one would have no liberty.
    for i in range(board.info[EMPTY_COUNT]):
        point = wide(board.empties[i])
        if work.region[point] == _UNSEEN:
            _start_region(board, point, color, count, work)
            _fill_region(board, color, suicide, count, work)
            count += 1
    return count


@spliced_kernel
def _drop_chain(board: Board, head: int, work: LifeWork) -> None:
    """Mark a chain as not pass-alive: the regions around it become open and no longer support their vital chains."""
    work.is_dropped[head] = 1
    stride = wide(board.info[STRIDE])
    stone = head
    for _ in range(board.size[head]):
        for step in (-1, 1, -stride, stride):
            index = work.region[stone + step]
            if index >= 0 and work.is_open[index] == 0:
                work.is_open[index] = 1
                for i in range(work.vital_count[index]):
                    work.support[work.vital[index, i]] -= 1
        stone = board.next_stone[stone]


@kernel
def find_pass_alive(board: Board, color: int, suicide: bool, work: LifeWork) -> int:
    """Return the number of regions of `color`, and set in `work` which of its chains are pass-alive.

    Afterwards `work.is_dropped[head]` is 0 for the pass-alive chains, and `work.is_open[r]` is 0 for the regions
    bordered only by those.  A colour without stones has no regions.
    """
    chains = 0
    for point in range(board.color.size):
        if board.color[point] == color and board.head[point] == point:
            work.heads[chains] = point
            work.support[point] = 0
            work.is_dropped[point] = 0
            chains += 1
    if chains == 0:
        return 0
    regions = _find_regions(board, color, suicide, work)
    for index in range(regions):
        for i in range(work.vital_count[index]):
            work.support[work.vital[index, i]] += 1
    changed = True
    while changed:  # dropping a chain can leave others with fewer than two vital regions
        changed = False
        for i in range(chains):
            head = wide(work.heads[i])
            if work.is_dropped[head] == 0 and work.support[head] < 2:
                _drop_chain(board, head, work)
                changed = True
    return regions


@kernel
def _mark_life(board: Board, color: int, suicide: bool, everything: bool, work: LifeWork, out: IntArray) -> None:
    """Set out[p] = color on the pass-alive chains and territory of one colour.

    With `everything`, also on the regions that hold no enemy stone: always where pass-alive chains enclose them,
    elsewhere only on points not yet marked, so that the other colour's pass-alive territory is kept.
    """
    regions = find_pass_alive(board, color, suicide, work)
    for point in range(board.color.size):
        if board.color[point] == color and work.is_dropped[board.head[point]] == 0:
            out[point] = color
    for index in range(regions):
        is_closed = work.is_open[index] == 0
        is_plain = everything and work.holds_enemy[index] == 0
        is_owned = is_closed and (work.interior[index] <= 1 or is_plain)
        if not is_owned and not is_plain:
            continue
        for i in range(work.start[index], work.start[index + 1]):
            point = work.queue[i]
            if is_owned or out[point] == EMPTY:
                out[point] = color


@kernel
def pass_alive_map(board: Board, suicide: bool, work: LifeWork, out: IntArray) -> None:
    """Set out[p], int32[n]: the colour of the pass-alive chain or territory that `point` belongs to, else EMPTY."""
    for point in range(board.color.size):
        out[point] = EMPTY
    _mark_life(board, wide(BLACK), suicide, False, work, out)
    _mark_life(board, wide(WHITE), suicide, False, work, out)


@kernel
def alive_colors(board: Board, suicide: bool, work: LifeWork, out: IntArray) -> None:
    """Set out[p], int32[n], to the colours of the board without the dead stones in pass-alive territory."""
    pass_alive_map(board, suicide, work, out)
    for point in range(board.color.size):
        is_dead = out[point] != EMPTY and out[point] != board.color[point]
        out[point] = EMPTY if is_dead else board.color[point]


@kernel
def area_map(board: Board, suicide: bool, work: LifeWork, out: IntArray) -> None:
    """Set out[p], int32[n]: the colour that owns the point by area, with pass-alive territory, else EMPTY.

    A colour owns its stones and the empty regions that border no other colour.  Everything in pass-alive territory,
    dead stones included, belongs to the colour that encloses it.
    """
    for point in range(board.color.size):
        out[point] = EMPTY
    _mark_life(board, wide(BLACK), suicide, True, work, out)
    _mark_life(board, wide(WHITE), suicide, True, work, out)
    for point in range(board.color.size):
        stone = board.color[point]
        if out[point] == EMPTY and (stone == BLACK or stone == WHITE):
            out[point] = stone


def pass_alive_owners(board: Board, *, suicide: bool) -> IntArray:
    """Return int32[n] with the colour of the pass-alive chain or territory that each point belongs to, else EMPTY."""
    owners = np.zeros_like(board.color)
    pass_alive_map(board, suicide, zeros(LifeWork, n=owners.size), owners)
    return owners
