"""What hostile clients do to a server, and how long a well-behaved one waits for the engine's moves meanwhile."""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import Any, NamedTuple

from aiohttp import ClientSession, ClientWebSocketResponse, TCPConnector, WSMsgType

QUICK = ("--search", "rave", "--visits", "20", "--threads", "1")
"""Options of an engine that needs a few milliseconds for a move."""

NEW = {"do": "new", "human": "B", "size": 9, "rules": "chinese", "komi": 7, "handicap": 0, "time": "none"}

KINDS = (
    "new", "load", "open", "hint", "play", "go", "save", "comment", "mark", "label", "stone", "turn", "try", "main",
    "delete", "information", "toggle_dead", "review", "stop_review", "review_file", "undo", "redo", "resign", "accept",
    "resume", "check_time", "games", "delete_game", "rename_game", "networks", "network", "openings", "problem",
    "check_answer", "no such kind",
)  # fmt: skip

COMMANDS = ("name", "boardsize 19", "clear_board", "genmove b", "final_score", "showboard", "no_such_command", "undo")


class Target(NamedTuple):
    """A server, and the game that the well-behaved client plays."""

    port: int
    token: str
    game: str
    clients: int = 10
    """Attackers at once, where an attack has no number of its own."""

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}?token={self.token}"


Attack = Callable[[Target], Coroutine[Any, Any, None]]


@contextlib.asynccontextmanager
async def raw(target: Target) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Yield a connection, which is cut off at the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


