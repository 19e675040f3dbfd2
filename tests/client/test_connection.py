"""The client of engine processes: replies, times, logs, and every way in which an engine can break off."""

import asyncio
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from busy_machine import within
from match_helpers import engine

from gtp_engine.base.errors import CommandFailedError, EngineDiedError, EngineStartError, LimitError
from gtp_engine.base.worker_process import join_command
from gtp_engine.protocols.client.connection import EngineConnection
from gtp_engine.protocols.client.gtp_engines import GtpEngine, SimpleGtpEngine
from gtp_engine.protocols.client.simple import wait_for

Starter = Callable[..., SimpleGtpEngine]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    clients = []

    def starter(arguments: str = "", timeout: float = 60, command: str | None = None) -> SimpleGtpEngine:
        started = EngineConnection.popen(command or engine(arguments), label="first", log=tmp_path / "first.log")
        clients.append(SimpleGtpEngine(GtpEngine(wait_for(started), timeout)))
        return clients[-1]

    yield starter
    for client in clients:
        client.close()


def test_reply_has_text_and_seconds(start: Starter) -> None:
    client = start("--black 'wait:0.3 wait:0.3 wait:0.3'")
    assert client.send("name") == "Scripted"
    seconds = [client.send_timed("genmove b").seconds for _ in range(3)]
    assert max(seconds) >= 0.2, "the engine may begin before this process looks at its clock"
    assert min(seconds) < 20


@pytest.mark.parametrize("timeout", [60, 1e12, 10**400, math.inf])
def test_crlf_ids_and_any_timeout_are_accepted(start: Starter, timeout: float) -> None:
    """One of more than 292 years ended in a traceback."""
    code = r"input(); import sys; sys.stdout.write('=7  D4 \r\n\r\n'); sys.stdout.flush(); input()"
    assert start(command=join_command([sys.executable, "-c", code]), timeout=timeout).send("genmove b") == "D4"
    for wrong in (0, -timeout, math.nan, "1 s"):
        with pytest.raises(LimitError, match=r"a timeout of .* s: expected a number above 0"):
            SimpleGtpEngine.popen(engine(), timeout=wrong)  # type: ignore[arg-type]


def test_failure_reply_is_an_error_with_its_text(start: Starter) -> None:
    client = start("--black fail")
    with pytest.raises(CommandFailedError, match="first: 'genmove b' failed: 'no idea'") as caught:
        client.send("genmove b")
    assert caught.value.reply == "no idea"
    assert client.send("name") == "Scripted"


@pytest.mark.parametrize("command", ["no-such-engine-anywhere --gtp", "'unbalanced", " "])
def test_command_that_cannot_run_is_named(start: Starter, command: str) -> None:
    with pytest.raises(EngineStartError, match="first: cannot run"):
        start(command=command)


def test_log_without_a_place_to_read_on_from_is_named() -> None:
    reader, writer = os.pipe()
    with pytest.raises(EngineStartError, match=r"first: cannot write the log '/dev/fd/.*': Illegal seek"):
        wait_for(EngineConnection.popen(engine(""), label="first", log=f"/dev/fd/{writer}"))
    os.close(reader)
    os.close(writer)


def test_errors_keep_what_is_useful(start: Starter) -> None:
    """The program of a long command, the last line of a program that ended, and a long reply."""
    with pytest.raises(EngineStartError, match="first: cannot run 'gnugoo': No such file"):
        start(command=f"gnugoo --mode gtp --level 10 {'--option ' * 20}")
    with pytest.raises(
        EngineDiedError, match=r"instead of replying to 'name': '.*unrecognized arguments: --wrong'; see"
    ):
        start("--wrong").send("name")
    with pytest.raises(EngineDiedError, match=r"instead of replying to 'genmove b': 'ready'; see"):
        start("--black die").send("genmove b")
    killed = join_command([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
    with pytest.raises(EngineDiedError, match="the engine was killed by signal 9 instead of replying to 'name'"):
        start(command=killed).send("name")
    with pytest.raises(EngineDiedError, match=r"instead of replying to 'name'; see"):  # not what others have said
        start(command=join_command([sys.executable, "-c", ""])).send("name")
    reply = f"engine not available: network {'folder/' * 20}net.onnx: expected an ONNX file"
    with pytest.raises(CommandFailedError, match=f"'name' failed: '{reply}'"):
        start(f"--answers 'name {reply}' --refuse name").send("name")


def test_log_has_dialogue_and_stderr_and_close_asks_the_engine_to_quit(
    start: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines before a reply are skipped; one of several lines is kept whole."""
    monkeypatch.setattr("gtp_engine.protocols.client.connection.QUIT_SECONDS", 600.0)
    client = start("--banner")
    assert client.send("name") == "Scripted"
    assert client.send("list_commands").splitlines()[:2] == ["protocol_version", "name"]
    with within(30):
        client.close()
    assert not client.is_alive()
    log = (tmp_path / "first.log").read_text()
    assert all(line in log for line in (">> name\n", "<< = Scripted\n", "ready\n"))
    assert log.rstrip().endswith(">> quit")


def test_close_ends_an_engine_that_ignores_quit(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.protocols.client.connection.QUIT_SECONDS", 0.3)
    client = start(command=join_command([sys.executable, "-c", "import time; time.sleep(600)"]))
    client.close()
    assert not client.is_alive()


async def test_all_lines_of_an_engine_that_has_ended_are_read_however_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those behind the first `MOST_WAITING` wait in the pipe."""
    monkeypatch.setattr("gtp_engine.protocols.client.connection.MOST_WAITING", 10)
    code = "import time; print('first\\n' * 11, flush=True); time.sleep(1); print('last\\n' * 9, end='')"
    connection = await EngineConnection.popen([sys.executable, "-c", code])
    while connection.is_alive():
        await asyncio.sleep(0.1)
    await asyncio.sleep(0.5)
    for _ in range(21):
        assert await connection.next_line("", math.inf, math.inf)
    with pytest.raises(EngineDiedError):
        await connection.next_line("", math.inf, math.inf)
    await connection.close()


WAITS = """
import asyncio, os, sys, threading
from concurrent.futures import ThreadPoolExecutor
from gtp_engine.protocols.client.simple import wait_for
async def loop(): return asyncio.get_running_loop()
sys.setswitchinterval(1e-6)
barrier = threading.Barrier(8)
print(len({*ThreadPoolExecutor(8).map(lambda _: [barrier.wait(), wait_for(loop())][1], range(8))}))
sys.stdout.flush()
if not hasattr(os, "fork"): os._exit(0)
if os.fork() == 0: os._exit(wait_for(loop()) is None)
os._exit(os.wait()[1] != 0)
"""


def test_threads_that_wait_first_share_a_loop_and_a_forked_process_has_its_own() -> None:
    """A match of two games at a time sometimes stood still: an engine was started in one loop and asked in another."""
    done = subprocess.run([sys.executable, "-c", WAITS], capture_output=True, timeout=60, text=True)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
