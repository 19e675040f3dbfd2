"""The engine's log lines while it starts; in the game they would tear the screen."""

from collections.abc import Callable
from typing import Final


class StartLog:
    """Passes lines on to `write` until `end`; any thread may call it."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write: Final = write
        self._has_ended = False

    def __call__(self, line: str) -> None:
        """Pass a line on, unless the game has begun."""
        if not self._has_ended:
            self._write(line)

    def end(self) -> None:
        """Drop all further lines."""
        self._has_ended = True
