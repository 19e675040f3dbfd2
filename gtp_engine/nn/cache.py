"""The cache of evaluations: a table of fixed size that drops the least recently used entries.

A key may lie in `WAYS` places of the table, next to each other; a new entry replaces the least recently used one of
them.  So a lookup touches one or two lines of memory, and no list has to be kept in order.

To fit twice as many entries, probabilities and ownership are stored in 16 bits: the root of a probability (which keeps
small ones distinct) and ownership itself, as multiples of 1/65535 and 1/32767.  `store` also rounds the evaluation it
is given, so that it is the same whether it comes from the network or from the cache.

Letters: B rows of a batch, n the padded length of a board, N places.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import Evaluation, FloatArray
from gtp_engine.go.board import IntArray

KeyArray = NDArray[np.uint64]

WAYS: Final = 8
"""Places for one key: with 8, entries in use are very rarely replaced while the table is half full, and the eight keys
and ages fill two lines of memory."""

NUMBERS: Final = 8
"""Fields of an Evaluation that hold one number per row."""

_POLICY_STEP: Final = np.float32(1 / 65535)
_OWNERSHIP_STEP: Final = np.float32(1 / 32767)
_HALF: Final = np.float32(0.5)
_ONE: Final = np.float32(1)

_CLOCK: Final = 0
"""`clock[_CLOCK]` counts lookups and stores; ages are its values."""

_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_HIGH: Final = np.uint64(32)


class Cache(NamedTuple):
    """The arrays of a table."""

    key: KeyArray  # [N] 0: the place is free
    age: NDArray[np.int64]  # [N] of its last use, as counted by `clock`
    clock: NDArray[np.int64]  # [1]
    policy: NDArray[np.uint16]  # [N, n] roots of probabilities
    ownership: NDArray[np.int16]  # [N, n]
    numbers: FloatArray  # [N, NUMBERS]


def new_cache(places: int, n: int) -> Cache:
    """Return an empty table for at least `places` evaluations of boards of padded length `n`.

    The system provides memory only as the table fills, 4 n + 48 bytes per evaluation.
    """
    places = -(-places // WAYS) * WAYS
    return Cache(
        key=np.zeros(places, dtype=np.uint64),
        age=np.zeros(places, dtype=np.int64),
        clock=np.zeros(1, dtype=np.int64),
        policy=np.zeros((places, n), dtype=np.uint16),
        ownership=np.zeros((places, n), dtype=np.int16),
        numbers=np.zeros((places, NUMBERS), dtype=np.float32),
    )


@inlined_kernel
def _spread(key: Any) -> Any:
    """Return a key whose high bits depend on all bits of another, never 0."""
    mixed = np.uint64(key) * _MIX
    return (mixed ^ (mixed >> _HIGH)) | np.uint64(1)


@inlined_kernel
def _first_place(cache: Cache, key: Any) -> int:
    """Return the first of the places in which a key may lie."""
    groups = np.uint64(cache.key.size // WAYS)
    return wide(((key >> _HIGH) * groups) >> _HIGH) * WAYS


@kernel
def find(cache: Cache, keys: KeyArray, count: int, out: Evaluation, missing: IntArray) -> int:
    """Write the cached evaluations of the first `count` rows; return how many rows are not in the cache.

    These are listed in `missing` [B].  `keys` [B] depend on everything that an evaluation depends on.
    """
    misses = 0
    cache.clock[_CLOCK] += 1
    for row in range(count):
        key = _spread(keys[row])
        first = _first_place(cache, key)
        found = wide(-1)
        for place in range(first, first + WAYS):
            if cache.key[place] == key:
                found = place
        if found < 0:
            missing[misses] = row
            misses += 1
            continue
        cache.age[found] = cache.clock[_CLOCK]
        _read(cache, found, row, out)
    return misses


@inlined_kernel
def _read(cache: Cache, place: int, row: int, out: Evaluation) -> None:
    """Copy the entry at `place` to a row."""
    numbers = cache.numbers
    out.win_black[row] = numbers[place, 0]
    out.loss_black[row] = numbers[place, 1]
    out.score_black[row] = numbers[place, 2]
    out.score_stdev[row] = numbers[place, 3]
    out.lead_black[row] = numbers[place, 4]
    out.time_left[row] = numbers[place, 5]
    out.winloss_error[row] = numbers[place, 6]
    out.score_error[row] = numbers[place, 7]
    for point in range(out.policy.shape[1]):
        root = np.float32(cache.policy[place, point]) * _POLICY_STEP
        out.policy[row, point] = root * root
        out.ownership_black[row, point] = np.float32(cache.ownership[place, point]) * _OWNERSHIP_STEP


@spliced_kernel
def _write(cache: Cache, place: int, row: int, out: Evaluation) -> None:
    """Copy a row to `place`."""
    numbers = cache.numbers
    numbers[place, 0] = out.win_black[row]
    numbers[place, 1] = out.loss_black[row]
    numbers[place, 2] = out.score_black[row]
    numbers[place, 3] = out.score_stdev[row]
    numbers[place, 4] = out.lead_black[row]
    numbers[place, 5] = out.time_left[row]
    numbers[place, 6] = out.winloss_error[row]
    numbers[place, 7] = out.score_error[row]
    for point in range(out.policy.shape[1]):
        probability = out.policy[row, point]
        root = np.sqrt(probability) / _POLICY_STEP + _HALF
        if probability > 0.0:
            root = max(root, _ONE)
        cache.policy[place, point] = np.uint16(root)
        cache.ownership[place, point] = np.int16(np.rint(out.ownership_black[row, point] / _OWNERSHIP_STEP))


@kernel
def store(cache: Cache, keys: KeyArray, rows: IntArray, out: Evaluation) -> None:
    """Store the evaluations of `rows` [K], and round those in `out` to what is stored; parameters are those of `find`.

    A legal move keeps a probability above 0 however small it is.
    """
    cache.clock[_CLOCK] += 1
    for k in range(rows.size):
        row = wide(rows[k])
        key = _spread(keys[row])
        first = _first_place(cache, key)
        oldest = first
        for place in range(first, first + WAYS):
            if cache.key[place] == key:
                oldest = place
                break
            if cache.age[place] < cache.age[oldest]:
                oldest = place
        cache.key[oldest] = key
        cache.age[oldest] = cache.clock[_CLOCK]
        _write(cache, oldest, row, out)
        _read(cache, oldest, row, out)