@contextlib.asynccontextmanager
async def upgraded(target: Target, path: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Yield a connection after the handshake of a WebSocket, on which frames are written byte by byte."""
    async with raw(target) as (reader, writer):
        writer.write(HEAD % (path[1:].encode(), target.token.encode()) + UPGRADE)
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        yield reader, writer


async def many(count: int, one: Callable[[int], Coroutine[Any, Any, None]]) -> None:
    """Let so many clients do the same for ever; each begins again when it is cut off."""

    async def repeat(number: int) -> None:
        while True:
            with contextlib.suppress(Exception):
                await one(number)
            await asyncio.sleep(0.05)

    await asyncio.gather(*(repeat(number) for number in range(count)))


def by_clients(one: Callable[[Target, int], Coroutine[Any, Any, None]], count: int | None = None) -> Attack:
    """Return the attack of so many clients, or as many as the target says, of which each has a number."""
    return lambda target: many(count or target.clients, lambda number: one(target, number))


def floods(path: str, messages: Callable[[Target], AsyncIterator[str | bytes]]) -> Attack:
    """Return clients that send messages as fast as they can, and read what they get."""

    async def flood(target: Target, _: int) -> None:
        async with ClientSession() as session, session.ws_connect(target.url(path)) as socket:

            async def read() -> None:
                async for _ in socket:
                    pass

            reading = asyncio.create_task(read())
            try:
                async for message in messages(target):
                    if isinstance(message, bytes):
                        await socket.send_bytes(message)
                    else:
                        await socket.send_str(message)
            finally:
                reading.cancel()

    return by_clients(flood)


def frames(path: str, data: bytes, *, again: bool = True) -> Attack:
    """Return clients that send the same bytes after the handshake again and again, or once, and read nothing."""

    async def send(target: Target, _: int) -> None:
        async with upgraded(target, path) as (_reader, writer):
            for _number in itertools.count() if again else range(1):
                writer.write(data)
                await writer.drain()
            await asyncio.sleep(0.01)

    return by_clients(send)


def connections(count: int, sent: bytes, *, again: bytes = b"") -> Attack:
    """Return so many connections that send something, and then a piece of it now and then."""

    async def connect(target: Target, _: int) -> None:
        async with raw(target) as (reader, writer):
            writer.write(sent)
            while not reader.at_eof():
                if again:
                    writer.write(again)
                    await writer.drain()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await reader.read(1000)

    return by_clients(connect, count)


def encoded(**message: Any) -> str:
    return json.dumps(message)


async def pages(target: Target) -> AsyncIterator[str]:
    """Yield requests of all kinds, some of them with nonsense."""
    drawn = random.Random(1)
    yield encoded(**NEW)
    junk: list[Any] = ["", "E5", -1, 10**30, None, [], {}, "x" * 1000, True, 0]
    for number in itertools.count():
        fields = {name: drawn.choice(junk) for name in ("vertex", "node", "comment", "mark", "label", "format")}
        if number % 2:
            fields = {"vertex": "E5", "node": 1, "comment": "c", "mark": "circle", "label": "a", "format": "html"}
        kind = drawn.choice(KINDS)
        yield encoded(do=kind, **fields)


async def disturbances(target: Target) -> AsyncIterator[str]:
    """Yield requests about the game of the other client that are not allowed, or change no move of it."""
    yield encoded(do="open", id=target.game)
    while True:
        yield encoded(do="play", vertex="Z99")
        yield encoded(do="comment", node=0, comment="c")
        yield encoded(do="go", node=10**6)
        yield encoded(do="hint")
        yield encoded(do="check_time")


def records(data: bytes) -> Attack:
    return floods("/play", repeated(encoded(do="load", file=base64.b64encode(data).decode())))


async def queries(target: Target) -> AsyncIterator[str]:
    for number in itertools.count():
        yield encoded(
            id=str(number), moves=[], rules="chinese", komi=7, boardXSize=19, boardYSize=19, maxVisits=10_000_000,
            reportDuringSearchEvery=0.01, includeOwnership=True,
        )  # fmt: skip


def repeated(*messages: str | bytes) -> Callable[[Target], AsyncIterator[str | bytes]]:
    async def generate(target: Target) -> AsyncIterator[str | bytes]:
        for message in itertools.cycle(messages):
            yield message

    return generate


async def read_slowly(target: Target, number: int) -> None:
    """Ask for many reports, or for the page again and again, and read nothing."""
    if number % 2:
        async with raw(target) as (_reader, writer):
            writer.write((HEAD % (b"app.js", target.token.encode()) + b"\r\n") * 1000)
            await asyncio.sleep(60)
    else:
        async with upgraded(target, "/analysis") as (_reader, writer):
            async for query in queries(target):
                writer.write(frame(query.encode()))
                if writer.transport.get_write_buffer_size() > 1 << 20:
                    break
            await asyncio.sleep(60)


async def send_encoded_body(target: Target, number: int) -> None:
    """Send a body whose encodings are none, several, or another one than gzip, as a whole or in chunks."""
    zeros = packed_zeros(100)
    kinds = [*itertools.product((b"deflate", b"br", b"zstd", b"gzip, gzip", b"x" * 8000), (False, True))]
    kind, is_chunked = kinds[number % len(kinds)]
    length = b"Transfer-Encoding: chunked" if is_chunked else b"Content-Length: %d" % len(zeros)
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(zeros), zeros) if is_chunked else zeros
    async with raw(target) as (reader, writer):
        writer.write(HEAD % (b"", b"wrong") + b"Content-Encoding: %s\r\n%s\r\n\r\n" % (kind, length) + body)
        await reader.read()


async def send_unpacking_messages(target: Target, number: int) -> None:
    """Ask for compressed messages, and send such that are short."""
    data, path = GIGABYTE[10:][: MEGABYTE - 100], (b"play", b"analysis", b"gtp")[number % 3]
    async with raw(target) as (_reader, writer):
        offer = b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=15\r\n"
        writer.write(HEAD % (path, target.token.encode()) + offer + UPGRADE + frame(data, 0xC2) * 10)
        await writer.drain()
        await asyncio.sleep(0.5)


async def short_records(target: Target) -> AsyncIterator[str]:
    """Load records of 16 kB: whole boards set up and marked, moves, variations in variations, games cut off."""
    units = (
        b";AB[aa:yy]AE[aa:yy]", b";TR[aa:yy]LB[aa:1]", b";B[aa];W[bb]", b"(;B[aa](;W[bb]", b";SZ[9]PL[W]", b"(;C[x\\",
    )  # fmt: skip
    for unit in itertools.cycle(units):
        text = b"(;SZ[25]" + unit * (15_900 // len(unit))
        yield encoded(do="load", file=base64.b64encode(text).decode())


async def long_queries(target: Target) -> AsyncIterator[str]:
    moves = [["BW"[number % 2], f"({number % 25},{number * 7 % 25})"] for number in range(20_000)]
    stones = [["B", f"({number % 25},{number // 25})"] for number in range(0, 625, 2)]
    for number in itertools.count():
        size = (19, 25)[number % 2]
        turns = [*range(20_000)] if number % 4 < 2 else [10**6, -1]
        yield encoded(
            id=str(number), moves=moves[: (20_000, 300)[number % 3 == 0]], initialStones=stones[:: 1 + number % 7],
            rules="chinese", komi=7, boardXSize=size, boardYSize=size, analyzeTurns=turns, maxVisits=5,
            includeOwnership=True, includePolicy=True,
        )  # fmt: skip


def requests(path: bytes, headers: bytes, *, count: int = 20) -> Attack:
    """Return connections with the token that ask for the same a hundred times at once."""
    return lambda target: connections(count, (HEAD % (path, target.token.encode()) + headers + b"\r\n") * 100)(target)


async def open_long_games(target: Target, _: int) -> None:
    """Load a game of 700 kB, and open it again and again."""
    record = base64.b64encode(b"(;SZ[9]" + b";C[%s]" % (b"x" * 700) * 1000 + b")").decode()
    async with ClientSession() as session, session.ws_connect(target.url("/play"), max_msg_size=0) as socket:
        await socket.send_str(encoded(do="load", file=record))
        async for message in socket:
            if (found := message.json())["type"] == "game":
                await socket.send_str(encoded(do="open", id=found["id"]))


async def long_settings(target: Target) -> AsyncIterator[str]:
    query = json.loads(QUERY)
    long = "x" * 1_000_000
    moves = [{"player": "B", "moves": ["D4"] * 5000, "untilDepth": 5}] * 3
    settings = {f"k{number}": number for number in range(19_000)}
    for each in itertools.cycle(({"overrideSettings": settings}, {"avoidMoves": moves}, {"rules": long}, {"id": long})):
        yield encoded(**query | each)


async def guess_tokens(target: Target, number: int) -> None:
    async with ClientSession() as session:
        for each in itertools.count():
            async with session.get(f"http://127.0.0.1:{target.port}/?token=wrong-{number}-{each}"):
                pass


MEGABYTE = 1 << 20
MASK = b"\0\0\0\0"


def packed_zeros(count: int) -> bytes:
    """Return so many megabytes of zeros as gzip has them, without the checksum at the end."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.flush(zlib.Z_FULL_FLUSH)
    megabyte = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)  # knows nothing of what is before it
    return head + megabyte * count


