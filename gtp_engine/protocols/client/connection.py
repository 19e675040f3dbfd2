"""Lines to and from an engine: a child process, or the other end of a TCP connection; how clients start and end one.

Not here: what the lines mean, nor anything about Go.

With a log file, the engine's stderr and the dialogue (`>>` sent, `<<` received) are written to it, so that a lost game
can be examined afterwards; without one, the end of stderr is kept for messages.  A reader thread reads stdout, because
only that way waiting for a line with a time limit works the same on every platform.  The thread also stamps each line
with its time of arrival, so that the time of a move does not include this program's wait for a core.  What arrives and
is not read waits in a queue of `MOST_WAITING` lines; the engine waits once that is full.
"""

import asyncio
import contextlib
import math
import os
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, ClassVar, Final, Generic, ParamSpec, Protocol, Self, TypeAlias, TypeVar

from gtp_engine.base.errors import (
    SHOWN_PATH_LENGTH,
    ArgumentError,
    EngineDiedError,
    EngineError,
    EngineStartError,
    EngineTimeoutError,
    LimitError,
    problem,
    shown,
)
from gtp_engine.base.worker_process import join_command, kill_program, split_command, start_program

REPLY_SECONDS: Final = 60.0
"""Longest wait for a reply, unless another is given; a network that has to be tuned for a card needs more."""

REPORT_SECONDS: Final = 0.1
"""Time between two reports of an analysis, unless another is given."""

QUIT_SECONDS: Final = 5.0
"""Seconds until an engine that has not exited after `quit` is killed, as in gtp2ogs."""

STDERR_BYTES: Final = 4096
"""Bytes at the end of a log, or of stderr, that are searched for the engine's last line, which may be a long path."""

STDERR_SECONDS: Final = 0.5
"""Time in which the last line of an engine that has ended arrives; a program that it started may keep stderr open."""

MOST_WAITING: Final = 10_000
"""Lines of output that wait to be read; a GTP reply has at most some hundred."""

LONGEST_LINE: Final = 1 << 24
"""Bytes of a line; an engine that writes a longer one is ended.  One with every move's ownership has a megabyte."""

CommandWords: TypeAlias = str | Sequence[str | PathLike[str]]
"""A command line, or its words."""

_LOOK_SECONDS: Final = 0.25
"""Seconds after which a wait looks whether the process still runs: its children may hold its output open."""

_LONGEST_SECONDS: Final = 1e9
"""Longest time that sockets take: 30 years."""

_STEP_SECONDS: Final = 0.01
"""Seconds between two looks whether there is a line, where none need come."""

SENT: Final = ">>"
RECEIVED: Final = "<<"
"""Marks of the dialogue's lines in the log."""


class Link(Protocol):
    """What lines go through: a process or a socket."""

    output: IO[bytes]
    input: IO[bytes]

    def is_alive(self) -> bool:
        """Return whether the other end may still answer."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait until the other end has gone, at most so long."""
        ...

    def kill(self) -> None:
        """End the other end, or leave it; safe from any thread, and again."""
        ...

    def ending(self) -> str:
        """Return how it ended, for a message."""
        ...


class ProgramLink:
    """A child process."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        self.process: Final = process
        self.input: IO[bytes] = process.stdin
        self.output: IO[bytes] = process.stdout

    def is_alive(self) -> bool:
        """Return whether the process runs."""
        return self.process.poll() is None

    def wait(self, seconds: float) -> None:
        """Wait for the end of the process, at most so long."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)

    def kill(self) -> None:
        """Kill the process and its children."""
        kill_program(self.process)

    def ending(self) -> str:
        """Return how the process ended; one that only closed its output is killed."""
        self.wait(QUIT_SECONDS)
        code = self.process.poll()
        if code is None:
            self.kill()
            return "closed its output"
        return f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}"


