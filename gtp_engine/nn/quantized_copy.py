"""The 8-bit copy of a network file: `NET-int8.onnx` beside `NET.onnx`.

It records the hash of the file it was made from, so that one left over from an older network is noticed, and how it
compared with that file when it was made, so that a copy that is not worth using does not play.

While it is being made, which takes minutes, a folder beside it keeps what has been computed (`UnfinishedCopy`).
"""

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from gtp_engine import __version__
from gtp_engine.base.errors import ModelError, shown
from gtp_engine.base.files import json_of, locked, replacing, sha256_of
from gtp_engine.base.machine import processor_key
from gtp_engine.nn.metadata import NetworkInfo, read_properties

QUANTIZED_FROM: Final = "tengen.quantized_from"
"""Metadata of a copy: SHA-256 of the file it was made from."""

NOTE: Final = "tengen.quantization"
"""Metadata of a copy: how it was made and how it compares, a JSON object."""
HELD_OUT: Final = "held_out"
"""In the note: differences from float32 by precision, each an object with `policy_kl` and `winrate_error`."""
SPEEDS: Final = "evaluations_per_second"
"""In the note: speeds by precision, on the machine that compared the copy."""
WITHOUT_VNNI: Final = "without_vnni"
"""In the note: an object with HELD_OUT and SPEEDS as measured on a processor without VNNI (`providers.VNNI_FLAGS`).
Those of the note itself were measured on a processor with VNNI."""

LARGEST_KL: Final = 0.005
LARGEST_WINRATE_ERROR: Final = 0.01
"""Policy KL from float32, in nats, and mean error of the winrate above which a copy is not used: twice those of the
worst copy that has held its own in matches (docs/notes/2026-11-28-strength.md)."""

LEAST_GAIN: Final = 1.2
"""Speed over the best floating point below which a copy is not used.  Chosen, not measured: the visits gained must
make up for the accuracy lost."""

_SUFFIX: Final = "-int8"
_UNFINISHED: Final = ".unfinished"

LOG_NAME: Final = "log.txt"
_PROGRESS_NAME: Final = "progress.txt"
_LOCK_NAME: Final = "lock"
"""Files of an unfinished copy: what its maker says, how far it is, who works on it."""
_KEY: Final = "made for"
"""The entry of a kept result for what it depends on."""

_PROGRESS_INTERVAL: Final = 1.0
"""Seconds between two notes of the progress."""

_NOT_MEASURED: Final = (
    "it was not compared with the original on a processor without VNNI, where 8-bit sums may overflow; "
    "`gtp-engine models quantize` makes and compares it here"
)


