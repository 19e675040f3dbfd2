"""The cache of evaluations: a table of fixed size that drops the least recently used entries.

A key may lie in `WAYS` places of the table, next to each other; a new entry replaces the least recently used one of
them.  So a lookup touches one or two lines of memory, and no list has to be kept in order.

The evaluations themselves lie in the order of their arrival.  The system clears memory when it is first used, in pages
of up to 2 MB: entries at random places would have it clear the whole cache within the first few hundred evaluations.

To fit twice as many entries, probabilities and ownership are stored in 16 bits: the root of a probability (which keeps
small ones distinct) and ownership itself, as multiples of 1/65535 and 1/32767.  `store` also rounds the evaluation it
is given, so that it is the same whether it comes from the network or from the cache.

Letters: B rows of a batch, n the padded length of a board, N places.
"""

from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import Evaluation, FloatArray, Keys
from gtp_engine.go.board import IntArray

WAYS: Final = 8
"""Places for one key: with 8, entries in use are very rarely replaced while the table is half full, and the eight keys
and ages fill two lines of memory."""

NUMBERS: Final = 8
"""Fields of an Evaluation that hold one number per row (`_numbers`)."""

_POLICY_STEP: Final = np.float32(1 / 65535)
_OWNERSHIP_STEP: Final = np.float32(1 / 32767)
_HALF: Final = np.float32(0.5)
_ONE: Final = np.float32(1)

_CLOCK: Final = 0
"""`counts[_CLOCK]` counts lookups and stores; ages are its values."""
_ENTRIES: Final = 1
"""`counts[_ENTRIES]` counts the evaluations in the table."""

_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_HIGH: Final = np.uint64(32)


class Cache(NamedTuple):
    """The arrays of a table."""

    key: Annotated[Keys, "N"]  # 0: the place is free
    age: Annotated[NDArray[np.int64], "N"]  # of its last use, as counted by `counts`
    entry: Annotated[IntArray, "N"]  # the row of its evaluation in the arrays below, which have places for N
    counts: Annotated[NDArray[np.int64], 2]
    policy: Annotated[NDArray[np.uint16], "N", "n"]  # roots of probabilities
    ownership: Annotated[NDArray[np.int16], "N", "n"]
    numbers: Annotated[FloatArray, "N", NUMBERS]


def new_cache(places: int, n: int) -> Cache:
    """Return an empty table for at least `places` evaluations of boards of padded length `n`.

    The system provides memory only as the table fills, 4 n + 52 bytes per evaluation.
    """
    return zeros(Cache, N=-(-places // WAYS) * WAYS, n=n)


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
def find(cache: Cache, keys: Keys, count: int, out: Evaluation, missing: IntArray) -> int:
    """Write the cached evaluations of the first `count` rows; return how many rows are not in the cache.

    These are listed in `missing` [B].  `keys` [B] depend on everything that an evaluation depends on.
    """
    misses = 0
    cache.counts[_CLOCK] += 1
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
        cache.age[found] = cache.counts[_CLOCK]
        _read(cache, wide(cache.entry[found]), row, out)
    return misses


@inlined_kernel
def _numbers(out: Evaluation) -> tuple[FloatArray, ...]:
    """Return the fields of an evaluation that hold one number per row, in the order of `Cache.numbers`."""
    _policy, win, loss, score, stdev, lead, _ownership, time_left, winloss_error, score_error = out
    return win, loss, score, stdev, lead, time_left, winloss_error, score_error


@inlined_kernel
def _read(cache: Cache, entry: int, row: int, out: Evaluation) -> None:
    """Copy an entry to a row."""
    for i, values in enumerate(_numbers(out)):
        values[row] = cache.numbers[entry, i]
    for point in range(out.policy.shape[1]):
        root = np.float32(cache.policy[entry, point]) * _POLICY_STEP
        out.policy[row, point] = root * root
        out.ownership_black[row, point] = np.float32(cache.ownership[entry, point]) * _OWNERSHIP_STEP


@spliced_kernel
def _write(cache: Cache, entry: int, row: int, out: Evaluation) -> None:
    """Copy a row to an entry."""
    for i, values in enumerate(_numbers(out)):
        cache.numbers[entry, i] = values[row]
    for point in range(out.policy.shape[1]):
        probability = out.policy[row, point]
        root = np.sqrt(probability) / _POLICY_STEP + _HALF
        if probability > 0.0:
            root = max(root, _ONE)
        cache.policy[entry, point] = np.uint16(root)
        cache.ownership[entry, point] = np.int16(np.rint(out.ownership_black[row, point] / _OWNERSHIP_STEP))


@kernel
def store(cache: Cache, keys: Keys, rows: IntArray, out: Evaluation) -> None:
    """Store the evaluations of `rows` [K], and round those in `out` to what is stored; parameters are those of `find`.

    A legal move keeps a probability above 0 however small it is.
    """
    cache.counts[_CLOCK] += 1
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
        if cache.key[oldest] == 0:
            cache.entry[oldest] = cache.counts[_ENTRIES]
            cache.counts[_ENTRIES] += 1
        cache.key[oldest] = key
        cache.age[oldest] = cache.counts[_CLOCK]
        entry = wide(cache.entry[oldest])
        _write(cache, entry, row, out)
        _read(cache, entry, row, out)
