"""The WebSocket of one client: accepted while there are seats, read and written message by message.

Messages come from any thread and are sent in order, within limits.  A client that reads too slowly is first held back:
no more messages are read from it, and a thread that answers it waits (`put_and_wait`).  It is dropped once too much
waits nevertheless, or nothing moves any more.

A client that sends too fast is held back in the same way (`Pace`), and what it sends is dealt with in small steps, so
that all clients have their turn.
"""

import asyncio
import contextlib
import re
import select
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterator
from types import SimpleNamespace
from typing import Any, Final
from weakref import WeakValueDictionary

from aiohttp import ClientError, WebSocketError, WSCloseCode, WSMsgType, web

from gtp_engine.base.errors import counted, problem
from gtp_engine.people.web.access import ADDRESS, ROLE, Pace, Role, by_address

ROOM: Final = 1 << 20
"""Characters that may wait before a client is held back: dozens of reports with ownership."""

LIMIT: Final = 8 << 20
"""Characters that may wait before a client is dropped: an analysis that has begun reports while it is held back."""

STALL: Final = 20.0
"""Seconds after which a client that reads nothing is dropped."""

MAX_MESSAGE: Final = 1 << 20
"""Longest message of a client, bytes: a query with a long game takes about 10 kB."""

MAX_SOCKETS: Final = 192
"""WebSockets at once; a person uses one or two."""

MESSAGES: Final = (1000.0, 100.0)
"""Messages of a client at once, and in a second when these are used up: a controller sends a game move by move."""

MOST_VALUES: Final = 20_000
"""Commas in what is parsed as JSON: a megabyte of numbers takes a tenth of a second, in which no other client is heard.
A game of 1,000 moves has 2,000."""

LINES: Final = (10_000.0, 500.0)
"""The same of lines, of which a message may hold many."""

CHARACTERS: Final = (4.0 * MAX_MESSAGE, 2.0**18)
"""The same in bytes."""

BULK: Final = (8.0 * MAX_MESSAGE, 1.0 * MAX_MESSAGE)
SMALL: Final = 1 << 14
"""The same for all clients at one address, of long messages and whole games; what has at most SMALL bytes, as moves and
most games do, does not count.  Fifty clients that begin with four megabytes each kept others waiting for seconds."""

SHARES: Final = {Role.WATCH: 0.5, Role.PLAY: 0.75, Role.COMPUTE: 1.0}
"""Share of the seats that clients of a role leave free for others at most."""

TURN: Final = 0.005
"""Seconds for the lines of a message, after which other clients have their turn."""

GONE_CHECK: Final = 0.2
"""Seconds between two checks whether a client that is held back has gone."""

CHECK: Final = 0.05
"""Seconds between two checks whether a queue that was full has room, or the last move, position or line is done."""

MOST_FRAGMENTS: Final = 64
"""Frames of a message: a browser sends a megabyte in 8 or 16, and a message of many takes as long as so many ones."""

READ: Final = 1 << 14
"""Bytes that are read of a client before others have their turn: 2,700 messages without content, some milliseconds.
Without encryption: with it, asyncio reads up to 256 kB."""

_CONTROL: Final = 8
"""The first code of frames that may stand between those of a message, such as pings (RFC 6455, 5.5)."""

_HEAD: Final = re.compile(rb"(.)(?:([\x80-\xfd])|\xfe(..)|\xff(.{8})).{4}", re.DOTALL)
"""What a masked frame begins with: its code, its length in a byte or in those after it, the mask."""

_PONG: Final = b"\x8a\x00"

_LINE: Final = re.compile(rb"([^\r\n]+)(?:\r\n|\r|\n)?|[\r\n]+")
"""A line, or line ends that no line precedes: together one empty line, which ends an analysis by GTP."""

HEARTBEAT: Final = 20.0
"""Seconds of silence after which the other side is asked whether it is there; half as long it has to answer."""

END_WAIT: Final = 2.0
"""Seconds for the closing handshake."""

NO_MORE: Final = b""
"""The binary message of a client that sends no more, but waits for what it is still to receive."""


