"""The files of a network: one for each purpose, each in float32, quantized to 8 bits, or both.

`NET.onnx` in float32 and `NET-int8.onnx` beside it are one network: naming the first means the better of the two on
this processor (`providers`).  In a folder, a network that plays one board only stands beside one that plays others too,
and plays that board in its place.

Where a copy is missing with which this processor would gain, it is made behind: that is the work of
`training.quantization`, which is started here as a process, by its name (`plug_ins`).
"""

import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from gtp_engine.base.errors import ModelError, shown, shown_path
from gtp_engine.base.machine import describe_machine
from gtp_engine.base.worker_process import join_command
from gtp_engine.compiled.kernel_cache import kept_network, package_environment
from gtp_engine.nn.metadata import NetworkInfo, read_metadata
from gtp_engine.nn.named_networks import named_networks
from gtp_engine.nn.onnx_model import runtimes_here
from gtp_engine.nn.plug_ins import FASTER_COPY
from gtp_engine.nn.providers import Provider, can_gain_from_int8, has_vnni
from gtp_engine.nn.quantized_copy import (
    LOG_NAME,
    NOTHING_KNOWN,
    CopyQuality,
    UnfinishedCopy,
    can_be_quantized,
    is_made_from,
    quantized_path,
    read_quality,
    trial_key,
)

FLOAT, QUANTIZED = "float32", "int8"

KATAGO_ENDINGS: Final = (".bin.gz", ".txt.gz", ".gz", ".bin", ".txt")
"""Endings of KataGo's network files."""

_PURPOSES: Final = ("policy", "value", "rollout")
_IMPORT_ADVICE: Final = "convert it with `gtp-engine models import`"


@dataclass(frozen=True)
class NetworkFiles:
    """The file of a network by precision, "float32" or "int8" or both, its metadata, and the quality of a copy."""

    paths: dict[str, Path]
    info: NetworkInfo
    quality: CopyQuality = field(default_factory=dict)
    remark: str = field(default="", compare=False)
    """A sentence about a file that lies beside these and is not used; empty if there is none."""
    for_boards: Mapping[tuple[int, int], "NetworkFiles"] = field(default_factory=dict)
    """Networks that play one board, of this width and height, in place of this one."""

    @property
    def networks(self) -> "list[NetworkFiles]":
        """This network and those for one board."""
        return [self, *self.for_boards.values()]

    def path(self, precision: str) -> Path:
        """Return the file for `precision`: quantized for "int8", else in float32; if there is only one, that one."""
        wanted = QUANTIZED if precision == QUANTIZED else FLOAT
        return self.paths.get(wanted) or next(iter(self.paths.values()))


def is_katago_file(path: Path) -> bool:
    """Return whether a file has the name of one in KataGo's own formats."""
    return path.name.endswith(KATAGO_ENDINGS)


_SMALLEST_TO_QUANTIZE: Final = 2**18
"""Bytes of a network below which an 8-bit copy is not advised: it has fewer than 65,000 weights."""


def quantization_hint(files: NetworkFiles, provider: Provider, simd: Collection[str] | None) -> str:
    """Return a sentence for the user if the network lacks an 8-bit copy that may be faster here, else ""."""
    gains = can_gain_from_int8(provider, simd) and has_vnni(simd)
    if QUANTIZED in files.paths or not can_be_quantized(files.info) or not gains:
        return ""
    original = files.paths[FLOAT]
    if original.stat().st_size < _SMALLEST_TO_QUANTIZE or kept_network(trial_key(original)) is not None:
        return ""
    command = quantize_command(original)
    if progress := UnfinishedCopy(quantized_path(original)).progress:
        return f"An 8-bit copy is being made, or was stopped ({progress}; `{command}` goes on)."
    return f"An 8-bit copy may be faster on this processor: `{command}` makes it."


def quantize_command(original: Path) -> str:
    """Return the command line that makes the 8-bit copy of a network file."""
    return join_command(["gtp-engine", "models", "quantize", str(original)])


def find_networks(path: Path, *, needs_value: bool = True) -> dict[str, NetworkFiles]:
    """Return the files for each purpose: "policy" and "value", which may be one network, and perhaps "rollout".

    Without `needs_value` there may be none for "value".
    `path` is a file, to which its quantized copy is added, or a folder.  Raises ModelError.
    """
    if not os.path.exists(path):
        known = " or ".join(["an ONNX file", "one of KataGo's", "a folder", *sorted(named_networks())])
        raise ModelError(f"network {shown_path(path)} does not exist", expected=known)
    if not path.is_dir() and is_katago_file(path):
        raise ModelError(f"network {shown(path.name)}", expected="an ONNX file", advice=_IMPORT_ADVICE)
    files = onnx_files(path) if path.is_dir() else [each for each in (path, quantized_path(path)) if each.exists()]
    found = [(file, read_metadata(file)) for file in files]
    chosen: dict[str, NetworkFiles] = {}
    compared: dict[tuple[Path, ...], NetworkFiles] = {}  # comparing a network with its copy takes a while
    for purpose in _PURPOSES:
        fitting = [(file, info) for file, info in found if purpose in info.kind.split("+")]
        if fitting:
            key = tuple(file for file, _ in fitting)
            if key not in compared:
                compared[key] = _with_boards(fitting, purpose, path)
            chosen[purpose] = compared[key]
    needed = ("policy", "value") if needs_value else ("policy",)
    if missing := [purpose for purpose in needed if purpose not in chosen]:
        kinds = ", ".join(sorted({info.kind for _, info in found}))
        raise ModelError(
            f"network {shown(path.name)} is for {kinds}",
            expected=f"one for {' and '.join(missing)} too",
            advice="put the files into one folder and name that; with --rollout-share 1 a policy alone will do",
        )
    return chosen


