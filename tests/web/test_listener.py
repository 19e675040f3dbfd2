"""The listening socket: its limit, its errors, encryption; and the whole process."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from ssl import SSLContext
from typing import IO, Any

import pytest
from aiohttp import ClientSession, web
from busy_machine import bound, require_once
from web.serving import TOKEN, FakeSource, run, until
from web.test_play_socket import NEW

from gtp_engine.base.errors import ConfigError
from gtp_engine.config import Config
from gtp_engine.people.web import server_settings, web_process
from gtp_engine.people.web.operations import ServerLog
from gtp_engine.people.web.server_settings import ServerSettings, greeting, page_address
from gtp_engine.people.web.web_process import encryption_of, listen, new_runner, serve


async def answer_of(port: int, request: bytes = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") -> bytes:
    """Return the first line of the answer to a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    line = await reader.readline()
    writer.close()
    return line


@contextlib.asynccontextmanager
async def served(application: web.Application, encryption: SSLContext | None = None) -> AsyncIterator[int]:
    """Serve an application as the process does, and yield its port."""
    runner = new_runner(application)
    await runner.setup()
    async with await listen(runner, "127.0.0.1", 0, encryption) as listener:
        yield listener.sockets[0].getsockname()[1]
        await runner.cleanup()


@contextlib.contextmanager
def running(folder: Path, *arguments: str, **variables: str) -> Iterator[tuple["subprocess.Popen[str]", IO[str]]]:
    """Yield a process of Python with its games in `folder`, and what it writes to stderr."""
    environment = {**os.environ, "TENGEN_DATA_DIR": str(folder), **variables}
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder) as process:
        try:
            assert process.stderr is not None
            yield process, process.stderr
        finally:
            process.kill()


SERVE = ("-m", "gtp_engine", "serve", "--port", "0", "--search", "rave")


@pytest.mark.parametrize("host", ["127.0.0.1", "x..y"])
def test_the_process_says_in_one_line_that_it_cannot_listen(host: str, tmp_path: Path) -> None:
    """Behind the reason stood an exception of a future that had never been retrieved."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        with running(tmp_path, *SERVE, "--host", host, "--port", port) as (server, _log):
            told = server.communicate(timeout=bound(60))[1]
            assert server.returncode == 2
    line = rf"Error: cannot listen on {re.escape(host)} port {port}: .*--host or --port\W*\n"
    assert re.fullmatch(line, told), told


def test_the_page_is_opened_with_its_token(tmp_path: Path) -> None:
    """Python's `webbrowser` runs the command that BROWSER names."""
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > "{tmp_path}/opened"\n', encoding="utf-8")
    script.chmod(0o755)
    with running(tmp_path, *SERVE, "--open", BROWSER=f"{script} %s") as (server, log):
        printed = log.readline().removeprefix("Open").strip()
        while not (opened := tmp_path / "opened").exists() or not opened.read_text(encoding="utf-8"):
            assert server.poll() is None
            time.sleep(0.05)
    assert opened.read_text(encoding="utf-8").strip() == printed


def test_the_command_that_is_printed_is_one_for_every_shell() -> None:
    """A question mark or a bracket is a pattern to zsh, which finds no file for it; cmd.exe knows no single quotes."""
    lines = greeting(("127.0.0.1", 8361), TOKEN, is_encrypted=False)
    assert f'Command for other Go programs: gtp-engine connect "ws://127.0.0.1:8361/gtp?token={TOKEN}"\n' in lines


