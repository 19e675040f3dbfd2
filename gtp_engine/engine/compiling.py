"""Compiles the kernels of an engine, or loads them from the cache.

    compile_kernels   does it now, in this process
    main              does it as a process of its own, for `kernel_loader`

One process compiles at a time.  The others wait and then load what it has compiled.
"""

import gc
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

from gtp_engine._jit import KernelCall
from gtp_engine.go.game_calls import game_calls
from gtp_engine.kernel_cache import NETWORK, compiled_so_far, is_cache_filled, lock, mark_cache_filled, record_compiled
from gtp_engine.nn.network_calls import network_calls
from gtp_engine.search.puct.puct_calls import puct_calls
from gtp_engine.search.rollouts.rollout_calls import rollout_calls
from gtp_engine.streams import exit_at_end_of_input

FIRST_START: Final = "First start: compiling the engine for this processor, about a minute; later starts take a second."

PROGRESS_INTERVAL: Final = 10.0
"""Seconds between two lines about the progress."""

_GARBAGE_THRESHOLD: Final = 100_000
"""Objects after which the compiling process collects garbage.  At Python's 700 (2,000 in later versions) the collector
takes a tenth of the compilation, going through the same living objects again and again."""


def kernel_calls(searches: str) -> list[KernelCall]:
    """Return the calls of kernels that Python makes in games with NETWORK or ROLLOUTS searches.

    Small kernels come first, so that starts which are ended early leave something compiled behind.
    """
    if searches == NETWORK:
        return [*game_calls(), *puct_calls(), *network_calls()]
    return [*game_calls(), *rollout_calls()]


class Progress:
    """Reports how many kernels are compiled, a line each `PROGRESS_INTERVAL`."""

    def __init__(self, searches: str, total: int, report: Callable[[str], None]) -> None:
        self._searches: Final = searches
        self._total: Final = total
        self._report: Final = report
        self._start: Final = time.monotonic()
        self._next = self._start + PROGRESS_INTERVAL
        report(FIRST_START)

    def update(self) -> None:
        """Report if the interval is over."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PROGRESS_INTERVAL
            done = len(compiled_so_far(self._searches))
            self._report(f"Compiled {done} of {self._total} kernels ({now - self._start:.0f} s)")

    def end(self) -> None:
        """Report that all kernels are ready."""
        self._report(f"Compiled all {self._total} kernels ({time.monotonic() - self._start:.0f} s). Ready.")


def compile_kernels(searches: str, report: Callable[[str], None]) -> None:
    """Compile every kernel for NETWORK or ROLLOUTS searches, or load it; `report` receives lines if that takes long."""
    calls = kernel_calls(searches)
    if is_cache_filled(searches):
        for call in calls:
            call.load()
        return
    progress = Progress(searches, len(calls), report)
    with lock(waiting=progress.update):
        known = set(compiled_so_far(searches))
        for call in calls:
            call.load()
            if call.name not in known:
                record_compiled(searches, call.name)
            progress.update()
        mark_cache_filled(searches)
    progress.end()


def main() -> None:
    """Compile the kernels for the searches named in the command line; end early with the process that started this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the engine, with which this ends
    exit_at_end_of_input()
    gc.set_threshold(_GARBAGE_THRESHOLD)
    compile_kernels(sys.argv[1], lambda line: None)
