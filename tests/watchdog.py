"""A watchdog for processes under test: ends one that owes an answer for too long, which fails the test."""

import threading
import time
from collections.abc import Callable
from typing import Final

from busy_machine import is_over

_LOOKS: Final = 1.0
"""Seconds between two looks at the clock."""


class Watchdog:
    """Calls `kill` after `seconds` of a `with` block on an idle machine; one thread watches until `close`."""

    def __init__(self, kill: Callable[[], None], seconds: float) -> None:
        self._kill: Final = kill
        self._seconds: Final = seconds
        self._started: float | None = None
        self._is_over: Final = threading.Event()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def __enter__(self) -> None:
        self._started = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._started = None

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()

    def _watch(self) -> None:
        while not self._is_over.wait(_LOOKS):
            if (started := self._started) is not None and is_over(started, self._seconds):
                self._kill()
