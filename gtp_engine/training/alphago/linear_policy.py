"""The linear rollout policy of AlphaGo (Silver et al. 2016, extended data table 4): weights, their file, their tables.

A move's odds are the exponential of the sum of its features' weights.  The features are defined where they are
computed (`neighborhoods`, `linear_rollouts`).  The file is `rollout-policy.npz`, beside the networks in a model's
folder; it does not depend on the board size:

    meta                JSON: format, kind, features, name, origin, license
    patterns            int32 [P], pattern_weights   float32 [P]
    plain_patterns      int32 [Q], plain_weights     float32 [Q]
    diamonds            int64 [R], diamond_weights   float32 [R, 12]
    near                float32 [3]
    urgent              float32 [3]  save_by_capture, save_by_escape, nakade

The kernels read tables of factors, which `new_tables` computes from the weights.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError, shown, shown_path
from gtp_engine.base.files import ZIP_DAMAGE, json_of, open_regular, replacing
from gtp_engine.training.alphago.linear_rollouts import FIRST_DIAMOND, LinearTables, store_diamonds
from gtp_engine.training.alphago.neighborhoods import (
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

FEATURES: Final = "linear-1"
"""The set of features; weights of another set mean something else."""

FORMAT: Final = 1
KIND: Final = "linear-rollout"

_BITS: Final = {"patterns": 20, "plain_patterns": 20, "diamonds": 3 * DIAMOND_SIZE}
"""Of the codes in each array of them."""
_TEXTS: Final = ("name", "origin", "license")
_ADVICE: Final = "train one with `gtp-engine alphago rollout-policy`"

_GRID: Final = 2.0**20
"""Weights are multiples of 1/2²⁰: sums over 2⁹ points of at most 2¹² each then fit into 53 bits, so they are exact."""
_GREATEST: Final = 2.0**12
_LEAST: Final = 2.0**-12
"""Bounds of a weight, and of a factor, so that sums of their products stay exact."""

REACHES: Final = np.repeat([0, 1, 2], 4)
"""The distance class of each place of a diamond, as in `LinearPolicy.near`."""


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """Weights by feature; patterns that are not listed have weight 0.  P, Q and R count the patterns of each kind.

    Patterns and diamonds are seen by Black, the side to move, in the one of eight orientations with the smallest code.
    """

    patterns: NDArray[np.int64]  # [P] patterns with liberties around the move
    pattern_weights: NDArray[np.float32]  # [P]
    plain_patterns: NDArray[np.int64]  # [Q] the same without liberties
    plain_weights: NDArray[np.float32]  # [Q]
    diamonds: NDArray[np.int64]  # [R] diamonds around the opponent's last move
    diamond_weights: NDArray[np.float32]  # [R, DIAMOND_SIZE] of a move on each of their points
    near: NDArray[np.float32]  # [3] of a move beside, diagonal to and two steps from the last one
    urgent: NDArray[np.float32]  # [3] by SAVE_BY_CAPTURE, SAVE_BY_ESCAPE and NAKADE
    name: str = ""
    origin: str = ""
    license: str = ""


def write_linear_policy(path: Path, policy: LinearPolicy) -> None:
    """Write a file; an older one is replaced once the new one is complete."""
    arrays = vars(policy).copy()
    meta = {"format": FORMAT, "kind": KIND, "features": FEATURES} | {name: arrays.pop(name) for name in _TEXTS}
    arrays |= {name: arrays[name].astype(np.int32) for name in ("patterns", "plain_patterns")}
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **arrays)


def read_linear_policy(path: Path) -> LinearPolicy:
    """Return the policy in a file; raises ModelError if the file is damaged, of another kind or feature set."""
    try:
        with open_regular(path) as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        meta = json_of(str(arrays["meta"]))
        for name, expected in (("kind", KIND), ("format", FORMAT), ("features", FEATURES)):
            if meta[name] != expected:
                given = f"rollout policy {shown(path.name)} has {name} {shown(meta[name])}"
                raise ModelError(given, expected=str(expected), advice=_ADVICE)
        return _policy_of(arrays, meta)
    except OSError as error:
        raise ModelError(f"rollout policy {shown_path(path)} cannot be read ({error.strerror})") from error
    except ZIP_DAMAGE as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{shown(path.name)} is damaged or no rollout policy", advice=_ADVICE) from error


def _policy_of(arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> LinearPolicy:
    """Return the policy; raises ValueError for arrays of wrong shape, type or range."""
    fields: dict[str, Any] = {name: _codes(arrays[name], bits) for name, bits in _BITS.items()}
    shapes = {
        "pattern_weights": fields["patterns"].shape,
        "plain_weights": fields["plain_patterns"].shape,
        "diamond_weights": (len(fields["diamonds"]), DIAMOND_SIZE),
        "near": (3,),
        "urgent": (FIRST_DIAMOND,),
    }
    fields |= {name: _weights(arrays[name], shape) for name, shape in shapes.items()}
    fields |= {name: str(meta[name]) for name in _TEXTS}
    return LinearPolicy(**fields)


def _codes(array: NDArray[Any], bits: int) -> NDArray[np.int64]:
    if array.ndim != 1 or array.dtype.kind != "i" or ((array < 0) | (array >= 1 << bits)).any():
        raise ValueError("codes")
    return array.astype(np.int64)


def _weights(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.float32]:
    if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
        raise ValueError("weights")
    return array


@lru_cache(maxsize=1)
def new_tables(policy: LinearPolicy) -> LinearTables:
    """Return the tables of a policy, the last ones from a cache; takes a few tenths of a second and 8 MB."""
    codes = np.arange(PATTERNS)
    weights = np.exp(pattern_scores(policy, codes))
    weights = np.rint(np.clip(weights, _LEAST, _GREATEST) * _GRID) / _GRID * playable_patterns(codes)
    both = np.stack([weights, weights[swapped_patterns(codes)]], axis=1).astype(np.float32)
    factors = np.clip(np.exp(local_scores(policy)), _LEAST, _GREATEST).astype(np.float32)
    size = 1 << int(2 * SYMMETRIES * len(policy.diamonds) + 1).bit_length()
    keys, entries = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int32)
    features = FIRST_DIAMOND + DIAMOND_SIZE * np.arange(1, len(policy.diamonds) + 1)
    for orientation, images in enumerate(diamond_images(policy.diamonds)):
        store_diamonds(keys, entries, images, (features << 3 | orientation).astype(np.int32))
    return LinearTables(both, factors, keys, entries, orientations(DIAMOND).astype(np.int32))


def pattern_scores(policy: LinearPolicy, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of weights of each pattern, for Black's move."""
    with_liberties, plain = np.zeros(PATTERNS), np.zeros(PATTERNS)
    with_liberties[pattern_images(policy.patterns)] = policy.pattern_weights
    plain[pattern_images(policy.plain_patterns)] = policy.plain_weights
    scores: NDArray[np.float64] = with_liberties[codes] + plain[plain_patterns(codes)]
    return scores


def local_scores(policy: LinearPolicy) -> NDArray[np.float64]:
    """Return the sum of weights of each local feature [F]."""
    known = np.take_along_axis(policy.diamond_weights, least_places(policy.diamonds), axis=1)
    answers = np.concatenate([np.zeros((1, DIAMOND_SIZE)), known]) + policy.near[REACHES]
    return np.concatenate([policy.urgent, answers.ravel()])


def least_places(diamonds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the least equivalent of each place, [R, DIAMOND_SIZE]: in a symmetric diamond, places are equivalent."""
    least = np.tile(np.arange(DIAMOND_SIZE), (len(diamonds), 1))
    for image, places in zip(diamond_images(diamonds), orientations(DIAMOND), strict=True):
        same = image == diamonds
        least[same] = np.minimum(least[same], places)
    return least
