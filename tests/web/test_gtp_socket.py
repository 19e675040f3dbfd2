"""GTP over WebSockets, and `gtp-engine connect` at the other end."""

import asyncio
import contextlib
import io
import os
import socket
from typing import Any

import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType
from busy_machine import bound, require_once, wait_for_readers
from web.serving import TOKEN, Client, FakeSource, RolloutSource, connections, run, serving, until

from gtp_engine.base.errors import ConfigError, TengenError
from gtp_engine.evaluation import memory_budget
from gtp_engine.people.web import bridge
from gtp_engine.people.web.bridge import connect, server_url
from gtp_engine.people.web.client_socket import ClientSocket
from gtp_engine.people.web.operations import Operations, ServerLog
from gtp_engine.people.web.web_process import ADDRESS_ENGINES, MAX_ENGINES
from gtp_engine.protocols.gtp.session import QUEUED_LINES


async def replies(socket: ClientWebSocketResponse, count: int) -> str:
    """Return what the server has sent until this many replies have ended."""
    text = ""
    while text.count("\n\n") < count:
        text += await socket.receive_str()
    return text


async def test_lines_are_answered_in_order() -> None:
    async with serving() as client, client.ws_connect("/gtp") as socket:
        await socket.send_str("1 name\n2 protocol_version\n\n3 nonsense\n")
        await socket.send_bytes(b"4 komi 5\r\n")
        await socket.send_str("5 get_komi")
        assert await replies(socket, 5) == "=1 Tengen\n\n=2 2\n\n?3 unknown command\n\n=4 \n\n=5 5.0\n\n"


async def test_every_client_has_an_engine_of_its_own() -> None:
    source = FakeSource()
    async with serving(source) as client, client.ws_connect("/gtp") as one, client.ws_connect("/gtp") as other:
        await one.send_str("komi 5")
        await other.send_str("get_komi")
        assert await replies(one, 1) == "= \n\n"
        assert await replies(other, 1) == "= 7.5\n\n"
    assert [engine.closed for engine in source.engines] == [True, True]


@pytest.mark.parametrize("end", ["\n", "\r\n\r\n", "", " \n", b"\n"])
async def test_an_empty_line_ends_an_analysis(end: str | bytes) -> None:
    """It went on: programs that stop it by a newline, such as Sabaki, left the server searching."""
    async with serving(RolloutSource()) as client, client.ws_connect("/gtp") as socket:
        await socket.send_str("boardsize 5\nkata-analyze b 1\n")
        text = await replies(socket, 1)
        while "info move" not in text:
            text += await socket.receive_str()
        await (socket.send_bytes(end) if isinstance(end, bytes) else socket.send_str(end))
        while not text.endswith("\n\n"):
            text += await socket.receive_str()
        await socket.send_str("name")
        assert await replies(socket, 1) == "= Tengen\n\n"


async def test_quit_closes_the_connection() -> None:
    async with serving() as client, client.ws_connect("/gtp") as socket:
        await socket.send_str("quit\nname\n")
        assert await replies(socket, 1) == "= \n\n"
        assert (await socket.receive()).type is WSMsgType.CLOSE
        assert socket.close_code == 1000


