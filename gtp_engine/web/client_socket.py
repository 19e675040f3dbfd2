"""The WebSocket of one client: accepted while there are seats, read message by message, written through an outbox."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, Final

from aiohttp import WSCloseCode, WSMsgType, web

from gtp_engine.errors import counted
from gtp_engine.web.outbox import Outbox

MAX_MESSAGE: Final = 1 << 20
"""Longest message of a client, bytes: a query with a long game takes about 10 kB."""

MAX_SOCKETS: Final = 64
"""WebSockets at once; a person uses one or two."""

HEARTBEAT: Final = 20.0
"""Seconds of silence after which a client is asked whether it is still there; half as long it has to answer."""

END_WAIT: Final = 2.0
"""Seconds for the closing handshake."""

NO_MORE: Final = b""
"""The binary message of a client that sends no more, but waits for what it is still to receive."""


class Seats:
    """A limited number of things of one kind at once; `what` names one of them."""

    def __init__(self, count: int, what: str) -> None:
        self._count: Final = count
        self._what: Final = what
        self.taken = 0
        self.sockets: Final[set[web.WebSocketResponse]] = set()
        """The open WebSockets on these seats."""

    @contextlib.contextmanager
    def taking_one(self) -> Iterator[None]:
        """Hold a seat in the `with` block; raises HTTPServiceUnavailable if none is free."""
        if self.taken >= self._count:
            raise web.HTTPServiceUnavailable(text=f"There are already {counted(self._count, self._what)}.\n")
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


async def close_all(seats: Seats) -> None:
    """Tell every client that the server ends."""

    async def close(response: web.WebSocketResponse) -> None:
        with contextlib.suppress(OSError):
            async with asyncio.timeout(END_WAIT):
                await response.close(code=WSCloseCode.GOING_AWAY)

    await asyncio.gather(*(close(response) for response in tuple(seats.sockets)))


class _Socket(web.WebSocketResponse):
    """A WebSocket that says why it is closed after a message that is too long."""

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        if code == WSCloseCode.MESSAGE_TOO_BIG:
            message = f"a message has {MAX_MESSAGE} bytes at most".encode()
        return await super().close(code=code, message=message, drain=drain)


class ClientSocket:
    """A WebSocket that is open; messages to the client go through `outbox`."""

    def __init__(self, response: web.WebSocketResponse, outbox: Outbox) -> None:
        self.response: Final = response
        self.outbox: Final = outbox

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the client's messages, text or binary, until it goes; then nothing more can be sent.

        A client that does not read what it is sent is not read either.
        """
        async for message in self.response:
            if message.type is WSMsgType.TEXT:
                yield message.data.encode()
            elif message.type is WSMsgType.BINARY:
                yield message.data
            await self.outbox.wait_for_room()
        self.outbox.close()

    async def close(self) -> None:
        """Close the connection after everything has been sent."""
        await self.outbox.flush()
        with contextlib.suppress(OSError):
            async with asyncio.timeout(END_WAIT):
                await self.response.close()


@contextlib.asynccontextmanager
async def accepted(request: web.Request, seats: Seats) -> AsyncIterator[ClientSocket]:
    """Accept the WebSocket of a request for the `async with` block; afterwards the outbox is closed.

    Raises HTTPServiceUnavailable if no seat is free, HTTPBadRequest for a request that is no handshake.
    """
    with seats.taking_one():
        response = _Socket(max_msg_size=MAX_MESSAGE, heartbeat=HEARTBEAT, compress=False)
        await response.prepare(request)
        outbox = Outbox(request.transport)
        sender = asyncio.create_task(outbox.run(response))
        seats.sockets.add(response)
        try:
            yield ClientSocket(response, outbox)
        finally:
            seats.sockets.discard(response)
            outbox.close()
            sender.cancel()


async def first_of(*coroutines: Coroutine[Any, Any, None]) -> None:
    """Run coroutines until one of them ends, and cancel the others; raises what that one raises."""
    tasks = [asyncio.create_task(each) for each in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
