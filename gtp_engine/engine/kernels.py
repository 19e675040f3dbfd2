"""Has kernels compiled as they are called, or loads them from the cache, so that an engine answers from the start.

    KernelLoader    does it in the background
    load_noted      loads what an earlier start of the same kind has noted
    main            is what the processes run that compile

Until a kernel is loaded, the engine interprets it.  The first call of each names it and the types of its arguments to
the loader, which has it compiled; so there is no list of kernels.  Lest the first move has to come before anything is
compiled, the engine begins with a rehearsal: a few seconds of play, interpreted, which calls what games call.  At the
end the loader notes what was loaded, and the next start of the same kind loads it in a second, without a rehearsal.

Other processes compile, as a compiling thread would keep the interpreter from answering, and each kernel is loaded as
soon as it is compiled.  If there are two cores there are two: one for the kernels of the trees, one for all others,
which take about as long.  Each compiles the callees of its kernels again, of which the two have few in common: 25 and
28 s for a network's kernels, on one core of a busy AMD EPYC.  Of each kind only one compiles on a machine at a time.
The others wait, while their engines load what these have compiled.

`select_batch` takes two fifths of it, `encode_rows` a fifth.  Nearly half is numba's Python code (types, lowering), the
rest LLVM's.  Fewer of its passes than now (`jit_linking`) save little: none for reference counts, and none of its own
for a kernel before it is linked.
"""

import contextlib
import gc
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final

from gtp_engine.base.machine import available_cores
from gtp_engine.base.streams import Log, receive_from_parent
from gtp_engine.compiled.jit import KernelCall, interpret_until_loaded, load_kernel, loaded_kernels
from gtp_engine.compiled.kernel_cache import (
    compiled_so_far,
    environment,
    forget_kernels,
    is_cache_filled,
    lock,
    note_kernels,
    noted_kernels,
    package_environment,
    record_compiled,
    require_saving,
)
from gtp_engine.search.limits import CancelToken

FIRST_START: Final = "First start: compiling the engine for this processor, up to a minute; later starts take a second."

FURTHER_START: Final = "Compiling what was not needed before; later starts take a second."
"""In place of it where some kernels have been compiled."""

PROGRESS_INTERVAL: Final = 10.0
"""Seconds between two lines about the progress."""

_GARBAGE_THRESHOLD: Final = 100_000
"""Objects after which the compiling process collects garbage.  At Python's 700 (2,000 in later versions) the collector
takes a tenth of the compilation, going through the same living objects again and again."""

_PROGRAM: Final = "from gtp_engine.engine.kernels import main; main()"
"""The program of a compiling process."""

_PARTS: Final = ("trees", "others")
"""What the two of them compile; where there is one, it is the first that compiles all."""

_TREES: Final = ("gtp_engine.search.puct.", "gtp_engine.search.rollouts.")
"""How the names of the kernels begin that the first compiles; of the search's others, proofs take a sixth of it all."""

_PACKAGE: Final = __name__.partition(".")[0]

_POLL: Final = 0.2
"""Seconds between two looks for kernels that were compiled or called, or at a cancel token."""

_CLOSE_SECONDS: Final = 1.0
"""Seconds that `close` waits for the thread, which ends the compiling processes."""


def load_noted(kind: str) -> bool:
    """Load the kernels that a start of this kind has noted; return whether there was one, and its notes can be read."""
    lines = noted_kernels(kind)
    try:
        for name, types in [_read(line) for line in lines or []]:
            load_kernel(name, types)
    except Exception:  # unpickling damaged data raises almost anything
        return False
    return lines is not None


def _line(name: str, types: tuple[Any, ...]) -> str:
    """Return a kernel and types as a line of text."""
    return f"{name} {b64encode(pickle.dumps(types)).decode()}"


def _read(line: str) -> tuple[str, tuple[Any, ...]]:
    """Return what `_line` has written."""
    name, _, types = line.partition(" ")
    return name, pickle.loads(b64decode(types))


