"""The part of a cache key that is the same for all rows of a call: rules, komi and how the network is applied."""

from functools import lru_cache
from hashlib import blake2b

import numpy as np

from gtp_engine.evaluation.evaluator import EvaluationOptions
from gtp_engine.evaluation.positions import Conditions


@lru_cache(maxsize=16)
def conditions_key(conditions: Conditions, options: EvaluationOptions) -> np.uint64:
    """Return 64 bits that differ wherever a field differs.

    They are a digest of the packed fields, each of which a double holds exactly.  Python's own `hash` will not do:
    it is the same for −1 and −2.
    """
    packed = np.array([*conditions, *options], dtype=np.float64) + 0.0  # −0 becomes 0
    return np.uint64(int.from_bytes(blake2b(packed.tobytes(), digest_size=8).digest(), "little"))