def frame(data: bytes, kind: int = 0x81, mask: bytes = MASK) -> bytes:
    """Return a message as the frame that a client sends."""
    size = len(data)
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2) if size < 2**16 else b"\x7f" + size.to_bytes(8)
    return bytes([kind, length[0] | 0x80 * bool(mask)]) + length[1:] + mask + data


# --- mutations ---

RECORD = (
    b"(;GM[1]SZ[9]KM[7]PB[Ann]PW[Bo]AB[cc:dd][gg]AW[ee]PL[W];W[ff]C[see [1\\] here];B[ef](;W[])(;W[fe]LB[aa:1]TR[bb]))"
)
QUERY = b'{"id":"a","moves":[["B","E5"]],"rules":"chinese","komi":7,"boardXSize":9,"boardYSize":9,"maxVisits":2}'
HEAD = b"GET /%s?token=%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
REST = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
SIGNS = (
    b"\0", b"\r\n", b"[", b"]", b"(", b";", b"\\", b'"', b"{", b",", b"%0a", b"\xff", b"9" * 30, b"AB[aa:ss]", b"\x81",
)  # fmt: skip


SEEDS = (1, 100_646, 100_825)
"""First seeds of mutations that are sent in the tests; those that found something belong here."""


def valid_inputs(target: Target) -> list[tuple[bytes, bytes]]:
    """Return what a connection begins with, and what follows, of each kind."""
    token = target.token.encode()
    starts = {path: HEAD % (path, token) + UPGRADE for path in (b"play", b"analysis", b"gtp")}
    requests = [encoded(**NEW), encoded(do="play", vertex="E5"), encoded(do="comment", node=0, comment="c")]
    loads = [encoded(do="load", file=base64.b64encode(RECORD).decode())]
    return [
        (b"", HEAD % (b"", token) + b"\r\n"),
        (b"", HEAD % (b"app.js", b"wrong") + b"Cookie: a=b\r\nAccept-Encoding: gzip\r\n\r\n"),
        (b"", HEAD % (b"invitation", token) + b"Origin: http://127.0.0.1\r\nContent-Length: 3\r\n\r\nabc"),
        (b"", starts[b"play"]),
        *((starts[b"play"], frame(text.encode())) for text in (*requests, *loads)),
        (starts[b"analysis"], frame(QUERY) * 2),
        (starts[b"gtp"], frame(b"boardsize 9\nplay b e5\ngenmove w\nshowboard\n")),
    ]


