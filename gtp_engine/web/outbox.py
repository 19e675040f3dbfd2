"""Messages on their way to one client: from any thread, in order, within limits.

A client that reads too slowly is first held back: no more messages are read from it (`wait_for_room`), and a thread
that answers it waits (`put_and_wait`).  It is dropped once too much waits nevertheless, or nothing moves any more.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from aiohttp import ClientError, web

ROOM: Final = 1 << 20
"""Characters that may wait before a client is held back: dozens of reports with ownership."""

LIMIT: Final = 8 << 20
"""Characters that may wait before a client is dropped: an analysis that has begun reports while it is held back."""

STALL: Final = 20.0
"""Seconds after which a client that reads nothing is dropped."""


class Outbox:
    """Sends messages to the WebSocket on `transport`; made in the event loop, in which its coroutines run.

    The other methods are for any thread.
    """

    def __init__(self, transport: asyncio.BaseTransport | None) -> None:
        self._transport: Final = transport
        self._loop: Final = asyncio.get_running_loop()
        self._messages: Final[deque[str]] = deque()
        self._size = 0
        self._is_closed = False
        self._changed: Final = threading.Condition()
        self._work: Final = asyncio.Event()
        self._room: Final = asyncio.Event()
        self._room.set()

    @property
    def is_closed(self) -> bool:
        """Whether the client has gone."""
        return self._is_closed

    def put(self, message: str) -> None:
        """Send a message soon; return at once.  Does nothing if the client has gone."""
        with self._changed:
            if self._is_closed:
                return
            self._messages.append(message)
            self._size += len(message)
            is_too_slow = self._size > LIMIT
        self._call(self.drop if is_too_slow else self._update)

    def put_and_wait(self, message: str) -> None:
        """Wait for room, then send a message soon; raises BrokenPipeError if the client has gone.

        For other threads than the event loop's.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._size <= ROOM)
        if self._is_closed:
            raise BrokenPipeError("the client has gone")
        self.put(message)

    async def wait_for_room(self) -> None:
        """Wait until the client has read enough, or has gone."""
        await self._room.wait()

    async def run(self, response: web.WebSocketResponse) -> None:
        """Send messages until the client has gone or the task is cancelled."""
        try:
            while not self._is_closed:
                await self._work.wait()
                self._work.clear()
                while self._messages and not self._is_closed:
                    async with asyncio.timeout(STALL):
                        await response.send_str(self._messages[0])
                    self._sent()
        except (ClientError, OSError):  # it has gone, or reads nothing: TimeoutError is an OSError
            self.drop()

    async def flush(self) -> None:
        """Wait until everything is sent, or the client has gone."""
        while self._messages and not self._is_closed:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Forget what has not been sent; no thread waits any more."""
        with self._changed:
            self._is_closed = True
            self._messages.clear()
            self._size = 0
            self._changed.notify_all()
        self._call(self._update)

    def drop(self) -> None:
        """Do the same, and cut the connection without waiting for the client."""
        self.close()
        if isinstance(self._transport, asyncio.Transport):
            self._call(self._transport.abort)

    def _sent(self) -> None:
        """Note that the oldest message has been sent."""
        with self._changed:
            if self._messages:
                self._size -= len(self._messages.popleft())
            self._changed.notify_all()
        self._update()

    def _update(self) -> None:
        """Let the event loop see what has changed."""
        self._work.set()
        if self._is_closed or self._size <= ROOM:
            self._room.set()
        else:
            self._room.clear()

    def _call(self, step: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(step)
