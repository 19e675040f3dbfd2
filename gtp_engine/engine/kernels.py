"""Compiles the kernels of an engine, or loads them from the cache, so that it answers from the start.

    compile_kernels   does it now: half of the kernels in this process, the others in a helper if there are two cores
    KernelLoader      does it in the background
    start_compiler    starts a process that compiles, or that is such a helper
    main              is what that process runs

Until a kernel is loaded, the engine interprets it.  Where the cache is complete that lasts a second.  At a first start
another process compiles, and each kernel is loaded as soon as it is compiled: a process, as a compiling thread would
keep the interpreter from answering.

One process compiles at a time, with its helper.  The others wait and then load what these have compiled.

Kernels come in groups: those of a search with KataGo's networks (NETWORK), with AlphaGo's, or without a network
(ROLLOUTS), and those of rollouts that a search mixes in.  `Resources.kernels_for` names the ones that a configuration
uses; another configuration compiles only what is new.

Each process compiles the callees of its kernels again.  The two halves have few in common, so the helper costs little:
27 and 32 s instead of 53 s for a network's kernels, on one core of an AMD EPYC.

`select_batch` takes two fifths of it, `encode_rows` a fifth.  Nearly half is numba's Python code (types, spliced
kernels, lowering), the rest LLVM's.  Fewer of its passes than now (`_jit_linking`) save little: none for reference
counts, none for kernels that are linked into others, and no copies of spliced kernels in numba together 4 %.
"""

import contextlib
import gc
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from gtp_engine._jit import KernelCall, interpret_until_loaded, require_saving
from gtp_engine.engine.kernel_calls import kernel_calls, kernel_halves
from gtp_engine.errors import counted
from gtp_engine.kernel_cache import (
    compiled_so_far,
    environment,
    is_cache_filled,
    lock,
    mark_cache_filled,
    package_environment,
    record_compiled,
)
from gtp_engine.machine import available_cores
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.streams import exit_at_end_of_input

FIRST_START: Final = "First start: compiling the engine for this processor, up to a minute; later starts take a second."

FURTHER_START: Final = "Compiling the {} that other options have not needed yet; later starts take a second."
"""In place of it where some kernels have been compiled."""

PROGRESS_INTERVAL: Final = 10.0
"""Seconds between two lines about the progress."""

_GARBAGE_THRESHOLD: Final = 100_000
"""Objects after which the compiling process collects garbage.  At Python's 700 (2,000 in later versions) the collector
takes a tenth of the compilation, going through the same living objects again and again."""

_PROGRAM: Final = "from gtp_engine.engine.kernels import main; main()"
"""The program of a compiling process."""

_HELPER: Final = "helper"
"""Its second argument where it is a helper."""

_POLL: Final = 0.2
"""Seconds between two looks whether a process has ended, for kernels that it has compiled, or at a cancel token."""

_COMPILER_EXIT: Final = 1.0
"""Seconds that the compiling process gets to end when it is not needed any more."""


class CompilationLog:
    """Reports how many of the kernels `names` are compiled, a line each `PROGRESS_INTERVAL`."""

    def __init__(self, names: Iterable[str], report: Callable[[str], None]) -> None:
        self._names: Final = frozenset(names)
        self._report: Final = report
        self._start: Final = time.monotonic()
        self._next = self._start + PROGRESS_INTERVAL
        missing = len(self._names) - self._count()
        report(FURTHER_START.format(counted(missing, "kernel")) if 0 < missing < len(self._names) else FIRST_START)

    def update(self) -> None:
        """Report if the interval is over."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PROGRESS_INTERVAL
            self._report(f"Compiled {self._count()} of {len(self._names)} kernels ({now - self._start:.0f} s)")

    def end(self) -> None:
        """Report that all kernels are ready."""
        self._report(f"Compiled all {len(self._names)} kernels ({time.monotonic() - self._start:.0f} s). Ready.")

    def _count(self) -> int:
        return len(self._names.intersection(compiled_so_far()))


def compile_kernels(kernels: str, report: Callable[[str], None]) -> None:
    """Compile every kernel of these groups, or load it; `report` receives lines if that takes long."""
    first, second = kernel_halves(kernels)
    if is_cache_filled(kernels):
        for call in (*first, *second):
            call.load()
        return
    progress = CompilationLog([call.name for call in (*first, *second)], report)
    with _reporting(progress), lock(waiting=lambda: None):
        with _start_helper(kernels) as helper:
            _compile(first)
            while helper is not None and helper.poll() is None:
                time.sleep(_POLL)
        _compile(second)  # loads what the helper has compiled
        mark_cache_filled(kernels)
    progress.end()


@contextlib.contextmanager
def _reporting(progress: CompilationLog) -> Iterator[None]:
    """Let another thread report the progress during the block: the largest kernel alone takes half of the time."""
    is_over = threading.Event()

    def report() -> None:
        while not is_over.wait(_POLL):
            progress.update()

    thread = threading.Thread(target=report, name="compilation log", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _compile(calls: Iterable[KernelCall]) -> None:
    """Compile or load kernels one after the other, and record them."""
    known = set(compiled_so_far())
    for call in calls:
        call.load()
        if call.name not in known:
            record_compiled(call.name)


def _start_helper(kernels: str) -> "contextlib.AbstractContextManager[subprocess.Popen[bytes] | None]":
    """Return a process that compiles the second half, or None if that is done, or there is one core or no process."""
    if available_cores() > 1 and not is_cache_filled(kernels):
        with contextlib.suppress(OSError):
            return start_compiler(kernels, _HELPER)
    return contextlib.nullcontext()


def start_compiler(kernels: str, *part: str) -> "subprocess.Popen[bytes]":
    """Return a process that compiles, and ends when the pipe to its stdin is closed; raises OSError."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, kernels, *part],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=package_environment(environment()),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


