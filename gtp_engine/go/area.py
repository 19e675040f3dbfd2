"""Area of both colours, and what taxes take from it, counted by kernels.

- `owners_into` takes every stone for alive (Tromp and Taylor's rules).
- `tax_balance` counts the taxes on eyes and groups in such a position.  Groups, eyes and seki are those of `scoring`,
  whose plain Python takes milliseconds: too long for every rollout.
- `taxed_area_map` and `cleaned_up_map` hold the area under group tax by unconditional life, in which eyes count only
  where a group lives by itself, not in seki.  The area of one colour (`benson.area_map`) consists of connected pieces
  of stones and eyes.  A piece that touches an empty point without an owner, or that has a stone in atari, is treated as
  seki: only its stones count.  Any other piece *lives independently* and counts in full; under rules that tax groups,
  each of these pays two points.  Method and corner cases follow KataGo (`calculateIndependentLifeArea` in its
  game/board.cpp), whose networks see these maps under such rules.
"""

from collections.abc import Iterable
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.benson import LifeWork, area_map
from gtp_engine.go.board import STRIDE, Board, IntArray, is_in_atari
from gtp_engine.go.constants import BLACK, EMPTY, LARGEST_SEKI_EYE, LARGEST_SHARED_AREA, WALL, WHITE

_GROUP_TAX: Final = 2
"""Points that a living group with as many eye points pays under the tax ALL."""

_NO_GROUP: Final = 0
_SHARED: Final = -1
"""In `TaxWork.group`: the point is in no group (or not visited yet), or in a neutral area that was visited."""

_UNSEEN = -1


@kernel
def owners_into(color: IntArray, stride: int, queue: IntArray, out: IntArray) -> int:
    """Set out[p] for every point: the colour of its stone, or the only colour that an empty point reaches.

    Empty points that reach both colours or none, and the wall, become EMPTY.  Returns Black's area minus White's.
    `color`, `queue` (work) and `out` are int32[n]; `color` is not changed.
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
    margin = 0
    for point in range(out.size):
        margin += wide(out[point] == BLACK) - wide(out[point] == WHITE)
    return margin


@kernel
def area_margin(board: Board, queue: IntArray, owners: IntArray) -> int:
    """Return Black's area minus White's, and set `owners` as `owners_into` does."""
    return owners_into(board.color, wide(board.info[STRIDE]), queue, owners)


class TaxWork(NamedTuple):
    """Work arrays; n is the padded length.  A group is named by its first point, at which its numbers are."""

    queue: Annotated[IntArray, "n"]
    owners: Annotated[IntArray, "n"]  # as `owners_into` sets them
    group: Annotated[IntArray, "n"]  # the group that a point belongs to
    eye_points: Annotated[IntArray, "n"]  # surrounded points
    needs_seki: Annotated[IntArray, "n"]  # 1 if it cannot live by its own eyes
    in_seki: Annotated[IntArray, "n"]  # 1 if it lives only because of a shared area


@inlined_kernel
def _is_neutral(colors: IntArray, point: int, work: TaxWork) -> bool:
    """Return whether a point is empty and owned by neither side."""
    return bool(colors[point] == EMPTY and work.owners[point] == EMPTY)


@spliced_kernel
def _fill_group(colors: IntArray, stride: int, start: int, work: TaxWork) -> None:
    """Find the group whose first point is `start`, with its eyes."""
    owner = work.owners[start]
    work.queue[0] = start
    work.group[start] = start
    read, write = 0, 1
    eye_points, eye, is_split = 0, 0, False
    while read < write:
        point = work.queue[read]
        read += 1
        if colors[point] == EMPTY:  # up to LARGEST_SEKI_EYE points matter: two are one eye if they are neighbours
            is_split = eye_points == 1 and abs(point - eye) != 1 and abs(point - eye) != stride
            eye_points += 1
            eye = point
        for step in (-1, 1, -stride, stride):
            neighbor = point + step
            if work.owners[neighbor] == owner and work.group[neighbor] == _NO_GROUP:
                work.group[neighbor] = start
                work.queue[write] = neighbor
                write += 1
    work.eye_points[start] = eye_points
    work.needs_seki[start] = wide(eye_points <= LARGEST_SEKI_EYE and not is_split)
    work.in_seki[start] = 0


@spliced_kernel
def _fill_neutral_area(colors: IntArray, stride: int, start: int, work: TaxWork) -> None:
    """Visit the neutral area around `start`, and mark the groups that are in seki because they share it."""
    work.queue[0] = start
    work.group[start] = _SHARED
    read, write = 0, 1
    needy = 0  # colours of the groups beside it that need seki
    while read < write:
        point = work.queue[read]
        read += 1
        for step in (-1, 1, -stride, stride):
            neighbor = point + step
            group = work.group[neighbor]
            if group > _NO_GROUP:
                needy |= work.owners[neighbor] * work.needs_seki[group]
            elif group == _NO_GROUP and _is_neutral(colors, neighbor, work):
                work.group[neighbor] = _SHARED
                work.queue[write] = neighbor
                write += 1
    if write > LARGEST_SHARED_AREA or needy != BLACK | WHITE:
        return
    for i in range(write):
        for step in (-1, 1, -stride, stride):
            group = work.group[work.queue[i] + step]
            if group > _NO_GROUP and work.needs_seki[group] == 1:
                work.in_seki[group] = 1


@kernel
def tax_balance(colors: IntArray, stride: int, taxes_all: bool, work: TaxWork) -> int:
    """Return the points that the tax takes from Black minus those that it takes from White.

    The tax is ALL, or SEKI unless `taxes_all` is set.  `colors`, int32[n], is not changed.
    """
    owners_into(colors, stride, work.queue, work.owners)
    neutral = 0
    for point in range(colors.size):
        work.group[point] = _NO_GROUP
        neutral += wide(_is_neutral(colors, point, work))
    if neutral == 0 and not taxes_all:
        return 0  # without shared areas there is no seki
    for point in range(colors.size):
        if work.owners[point] != EMPTY and work.group[point] == _NO_GROUP:
            _fill_group(colors, stride, wide(point), work)
    for point in range(colors.size):
        if work.group[point] == _NO_GROUP and _is_neutral(colors, point, work):
            _fill_neutral_area(colors, stride, wide(point), work)
    balance = 0
    for point in range(colors.size):
        if work.group[point] != point or work.owners[point] == EMPTY:
            continue
        taxed = wide(work.eye_points[point])
        if work.in_seki[point] == 0:
            taxed = min(taxed, wide(_GROUP_TAX)) if taxes_all else wide(0)
        balance += taxed if work.owners[point] == BLACK else -taxed
    return balance


@spliced_kernel
def _needs_help(board: Board, point: int, area: IntArray) -> bool:
    """Return whether the owned `point` holds its owner's stone in atari or touches an empty point without an owner."""
    if board.color[point] == area[point] and is_in_atari(board, wide(board.head[point])):
        return True
    stride = wide(board.info[STRIDE])
    for step in (-1, 1, -stride, stride):
        neighbor = point + step
        if board.color[neighbor] == EMPTY and area[neighbor] == EMPTY:
            return True
    return False


