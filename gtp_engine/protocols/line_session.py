"""Sessions whose lines come from a controller: the reader, the writer, the end of the process.

- The reader takes lines at any time, so that they reach a running search; after the end of the input it watches the
  output, because a controller that has died waits for no search.
- The writer alone writes to stdout, each piece whole.

`run_process` puts a session on the real stdin and stdout.  What lines mean is for `gtp` and `analysis`.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from gtp_engine.base.streams import claim_streams, read_lines, trouble_of, wait_for_hangup, write_all, write_log

BROKEN: Final = 1
"""Exit status when stdout could not be written to, or the engine could not be built because of a bug."""

INTERRUPTED: Final = 130
"""Exit status after Ctrl-C."""


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


def run_process(run: Callable[[BinaryIO, BinaryIO], str | None], end: Callable[[int], tuple[int, bool]]) -> int:
    """Run a session on the real stdin and stdout; return the exit status of the process.

    `run` returns why stdout could not be written to; `end` returns the status, given that so far, and whether all
    threads have ended.  If they have not, the process exits at once instead of returning, because a compiler cannot be
    stopped.

    The status so far is 0 at the regular end or if stdout is closed, BROKEN if it cannot be written to, INTERRUPTED
    after Ctrl-C.
    """
    streams = claim_streams()
    if streams is None:
        return 0
    status = 0
    try:
        if trouble := run(*streams):
            write_log(trouble)
            status = BROKEN
    except KeyboardInterrupt:
        status = INTERRUPTED
    status, has_ended = end(status)
    if not has_ended:
        os._exit(status)
    return status
