"""The linear rollout policy as a file: `rollout-policy.npz`, beside the networks in a model's folder.

    meta                JSON: format, kind, features, name, origin, license
    patterns            int32 [P], pattern_weights   float32 [P]
    plain_patterns      int32 [Q], plain_weights     float32 [Q]
    diamonds            int64 [R], diamond_weights   float32 [R, 12]
    near                float32 [3]
    urgent              float32 [3]  save_by_capture, save_by_escape, nakade

`LinearPolicy` describes them; they do not depend on the board size.
"""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.errors import ModelError, problem, shown, shown_path
from gtp_engine.evaluation.linear_policy import DIAMOND_SIZE, FEATURES, LinearPolicy
from gtp_engine.files import ZIP_DAMAGE, replacing

FILE_NAME: Final = "rollout-policy.npz"
FORMAT: Final = 1
KIND: Final = "linear-rollout"

_PATTERN_BITS: Final = 20
_DIAMOND_BITS: Final = 3 * DIAMOND_SIZE
_ADVICE: Final = "train one with `gtp-engine alphago rollout-policy`"


def write_linear_policy(path: Path, policy: LinearPolicy) -> None:
    """Write a file; an older one is replaced once the new one is complete."""
    meta = {"format": FORMAT, "kind": KIND, "features": FEATURES}
    meta |= {"name": policy.name, "origin": policy.origin, "license": policy.license}
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        np.savez_compressed(
            file,
            meta=np.array(json.dumps(meta)),
            patterns=policy.patterns.astype(np.int32),
            pattern_weights=policy.pattern_weights,
            plain_patterns=policy.plain_patterns.astype(np.int32),
            plain_weights=policy.plain_weights,
            diamonds=policy.diamonds,
            diamond_weights=policy.diamond_weights,
            near=policy.near,
            urgent=np.array([policy.save_by_capture, policy.save_by_escape, policy.nakade], dtype=np.float32),
        )


def read_linear_policy(path: Path) -> LinearPolicy:
    """Return the policy in a file; raises ModelError if the file is damaged, of another kind or feature set."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(str(arrays["meta"]))
        _check_meta(path, meta)
        return _policy_of(arrays, meta)
    except OSError as error:
        raise ModelError(problem(f"rollout policy {shown_path(path)} cannot be read ({error.strerror})")) from error
    except ZIP_DAMAGE as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(problem(f"{shown(path.name)} is damaged or no rollout policy", advice=_ADVICE)) from error


def _check_meta(path: Path, meta: dict[str, Any]) -> None:
    """Raise ModelError if a file has another kind, format or feature set."""
    for name, expected in (("kind", KIND), ("format", FORMAT), ("features", FEATURES)):
        if meta[name] != expected:
            given = f"rollout policy {shown(path.name)} has {name} {shown(meta[name])}"
            raise ModelError(problem(given, expected=str(expected), advice=_ADVICE))


def _policy_of(arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> LinearPolicy:
    """Return the policy; raises ValueError for arrays of wrong shape, type or range."""
    capture, escape, nakade = _weights(arrays["urgent"], (3,)).tolist()
    patterns, plain = _codes(arrays["patterns"], _PATTERN_BITS), _codes(arrays["plain_patterns"], _PATTERN_BITS)
    diamonds = _codes(arrays["diamonds"], _DIAMOND_BITS)
    return LinearPolicy(
        patterns=patterns,
        pattern_weights=_weights(arrays["pattern_weights"], patterns.shape),
        plain_patterns=plain,
        plain_weights=_weights(arrays["plain_weights"], plain.shape),
        diamonds=diamonds,
        diamond_weights=_weights(arrays["diamond_weights"], (len(diamonds), DIAMOND_SIZE)),
        near=_weights(arrays["near"], (3,)),
        save_by_capture=capture,
        save_by_escape=escape,
        nakade=nakade,
        name=str(meta["name"]),
        origin=str(meta["origin"]),
        license=str(meta["license"]),
    )


def _codes(array: NDArray[Any], bits: int) -> NDArray[np.int64]:
    if array.ndim != 1 or array.dtype.kind != "i" or ((array < 0) | (array >= 1 << bits)).any():
        raise ValueError("codes")
    return array.astype(np.int64)


def _weights(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.float32]:
    if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
        raise ValueError("weights")
    return array
