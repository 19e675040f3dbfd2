"""A cache of ladder marks by board.

KataGo's planes show ladders on three boards: the position and those one and two moves ago.  In a search as in a game
the older ones were positions themselves a moment before, so two of three readings can be saved.  The cache is
direct-mapped: each board has one slot, which holds the latest board that was stored there.  A replaced board costs
another reading, never a wrong result (except for equal 64-bit keys).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import spliced_kernel, wide
from gtp_engine.go.board import KO_POINT, Board, IntArray, padded_length
from gtp_engine.go.ladder import LadderWork, MarkArray, ladder_marks, new_ladder_work

_SLOTS: Final = 4096
"""Boards, a power of two: as many as a few seconds of search evaluate.  A slot of a 19×19 board takes 430 bytes."""

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ divided by the golden ratio: spreads keys that differ in the ko point only (Fibonacci hashing)."""


class LadderCache(NamedTuple):
    """The slots, and work arrays for reading; n is the padded length of a board."""

    keys: NDArray[np.uint64]  # [_SLOTS] 0 in a slot never used
    marks: MarkArray  # [_SLOTS, n] as `ladder_marks` writes them
    counts: IntArray  # [n]
    work: LadderWork


def new_ladder_cache(width: int, height: int) -> LadderCache:
    """Return an empty cache for boards of this size."""
    n = padded_length(width, height)
    return LadderCache(
        np.zeros(_SLOTS, dtype=np.uint64),
        np.zeros((_SLOTS, n), dtype=np.uint8),
        np.zeros(n, dtype=np.int32),
        new_ladder_work(width, height),
    )


@spliced_kernel
def _slot_of(key: np.uint64) -> int:
    """Return the slot of boards with this key."""
    return int(key & np.uint64(_SLOTS - 1))


@spliced_kernel
def find_ladders(board: Board, cache: LadderCache) -> int:
    """Return the slot with the marks of `board`, which are computed unless they are cached; the board is restored."""
    key = board.hash[0] ^ (np.uint64(board.info[KO_POINT]) * _SPREAD)
    slot = _slot_of(key)
    if cache.keys[slot] != key:
        ladder_marks(board, cache.counts, cache.work, cache.marks[slot])
        cache.keys[slot] = key
    return wide(slot)