async def test_lines_behind_quit_do_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server waited for their answers as long as the client did not read those before."""
    has_read = asyncio.Event()
    monkeypatch.setattr(ClientSocket, "close", lambda self: has_read.wait())
    operations = Operations(ServerLog(), patience=60.0)
    async with serving(operations=operations) as client, client.ws_connect("/gtp") as socket:
        await socket.send_str("quit\nname\n")
        assert await replies(socket, 1) == "= \n\n"
        async with asyncio.timeout(bound(10)):
            await client.app.shutdown()
        has_read.set()


async def begin_search(socket: ClientWebSocketResponse, source: FakeSource) -> None:
    """Have the engine of the first client search."""
    await socket.send_str("final_score")
    await until(lambda: source.engines and source.engines[0].searching.is_set())


def test_a_client_that_goes_away_frees_its_search() -> None:
    async def seconds() -> float:
        source = FakeSource()
        async with serving(source) as client:
            async with client.ws_connect("/gtp") as socket:
                await begin_search(socket, source)
            found = await until(lambda: source.engines[0].closed)
            assert source.engines[0].cancelled == 1
            return found

    require_once(lambda: run(seconds), below=1)


@pytest.mark.parametrize("line", ["name", "# a comment"])
async def test_a_client_that_leaves_a_full_queue_frees_its_engine(line: str) -> None:
    source = FakeSource()
    async with serving(source) as client:
        async with client.ws_connect("/gtp") as socket:
            await begin_search(socket, source)
            await socket.send_str(f"{line}\n" * QUEUED_LINES)
        await until(lambda: source.engines[0].closed)


async def test_a_line_that_is_too_long_for_a_server_is_refused() -> None:
    """A megabyte of handicap stones kept a session busy for seconds, which it shares with all others."""
    async with serving(FakeSource()) as client, client.ws_connect("/gtp") as socket:
        for words in (10_000, 30_000):
            await socket.send_str("7 no_such_command " + "E5 " * words)
        refusals = ["?7 unknown command", "?7 line too long: the limit is 65536 bytes"]
        assert (await replies(socket, 2)).strip().split("\n\n") == refusals


async def test_an_interrupt_ends_a_search() -> None:
    source = FakeSource()
    async with serving(source) as client, client.ws_connect("/gtp") as socket:
        await begin_search(socket, source)
        await socket.send_str("# interrupt")
        assert await replies(socket, 1) == "= 0\n\n"


async def test_an_engine_that_is_loaded_after_its_client_has_gone_is_closed() -> None:
    source = FakeSource()
    source.is_loaded.clear()
    async with serving(source) as client:
        async with client.ws_connect("/gtp") as socket:
            await socket.send_str("name")
            assert await replies(socket, 1) == "= Tengen\n\n"
        source.is_loaded.set()
        await until(lambda: source.engines and source.engines[0].closed)


async def test_files_of_the_server_stay_closed(tmp_path: Any) -> None:
    async with serving() as client, client.ws_connect("/gtp") as socket:
        await socket.send_str("list_commands")
        names = (await replies(socket, 1)).split()
        await socket.send_str(f"loadsgf {tmp_path}/game.sgf")
        assert await replies(socket, 1) == "? unknown command\n\n"
    assert "loadsgf" not in names
    assert "printsgf" in names


@pytest.mark.parametrize(
    ("own", "allowed", "refused", "limit"),
    [(64, ("16", "64"), ("65", "none", ""), 64), (None, ("16", "256"), ("257", "none", ""), 256)],
)
async def test_a_client_does_not_raise_the_servers_limit_of_memory(
    monkeypatch: pytest.MonkeyPatch, own: int | None, allowed: tuple[str, ...], refused: tuple[str, ...], limit: int
) -> None:
    """With its token, a client could have its searches fill the memory of the server."""
    monkeypatch.setattr(memory_budget, "free_memory_mib", lambda: 256 / memory_budget.FREE_SHARE)

    class Source(RolloutSource):
        config = RolloutSource.config.with_values({"search.max_memory": own})

    async with serving(Source()) as client, client.ws_connect("/gtp") as socket:

        async def reply(line: str) -> str:
            await socket.send_str(line)
            return await replies(socket, 1)

        for value in allowed:
            assert await reply(f"kata-set-param search.max_memory {value}") == "= \n\n"
        for value in refused:
            error = f"? option search.max_memory = {value or 'none'}: expected at most {limit} MiB, the limit of this"
            assert await reply(f"kata-set-param search.max_memory {value}") == f"{error} server\n\n"
        many = await reply('kata-set-params {"maxVisits": 7, "search.max_memory": 1048576}')
        assert many.startswith("? option search.max_memory = 1048576: expected at most")
        assert await reply("kata-get-param maxVisits") == "= 20\n\n", "all or none"
        assert (await reply("kata-set-param search.max_memory much")).startswith("? option search.max_memory = 'much'")


async def test_there_are_not_more_engines_than_seats() -> None:
    async with serving(proxy="127.0.0.1") as client:
        sockets = [await client.ws_connect("/gtp") for _ in range(ADDRESS_ENGINES)]
        response = await client.get("/gtp")
        assert (response.status, await response.text()) == (503, "There are already 6 engines from your address.\n")
        elsewhere = {"X-Forwarded-For": "192.0.2.1"}
        for _ in range(MAX_ENGINES - ADDRESS_ENGINES):
            sockets.append(await client.ws_connect("/gtp", headers=elsewhere))
        response = await client.get("/gtp", headers=elsewhere)
        assert (response.status, await response.text()) == (503, "There are already 8 engines.\n")
        await asyncio.gather(*(socket.close() for socket in sockets))


# --- gtp-engine connect ---


async def connected(client: Client, lines: bytes, token: str | None = None) -> bytes:
    """Return what `gtp-engine connect` writes when it is given these lines and the end of the input."""
    output = io.BytesIO()
    await connect(str(client.make_url("/gtp")), token, None, io.BytesIO(lines), output)
    return output.getvalue()


async def test_connect_passes_on_lines_and_replies_byte_for_byte() -> None:
    async with serving(token=TOKEN) as client:
        assert await connected(client, b"1 name\r\n\nkomi 5\n3 get_komi", TOKEN) == b"=1 Tengen\n\n= \n\n=3 5.0\n\n"
        assert await connected(client, b"quit\nname\n", TOKEN) == b"= \n\n"


async def test_connect_says_why_it_cannot() -> None:
    async with serving(token=TOKEN) as client:
        with pytest.raises(TengenError, match=r"needs a token; give .* TENGEN_TOKEN"):
            await connected(client, b"")
        with pytest.raises(TengenError, match="there is no GTP server") as failure:
            await connect(str(client.make_url(f"/x?token={TOKEN}")), None, None, io.BytesIO(), io.BytesIO())
        assert TOKEN not in str(failure.value)
    with pytest.raises(TengenError, match="cannot connect to ws"):
        await connect("ws://127.0.0.1:1/gtp", None, None, io.BytesIO(), io.BytesIO())


async def test_a_server_that_accepts_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "CONNECT_WAIT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"ws://127.0.0.1:{silent.getsockname()[1]}/gtp?token={TOKEN}"
        with pytest.raises(TengenError, match=r"does not answer within 0\.1 seconds") as failure:
            await connect(url, None, None, io.BytesIO(), io.BytesIO())
    assert TOKEN not in str(failure.value)


async def test_a_lost_connection_is_an_error() -> None:
    source = FakeSource()
    async with serving(source) as client:
        reading, writing = os.pipe()
        async with contextlib.AsyncExitStack() as stack:
            stdin = stack.enter_context(os.fdopen(reading, "rb", buffering=0))
            stack.push_async_callback(asyncio.to_thread, wait_for_readers)
            stack.callback(os.close, writing)
            session = asyncio.create_task(connect(str(client.make_url("/gtp")), None, None, stdin, io.BytesIO()))
            os.write(writing, b"final_score\n")
            await until(lambda: source.engines and source.engines[0].searching.is_set())
            for connection in connections(client):
                connection.transport.abort()
            with pytest.raises(TengenError, match="was lost"):
                await session


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("desktop", "ws://desktop:8361/gtp"), ("desktop:", "ws://desktop:8361/gtp"), ("[::1]", "ws://[::1]:8361/gtp"),
        ("10.0.0.2:99", "ws://10.0.0.2:99/gtp"), ("ws://desktop", "ws://desktop/gtp"),
        ("wss://desktop:99/", "wss://desktop:99/gtp"), ("http://desktop:99/?token=x", "ws://desktop:99/gtp?token=x"),
        ("https://go.example/engine/gtp", "wss://go.example/engine/gtp"),
    ],
)  # fmt: skip
def test_addresses(text: str, url: str) -> None:
    assert server_url(text) == url


@pytest.mark.parametrize(
    "text", ["", "ftp://desktop", "desktop:port", "desktop:99999", "[::1", "ws://", "x..y", "x" * 64]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ConfigError, match="expected HOST, HOST:PORT"):
        server_url(text)