def mutated(data: bytes, drawn: random.Random) -> bytes:
    """Return data in which some pieces are changed, left out, doubled or put in."""
    for _ in range(drawn.choice((0, 1, 1, 2, 4, 8))):
        place = drawn.randrange(len(data) + 1)
        end = min(len(data), place + drawn.choice((1, 2, 8, 100)))
        piece = drawn.choice((b"", drawn.randbytes(1), drawn.choice(SIGNS), data[place:end] * drawn.choice((2, 50))))
        data = data[: drawn.choice((place, end))] + piece + data[end:]
    return data


def mutation(target: Target, seed: int) -> bytes:
    """Return what the connection with this seed sends; a record is mutated before it is put into its message."""
    drawn = random.Random(seed)
    if drawn.random() < 0.3:
        text = encoded(do="load", file=base64.b64encode(mutated(RECORD, drawn) * drawn.choice((1, 1, 30))).decode())
        return HEAD % (b"play", target.token.encode()) + UPGRADE + frame(text.encode())
    start, rest = drawn.choice(valid_inputs(target))
    return start + mutated(rest, drawn)


async def send_mutation(target: Target, seed: int) -> None:
    """Send a mutation over a connection of its own, and read what is answered for a moment."""
    with contextlib.suppress(OSError):
        async with raw(target) as (reader, writer):
            writer.write(mutation(target, seed))
            async with asyncio.timeout(0.2):  # TimeoutError is an OSError
                while await reader.read(1 << 16):
                    pass


def mutations(first: int) -> Attack:
    """Return clients that send mutations, those of this seed and the seeds after it."""
    seeds = itertools.count(first)
    return by_clients(lambda target, _: send_mutation(target, next(seeds)))


GIGABYTE = packed_zeros(1000)
COOKIES = b"".join(b"Cookie: %s\r\n" % b"; ".join(b"c%d=%d" % (n, m) for m in range(700)) for n in range(90))

HUGE_NUMBERS = (
    '{"do":"play","node":' + "9" * 1_000_000 + "}", '{"do":"comment","node":1e999,"comment":""}',
    '{"do":"comment","node":NaN,"comment":""}', '{"do":' + '{"a":' * 200_000,
    '{"do":"comment","node":0,"comment":"\\ud800"}',
)  # fmt: skip
LONG_NAMES = (
    encoded(do="rename_game", id="../../etc", title="x" * 900_000), encoded(do="open", id="x" * 900_000),
    encoded(do="games", text="zz", count=5000), encoded(**NEW | {"rules": "x" * 500_000, "time": "0" * 500_000}),
    encoded(do="comment", node=0, comment="c" * 900_000),
)  # fmt: skip
LONG_LINES = (
    "kata-set-rules " + "{" * 60_000 + "\n", "play b " + "9" * 60_000 + "\n", "kata-analyze b 1\n",
    "set_free_handicap " + "A1 " * 20_000 + "\n", "time_settings 9e999 1 1\n", "1" * 65_000 + " name\n",
)  # fmt: skip

