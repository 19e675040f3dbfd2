"""A log file of all lines received and sent, for bug reports about a controller (option `gtp.log`)."""

import time
from collections.abc import Callable
from typing import TextIO

from gtp_engine.files import expanded


class Transcript:
    """Appends the lines of a session to a file, each with the time; does nothing if `path` is None.

    A file that cannot be opened or written is reported through `log` once and then no longer used: a full disk must not
    end a game.
    """

    def __init__(self, path: str | None, log: Callable[[str], None]) -> None:
        self._log = log
        self._path = path
        self._file: TextIO | None = None
        if path is not None:
            try:
                self._file = expanded(path).open("a", encoding="utf-8", errors="backslashreplace")
            except OSError as error:
                self._report(error)

    def received(self, line: str) -> None:
        """Record a line from the controller."""
        self._write("<", line.rstrip("\r"))

    def sent(self, reply: str) -> None:
        """Record a reply."""
        self._write(">", reply.rstrip("\n"))

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
            self._file = None

    def _write(self, direction: str, text: str) -> None:
        if self._file is None:
            return
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        try:
            self._file.write(f"{stamp} {direction} {text}\n")
            self._file.flush()
        except OSError as error:
            self._file = None
            self._report(error)

    def _report(self, error: OSError) -> None:
        self._log(f"the log {self._path} is not written: {error.strerror or error}")
