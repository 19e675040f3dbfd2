"""Loads the kernels of an engine in the background, so that it answers from the start.

Until a kernel is loaded, the engine interprets it.  Where the cache is complete that lasts a second.  At a first start
another process compiles (`compiling`), and each kernel is loaded as soon as it is compiled: a process, as a compiling
thread would keep the interpreter from answering.
"""

import contextlib
import gc
import subprocess
import threading
import traceback
from collections.abc import Callable
from typing import Final

from gtp_engine._jit import interpret_until_loaded
from gtp_engine.engine.compiling import Progress, compile_kernels, kernel_calls, start_compiler
from gtp_engine.kernel_cache import compiled_so_far, is_cache_filled
from gtp_engine.search.cancellation import CancelToken

_POLL: Final = 0.2
"""Seconds between two looks for kernels that have been compiled, or at a cancel token."""

_COMPILER_EXIT: Final = 1.0
"""Seconds that the compiling process gets to end when it is not needed any more."""


class KernelLoader:
    """Loads the kernels for NETWORK or ROLLOUTS searches, once `start` is called; `log` receives lines for the user."""

    def __init__(self, searches: str, log: Callable[[str], None]) -> None:
        self.searches: Final = searches
        """NETWORK or ROLLOUTS."""
        self._log: Final = log
        self._unloaded: Final = {call.name: call for call in kernel_calls(searches)}
        self.total: Final = len(self._unloaded)
        """The number of kernels."""
        self.is_compiling = not is_cache_filled(searches)
        """Whether some kernels have not been compiled yet."""
        self._is_ready: Final = threading.Event()
        self._is_closed: Final = threading.Event()
        self._thread: Final = threading.Thread(target=self._run, name="kernel loader", daemon=True)

    @property
    def loaded(self) -> int:
        """The number of kernels that have been loaded."""
        return self.total - len(self._unloaded)

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
        progress = Progress(self.searches, self.total, self._log)
        try:
            compiler = start_compiler(self.searches)
        except OSError as error:
            self._log(f"cannot start a process that compiles ({error}); compiling in this process")
        else:
            with compiler:
                while compiler.poll() is None and not self._is_closed.is_set():
                    progress.update()
                    self._load(compiled_so_far(self.searches))
                    self._is_closed.wait(_POLL)
                self._end(compiler)
        if self._is_closed.is_set():
            return
        if is_cache_filled(self.searches):
            progress.end()
        else:  # the compiler failed; its traceback is on stderr, unless it could not write
            compile_kernels(self.searches, self._log)

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
