"""The GTP session on stdin and stdout, and its threads.

- The main thread executes commands in the order they were sent.
- The reader takes lines from stdin at any time, so that `# interrupt` reaches a running command.
- The loader builds the engine while the main thread already answers commands that do not need it.

A fourth thread belongs to the engine and searches in the background; it sends the lines of an analysis.  Meanwhile the
main thread waits for the next line, which ends the analysis.

The session ends after `quit`, after the last line of stdin, when stdout is closed, or when the engine cannot be started
for a reason that the user has to fix, such as a bad model file.
"""

import contextlib
import os
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, TextIO

from gtp_engine.config import Config
from gtp_engine.errors import TengenError
from gtp_engine.files import expanded
from gtp_engine.gtp.protocol import decode_line, encode_reply, is_interrupt
from gtp_engine.gtp.server import Advise, GtpServer
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.streams import claim_streams, read_lines, trouble_of, wait_for_hangup, write_all, write_log

if TYPE_CHECKING:
    from gtp_engine.engine import Engine
    from gtp_engine.evaluation.evaluator import Evaluator

QUEUED_LINES: Final = 10_000
"""Lines read ahead of the running command; beyond this the controller has to wait."""

LOADER_JOIN: Final = 0.2
"""Seconds that the process waits at its end for an engine that is still loading."""

MODEL_JOIN: Final = 10.0
"""The same for an engine with a network: a bad model file should be reported, and shows within a second or two."""

REFUSED: Final = 2
"""Exit status when the engine could not be built for a reason that the user has to fix."""

BROKEN: Final = 1
"""Exit status when the engine could not be built for any other reason, or stdout could not be written to."""


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


class EngineUnavailableError(TengenError):
    """The engine could not be built; the message gives the reason."""


