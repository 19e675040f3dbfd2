"""The 8-bit copy of a network file: `NET-int8.onnx` beside `NET.onnx`.

It records the hash of the file it was made from, so that one left over from an older network is noticed, and how it
compared with that file when it was made, so that one of no use is not played with.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gtp_engine.files import sha256_of
from gtp_engine.nn.metadata import KATAGO_ENCODER, NetworkInfo, read_properties

QUANTIZED_FROM: Final = "tengen.quantized_from"
"""Metadata of a copy: SHA-256 of the file it was made from."""

NOTE: Final = "tengen.quantization"
"""Metadata of a copy: how it was made and how it compares, a JSON object."""
HELD_OUT: Final = "held_out"
"""In the note: differences from float32 by precision, each an object with `policy_kl` and `winrate_error`."""
SPEEDS: Final = "evaluations_per_second"
"""In the note: by precision, on the machine that made the copy."""

LARGEST_KL: Final = 0.005
LARGEST_WINRATE_ERROR: Final = 0.01
"""Policy KL from float32, in nats, and mean error of the winrate above which a copy is not used: twice those of the
worst copy that has held its own in matches (docs/strength.md)."""

LEAST_GAIN: Final = 1.2
"""Speed over the best floating point below which a copy is not used.  Chosen, not measured: the visits gained must
make up for the accuracy lost."""

_SUFFIX: Final = "-int8"


@dataclass(frozen=True)
class CopyQuality:
    """How a copy compared with the original when it was made, as far as that is known."""

    policy_kl: float = 0.0
    winrate_error: float = 0.0
    speeds: Mapping[str, float] = field(default_factory=dict)
    """Evaluations per second by precision, of the copy under "int8"."""

    def objection(self, precision: str) -> str:
        """Return why the original in `precision` is better than the copy (the end of a sentence), or "" if it is not.

        What was not measured is not held against the copy.
        """
        is_accurate = self.policy_kl <= LARGEST_KL and self.winrate_error <= LARGEST_WINRATE_ERROR  # NaN is not
        if not is_accurate:
            return (
                f"it differs too much from float32 (policy KL {self.policy_kl:.4f}, winrate off by "
                f"{self.winrate_error:.4f}; at most {LARGEST_KL} and {LARGEST_WINRATE_ERROR} are accepted)"
            )
        int8, other = self.speeds.get("int8"), self.speeds.get(precision)
        if int8 and other and int8 < LEAST_GAIN * other:
            return f"it was only {int8 / other:.2f} times as fast as {precision} when it was made"
        return ""


NOTHING_KNOWN: Final = CopyQuality()


def quantized_path(original: Path) -> Path:
    """Return where the copy of a network file lies."""
    return original.with_name(f"{original.stem}{_SUFFIX}{original.suffix}")


def original_path(path: Path) -> Path:
    """Return where the file lies that `path` is the copy of, by its name; that of an original is the path itself."""
    return path.with_name(path.stem.removesuffix(_SUFFIX) + path.suffix)


def is_quantized_copy(path: Path) -> bool:
    """Return whether the network file that `path` is a copy of, by its name, lies beside it."""
    return path.stem.endswith(_SUFFIX) and original_path(path).exists()


def is_made_from(copy: Path, original: Path) -> bool:
    """Return whether a quantized file was made from this very file; raises ModelError if it cannot be read."""
    return read_properties(copy).get(QUANTIZED_FROM) == sha256_of(original)


def read_quality(copy: Path) -> CopyQuality:
    """Return what a quantized file records about its comparison; raises ModelError if it cannot be read."""
    try:
        note: Any = json.loads(read_properties(copy).get(NOTE, "{}"))
        loss, speeds = note[HELD_OUT]["int8"], note[SPEEDS]
        return CopyQuality(
            float(loss["policy_kl"]), float(loss["winrate_error"]), {name: float(speeds[name]) for name in speeds}
        )
    except (KeyError, TypeError, ValueError):
        return NOTHING_KNOWN  # written by another program: nothing is known


def can_be_quantized(info: NetworkInfo) -> bool:
    """Return whether `networks.quantization` can make a copy of a network in 8 bits."""
    return (info.precision, info.kind, info.encoder) == ("float32", "policy+value", KATAGO_ENCODER)
