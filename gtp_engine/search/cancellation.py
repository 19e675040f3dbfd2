"""The token by which a command's searches are cancelled: created by the caller, one for each command, never reused."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final


class CancelToken:
    """Once cancelled, cancelled for good.  Any thread may use it.

    The caller creates a token for a command and puts it into the limits of every search that the command needs.  So a
    cancellation is never lost, even if it comes before the first search or between two.
    """

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._callbacks: Final[list[Callable[[], None]]] = []
        self._is_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` has been called."""
        return self._is_cancelled

    def cancel(self) -> None:
        """End the searches that hold the token soon, without waiting for them; a second call does nothing."""
        with self._lock:
            if self._is_cancelled:
                return
            self._is_cancelled = True
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback()

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback` upon the cancellation while the context lasts, at once if that has happened before.

        It is called from the cancelling thread, at most once, and must not block.  The call may still be under way
        when the context ends.
        """
        with self._lock:
            is_late = self._is_cancelled
            if not is_late:
                self._callbacks.append(callback)
        if is_late:
            callback()
        try:
            yield
        finally:
            with self._lock:
                if not is_late:
                    self._callbacks.remove(callback)
