"""KataGo's analysis protocol over WebSockets: what a client gets, and what it cannot do to others."""

import asyncio
import contextlib
import time
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType
from analysis import transcripts
from analysis.client import query
from busy_machine import bound, require_once
from web.attacks import HEAD, UPGRADE, Target, frame, upgraded
from web.serving import TOKEN, Client, FakeSource, connections, run, serving, two_at, until

from gtp_engine.people.web import client_socket, protocol_sockets, web_process
from gtp_engine.people.web.access import Role, Tokens
from gtp_engine.people.web.server_settings import PER_ADDRESS
from gtp_engine.protocols.analysis.server import AnalysisServer

ENDLESS = 10_000_000


async def answers(socket: ClientWebSocketResponse, count: int) -> list[dict[str, Any]]:
    return [await socket.receive_json() for _ in range(count)]


@pytest.mark.parametrize(
    "name", sorted({path.stem for path in transcripts.FOLDER.glob("*.txt")}.difference(transcripts.ON_STDOUT_ONLY))
)
async def test_transcript(name: str) -> None:
    """The same as on stdout."""
    async with serving() as client, client.ws_connect("/analysis") as socket:
        await transcripts.replay(name, socket.send_str, socket.receive_str)


async def test_messages_hold_lines_and_an_empty_one_is_not_the_end() -> None:
    async with serving() as client, client.ws_connect("/analysis") as socket:
        await socket.send_str("")
        await socket.send_bytes(b'{"id":"v","action":"query_version"}\n{"id":"m","action":"query_models"}\n')
        assert {answer["id"] for answer in await answers(socket, 2)} == {"v", "m"}


async def test_warnings_come_with_the_result() -> None:
    """KaTrain's remote engine takes the first message about a query that is no error for its result."""
    async with serving() as client, client.ws_connect("/analysis") as socket:
        await socket.send_json(query(maxVisits=7, nonsense=1, overrideSettings={"noSuchSetting": 1}))
        (answer,) = await answers(socket, 1)
        await socket.send_json(query(maxVisits=8))
        assert "warning" not in (await answers(socket, 1))[0], "it was about the first query of this name"
    assert answer["rootInfo"]["visits"] == 7
    assert "nonsense" in answer["warning"]
    assert "noSuchSetting" in answer["warning"]


async def test_clients_with_the_same_ids_do_not_disturb_each_other() -> None:
    async with two_at("/analysis", FakeSource(0.001)) as (_, one, other):
        await one.send_json(query(maxVisits=ENDLESS))
        await other.send_json(query(maxVisits=20))
        assert (await answers(other, 1))[0]["rootInfo"]["visits"] == 20
        await other.send_json({"id": "t", "action": "terminate_all"})
        assert (await answers(other, 1))[0]["id"] == "t"
        with pytest.raises(TimeoutError):
            await one.receive(timeout=0.1)
        await one.send_json({"id": "t", "action": "terminate", "terminateId": "q"})
        assert {answer["id"] for answer in await answers(one, 2)} == {"q", "t"}


def test_a_client_that_goes_away_frees_its_search() -> None:
    async def seconds() -> float:
        source = FakeSource(0.001)
        async with serving(source) as client:
            async with client.ws_connect("/analysis") as socket:
                await socket.send_json(query(maxVisits=ENDLESS))
                await until(lambda: source.opened and source.opened[0].visits > 5)
            return await until(lambda: source.opened[0].visits == 0)  # cleared for the next one

    require_once(lambda: run(seconds), below=1)


async def test_a_client_that_sends_no_more_is_answered_first() -> None:
    async with serving(FakeSource(0.001)) as client, client.ws_connect("/analysis") as socket:
        await socket.send_json(query(maxVisits=50))
        await socket.send_bytes(b"")
        assert (await answers(socket, 1))[0]["rootInfo"]["visits"] == 50
        assert (await socket.receive()).type is WSMsgType.CLOSE
        assert socket.close_code == 1000


