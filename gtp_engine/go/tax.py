"""What the taxes take from both sides in a position in which every stone is alive, counted by kernels.

Groups, eyes and seki are those of `scoring`, whose plain Python takes milliseconds: too long for every rollout.
"""

from typing import Final, NamedTuple

import numpy as np

from gtp_engine._jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.area import owners_into
from gtp_engine.go.board import IntArray, padded_length
from gtp_engine.go.constants import BLACK, EMPTY, WHITE

LARGEST_SEKI_EYE: Final = 2
"""Points; the owner can split an eye of three or more into two, so a group with such an eye lives without seki."""

LARGEST_SHARED_AREA: Final = 4
"""Points; both sides of a seki share a small area, a larger neutral one is still to be played."""

_GROUP_TAX: Final = 2
"""Points that a living group with as many eye points pays under the tax ALL."""

_NO_GROUP: Final = 0
_SHARED: Final = -1
"""In `TaxWork.group`: the point is in no group (or not visited yet), or in a neutral area that was visited."""


class TaxWork(NamedTuple):
    """Work arrays; n is the padded length.  A group is named by its first point."""

    queue: IntArray  # [n]
    owners: IntArray  # [n] as `owners_into` sets them
    group: IntArray  # [n] the group that a point belongs to
    eye_points: IntArray  # [group] surrounded points
    needs_seki: IntArray  # [group] 1 if it cannot live by its own eyes
    in_seki: IntArray  # [group] 1 if it lives only because of a shared area


def new_tax_work(width: int, height: int) -> TaxWork:
    """Return work arrays for boards of this size."""
    return TaxWork(*(np.zeros(padded_length(width, height), dtype=np.int32) for _ in TaxWork._fields))


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
