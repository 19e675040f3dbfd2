"""Random numbers for kernels: xorshift64 (Marsaglia 2003), its state an array that the caller owns.

State is uint64[1], never 0.  The generator is fast and good enough to choose moves; nothing else should use it.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, wide

State = NDArray[np.uint64]

_HIGH: Final = np.uint64(32)


def new_states(count: int, seed: int | None) -> State:
    """Return `count` independent generator states, uint64[count, 1]; without a seed they differ every time."""
    words = np.random.SeedSequence(seed).generate_state(count, dtype=np.uint64)
    states = words.astype(np.uint64).reshape(count, 1)
    states[states == 0] = 1
    return states


@inlined_kernel
def random_below(state: State, limit: int) -> int:
    """Return a random integer from 0 to limit − 1 (limit ≥ 1, below 2³²) and advance `state`."""
    # Every constant is a uint64: numba, like numpy, turns uint64 with int64 into float64.
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    # A multiplication and a shift instead of a slow modulo (Lemire 2019); the bias is below limit / 2³².
    return wide(((x >> _HIGH) * np.uint64(limit)) >> _HIGH)
