"""A network in OpenVINO, on the processor or on Intel's graphics and neural processors.

The only module that imports openvino.

A session compiles the network for boards of one size and one number of positions, or any number.  It copies its inputs
into arrays of its own, as telling OpenVINO of other arrays takes longer, and returns copies of its outputs, so that
results stay as they are when it runs again.  Large batches are run as two halves at a time, each on half of the cores,
since cores that share a layer wait for each other after every layer.  A session for two calls at a time likewise has a
compiled network for each: in two streams of one, threads wait on one core while the other is idle.  Outputs are the
same bit for bit.

Compiled networks are kept on disk (`kernel_cache`), from where they are loaded in a quarter of the time, on a Zen 4
0.06 s instead of 0.26 s of processor time for the network that ships in 8 bits.  Outputs are the same bit for bit.

OpenVINO hands the threads of a session that has ended to the next one, also in a process that was forked since, where
these threads do not run: that session would wait for them for ever, and is refused instead.
"""

import contextlib
import functools
import os
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import numpy as np

from gtp_engine.base.errors import ModelError
from gtp_engine.base.files import sha256_of
from gtp_engine.base.machine import available_cores, has_equal_cores, processor_key
from gtp_engine.compiled.kernel_cache import keep_network, kept_network
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.providers import Runtime, thread_count

_CONVERSION: Final = "openvino.tools.ovc"
"""The module that openvino imports if it is there."""

_PROCESSOR: Final = "CPU"

_LEAST_KEPT: Final = 1 << 20
_MOST_KEPT: Final = 64 << 20
"""Bytes of a network file whose compiled code is kept: a smaller one is compiled in no time, a larger one would take
the room of many, as it has a compiled network for each board and number of positions."""

_AXES: Final = {"batch": 0, "height": 2, "width": 3}
"""The axes that a network file leaves free, by name; inputs beside the planes have the first one only."""


_LEAST_POINTS_OF_HALVES: Final = 4 * 19 * 19
"""Points of all positions of a batch that is run as two halves.

On two cores of a Zen 4, 8 positions on 19×19 as halves took 0.92 times as long as together with tengen-b10c128 in
int8, 0.97 in float32 and 0.96 with g170-b6c96; 4 positions 0.93, 2 positions 1.00, 8 positions on 13×13 1.00 and on 9×9
1.03."""


_ended_in: Final[set[int]] = set()
"""The processes, this one and those that it was forked from, in which a session has ended."""


