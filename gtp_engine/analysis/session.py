"""The analysis server as a process: threads, and the real stdin and stdout.

Four threads, one job each:

- the main thread waits for the end;
- the reader takes lines from stdin at any time and answers what needs no search;
- the searcher loads the networks, then does what is scheduled;
- the writer puts responses on stdout, so that a controller that does not read for a while blocks neither of them.

Queries may come while the networks are loading.  The session ends when stdin has ended and every query is answered, or
at once when stdout is closed.
"""

import json
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, Final, Protocol

from gtp_engine.analysis.schedule import Schedule
from gtp_engine.analysis.server import AnalysisServer
from gtp_engine.analysis.worker import Searchers, Worker
from gtp_engine.config import Config
from gtp_engine.search.searcher import Searcher
from gtp_engine.streams import claim_streams, read_lines, wait_for_hangup, write_all, write_log

END_WAIT: Final = 2.0
"""Seconds a session that ends without waiting gives a search to end; a compiler or a loader may take longer."""


class Backend(Protocol):
    """What takes time to load: searchers and the networks they use.  Called by the searching thread only."""

    def open_searcher(self, config: Config) -> Searcher:
        """Return a new searcher with these settings."""
        ...

    def models(self) -> list[dict[str, Any]]:
        """Return facts about each network, as KataGo's `query_models` names them."""
        ...

    def clear_cache(self) -> None:
        """Forget remembered evaluations."""
        ...

    def close(self) -> None:
        """Free what the networks hold."""
        ...


class Output:
    """Writes responses to a stream, a line each, in a thread of its own; calls `gone` once nobody reads them."""

    def __init__(self, stream: BinaryIO, gone: Callable[[], None]) -> None:
        self._stream: Final = stream
        self._gone: Final = gone
        self._lines: Final[queue.SimpleQueue[bytes | None]] = queue.SimpleQueue()
        self._thread: Final = threading.Thread(target=self._write, name="stdout writer", daemon=True)
        self._thread.start()

    def send(self, response: dict[str, Any]) -> None:
        """Send a response; returns at once."""
        self._lines.put(json.dumps(response, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n")

    def close(self, timeout: float | None = None) -> None:
        """Write what is left and end."""
        self._lines.put(None)
        self._thread.join(timeout)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                write_all(self._stream, line)
            except (OSError, ValueError):  # the controller has gone; nobody is left to tell
                self._gone()
                return


class AnalysisSession:
    """A session on two streams; `run` returns when it is over.

    `load` returns the backend and may take long.  With `quit_without_waiting` the end of stdin ends the session at
    once, otherwise every query is answered first.
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
        self._schedule: Final = Schedule(config.analysis.parallel)
        self._over: Final = threading.Event()
        self._output: Final = Output(stdout, self._over.set)
        self._error: Exception | None = None
        self._backend: Backend | None = None

    def run(self) -> bool:
        """Answer queries until the session is over; return whether its threads have ended too.

        Raises what loading raised.
        """
        searcher = threading.Thread(target=self._search, name="searcher", daemon=True)
        searcher.start()
        threading.Thread(target=self._read, name="stdin reader", daemon=True).start()
        self._over.wait()
        self._schedule.close()
        self._schedule.terminate(lambda job: True)
        searcher.join(END_WAIT)
        self._output.close(END_WAIT)
        if self._error is not None:
            raise self._error
        return not searcher.is_alive()

    def _read(self) -> None:
        """Hand over the lines of stdin, then see to the end."""
        server = AnalysisServer(
            self._config,
            self._schedule,
            self._output.send,
            version=self._version,
            models=lambda: self._loaded.models(),
            clear_cache=lambda: self._loaded.clear_cache(),
            log=self._log,
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
        """Load, then do what is scheduled."""
        try:
            self._backend = self._load()
            searchers = Searchers(self._backend.open_searcher)
            Worker(self._schedule, searchers, self._output.send, self._log).run()
            self._backend.close()
        except Exception as error:
            self._error = error
        finally:
            self._over.set()

    @property
    def _loaded(self) -> Backend:
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

    Status 0 at the end of stdin or with a closed stdout, 130 after Ctrl-C.  Raises what made loading fail.  Does not
    return while something is still loading or compiling: that cannot be stopped, the process is ended.
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
