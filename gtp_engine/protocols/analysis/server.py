"""The analysis server: one line of JSON in, responses out at once or when the analysis is done; threads and streams.

`AnalysisServer` answers every line, however malformed, and continues; the search is in `worker`.  `run_session` puts it
on two streams (`protocols.line_session`), with these threads:

- The main thread waits for the end.
- The reader takes lines from stdin at any time and answers those that need no search.
- The searcher loads the networks, then does the jobs of the schedule.
- The writer writes responses to stdout, so that a controller that does not read for a while blocks none of the others.

Queries may come while the networks are loading.  The session ends when stdin has ended and every response has been
read, or at once when stdout is closed.
"""

import json
import queue
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn

from gtp_engine import __version__
from gtp_engine.base.errors import problem, shown, shown_json
from gtp_engine.base.streams import MAX_LINE_BYTES, Log, write_log
from gtp_engine.config import Config
from gtp_engine.config.katago import KATAGO_VERSION
from gtp_engine.protocols.analysis.query import Fields, QueryError, parse_query
from gtp_engine.protocols.analysis.results import no_results
from gtp_engine.protocols.analysis.schedule import Job, Schedule, SharedSchedule
from gtp_engine.protocols.analysis.worker import Worker
from gtp_engine.protocols.line_session import Writer, reading, run_process

if TYPE_CHECKING:
    from gtp_engine.engine.shared_engines import SharedEngines

_LARGEST_TURN: Final = 2**31 - 1

END_WAIT: Final = 2.0
"""Seconds that a session waits for its searching thread at the end, or for both if it must not wait for queries; a
search ends sooner, a compiler or a loader may not."""


@dataclass(eq=False)
class AnalysisServer:
    """Parses lines, answers them or schedules what they ask for.

    `config` returns the configuration of queries that come now.  With `most_positions`, a query that would make more
    positions wait at once is refused.
    """

    config: Callable[[], Config]
    schedule: Schedule
    log: Log
    most_positions: int | None = None

    def handle_bytes(self, raw: bytes) -> None:
        """Handle one line as received; an empty one is ignored."""
        if not raw.strip():
            return
        data: dict[str, Any] = {}
        try:
            data = self._parse(raw)
            if "action" in data:
                self._act(data)
            else:
                self._ask(data)
        except QueryError as error:
            about = {"id": data["id"], "field": error.field} if data else {}
            self.schedule.send(about | {"error": str(error)})
        except Exception as error:
            self.log(f"internal error in a line of the controller:\n{traceback.format_exc().rstrip()}")
            self.schedule.send({"error": f"internal error: {type(error).__name__}: {shown(str(error))}"})

    def _parse(self, raw: bytes) -> dict[str, Any]:
        """Return the JSON object in a line, whose id is a string; raises QueryError."""
        if len(raw) > MAX_LINE_BYTES:
            raise QueryError("", f"line too long: the limit is {MAX_LINE_BYTES} bytes")
        text = raw.decode("utf-8-sig", errors="replace").strip()
        try:
            data = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError) as error:
            raise QueryError("", f"could not parse input line as json request: {error}: {shown(text)}") from None
        if not isinstance(data, dict):
            raise QueryError("", problem(f"request {shown(text)}", expected="a JSON object"))
        if not isinstance(data.get("id"), str):
            raise QueryError("", problem(f"request {shown(text)}", expected='a text as its field "id"'))
        return data

    def _ask(self, data: dict[str, Any]) -> None:
        query, problems = parse_query(data, self.config())
        for each in problems:
            self.schedule.send({"id": query.id, **each})
        most, positions = self.most_positions, self.schedule.positions() + len(query.turns)
        if most is not None and positions > most:
            raise QueryError("analyzeTurns", problem(f"{positions} positions at once", expected=f"{most} at most"))
        self.schedule.add(query)

    def _act(self, data: dict[str, Any]) -> None:
        match data["action"]:
            case "query_version":
                version = self.config().gtp.version or KATAGO_VERSION  # Ogatak chooses the fields of queries by it
                program = {"version": version, "git_hash": "<omitted>", "program": f"Tengen {__version__}"}
                self.schedule.send(data | program)
            case "query_models":
                self.schedule.call(lambda engines: self.schedule.send(data | {"models": engines.models()}))
            case "clear_cache":
                self.schedule.call(lambda engines: self._clear_caches(engines, data))
            case "terminate" | "terminate_all":
                self._terminate(data)
            case action:
                known = "query_version or query_models or clear_cache or terminate or terminate_all"
                raise QueryError("action", problem(f"action {shown_json(action)}", expected=known))

    def _clear_caches(self, engines: "SharedEngines", data: dict[str, Any]) -> None:
        engines.clear_cache()
        self.schedule.send(data)

    def _terminate(self, data: dict[str, Any]) -> None:
        fields = Fields(data)
        query_id = fields.value("terminateId")
        is_all = data["action"] == "terminate_all"
        if not is_all and not isinstance(query_id, str):
            raise fields.error("terminateId", "a text")
        turns = set(fields.integers("turnNumbers", 0, _LARGEST_TURN)) if "turnNumbers" in fields else None

        def is_meant(job: Job) -> bool:
            return (is_all or job.query.id == query_id) and (turns is None or job.turn in turns)

        for job in self.schedule.terminate(is_meant):
            self.schedule.send(no_results(job.query, job.turn))
        self.schedule.send(data)


