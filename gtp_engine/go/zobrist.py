"""The random numbers of position hashes (Zobrist, 1970).

A position's hash is the exclusive or of one number per stone and one for the board's size.  A move changes it by a few
exclusive ors, and equal positions have equal hashes on every machine and in every run.
"""

import hashlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import MAX_SIZE

MAX_POINTS: Final = (MAX_SIZE + 1) * (MAX_SIZE + 2) + 1
"""Length of a padded board array at the largest size."""


def _make_table() -> NDArray[np.uint64]:
    """Return the table, uint64[3, MAX_POINTS]: row 0 holds keys that are not stones, rows 1 and 2 the stones."""
    stream = hashlib.shake_256(b"Tengen position hashes, version 1").digest(3 * MAX_POINTS * 8)
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64).reshape(3, MAX_POINTS)


TABLE: Final = _make_table()
"""`TABLE[color, point]` for a stone; `TABLE[0, color]` for the side to move (situational superko);
`TABLE[0, 4 + size]` and `TABLE[0, 32 + size]` for the width and the height of the board."""


def size_key(width: int, height: int) -> np.uint64:
    """Return the hash of the empty board of this size."""
    return np.uint64(TABLE[0, 4 + width] ^ TABLE[0, 32 + height])