def _with_boards(fitting: Sequence[tuple[Path, NetworkInfo]], purpose: str, path: Path) -> NetworkFiles:
    """Return the files for a purpose, with those of networks for one board each; raises ModelError.

    If all play that board only, they are one network.
    """
    of_board: dict[tuple[int, int] | None, list[tuple[Path, NetworkInfo]]] = {}
    for file, info in fitting:
        of_board.setdefault(info.sizes.only, []).append((file, info))
    others = of_board.pop(None, None)
    if others is None:
        return _one_network(fitting, purpose, path)
    network = _one_network(others, purpose, path)
    for_boards = {board: _one_network(files, purpose, path) for board, files in of_board.items() if board}
    for each in for_boards.values():
        if not network.info.is_interchangeable(each.info):
            raise ModelError(
                f"network {shown(each.info.name)}, for {each.info.sizes}, beside {shown(network.info.name)} in "
                f"folder {shown(path.name)}",
                expected="the same inputs and outputs",
                advice="name a file",
            )
    return replace(network, for_boards=for_boards)


def _one_network(fitting: Sequence[tuple[Path, NetworkInfo]], purpose: str, path: Path) -> NetworkFiles:
    """Return the files for a purpose; raises ModelError if they are of several networks."""
    paths = {info.precision: file for file, info in fitting}
    if len(paths) < len(fitting):
        names = ", ".join(file.name for file, _ in fitting)
        raise ModelError(
            f"folder {shown(path.name)} has several {purpose} networks ({names})",
            expected="one for each purpose",
            advice="name a file",
        )
    remark = ""
    if paths.keys() == {FLOAT, QUANTIZED} and not is_made_from(paths[QUANTIZED], paths[FLOAT]):
        original, copy = paths[FLOAT], paths.pop(QUANTIZED)
        remark = (
            f"{copy.name} was not made from this {original.name} and is not used; "
            f"`{quantize_command(original)}` makes it again."
        )
    first = paths.get(FLOAT) or paths[QUANTIZED]
    quality = read_quality(paths[QUANTIZED]) if QUANTIZED in paths else NOTHING_KNOWN
    return NetworkFiles(paths, dict(fitting)[first], quality, remark)


def onnx_files(folder: Path) -> Sequence[Path]:
    """Return the ONNX files in a folder, sorted by name; raises ModelError if there is none."""
    files = sorted(folder.glob("*.onnx"))
    if not files:
        raise ModelError(f"folder {shown_path(folder)} holds no ONNX file", advice=_IMPORT_ADVICE)
    return files


# The 8-bit copy that is missing, where this processor gains from one

_PROGRAM: Final = f"from {FASTER_COPY} import main; main()"
"""The program of the process that makes a copy behind."""

_DETACHED_ON_WINDOWS: Final = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "IDLE_PRIORITY_CLASS", 0)


def may_need_copy(path: Path) -> bool:
    """Return whether a float32 network file has no 8-bit copy, and this machine may gain from one.

    Raises ModelError if the network cannot be read.
    """
    files, simd = find_networks(path)["policy"], describe_machine()["simd"]
    may_gain = can_gain_from_int8(runtimes_here("auto", "auto", [FLOAT])[0].provider, simd)
    return QUANTIZED not in files.paths and can_be_quantized(files.info) and may_gain


def begin_faster_copy(path: Path) -> str:
    """Begin to make the 8-bit copy that is missing, in another process; return a sentence for the user, or "".

    The process steps aside for all others and outlives this one.  Raises ModelError if the network cannot be read.
    """
    if not may_need_copy(path) or kept_network(trial_key(path)) is not None:
        return ""
    unfinished = UnfinishedCopy(quantized_path(path))
    command = f"`{quantize_command(path)}`"
    if unfinished.is_being_made:
        return f"An 8-bit copy is being made in the background ({unfinished.progress})."
    try:
        unfinished.folder.mkdir(exist_ok=True)
        with (unfinished.folder / LOG_NAME).open("ab") as log:
            subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(path.absolute())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=package_environment(dict(os.environ)),
                start_new_session=True,
                creationflags=_DETACHED_ON_WINDOWS,
            )
    except OSError as error:
        return f"An 8-bit copy cannot be made in the background ({error.strerror or error}): {command} makes it."
    return f"If faster, an 8-bit copy is made in the background (--no-int8: none); if stopped, {command} goes on."