def _hung_up(transport: asyncio.BaseTransport) -> bool:
    """Return whether the client has closed a connection: asyncio does not see it where nothing more is read for now."""
    own = transport.get_extra_info("socket")
    if sys.platform != "linux" or own is None or own.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(own.fileno(), select.POLLRDHUP)
    return bool(poll.poll(0))


class Locks:
    """A lock for each key, as long as it is held or awaited."""

    def __init__(self) -> None:
        self._locks: Final[WeakValueDictionary[Hashable, asyncio.Lock]] = WeakValueDictionary()

    def of(self, key: Hashable) -> asyncio.Lock:
        """Return the lock of a key."""
        lock = self._locks[key] = self._locks.get(key) or asyncio.Lock()
        return lock


class Seats:
    """A limited number of things of one kind at once, and of an address; `what` names one of them.

    Those who may do less than others leave some of them free.
    """

    def __init__(self, count: int, of_address: int, what: str) -> None:
        self._count: Final = count
        self._of_address: Final = of_address
        self._what: Final = what
        self._addresses: Final[Counter[str]] = Counter()
        self.taken = 0
        self.sockets: Final[set[web.WebSocketResponse]] = set()
        """The open WebSockets on these seats."""
        self.bulk: Final = by_address(lambda: Pace(*BULK))

    @contextlib.contextmanager
    def taking_one(self, request: web.Request) -> Iterator[None]:
        """Hold a seat for the client in the `with` block; raises HTTPServiceUnavailable if none is free."""
        address = request[ADDRESS]
        if self.taken >= int(self._count * SHARES[request[ROLE]]):
            raise web.HTTPServiceUnavailable(text=f"There are already {counted(self.taken, self._what)}.\n")
        if self._addresses[address] >= self._of_address:
            place = f"{counted(self._of_address, self._what)} from your address"
            raise web.HTTPServiceUnavailable(text=f"There are already {place}.\n")
        self.taken += 1
        self._addresses[address] += 1
        try:
            yield
        finally:
            self.taken -= 1
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]


def too_many_values(text: bytes) -> str:
    """Return why a text is not parsed as JSON, "" if it is."""
    count = text.count(b",")
    return problem(f"{count:,} values in a message", expected=f"{MOST_VALUES:,} at most") if count > MOST_VALUES else ""


async def close_all(seats: Seats) -> None:
    """Tell every client that the server ends."""
    await asyncio.gather(*(_close(response, WSCloseCode.GOING_AWAY) for response in tuple(seats.sockets)))


async def _close(response: web.WebSocketResponse, code: int) -> None:
    with contextlib.suppress(OSError):
        async with asyncio.timeout(END_WAIT):
            await response.close(code=code)


class _SoundFrames:
    """Passes what a client sends on to aiohttp's `parser` as long as messages have at most `MOST_FRAGMENTS` frames.

    All have to be masked, as RFC 6455 (5.1) wants: so no page can have a browser send what a cache between takes for a
    request of its own.  The `queue` that the parser fills gets the error otherwise.
    """

    def __init__(self, parser: Any, queue: Any) -> None:
        self._parser: Final = parser
        self._queue: Final = queue
        self._begun = b""  # of a frame's head
        self._left = 0  # of a frame's content
        self._fragments = 0  # of a message that goes on

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Take what has come; return whether no more is wanted, and what was not taken."""
        if reason := self._fault(data):
            self._queue.set_exception(WebSocketError(WSCloseCode.PROTOCOL_ERROR, reason))
            return True, b""
        result: tuple[bool, bytes] = self._parser.feed_data(data)
        return result

    def _fault(self, data: bytes) -> str:
        """Return what is wrong with the frames that begin in the data, "" for nothing."""
        data, place = self._begun + data, self._left  # one of the two is nothing
        while place < len(data):
            if data[place + 1 : place + 2] and data[place + 1] < 0x80:
                return "a frame is not masked"
            if (head := _HEAD.match(data, place)) is None:
                break
            (code,) = head[1]
            if code & 0x0F < _CONTROL:
                self._fragments = 0 if code & 0x80 else self._fragments + 1
            if self._fragments >= MOST_FRAGMENTS:
                return f"a message has {MOST_FRAGMENTS} frames at most"
            length = head[2][0] & 0x7F if head[2] else int.from_bytes(head[3] or head[4], "big")
            place = head.end() + length
        self._begun, self._left = data[place:], max(0, place - len(data))
        return ""


class _Socket(web.WebSocketResponse):
    """A WebSocket that takes sound frames only, and says why it is closed after a message that is too long."""

    def _post_start(self, request: Any, protocol: str | None, writer: Any) -> None:
        """Begin to read, by a parser of ours before aiohttp's."""
        own = request.protocol
        request.transport.max_size = READ  # asyncio's: bytes of one call of recv

        def set_parser(parser: Any, **options: Any) -> None:
            own.set_parser(_SoundFrames(parser, self._reader), **options)

        masked = SimpleNamespace(set_parser=set_parser, keep_alive=own.keep_alive)
        super()._post_start(SimpleNamespace(_protocol=own, protocol=masked), protocol, writer)  # type: ignore[arg-type]

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        if code == WSCloseCode.MESSAGE_TOO_BIG:
            message = f"a message has {MAX_MESSAGE} bytes at most".encode()
        return await super().close(code=code, message=message, drain=drain)


