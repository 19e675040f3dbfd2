"""A network file on a provider: sessions of OpenVINO or ONNX Runtime, and arrays in and out.

A session serves one board size, with fixed dimensions, so that it needs no mask and does no work for points off the
board.  Numbers of positions are served as suits the provider (`Provider.calls`): in OpenVINO a call is divided among
sessions for powers of two, or padded if only one position of a full batch is missing, until its number has come often
enough for a session of its own; in ONNX Runtime on the CPU full batches have a session of their own and one session
takes what is left; elsewhere a call is padded to a power of two.

Sessions are created when they are first needed, or by `prepare`, which another thread may call meanwhile; those of the
board that was used least recently are closed when there are more than `MAX_BOARDS` of a network, because each session
holds the network's weights.
"""

import atexit
import functools
import os
import threading
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.base.machine import available_cores, describe_machine
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.metadata import NetworkInfo, read_metadata
from gtp_engine.nn.onnxruntime_session import OnnxRuntimeSession, available_providers, cards_of, is_plugged_in
from gtp_engine.nn.openvino_session import OpenVinoSession, can_halve_cores, device_names
from gtp_engine.nn.providers import (
    ANY_SIZE,
    IN_PARTS,
    PADDED,
    PROVIDERS,
    Provider,
    Runtime,
    choose_runtimes,
    suitable_batch,
)
from gtp_engine.nn.quantized_copy import NOTHING_KNOWN, CopyQuality

MAX_BOARDS: Final = 3
"""Board sizes for which a network has open sessions, and whose evaluations are kept (`network_evaluator`)."""

ANY_BATCH: Final = 0
"""In place of a number of positions: the session takes any number."""

OFTEN: Final = 300
"""Calls for a number of positions on a board after which, in OpenVINO, it gets a session of its own.

That takes 0.06 to 0.3 s once with tengen-b10c128, and then saves 0.4 to 1 ms a call on 9×9 (4% of a search):
the time is won back after as many calls again.
"""

_FEWEST_PADDED: Final = 7
"""Positions from which a call is padded in OpenVINO if one of a full batch is missing: it would be three calls or more.

With tengen-b10c128 in int8 on 9×9, 7 positions took 6.4 ms as 4, 2 and 1, and 8 took 5.6 ms (two cores of a Zen 4)."""

_SMALLEST_NETWORK: Final = bytes.fromhex(
    "08083a320a0b0a017812017922034162731201675a0f0a0178120a0a08080112040a020801"
    "620f0a0179120a0a08080112040a02080142040a00100d"
)
"""An ONNX file: y = |x| for one number (opset 13)."""


Session: TypeAlias = OpenVinoSession | OnnxRuntimeSession
"""A network that is loaded, with fixed dimensions."""

_PATIENCE: Final = 60.0
"""Seconds that a process waits at its end for a network that is still being compiled or run."""