class SocketLink:
    """A TCP connection."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket: Final = connected
        self.output: IO[bytes] = connected.makefile("rb")
        self.input: IO[bytes] = connected.makefile("wb")
        self._is_open = True

    def is_alive(self) -> bool:
        """Return whether this end has left the connection open; the reader notices when the other closes it."""
        return self._is_open

    def wait(self, seconds: float) -> None:
        """Do nothing: what runs at the other end is not ours."""

    def kill(self) -> None:
        """Close the connection."""
        self._is_open = False
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def ending(self) -> str:
        """Return what happened."""
        return "closed the connection"


class EngineConnection:
    """A running engine, as lines.  One thread at a time may use it; only `kill` and `write` are safe from any thread.

    `name` is its command or address, `label` begins messages.  `stderr` is the process's, where no log has it.
    """

    def __init__(
        self, link: Link, name: str, *, label: str, log: "DialogueLog", stderr: IO[bytes] | None = None
    ) -> None:
        self.name: Final = name
        self.label: Final = _plain(label)
        self.link: Final = link
        self.log: Final = log
        self._is_closed = False
        self._writing: Final = threading.Lock()
        self._lines: queue.Queue[tuple[float, str] | None] = queue.Queue(MOST_WAITING)
        self._threads = [threading.Thread(target=self._read, name=f"lines of {label}", daemon=True)]
        if stderr is not None:
            keep = threading.Thread(target=log.keep, args=(stderr,), name=f"stderr of {label}", daemon=True)
            self._threads.append(keep)
        for thread in self._threads:
            thread.start()

    @staticmethod
    def popen(command: CommandWords, *, label: str | None = None, log: Path | str | None = None) -> "EngineConnection":
        """Return a connection to a new process; raises EngineStartError, and ArgumentError for words that are no text.

        A text is split like a shell command line, but run without a shell.  `log` is appended to.  The label is by
        default the program's name.
        """
        words = command if isinstance(command, str) else _checked_words(command)
        line = words if isinstance(words, str) else join_command(words)
        with _starting(label or "engine", f"cannot run {whole(line)}"):
            arguments = split_command(words) if isinstance(words, str) else words
            if not arguments:
                raise ValueError("no command")
            program = arguments.split()[0] if isinstance(arguments, str) else arguments[0]
        label = label or Path(program).name
        dialogue = DialogueLog.opened(log, label)
        try:
            with _starting(label, f"cannot run {whole(program)}"):
                process = start_program(arguments, stderr=dialogue.file or subprocess.PIPE)
        except EngineStartError:
            dialogue.close()
            raise
        return EngineConnection(ProgramLink(process), line, label=label, log=dialogue, stderr=process.stderr)

    @staticmethod
    def connect(
        host: str, port: int, *, label: str | None = None, log: Path | str | None = None, timeout: float = 60.0
    ) -> "EngineConnection":
        """Return a connection to an engine that listens on a TCP port; raises EngineStartError."""
        name = f"{host}:{shown(port)}"
        label = label or name
        dialogue = DialogueLog.opened(log, label)
        try:
            with _starting(label, f"cannot reach {_plain(name)}"):
                connected = socket.create_connection((host, port), min(timeout, _LONGEST_SECONDS))
                connected.settimeout(None)  # the reader waits; `next_line` has a deadline
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return EngineConnection(SocketLink(connected), name, label=label, log=dialogue)
        except EngineStartError:
            dialogue.close()
            raise

    def write(self, text: str) -> None:
        """Send a line; raises EngineDiedError."""
        self.log.note(SENT, text)
        try:
            with self._writing:
                self.link.input.write(text.encode("utf-8", "replace") + b"\n")
                self.link.input.flush()
        except (OSError, ValueError) as error:
            raise self.died(text) from error

    def next_line(self, command: str, deadline: float, seconds: float) -> tuple[float, str]:
        """Return the next line and when it arrived, by `deadline` (of time.monotonic), which is after `seconds`.

        Raises EngineDiedError, and EngineTimeoutError after killing the engine (a late reply would be taken for that of
        the next command); both name `command`.
        """
        has_ended = False
        while True:
            left = deadline - time.monotonic()
            try:
                item = self._lines.get(timeout=min(max(0.0, left), _LOOK_SECONDS))
            except queue.Empty:
                if has_ended:
                    raise self.died(command) from None
                if left <= 0:
                    self.kill()
                    words = f"{self.label}: no reply to {shown(command)} within {seconds:g} s{self.last_words()}"
                    raise EngineTimeoutError(words) from None
                has_ended = not self.link.is_alive()  # what it wrote last may still be on its way
                continue
            if item is None:
                self._lines.put(None)
                raise self.died(command)
            return item

    def has_line(self) -> bool:
        """Return whether `next_line` would return at once."""
        return not self._lines.empty()

    def wait_for_line(self, seconds: float) -> bool:
        """Wait at most so long; return whether there is a line."""
        deadline = time.monotonic() + seconds
        while not self.has_line() and time.monotonic() < deadline:
            time.sleep(min(_STEP_SECONDS, seconds))
        return self.has_line()

    def is_alive(self) -> bool:
        """Return whether the engine runs."""
        return self.link.is_alive()

    def close(self, last_words: str = "quit") -> None:
        """Send the last words, and kill the engine if it does not exit within `QUIT_SECONDS`.  Raises nothing."""
        if self.is_alive():
            with contextlib.suppress(EngineError):
                if last_words:
                    self.write(last_words)
            with contextlib.suppress(OSError, ValueError):
                self.link.input.close()
            self._is_closed = True  # nothing is read any more, so that an engine can write what it still has
            self.link.wait(QUIT_SECONDS)
        self.kill()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(QUIT_SECONDS)
        self.log.close()

    def kill(self) -> None:
        """End the engine at once.  Safe from any thread, and after it has ended."""
        self._is_closed = True
        self.link.kill()
        with contextlib.suppress(OSError, ValueError):
            self.link.input.close()

    def died(self, command: str) -> EngineDiedError:
        """Return the error that the engine has ended instead of replying."""
        message = f"{self.label}: the engine {self.link.ending()} instead of replying to {shown(command)}"
        return EngineDiedError(f"{message}{self.last_words()}")

    def last_words(self) -> str:
        """Return the end of a message about an engine that fails: its last line on stderr, and where to look."""
        for keep in self._threads[1:]:
            keep.join(STDERR_SECONDS)
        words = self.log.last_words()
        return f"{f': {whole(words)}' if words else ''}{self.log.hint}"

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError), self.link.output as output:
            for data in iter(lambda: output.readline(LONGEST_LINE), b""):
                if len(data) == LONGEST_LINE:
                    self.link.kill()
                    break
                self._put((time.monotonic(), data.decode("utf-8", errors="replace").rstrip("\r\n")))
        self._put(None)

    def _put(self, item: tuple[float, str] | None) -> None:
        """Add to the queue, waiting for room unless the connection is closed; then only the end counts."""
        while True:
            try:
                self._lines.put(item, timeout=_LOOK_SECONDS)
                return
            except queue.Full:
                if self._is_closed:
                    if item is not None:
                        return
                    with contextlib.suppress(queue.Empty):
                        self._lines.get_nowait()


class DialogueLog:
    """The log file of a connection, if it has one; raises OSError."""

    def __init__(self, path: Path | str | None) -> None:
        self._path: Final = path
        self.file: Final[IO[bytes] | None] = None if path is None else Path(path).open("ab", buffering=0)  # noqa: SIM115
        self._start: Final = 0 if self.file is None else self.file.tell()
        self._kept = b""

    @classmethod
    def opened(cls, path: Path | str | None, label: str) -> Self:
        """Return the log of an engine with this label; raises EngineStartError."""
        with _starting(label, f"cannot write the log {whole(str(path))}"):
            return cls(path)

    @property
    def hint(self) -> str:
        """The end of a message: where to look."""
        return "" if self._path is None else f"; see {self._path}"

    def note(self, mark: str, text: str) -> None:
        """Write lines of the dialogue."""
        if self.file is not None:
            with contextlib.suppress(OSError, ValueError):
                self.file.write(b"".join(f"{mark} {line}\n".encode() for line in text.split("\n")))

    def keep(self, stderr: IO[bytes]) -> None:
        """Read stderr to its end, and keep the end of it."""
        with contextlib.suppress(OSError, ValueError), stderr:
            while data := os.read(stderr.fileno(), STDERR_BYTES):
                self._kept = (self._kept + data)[-STDERR_BYTES:]

    def last_words(self) -> str:
        """Return the last line that the engine wrote to stderr, "" if there is none."""
        data = self._kept
        if self._path is not None:
            with contextlib.suppress(OSError), Path(self._path).open("rb") as file:
                file.seek(max(self._start, file.seek(0, os.SEEK_END) - STDERR_BYTES))
                data = file.read()
        for line in reversed(data.decode("utf-8", errors="replace").splitlines()):
            if line.strip() and not line.startswith((SENT, RECEIVED)):
                return line.strip()
        return ""

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()


@contextlib.contextmanager
def _starting(label: str, failed: str) -> Iterator[None]:
    """Raise EngineStartError, which begins with label and `failed`, for what keeps an engine from being started."""
    try:
        yield
    except (OSError, OverflowError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else _plain(str(error))
        raise EngineStartError(f"{_plain(label)}: {failed}: {reason}") from error


def _checked_words(command: Sequence[str | PathLike[str]]) -> list[str]:
    """Return the words of a command; raises ArgumentError for one that is neither text nor path."""
    if isinstance(command, Sequence) and all(isinstance(word, str | PathLike) for word in command):
        return [str(fspath(word)) for word in command]
    raise ArgumentError(problem(f"command {shown(command)}", expected="texts and paths"))


def checked_seconds(value: float, what: str) -> float:
    """Return a time, perhaps infinite; raises LimitError unless it is above 0."""
    try:
        seconds = float(value)
    except OverflowError:  # an integer of hundreds of digits
        seconds = math.inf if value > 0 else 0.0
    except (TypeError, ValueError):
        seconds = math.nan
    if not seconds > 0:
        raise LimitError(problem(f"{what} of {shown(value)} s", expected="a number above 0"))
    return seconds


def _plain(text: str) -> str:
    """Return what begins a message or names an address, on one line and not too long."""
    return shown(text)[1:-1]


def whole(text: str) -> str:
    """Return a program, a reply or an error message quoted for a message: its end may be the useful part."""
    return shown(text, length=SHOWN_PATH_LENGTH)


# --- what clients have in common ---


class SimpleClient:
    """A client of an engine without asyncio: how it starts and ends."""

    def __init__(self, connection: EngineConnection, timeout: float = REPLY_SECONDS) -> None:
        self.connection: Final = connection
        self.timeout = checked_seconds(timeout, "a timeout")
        """Seconds to wait, unless a call has its own `timeout`."""

    @classmethod
    def popen(
        cls,
        command: CommandWords,
        *,
        timeout: float = REPLY_SECONDS,
        label: str | None = None,
        log: Path | str | None = None,
    ) -> Self:
        """Return an engine in a new process, such as "gnugo --mode gtp"; raises EngineError.

        The command is split like a shell command line, but run without a shell.  `timeout` is in seconds.  `log` is a
        file to which the dialogue and stderr are appended; `label`, by default the program's name, begins messages.
        """
        checked_seconds(timeout, "a timeout")
        return cls(EngineConnection.popen(command, label=label, log=log), timeout)._started()

    @classmethod
    def connect(
        cls,
        host: str,
        port: int,
        *,
        timeout: float = REPLY_SECONDS,
        label: str | None = None,
        log: Path | str | None = None,
    ) -> Self:
        """Return the engine that listens on a TCP port, reached within `timeout` seconds; raises EngineError.

        See `popen`.
        """
        checked_seconds(timeout, "a timeout")
        return cls(EngineConnection.connect(host, port, label=label, log=log, timeout=timeout), timeout)._started()

    def _patience(self, timeout: float | None) -> float:
        """Return the seconds that a call waits; raises LimitError."""
        return self.timeout if timeout is None else checked_seconds(timeout, "a timeout")

    def _started(self) -> Self:
        """Return this client, once the engine has said what has to be known."""
        return self

    @property
    def label(self) -> str:
        """What messages begin with."""
        return self.connection.label

    def is_alive(self) -> bool:
        """Return whether the engine runs."""
        return self.connection.is_alive()

    def kill(self) -> None:
        """Kill the process and its children.  Safe from any thread, and after the process has ended."""
        self.connection.kill()

    def close(self) -> None:
        """End the engine, and kill it if it does not exit within five seconds.  Raises nothing."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