class EngineLoader:
    """Builds the engine in a thread of its own once `start` is called; calling the loader waits for the engine."""

    def __init__(self, factory: Callable[[], "Engine"], log: Callable[[str], None] = write_log) -> None:
        self._factory = factory
        self._log = log
        self._result: Future[Engine] = Future()
        self.status = 0
        """Exit status of the process if only the engine decides it."""
        self._thread = threading.Thread(target=self._load, name="engine loader", daemon=True)

    def start(self) -> None:
        """Begin to load; return at once."""
        self._thread.start()

    def __call__(self) -> "Engine":
        """Return the engine, waiting for it; raises EngineUnavailableError if it could not be built."""
        return self._result.result()

    def when_refused(self, callback: Callable[[], None]) -> None:
        """Call `callback` if the engine cannot be built for a reason that the user has to fix."""
        self._result.add_done_callback(lambda result: callback() if self.status == REFUSED else None)

    def close(self, timeout: float = LOADER_JOIN) -> bool:
        """Close the engine, if any; return False if it is still loading after `timeout` seconds."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            return False
        if self._result.exception() is None:
            self._result.result().close()
        return True

    def close_when_loaded(self) -> None:
        """Close the engine now, or as soon as it is loaded; return at once if it is not."""
        self._result.add_done_callback(lambda result: None if result.exception() else result.result().close())

    def _load(self) -> None:
        try:
            self._result.set_result(self._factory())
        except TengenError as error:
            self._fail(str(error), REFUSED)
        except BaseException as error:
            self._log(traceback.format_exc().rstrip())
            self._fail(f"{type(error).__name__}: {error}", BROKEN)

    def _fail(self, reason: str, status: int) -> None:
        self._log(f"the engine cannot be started: {reason}")
        self.status = status
        self._result.set_exception(EngineUnavailableError(f"engine not available: {reason}"))


class ReceivedLine(NamedTuple):
    """A line from the controller, and the token that cancels its command."""

    raw: bytes
    cancel: CancelToken


class LineQueue:
    """The lines that were read and not answered yet; the reader thread puts them in, the main thread takes them out.

    `# interrupt` concerns every command sent before it, the running one and those that wait; their tokens are
    cancelled as soon as the comment is read, so it does not matter whether their searches have begun.
    """

    def __init__(self) -> None:
        self._lines: Final[queue.Queue[ReceivedLine | None]] = queue.Queue(QUEUED_LINES)
        self._lock: Final = threading.Lock()
        self._unanswered: Final[deque[CancelToken]] = deque()

    def put(self, raw: bytes) -> None:
        """Append a line; waits while the queue is full.  `# interrupt` also cancels what has not been answered."""
        if is_interrupt(raw):
            self.cancel_all()
        cancel = CancelToken()
        with self._lock:
            self._unanswered.append(cancel)
        self._lines.put(ReceivedLine(raw, cancel))

    @property
    def is_full(self) -> bool:
        """Whether `put` and `end` would wait."""
        return self._lines.full()

    @property
    def is_answered(self) -> bool:
        """Whether every line has been answered."""
        return not self._unanswered

    def end(self) -> None:
        """Append the end of the session."""
        self._lines.put(None)

    def next(self) -> ReceivedLine | None:
        """Return the next line, waiting for it; None at the end of the session."""
        return self._lines.get()

    def answered(self) -> None:
        """Note that the oldest line has been answered."""
        with self._lock:
            self._unanswered.popleft()

    def cancel_all(self) -> None:
        """Cancel the commands of all lines that have not been answered."""
        with self._lock:
            unanswered = tuple(self._unanswered)
        for cancel in unanswered:
            cancel.cancel()


class ReplyWriter:
    """Writes pieces of replies to `stdout` and the transcript; threads may share it."""

    def __init__(self, stdout: BinaryIO, transcript: Transcript | None) -> None:
        self._stdout: Final = stdout
        self._transcript: Final = transcript
        self._lock: Final = threading.Lock()
        self.is_closed = False
        """Whether nothing more can be written."""
        self.trouble: str | None = None
        """Why, in a sentence; None if the controller has gone."""

    def __call__(self, text: str) -> None:
        """Write a piece, or drop it if the controller has gone."""
        data = encode_reply(text)
        with self._lock:
            if self._transcript:
                self._transcript.sent(decode_line(data))
            try:
                write_all(self._stdout, data)
            except (OSError, ValueError) as error:
                self.is_closed, self.trouble = True, trouble_of(self._stdout, error)


def run_session(
    server: GtpServer,
    stdin: BinaryIO,
    stdout: BinaryIO,
    transcript: Transcript | None = None,
    loader: EngineLoader | None = None,
) -> str | None:
    """Answer the lines of `stdin` on `stdout` until `quit`, the end of `stdin`, or a closed `stdout`.

    Returns a sentence if `stdout` could not be written to, though there is a reader.
    If `loader` cannot build the engine, the lines read until then are still answered.  `stdout` should be unbuffered;
    it is flushed after every reply.  The reader thread may still be blocked reading `stdin` when this returns.
    """
    lines = LineQueue()
    is_over = threading.Event()

    def read() -> None:
        try:
            for raw in read_lines(stdin):
                lines.put(raw)
        finally:
            lines.end()
        if wait_for_hangup(stdout, is_over):  # the controller is dead: no search has to be finished
            lines.cancel_all()

    if loader is not None:
        loader.when_refused(lines.end)
    threading.Thread(target=read, name="stdin reader", daemon=True).start()
    writer = ReplyWriter(stdout, transcript)
    try:
        answer_lines(server, lines, writer, transcript)
    finally:
        is_over.set()
    return writer.trouble


def answer_lines(server: GtpServer, lines: LineQueue, write: ReplyWriter, transcript: Transcript | None = None) -> None:
    """Answer lines from the queue until `quit`, the end of the queue, or a closed stdout."""
    while not server.finished and not write.is_closed and (line := lines.next()) is not None:
        if transcript:
            transcript.received(decode_line(line.raw))
        server.answer(line.raw, write, line.cancel)
        lines.answered()
    server.interrupt()


def serve(
    config: Config,
    engine_factory: Callable[[], "Engine"],
    log: Callable[[str], None] = write_log,
    *,
    advise: Advise | None = None,
) -> int:
    """Run a whole GTP process on the real stdin and stdout; return its exit status.

    `advise` makes the explanations that a person gets on stderr who types the commands.

    `engine_factory` runs in the loader thread.  The status is 0 after `quit`, the end of stdin or a closed stdout, 2 if
    the engine could not be built for a reason that the user has to fix, 1 for any other reason or if stdout cannot be
    written to, 130 after Ctrl-C.  If the engine is still loading at the end of the session, the process exits at once
    instead of returning, because a compiler cannot be stopped.
    """
    streams = claim_streams()
    if streams is None:
        return 0
    loader = EngineLoader(engine_factory, log)
    loader.start()
    status = 0
    try:
        with contextlib.closing(Transcript(config.gtp.log, log)) as transcript:
            server = GtpServer(config, loader, log, advise=advise)
            if trouble := run_session(server, *streams, transcript, loader):
                log(trouble)
                status = BROKEN
    except KeyboardInterrupt:
        status = 130
    patience = LOADER_JOIN if status or config.network.model is None else MODEL_JOIN
    if not loader.close(patience):
        os._exit(status or loader.status)
    return status or loader.status


def serve_gtp(evaluator: "Evaluator", config: "Config | None" = None) -> int:
    """Play by an evaluator of one's own for Go programs: answer GTP on stdin and stdout until `quit`.

    The option gtp.name is what the programs show.  Returns the exit status of the process; what is printed meanwhile
    goes to stderr.
    """
    settings = config or Config()

    def start() -> "Engine":
        from gtp_engine.engine import Engine

        engine = Engine(settings, write_log, evaluator=evaluator)
        engine.load_kernels()
        return engine

    return serve(settings, start)
