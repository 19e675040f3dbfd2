"""A GTP engine as a child process: send a command, get the reply and its time.

Not here: which commands are sent and when (`match_engine`), nor anything about Go.

The engine's stderr and the dialogue (`>>` sent, `<<` received) are written to one log file for each process, so that a
lost game can be examined afterwards.  A reader thread reads stdout, because only that way waiting for a line with a
time limit works the same on every platform.  The thread also stamps each line with its time of arrival, so that the
time of a move does not include the referee's wait for a core.

Replies are read leniently, like other clients read them: lines before the first `=` or `?` are skipped (an engine that
prints a banner on stdout still plays), an empty line ends the reply, and CRLF is accepted.
"""

import contextlib
import os
import queue
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, Final, NamedTuple

from gtp_engine.errors import SHOWN_PATH_LENGTH, TengenError, shown
from gtp_engine.worker_process import kill_program, split_command, start_program

QUIT_SECONDS: Final = 5.0
"""Seconds until an engine that has not exited after `quit` is killed, as in gtp2ogs."""

STDERR_BYTES: Final = 4096
"""Bytes at the end of a log that are searched for the engine's last line on stderr, which may be a long path."""

_SENT: Final = ">>"
_RECEIVED: Final = "<<"
"""Marks of the dialogue's lines in the log."""

_REPLY_HEAD = re.compile(r"^([=?])\d*\s?(.*)$", re.DOTALL)


class TimedReply(NamedTuple):
    """The text of a successful reply and the seconds from the command's last byte to the reply's first line."""

    text: str
    seconds: float


class GtpClientError(TengenError):
    """An engine has failed; the message begins with its label and command."""


class EngineStartError(GtpClientError):
    """The engine's command cannot be run."""


class EngineDiedError(GtpClientError):
    """The engine exited or closed its output before its reply."""


class EngineTimeoutError(GtpClientError):
    """The engine did not reply in time; it has been killed."""


class CommandFailedError(GtpClientError):
    """The engine replied with `?`; `reply` is its text."""

    def __init__(self, message: str, *, reply: str) -> None:
        self.reply = reply
        super().__init__(message)


class GtpClient:
    """A running engine.  One thread at a time may use it; only `kill` is safe from any thread.

    `command` is split like a shell command line, but run without a shell.  `log` is appended to.  `timeout` is the
    longest wait for a reply, in seconds, perhaps infinite.  Raises EngineStartError.
    """

    def __init__(self, command: str, *, label: str, log: Path, timeout: float) -> None:
        self.command = command
        self.label = label
        self._timeout = timeout
        self._log_path = log
        self._log: IO[bytes] = log.open("ab", buffering=0)
        self._log_start: Final = self._log.tell()
        self._lines: queue.SimpleQueue[tuple[float, str] | None] = queue.SimpleQueue()
        try:
            self._process = self._start()
        except BaseException:
            self._log.close()
            raise
        assert self._process.stdin is not None and self._process.stdout is not None, "both are pipes"
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        self._reader = threading.Thread(target=self._read, name=f"gtp-{label}", daemon=True)
        self._reader.start()

    def _start(self) -> "subprocess.Popen[bytes]":
        program = self.command
        try:
            arguments = split_command(self.command)
            program = arguments if isinstance(arguments, str) else arguments[0]
            return start_program(arguments, stderr=self._log)  # Ctrl-C would look like a crash of the engine
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise EngineStartError(f"{self.label}: cannot run {_whole(program)}: {reason}") from error

    def send(self, command: str) -> TimedReply:
        """Return the engine's reply to one command line.

        Raises CommandFailedError for a `?` reply, EngineDiedError, and EngineTimeoutError after killing the engine (a
        late reply would be taken for that of the next command).
        """
        self._note(_SENT, command)
        self._write(command)
        seconds, lines = self._receive(command, time.monotonic())
        self._note(_RECEIVED, "\n".join(lines))
        head = _REPLY_HEAD.match(lines[0])
        assert head is not None, "_receive returns only replies"
        text = "\n".join([head.group(2), *lines[1:]]).strip()
        if head.group(1) == "?":
            raise CommandFailedError(f"{self.label}: {shown(command)} failed: {_whole(text)}", reply=text)
        return TimedReply(text, seconds)

    def is_alive(self) -> bool:
        """Return whether the process runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """Send `quit`, and kill the engine if it does not exit within `QUIT_SECONDS`.  Raises nothing."""
        if self.is_alive():
            with contextlib.suppress(OSError, ValueError):
                self._note(_SENT, "quit")
                self._write_bytes(b"quit\n")
            with contextlib.suppress(OSError):
                self._stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(QUIT_SECONDS)
        self.kill()
        self._reader.join(QUIT_SECONDS)
        self._log.close()

    def kill(self) -> None:
        """Kill the process and its children.  Safe from any thread, and after the process has ended."""
        kill_program(self._process)
        with contextlib.suppress(OSError):
            self._stdin.close()

    def _read(self) -> None:
        with self._stdout as stdout:
            for line in stdout:
                self._lines.put((time.monotonic(), line.decode("utf-8", errors="replace").rstrip("\r\n")))
        self._lines.put(None)

    def _write(self, command: str) -> None:
        try:
            self._write_bytes(command.encode() + b"\n")
        except (OSError, ValueError) as error:
            raise self._died(command) from error

    def _write_bytes(self, data: bytes) -> None:
        self._stdin.write(data)
        self._stdin.flush()

    def _receive(self, command: str, started: float) -> tuple[float, list[str]]:
        """Return the seconds until the reply's first line, and its lines without the closing empty one."""
        deadline = started + self._timeout
        seconds = 0.0
        lines: list[str] = []
        while True:
            try:
                wait = min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)
                item = self._lines.get(timeout=wait)
            except queue.Empty:
                self.kill()
                raise EngineTimeoutError(
                    f"{self.label}: no reply to {shown(command)} within {self._timeout:g} s; see {self._log_path}"
                ) from None
            if item is None:
                self._lines.put(None)
                raise self._died(command)
            arrival, line = item
            if lines and not line:
                return seconds, lines
            if lines:
                lines.append(line)
            elif _REPLY_HEAD.match(line):
                seconds = max(0.0, arrival - started)  # the reply may arrive before `started` is read
                lines.append(line)

    def _died(self, command: str) -> EngineDiedError:
        try:
            code = self._process.wait(QUIT_SECONDS)
            how = f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}"
        except subprocess.TimeoutExpired:
            self.kill()
            how = "closed its output"
        message = f"{self.label}: the engine {how} instead of replying to {shown(command)}"
        words = self._last_words()
        return EngineDiedError(f"{message}{f': {_whole(words)}' if words else ''}; see {self._log_path}")

    def _last_words(self) -> str:
        """Return the last line that the engine wrote to stderr, "" if there is none."""
        with contextlib.suppress(OSError), self._log_path.open("rb") as file:
            file.seek(max(self._log_start, file.seek(0, os.SEEK_END) - STDERR_BYTES))
            for line in reversed(file.read().decode("utf-8", errors="replace").splitlines()):
                if line.strip() and not line.startswith((_SENT, _RECEIVED)):
                    return line.strip()
        return ""

    def _note(self, mark: str, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._log.write(b"".join(f"{mark} {line}\n".encode() for line in text.split("\n")))


def _whole(text: str) -> str:
    """Return a program, a reply or an error message quoted for a message: its end may be the useful part."""
    return shown(text, length=SHOWN_PATH_LENGTH)