Plain = TypeVar("Plain", bound=SimpleClient)
P = ParamSpec("P")
R = TypeVar("R")


class AsyncClient(Generic[Plain]):
    """A client of an engine for asyncio: a plain one, whose calls wait in a thread of their own."""

    _plain_class: ClassVar[type[SimpleClient]]

    def __init__(self, plain: Plain, executor: Executor) -> None:
        self.plain: Final = plain
        """The plain client, for a moment in which no call is running."""
        self._executor: Final = executor
        self._running = 0

    @classmethod
    def popen(
        cls,
        command: CommandWords,
        *,
        timeout: float = REPLY_SECONDS,
        label: str | None = None,
        log: Path | str | None = None,
    ) -> "EngineOpening[Self]":
        """Start an engine as a new process, such as "gnugo --mode gtp"; to be awaited, or for `async with`.

        The command is split like a shell command line, but run without a shell.  `timeout` is in seconds.  `log` is a
        file to which the dialogue and stderr are appended; `label`, by default the program's name, begins messages.
        """
        return EngineOpening(cls, partial(cls._plain_class.popen, command, timeout=timeout, label=label, log=log))

    @classmethod
    def connect(
        cls,
        host: str,
        port: int,
        *,
        timeout: float = REPLY_SECONDS,
        label: str | None = None,
        log: Path | str | None = None,
    ) -> "EngineOpening[Self]":
        """Connect to an engine that listens on a TCP port, within `timeout` seconds; see `popen`."""
        make = partial(cls._plain_class.connect, host, port, timeout=timeout, label=label, log=log)
        return EngineOpening(cls, make)

    async def _call(self, function: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Return what a function of the plain client returns, in the engine's thread."""
        try:
            future = self._executor.submit(partial(function, *args, **named))
        except RuntimeError:  # it has been shut down
            raise EngineDiedError(f"{self.label}: the engine has been closed") from None
        self._running += 1
        future.add_done_callback(self._is_done)
        return await asyncio.wrap_future(future)

    def _is_done(self, future: "Future[Any]") -> None:
        self._running -= 1

    @property
    def label(self) -> str:
        """What messages begin with."""
        return self.plain.label

    def is_alive(self) -> bool:
        """Return whether the engine runs."""
        return self.plain.is_alive()

    def kill(self) -> None:
        """Kill the process and its children."""
        self.plain.kill()

    async def close(self) -> None:
        """End the engine, and kill it if it does not exit; at once if a call is still waiting.  Again is harmless."""
        if self._running:
            self.plain.kill()
        with contextlib.suppress(EngineDiedError):
            try:
                await asyncio.shield(self._call(self.plain.close))
            finally:
                self._executor.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


E = TypeVar("E", bound=AsyncClient[Any])


class EngineOpening(Generic[E]):
    """An engine that is being started: await it, or let `async with` start it and close it in the end."""

    def __init__(self, kind: type[E], make: Callable[[], SimpleClient]) -> None:
        self._kind: Final = kind
        self._make: Final = make
        self._engine: E | None = None

    def __await__(self) -> Generator[Any, None, E]:
        return self._started().__await__()

    async def _started(self) -> E:
        """Return the client; if the caller is cancelled, the engine is ended once it has begun."""
        executor = ThreadPoolExecutor(1, thread_name_prefix="engine")
        future = executor.submit(self._make)
        try:
            return self._kind(await asyncio.wrap_future(future), executor)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                future.add_done_callback(_end)
            executor.shutdown(wait=False)
            raise

    async def __aenter__(self) -> E:
        self._engine = await self
        return self._engine

    async def __aexit__(self, *_: object) -> None:
        if self._engine is not None:
            await self._engine.close()


def _end(future: "Future[SimpleClient]") -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().kill()
        future.result().close()