@dataclass(frozen=True)
class Comparison:
    """How a copy compared with the original on one kind of processor."""

    policy_kl: float
    winrate_error: float
    speeds: Mapping[str, float] = field(default_factory=dict)
    """Evaluations per second by precision, of the copy under "int8"."""

    def objection(self, precision: str) -> str:
        """Return why the original in `precision` is better than the copy (the end of a sentence), or "" if it is not.

        Speeds that were not measured are not held against the copy.
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


CopyQuality = Mapping[bool, Comparison]
"""What is known of a copy: the comparisons on processors with VNNI (True) and without."""

NOTHING_KNOWN: Final[CopyQuality] = MappingProxyType({})


def objection(quality: CopyQuality, precision: str, *, has_vnni: bool) -> str:
    """Return why the original in `precision` is better here (the end of a sentence), or "" if it is not.

    A copy that was not compared on such a processor is accepted with VNNI, but not without, where 8-bit sums may
    overflow.
    """
    if has_vnni in quality:
        return quality[has_vnni].objection(precision)
    return "" if has_vnni else _NOT_MEASURED


Arrays = dict[str, NDArray[Any]]
Keep = Callable[[str, Callable[[], Arrays]], Arrays]
"""Called with a name and a function; returns what the function returns, or returned for that name before a stop."""


def keep_nothing(name: str, compute: Callable[[], Arrays]) -> Arrays:
    """Return what `compute` returns: a `Keep` for work that need not go on after a stop."""
    return compute()


class UnfinishedCopy:
    """The folder beside a copy that is being made, which need not exist."""

    def __init__(self, copy: Path) -> None:
        self.copy: Final = copy
        self.folder: Final = copy.with_name(copy.name + _UNFINISHED)
        self._next_note = 0.0

    @property
    def progress(self) -> str:
        """How far the work is, such as "43%, playing games"; "" if it has not been begun."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return (self.folder / _PROGRESS_NAME).read_text(encoding="utf-8")
        return "just begun" if self.folder.is_dir() else ""

    @property
    def is_being_made(self) -> bool:
        """Whether a process works on it."""
        if not self.folder.is_dir():
            return False
        with locked(self.folder / _LOCK_NAME) as is_free:
            return not is_free

    @contextlib.contextmanager
    def making(self, key: str) -> Iterator[Keep]:
        """Let the block make the copy, with what an earlier one has computed for the same `key`.

        The folder is removed if the block succeeds, or raises ModelError.  Raises ModelError while another process
        makes the copy, and OSError if the folder cannot be written.
        """
        self.folder.mkdir(exist_ok=True)
        with locked(self.folder / _LOCK_NAME) as is_ours:
            if not is_ours:
                given = f"another process is making {shown(self.copy.name)} ({self.progress})"
                raise ModelError(given, advice="wait for it")
            try:
                yield partial(self._keep, key)
            except ModelError:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
            shutil.rmtree(self.folder, ignore_errors=True)
        if sys.platform == "win32":  # where a file that is locked cannot be removed
            shutil.rmtree(self.folder, ignore_errors=True)

    def note(self, share: float, text: str) -> None:
        """Note how much of the work is done, unless that was just done."""
        now = time.monotonic()
        if now >= self._next_note:
            self._next_note = now + _PROGRESS_INTERVAL
            with contextlib.suppress(OSError):
                (self.folder / _PROGRESS_NAME).write_text(f"{100 * share:.0f}%, {text}", encoding="utf-8")

    def _keep(self, key: str, name: str, compute: Callable[[], Arrays]) -> Arrays:
        path = self.folder / f"{name}.npz"
        with contextlib.suppress(OSError, ValueError, KeyError, BadZipFile, EOFError), np.load(path) as kept:
            if str(kept[_KEY]) == key:
                return {entry: kept[entry] for entry in kept.files if entry != _KEY}
        found = compute()
        with replacing(path) as unfinished, unfinished.open("wb") as file:
            np.savez_compressed(file, **found, **{_KEY: np.array(key)})  # type: ignore[arg-type]  # numpy's own option
        return found


def quantized_path(original: Path) -> Path:
    """Return the path of the copy of a network file, which need not exist."""
    return original.with_name(f"{original.stem}{_SUFFIX}{original.suffix}")


def original_path(path: Path) -> Path:
    """Return the path of the original of a copy, by its name; for any other file `path` itself."""
    return path.with_name(path.stem.removesuffix(_SUFFIX) + path.suffix)


def is_quantized_copy(path: Path) -> bool:
    """Return whether `path` is named as a copy, and the original lies beside it."""
    return path.stem.endswith(_SUFFIX) and original_path(path).exists()


def is_made_from(copy: Path, original: Path) -> bool:
    """Return whether a quantized file was made from this very file; raises ModelError if it cannot be read."""
    return read_properties(copy).get(QUANTIZED_FROM) == sha256_of(original)


def read_quality(copy: Path) -> CopyQuality:
    """Return what a quantized file records about its comparisons; raises ModelError if it cannot be read."""
    try:
        note: Any = json_of(read_properties(copy).get(NOTE, "{}"))
        found = {True: _comparison(note), False: _comparison(note.get(WITHOUT_VNNI))}
        return {has_vnni: comparison for has_vnni, comparison in found.items() if comparison is not None}
    except (AttributeError, ValueError):
        return NOTHING_KNOWN  # written by another program


def _comparison(entry: Any) -> Comparison | None:
    """Return the comparison that part of a note records, None if there is none."""
    try:
        loss, speeds = entry[HELD_OUT]["int8"], entry[SPEEDS]
        return Comparison(
            float(loss["policy_kl"]), float(loss["winrate_error"]), {name: float(speeds[name]) for name in speeds}
        )
    except (KeyError, TypeError, ValueError):
        return None


def trial_key(original: Path) -> str:
    """Return the key for `kept_network` under which it is noted that a network is not fast enough in 8 bits here."""
    return repr((_SUFFIX, str(original.resolve()), original.stat().st_mtime_ns, __version__, processor_key()))


def can_be_quantized(info: NetworkInfo) -> bool:
    """Return whether `training.quantization` can make a copy of a network in 8 bits."""
    return info.precision == "float32" and info.kind == "policy+value" and info.is_katago
