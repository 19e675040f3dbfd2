"""GTP and KataGo's analysis protocol over WebSockets.

GTP: one engine for each client, all with the same networks.  A message of the client holds lines; it receives the
output of a GTP engine piece by piece.  The engine opens no files of this machine, and takes no more of its memory than
the server was started with.

The analysis protocol, as KaTrain's `remote_url` speaks it: a message of the client holds queries, one a line; every
response is a message.  Ids are the client's own: clients do not see each other's queries.  Other than on stdout, a
warning is no message of its own but a field of the query's next response: KaTrain takes the first message about a query
that is neither an error nor a partial result for its result.
"""

import asyncio
import contextlib
import threading
from typing import Any, Final

from aiohttp import web

from gtp_engine.evaluation.memory_budget import tree_memory
from gtp_engine.people.web.access import ADDRESS
from gtp_engine.people.web.client_socket import (
    CHECK,
    NO_MORE,
    ClientSocket,
    Seats,
    accepted,
    first_of,
    too_many_values,
)
from gtp_engine.people.web.engine_host import EngineHost
from gtp_engine.people.web.record_processes import RecordProcesses
from gtp_engine.protocols.analysis.server import AnalysisServer, as_text
from gtp_engine.protocols.gtp.protocol import encode_reply
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.protocols.gtp.session import answer_lines, receive
from gtp_engine.protocols.line_session import LineQueue, Loader

MAX_COMMAND: Final = 1 << 16
"""Longest line of a GTP client, bytes: one that sets up all points of the largest board has 10 kB."""

MAX_POSITIONS: Final = 2000
"""Positions of one client that wait or are being searched: a review of a long game asks for some hundred at once."""


class GtpClientSession:
    """The session of one client: the queue of its lines, the thread that answers them, and the engine."""

    def __init__(self, client: ClientSocket, host: EngineHost) -> None:
        memory = tree_memory(host.config.search)
        config = host.config.with_values({"gtp.files": False, "gtp.more_memory": False, "search.max_memory": memory})
        self._client: Final = client
        self._lines: Final = LineQueue()
        self._loader: Final = Loader(lambda: host.source().open_engine(config, host.log), host.log)
        self._server: Final = GtpServer(config, self._loader, host.log, longest=MAX_COMMAND)
        self._thread: Final = threading.Thread(target=self._answer, name="gtp session", daemon=True)
        self._loop: Final = asyncio.get_running_loop()
        self._over: Final = asyncio.Event()
        self.is_ending = False
        """Whether no more lines are taken."""

    @property
    def is_answered(self) -> bool:
        """Whether every line has been answered, or the client has gone."""
        return self._lines.is_answered or self._over.is_set()

    async def run(self) -> None:
        """Answer lines until `quit`, or the end of the input, or until the client goes, which ends its search."""
        self._loader.start()
        self._thread.start()
        try:
            await first_of(self._read(), self._over.wait())
            await self._client.close()
        finally:
            self._client.shut()  # so that the thread does not wait for the client
            self._lines.cancel_all()
            await asyncio.to_thread(self._end)

    async def _read(self) -> None:
        """Put the client's lines into the queue until the client goes."""
        async for message in self._client.messages():
            if message == NO_MORE:
                await self._put(None)
            async for line in self._client.lines(message):
                await self._put(line)

    async def _put(self, line: bytes | None) -> None:
        """Put a line, or the end of the input, into the queue once that has room, unless the client goes."""
        while self._lines.is_full and not self._client.is_lost():
            await asyncio.sleep(CHECK)
        if self._client.is_lost():
            self._client.shut()
        elif line is None:
            self._lines.end()
        elif not self.is_ending:
            receive(self._lines, line)

    def _answer(self) -> None:
        """Answer lines in the thread of the session."""
        answer_lines(self._server, self._lines, self._send, lambda: self._client.is_closed)
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._over.set)

    def _send(self, text: str) -> None:
        """Send a piece of a reply, or drop it if the client has gone; waits while the client does not read."""
        with contextlib.suppress(BrokenPipeError):
            self._client.put_and_wait(encode_reply(text).decode())

    def _end(self) -> None:
        """Wait for the thread, and close the engine."""
        while self._lines.is_full and self._thread.is_alive():  # it ends without lines that it has not read
            self._thread.join(CHECK)
        if self._thread.is_alive():
            self._lines.end()
            self._thread.join()
        self._loader.close_when_loaded()


async def serve_gtp(
    request: web.Request, host: EngineHost, seats: Seats, engines: Seats, sessions: set[GtpClientSession]
) -> web.StreamResponse:
    """Answer a client until it goes, in one of the `sessions`; raises HTTPServiceUnavailable if there are too many."""
    with engines.taking_one(request):
        async with accepted(request, seats) as client:
            session = GtpClientSession(client, host)
            sessions.add(session)
            try:
                await session.run()
            finally:
                sessions.discard(session)
        return client.response


async def end_commands(sessions: set[GtpClientSession]) -> None:
    """Take no more lines, and wait until those that have come are answered."""
    for session in sessions:
        session.is_ending = True
    while not all(session.is_answered for session in sessions):
        await asyncio.sleep(CHECK)


async def serve_analysis(
    request: web.Request, host: EngineHost, seats: Seats, records: RecordProcesses
) -> web.StreamResponse:
    """Answer the queries of a client until it goes; its searches end with it, and they are read in turn with records.

    Replaying a long game takes a while.
    """
    async with accepted(request, seats) as client:
        warnings: dict[str, list[str]] = {}
        has_ended = asyncio.Event()

        def send(response: dict[str, Any]) -> None:
            """Send a response with the warnings about its query, or keep it if it is one; for any thread."""
            name = response.get("id", "")
            if "warning" in response:
                warnings.setdefault(name, []).append(f"{response['field']}: {response['warning']}")
                return
            if known := warnings.pop(name, None):
                response = {**response, "warning": "; ".join(known)}
            client.put(as_text(response))

        schedule = host.schedule.open(host.config.analysis.parallel, send)
        server = AnalysisServer(lambda: host.config, schedule, host.source, host.log, MAX_POSITIONS)

        async def read() -> None:
            async for message in client.messages():
                if message == NO_MORE:
                    has_ended.set()
                async for line in client.lines(message):
                    if refusal := too_many_values(line):
                        send({"error": refusal})
                        continue
                    async with records.turn(line, request[ADDRESS]):
                        await asyncio.to_thread(server.handle_bytes, line)

        async def finish() -> None:
            """Wait until a client that sends no more has been answered."""
            await has_ended.wait()
            while schedule.has_work:
                await asyncio.sleep(CHECK)

        try:
            await first_of(read(), finish())
            await client.close()
        finally:
            schedule.abandon()
    return client.response