ATTACKS: dict[str, Attack] = {
    "nothing": lambda target: asyncio.sleep(60),
    "1,000 idle connections": connections(1000, b""),
    "300 requests, byte by byte": connections(300, b"GET / HTTP/1.1\r\n", again=b"X"),
    "requests that are none": connections(50, b"NONSENSE\r\n\r\n" * 100),
    "requests without a token": connections(50, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000),
    "wrong tokens": by_clients(guess_tokens, 20),
    "clients that read nothing": by_clients(read_slowly, 20),
    "a megabyte of line ends to /gtp": floods("/gtp", repeated(b"\n" * MEGABYTE)),
    "GTP commands of all kinds": floods("/gtp", repeated("\n".join(COMMANDS) + "\n")),
    "a megabyte of line ends to /analysis": floods("/analysis", repeated(b"\n" * MEGABYTE)),
    "queries for ten million visits": floods("/analysis", queries),
    "malformed queries": floods("/analysis", repeated("{}\n" * 10_000, "[" * 100_000, '{"id":"a","moves":7}')),
    "requests of pages of all kinds": floods("/play", pages),
    "requests of pages about the same game": floods("/play", disturbances),
    "requests of pages that are none": floods("/play", repeated("{}", "[" * MEGABYTE, '"', "7")),
    "new games": floods("/play", repeated(encoded(**NEW))),
    "records of 60,000 variations": records(b"(;SZ[19]" + b"(;B[dd])" * 60_000 + b")"),
    "records of whole boards set up": records(b"(;SZ[25]" + b";AB[aa:yy]AE[aa:yy]" * 3000 + b")"),
    "records of boards set up after moves": records(b"(;SZ[25];B[aa]" + b";AB[aa:yx]" + b";AW[yy];AE[yy]" * 490 + b")"),
    "records of 490,000 nodes": records(b"(;SZ[9]" + b";" * 490_000 + b")"),
    "bodies that unpack to a gigabyte": connections(
        5, b"GET /" + REST + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(GIGABYTE), GIGABYTE)
    ),
    "bodies in other encodings": by_clients(send_encoded_body),
    "as many headers and cookies as are read": connections(20, (b"GET /" + REST + COOKIES + b"\r\n") * 10),
    "slow bodies": connections(300, b"POST /" + REST + b"Content-Length: 1000000\r\n\r\n", again=b"X"),
    "extensions of chunks": connections(
        20, b"POST /" + REST + b"Transfer-Encoding: chunked\r\n\r\n", again=(b"1;x=" + b"y" * 7000 + b"\r\nz\r\n") * 100
    ),
    "paths that go up": connections(20, (b"GET /" + b"%2525/../" * 850 + REST + b"\r\n") * 100),
    "tags of what is known": requests(b"app.js", (b"If-None-Match: " + b'"a",' * 1900 + b"\r\n") * 90),
    "long tokens": requests(b"", b"Authorization: Bearer " + b"x" * 8000 + b"\r\n"),
    "figures": requests(b"metrics", b""),
    "texts of the page": requests(b"texts-de.json", b"Cookie: x=y\r\n", count=50),
    "addresses of 8,000 parameters": connections(20, HEAD % (b"", b"a&" * 3900) + b"\r\n", again=b"\r\n"),
    "records that are read in a thread": floods("/play", short_records),
    "records of long texts": records(b"(;SZ[9]" + b";C[%s]" % (b"[" * 25_000) * 25 + b")"),
    "queries about each turn of long games": floods("/analysis", long_queries),
    "games opened again": by_clients(open_long_games),
    "huge numbers": floods("/play", repeated(*HUGE_NUMBERS)),
    "long names": floods("/play", repeated(*LONG_NAMES)),
    "long settings": floods("/analysis", long_settings),
    "long lines of GTP": floods("/gtp", repeated(*LONG_LINES)),
    "halves of messages": frames("/play", frame(b"x" * 900_000)[:500_000], again=False),
    "engines that no one waits for": frames("/gtp", frame(b"boardsize 19\ngenmove b\n"), again=False),
    "queries that no one waits for": frames("/analysis", frame(QUERY), again=False),
    "messages that unpack to a gigabyte": by_clients(send_unpacking_messages),
    "lines forged in the log": connections(50, b"GET /%0arequest:%0a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 100),
    "frames without a mask": frames("/play", b"\x81\x02{}" * 10_000),
    "compressed frames": frames("/play", frame(packed_zeros(1)[:1000], 0xC1) * 100),
    "mutations": mutations(1),
    "pings": frames("/play", (b"\x89\x80" + MASK) * 10_000),
    "messages without content": frames("/play", (b"\x81\x80" + MASK) * 10_000),
    "fragments without end": frames("/play", b"\x01\x80" + MASK + (b"\x00\x80" + MASK) * 10_000),
    "frames of 2**62 bytes": frames("/play", b"\x81\xff" + (2**62).to_bytes(8) + MASK + b"x" * MEGABYTE),
    "malformed frames": frames("/play", os.urandom(1000)),
}


