"""Lines to and from an engine: a child process, or the other end of a TCP connection; how clients start and end one.

Not here: what the lines mean, nor anything about Go.

With a log file, the engine's stderr and the dialogue (`>>` sent, `<<` received) are written to it, so that a lost game
can be examined afterwards; without one, the end of stderr is kept for messages.  Each line is stamped with its time of
arrival, so that the time of a move does not include what the caller does meanwhile.  What arrives and is not read
waits, and the engine waits once there are `MOST_WAITING` lines.
"""

import asyncio
import contextlib
import errno
import math
import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, Final, Generic, Self, TypeAlias, TypeVar, cast

from gtp_engine.base.errors import (
    SHOWN_PATH_LENGTH,
    ArgumentError,
    EngineDiedError,
    EngineStartError,
    EngineTimeoutError,
    LimitError,
    refuse_copy,
    shown,
)
from gtp_engine.base.worker_process import join_command, kill_program, own_session, split_command

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

_LAST_SECONDS: Final = 0.25
"""Time in which the last lines of a process that has ended arrive: its children may hold its output open."""

_LONGEST_SECONDS: Final = 1e9
"""Longest time that event loops take: 30 years."""

SENT: Final = ">>"
RECEIVED: Final = "<<"
"""Marks of the dialogue's lines in the log."""


