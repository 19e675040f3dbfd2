"""The analysis server as a process: threads, and the real stdin and stdout.

- The main thread waits for the end.
- The reader takes lines from stdin at any time and answers those that need no search.
- The searcher loads the networks, then does the jobs of the schedule.
- The writer writes responses to stdout, so that a controller that does not read for a while blocks none of the others.

Queries may come while the networks are loading.  The session ends when stdin has ended and every response has been
read, or at once when stdout is closed.
"""

import json
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, Final

from gtp_engine.analysis.backend import Backend
from gtp_engine.analysis.schedule import Schedule
from gtp_engine.analysis.server import AnalysisServer
from gtp_engine.analysis.worker import Searchers, Worker
from gtp_engine.config import Config
from gtp_engine.streams import claim_streams, read_lines, wait_for_hangup, write_all, write_log

END_WAIT: Final = 2.0
"""Seconds that a session waits for its searching thread at the end, or for both if it must not wait for queries; a
search ends sooner, a compiler or a loader may not."""


class Output:
    """Writes responses to a stream, one per line, in a thread of its own; calls `gone` if the reader is gone."""

    def __init__(self, stream: BinaryIO, gone: Callable[[], None]) -> None:
        self._stream: Final = stream
        self._gone: Final = gone
        self._lines: Final[queue.SimpleQueue[bytes | None]] = queue.SimpleQueue()
        self._thread: Final = threading.Thread(target=self._write, name="stdout writer", daemon=True)
        self._thread.start()

    def send(self, response: dict[str, Any]) -> None:
        """Send a response; return at once."""
        self._lines.put(json.dumps(response, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n")

    def close(self, timeout: float | None = None) -> None:
        """Write the remaining responses and end the thread."""
        self._lines.put(None)
        self._thread.join(timeout)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                write_all(self._stream, line)
            except (OSError, ValueError):  # the controller has gone
                self._gone()
                return


class AnalysisSession:
    """A session on two streams; `run` returns when it is over.

    `load` returns the backend and may take long.  With `quit_without_waiting` the session ends at once at the end of
    stdin, otherwise after every query is answered.
    """

    def __init__(
        self,
        config: Config,
        load: Callable[[], Backend],
        *,
        stdin: BinaryIO,
        stdout: BinaryIO,
        version: str,
        quit_without_waiting: bool = False,
        log: Callable[[str], None] = write_log,
    ) -> None:
        self._config: Final = config
        self._load: Final = load
        self._stdin: Final = stdin
        self._stdout: Final = stdout
        self._version: Final = version
        self._is_hasty: Final = quit_without_waiting
        self._log: Final = log
        self._over: Final = threading.Event()
        self._output: Final = Output(stdout, self._over.set)
        self._schedule: Final = Schedule(config.analysis.parallel, self._output.send)
        self._error: Exception | None = None
        self._backend: Backend | None = None

    def run(self) -> bool:
        """Answer queries until the session is over; return whether the searching thread has ended too.

        Raises the error that made loading fail.
        """
        searcher = threading.Thread(target=self._search, name="searcher", daemon=True)
        searcher.start()
        threading.Thread(target=self._read, name="stdin reader", daemon=True).start()
        self._over.wait()
        self._schedule.close()
        self._schedule.terminate(lambda job: True)
        searcher.join(END_WAIT)
        self._output.close(END_WAIT if self._is_hasty else None)
        if self._error is not None:
            raise self._error
        return not searcher.is_alive()

    def _read(self) -> None:
        """Pass the lines of stdin to a server, then wait for the end."""
        server = AnalysisServer(
            self._config, self._schedule, self._output.send, self._loaded_backend, self._log, self._version
        )
        for line in read_lines(self._stdin):
            server.handle_bytes(line)
        if self._is_hasty:
            self._over.set()
            return
        self._schedule.close()
        if wait_for_hangup(self._stdout, self._over):
            self._over.set()

    def _search(self) -> None:
        """Load the backend, then do the jobs of the schedule."""
        try:
            self._backend = self._load()
            searchers = Searchers(self._backend.open_searcher)
            Worker(self._schedule, searchers, self._log).run()
            self._backend.close()
        except Exception as error:
            self._error = error
        finally:
            self._over.set()

    def _loaded_backend(self) -> Backend:
        assert self._backend is not None  # errands are done after loading
        return self._backend


def serve(
    config: Config,
    load: Callable[[], Backend],
    *,
    version: str,
    quit_without_waiting: bool = False,
    log: Callable[[str], None] = write_log,
) -> int:
    """Run a whole analysis process on the real stdin and stdout; return its exit status.

    The status is 0 at the end of stdin or with a closed stdout, 130 after Ctrl-C.  Raises the error that made loading
    fail.  If the searching thread is still loading or compiling at the end, the process exits instead of returning,
    because that cannot be stopped.
    """
    streams = claim_streams()
    if streams is None:
        return 0
    stdin, stdout = streams
    session = AnalysisSession(
        config,
        load,
        stdin=stdin,
        stdout=stdout,
        version=version,
        quit_without_waiting=quit_without_waiting,
        log=log,
    )
    try:
        has_ended = session.run()
    except KeyboardInterrupt:
        os._exit(130)
    if not has_ended:
        os._exit(0)
    return 0
