"""The 8-bit copy of a network, made where this processor gains from it; `nn.network_files` says where, and starts it.

Whether it does is tried first, in seconds, where making a good copy takes minutes: the trial's copy has all layers in 8
bits, with ranges of values from random boards.  So it is of no use for playing, but as fast as any copy can be.

On a Zen 3, which has AVX2 without VNNI, g170e-b15c192 is 1.5 times as fast as in float32 (19×19, batches of 4, on
a busy machine), the transformer b10c384h6nbttflrs 0.7 times.
"""

import contextlib
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import onnx

from gtp_engine.base.errors import ModelError
from gtp_engine.base.streams import Log, write_log
from gtp_engine.compiled.kernel_cache import keep_network
from gtp_engine.config.sections import QuantizeSettings
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.metadata import read_metadata
from gtp_engine.nn.network_files import may_need_copy
from gtp_engine.nn.onnx_model import random_inputs, runtimes_here
from gtp_engine.nn.quantized_copy import LEAST_GAIN, UnfinishedCopy, quantized_path, trial_key
from gtp_engine.training.quantization.quantize import (
    BATCH,
    Quantized,
    StepProgress,
    models_by_precision,
    quantize_file,
    runtimes_by_precision,
    save_model,
)
from gtp_engine.training.quantization.quantized_graph import layers_of, measure_ranges, quantized_model
from gtp_engine.training.quantization.sensitivity import speeds

_LOWEST_PRIORITY: Final = 19
"""The niceness of the process behind, where the system has no class for work that waits for all other."""


def main() -> None:
    """Make the copy of the file that the command line names, as the process that `nn.network_files` starts."""
    step_aside()
    path = Path(sys.argv[1])
    try:
        make_faster_copy(path, progress=lambda share, text: None, log=write_log)
    except ModelError as error:
        write_log(str(error))
        sys.exit(1)
    unfinished = UnfinishedCopy(quantized_path(path))
    if not unfinished.is_being_made:  # no copy was worth making
        shutil.rmtree(unfinished.folder, ignore_errors=True)


def step_aside() -> None:
    """Work on one core from now on, and, on Linux, only while nothing else wants it.

    A network on all cores waits for its slowest thread, so that even a little work on each of them costs a game that is
    played meanwhile much of its speed.  On Windows the process was started with the priority of idle time.
    """
    with contextlib.suppress(OSError):  # a container may forbid it
        if sys.platform != "win32":
            os.nice(_LOWEST_PRIORITY)
        if sys.platform == "linux":
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def make_faster_copy(path: Path, *, progress: StepProgress, log: Log) -> None:
    """Make the 8-bit copy of a float32 network file if it has none and this machine gains from it.

    A copy that turns out inaccurate or slow is kept: it records that, so the engine neither plays with it nor makes it
    again.  `log` receives lines for the user.  Raises ModelError.
    """
    if not may_need_copy(path):
        return
    log("Measuring how fast the network is in 8 bits …")
    gain = largest_gain(path, runtimes_here("auto", "auto", ["float32"])[0].provider.name)
    if gain < LEAST_GAIN:
        keep_network(trial_key(path), f"{gain:.2f}".encode())  # so that it is neither offered nor tried again
        log(f"No 8-bit copy is made: here it would be {gain:.2f} times as fast as the network itself.")
        return
    log("Making an 8-bit copy, which is faster on this processor …")
    log(_outcome(quantize_file(path, quantized_path(path), QuantizeSettings(), progress=progress)))


def largest_gain(path: Path, provider: str) -> float:
    """Return how fast an 8-bit copy of a float32 network file can be here, as a multiple of the original's speed.

    It is 0 if no layer can be quantized.  Raises ModelError if the network cannot be run.
    """
    model, info, runtimes = onnx.load(path), read_metadata(path), runtimes_by_precision(provider)
    layers = layers_of(model)
    if not layers:
        return 0.0
    examples = Inputs(*random_inputs(info, BATCH))
    ranges = measure_ranges(model, layers, [examples], runtimes["float32"], lambda done, total: None)
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        save_model(quantized_model(model, layers, ranges), copy, {}, "")
        models = models_by_precision(path, copy, runtimes, threads=0)
        found = speeds(models, examples)
        for each in models.values():
            each.close()
    return found.pop("int8") / max(found.values())


def _outcome(result: Quantized) -> str:
    """Return a sentence about a new copy: its speed and loss here, or why it will not be used."""
    if result.objection:
        return f"{result.path.name} will not be used: {result.objection}."
    speeds, loss = dict(result.speeds), result.differences["int8"]
    int8 = speeds.pop("int8")
    best = max(speeds, key=lambda name: speeds[name])
    return f"{result.path.name}: {int8 / speeds[best]:.1f} times as fast as {best} here, {loss}."
