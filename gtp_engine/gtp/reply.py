"""The reply to one command on its way out: at once, or as a stream of lines that goes on while the engine thinks.

A streaming reply begins with `=[id]` on a line of its own, then come lines, and a blank line ends it:

    kata-analyze 50
    =
    info move D4 visits 12 ...
    info move Q16 visits 31 ...
                                    (any line from the controller ends it)

Lines may come from the thread that searches, the end from the one that reads the next command; whichever is first to
end the reply decides its last line, and whatever comes later is dropped.
"""

import threading
from collections.abc import Callable
from typing import Final

from gtp_engine.gtp.protocol import Response, clean_reply

Send = Callable[[str], None]
"""Takes a piece of a reply, complete lines; called by one thread at a time for each reply."""


class Reply:
    """The reply to the command with this id; `interrupted` is its last line if the next command comes first."""

    def __init__(self, send: Send, id: int | None = None) -> None:
        self.interrupted = ""
        self._send: Final = send
        self._id: Final = id
        self._lock: Final = threading.Lock()
        self._is_open = False
        self._is_ended = False
        self._has_line: Final = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether lines have been or may be sent already, so that the command can only succeed."""
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
        """Send a line of a stream, beginning it if need be; an empty one is left out."""
        with self._lock:
            if not self._is_ended:
                self._open()
                if cleaned := clean_reply(text):
                    self._send(f"{cleaned}\n")
                    self._has_line.set()

    def end(self, text: str = "", *, ok: bool = True) -> None:
        """Send the last line of a stream, or without a stream all there is to say; once, then nothing more.

        An error after lines were sent has no place in the protocol; the stream only ends.
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
