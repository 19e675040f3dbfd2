"""A network file in ONNX Runtime: sessions, and arrays in and out.  The only module that imports onnxruntime.

A session serves one board size, with fixed dimensions, so that it needs no mask and does no work for points off the
board.  The number of positions is handled in two ways (`Provider.takes_any_batch`): on a CPU one session leaves it free
and another serves full batches, which are 5 % faster that way; elsewhere a call is padded to a power of two, each with
a session of its own.

Sessions are created when they are first needed, or by `prepare`; the least recently used ones are closed when there are
more than `MAX_SESSIONS`, because each holds the network's weights.
"""

import json
import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import onnxruntime

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.machine import available_cores
from gtp_engine.nn.metadata import read_info
from gtp_engine.nn.providers import Runtime, estimated_seconds, suitable_batch

MAX_SESSIONS: Final = 6
"""Open sessions of one network: enough for three board sizes on a CPU."""

ANY_BATCH: Final = 0
"""In place of a number of positions: the session takes any number."""

_FATAL_ONLY: Final = 4
"""ONNX Runtime's log level: warnings about the graph mean nothing to a user, and errors come as exceptions too."""

_OUTPUTS: Final = ("policy", "value", "misc", "ownership")

_SMALLEST_NETWORK: Final = bytes.fromhex(
    "08083a320a0b0a017812017922034162731201675a0f0a0178120a0a08080112040a020801"
    "620f0a0179120a0a08080112040a02080142040a00100d"
)
"""An ONNX file: y = |x| for one number (opset 13)."""


class RawOutputs(NamedTuple):
    """The outputs of a network for K positions, as `metadata` describes them; None for those it lacks."""

    policy: FloatArray | None  # [K, P, H·W (+ 1)]
    value: FloatArray | None  # [K, 1 or 3]
    misc: FloatArray | None  # [K, 3, 4 or 6]
    ownership: FloatArray | None  # [K, H·W]


