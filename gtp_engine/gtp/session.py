"""The only module that touches stdin and stdout: file descriptors, the reader thread, the writer, the loader.

Three threads, one job each:

- the main thread executes commands in the order they were sent and writes the replies;
- the reader takes lines from stdin at any time, so that `# interrupt` reaches a command that is running;
- the loader builds the engine while the main thread already answers commands that do not need it.

File descriptor 1 is duplicated for the one writer and then points to stderr, so that a stray print, or a library
that writes to it, cannot break the protocol.  The session ends after `quit`, after the last line before the end
of stdin, or when stdout is closed.
"""

import contextlib
import io
import os
import queue
import select
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, BinaryIO, Final

from gtp_engine.errors import TengenError
from gtp_engine.gtp.protocol import MAX_LINE_BYTES, decode_line, is_interrupt
from gtp_engine.gtp.server import GtpServer, write_log
from gtp_engine.gtp.transcript import Transcript

if TYPE_CHECKING:
    from gtp_engine.config import Config
    from gtp_engine.engine import Engine

READ_SIZE: Final = 1 << 16
"""Bytes asked of stdin at a time."""

QUEUED_LINES: Final = 10_000
"""Lines read ahead of the command that is running; beyond this the controller has to wait."""

INTERRUPT_INTERVAL: Final = 0.05
"""Seconds between two calls of Engine.stop while an interrupted command is still running."""

HANGUP_INTERVAL: Final = 200
"""Milliseconds between two looks whether the session is over while waiting for a hang-up."""

LOADER_JOIN: Final = 0.2
"""Seconds the end of the process waits for an engine that is still loading before it leaves without it."""


class EngineUnavailableError(TengenError):
    """The engine could not be built; the message says why."""


