"""The 8-bit copy of a network, made where this processor gains from it: now, or behind, by a process of its own.

Whether it does is tried first, in seconds, where making a good copy takes minutes: the trial's copy has all layers in 8
bits, with ranges of values from random boards.  So it is of no use for playing, but as fast as any copy can be.

On a Zen 3, which has AVX2 without VNNI, g170e-b15c192 is 1.5 times as fast as in float32 (19×19, batches of 4, on
a busy machine), the transformer b10c384h6nbttflrs 0.7 times.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import onnx

from gtp_engine.config.sections import QuantizeSettings
from gtp_engine.errors import ModelError
from gtp_engine.kernel_cache import package_environment
from gtp_engine.machine import describe_machine
from gtp_engine.networks.quantization.calibration import CalibrationInputs
from gtp_engine.networks.quantization.quantize import (
    BATCH,
    Quantized,
    StepProgress,
    models_by_precision,
    quantize_file,
    runtimes_by_precision,
    save_model,
)
from gtp_engine.networks.quantization.quantized_graph import NetworkGraph, measure_ranges, quantized_model
from gtp_engine.networks.quantization.sensitivity import speeds
from gtp_engine.nn.loading import random_inputs
from gtp_engine.nn.metadata import read_info
from gtp_engine.nn.network_files import FLOAT, QUANTIZED, find_networks, quantization_hint
from gtp_engine.nn.onnx_model import installed_providers
from gtp_engine.nn.providers import Provider, can_gain_from_int8, choose_runtimes
from gtp_engine.nn.quantized_copy import LEAST_GAIN, LOG_NAME, UnfinishedCopy, can_be_quantized, quantized_path
from gtp_engine.streams import write_log
from gtp_engine.worker_process import join_command

_PROGRAM: Final = "from gtp_engine.networks.quantization.faster_copy import main; main()"
"""The program of the process that makes a copy behind."""

_DETACHED_ON_WINDOWS: Final = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "IDLE_PRIORITY_CLASS", 0)
_NICENESS: Final = 10
"""Its priority, so that a game that is played meanwhile hardly notices."""


def faster_copy_hint(path: Path) -> str:
    """Return a sentence for the user if a network file lacks an 8-bit copy that would be faster here, else "".

    Raises ModelError if the network cannot be read.
    """
    provider, simd = _machine()
    return quantization_hint(find_networks(path)["policy"], provider, simd)


def begin_faster_copy(path: Path) -> str:
    """Begin to make the same copy as `make_faster_copy`, in another process; return a sentence for the user, or "".

    The process has a low priority and outlives this one.  If it is stopped, `gtp-engine models quantize` goes on with
    its work.  Raises ModelError if the network cannot be read.
    """
    provider, simd = _machine()
    files = find_networks(path)["policy"]
    if QUANTIZED in files.paths or not can_be_quantized(files.info) or not can_gain_from_int8(provider, simd):
        return ""
    unfinished = UnfinishedCopy(quantized_path(path))
    command = f"`{join_command(['gtp-engine', 'models', 'quantize', str(path)])}`"
    if unfinished.is_being_made:
        return f"An 8-bit copy is being made in the background ({unfinished.progress or 'just begun'})."
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
    return (
        "An 8-bit copy, if it proves faster on this processor, is now made in the background: one to five minutes of "
        f"all cores at low priority (--no-int8 leaves it out). {path.name} plays without it until then. If that is "
        f"stopped, {command} goes on."
    )


def main() -> None:
    """Make the copy of the file that the command line names, as the process that `begin_faster_copy` starts."""
    if sys.platform != "win32":  # there the process was started with a low priority
        with contextlib.suppress(OSError):
            os.nice(_NICENESS)
    path = Path(sys.argv[1])
    unfinished = UnfinishedCopy(quantized_path(path))
    try:
        make_faster_copy(path, progress=lambda share, text: None, log=write_log)
    except ModelError as error:
        write_log(str(error))
        sys.exit(1)
    if not unfinished.progress:  # no copy was worth making
        shutil.rmtree(unfinished.folder, ignore_errors=True)


def make_faster_copy(path: Path, *, progress: StepProgress, log: Callable[[str], None]) -> None:
    """Make the 8-bit copy of a float32 network file if it has none and this machine gains from it.

    A copy that turns out inaccurate or slow is kept: it records that, so the engine neither plays with it nor makes it
    again.  `log` receives lines for the user.  Raises ModelError.
    """
    provider, simd = _machine()
    files = find_networks(path)["policy"]
    if QUANTIZED in files.paths or not can_be_quantized(files.info) or not can_gain_from_int8(provider, simd):
        return
    log("Measuring how fast the network is in 8 bits …")
    gain = largest_gain(path, provider.name)
    if gain < LEAST_GAIN:
        log(f"No 8-bit copy is made: here it would be {gain:.1f} times as fast as the network itself.")
        return
    log("Making an 8-bit copy, which is faster on this processor …")
    log(_outcome(quantize_file(path, quantized_path(path), QuantizeSettings(), progress=progress)))


def largest_gain(path: Path, provider: str) -> float:
    """Return how fast an 8-bit copy of a float32 network file can be here, as a multiple of the original's speed.

    It is 0 if no layer can be quantized.  Raises ModelError if the network cannot be run.
    """
    model, info, runtimes = onnx.load(path), read_info(path), runtimes_by_precision(provider)
    layers = NetworkGraph(model).layers()
    if not layers:
        return 0.0
    examples = CalibrationInputs(*info.sizes.usual, *random_inputs(info, BATCH))
    ranges = measure_ranges(model, layers, [examples], runtimes["float32"], lambda done, total: None)
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        save_model(quantized_model(model, layers, ranges), copy, {}, "")
        models = models_by_precision(path, copy, runtimes, threads=0)
        found = speeds(models, examples)
        for each in models.values():
            each.close()
    return found.pop("int8") / max(found.values())


def _machine() -> tuple[Provider, list[str] | None]:
    """Return the provider that runs float32 networks here, and the processor's instruction sets."""
    simd = describe_machine()["simd"]
    runtimes = choose_runtimes("auto", "auto", networks=[FLOAT], available=installed_providers(), simd=simd)
    return runtimes[0].provider, simd


def _outcome(result: Quantized) -> str:
    """Return a sentence about a new copy: its speed and loss here, or why it will not be used."""
    if result.objection:
        return f"{result.path.name} will not be used: {result.objection}."
    speeds, loss = dict(result.speeds), result.differences["int8"]
    int8 = speeds.pop("int8")
    best = max(speeds, key=lambda name: speeds[name])
    return f"{result.path.name}: {int8 / speeds[best]:.1f} times as fast as {best} here, {loss}."
