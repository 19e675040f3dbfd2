"""An engine as a real process behind real pipes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, Self

from busy_machine import bound
from warm_cache import compile_once
from watchdog import Watchdog

import gtp_engine

TIMEOUT: Final = 120
"""Seconds on an idle machine after which a process is taken for dead, or after twice as many one that owes a reply."""


class EngineProcess:
    """Runs `python -m gtp_engine` with these words, until the end of the `with` block at most.

    Its kernels are compiled before, unless the process `is_cold`.  Its streams are buffered, as users have them.
    """

    def __init__(
        self, *words: str, stdin: int = subprocess.PIPE, stderr: int = subprocess.DEVNULL, is_cold: bool = False
    ) -> None:
        if not is_cold:
            compile_once("network")
        command = [sys.executable, "-m", "gtp_engine", *words]
        environment = {**os.environ, "PYTHONPATH": str(Path(gtp_engine.__file__).parent.parent)}
        environment.pop("PYTHONUNBUFFERED", None)
        self.process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment, bufsize=0
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


class GtpProcess(EngineProcess):
    """A process that speaks GTP."""

    def __init__(self, *args: str, **options: Any) -> None:
        super().__init__("gtp", *args, **options)
        self._unread = b""
        self._watchdog = Watchdog(self.process.kill, 2 * TIMEOUT)

    def __exit__(self, *_: object) -> None:
        self._watchdog.close()
        super().__exit__()

    def send(self, data: bytes) -> None:
        """Write bytes to the engine."""
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) or 0 :]

    def read_reply(self) -> bytes:
        """Return the output up to the next blank line, or what there is when the output ends."""
        assert self.process.stdout is not None
        while b"\n\n" not in self._unread:
            with self._watchdog:
                chunk = self.process.stdout.read(1 << 16)
            if not chunk:
                break
            self._unread += chunk
        reply, blank, self._unread = self._unread.partition(b"\n\n")
        return reply + blank

    def ask(self, line: bytes, is_command: bool = True) -> bytes:
        """Send a line and return the reply, b"" when none is due."""
        self.send(line)
        return self.read_reply() if is_command else b""

    def ask_all(self, lines: bytes, count: int) -> list[bytes]:
        """Send lines and return the next `count` replies."""
        self.send(lines)
        return [self.read_reply() for _ in range(count)]

    def finish(self, data: bytes = b"") -> tuple[bytes, bytes, int]:
        """Send the rest, close the input and return (output, errors, exit status)."""
        output, errors = self.process.communicate(data, timeout=bound(TIMEOUT))
        return output, errors or b"", self.process.returncode

    def wait(self) -> int:
        """Wait for the process to end and return its exit status."""
        return self.process.wait(timeout=bound(TIMEOUT))