class EngineConnection(asyncio.SubprocessProtocol, asyncio.Protocol):
    """A running engine, as lines, in the event loop that started it; only `kill` and `is_alive` are for any thread.

    `name` is its command or address, `label` begins messages.
    """

    def __init__(self, name: str, *, label: str, log: "DialogueLog") -> None:
        self.name: Final = name
        self.label: Final = _plain(label)
        self.log: Final = log
        self._loop: Final = asyncio.get_running_loop()
        self._process: asyncio.SubprocessTransport | None = None
        self._output: asyncio.ReadTransport
        self._input: asyncio.WriteTransport
        self._lines: Final[deque[tuple[float, str] | None]] = deque()
        """With their times of arrival; None after the last."""
        self._partial: Final = bytearray()
        self._arrived: Final = asyncio.Event()
        self._ended: Final = asyncio.Event()
        self._stderr_ended: Final = asyncio.Event()
        self._is_closed = self._is_killed = False
        self.made_in: Final = os.getpid()

    @classmethod
    async def popen(cls, command: CommandWords, *, label: str | None = None, log: Path | str | None = None) -> Self:
        """Return a connection to a new process; raises EngineStartError, and ArgumentError for words that are not text.

        A text is split like a shell command line, but run without a shell.  `log` is appended to.  The label is by
        default the program's name.
        """
        line = command if isinstance(command, str) else join_command(_checked_words(command))
        with _starting(label or "engine", f"cannot run {whole(line)}"):
            arguments = split_command(line)
        label = label or Path(arguments[0]).name
        with DialogueLog(log, label) as dialogue, _starting(label, f"cannot run {whole(arguments[0])}"):
            _, connection = await asyncio.get_running_loop().subprocess_exec(
                lambda: cls(line, label=label, log=dialogue),
                *arguments,
                stderr=dialogue.file or subprocess.PIPE,
                **own_session(),
            )
            return connection

    @classmethod
    async def connect(
        cls, host: str, port: int, *, timeout: float, label: str | None = None, log: Path | str | None = None
    ) -> Self:
        """Return a connection to an engine that listens on a TCP port, within seconds; raises EngineStartError."""
        name = f"{host}:{shown(port)}"
        label = label or name
        with DialogueLog(log, label) as dialogue, _starting(label, f"cannot reach {_plain(name)}"):
            async with asyncio.timeout(min(timeout, _LONGEST_SECONDS)):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: cls(name, label=label, log=dialogue), host, port
                )
                return connection

    @classmethod
    async def mock(cls, answer: Callable[[str], str], *, label: str) -> Self:
        """Return a connection to no engine: `answer` returns the text that arrives for each line."""
        connection = cls(label, label=label, log=DialogueLog(None, label))
        connection.connection_made(_Mock(connection, answer))
        return connection

    # --- what the event loop calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the ways in and out."""
        if isinstance(transport, asyncio.SubprocessTransport):
            self._process = transport
            self._input = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
            self._output = cast(asyncio.ReadTransport, transport.get_pipe_transport(1))
        else:
            self._input = self._output = cast(asyncio.Transport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what a process has written to stdout or stderr."""
        if fd == 1:
            self.data_received(data)
        else:
            self.log.keep(data)

    def data_received(self, data: bytes) -> None:
        """Split output into lines; pause an engine whose lines are not read, and end one without lines."""
        first, *others = data.split(b"\n")
        self._partial.extend(first)
        for rest in others:
            self._add_line()
            self._partial.extend(rest)
        if len(self._partial) >= LONGEST_LINE:
            self._partial.clear()
            self.kill()
        if len(self._lines) > MOST_WAITING:
            self._output.pause_reading()

    def _add_line(self) -> None:
        if not self._is_closed:
            self._add((time.monotonic(), self._partial.decode("utf-8", errors="replace").rstrip("\r")))
        self._partial.clear()

    def _add(self, line: tuple[float, str] | None) -> None:
        self._lines.append(line)
        self._arrived.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that stdout or stderr has ended."""
        if fd == 2:
            self._stderr_ended.set()
        elif fd == 1:
            if self._partial:
                self._add_line()
            self._add(None)

    def process_exited(self) -> None:
        """Note the end of the process, and soon that of its output."""
        self._ended.set()
        self._loop.call_later(_LAST_SECONDS, self._end_output)

    def _end_output(self) -> None:
        """Note the end of output that is still held open, unless lines wait to be read, and perhaps more behind."""
        if self._is_closed or not self._lines:
            self._add(None)
        elif self._lines[-1] is not None:
            self._loop.call_later(_LAST_SECONDS, self._end_output)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that a socket has been closed, here or there."""
        if self._process is None:
            self._ended.set()
            self.pipe_connection_lost(1, exc)

    # --- what clients call ---

    def write(self, text: str) -> None:
        """Send a line, without waiting for an engine that does not read; one that has ended gets none.

        Raises EngineDiedError once this end has been closed, and in a process forked from the one that made it.
        """
        if self.made_in != os.getpid():
            advice = "make one in each process"
            raise EngineDiedError(f"{self.label}: an engine of the process before the fork", advice=advice)
        if self._is_closed:
            raise EngineDiedError(f"{self.label}: the engine has been closed")
        self.log.note(SENT, text)
        if not self._input.is_closing():
            self._input.write(text.encode("utf-8", "replace") + b"\n")

    async def next_line(self, command: str, deadline: float, seconds: float) -> tuple[float, str]:
        """Return the next line and when it arrived, by `deadline` (of time.monotonic), which is after `seconds`.

        Raises EngineDiedError, and EngineTimeoutError after killing the engine (a late reply would be taken for that of
        the next command); both name `command`.
        """
        if not await self.wait_for_line(deadline - time.monotonic()):
            self.kill()
            words = f"{self.label}: no reply to {shown(command)} within {seconds:g} s{await self.last_words()}"
            raise EngineTimeoutError(words)
        if (line := self._lines[0]) is None:
            raise await self.died(command)
        if len(self._lines) == MOST_WAITING:
            self._output.resume_reading()
        self._lines.popleft()
        return line

    def has_line(self) -> bool:
        """Return whether `next_line` would return at once."""
        return bool(self._lines) and self._lines[0] is not None

    async def wait_for_line(self, seconds: float) -> bool:
        """Wait at most so long; return whether there is a line, or the end."""
        if not self._lines:
            self._arrived.clear()
            await _within(max(0.0, seconds), self._arrived)
        return bool(self._lines)

    def is_alive(self) -> bool:
        """Return whether the engine runs, or this end has left the connection open."""
        return not (self._is_killed or self._ended.is_set())

    async def close(self) -> None:
        """End what is sent, and kill the engine if it does not exit within `QUIT_SECONDS`.  Raises nothing."""
        if self.is_alive():
            self._is_closed = True  # nothing is kept any more, so that an engine can write what it still has
            self._lines.clear()
            self._output.resume_reading()
            self._input.write_eof()
            await _within(QUIT_SECONDS, self._ended)
        self._is_closed = True
        self.kill()
        await _within(QUIT_SECONDS, self._ended)
        if self._process is not None:
            self._process.close()
            await asyncio.sleep(0)  # the pipes are closed in the next round of the loop
        self.log.close()

    def kill(self) -> None:
        """End the engine at once, with what it has started.  Safe from any thread, and after it has ended."""
        self._is_killed = True
        if self._process is None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._input.abort)
        elif self._process.get_returncode() is None:
            kill_program(self._process.get_pid())

    async def died(self, command: str) -> EngineDiedError:
        """Return the error that the engine has ended instead of replying; one that only closed its output is killed."""
        ended = "closed the connection"
        if self._process is not None:
            await _within(QUIT_SECONDS, self._ended)
            code = self._process.get_returncode()
            if code is None:
                self.kill()
                ended = "closed its output"
            else:
                ended = f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}"
        message = f"{self.label}: the engine {ended} instead of replying to {shown(command)}"
        return EngineDiedError(f"{message}{await self.last_words()}")

    async def last_words(self) -> str:
        """Return the end of a message about an engine that fails: its last line on stderr, and where to look."""
        if self._process is not None and self.log.file is None:
            await _within(STDERR_SECONDS, self._stderr_ended)
        return self.log.last_words()


class _Mock(asyncio.Transport):
    """The way to an engine that a function plays."""

    def __init__(self, connection: EngineConnection, answer: Callable[[str], str]) -> None:
        super().__init__()
        self._connection: Final = connection
        self._answer: Final = answer
        self._is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Answer a line, as soon as the writer waits."""
        answer = self._answer(bytes(data).decode().removesuffix("\n"))
        asyncio.get_running_loop().call_soon(self._connection.data_received, answer.encode())

    def is_closing(self) -> bool:
        """Return whether this end has been closed."""
        return self._is_closed

    def pause_reading(self) -> None:
        """Do nothing: what is answered has arrived."""

    resume_reading = pause_reading

    def abort(self) -> None:
        """End the engine."""
        if not self._is_closed:
            self._is_closed = True
            self._connection.connection_lost(None)

    write_eof = abort


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Wait for an event, at most so long; return whether it has come."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(min(seconds, _LONGEST_SECONDS)):  # not wait_for, which loses cancellations in 3.11
            await event.wait()
    return event.is_set()


class DialogueLog:
    """The log file of a connection, if it has one; the block that starts the engine closes it if that fails.

    Raises EngineStartError, which begins with the engine's label.
    """

    def __init__(self, path: Path | str | None, label: str) -> None:
        self._path: Final = path
        with _starting(label, f"cannot write the log {whole(str(path))}"), contextlib.ExitStack() as opened:
            file = None if path is None else opened.enter_context(Path(path).open("ab", buffering=0))
            self.file: Final[IO[bytes] | None] = file
            self._start: Final = 0 if file is None else file.tell()  # a pipe has no such place
            opened.pop_all()
        self._kept = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.close()

    def note(self, mark: str, text: str) -> None:
        """Write lines of the dialogue."""
        if self.file is not None:
            with contextlib.suppress(OSError, ValueError):
                self.file.write(b"".join(f"{mark} {line}\n".encode() for line in text.split("\n")))

    def keep(self, stderr: bytes) -> None:
        """Keep the end of stderr."""
        self._kept = (self._kept + stderr)[-STDERR_BYTES:]

    def last_words(self) -> str:
        """Return the end of a message: the last line that the engine wrote to stderr, if any, and where to look."""
        data, hint = self._kept, "" if self._path is None else f"; see {self._path}"
        if self._path is not None:
            with contextlib.suppress(OSError), Path(self._path).open("rb") as file:
                file.seek(max(self._start, file.seek(0, os.SEEK_END) - STDERR_BYTES))
                data = file.read()
        for line in reversed(data.decode("utf-8", errors="replace").splitlines()):
            if line.strip() and not line.startswith((SENT, RECEIVED)):
                return f": {whole(line.strip())}{hint}"
        return hint

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()


def check_program(command: str, label: str) -> None:
    """Raise EngineStartError, as `popen` does, if there is no program to run for a command; nothing is started."""
    with _starting(label, f"cannot run {whole(command)}"):
        program = split_command(command)[0]
    with _starting(label, f"cannot run {whole(program)}"):
        if shutil.which(program) is None and not os.path.exists(program):
            raise FileNotFoundError(errno.ENOENT, program)


@contextlib.contextmanager
def _starting(label: str, failed: str) -> Iterator[None]:
    """Raise EngineStartError, which begins with label and `failed`, for what keeps an engine from being started."""
    try:
        yield
    except (OSError, OverflowError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else _plain(str(error)) or "it takes too long"
        raise EngineStartError(f"{_plain(label)}: {failed}: {reason}") from error


def _checked_words(command: Sequence[str | PathLike[str]]) -> list[str]:
    """Return the words of a command; raises ArgumentError for one that is neither text nor path."""
    if isinstance(command, Sequence) and all(isinstance(word, str | PathLike) for word in command):
        return [str(fspath(word)) for word in command]
    raise ArgumentError(f"command {shown(command)}", expected="texts and paths")


def checked_seconds(value: float, what: str) -> float:
    """Return a time, perhaps infinite; raises LimitError unless it is above 0."""
    try:
        seconds = float(value)
    except OverflowError:  # an integer of hundreds of digits
        seconds = math.inf if value > 0 else 0.0
    except (TypeError, ValueError):
        seconds = math.nan
    if not seconds > 0:
        raise LimitError(f"{what} of {shown(value)} s", expected="a number above 0")
    return seconds


def _plain(text: str) -> str:
    """Return what begins a message or names an address, on one line and not too long."""
    return shown(text)[1:-1]


def whole(text: str) -> str:
    """Return a program, a reply or an error message quoted for a message: its end may be the useful part."""
    return shown(text, length=SHOWN_PATH_LENGTH)


# --- what clients have in common ---


class AsyncClient:
    """A client of an engine for asyncio: how it starts and ends."""

    def __init__(self, connection: EngineConnection, timeout: float = REPLY_SECONDS) -> None:
        self.connection: Final = connection
        self.label: Final = connection.label
        """What messages begin with."""
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
    ) -> "EngineOpening[Self]":
        """Start an engine as a new process, such as "gnugo --mode gtp"; for asyncio, await it or use `async with`.

        The command is split like a shell command line, but run without a shell.  `timeout` is in seconds.  `log` is a
        file to which the dialogue and stderr are appended; `label`, by default the program's name, begins messages.
        Raises EngineError.
        """
        start = partial(EngineConnection.popen, command, label=label, log=log)
        return EngineOpening(partial(cls._started, start, timeout))

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
        start = partial(EngineConnection.connect, host, port, label=label, log=log, timeout=timeout)
        return EngineOpening(partial(cls._started, start, timeout))

    @classmethod
    def mock(
        cls, answer: Callable[[str], str], *, timeout: float = REPLY_SECONDS, label: str = "mock"
    ) -> "EngineOpening[Self]":
        r"""Begin with a function in place of an engine, for tests: it returns what arrives for a line; see `popen`.

        What it returns is as engines write it, or "" for no answer; what it raises is raised by the call.

        >>> said = {"protocol_version": "2", "list_commands": "genmove", "genmove": "D4"}
        >>> with SimpleGtpEngine.mock(lambda line: f"= {said.get(line.split()[0], '')}\n\n") as engine:
        ...     engine.genmove(Game(9)).move
        Move(color=BLACK, point=D4)
        """
        return EngineOpening(partial(cls._started, partial(EngineConnection.mock, answer, label=label), timeout))

    @classmethod
    async def _started(cls, start: Callable[[], Coroutine[Any, Any, EngineConnection]], timeout: float) -> Self:
        """Return the client of an engine that `start` starts, once it has said what has to be known."""
        checked_seconds(timeout, "a timeout")
        client = cls(await start(), timeout)
        try:
            await client.hello()
        except BaseException:
            client.kill()
            await client.close()
            raise
        return client

    __reduce__ = refuse_copy

    async def hello(self) -> None:
        """Ask for what has to be known."""

    def _patience(self, timeout: float | None) -> float:
        """Return the seconds that a call waits; raises LimitError."""
        return self.timeout if timeout is None else checked_seconds(timeout, "a timeout")

    def is_alive(self) -> bool:
        """Return whether the engine runs."""
        return self.connection.is_alive()

    def kill(self) -> None:
        """Kill the process and its children.  Safe from any thread, and after the process has ended."""
        self.connection.kill()

    async def close(self) -> None:
        """End the engine, and kill it if it does not exit within five seconds.  Raises nothing; again is harmless."""
        if self.connection.made_in != os.getpid():
            return  # the engine is that of the process before the fork
        with contextlib.suppress(Exception):  # of a function in place of an engine
            self._take_leave()
        await self.connection.close()

    def _take_leave(self) -> None:
        """Stop what goes on, and tell an engine that runs that this is the end."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


E = TypeVar("E", bound=AsyncClient)


class EngineOpening(Generic[E]):
    """An engine that is being started: await it, or let `async with` start it and close it in the end."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, E]]) -> None:
        self._start: Final = start
        self._engine: E | None = None

    def __await__(self) -> Generator[Any, None, E]:
        return self._start().__await__()

    async def __aenter__(self) -> E:
        self._engine = await self
        return self._engine

    async def __aexit__(self, *_: object) -> None:
        if self._engine is not None:
            await self._engine.close()
