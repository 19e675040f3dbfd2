"""Which games are held out of training, by a hash of their numbers: independent of their order and of each other."""

from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

_HASH_BYTES: Final = 8

_MIX_A: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B: Final = np.uint64(0x94D049BB133111EB)
"""Multipliers of splitmix64's finalizer (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
2014; variant 13 of Stafford)."""


def number_of(name: str) -> int:
    """Return a number, int64, for the game of this name: the same in every run, almost never that of another game."""
    return int.from_bytes(blake2b(name.encode(), digest_size=_HASH_BYTES).digest(), "little", signed=True)


def is_held_out(games: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Return for each number of a game whether it is held out of training: about `share` of all."""
    key = games.astype(np.uint64)
    key = (key ^ (key >> np.uint64(30))) * _MIX_A
    key = (key ^ (key >> np.uint64(27))) * _MIX_B
    key = key ^ (key >> np.uint64(31))
    fraction: NDArray[np.float64] = (key >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return fraction < share