class _Calls:
    """The calls into OpenVINO and ONNX Runtime that are under way; the end of the process waits for them.

    Python ends a daemon thread that comes back from a library when the interpreter is ending.  Inside these libraries
    that aborts the process ("terminate called without an active exception", status 134).  To free a session is a call
    too: those that live at the end are kept, so that no such thread frees them.
    """

    def __init__(self) -> None:
        self._condition: Final = threading.Condition()
        self._count = 0
        self._is_over = False
        self._sessions: Final[weakref.WeakSet[Session]] = weakref.WeakSet()
        self._kept: Final[list[Session]] = []
        atexit.register(self._end)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count the block as a call; in a daemon thread of a process that is ending, never begin it."""
        with self._condition:
            while self._is_over and threading.current_thread().daemon:
                self._condition.wait()
            self._count += 1
        try:
            yield
        finally:
            with self._condition:
                self._count -= 1
                self._condition.notify_all()

    def add(self, session: Session) -> None:
        """Take note of a session, created by a call that is under way."""
        self._sessions.add(session)
        if self._is_over:
            self._kept.append(session)

    def _end(self) -> None:
        with self._condition:
            self._is_over = True
            self._kept.extend(self._sessions)
            self._condition.wait_for(lambda: self._count == 0, _PATIENCE)


_calls: Final = _Calls()


class RawOutputs(NamedTuple):
    """The outputs of a network for K positions, as `metadata` describes them; None for those it lacks."""

    policy: FloatArray | None  # [K, P, H·W (+ 1)]
    value: FloatArray | None  # [K, 1 or 3]
    misc: FloatArray | None  # [K, 3, 4 or 6]
    ownership: FloatArray | None  # [K, H·W]


_STONES: Final = 0.2
"""Share of ones in random planes."""
_RANDOM_SEED: Final = 1


def random_inputs(info: NetworkInfo, batch: int, board: tuple[int, int] | None = None) -> tuple[FloatArray, FloatArray]:
    """Return planes [batch, planes, H, W] and globals [batch, globals], always the same ones.

    They are for a board of this width and height; None: the usual one.
    """
    width, height = board or info.sizes.usual
    random = np.random.default_rng(_RANDOM_SEED)
    spatial = (random.random((batch, info.planes, height, width)) < _STONES).astype(np.float32)
    spatial[:, 0] = 1.0  # KataGo's first plane marks the points of the board
    return spatial, np.zeros((batch, info.globals_), dtype=np.float32)


class OnnxModel:
    """A network of one file, run by one provider; calls of several threads take turns, while others may prepare it.

    `for_boards` has other files for some boards, by width and height: networks with the same inputs and outputs.
    After `halve_cores`, two calls at a time are each run on half of the cores, and one alone still on all of them.
    `threads` is for providers that run on the processor, 0: all cores; `batch` 0: what suits network and machine.

    Raises ModelError if the file's metadata cannot be read or is not that of a network; other faults are found by
    `prepare`.
    """

    def __init__(
        self,
        path: Path,
        runtime: Runtime,
        *,
        threads: int = 0,
        batch: int = 0,
        for_boards: Mapping[tuple[int, int], Path] = MappingProxyType({}),
    ) -> None:
        self.path = path
        self.files = (path, *for_boards.values())
        self._for_boards: Final = for_boards
        self.info = read_metadata(path)
        self.runtime = runtime
        self.precision = runtime.precision
        self.batch = batch or suitable_batch(runtime, path.stat().st_size, threads or available_cores())
        self._threads = threads
        self._sessions: OrderedDict[tuple[int, int], dict[int, Future[Session]]] = OrderedDict()
        """For each board the sessions by their number of positions, those included that some thread is creating.  For
        calls of which two are made at a time the number is negative."""
        self._counts: dict[tuple[int, int], Counter[int]] = {}
        """How many calls there were for each number of positions, on boards with open sessions."""
        self._halves: Final[dict[Path, bytes]] = {}
        """The networks of files in half precision, where that is used."""
        self._lock: Final = threading.Lock()
        self.at_once = 1
        """Calls that are run at a time."""
        self._running: AbstractContextManager[object] = threading.Lock()
        """Held by the calls that run: a network for a new board is checked for damage beside a search."""
        self._under_way: Final[Counter[tuple[int, int]]] = Counter()
        self._had_company = False
        """Calls under way by their board, and whether the last one began beside another."""

    def file_for(self, board: tuple[int, int]) -> Path:
        """Return the file of the network for boards of this width and height."""
        return self._for_boards.get(board, self.path)

    def prepare(self, width: int, height: int) -> None:
        """Create the sessions for one position and for a full batch on boards of this size.

        Those for numbers between, which may take minutes to compile where all would be padded, are created beside what
        follows; a call that needs one waits for it.  Raises ModelError if the network does not play this size, or the
        provider cannot run it.
        """
        for rows in {*self.sessions_for(1), *self.sessions_for(self.batch)}:
            self._session(rows, width, height)
        if self.runtime.provider.calls == PADDED:
            return
        with self._lock:
            created = {*self._sessions.get((width, height), ())}
        others = {rows for count in range(2, self.batch) for rows in self.sessions_for(count)}
        others |= {-rows for rows in others | {1} if self.at_once > 1 and rows != self.batch}
        others -= created
        if others:
            create = threading.Thread(target=self._create, args=(others, width, height), name="network", daemon=True)
            create.start()

    def _create(self, sizes: Iterable[int], width: int, height: int) -> None:
        """Create sessions; calls that need one that fails raise the error themselves."""
        with suppress(ModelError):
            for rows in sizes:
                self._session(rows, width, height)

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]; K ≥ 1.

        Raises ModelError if the provider fails, or the outputs do not have the shapes that the metadata declares.
        """
        count, _, height, width = spatial.shape
        feeds = {"spatial": spatial} | ({"globals": globals_} if self.info.globals_ else {})
        sizes = self._sizes(count, (width, height))
        with self._beside((width, height)) as is_beside:
            sessions = [(rows, self._session(-rows if is_beside else rows, width, height)) for rows in sizes]
            parts, first = [], 0
            try:
                for rows, session in sessions:
                    last = min(first + rows, count) if rows else count
                    with _calls.one(), self._running:
                        part = session.run({name: _padded(array[first:last], rows) for name, array in feeds.items()})
                    parts.append(part)
                    first = last
            except Exception as error:  # many kinds, as when a session is created
                name = shown(self.file_for((width, height)).name)
                given = f"network {name}: {self.runtime.provider.title} cannot run it: {_reason(error)}"
                raise ModelError(given) from error
        outputs = RawOutputs(*(_joined(parts, name, count) for name in RawOutputs._fields))
        if outputs.policy is not None and outputs.policy.ndim == 2:
            outputs = outputs._replace(policy=outputs.policy[:, None, :])
        self._check_shapes(outputs, count, (width, height))
        return outputs

    @contextmanager
    def _beside(self, board: tuple[int, int]) -> Iterator[bool]:
        """Count a call; yield whether it is to leave half of the cores to another one on this board.

        One is expected where there was one a moment before: both may be between two calls when the first begins.
        """
        if self.at_once == 1:
            yield False
            return
        with self._lock:
            has_company = self._under_way[board] > 0
            is_beside, self._had_company = has_company or self._had_company, has_company
            self._under_way[board] += 1
        try:
            yield is_beside
        finally:
            with self._lock:
                self._under_way[board] -= 1

    def halve_cores(self) -> bool:
        """Return whether two calls can be run at a time from now on; no call may be under way."""
        if can_halve_cores(self.runtime, self._threads):
            self.at_once = 2
            self._running = threading.Semaphore(self.at_once)
        return self.at_once > 1

    def join_cores(self) -> None:
        """Have calls take turns again; no call may be under way."""
        self.at_once, self._running, self._had_company = 1, threading.Lock(), False
        with self._lock:
            for sessions in self._sessions.values():
                for rows in [rows for rows in sessions if rows < 0]:
                    del sessions[rows]

    def sessions_for(self, count: int) -> list[int]:
        """Return the sessions that serve `count` positions one after the other, each by its number of positions."""
        calls, sessions = self.runtime.provider.calls, []
        if calls == PADDED:
            return [1 << (count - 1).bit_length()]
        if calls == ANY_SIZE:
            return [self.batch] * (count // self.batch) + [ANY_BATCH] * (count % self.batch > 0)
        while count > 0:
            is_nearly_full = _FEWEST_PADDED <= count == self.batch - 1
            sessions.append(self.batch if count >= self.batch or is_nearly_full else 1 << (count.bit_length() - 1))
            count -= sessions[-1]
        return sessions

    def _sizes(self, count: int, board: tuple[int, int]) -> list[int]:
        """Return what `sessions_for` does, or for a number that came often on this board a session of its own."""
        if self.runtime.provider.calls == IN_PARTS and count < self.batch:
            with self._lock:
                counts = self._counts.setdefault(board, Counter())
                counts[count] += 1
                if counts[count] > OFTEN:
                    return [count]
        return self.sessions_for(count)

    def close(self) -> None:
        """Free the sessions."""
        with self._lock:
            self._sessions.clear()
            self._counts.clear()

    def _session(self, rows: int, width: int, height: int) -> Session:
        """Return a session, which this thread creates unless another one does; raises ModelError."""
        board = (width, height)
        with self._lock:
            sessions = self._sessions.setdefault(board, {})
            self._sessions.move_to_end(board)
            of_path = [each for each in self._sessions if each not in self._for_boards]  # one network has all of these
            if len(of_path) > MAX_BOARDS:
                del self._sessions[of_path[0]]
                self._counts.pop(of_path[0], None)
            is_new = rows not in sessions
            found = sessions.setdefault(rows, Future())
        if is_new:
            try:
                found.set_result(self._new_session(rows, width, height))
            except BaseException as error:
                with self._lock:
                    sessions.pop(rows, None)
                    if not sessions and self._sessions.get(board) is sessions:
                        del self._sessions[board]
                found.set_exception(error)
                raise
        return found.result()

    def _new_session(self, rows: int, width: int, height: int) -> Session:
        """Return a session for boards of this size; raises ModelError."""
        name, file = shown(self.info.name), self.file_for((width, height))
        if file == self.path and not self.info.sizes.include(width, height):
            raise ModelError(f"network {name} on a board of {width}x{height}", expected=f"boards of {self.info.sizes}")
        dimensions = {"height": height, "width": width} | ({} if rows == ANY_BATCH else {"batch": abs(rows)})
        at_once = self.at_once if rows < 0 else 1
        try:
            network = self._network(file)
            session = new_session(network, self.runtime, dimensions, threads=self._threads, at_once=at_once)
        except ModelError as error:
            raise ModelError(f"network {shown(file.name)}: {error}") from error
        self._check_graph(session, file)
        return session

    def _network(self, file: Path) -> str | bytes:
        """Return a file, or its network in half precision; OpenVINO takes the file for that too."""
        if self.runtime.precision != "float16" or self.runtime.provider.openvino_device:
            return os.fspath(file)
        from gtp_engine.nn.half_precision import in_half_precision  # here: only graphics cards need onnx

        if file not in self._halves:
            self._halves[file] = in_half_precision(file)
        return self._halves[file]

    def _check_graph(self, session: Session, file: Path) -> None:
        """Raise ModelError if inputs and outputs are not those that the metadata declares."""
        info = self.info
        wanted = {"spatial": info.planes} | ({"globals": info.globals_} if info.globals_ else {})
        if session.inputs != wanted:
            raise _wrong(file, "inputs", dict(session.inputs), wanted)
        needed = {kind for kind in ("policy", "value") if kind in info.kind} or {"policy"}
        if info.is_katago and "value" in info.kind:
            needed.add("misc")
        if info.has_ownership:
            needed.add("ownership")
        if not needed <= set(session.outputs):
            raise _wrong(file, "outputs", sorted(session.outputs), sorted(needed))

    def _check_shapes(self, outputs: RawOutputs, count: int, board: tuple[int, int]) -> None:
        """Raise ModelError if the kernels that decode the outputs would read beyond their ends: they check nothing."""
        info, area = self.info, board[0] * board[1]
        sizes = {
            "policy": (area, area + 1),
            "value": (3,) if info.is_katago else (1,),
            "misc": (6,) if info.has_errors else (3, 4, 6),
            "ownership": (area,),
        }
        for name, array in outputs._asdict().items():
            if array is None:
                continue
            dimensions = 3 if name == "policy" else 2
            if array.ndim != dimensions or len(array) != count or array.shape[-1] not in sizes[name]:
                wanted = f"{' or '.join(map(str, sizes[name]))} values for each of {count} positions"
                raise _wrong(self.file_for(board), f"output {name} of shape", list(array.shape), wanted)


def _wrong(file: Path, what: str, found: object, expected: object) -> ModelError:
    return ModelError(
        f"network {shown(file.name)} has the {what} {found}",
        expected=f"{expected}, as its metadata declares",
        advice="import or train it again",
    )


def installed_providers() -> Sequence[str]:
    """Return the names of the providers (`PROVIDERS`) that are installed; each of them may still fail to load."""
    try:
        found = available_providers()
    except Exception:  # it can raise anything; `gtp-engine doctor` reports it
        found = []

    def has(provider: Provider) -> bool:
        if provider.openvino_device:
            return find_spec("openvino") is not None
        if provider.plug_in:
            return bool(found) and is_plugged_in(provider) and not cards_of(provider).trouble
        return provider.onnx_name in found

    return [name for name, provider in PROVIDERS.items() if has(provider)]


def runtimes_here(
    provider: str, precision: str, networks: Collection[str], quality: CopyQuality = NOTHING_KNOWN
) -> tuple[Runtime, ...]:
    """Return what can run a network on this machine, best first; see `providers.choose_runtimes`."""
    available, simd = installed_providers(), describe_machine()["simd"]
    return choose_runtimes(provider, precision, networks=networks, available=available, simd=simd, quality=quality)


def listed_devices() -> list[tuple[str, int, str]]:
    """Return the devices beside the processor that are known by name: provider, number as in the options, name."""
    found: list[tuple[str, int, str]] = []
    for name in installed_providers():
        provider = PROVIDERS[name]
        if not provider.is_cpu:
            names = device_names(kind).values() if (kind := provider.openvino_device) else cards_of(provider).names()
            found += [(name, number, device) for number, device in enumerate(names, 1)]
    return found


def new_session(
    model: str | bytes, runtime: Runtime, dimensions: Mapping[str, int], *, threads: int = 0, at_once: int = 1
) -> Session:
    """Return a session of an ONNX file, or of its bytes, with the free axes batch, height and width fixed by name.

    Only OpenVINO runs more than one call `at_once`.  Raises ModelError if the network cannot be loaded, or not with
    this provider.
    """
    kind: Callable[..., Session] = OnnxRuntimeSession
    if runtime.provider.openvino_device:
        kind = functools.partial(OpenVinoSession, at_once=at_once)
    try:
        with _calls.one():
            session = kind(model, runtime, dimensions, threads=threads)
            _calls.add(session)
            return session
    except ModelError:
        raise
    except Exception as error:  # both libraries raise many kinds
        raise ModelError(f"{runtime.provider.title} cannot load it: {_reason(error)}") from error


def try_provider(runtime: Runtime) -> str | None:
    """Return why a provider does not work at all, or None if it runs a minimal network."""
    try:
        session = new_session(_SMALLEST_NETWORK, runtime, {})
        session.run({"x": np.zeros(1, dtype=np.float32)})
    except ModelError as error:
        return str(error)
    except Exception as error:  # as above
        return f"{runtime.provider.title} fails: {_reason(error)}"
    return None


def _reason(error: Exception) -> str:
    """Return the first line of a library's message, quoted."""
    return shown(str(error).strip().split("\n")[0], length=300)


def _padded(array: FloatArray, rows: int) -> FloatArray:
    """Return `array` followed by rows of zeros, `rows` in all; itself if it has as many or more."""
    if len(array) >= rows:
        return array
    filled = np.zeros((rows, *array.shape[1:]), dtype=np.float32)
    filled[: len(array)] = array
    return filled


def _joined(parts: Sequence[Mapping[str, FloatArray]], name: str, count: int) -> FloatArray | None:
    """Return the first `count` rows of an output that came in parts; None for one that the network lacks."""
    arrays = [part[name] for part in parts if name in part]
    return None if not arrays else (arrays[0] if len(arrays) == 1 else np.concatenate(arrays))[:count]
