"""What operators of a server see of it: whether it is healthy, its figures, its log; and how it ends.

- `/health` needs no token: 200 with `ok` or `loading`, 503 with `ending`.
- `/metrics` has the figures in Prometheus' text format; they are read when they are asked for.
- The log has a line for each request, if that is wanted, with the address, the role and the path: never with the query,
  which may be the token.  As JSON each line is an object with `time`, `event` and what belongs to that; as text the
  further lines of an event, such as a traceback's, are indented.  What comes from clients is escaped (`one_word`).

At its end the server takes no new work, informs its clients, and lets the moves that are being searched end.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler
from prometheus_client import PROCESS_COLLECTOR, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from gtp_engine import __version__
from gtp_engine.base.machine import give_memory_back
from gtp_engine.base.streams import write_log
from gtp_engine.people.web.access import ADDRESS, ROLE, Access
from gtp_engine.people.web.client_socket import Seats, first_of
from gtp_engine.people.web.engine_host import EngineHost
from gtp_engine.people.web.open_games import OpenGames

disable_created_metrics()  # type: ignore[no-untyped-call]  # it counts since the start of the process

LOOK_INTERVAL: Final = 0.05
"""Seconds between two looks at how late the event loop is."""

MEMORY_INTERVAL: Final = 60.0
"""Seconds between two times at which memory that is free goes back to the system; it takes some milliseconds."""

DELAYS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
"""Seconds that the event loop may be late, as the histogram has them."""

DRAIN_WAIT: Final = 8.0
"""Seconds that moves get to end when the server ends: containers are killed after ten."""

LONGEST_WORD: Final = 200
"""Characters of what a client has sent, as the log shows it."""


class ServerLog(logging.Handler):
    """The log of the server, as text or as JSON; called with a line, it writes that.

    As a handler it writes what the libraries log, such as an error in a handler of requests.
    """

    def __init__(self, *, is_json: bool = False, write: Callable[[str], None] = write_log) -> None:
        super().__init__()
        self.is_json: Final = is_json
        self._write: Final = write

    def __call__(self, line: str) -> None:
        """Write a line for the user."""
        first, *more = line.split("\n")
        text = "\n".join([_printable(first), *(f"    {_printable(each)}" for each in more)])
        self._write_event("log", text, message=line)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record of a library."""
        self(self.format(record))

    def request(self, request: web.Request, status: int, seconds: float) -> None:
        """Write how a request was answered; as text it is the values."""
        told: dict[str, str | float] = {
            "address": one_word(request.get(ADDRESS, "")),
            "role": request[ROLE].name.lower() if ROLE in request else "-",
            "method": one_word(request.method),
            "path": one_word(request.path),
            "status": status,
            "seconds": round(seconds, 3),
        }
        self._write_event("request", f"request: {' '.join(map(str, told.values()))}", **told)

    def _write_event(self, event: str, text: str, **fields: str | float) -> None:
        """Write an event as this text, or as JSON with these fields."""
        if self.is_json:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            text = json.dumps({"time": now, "event": event, **fields})
        self._write(text)


def one_word(text: str) -> str:
    """Return text of a client as one word of a log's line, not too long: blanks and what does not print are escaped."""
    cut = text if len(text) <= LONGEST_WORD else text[:LONGEST_WORD] + "…"
    return _printable(cut).replace(" ", "\\x20")


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


async def watch_delays(delays: Histogram) -> None:
    """Count how late the event loop is, at every look, until the task is cancelled."""
    while True:
        due = time.monotonic() + LOOK_INTERVAL
        await asyncio.sleep(LOOK_INTERVAL)
        delays.observe(max(0.0, time.monotonic() - due))


async def give_memory_back_now_and_then() -> None:
    """Do so until the task is cancelled."""
    while True:
        await asyncio.sleep(MEMORY_INTERVAL)
        await asyncio.to_thread(give_memory_back)


