"""Sessions whose lines come from a controller: the reader, the queue, the writer, the loader, the end of the process.

- The reader takes lines at any time, so that they reach a running search; after the end of the input it watches the
  output, because a controller that has died waits for no search.
- The queue holds the lines that are not answered yet, each with the token that cancels its command.
- The writer alone writes to stdout, each piece whole.
- The loader builds the engine while lines are already answered.

`run_process` puts a session on the real stdin and stdout.  What lines mean is for `gtp` and `analysis`.
"""

import os
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import BinaryIO, Final, Generic, NamedTuple, Protocol, TypeVar

from gtp_engine.base.errors import TengenError
from gtp_engine.base.streams import claim_streams, read_lines, trouble_of, wait_for_hangup, write_all
from gtp_engine.search.limits import CancelToken

QUEUED_LINES: Final = 10_000
"""Lines read ahead of the running command; beyond this the controller has to wait."""

LOADER_JOIN: Final = 0.2
"""Seconds that the process waits at its end for an engine that is still loading, or for lines sent before that failed,
which are read within milliseconds."""

REFUSED: Final = 2
"""Exit status when the engine could not be built for a reason that the user has to fix."""

BROKEN: Final = 1
"""Exit status when the engine could not be built for any other reason, or stdout could not be written to."""

INTERRUPTED: Final = 130
"""Exit status after Ctrl-C."""

Log = Callable[[str], None]


class Closable(Protocol):
    """What a loader loads."""

    def close(self) -> None:
        """End it."""


T = TypeVar("T", bound=Closable)


class EngineUnavailableError(TengenError):
    """The engine could not be built; the message gives the reason, the cause is the error."""


class Loader(Generic[T]):
    """Builds an engine in a thread of its own once `start` is called; calling the loader waits for the engine.

    Without `log`, the caller reports a failure.
    """

    def __init__(self, load: Callable[[], T], log: Log | None = None) -> None:
        self._load: Final = load
        self._log: Final = log or (lambda line: None)
        self._result: Final[Future[T]] = Future()
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

    def __call__(self) -> T:
        """Return the engine, waiting for it; raises EngineUnavailableError if it could not be built."""
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
            self._fail(error, str(error), REFUSED)
            time.sleep(LOADER_JOIN)
            self._refused()
        except BaseException as error:
            self._log(traceback.format_exc().rstrip())
            self._fail(error, f"{type(error).__name__}: {error}", BROKEN)

    def _fail(self, cause: BaseException, reason: str, status: int) -> None:
        self._log(f"Error: the engine cannot be started: {reason}")
        self.status = status
        error = EngineUnavailableError(f"engine not available: {reason}")
        error.__cause__ = cause
        self._result.set_exception(error)


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
        """Append a line; waits while the queue is full."""
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


class Writer:
    """Writes pieces to `stream`, each whole; threads may share it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream: Final = stream
        self._lock: Final = threading.Lock()
        self.is_closed = False
        """Whether nothing more can be written."""
        self.trouble: str | None = None
        """Why, in a sentence; None if the controller has gone."""

    def write(self, data: bytes) -> None:
        """Write a piece, or drop it if that is impossible."""
        with self._lock:
            try:
                write_all(self._stream, data)
            except (OSError, ValueError) as error:
                self.is_closed, self.trouble = True, trouble_of(self._stream, error)


@contextmanager
def reading(
    stdin: BinaryIO,
    stdout: BinaryIO,
    take: Callable[[bytes], None],
    *,
    ended: Callable[[], None],
    gone: Callable[[], None],
) -> Iterator[None]:
    """Read lines in a thread until the session in the `with` block is over; the thread may then still wait for input.

    The thread calls `take` for each line, `ended` after the last, and `gone` if the reader of `stdout` goes after that.
    """
    is_over = threading.Event()

    def read() -> None:
        try:
            for line in read_lines(stdin):
                take(line)
        finally:
            ended()
        if wait_for_hangup(stdout, is_over):
            gone()

    threading.Thread(target=read, name="stdin reader", daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def run_process(
    run: Callable[[BinaryIO, BinaryIO], str | None], loader: Loader[T], end: Callable[[int], bool], log: Log
) -> int:
    """Run a session on the real stdin and stdout; return the exit status of the process.

    `run` starts `loader` once it reads, and returns why stdout could not be written to; `end` returns whether all
    threads have ended, given the status so far.  If they have not, the process exits at once instead of returning,
    because a compiler cannot be stopped.

    The status is 0 at the regular end or if stdout is closed, BROKEN if it cannot be written to, INTERRUPTED after
    Ctrl-C, or else that of the loader.
    """
    streams = claim_streams()
    if streams is None:
        return 0
    status = 0
    try:
        if trouble := run(*streams):
            log(trouble)
            status = BROKEN
    except KeyboardInterrupt:
        status = INTERRUPTED
    has_ended = end(status)
    status = status or loader.status
    if not has_ended:
        os._exit(status)
    return status
