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
from gtp_engine.people.web.client_socket import CHECK, Seats, accepted, first_of, too_many_values
from gtp_engine.people.web.engine_host import EngineHost
from gtp_engine.people.web.operations import Operations
from gtp_engine.people.web.record_processes import RecordProcesses
from gtp_engine.protocols.analysis.server import AnalysisServer, as_text
from gtp_engine.protocols.gtp.protocol import encode_reply
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.protocols.gtp.session import LineQueue, Loader, answer_lines

MAX_COMMAND: Final = 1 << 16
"""Longest line of a GTP client, bytes: one that sets up all points of the largest board has 10 kB."""

MAX_POSITIONS: Final = 2000
"""Positions of one client that wait or are being searched: a review of a long game asks for some hundred at once."""


async def serve_gtp(
    request: web.Request, host: EngineHost, seats: Seats, engines: Seats, operations: Operations, queues: set[LineQueue]
) -> web.StreamResponse:
    """Answer a client's lines until `quit` or the end of its input, or until it goes, which ends its search.

    Meanwhile they are in one of the `queues`.  Raises HTTPServiceUnavailable if there are too many clients.
    """
    lines, over, loop = LineQueue(), asyncio.Event(), asyncio.get_running_loop()
    with engines.taking_one(request):
        async with accepted(request, seats) as client:
            own = {"gtp.files": False, "gtp.more_memory": False, "search.max_memory": tree_memory(host.config.search)}
            config = host.config.with_values(own)
            loader = Loader(lambda: host.source().open_engine(config, host.log), host.log)
            server = GtpServer(config, loader, host.log, longest=MAX_COMMAND)

            async def read() -> None:
                """Put each line into the queue once that has room, unless the client goes."""
                async for line in client.lines():
                    while lines.is_full and not client.is_lost():
                        await asyncio.sleep(CHECK)
                    if client.is_lost():
                        client.shut()
                    elif line is None:
                        lines.end()
                    elif not operations.is_ending:
                        lines.put(line)

            def answer() -> None:
                answer_lines(server, lines, send, lambda: client.is_closed)
                with contextlib.suppress(RuntimeError):  # the event loop has ended
                    loop.call_soon_threadsafe(over.set)

            def send(text: str) -> None:
                """Send a piece of a reply, or drop it if the client has gone; waits while the client does not read."""
                with contextlib.suppress(BrokenPipeError):
                    client.put_and_wait(encode_reply(text).decode())

            def end() -> None:
                """Wait for the thread, and close the engine."""
                if thread.is_alive():
                    thread.join()
                loader.close_when_loaded()

            thread = threading.Thread(target=answer, name="gtp session", daemon=True)
            queues.add(lines)
            try:
                loader.start()
                thread.start()
                await first_of(read(), over.wait())
                queues.discard(lines)  # what stands behind `quit` is not answered
                await client.close()
            finally:
                queues.discard(lines)
                client.shut()  # so that the thread does not wait for the client
                lines.cancel_all()
                if not lines.is_full:  # else the thread waits for no line, and sees that the client has gone
                    lines.end()
                await asyncio.to_thread(end)
    return client.response


async def end_commands(queues: set[LineQueue]) -> None:
    """Wait until the lines that have come are answered; no more are taken once the server ends."""
    while not all(lines.is_answered for lines in queues):
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
        server = AnalysisServer(lambda: host.config, schedule, host.log, MAX_POSITIONS)

        async def read() -> None:
            async for line in client.lines():
                if line is None:
                    has_ended.set()
                elif refusal := too_many_values(line):
                    send({"error": refusal})
                else:
                    async with records.turn(line, client):
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
