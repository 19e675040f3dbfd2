"""Bounds on durations that also hold while other processes use the cores."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from gtp_engine.base.machine import available_cores


def bound(seconds: float) -> float:
    """Return `seconds`, the bound on an idle machine, times the number of processes that wait for each core."""
    return seconds * max(1.0, _load() / available_cores())


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until `condition` returns something true; fail after `seconds` on an idle machine."""
    deadline = time.monotonic() + bound(seconds)
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.001)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the main thread after `seconds` on an idle machine; without limit where Unix is missing."""

    def end(*_: object) -> None:
        raise TimeoutError(f"it goes on after {seconds} s")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(math.ceil(bound(seconds)))
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
    """Require that one of several measurements is below a bound; skip the test on a machine too busy to tell."""
    measured = []
    while not measured or (min(measured) >= below and len(measured) < attempts):
        measured.append(measure())
    if min(measured) >= below and bound(1) > 1:
        pytest.skip(f"{min(measured):.3f} s at best instead of {below} s, {bound(1):.1f} processes wait for each core")
    assert min(measured) < below


def _load() -> float:
    """Return how many processes were running or waiting for a core over the last minute; 0 where that is unknown."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows, some containers
        return 0.0
