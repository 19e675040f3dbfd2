"""A watchdog for processes under test: ends one that owes an answer for too long, which fails the test."""

import threading
import time
from collections.abc import Callable
from typing import Final

_LOOKS: Final = 1.0
"""Seconds between two looks at the clock."""


class Watchdog:
    """Calls `kill` when a `with` block takes longer than `seconds`; one thread watches all blocks until `close`."""

    def __init__(self, kill: Callable[[], None], seconds: float) -> None:
        self._kill: Final = kill
        self._seconds: Final = seconds
        self._deadline: float | None = None
        self._is_over: Final = threading.Event()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def __enter__(self) -> None:
        self._deadline = time.monotonic() + self._seconds

    def __exit__(self, *_: object) -> None:
        self._deadline = None

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()

    def _watch(self) -> None:
        while not self._is_over.wait(_LOOKS):
            deadline = self._deadline
            if deadline is not None and time.monotonic() > deadline:
                self._kill()