class OpenVinoSession:
    """A compiled network for `at_once` calls at a time: 1, or 2 where `can_halve_cores` says so.

    `model` is an ONNX file or its bytes; `dimensions` fixes free axes by name.  What OpenVINO raises is not translated.
    Raises ModelError in a process that was forked from one in which a session had ended.
    """

    def __init__(
        self, model: str | bytes, runtime: Runtime, dimensions: Mapping[str, int], *, threads: int, at_once: int = 1
    ) -> None:
        if _ended_in - {os.getpid()}:
            advice = 'start processes by multiprocessing.get_context("spawn")'
            raise ModelError("a network after a fork of a process that has closed one", advice=advice)
        weakref.finalize(self, lambda: _ended_in.add(os.getpid()))
        parts = _parts(runtime, dimensions, threads) if at_once == 1 else 1
        if parts > 1:
            dimensions = {**dimensions, "batch": dimensions["batch"] // parts}
        if at_once > 1:
            threads = (threads or available_cores()) // at_once
        settings = _settings(runtime, threads) | ({"NUM_STREAMS": str(parts)} if parts > 1 else {})
        networks = [_compiled(model, dimensions, _device(runtime), settings) for _ in range(at_once)]
        compiled = networks[0]
        shapes = {entry.get_any_name(): entry.get_partial_shape() for entry in compiled.inputs}
        self.inputs: Final = {name: shape[1].get_length() for name, shape in shapes.items() if len(shape) > 1}
        """Values per position and point of each input, by its name."""
        self.outputs: Final = {name: i for i, entry in enumerate(compiled.outputs) for name in entry.get_names()}
        """The number of each output, by its names."""
        self._requests: Final = [_Request(network) for network in networks for _ in range(parts)]
        self._free: Final[SimpleQueue[_Request]] = SimpleQueue()
        """Those for whole batches that no thread runs."""
        self._is_split: Final = parts > 1
        for request in () if self._is_split else self._requests:
            self._free.put(request)
        self._lengths: Final = {
            name: shape[0].get_length() for name, shape in shapes.items() if len(shape) and shape[0].is_static
        }

    def run(self, feeds: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs by name, for contiguous inputs by name."""
        if not self._is_split:
            request = self._free.get()
            try:
                found = request.run(feeds)
            finally:
                self._free.put(request)
        else:
            count = len(self._requests)
            parts = {  # each gets all of an input that is not one of a batch
                name: [array] * count if len(array) == self._lengths.get(name) else np.split(array, count)
                for name, array in feeds.items()
            }
            with contextlib.ExitStack() as running:  # each that was started is waited for, whatever fails
                for i, request in enumerate(self._requests):
                    request.start({name: arrays[i] for name, arrays in parts.items()})
                    running.callback(request.wait)
            results = [request.outputs() for request in self._requests]
            found = [np.concatenate(arrays) for arrays in zip(*results, strict=True)]
        return {name: found[i] for name, i in self.outputs.items()}


class _Request:
    """What runs a compiled network, and the arrays of its inputs and outputs if they can stay the same."""

    def __init__(self, compiled: Any) -> None:
        self._names: Final = [entry.get_any_name() for entry in compiled.inputs]
        self._outputs: Final = len(compiled.outputs)
        self._request: Final = compiled.create_infer_request()
        is_fixed = not any(entry.get_partial_shape().is_dynamic for entry in [*compiled.inputs, *compiled.outputs])
        self._given: Final = (
            {name: self._request.get_input_tensor(i).data for i, name in enumerate(self._names)} if is_fixed else {}
        )
        self._found: Final = self._arrays() if is_fixed else []

    def run(self, feeds: Mapping[str, FloatArray]) -> list[FloatArray]:
        """Return the outputs by their numbers."""
        self._take(feeds)
        self._request.infer(share_outputs=True)  # no copies: they are made below
        return self.outputs()

    def start(self, feeds: Mapping[str, FloatArray]) -> None:
        """Begin to run; `wait` waits for the end."""
        self._take(feeds)
        self._request.start_async()

    def wait(self) -> None:
        """Wait until a run that was started has ended; raises what it failed with."""
        self._request.wait()

    def outputs(self) -> list[FloatArray]:
        """Return copies of the outputs of the last run, by their numbers."""
        return [array.copy() for array in self._found or self._arrays()]

    def _take(self, feeds: Mapping[str, FloatArray]) -> None:
        for i, name in enumerate(self._names):
            if self._given:
                np.copyto(self._given[name], feeds[name])
            else:
                self._request.set_input_tensor(i, _openvino().Tensor(feeds[name], shared_memory=True))

    def _arrays(self) -> list[FloatArray]:
        return [self._request.get_output_tensor(i).data for i in range(self._outputs)]


def _parts(runtime: Runtime, dimensions: Mapping[str, int], threads: int) -> int:
    """Return how many parts of a batch are run at a time: two, where cores of one kind can be halved, or one."""
    batch = dimensions.get("batch", 0)
    points = batch * dimensions.get("height", 0) * dimensions.get("width", 0)
    is_large = batch % 2 == 0 and points >= _LEAST_POINTS_OF_HALVES
    return 2 if is_large and can_halve_cores(runtime, threads) else 1


def can_halve_cores(runtime: Runtime, threads: int) -> bool:
    """Return whether a session can run two calls at a time, each on half of its cores."""
    is_even = (threads or available_cores()) % 2 == 0
    return is_even and runtime.provider.openvino_device == _PROCESSOR and has_equal_cores()


def _compiled(model: str | bytes, dimensions: Mapping[str, int], device: str, settings: Mapping[str, str]) -> Any:
    """Return the compiled network, loaded from the disk if it has been kept there."""
    core = _core()
    key = _key(Path(model), dimensions, settings) if isinstance(model, str) and device == _PROCESSOR else ""
    if key and (kept := kept_network(key)) is not None:
        with contextlib.suppress(Exception):  # it raises many kinds; then the network is compiled
            return core.import_model(kept, device, settings)
    network = core.read_model(model, b"") if isinstance(model, bytes) else core.read_model(model)
    shapes = {entry: entry.get_partial_shape() for entry in network.inputs}
    for shape in shapes.values():
        for name, size in dimensions.items():
            if _AXES[name] < len(shape) and shape[_AXES[name]].is_dynamic:
                shape[_AXES[name]] = size
    if dimensions:
        network.reshape({entry.get_any_name(): shape for entry, shape in shapes.items()})
    compiled = core.compile_model(network, device, settings)
    if key:
        with contextlib.suppress(Exception):  # as above; nothing is lost but time
            keep_network(key, compiled.export_model().getvalue())
    return compiled


def _key(path: Path, dimensions: Mapping[str, int], settings: Mapping[str, str]) -> str:
    """Return all that a compiled network depends on, "" for a file whose code is not kept: a small or a large one.

    Threads and streams are set when it is loaded.
    """
    status = path.stat()
    if not _LEAST_KEPT <= status.st_size <= _MOST_KEPT:
        return ""
    version = _core().get_versions(_PROCESSOR)[_PROCESSOR].build_number
    digest = _digest(path, status.st_size, status.st_mtime_ns)
    return repr((digest, version, processor_key(), dict(dimensions), settings["INFERENCE_PRECISION_HINT"]))


@functools.lru_cache(maxsize=16)
def _digest(path: Path, size: int, changed: int) -> str:
    """Return the hash of a network file of this size, last changed at this time."""
    return sha256_of(path)


@functools.cache
def _openvino() -> Any:
    """Return the module openvino, without its tools for conversion.

    Their import reports itself to OpenVINO's makers over the network, without asking, and takes longer than the rest.
    """
    if "openvino" in sys.modules:  # the program that the engine is part of has imported it
        return sys.modules["openvino"]
    sys.modules[_CONVERSION] = None  # type: ignore[assignment]  # Python's way to let an import fail
    try:
        import openvino  # here: it takes a tenth of a second
    finally:
        del sys.modules[_CONVERSION]
    return openvino


@functools.cache
def _core() -> Any:
    """Return OpenVINO's registry of devices, one for the process."""
    return _openvino().Core()


def device_names(kind: str) -> dict[str, str]:
    """Return OpenVINO's devices of a kind, CPU, GPU or NPU, each with the name of the product.

    It loads the drivers, which may take a second.
    """
    found = [device for device in _core().available_devices if device.split(".")[0] == kind]
    return {device: str(_core().get_property(device, "FULL_DEVICE_NAME")) for device in found}


def _device(runtime: Runtime) -> str:
    """Return OpenVINO's name of the device that is to run a network; raises ModelError if there is none."""
    provider = runtime.provider
    if provider.is_cpu:
        return provider.openvino_device
    names = device_names(provider.openvino_device)
    if not names:
        raise ModelError(f"{provider.title} finds no device; {provider.driver}")
    return list(names)[runtime.place_of_device([*names.values()])]


def _settings(runtime: Runtime, threads: int) -> dict[str, str]:
    """Return OpenVINO's settings: one request at a time, with all cores, at the lowest latency.

    Threads are not tied to cores, because two engines in a match would be tied to the same ones.
    """
    uses_bfloat16 = runtime.precision == "bfloat16" or runtime.has_bfloat16
    precision = "bf16" if uses_bfloat16 else "f16" if runtime.precision == "float16" else "f32"
    settings = {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY"}
    if runtime.provider.is_cpu:
        settings |= {"NUM_STREAMS": "1", "ENABLE_CPU_PINNING": "NO"}
        if count := thread_count(threads):
            settings["INFERENCE_NUM_THREADS"] = str(count)
    return settings
