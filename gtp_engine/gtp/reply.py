"""The reply to one command: sent at once, or as a stream of lines while the engine searches.

A streaming reply begins with `=[id]` on a line of its own, lines follow, and a blank line ends it:

    kata-analyze 50
    =
    info move D4 visits 12 ...
    info move Q16 visits 31 ...
                                    (any line from the controller ends it)

Lines may come from the searching thread, the end from the thread that reads the next command; the first to end the
reply decides its last line, and everything after that is dropped.
"""

import threading
from collections.abc import Callable
from typing import Final

from gtp_engine.gtp.protocol import Response, clean_reply

SendPiece = Callable[[str], None]
"""Takes a piece of a reply, complete lines; called by one thread at a time for each reply."""


class Reply:
    """The reply to the command with this id; `interrupted` is its last line if the next command interrupts it."""

    def __init__(self, send: SendPiece, id: int | None = None) -> None:
        self.interrupted = ""
        self._send: Final = send
        self._id: Final = id
        self._lock: Final = threading.Lock()
        self._is_open = False
        self._is_ended = False
        self._has_line: Final = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether the stream has begun; from then on the command cannot fail any more."""
        return self._is_open

    @property
    def is_ended(self) -> bool:
        """Whether everything has been sent."""
        return self._is_ended

    def open(self) -> None:
        """Begin a stream of lines."""
        with self._lock:
            self._open()

    def line(self, text: str) -> None:
        """Send a line of the stream, which begins with the first; an empty line is left out."""
        with self._lock:
            if not self._is_ended:
                self._open()
                if cleaned := clean_reply(text):
                    self._send(f"{cleaned}\n")
                    self._has_line.set()

    def end(self, text: str = "", *, ok: bool = True) -> None:
        """Send the last line of the stream, or the whole response if there is no stream; later calls do nothing.

        The protocol has no errors within a stream: after lines were sent, an error only ends it.
        """
        with self._lock:
            if self._is_ended:
                return
            self._is_ended = True
            if self._is_open:
                cleaned = clean_reply(text) if ok else ""
                self._send(f"{cleaned}\n\n" if cleaned else "\n")
            else:
                self._send(Response(text, ok, self._id).format())
            self._has_line.set()

    def interrupt(self) -> None:
        """End the reply because the controller has sent another line."""
        self.end(self.interrupted)

    def wait_for_line(self, timeout: float) -> None:
        """Wait until a line of a stream, or everything, has been sent."""
        self._has_line.wait(timeout)

    def _open(self) -> None:
        if not self._is_open and not self._is_ended:
            self._is_open = True
            self._send(f"={'' if self._id is None else self._id}\n")
