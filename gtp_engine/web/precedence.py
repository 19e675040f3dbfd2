"""Who searches first: games that people play come before reviews, which take minutes anyway."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gtp_engine.search.cancellation import CancelToken


class Precedence:
    """While any holder has precedence, others wait.  For any thread."""

    def __init__(self) -> None:
        self._holders = 0
        self._changed: Final = threading.Condition()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have precedence in the `with` block, at once, together with other holders."""
        with self._changed:
            self._holders += 1
        try:
            yield
        finally:
            with self._changed:
                self._holders -= 1
                self._changed.notify_all()

    def wait(self, cancel: CancelToken) -> None:
        """Wait until there is no holder, or until the cancellation."""
        with cancel.calling(self._wake), self._changed:
            self._changed.wait_for(lambda: cancel.is_cancelled or not self._holders)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