@spliced_kernel
def _fill_piece(board: Board, start: int, area: IntArray, work: LifeWork) -> int:
    """Write the points of the piece around `start` to work.queue and return their number, negative for a seki."""
    stride = wide(board.info[STRIDE])
    work.queue[0] = start
    work.region[start] = start
    read, write = 0, 1
    is_seki = False
    while read < write:
        point = wide(work.queue[read])
        read += 1
        is_seki |= _needs_help(board, point, area)
        for step in (-1, 1, -stride, stride):
            neighbor = point + step
            if area[neighbor] == area[start] and work.region[neighbor] == _UNSEEN:
                work.region[neighbor] = start
                work.queue[write] = neighbor
                write += 1
    return -write if is_seki else write


@kernel
def taxed_area_map(board: Board, suicide: bool, work: LifeWork, area: IntArray, out: IntArray) -> int:
    """Return Black's pieces that live independently minus White's, and set out[p], int32[n], to the owner of p.

    A colour owns its independent pieces and, elsewhere, its stones that are not dead in pass-alive territory; all other
    points are EMPTY.  `area`, int32[n], receives the area without tax; `suicide` is as in `area_map`.
    """
    area_map(board, suicide, work, area)
    for point in range(out.size):
        out[point] = area[point] if area[point] == board.color[point] else EMPTY
    return _add_independent_pieces(board, area, work, out)


@kernel
def cleaned_up_map(
    board: Board,
    start: NDArray[np.int8],
    keeps_territory: bool,
    suicide: bool,
    work: LifeWork,
    area: IntArray,
    out: IntArray,
) -> int:
    """Return Black's pieces that live independently minus White's, and set out[p], int32[n], to whose point p is.

    This is how KataGo's territory rules count at the end of the second clean-up phase, which began with the stones
    `start` (int8[n]).  A colour owns its independent pieces and, elsewhere, its stones of `start` that are still there;
    with `keeps_territory` also its other area in seki.  `area`, `suicide` and `work` are as in `taxed_area_map`.
    """
    area_map(board, suicide, work, area)
    for point in range(out.size):
        is_territory = keeps_territory and area[point] != board.color[point]
        out[point] = area[point] if is_territory else EMPTY
    balance = _add_independent_pieces(board, area, work, out)
    for point in range(out.size):
        stone = board.color[point]
        if out[point] == EMPTY and (stone == BLACK or stone == WHITE) and start[point] == stone:
            out[point] = stone
    return balance


@kernel
def _add_independent_pieces(board: Board, area: IntArray, work: LifeWork, out: IntArray) -> int:
    """Return Black's pieces that live independently minus White's, after writing their points to `out`."""
    for point in range(out.size):
        work.region[point] = _UNSEEN
    balance = 0
    for start in range(out.size):
        owner = area[start]
        if owner == EMPTY or work.region[start] != _UNSEEN:
            continue
        size = _fill_piece(board, wide(start), area, work)
        for i in range(size):
            out[work.queue[i]] = owner
        if size > 0:
            balance += wide(owner == BLACK) - wide(owner == WHITE)
    return balance


def area_owners(board: Board, dead: Iterable[int] = ()) -> IntArray:
    """Return int32[n] with BLACK or WHITE for stones and empty points that reach only them, else EMPTY.

    The stones on `dead` are taken off before.
    """
    colors, owners = board.color.copy(), np.zeros_like(board.color)
    colors[list(dead)] = EMPTY
    owners_into(colors, int(board.info[STRIDE]), np.zeros_like(colors), owners)
    return owners