async def test_too_many_positions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_sockets, "MAX_POSITIONS", 3)
    async with serving(FakeSource(0.001)) as client, client.ws_connect("/analysis") as socket:
        await socket.send_json(query(moves=[["B", "E5"]], analyzeTurns=[0, 1], maxVisits=ENDLESS))
        await socket.send_json(query(id="third", maxVisits=ENDLESS))
        await socket.send_json(query(id="more"))
        answer = (await answers(socket, 1))[0]
    assert (answer["id"], answer["error"]) == ("more", "4 positions at once: expected 3 at most")


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x81\xff" + (10 << 20).to_bytes(8) + b"\0\0\0\0{", 1009),  # the beginning of 10 MB
        (b"\xc1\x80\0\0\0\0", 1002),  # a reserved bit
        (b"\x83\x80\0\0\0\0", 1002),  # an unknown opcode
        (b"\x81\x81\0\0\0\0\xff", 1007),  # text that is not UTF-8
        (b"\x89\xfe\0\x80\0\0\0\0" + b"x" * 128, 1002),  # a long ping
        (b"\x80\x81\0\0\0\0x", 1002),  # the end of a message without a beginning
        (b"\x81\x01x", 1002),  # no mask
        (b"\x89\x80\0\0\0\0\x81\x7e\0\x80" + b"x" * 128, 1002),  # no mask in the second frame
    ],
)
async def test_malformed_frames_close_the_connection(frame: bytes, code: int) -> None:
    async with serving() as client, raw_socket(client) as (reader, writer):
        writer.write(frame)
        header = await reader.readexactly(4)
        assert (header[0], int.from_bytes(header[2:])) == (0x88, code)


async def test_a_handshake_that_is_no_text_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    """Each left a traceback: seeds of `web.attacks.mutation` found it."""
    async with serving() as client:
        for end in (b"websocket", b"13", b"=="):
            reader, writer = await asyncio.open_connection(client.host, client.port)
            writer.write(HEAD % (b"analysis", b"") + UPGRADE.replace(end + b"\r\n", end + b"\x81\r\n"))
            assert b" 400 " in await reader.readline(), end
            writer.close()
    assert caplog.records == []


def test_masks_are_found_however_frames_come_in_pieces() -> None:
    whole = b"".join(frame(bytes(size)) for size in (0, 125, 126, 70_000))
    text, parser = whole + frame(b"{}", mask=b""), SimpleNamespace(feed_data=lambda data: (False, b""))
    for step in (1, 2, 5, 100, 10_000):
        masked = client_socket._SoundFrames(parser, SimpleNamespace(set_exception=print))
        end = next(place for place in range(0, len(text), step) if masked.feed_data(text[place : place + step])[0])
        assert end == (len(whole) + 1) // step * step, "a head of two bytes says it"


async def test_a_message_comes_in_some_frames_but_not_in_thousands() -> None:
    """Fifty clients that sent messages byte by byte kept the others waiting for ten seconds."""
    first, middle, last = b"\x01\x80\0\0\0\0", b"\x00\x80\0\0\0\0", b"\x80\x81\0\0\0\0{"
    most = first + middle * (client_socket.MOST_FRAGMENTS - 2) + last
    async with serving() as client, raw_socket(client) as (reader, writer):
        writer.write(most * 2)
        for _ in range(2):
            assert b"error" in await reader.readuntil(b"}")
        pong = b"\x8a\x80\0\0\0\0"
        writer.write(first + (middle + pong) * client_socket.MOST_FRAGMENTS)
        assert await reader.read() == b"\x88\x02\x03\xea", "a protocol error"


class LongAnswers(FakeSource):
    """Answers `query_models` with a million characters, and counts how often."""

    calls = 0

    def models(self) -> list[dict[str, Any]]:
        self.calls += 1
        return [{"name": "x" * 1_000_000}]


ASKING = b'{"id":"m","action":"query_models"}\n'


@pytest.mark.parametrize(("sent", "stall", "most"), [(frame(ASKING) * 100, 0.3, 50), (frame(ASKING * 100), 20.0, 100)])
async def test_a_client_that_asks_for_more_than_it_reads_is_not_read_either_and_is_dropped_in_the_end(
    sent: bytes, stall: float, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_socket, "STALL", bound(stall))
    source = LongAnswers()
    async with serving(source) as client:
        async with raw_socket(client) as (_, writer):
            writer.write(sent)
            await until(lambda: not connections(client))
        assert 1 <= source.calls < most