def test_other_machines_are_told_the_addresses_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only localhost was printed, and a token of 32 letters to type into a phone."""
    monkeypatch.setattr(server_settings, "machine_addresses", lambda: ["192.168.0.2", "10.0.0.7"])
    lines = greeting(("0.0.0.0", 8361), TOKEN, is_encrypted=False).splitlines()
    others = [f"From other machines  http://{each}:8361/?token={TOKEN}" for each in ("192.168.0.2", "10.0.0.7")]
    assert lines[:3] == [f"Open  http://localhost:8361/?token={TOKEN}", *others]
    assert f"ws://192.168.0.2:8361/analysis?token={TOKEN}" in lines[3]
    assert greeting(("::", 8361, 0, 0), TOKEN, is_encrypted=False).splitlines() == lines  # type: ignore[arg-type]
    assert page_address(("::1", 8361, 0, 0), None, is_encrypted=True) == "https://[::1]:8361/"  # type: ignore[arg-type]
    monkeypatch.setattr(server_settings.sys.stderr, "isatty", lambda: True, raising=False)
    with_code = greeting(("0.0.0.0", 8361), TOKEN, is_encrypted=False).splitlines()
    drawn = with_code[3:-3]
    assert with_code[:3] == lines[:3] and len(drawn) > 15 and {*"".join(drawn)} <= {*"█▀▄ "}
    assert "█" not in greeting(("0.0.0.0", 8361), server_settings.HIDDEN, is_encrypted=False), "it leads nowhere"


def test_the_addresses_of_this_machine_are_those_of_networks() -> None:
    found = server_settings.machine_addresses()
    assert all(not address.startswith("127.") for address in found) and len(found) == len({*found})


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: lo"])
async def test_connections_without_a_request_are_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else some hundred of them would keep everyone out."""
    monkeypatch.setattr(web_process, "REQUEST_WAIT", 0.05)
    async with served(web.Application()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        with contextlib.suppress(ConnectionResetError):  # it is closed before this was read
            assert await reader.read() == b""
        writer.close()


async def test_bad_requests_leave_nothing_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Each left a traceback on stderr, so that anyone who reached the port filled the terminal, without a token too.

    Bodies are not unpacked: a megabyte of zeros as gzip kept the server busy for seconds.
    """
    get, host = b"GET / HTTP/1.1", b"\r\nHost: a"
    packed = b"\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nzzzz"
    async with served(web.Application()) as port:
        for request in (b"GARBAGE", get, get + host + host, get.replace(b"/ ", b"/a" * 1500 + b" ") + host):
            assert b" 400 Bad Request\r\n" in await answer_of(port, request + b"\r\n\r\n"), request
        assert b" 404 Not Found\r\n" in await answer_of(port, get + host + packed)
    assert caplog.records == []


async def test_a_client_that_begins_no_handshake_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (options := certificate_in(tmp_path)):
        pytest.skip("no openssl to make a certificate with")
    monkeypatch.setattr(web_process, "FIRST_WAIT", 0.05)
    async with served(web.Application(), encryption_of(options[1], options[3])) as port, asyncio.timeout(bound(5)):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


async def test_errors_of_the_server_itself_are_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_: web.Request) -> web.Response:
        raise RuntimeError("a bug")

    application = web.Application()
    application.router.add_get("/", fail)
    async with served(application) as port:
        assert await answer_of(port) == b"HTTP/1.1 500 Internal Server Error\r\n"
    assert "a bug" in caplog.text


def test_a_certificate_that_is_none(tmp_path: Path) -> None:
    assert encryption_of(None, None) is None
    (tmp_path / "x.pem").write_text("nothing")
    for name in ("x.pem", "missing.pem"):
        with pytest.raises(ConfigError, match=f"{name}.*PEM"):
            encryption_of(str(tmp_path / name), None)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM")
def test_the_process_serves_gtp_with_a_token_until_it_is_ended(tmp_path: Path) -> None:
    """Encrypted where openssl can make a certificate."""
    options = ["--visits", "20", *certificate_in(tmp_path)]
    with running(tmp_path, *SERVE, *options, TENGEN_TOKEN=TOKEN) as (server, log):
        greeting = "".join(log.readline() for _ in range(3))
        address = re.search(r"wss?://127.0.0.1:\d+/gtp\?token=…", greeting)
        assert TOKEN not in greeting, "logs are kept"
        assert address is not None
        trust = ["--certificate", str(tmp_path / "own.pem")] if address[0].startswith("wss") else []
        client = subprocess.run(
            [sys.executable, "-m", "gtp_engine", "connect", address[0].partition("?")[0], *trust],
            input="1 boardsize 9\n2 genmove b\n3 quit\n",
            env={**os.environ, "TENGEN_TOKEN": TOKEN},
            capture_output=True,
            text=True,
            timeout=bound(120),
        )
        server.send_signal(signal.SIGTERM)
        assert server.wait(bound(60)) == 0
    assert re.fullmatch(r"=1 \n\n=2 [A-J][1-9]\n\n=3 \n\n", client.stdout), client.stderr
    assert (client.returncode, client.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_networks_load_and_a_page_waits_for_them(number: signal.Signals) -> None:
    is_loaded = threading.Event()

    def load(config: Config) -> Any:
        is_loaded.wait(300)
        return FakeSource()

    async def seconds() -> float:
        log, started = list[str](), time.monotonic()
        serving = asyncio.create_task(serve(Config(), ServerSettings(port=0), load, ServerLog(write=log.append)))
        await until(lambda: log)
        address = re.search(r"(http://127.0.0.1:\d+/)(\?token=[\w-]{32})", log[0])
        assert address is not None, "this machine has other users too"
        async with ClientSession() as client, client.ws_connect(f"{address[1]}play{address[2]}") as socket:
            await socket.send_json(NEW)
            await asyncio.sleep(0.1)
            os.kill(os.getpid(), number)
            assert not await serving, "the loader cannot be stopped"
        return time.monotonic() - started

    try:
        require_once(lambda: run(seconds), below=2)
    finally:
        is_loaded.set()


STUCK = """
import sys, time
from pathlib import Path
from gtp_engine.base.files import replacing
from gtp_engine.people.web import web_process
from gtp_engine.people.web.operations import ServerLog
from gtp_engine.people.web.server_settings import ServerSettings
from web.serving import FakeSource

class Stuck(FakeSource):
    def open_engine(self, config, log):
        with replacing(Path("file")) as unfinished:
            unfinished.touch()
            print("busy", file=sys.stderr, flush=True)
            time.sleep(600)

settings = ServerSettings(port=0)
web_process.DRAIN_WAIT = float(sys.argv[1])
web_process.run(Stuck.config, settings, Stuck().load, ServerLog())
"""
"""A server one of whose threads never ends, while it writes a file."""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM")
@pytest.mark.parametrize(("signals", "patience"), [(1, "1"), (2, "600")])
async def test_the_process_ends_whatever_its_threads_do(signals: int, patience: str, tmp_path: Path) -> None:
    """A thread that read a record for minutes kept it from ending, after any number of signals."""
    paths = os.pathsep.join(str(Path(__file__).parents[number]) for number in (1, 2))
    with running(tmp_path, "-c", STUCK, patience, PYTHONPATH=paths) as (server, log):
        address = re.search(r"http://\S+", log.readline())
        assert address is not None
        async with ClientSession() as client, client.ws_connect(address[0].replace("?", "play?")) as socket:
            await socket.send_json(NEW)
            while log.readline() != "busy\n":
                pass
            assert list(tmp_path.glob("*.part"))
            for _ in range(signals):
                server.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.1)
            assert await asyncio.to_thread(server.wait, bound(60)) == 0
    assert not list(tmp_path.glob("*.part"))


def certificate_in(folder: Path) -> list[str]:
    """Return the options for a new certificate of this machine, none if openssl is missing."""
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "own.pem")]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    try:
        subprocess.run(["openssl", "req", "-x509", *curve, "-nodes", *subject, *files], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return ["--certificate", str(folder / "own.pem"), "--key", str(folder / "key.pem")]
