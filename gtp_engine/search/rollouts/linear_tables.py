"""The tables of factors that the linear policy's kernels read, computed from the weights of its file."""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.search.rollouts.linear import (
    FIRST_DIAMOND,
    NAKADE,
    SAVE_BY_CAPTURE,
    SAVE_BY_ESCAPE,
    store_diamonds,
)
from gtp_engine.search.rollouts.linear_weights import LinearTables
from gtp_engine.search.rollouts.neighborhoods import (
    DIAMOND,
    DIAMOND_SIZE,
    PATTERNS,
    SYMMETRIES,
    diamond_images,
    orientations,
    pattern_images,
    plain_patterns,
    playable_patterns,
    swapped_patterns,
)

_GRID: Final = 2.0**20
"""Weights are multiples of 1/2²⁰: sums over 2⁹ points of at most 2¹² each then fit into 53 bits, so they are exact."""
_GREATEST: Final = 2.0**12
_LEAST: Final = 2.0**-12
"""Bounds of a weight, and of a factor, so that sums of their products stay exact."""

REACHES: Final = np.repeat([0, 1, 2], 4)
"""The distance class of each place of a diamond, as in `LinearPolicy.near`."""


@lru_cache(maxsize=1)
def new_tables(policy: LinearPolicy) -> LinearTables:
    """Return the tables of a policy, the last ones from a cache; takes a few tenths of a second and 8 MB."""
    codes = np.arange(PATTERNS)
    weights = np.exp(pattern_scores(policy, codes))
    weights = np.rint(np.clip(weights, _LEAST, _GREATEST) * _GRID) / _GRID * playable_patterns(codes)
    both = np.stack([weights, weights[swapped_patterns(codes)]], axis=1).astype(np.float32)
    factors = np.clip(np.exp(local_scores(policy)), _LEAST, _GREATEST).astype(np.float32)
    return _tables(both, factors, policy.diamonds)


def pattern_scores(policy: LinearPolicy, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of weights of each pattern, for Black's move."""
    with_liberties, plain = np.zeros(PATTERNS), np.zeros(PATTERNS)
    with_liberties[pattern_images(policy.patterns)] = policy.pattern_weights
    plain[pattern_images(policy.plain_patterns)] = policy.plain_weights
    scores: NDArray[np.float64] = with_liberties[codes] + plain[plain_patterns(codes)]
    return scores


def local_scores(policy: LinearPolicy) -> NDArray[np.float64]:
    """Return the sum of weights of each local feature [F]."""
    handcrafted = np.zeros(FIRST_DIAMOND)
    handcrafted[[SAVE_BY_CAPTURE, SAVE_BY_ESCAPE, NAKADE]] = (
        policy.save_by_capture,
        policy.save_by_escape,
        policy.nakade,
    )
    known = np.take_along_axis(policy.diamond_weights, least_places(policy.diamonds), axis=1)
    answers = np.concatenate([np.zeros((1, DIAMOND_SIZE)), known]) + policy.near[REACHES]
    return np.concatenate([handcrafted, answers.ravel()])


def least_places(diamonds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the least equivalent of each place, [R, DIAMOND_SIZE]: in a symmetric diamond, places are equivalent."""
    least = np.tile(np.arange(DIAMOND_SIZE), (len(diamonds), 1))
    for image, places in zip(diamond_images(diamonds), orientations(DIAMOND), strict=True):
        same = image == diamonds
        least[same] = np.minimum(least[same], places)
    return least


def _tables(patterns: NDArray[np.float32], factors: NDArray[np.float32], diamonds: NDArray[np.int64]) -> LinearTables:
    """Return tables with these factors and the hash table of the diamonds."""
    size = 1 << int(2 * SYMMETRIES * len(diamonds) + 1).bit_length()
    keys, entries = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int32)
    features = FIRST_DIAMOND + DIAMOND_SIZE * np.arange(1, len(diamonds) + 1)
    images = diamond_images(diamonds)
    for orientation in range(SYMMETRIES):
        store_diamonds(keys, entries, images[orientation], (features << 3 | orientation).astype(np.int32))
    return LinearTables(patterns, factors, keys, entries, orientations(DIAMOND).astype(np.int32))