class EngineLoader:
    """Builds the engine in a background thread, from `start` on; calling the loader waits for the result."""

    def __init__(self, factory: Callable[[], "Engine"], log: Callable[[str], None] = write_log) -> None:
        self._factory = factory
        self._log = log
        self._result: Future[Engine] = Future()
        self._thread = threading.Thread(target=self._load, name="engine loader", daemon=True)

    def start(self) -> None:
        """Begin to load; returns at once."""
        self._thread.start()

    def __call__(self) -> "Engine":
        """Return the engine, waiting for it; raises EngineUnavailableError when it could not be built."""
        return self._result.result()

    @property
    def failed(self) -> bool:
        """Whether loading has ended without an engine."""
        return self._result.done() and self._result.exception() is not None

    def close(self, timeout: float = LOADER_JOIN) -> bool:
        """Close the engine if there is one; returns False when it is still loading after `timeout` seconds."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            return False
        if not self.failed:
            self._result.result().close()
        return True

    def _load(self) -> None:
        try:
            self._result.set_result(self._factory())
        except TengenError as error:
            self._fail(str(error))
        except BaseException as error:
            self._log(traceback.format_exc().rstrip())
            self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, reason: str) -> None:
        self._log(f"the engine cannot be started: {reason}")
        self._result.set_exception(EngineUnavailableError(f"engine not available: {reason}"))


class InterruptSignal:
    """Carries `# interrupt` from the reader to the engine.

    The comment concerns the commands sent before it.  It is pending from the moment it is read until the main
    thread meets it in the queue; meanwhile `stop` is called again and again, because the command that it
    concerns may not have begun its search yet.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._pending = 0
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def raised(self) -> None:
        """Note that the comment was read (reader thread)."""
        with self._lock:
            self._pending += 1
            first = self._pending == 1
        if first:
            threading.Thread(target=self._keep_stopping, name="interrupt", daemon=True).start()

    def met(self) -> None:
        """Note that everything sent before the comment has been answered (main thread)."""
        with self._lock:
            self._pending -= 1

    def close(self) -> None:
        """Stop nothing any more: the session is over."""
        self._closed.set()

    def _keep_stopping(self) -> None:
        while not self._closed.is_set():
            with self._lock:
                if self._pending == 0:
                    return
                self._stop()
            self._closed.wait(INTERRUPT_INTERVAL)


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of `stream` without their newline until it ends; the last one may lack the newline.

    Of a line longer than MAX_LINE_BYTES only the beginning is kept, one byte more than allowed.  A stream that
    fails ends like one that is finished.
    """
    read: Callable[[int], bytes | None] = getattr(stream, "read1", stream.read)
    line = bytearray()
    with contextlib.suppress(OSError, ValueError):
        while chunk := read(READ_SIZE):
            *complete, rest = chunk.split(b"\n")
            for piece in complete:
                _extend(line, piece)
                yield bytes(line)
                line.clear()
            _extend(line, rest)
    if line:
        yield bytes(line)


def run_session(server: GtpServer, stdin: BinaryIO, stdout: BinaryIO, transcript: Transcript | None = None) -> None:
    """Answer the lines of `stdin` on `stdout` until `quit`, the end of `stdin`, or a closed `stdout`.

    `stdout` should be unbuffered; it is flushed after every reply.  The reader thread may still be blocked in a
    read of `stdin` when this returns.
    """
    lines: queue.Queue[bytes | None] = queue.Queue(QUEUED_LINES)
    interrupt = InterruptSignal(server.stop)
    is_over = threading.Event()

    def read() -> None:
        try:
            for raw in read_lines(stdin):
                if is_interrupt(raw):
                    interrupt.raised()
                lines.put(raw)
        finally:
            lines.put(None)
        if _wait_for_hangup(stdout, is_over):  # the controller is dead: nobody waits for the end of a search
            interrupt.raised()

    threading.Thread(target=read, name="stdin reader", daemon=True).start()
    try:
        _answer_lines(server, lines, interrupt, stdout, transcript)
    finally:
        is_over.set()
        interrupt.close()


def _answer_lines(
    server: GtpServer,
    lines: "queue.Queue[bytes | None]",
    interrupt: InterruptSignal,
    stdout: BinaryIO,
    transcript: Transcript | None,
) -> None:
    """Answer lines from the queue until `quit`, None in the queue, or a closed `stdout`."""
    while not server.finished and (raw := lines.get()) is not None:
        if is_interrupt(raw):
            interrupt.met()
        if transcript:
            transcript.received(decode_line(raw))
        reply = server.handle_bytes(raw)
        if not reply:
            continue
        if transcript:
            transcript.sent(decode_line(reply))
        try:
            _write_all(stdout, reply)
        except (OSError, ValueError):  # the controller has gone; nobody is left to tell
            return


def serve(config: "Config", engine_factory: Callable[[], "Engine"], log: Callable[[str], None] = write_log) -> int:
    """Run a whole GTP process on the real stdin and stdout; return its exit status.

    `engine_factory` runs in the loader thread.  Status 0 after `quit`, the end of stdin or a closed stdout, 1
    when the engine could not be built, 130 after Ctrl-C.  Does not return while the engine is still loading at
    the end of the session: a compiler cannot be stopped, so the process is ended at once.
    """
    streams = claim_streams()
    if streams is None:
        return 0
    loader = EngineLoader(engine_factory, log)
    loader.start()
    status = 0
    try:
        with contextlib.closing(Transcript(config.gtp.log, log)) as transcript:
            run_session(GtpServer(config, loader, log), *streams, transcript)
    except KeyboardInterrupt:
        status = 130
    if not loader.close():
        os._exit(status)
    return status or int(loader.failed)


def claim_streams() -> tuple[BinaryIO, BinaryIO] | None:
    """Return raw (stdin, stdout) and point file descriptor 1 to stderr; None when stdin or stdout is closed.

    Both are made blocking: some parents hand over pipes that are not, and a reply must not be cut short.
    """
    if not _is_open(0) or not _is_open(1):
        return None
    if not _is_open(2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    own_stdout = os.dup(1)
    os.dup2(2, 1)
    for descriptor in (0, own_stdout):
        with contextlib.suppress(OSError, AttributeError):
            os.set_blocking(descriptor, True)
    return io.FileIO(0, "rb", closefd=False), io.FileIO(own_stdout, "wb")


def _extend(line: bytearray, piece: bytes) -> None:
    room = MAX_LINE_BYTES + 1 - len(line)
    line += piece[:room]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _wait_for_hangup(stream: BinaryIO, is_over: threading.Event) -> bool:
    """Return True when nobody reads `stream` any more, False at the end of the session or where this cannot be seen."""
    try:
        poll = select.poll()
        hangup = select.POLLERR | select.POLLHUP
        poll.register(stream.fileno(), 0)  # errors and hang-ups are reported whatever is asked for
    except (AttributeError, OSError, ValueError):
        return False
    while not is_over.is_set():
        events = poll.poll(HANGUP_INTERVAL)
        if any(event & hangup for _, event in events):
            return not is_over.is_set()
        if events:  # a descriptor that is no longer open: nothing to see
            return False
    return False


def _write_all(stream: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[stream.write(view) or 0 :]
    stream.flush()