class KernelLoader:
    """Loads the kernels of some groups, once `start` is called; `log` receives lines for the user."""

    def __init__(self, kernels: str, log: Callable[[str], None]) -> None:
        self.kernels: Final = kernels
        """The groups (`kernel_cache.joined`)."""
        self._log: Final = log
        self._unloaded: Final = {call.name: call for call in kernel_calls(kernels)}
        self.total: Final = len(self._unloaded)
        """The number of kernels."""
        self.is_compiling = not is_cache_filled(kernels)
        """Whether some kernels have not been compiled yet."""
        self._is_ready: Final = threading.Event()
        self._is_closed: Final = threading.Event()
        self._thread: Final = threading.Thread(target=self._run, name="kernel loader", daemon=True)

    @property
    def loaded(self) -> int:
        """The number of kernels that have been loaded."""
        return self.total - len(self._unloaded)

    @property
    def progress(self) -> str:
        """How many kernels are ready, as part of a sentence."""
        return f"{self.loaded} of {self.total} kernels are ready"

    def start(self) -> None:
        """Interpret kernels from now on, and begin to load them; return at once."""
        interpret_until_loaded(True)
        self._thread.start()

    def wait(self, cancel: CancelToken) -> None:
        """Wait until all kernels are loaded, or until `cancel`."""
        while not (cancel.is_cancelled or self._is_ready.wait(_POLL)):
            pass

    def close(self) -> None:
        """End the compiling process, if any; what it has compiled stays in the cache."""
        self._is_closed.set()
        if self._thread.is_alive():
            self._thread.join(2 * _POLL + _COMPILER_EXIT)

    def _run(self) -> None:
        try:
            if self.is_compiling:
                self._follow_compiler()
            if not self._is_closed.is_set():
                self._load(list(self._unloaded))
                _freeze_garbage_collector()
        except Exception:  # a bug; kernels are compiled when they are called
            self._log(f"the kernels could not be loaded:\n{traceback.format_exc().rstrip()}")
        finally:
            self.is_compiling = False
            interpret_until_loaded(False)
            self._is_ready.set()

    def _load(self, names: list[str]) -> None:
        for name in names:
            if name in self._unloaded:
                self._unloaded[name].load()
                del self._unloaded[name]

    def _follow_compiler(self) -> None:
        """Load kernels as they are compiled, until all are or the loader is closed."""
        progress = CompilationLog(self._unloaded, self._log)
        try:
            compiler = start_compiler(self.kernels)
        except OSError as error:
            self._log(f"cannot start a process that compiles ({error}); compiling in this process")
        else:
            with compiler:
                while compiler.poll() is None and not self._is_closed.is_set():
                    progress.update()
                    self._load(compiled_so_far())
                    self._is_closed.wait(_POLL)
                self._end(compiler)
        if self._is_closed.is_set():
            return
        if is_cache_filled(self.kernels):
            progress.end()
        else:  # the compiler failed; its traceback is on stderr, unless it could not write
            compile_kernels(self.kernels, self._log)

    @staticmethod
    def _end(compiler: "subprocess.Popen[bytes]") -> None:
        """End the process if it runs."""
        if compiler.stdin is not None:
            with contextlib.suppress(OSError):
                compiler.stdin.close()
        try:
            compiler.wait(_COMPILER_EXIT)
        except subprocess.TimeoutExpired:
            compiler.kill()


def _freeze_garbage_collector() -> None:
    """Exclude all objects that live now from later garbage collections.

    Numba's are so many that a full collection, in the middle of some move, took 0.1 s of a processor, and several times
    as long on a busy machine.
    """
    gc.collect()
    gc.freeze()


def main() -> None:
    """Compile the groups of kernels named in the command line; end early with the process that started this.

    Exits with 1 where the code cannot be written: then that process compiles, and says why.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the engine, with which this ends
    exit_at_end_of_input()
    gc.set_threshold(_GARBAGE_THRESHOLD)
    require_saving()
    kernels, *part = sys.argv[1:]
    try:
        if part == [_HELPER]:
            _compile(kernel_halves(kernels)[1])
        else:
            compile_kernels(kernels, lambda line: None)
    except OSError:
        sys.exit(1)
