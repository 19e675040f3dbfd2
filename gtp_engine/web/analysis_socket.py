"""KataGo's analysis protocol over a WebSocket, as KaTrain's `remote_url` speaks it.

A message of the client holds queries, one a line; every response is a message.  Ids are the client's own: clients do
not see each other's queries.

Other than on stdout, a warning is no message of its own but a field of the query's next response: KaTrain takes the
first message about a query that is neither an error nor a partial result for its result.
"""

import asyncio
import json
from typing import Any, Final

from aiohttp import web

from gtp_engine.analysis.schedule import Schedule
from gtp_engine.analysis.server import AnalysisServer
from gtp_engine.web.client_socket import NO_MORE, ClientSocket, Outbox, Seats, accepted, first_of
from gtp_engine.web.engine_host import EngineHost

MAX_POSITIONS: Final = 2000
"""Positions of one client that wait or are being searched: a review of a long game asks for some hundred at once."""

_END_CHECK: Final = 0.05
"""Seconds between two checks whether the last position of a client that sends no more is done."""


class Responses:
    """Sends responses through an outbox, warnings together with the next response to the same query."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox: Final = outbox
        self._warnings: Final[dict[str, list[str]]] = {}

    def send(self, response: dict[str, Any]) -> None:
        """Send a response, or keep it if it is a warning; for any thread."""
        name = response.get("id", "")
        if "warning" in response:
            self._warnings.setdefault(name, []).append(f"{response['field']}: {response['warning']}")
            return
        if warnings := self._warnings.pop(name, None):
            response = {**response, "warning": "; ".join(warnings)}
        self._outbox.put(json.dumps(response, separators=(",", ":"), allow_nan=False))


async def serve_analysis(request: web.Request, host: EngineHost, seats: Seats) -> web.StreamResponse:
    """Answer the queries of a client until it goes; its searches end with it."""
    async with accepted(request, seats) as client:
        schedule = host.open_schedule(Responses(client.outbox).send)
        server = AnalysisServer(host.config, schedule, host.source, host.log, MAX_POSITIONS)
        has_ended = asyncio.Event()
        try:
            await first_of(_read(client, server, has_ended), _finish(schedule, has_ended))
            await client.close()
        finally:
            schedule.abandon()
    return client.response


async def _read(client: ClientSocket, server: AnalysisServer, has_ended: asyncio.Event) -> None:
    """Pass the client's lines to its server until the client goes; set `has_ended` when it sends no more."""
    async for message in client.messages():
        if message == NO_MORE:
            has_ended.set()
        async for line in client.lines(message):
            await asyncio.to_thread(server.handle_bytes, line)  # a thread: replaying a long game takes a while


async def _finish(schedule: Schedule, has_ended: asyncio.Event) -> None:
    """Wait until a client that sends no more has been answered."""
    await has_ended.wait()
    while schedule.has_work:
        await asyncio.sleep(_END_CHECK)
