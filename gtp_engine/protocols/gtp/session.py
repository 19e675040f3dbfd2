"""The GTP session on stdin and stdout: its threads and its log file.

- The main thread executes commands in the order they were sent.
- The reader takes lines from stdin at any time, so that `# interrupt` reaches a running command.  They wait in a queue,
  each with the token that cancels its command.
- The loader builds the engine while the main thread already answers commands that do not need it.

A fourth thread belongs to the engine and searches in the background; it sends the lines of an analysis.  Meanwhile the
main thread waits for the next line, which ends the analysis.

The session ends after `quit`, after the last line of stdin, when stdout is closed, or when the engine cannot be started
for a reason that the user has to fix, such as a bad model file.
"""

import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, TextIO, TypeAlias

from gtp_engine.base.errors import TengenError
from gtp_engine.base.files import expanded
from gtp_engine.base.streams import Log, write_log
from gtp_engine.config import Config
from gtp_engine.protocols.gtp.protocol import SendPiece, decode_line, encode_reply, is_interrupt
from gtp_engine.protocols.gtp.server import Advise, GtpServer
from gtp_engine.protocols.line_session import BROKEN, Writer, reading, run_process
from gtp_engine.search.limits import CancelToken

if TYPE_CHECKING:  # importing the engine takes as long as the rest of the handshake
    from gtp_engine.engine import Engine
    from gtp_engine.evaluation.evaluator import Evaluator

QUEUED_LINES: Final = 10_000
"""Lines read ahead of the running command; beyond this the controller has to wait."""

LOADER_JOIN: Final = 0.2
"""Seconds that the process waits at its end for an engine that is still loading, or for lines sent before that failed,
which are read within milliseconds."""

MODEL_JOIN: Final = 10.0
"""Seconds that the process waits at its end for an engine with a network that is still loading: a bad model file should
be reported, and shows within a second or two."""

REFUSED: Final = 2
"""Exit status when the engine could not be built for a reason that the user has to fix."""

Record: TypeAlias = Callable[[str, str], None]
"""Records a line from the controller, "<", or a reply, ">"."""


