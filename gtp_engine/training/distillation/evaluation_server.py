"""One process runs networks for many: workers encode positions on all cores, one GPU evaluates them together.

    EvaluationServer   runs networks, on threads of this process
    Port               the place at which a worker asks for evaluations; it is passed on to the worker's process
    remote_evaluator   an evaluator that asks at a port: what a worker has in place of a network of its own

A port is a pipe and shared memory.  The worker writes its inputs into the memory, the planes as bits, and sends width,
height and the number of positions; the server writes the outputs, and sends the numbers of policies and of other
values, or the text of an error.  Requests that wait together are evaluated together, if they are for the same network
and board.
"""

import ctypes
import multiprocessing
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final, Self, cast

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError
from gtp_engine.base.worker_process import Connection
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.katago_format.description import MOST_POLICIES
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.network_evaluator import ReadyModel, uncached_evaluator
from gtp_engine.nn.onnx_model import RawOutputs

if TYPE_CHECKING:
    from gtp_engine.training.distillation.module_files import TorchModel

THREADS: Final = 2
"""Threads of the server: one prepares inputs and copies outputs while the device works for the other."""
_CHECK_INTERVAL: Final = 0.2
"""Seconds of waiting for a request between two checks for the end."""
_MOST_MISC: Final = 6
_VALUES: Final = 3
"""The most outputs of a network beside its policies (`nn.metadata`)."""


@dataclass(frozen=True)
class Port:
    """A worker's place; `rows` and `area` are the most positions of a call and the most points of a board."""

    network: int
    info: NetworkInfo
    rows: int
    area: int
    pipe: Connection
    bits: Any  # shared arrays: the planes, the global values, and the outputs one after the other
    values: Any
    found: Any

    def inputs(self, count: int, area: int) -> tuple[NDArray[np.uint8], FloatArray]:
        """Return the places of the bits and of the global values of `count` positions."""
        planes, globals_ = self.info.planes, self.info.globals_
        bits = np.frombuffer(self.bits, dtype=np.uint8)[: count * planes * (-(-area // 8))]
        values = np.frombuffer(self.values, dtype=np.float32)[: count * globals_]
        return bits.reshape(count, planes, -1), values.reshape(count, globals_)

    def outputs(self, count: int, area: int, policies: int, misc: int) -> RawOutputs:
        """Return the places of the outputs for `count` positions; they overlap with nothing."""
        floats = np.frombuffer(self.found, dtype=np.float32)
        shapes = [(count, policies, area + 1), (count, _VALUES), (count, misc), (count, area)]
        sizes = [int(np.prod(shape)) for shape in shapes]
        parts = np.split(floats[: sum(sizes)], np.cumsum(sizes)[:-1])
        return RawOutputs(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))


class EvaluationServer:
    """Runs `networks` for all who have a port; a context manager, entered once all ports exist."""

    def __init__(self, networks: Sequence["TorchModel"]) -> None:
        self._networks: Final = networks
        self._ports: Final[list[tuple[Connection, Port]]] = []
        self._threads: list[threading.Thread] = []
        self._is_over: Final = threading.Event()

    def port(self, network: int, *, rows: int, area: int) -> Port:
        """Return a new port for network number `network`, with at most `rows` positions of at most `area` points."""
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        info = self._networks[network].info
        bits = context.RawArray(ctypes.c_uint8, rows * info.planes * (-(-area // 8)))
        outputs = MOST_POLICIES * (area + 1) + _VALUES + _MOST_MISC + area
        values, found = (context.RawArray(ctypes.c_float, rows * count) for count in (info.globals_, outputs))
        port = Port(network, info, rows, area, there, bits, values, found)
        self._ports.append((here, port))
        return port

    def __enter__(self) -> Self:
        by_network = sorted(self._ports, key=lambda entry: entry[1].network)  # so that each thread serves all networks
        self._threads = [
            threading.Thread(target=self._serve, args=(dict(by_network[i::THREADS]),), name="evaluations", daemon=True)
            for i in range(THREADS)
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        for here, port in self._ports:
            here.close()
            port.pipe.close()

    def _serve(self, ports: dict[Connection, Port]) -> None:
        """Answer the requests at some ports until the end."""
        while ports and not self._is_over.is_set():
            waiting: dict[tuple[int, int, int], list[tuple[Connection, Port, int]]] = {}
            for ready in wait(list(ports), _CHECK_INTERVAL):
                pipe = cast("Connection", ready)
                try:
                    width, height, count = pipe.recv()
                except (EOFError, OSError):  # its worker has ended
                    del ports[pipe]
                    continue
                waiting.setdefault((ports[pipe].network, width, height), []).append((pipe, ports[pipe], count))
            for place, requests in waiting.items():
                self._answer(*place, requests)

    def _answer(self, network: int, width: int, height: int, requests: Sequence[tuple[Connection, Port, int]]) -> None:
        """Evaluate the positions of some requests together, and answer them."""
        area = width * height
        inputs = [port.inputs(count, area) for _, port, count in requests]
        bits, globals_ = (np.concatenate(arrays) for arrays in zip(*inputs, strict=True))
        try:
            found = self._networks[network].run_bits(bits, globals_, width, height)
        except Exception as error:  # the workers report it
            answer: tuple[int, int] | str = f"{type(error).__name__}: {error}"
        else:
            assert found.policy is not None and found.misc is not None, "and these two"
            answer, begin = (found.policy.shape[1], found.misc.shape[1]), 0
            for _, port, count in requests:
                places = port.outputs(count, area, *answer)
                for place, values in zip(places, found, strict=True):
                    assert place is not None and values is not None, "networks of KataGo's kind have all outputs"
                    place[:] = values[begin : begin + count]
                begin += count
        for pipe, _, _ in requests:
            try:
                pipe.send(answer)
            except OSError:  # its worker has ended
                continue


class RemoteModel(ReadyModel):
    """A network that the server runs."""

    def __init__(self, port: Port) -> None:
        self._port: Final = port
        self.info: Final = port.info
        self.batch: Final = port.rows

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs, which the next call overwrites; raises ModelError with the text of the server's error."""
        count, planes, height, width = spatial.shape
        area = width * height
        port = self._port
        if count > port.rows or area > port.area:
            raise ValueError(f"{count} positions of {area} points at a port for {port.rows} of {port.area}")
        bits, values = port.inputs(count, area)
        bits[:] = np.packbits(spatial.reshape(count, planes, area) > 0, axis=2)
        values[:] = globals_
        try:
            port.pipe.send((width, height, count))
            answer: tuple[int, int] | str = port.pipe.recv()
        except (EOFError, OSError):
            raise ModelError("the process that runs the networks has ended") from None
        if isinstance(answer, str):
            raise ModelError(f"network {self.info.name} could not be run ({answer})")
        return port.outputs(count, area, *answer)


def remote_evaluator(port: Port, *, looks: int = 1) -> Evaluator:
    """Return an evaluator that asks at a port, for one thread; `looks` is as in `uncached_evaluator`.

    An answer that the port's last worker has not read is dropped.
    """
    while port.pipe.poll():
        port.pipe.recv()
    return uncached_evaluator(RemoteModel(port), looks=looks)
