"""Bounds on durations that also hold while other processes use the cores."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gtp_engine.base.machine import available_cores


def bound(seconds: float) -> float:
    """Return `seconds`, the bound on an idle machine, times the number of processes that now share each core."""
    return seconds * max(1.0, _load() / available_cores())


def is_over(started: float, seconds: float) -> bool:
    """Return whether `seconds` on an idle machine have passed since `time.monotonic()` was `started`."""
    return (passed := time.monotonic() - started) > seconds and passed > bound(seconds)


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until `condition` returns something true; fail after `seconds` on an idle machine."""
    started = time.monotonic()
    while not condition():
        assert not is_over(started, seconds), "waited in vain"
        time.sleep(0.001)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the main thread after `seconds` on an idle machine; without limit where Unix is missing."""
    started = time.monotonic()

    def end(*_: object) -> None:
        if is_over(started, seconds):
            raise TimeoutError(f"it goes on after {seconds} s")
        signal.alarm(1)

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(math.ceil(seconds))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def wait_for_readers() -> None:
    """Wait for the threads that read lines, whose input has ended, before their descriptors are closed.

    A descriptor that is closed gets its number back for the next file that is opened.  A thread that is just about to
    read would then take away what is meant for another.
    """
    wait_until(lambda: all(thread.name != "stdin reader" for thread in threading.enumerate()))


def require_once(measure: Callable[[], float], below: float, attempts: int = 20) -> None:
    """Require that one of several measurements is below the bound on an idle machine."""
    measured: list[float] = []
    while not measured or measured[-1] >= bound(below):
        assert len(measured) < attempts, measured
        measured.append(measure())


def _load() -> float:
    """Return how many threads run or wait for a core, now or over the last minute; 0 where that is unknown."""
    with suppress(OSError):  # systems other than Linux
        minute, _, _, now, _ = Path("/proc/loadavg").read_text("ascii").split()
        return max(float(minute), float(now.partition("/")[0]))
    with suppress(AttributeError, OSError):  # Windows, some containers
        return os.getloadavg()[0]
    return 0.0