class Operations:
    """The log of a server, what it counts, and its end, for which it has so many seconds of patience."""

    def __init__(self, log: ServerLog, *, logs_requests: bool = False, patience: float = 0.0) -> None:
        self.log: Final = log
        self.delays: Final = Histogram(
            "tengen_event_loop_delay_seconds", "How late the event loop was.", buckets=DELAYS, registry=None
        )
        self.requests: Final = Counter(
            "tengen_requests", "Requests by the status of the answer.", ["status"], registry=None
        )
        self.is_ending = False
        self.hurry: Final = asyncio.Event()
        """Set where the end must not wait for anything."""
        self._logs_requests: Final = logs_requests
        self._patience: Final = patience

    async def end(self, *endings: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Wait until all is done that ends the work, as long as there is patience."""
        self.is_ending = True

        async def wait() -> None:
            await asyncio.gather(*(ending() for ending in endings))

        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await first_of(wait(), self.hurry.wait())

    @web.middleware
    async def note(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Count and log requests, also those that are refused."""
        started, status = time.monotonic(), int(HTTPStatus.INTERNAL_SERVER_ERROR)
        try:
            response = await handler(request)
            status = response.status
            return response
        except web.HTTPException as error:
            status = error.status
            raise
        finally:
            self.requests.labels(status).inc()
            if self._logs_requests:
                self.log.request(request, status, time.monotonic() - started)


@dataclass(frozen=True)
class Health:
    """Answers `/health` and `/metrics` for the parts of an application; `seats` are those of each kind of client."""

    operations: Operations
    host: EngineHost
    games: OpenGames
    access: Access
    seats: dict[str, Seats]

    async def health(self, _: web.Request) -> web.Response:
        """Answer with the status of the server."""
        if self.operations.is_ending:
            return web.json_response({"status": "ending"}, status=HTTPStatus.SERVICE_UNAVAILABLE)
        return web.json_response({"status": "ok" if self.host.is_loaded else "loading"})

    async def metrics(self, _: web.Request) -> web.Response:
        """Answer with the figures."""
        headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        return web.Response(body=generate_latest(self), headers=headers)

    def collect(self) -> Iterator[Metric]:
        """Yield the figures as they are now, then those of the process."""
        gauge, counter = partial(_filled, GaugeMetricFamily), partial(_filled, CounterMetricFamily)
        operations, host, tokens = self.operations, self.host, self.access.tokens
        work = host.source().work() if host.is_loaded else None
        yield gauge("info", "The version of the server.", {__version__: 1}, "version")
        yield gauge("loaded", "Whether the networks are loaded.", float(host.is_loaded))
        yield gauge("games", "Games with an engine.", dict(self.games.counts()))
        yield gauge("clients", "Clients by what they hold.", {kind: seats.taken for kind, seats in self.seats.items()})
        yield gauge("queued_positions", "Positions of analyses that wait or are searched.", host.schedule.positions())
        yield from operations.requests.collect()
        yield counter("wrong_tokens", "Wrong tokens.", tokens.guesses if tokens else 0)
        if work is not None:
            yield counter("evaluations", "Positions that networks have evaluated.", work.rows)
            yield counter("evaluation_batches", "Batches in which they were evaluated.", work.calls)
            yield gauge("batch_rows", "Most positions of a batch.", work.batch)
            yield gauge("queued_evaluations", "Requests that wait for the network.", work.waiting)
        yield from operations.delays.collect()
        yield from PROCESS_COLLECTOR.collect()


def _filled(family: Any, name: str, text: str, values: dict[str, float] | float, label: str = "kind") -> Any:
    """Return a metric with one value, or with one for each label."""
    if not isinstance(values, dict):
        return family(f"tengen_{name}", text, value=values)
    metric = family(f"tengen_{name}", text, labels=[label])
    for each, value in values.items():
        metric.add_metric([each], value)
    return metric
