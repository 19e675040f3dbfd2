"""A network in ONNX Runtime: on graphics cards, and on the processor where OpenVINO is missing or to compare it with.

The only module that imports onnxruntime.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from gtp_engine.errors import ModelError, problem
from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.nn.providers import Runtime, thread_count

_FATAL_ONLY: Final = 4
"""ONNX Runtime's log level: warnings about the graph mean nothing to a user, and errors come as exceptions too."""


def available_providers() -> Sequence[str]:
    """Return the execution providers that onnxruntime was built with; each of them may still fail to load.

    Raises whatever its import raises: ImportError where a library of the system is missing, anything if it is damaged.
    """
    import onnxruntime  # here: networks can be run without it

    return list(onnxruntime.get_available_providers())


class OnnxRuntimeSession:
    """A loaded network; one thread runs it at a time.

    `model` is an ONNX file or its bytes; `dimensions` fixes free axes by name.  Raises ModelError if the provider does
    not start; what ONNX Runtime raises otherwise is not translated.
    """

    def __init__(self, model: str | bytes, runtime: Runtime, dimensions: Mapping[str, int], *, threads: int) -> None:
        import onnxruntime  # as above

        options = onnxruntime.SessionOptions()
        options.log_severity_level = _FATAL_ONLY
        for name, size in dimensions.items():
            options.add_free_dimension_override_by_name(name, size)
        options.intra_op_num_threads = thread_count(threads)
        # Threads that wait by spinning take the processor from a front end or an opponent on the same machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Without VNNI, sums of two 8-bit products overflow in the faster of its algorithms.
        options.add_session_config_entry("session.x64quantprecision", "1")
        provider = runtime.provider
        session = onnxruntime.InferenceSession(model, options, providers=[(provider.onnx_name, {})], enable_fallback=0)
        if provider.onnx_name not in session.get_providers():
            raise ModelError(problem(f"{provider.title} could not be started", advice=provider.advice))
        self._session: Final = session
        self.inputs: Final = {entry.name: entry.shape[1] for entry in session.get_inputs() if len(entry.shape) > 1}
        """Values per position and point of each input, by its name."""
        self.outputs: Final = [entry.name for entry in session.get_outputs()]
        """The names of the outputs."""

    def run(self, feeds: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs by name, for inputs by name."""
        return dict(zip(self.outputs, self._session.run(self.outputs, feeds), strict=True))
