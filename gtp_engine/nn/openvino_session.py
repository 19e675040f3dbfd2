"""A network in OpenVINO, which runs it on the processor.  The only module that imports openvino.

A session compiles the network for boards of one size and one number of positions, or any number.  Each reads the arrays
that it is given where they lie, and returns copies of its outputs, so that results stay as they are when it runs again.
"""

import functools
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.nn.providers import Runtime, thread_count

_CONVERSION: Final = "openvino.tools.ovc"
"""The module that openvino imports if it is there."""

_AXES: Final = {"batch": 0, "height": 2, "width": 3}
"""The axes that a network file leaves free, by name; inputs beside the planes have the first one only."""


def is_installed() -> bool:
    """Return whether OpenVINO can be imported; it may still fail to load."""
    return find_spec("openvino") is not None


class OpenVinoSession:
    """A compiled network; one thread runs it at a time.

    `model` is an ONNX file or its bytes; `dimensions` fixes free axes by name.  What OpenVINO raises is not translated.
    """

    def __init__(self, model: str | bytes, runtime: Runtime, dimensions: Mapping[str, int], *, threads: int) -> None:
        core = _core()
        network = core.read_model(model, b"") if isinstance(model, bytes) else core.read_model(model)
        shapes = {entry: entry.get_partial_shape() for entry in network.inputs}
        self.inputs: Final = {
            entry.get_any_name(): shape[1].get_length() for entry, shape in shapes.items() if len(shape) > 1
        }
        """Values per position and point of each input, by its name."""
        for shape in shapes.values():
            for name, size in dimensions.items():
                if _AXES[name] < len(shape) and shape[_AXES[name]].is_dynamic:
                    shape[_AXES[name]] = size
        if dimensions:
            network.reshape({entry.get_any_name(): shape for entry, shape in shapes.items()})
        compiled = core.compile_model(network, "CPU", _settings(runtime, threads))
        self.outputs: Final = {name: i for i, entry in enumerate(compiled.outputs) for name in entry.get_names()}
        """The number of each output, by its names."""
        self._names: Final = [entry.get_any_name() for entry in compiled.inputs]
        self._request: Final = compiled.create_infer_request()

    def run(self, feeds: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs by name, for contiguous inputs by name."""
        request, tensor = self._request, _openvino().Tensor
        for i, name in enumerate(self._names):
            request.set_input_tensor(i, tensor(feeds[name], shared_memory=True))
        request.infer()
        return {name: np.array(request.get_output_tensor(i).data) for name, i in self.outputs.items()}


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


def _settings(runtime: Runtime, threads: int) -> dict[str, str]:
    """Return OpenVINO's settings: one request at a time, with all cores, at the lowest latency.

    Threads are not tied to cores, because two engines in a match would be tied to the same ones.
    """
    uses_bfloat16 = runtime.precision == "bfloat16" or runtime.has_bfloat16
    settings = {
        "INFERENCE_PRECISION_HINT": "bf16" if uses_bfloat16 else "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": "1",
        "ENABLE_CPU_PINNING": "NO",
    }
    count = thread_count(threads)
    return settings | ({"INFERENCE_NUM_THREADS": str(count)} if count else {})