class ClientSocket:
    """A WebSocket that a request has opened on one of the `seats`; made in the event loop, in which its coroutines run.

    What is sent to the client waits in order; the methods about that are for any thread.
    """

    def __init__(self, response: web.WebSocketResponse, request: web.Request, seats: Seats) -> None:
        self.response: Final = response
        self.address: Final = request[ADDRESS]
        self._transport: Final = request.transport
        self._loop: Final = asyncio.get_running_loop()
        self._bulk: Final = seats.bulk(self.address)
        self._messages: Final = Pace(*MESSAGES)
        self._lines: Final = Pace(*LINES)
        self._characters: Final = Pace(*CHARACTERS)
        self._waiting: Final[deque[str]] = deque()
        self._size = 0
        self.is_closed = False
        """Whether the client has gone."""
        self._asked = 0.0
        self._changed: Final = threading.Condition()
        self._work: Final = asyncio.Event()
        self._room: Final = asyncio.Event()
        self._room.set()

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the client's messages, text or binary, until it goes; then nothing more can be sent.

        A client that does not read what it is sent is not read either, nor one that has sent too much: what it has sent
        too fast is not followed any more once it has gone.
        """
        async for message in self.response:
            size = len(message.data) if isinstance(message.data, str | bytes) else 0  # else it is an error
            await self.wait_for_bulk(size)
            if self.is_closed:
                return
            if message.type is WSMsgType.TEXT:
                yield message.data.encode() or b"\n"  # an empty line; only a binary message can be NO_MORE
            elif message.type is WSMsgType.BINARY:
                yield message.data
            elif message.type is WSMsgType.PING:
                with contextlib.suppress(ClientError, OSError):
                    await self.response.pong(message.data)
            await self.pause(max(self._messages.delay(), self._characters.delay(size)))
            await self._room.wait()
            if self.is_closed:
                return
        self.shut()

    async def wait_for_bulk(self, size: int) -> None:
        """Wait until so many bytes more may come from this address, or be sent to it."""
        if size > SMALL and (delay := self._bulk.delay(size)):
            await self.pause(delay)

    async def lines(self) -> AsyncIterator[bytes | None]:
        """Yield the lines of messages, of empty ones in a row one, until the client goes; None if it sends no more."""
        async for message in self.messages():
            if message == NO_MORE:
                yield None
            end = time.monotonic() + TURN
            for found in _LINE.finditer(message):
                yield found[1] or b""
                delay = self._lines.delay()
                if delay or time.monotonic() > end:
                    await self.pause(delay)
                    end = time.monotonic() + TURN
                if self.is_closed:
                    break

    async def pause(self, seconds: float) -> None:
        """Wait, at least until others have had their turn; no longer once the client has gone."""
        is_held_back = seconds > 0.0
        while True:
            await asyncio.sleep(min(seconds, GONE_CHECK))
            seconds -= GONE_CHECK
            if is_held_back and self.is_lost():
                self.shut()
                return
            if seconds <= 0.0:
                return

    async def close(self) -> None:
        """Close the connection after everything has been sent."""
        while self._waiting and not self.is_closed:
            await asyncio.sleep(0.01)
        await _close(self.response, WSCloseCode.OK)

    def is_lost(self) -> bool:
        """Return whether the connection is closed, though what it had brought may not have been read.

        Where that fills the buffers of both sides, the close waits behind it.  So the client gets an unsolicited pong
        (RFC 6455, 5.5.3) now and then: a system whose program has closed the connection answers with a reset.
        """
        if (now := time.monotonic()) > self._asked + GONE_CHECK:
            self._asked = now
            self._call(self._ask)
        return self.is_closed or self._transport is None or self._transport.is_closing() or _hung_up(self._transport)

    def put(self, message: str) -> None:
        """Send a message soon; return at once.  Does nothing if the client has gone."""
        with self._changed:
            if self.is_closed:
                return
            self._waiting.append(message)
            self._size += len(message)
            is_too_slow = self._size > LIMIT
        self._call(self.drop if is_too_slow else self._update)

    def put_and_wait(self, message: str) -> None:
        """Wait for room, then send a message soon; raises BrokenPipeError if the client has gone.

        For other threads than the event loop's.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed or self._size <= ROOM)
        if self.is_closed:
            raise BrokenPipeError("the client has gone")
        self.put(message)

    async def send_all(self) -> None:
        """Send messages until the client has gone or the task is cancelled."""
        try:
            while not self.is_closed:
                await self._work.wait()
                self._work.clear()
                while self._waiting and not self.is_closed:
                    async with asyncio.timeout(STALL):
                        await self.response.send_str(self._waiting[0])
                    with self._changed:
                        if self._waiting:  # else the socket has been shut
                            self._size -= len(self._waiting.popleft())
                        self._changed.notify_all()
                    self._update()
        except (ClientError, OSError):  # it has gone, or reads nothing: TimeoutError is an OSError
            self.drop()

    def shut(self) -> None:
        """Forget what has not been sent; no thread waits any more."""
        with self._changed:
            self.is_closed = True
            self._waiting.clear()
            self._size = 0
            self._changed.notify_all()
        self._call(self._update)

    def drop(self) -> None:
        """Do the same, and cut the connection without waiting for the client."""
        self.shut()
        if isinstance(self._transport, asyncio.Transport):
            self._call(self._transport.abort)

    def _ask(self) -> None:
        if isinstance(self._transport, asyncio.WriteTransport) and not self._transport.is_closing():
            self._transport.write(_PONG)

    def _update(self) -> None:
        """Let the event loop see what has changed."""
        self._work.set()
        if self.is_closed or self._size <= ROOM:
            self._room.set()
        else:
            self._room.clear()

    def _call(self, step: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(step)


@contextlib.asynccontextmanager
async def accepted(request: web.Request, seats: Seats) -> AsyncIterator[ClientSocket]:
    """Accept the WebSocket of a request for the `async with` block; afterwards nothing more is sent.

    Raises HTTPServiceUnavailable if no seat is free, HTTPBadRequest for a request that is not a handshake.
    """
    with seats.taking_one(request):
        # Pings are answered by `messages`, at the pace of all messages.
        response = _Socket(max_msg_size=MAX_MESSAGE, heartbeat=HEARTBEAT, autoping=False, compress=False)
        try:
            await response.prepare(request)
        except ValueError:  # base64's, for a key that is not ASCII
            raise web.HTTPBadRequest(text="This is not a WebSocket handshake.\n") from None
        client = ClientSocket(response, request, seats)
        sender = asyncio.create_task(client.send_all())
        seats.sockets.add(response)
        try:
            yield client
        finally:
            seats.sockets.discard(response)
            client.shut()
            sender.cancel()


async def first_of(*coroutines: Coroutine[Any, Any, object]) -> None:
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