class KernelLoader:
    """Loads the kernels of a kind of start, once `start` is called; `log` receives lines for the user.

    Where they were not compiled before, the kernels that `rehearse` calls are compiled; it runs in a thread of its own.
    """

    def __init__(self, kind: str, log: Log, rehearse: Callable[[], None] = lambda: None) -> None:
        self.kind: Final = kind
        """The name under which the kernels are noted."""
        self._log: Final = log
        self._rehearse: Final = rehearse
        self.is_compiling = not is_cache_filled(kind)
        """Whether some kernels have not been compiled yet."""
        self._calls: Final[SimpleQueue[KernelCall]] = SimpleQueue()
        self._unloaded: Final[dict[str, tuple[Any, ...]]] = {}
        self._total = 0
        self._is_ready: Final = threading.Event()
        self._is_closed: Final = threading.Event()
        self._thread: Final = threading.Thread(target=self._run, name="kernel loader", daemon=True)

    @property
    def progress(self) -> str:
        """How many kernels are ready, as part of a sentence."""
        return f"{self._count} kernels are ready" if self._total else "no kernel is ready yet"

    def start(self) -> None:
        """Interpret kernels from now on, and begin to load them; return at once."""
        interpret_until_loaded(self._want)
        self._thread.start()

    def wait(self, cancel: CancelToken | None = None) -> None:
        """Wait until all kernels are loaded, or until `cancel`."""
        while not (cancel is not None and cancel.is_cancelled) and not self._is_ready.wait(_POLL):
            pass

    def close(self) -> None:
        """End the compiling processes, if any; what they have compiled stays in the cache."""
        self._is_closed.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def _want(self, call: KernelCall) -> None:
        """Have the kernel of a call compiled, if it is one of the package: compilers can import no other."""
        if call.name.startswith(f"{_PACKAGE}."):
            self._calls.put(call)  # its types take the module numba, whose import takes long

    def _run(self) -> None:
        try:
            if self.is_compiling:
                self._follow_compilers()
            elif not load_noted(self.kind):
                forget_kernels(self.kind)
            if not self._is_closed.is_set():
                # Numba's objects are so many that a full collection, in the middle of some move, took 0.1 s of a
                # processor, and several times as long on a busy machine: later ones leave out all that live now.
                gc.collect()
                gc.freeze()
        except Exception:  # a bug, or the networks were closed; kernels are compiled when they are called
            if not self._is_closed.is_set():
                self._log(f"the kernels could not be loaded:\n{traceback.format_exc().rstrip()}")
        finally:
            self.is_compiling = False
            interpret_until_loaded(None)
            self._is_ready.set()

    def _follow_compilers(self) -> None:
        """Load kernels as they are compiled, until all that were called are or the loader is closed; note them then."""
        self._log(FURTHER_START if compiled_so_far() else FIRST_START)
        began = reported = time.monotonic()
        compilers = self._start_compilers()
        try:
            self._rehearse()  # while they import what they need
            while not self._is_closed.is_set():
                self._receive_calls(compilers)
                has_ended = any(compiler.poll() is not None for compiler in compilers)
                for name in [*self._unloaded] if has_ended or not compilers else compiled_so_far():
                    if name in self._unloaded:
                        load_kernel(name, self._unloaded[name])
                        del self._unloaded[name]
                if not self._unloaded:
                    break
                if time.monotonic() >= reported + PROGRESS_INTERVAL:
                    reported = time.monotonic()
                    self._log(f"Compiled {self._count} kernels ({reported - began:.0f} s)")
                self._is_closed.wait(_POLL)
        finally:
            _end(compilers)
        if not self._is_closed.is_set():
            note_kernels(self.kind, [_line(*kernel) for kernel in loaded_kernels().items()])
            self._log(f"Compiled all {self._total} kernels ({time.monotonic() - began:.0f} s). Ready.")

    @property
    def _count(self) -> str:
        return f"{self._total - len(self._unloaded)} of {self._total}"

    def _start_compilers(self) -> list["subprocess.Popen[bytes]"]:
        """Return as many processes as there is work for, none if there cannot be any."""
        compilers: list[subprocess.Popen[bytes]] = []
        try:
            for part in _PARTS[: available_cores()]:  # each ends when the pipe to its stdin is closed
                compiler = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM, part],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    env=package_environment(environment()),
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
                compilers.append(compiler)
        except OSError as error:
            if not compilers:
                self._log(f"cannot start a process that compiles ({error}); compiling in this process")
        return compilers

    def _receive_calls(self, compilers: Sequence["subprocess.Popen[bytes]"]) -> None:
        """Hand the kernels that were called to the compiling processes."""
        with contextlib.suppress(Empty):
            while True:
                call = self._calls.get_nowait()
                self._unloaded[call.name] = call.types
                self._total += 1
                if compilers:
                    to = compilers[0 if call.name.startswith(_TREES) else -1].stdin
                    assert to is not None, "it is a pipe"
                    with contextlib.suppress(OSError):  # a process that has ended is noticed later
                        to.write(f"{_line(call.name, call.types)}\n".encode())
                        to.flush()


def _end(compilers: Sequence["subprocess.Popen[bytes]"]) -> None:
    """End processes that run, in the middle of their work if need be."""
    for compiler in compilers:
        compiler.kill()
    for compiler in compilers:
        with contextlib.suppress(OSError), compiler:  # its pipe is closed, and it is waited for
            pass


def main() -> None:
    """Compile the kernels of the lines of stdin, and record each; end early with the process that started this.

    Exits with 1 where the code cannot be written: then that process compiles, and says why.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the engine, with which this ends
    gc.set_threshold(_GARBAGE_THRESHOLD)
    require_saving()
    lines: SimpleQueue[bytes] = SimpleQueue()
    receive_from_parent(lines.put)
    name, types = _read(lines.get().decode())
    try:
        with lock(sys.argv[1]):
            while True:
                load_kernel(name, types)
                if name not in compiled_so_far():
                    record_compiled(name)
                name, types = _read(lines.get().decode())
    except OSError:
        sys.exit(1)