def as_text(response: Mapping[str, Any]) -> str:
    """Return a response as it is sent, without a line end."""
    return json.dumps(response, separators=(",", ":"), allow_nan=False)


def _finite(text: str) -> float:
    """Return a number as a float; refuse one that is too large."""
    number = float(text)
    return number if isfinite(number) else _refuse(shown(text))


def _refuse(constant: str) -> NoReturn:
    """Refuse NaN, Infinity and numbers too large for a float."""
    raise ValueError(f"{constant} is not a JSON number")


MOST_UNREAD: Final = 1000
"""Responses that wait for a controller that does not read before reports of running searches are left out."""


class Output:
    """Writes responses to a stream, one per line, in a thread of its own; calls `gone` if that has become impossible.

    Of responses that are not read, reports during a search are left out; the final ones are kept.
    """

    def __init__(self, stream: BinaryIO, gone: Callable[[], None]) -> None:
        self._gone: Final = gone
        self._lines: Final[queue.SimpleQueue[bytes | None]] = queue.SimpleQueue()
        self.writer: Final = Writer(stream)
        self._thread: Final = threading.Thread(target=self._write, name="stdout writer", daemon=True)
        self._thread.start()

    def send(self, response: dict[str, Any]) -> None:
        """Send a response; return at once."""
        if response.get("isDuringSearch") and self._lines.qsize() >= MOST_UNREAD:
            return
        self._lines.put(as_text(response).encode("ascii") + b"\n")

    def close(self, timeout: float | None = None) -> None:
        """Write the remaining responses and end the thread."""
        self._lines.put(None)
        self._thread.join(timeout)

    def _write(self) -> None:
        while not self.writer.is_closed and (line := self._lines.get()) is not None:
            self.writer.write(line)
        if self.writer.is_closed:
            self._gone()


def run_session(
    config: Config,
    load: "Callable[[], SharedEngines]",
    stdin: BinaryIO,
    stdout: BinaryIO,
    *,
    quit_without_waiting: bool = False,
    log: Log = write_log,
) -> tuple[str | None, bool]:
    """Answer the queries of `stdin` on `stdout` with the engines that `load` returns, which may take long.

    With `quit_without_waiting` the session ends at once at the end of `stdin`, otherwise after every query is answered.
    Returns why `stdout` could not be written to, if there is a reader, and whether all threads have ended.  Raises the
    error that made loading fail.
    """
    failure: BaseException | None = None
    over = threading.Event()
    output, shared = Output(stdout, over.set), SharedSchedule()
    schedule = shared.open(config.analysis.parallel, output.send)
    server = AnalysisServer(lambda: config, schedule, log)

    def search() -> None:
        """Load the engines, then do the jobs of the schedule."""
        nonlocal failure
        try:
            with closing(load()) as engines:
                Worker(shared, lambda: engines, log).run()
        except BaseException as error:
            failure = error
        finally:
            over.set()

    searcher = threading.Thread(target=search, name="searcher", daemon=True)
    ended = over.set if quit_without_waiting else shared.close
    with reading(stdin, stdout, server.handle_bytes, ended=ended, gone=over.set):
        searcher.start()
        over.wait()
        shared.close()
        schedule.terminate(lambda job: True)
        searcher.join(END_WAIT)
        output.close(END_WAIT if quit_without_waiting else None)
    if failure is not None:
        raise failure
    return output.writer.trouble, not searcher.is_alive()


def serve(config: Config, load: "Callable[[], SharedEngines]", *, quit_without_waiting: bool) -> int:
    """Run a whole analysis process on the real stdin and stdout; return its exit status (`run_process`).

    Raises the error that made loading fail.  If the searching thread is still loading or compiling at the end, the
    process exits instead of returning.
    """
    has_ended = False

    def run(*streams: BinaryIO) -> str | None:
        nonlocal has_ended
        trouble, has_ended = run_session(config, load, *streams, quit_without_waiting=quit_without_waiting)
        return trouble

    return run_process(run, lambda status: (status, has_ended))
