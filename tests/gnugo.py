"""GNU Go as an independent witness: a minimal driver for its GTP mode.

Debian installs the program as /usr/games/gnugo, which need not be on the PATH.  Tests that use the driver are skipped
with a reason where it is missing.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable

import pytest
from watchdog import Watchdog

_BATCH = 40
"""Commands sent before their answers are read: fewer round trips, and never more text than a pipe holds."""

_TIMEOUT = 120
"""Seconds after which a GNU Go that still owes answers is killed, which fails the test."""


def find_gnugo() -> str | None:
    """Return the path of GNU Go, or None: on the PATH, then where Debian puts games."""
    return shutil.which("gnugo") or shutil.which("gnugo", path=os.pathsep.join(("/usr/games", "/usr/local/games")))


needs_gnugo = pytest.mark.skipif(find_gnugo() is None, reason="gnugo is not installed (apt install gnugo)")


class GnuGo:
    """A running GNU Go; a context manager, so that it ends with the test, failed or not."""

    def __init__(self, *options: str) -> None:
        path = find_gnugo()
        assert path is not None
        command = [path, "--mode", "gtp", "--quiet", "--level", "1", "--seed", "1", *options]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._watchdog = Watchdog(self._process.kill, _TIMEOUT)

    def __enter__(self) -> "GnuGo":
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.close()
        self._process.kill()
        self._process.communicate()

    def ask(self, command: str) -> str:
        """Return the answer to one command; AssertionError if GNU Go refuses it."""
        return self.ask_all([command])[0]

    def ask_all(self, commands: Iterable[str]) -> list[str]:
        """Return the answers to several commands, all of which must succeed."""
        replies = self.try_all(commands)
        for ok, text in replies:
            assert ok, f"GNU Go: {text}"
        return [text for _, text in replies]

    def try_all(self, commands: Iterable[str]) -> list[tuple[bool, str]]:
        """Return (success, text) for each of several commands."""
        lines = list(commands)
        replies: list[tuple[bool, str]] = []
        for start in range(0, len(lines), _BATCH):
            batch = lines[start : start + _BATCH]
            assert self._process.stdin is not None
            self._process.stdin.write("".join(f"{line}\n" for line in batch))
            self._process.stdin.flush()
            with self._watchdog:
                replies += [self._read() for _ in batch]
        return replies

    def _read(self) -> tuple[bool, str]:
        """Return the next response: lines up to an empty one, the first beginning with = or ?."""
        assert self._process.stdout is not None
        lines: list[str] = []
        while True:
            line = self._process.stdout.readline()
            assert line, "GNU Go ended, or was ended because it did not answer"
            if line != "\n":
                lines.append(line.rstrip())
            elif lines:
                break
        text = "\n".join(lines)
        return text.startswith("="), text[1:].strip()