@contextmanager
def transcript(path: str | None, log: Log) -> Iterator[Record]:
    """Yield what appends the lines of a session to a file, each with the time; it does nothing if `path` is None.

    A file that cannot be opened or written is reported through `log` once and then no longer used: a full disk must not
    end a game.
    """
    file: TextIO | None = None

    def give_up(error: OSError) -> None:
        nonlocal file
        file = None
        log(f"the log {path} is not written: {error.strerror or error}")

    def record(direction: str, text: str) -> None:
        if file is not None:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S")
            try:
                file.write(f"{stamp} {direction} {text}\n")
                file.flush()
            except OSError as error:
                give_up(error)

    if path is not None:
        try:
            file = expanded(path).open("a", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            give_up(error)
    try:
        yield record
    finally:
        if file is not None:
            file.close()
            file = None


class Loader:
    """Builds an engine in a thread of its own once `start` is called; calling the loader waits for the engine."""

    def __init__(self, load: "Callable[[], Engine]", log: Log) -> None:
        self._load: Final = load
        self._log: Final = log
        self._result: Final[Future[Engine]] = Future()
        self._refused: Callable[[], None] = lambda: None
        self.status = 0
        """Exit status of the process if only the engine decides it."""
        self._thread: Final = threading.Thread(target=self._run, name="engine loader", daemon=True)

    def start(self, refused: Callable[[], None] = lambda: None) -> None:
        """Begin to load; return at once.

        `refused` is called, LOADER_JOIN later, if the engine cannot be built for a reason that the user has to fix.
        """
        self._refused = refused
        self._thread.start()

    def __call__(self) -> "Engine":
        """Return the engine, waiting for it; raises TengenError if it could not be built."""
        return self._result.result()

    def close(self, timeout: float = LOADER_JOIN) -> bool:
        """Close the engine, if any; return False if it is still loading after `timeout` seconds."""
        if self._thread.is_alive():  # else Ctrl-C may have come before it was started
            self._thread.join(timeout)
        if not self._thread.is_alive():
            self.close_when_loaded()
        return not self._thread.is_alive()

    def close_when_loaded(self) -> None:
        """Close the engine now, or as soon as it is loaded; return at once if it is not."""
        self._result.add_done_callback(lambda result: None if result.exception() else result.result().close())

    def _run(self) -> None:
        try:
            self._result.set_result(self._load())
        except TengenError as error:
            self._fail(str(error), REFUSED)
            time.sleep(LOADER_JOIN)
            self._refused()
        except BaseException as error:
            self._log(traceback.format_exc().rstrip())
            self._fail(f"{type(error).__name__}: {error}", BROKEN)

    def _fail(self, reason: str, status: int) -> None:
        self._log(f"Error: the engine cannot be started: {reason}")
        self.status = status
        self._result.set_exception(TengenError(f"engine not available: {reason}"))


class ReceivedLine(NamedTuple):
    """A line from the controller, and the token that cancels its command."""

    raw: bytes
    cancel: CancelToken


class LineQueue:
    """The lines that were read and not answered yet; the reader puts them in, another thread takes them out."""

    def __init__(self) -> None:
        self._lines: Final[queue.Queue[ReceivedLine | None]] = queue.Queue(QUEUED_LINES)
        self._lock: Final = threading.Lock()
        self._unanswered: Final[deque[CancelToken]] = deque()

    def put(self, raw: bytes) -> None:
        """Append a line; waits while the queue is full.

        `# interrupt` concerns every command sent before it, the running one and those that wait; their tokens are
        cancelled as soon as the comment is read, so it does not matter whether their searches have begun.
        """
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
        """Cancel the commands of all lines that have not been answered, whether they have begun or not."""
        with self._lock:
            unanswered = tuple(self._unanswered)
        for cancel in unanswered:
            cancel.cancel()


def run_session(
    server: GtpServer,
    stdin: BinaryIO,
    stdout: BinaryIO,
    record: Record = lambda direction, text: None,
    loader: Loader | None = None,
) -> str | None:
    """Answer the lines of `stdin` on `stdout` until `quit`, the end of `stdin`, or a closed `stdout`.

    Returns a sentence if `stdout` could not be written to, though there is a reader.  `loader` is started here; if it
    cannot build the engine, the lines sent until then are still answered.  `stdout` should be unbuffered; it is flushed
    after every reply.  The reader thread may still be blocked reading `stdin` when this returns.
    """
    lines, output = LineQueue(), Writer(stdout)

    def send(text: str) -> None:
        data = encode_reply(text)
        record(">", decode_line(data).rstrip("\n"))
        output.write(data)

    with reading(stdin, stdout, lines.put, ended=lines.end, gone=lines.cancel_all):
        if loader is not None:
            loader.start(lines.end)
        answer_lines(server, lines, send, lambda: output.is_closed, record)
    return output.trouble


def answer_lines(
    server: GtpServer,
    lines: LineQueue,
    send: SendPiece,
    is_closed: Callable[[], bool],
    record: Record = lambda direction, text: None,
) -> None:
    """Answer lines from the queue until `quit`, the end of the queue, or nothing more can be sent."""
    while not server.finished and not is_closed() and (line := lines.next()) is not None:
        record("<", decode_line(line.raw).rstrip("\r"))
        server.answer(line.raw, send, line.cancel)
        lines.answered()
    server.interrupt()


def serve(config: Config, engine_factory: "Callable[[], Engine]", *, advise: Advise | None = None) -> int:
    """Run a whole GTP process on the real stdin and stdout; return its exit status (`run_process`).

    `advise` makes the explanations that a person gets on stderr who types the commands.  `engine_factory` runs in the
    loader thread.  If the engine is still loading at the end of the session, the process exits instead of returning.
    """
    loader = Loader(engine_factory, write_log)

    def run(stdin: BinaryIO, stdout: BinaryIO) -> str | None:
        with transcript(config.gtp.log, write_log) as record:
            return run_session(GtpServer(config, loader, advise=advise), stdin, stdout, record, loader)

    def end(status: int) -> tuple[int, bool]:
        has_ended = loader.close(LOADER_JOIN if status or config.network.model is None else MODEL_JOIN)
        return status or loader.status, has_ended

    return run_process(run, end)


def serve_gtp(evaluator: "Evaluator", config: "Config | None" = None) -> int:
    """Play by an evaluator of one's own for Go programs: answer GTP on stdin and stdout until `quit`.

    The option gtp.name is what the programs show.  Returns the exit status of the process; what is printed meanwhile
    goes to stderr.

        sys.exit(serve_gtp(FunctionEvaluator(guess)))
    """
    settings = config or Config()
    return serve(settings, partial(start_engine, settings, evaluator))


def start_engine(config: Config, evaluator: "Evaluator | EllipsisType" = ...) -> "Engine":
    """Return an engine that is loading its kernels, with the configured networks unless an evaluator is given."""
    from gtp_engine.engine import Engine

    engine = Engine(config, write_log, evaluator)
    engine.load_kernels()
    return engine