async def test_there_are_not_more_sockets_than_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_process, "MAX_SOCKETS", PER_ADDRESS + 2)
    async with serving(proxy="127.0.0.1") as client:
        sockets = []
        for last, seats in ((1, f"{PER_ADDRESS} connections from your address"), (2, f"{PER_ADDRESS + 2} connections")):
            address = {"X-Forwarded-For": f"192.0.2.{last}"}
            while (response := await client.get("/analysis", headers=address)).status != 503:
                sockets.append(await client.ws_connect("/analysis", headers=address))
            assert await response.text() == f"There are already {seats}.\n"
        await sockets[0].close()
        while (await client.get("/analysis")).status == 503:
            await asyncio.sleep(0.01)
        async with client.ws_connect("/analysis") as socket:
            await socket.send_json(query(maxVisits=3))
            assert (await answers(socket, 1))[0]["rootInfo"]["visits"] == 3
        await asyncio.gather(*(socket.close() for socket in sockets))


async def test_those_who_may_do_less_leave_seats_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link for watching was enough to keep out those who play."""
    monkeypatch.setattr(web_process, "MAX_SOCKETS", 4)
    watch, play = (Tokens(TOKEN).for_role(role) for role in (Role.WATCH, Role.PLAY))
    async with serving(token=TOKEN) as client:
        sockets = []
        for token, seats in ((watch, 2), (play, 3), (TOKEN, 4)):
            bearer = {"Authorization": f"Bearer {token}"}
            while (await client.get("/play", headers=bearer)).status != 503:
                sockets.append(await client.ws_connect("/play", headers=bearer))
            assert len(sockets) == seats
        await asyncio.gather(*(socket.close() for socket in sockets))


def raw_socket(client: Client) -> contextlib.AbstractAsyncContextManager[Any]:
    return upgraded(Target(client.server.port or 0, "", ""), "/analysis")


@pytest.mark.parametrize("path", ["/play", "/analysis"])
async def test_messages_of_too_many_values_are_not_parsed(path: str) -> None:
    """Parsing a megabyte of numbers took a tenth of a second, in which no other client was heard."""
    refusal = "20,001 values in a message: expected 20,000 at most"
    async with serving() as client, client.ws_connect(path) as socket:
        for count in (client_socket.MOST_VALUES - 2, client_socket.MOST_VALUES - 1):  # and two commas more
            await socket.send_str('{"do":"go","id":"a","node":[' + "1," * count + "1]}")
            answer = await socket.receive_json()
            while "error" not in answer and answer.get("type") != "error":
                answer = await socket.receive_json()
            assert (refusal in answer.values()) == (count == client_socket.MOST_VALUES - 1), answer


async def test_what_was_sent_too_fast_is_not_followed_once_the_client_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests of clients that had gone kept the others waiting for another minute."""
    monkeypatch.setattr(client_socket, "MESSAGES", (20.0, 50.0))
    followed: list[bytes] = []
    handle = AnalysisServer.handle_bytes
    monkeypatch.setattr(AnalysisServer, "handle_bytes", lambda server, raw: (followed.append(raw), handle(server, raw)))
    async with serving() as client:
        async with raw_socket(client) as (_, writer):
            writer.write(frame(b'{"id":"a","action":"query_version"}') * 1000)
            await writer.drain()
            await until(lambda: len(followed) > 20)
        count = len(followed)
        await asyncio.sleep(1.0)
        assert len(followed) < count + 30, "of a thousand, fifty a second"


async def test_a_client_that_is_held_back_is_not_waited_for_once_it_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had sent was kept until the pace let it pass: fifty such clients held a hundred MiB for a minute."""
    monkeypatch.setattr(client_socket, "BULK", (1000.0, 1000.0))
    monkeypatch.setattr(client_socket, "HEARTBEAT", 600.0)
    async with serving() as client:
        async with raw_socket(client) as (_, writer):
            assert [each.transport.max_size for each in connections(client)] == [client_socket.READ]
            writer.write(frame(b"x" * 900_000) * 4)
            await asyncio.sleep(0.5)
            writer.transport.abort()
        await until(lambda: not connections(client))


async def test_pings_are_answered_at_the_pace_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_socket, "MESSAGES", (3.0, 50.0))
    async with serving() as client, raw_socket(client) as (reader, writer):
        started = time.monotonic()
        writer.write(b"\x89\x80\0\0\0\0" * 10)
        assert await reader.readexactly(20) == b"\x8a\0" * 10
        assert time.monotonic() - started > 0.1
