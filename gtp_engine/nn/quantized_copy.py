"""The 8-bit copy of a network file: `NET-int8.onnx` beside `NET.onnx`.

It records the hash of the file it was made from, so that one left over from an older network is noticed.
"""

from pathlib import Path
from typing import Final

from gtp_engine.files import sha256_of
from gtp_engine.nn.metadata import KATAGO_ENCODER, NetworkInfo, read_properties

QUANTIZED_FROM: Final = "tengen.quantized_from"
"""Metadata of a copy: SHA-256 of the file it was made from."""

_SUFFIX: Final = "-int8"


def quantized_path(original: Path) -> Path:
    """Return where the copy of a network file lies."""
    return original.with_name(f"{original.stem}{_SUFFIX}{original.suffix}")


def is_quantized_copy(path: Path) -> bool:
    """Return whether the network file that `path` is a copy of, by its name, lies beside it."""
    return path.stem.endswith(_SUFFIX) and path.with_name(path.stem.removesuffix(_SUFFIX) + path.suffix).exists()


def is_made_from(copy: Path, original: Path) -> bool:
    """Return whether a quantized file was made from this very file; raises ModelError if it cannot be read."""
    return read_properties(copy).get(QUANTIZED_FROM) == sha256_of(original)


def can_be_quantized(info: NetworkInfo) -> bool:
    """Return whether `networks.quantization` can make a copy of a network in 8 bits."""
    return (info.precision, info.kind, info.encoder) == ("float32", "policy+value", KATAGO_ENCODER)