class OnnxModel:
    """A network of one file, run by one provider; one thread uses it at a time.

    `threads` is for providers that run on the processor, 0: all cores; `batch` 0: what suits network and machine.

    Raises ModelError if the file's metadata cannot be read or is not that of a network; other faults are found by
    `prepare`.
    """

    def __init__(self, path: Path, runtime: Runtime, *, threads: int = 0, batch: int = 0) -> None:
        self.path = path
        self.info = read_info(path)
        self.runtime = runtime
        self.position_seconds = estimated_seconds(runtime, path.stat().st_size, threads or available_cores())
        self.batch = batch or suitable_batch(runtime, self.position_seconds)
        self._threads = threads
        self._output_names: list[str] = []
        self._sessions: OrderedDict[tuple[int, int, int], Any] = OrderedDict()

    @property
    def precision(self) -> str:
        """The number format in which it calculates."""
        return self.runtime.precision

    def prepare(self, width: int, height: int) -> None:
        """Create the sessions that boards of this size need, so that no later call has to wait for them.

        Raises ModelError if the network does not play this size, or the provider cannot run it.
        """
        for rows in {self.session_rows(1), self.session_rows(self.batch)}:
            self._session(rows, width, height)

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]; K ≥ 1.

        Raises ModelError if the provider fails, or the outputs do not have the shapes that the metadata declares.
        """
        count, _, height, width = spatial.shape
        rows = self.session_rows(count)
        session = self._session(rows, width, height)
        feeds = {"spatial": spatial}
        if self.info.globals_:
            feeds["globals"] = globals_
        if rows > count:
            feeds = {name: _padded(array, rows) for name, array in feeds.items()}
        try:
            arrays = session.run(self._output_names, feeds)
        except Exception as error:  # many kinds, as when a session is created
            raise ModelError(
                f"network {shown(self.path.name)}: {self.runtime.provider.title} cannot run it: {_reason(error)}"
            ) from error
        found = dict(zip(self._output_names, arrays, strict=True))
        outputs = RawOutputs(*(None if name not in found else found[name][:count] for name in _OUTPUTS))
        if outputs.policy is not None and outputs.policy.ndim == 2:
            outputs = outputs._replace(policy=outputs.policy[:, None, :])
        self._check_shapes(outputs, count, width * height)
        return outputs

    def session_rows(self, count: int) -> int:
        """Return the batch size of the session that serves `count` positions."""
        if self.runtime.provider.takes_any_batch:
            return self.batch if count == self.batch else ANY_BATCH
        return 1 << (count - 1).bit_length()

    def close(self) -> None:
        """Free the sessions."""
        self._sessions.clear()

    def _session(self, rows: int, width: int, height: int) -> Any:
        key = (rows, width, height)
        session = self._sessions.get(key)
        if session is None:
            session = self._new_session(rows, width, height)
            self._sessions[key] = session
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(key)
        return session

    def _new_session(self, rows: int, width: int, height: int) -> Any:
        """Return a session for boards of this size; raises ModelError."""
        name = shown(self.info.name)
        if not self.info.sizes.include(width, height):
            raise ModelError(
                problem(f"network {name} on a board of {width}x{height}", expected=f"boards of {self.info.sizes}")
            )
        dimensions = {"height": height, "width": width} | ({} if rows == ANY_BATCH else {"batch": rows})
        try:
            session = new_session(os.fspath(self.path), self.runtime, dimensions, threads=self._threads)
        except ModelError as error:
            raise ModelError(f"network {shown(self.path.name)}: {error}") from error
        self._check_graph(session)
        return session

    def _check_graph(self, session: Any) -> None:
        """Raise ModelError if inputs and outputs are not those that the metadata declares."""
        info = self.info
        wanted = {"spatial": info.planes} | ({"globals": info.globals_} if info.globals_ else {})
        inputs = {entry.name: entry.shape[1] for entry in session.get_inputs() if len(entry.shape) > 1}
        if inputs != wanted:
            raise self._wrong("inputs", inputs, wanted)
        self._output_names = [entry.name for entry in session.get_outputs()]
        needed = {kind for kind in ("policy", "value") if kind in info.kind} or {"policy"}
        if info.is_katago and "value" in info.kind:
            needed.add("misc")
        if info.has_ownership:
            needed.add("ownership")
        if not needed <= set(self._output_names):
            raise self._wrong("outputs", sorted(self._output_names), sorted(needed))

    def _check_shapes(self, outputs: RawOutputs, count: int, area: int) -> None:
        """Raise ModelError if the kernels that decode the outputs would read beyond their ends: they check nothing."""
        info = self.info
        sizes = {
            "policy": (area, area + 1),
            "value": (3,) if info.is_katago else (1,),
            "misc": (6,) if info.has_errors else (3, 4, 6),
            "ownership": (area,),
        }
        for name, array in zip(_OUTPUTS, outputs, strict=True):
            if array is None:
                continue
            dimensions = 3 if name == "policy" else 2
            if array.ndim != dimensions or len(array) != count or array.shape[-1] not in sizes[name]:
                wanted = f"{' or '.join(map(str, sizes[name]))} values for each of {count} positions"
                raise self._wrong(f"output {name} of shape", list(array.shape), wanted)

    def _wrong(self, what: str, found: object, expected: object) -> ModelError:
        return ModelError(
            problem(
                f"network {shown(self.path.name)} has the {what} {found}",
                expected=f"{expected}, as its metadata declares",
                advice="import or train it again",
            )
        )


def installed_providers() -> Sequence[str]:
    """Return the execution providers that onnxruntime was built with; each of them may still fail to load."""
    return list(onnxruntime.get_available_providers())


def new_session(
    model: str | bytes, runtime: Runtime, dimensions: dict[str, int], *, threads: int = 0
) -> onnxruntime.InferenceSession:
    """Return a session of an ONNX file, or of its bytes, with free dimensions fixed by name.

    Raises ModelError if ONNX Runtime cannot load the network, or not with this provider.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    for name, size in dimensions.items():
        options.add_free_dimension_override_by_name(name, size)
    provider = runtime.provider
    settings: dict[str, str] = {}
    if provider.name == "openvino":
        settings = {"device_type": "CPU", "load_config": json.dumps({"CPU": _openvino_config(runtime, threads)})}
    else:
        options.intra_op_num_threads = _thread_count(threads)
        # Threads that wait by spinning take the processor from a front end or an opponent on the same machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Without VNNI, sums of two 8-bit products overflow in the faster of its algorithms.
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = onnxruntime.InferenceSession(
            model, options, providers=[(provider.onnx_name, settings)], enable_fallback=0
        )
    except Exception as error:  # onnxruntime raises many kinds, and OpenVINO's own come as RuntimeError
        raise ModelError(f"{provider.title} cannot load it: {_reason(error)}") from error
    if provider.onnx_name not in session.get_providers():
        raise ModelError(problem(f"{provider.title} could not be started", advice=provider.advice))
    return session


def try_provider(runtime: Runtime) -> str | None:
    """Return why a provider does not work at all, or None if it runs a minimal network."""
    try:
        session = new_session(_SMALLEST_NETWORK, runtime, {})
        session.run(None, {"x": np.zeros(1, dtype=np.float32)})
    except ModelError as error:
        return str(error)
    except Exception as error:  # as above
        return f"{runtime.provider.title} fails: {_reason(error)}"
    return None


def _reason(error: Exception) -> str:
    """Return the first line of ONNX Runtime's message, quoted."""
    return shown(str(error).strip().split("\n")[0], length=300)


def _openvino_config(runtime: Runtime, threads: int) -> dict[str, str]:
    """Return OpenVINO's settings: one request at a time, with all cores, at the lowest latency.

    Threads are not tied to cores, because two engines in a match would be tied to the same ones.
    """
    uses_bfloat16 = runtime.precision == "bfloat16" or runtime.has_bfloat16
    config = {
        "INFERENCE_PRECISION_HINT": "bf16" if uses_bfloat16 else "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": "1",
        "ENABLE_CPU_PINNING": "NO",
    }
    count = _thread_count(threads)
    return config | ({"INFERENCE_NUM_THREADS": str(count)} if count else {})


def _thread_count(threads: int) -> int:
    """Return the number of threads to request; 0 lets the library choose, which takes one per physical core.

    Where a container's quota allows fewer cores than the machine has, the library would choose too many.
    """
    if threads:
        return threads
    cores = available_cores()
    return cores if cores < (os.cpu_count() or 1) else 0


def _padded(array: FloatArray, rows: int) -> FloatArray:
    """Return `array` followed by rows of zeros, `rows` in all."""
    filled = np.zeros((rows, *array.shape[1:]), dtype=np.float32)
    filled[: len(array)] = array
    return filled