async def attack(target: Target, names: list[str]) -> None:
    """Attack a server in several ways at once, for ever."""
    await asyncio.gather(*(ATTACKS[name](target) for name in names))


class GoodClient:
    """Plays a game; `begin` begins a new one."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self.game = ""

    async def begin(self) -> float:
        """Begin a new game; return how many seconds that took."""
        started = time.monotonic()
        await self._socket.send_json(NEW)
        self.game = (await self._next(lambda game: game["phase"] == "playing" and game["moves"] == []))["id"]
        return time.monotonic() - started

    async def seconds_of_moves(self, duration: float) -> list[float]:
        """Play for so long, at least three moves; return the seconds from each move to the engine's one."""
        found = []
        end = time.monotonic() + duration
        while time.monotonic() < end or len(found) < 3:
            started = time.monotonic()
            await self._socket.send_json({"do": "play", "vertex": "pass"})
            await self._next(
                lambda game: game["moves"] != [] and not game["thinking"] and game["moves"][-1][0] == "white"
            )
            found.append(time.monotonic() - started)
            await self._socket.send_json({"do": "undo"})
            await self._next(lambda game: game["moves"] == [] and not game["thinking"])
        return found

    async def play(self, vertex: str) -> dict[str, Any]:
        """Play a move and wait for the engine's; return the game."""
        await self._socket.send_json({"do": "play", "vertex": vertex})
        return await self._next(lambda game: not game["thinking"] and len(game["moves"]) % 2 == 0)

    async def _next(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            async with asyncio.timeout(120):
                message = await self._socket.receive()
            assert message.type is WSMsgType.TEXT, f"the connection was lost: {message}"
            data = message.json()
            if data["type"] == "game" and condition(data):
                return data


@contextlib.asynccontextmanager
async def playing(port: int, token: str) -> AsyncIterator[GoodClient]:
    """Yield a client that plays."""
    url = Target(port, token, "").url("/play")
    own = None if sys.platform == "darwin" else TCPConnector(local_addr=("127.0.0.2", 0))  # limits are by address
    async with ClientSession(connector=own) as session, session.ws_connect(url, max_msg_size=0) as socket:
        client = GoodClient(socket)
        await client.begin()
        yield client


async def seconds_under(
    port: int, token: str, attacks: list[list[str]], duration: float, clients: int = 10
) -> AsyncIterator[tuple[list[str], list[float], float]]:
    """Yield how long a well-behaved client waits for each move and for a new game while another process attacks.

    That attacks the server so or so.
    """
    folder = os.path.dirname(os.path.dirname(__file__))
    async with ClientSession() as attacker:  # whose token is known as right there, however many wrong ones follow
        assert (await attacker.get(Target(port, token, "").url("/metrics"))).status == 200
    async with playing(port, token) as client:
        for names in attacks:
            target = Target(port, token, client.game, clients)
            code = f"import asyncio; from web.attacks import *; asyncio.run(attack({target!r}, {names!r}))"
            attacker = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=folder)
            try:
                await asyncio.sleep(min(1.0, duration))
                yield names, await client.seconds_of_moves(duration), await client.begin()
            finally:
                attacker.kill()
                await attacker.wait()


@contextlib.contextmanager
def server(token: str, options: Sequence[str] = QUICK) -> Iterator[tuple[int, "subprocess.Popen[str]"]]:
    """Yield the port and the process of a server whose engine needs a few milliseconds for a move."""
    command = [sys.executable, "-m", "gtp_engine", "serve", "--port", "0", *options]
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "log"), "w+", encoding="utf-8") as log:
        environment = {**os.environ, "TENGEN_TOKEN": token, "TENGEN_DATA_DIR": folder}
        process = subprocess.Popen(command, env=environment, stderr=log, encoding="utf-8")
        try:
            while (found := re.search(r"http://127\.0\.0\.1:(\d+)/", _text_of(log.name))) is None:
                assert process.poll() is None, _text_of(log.name)
                time.sleep(0.05)
            yield int(found[1]), process
            assert process.poll() is None, "the server has ended"
            assert "Traceback" not in _text_of(log.name), _text_of(log.name)
        finally:
            process.terminate()
            process.wait(60)


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
