"""Records that take long to read: they keep no one waiting, and are read no longer than anyone waits for them."""

import asyncio
import base64
import multiprocessing
import os
import socket
import time
from pathlib import Path

import pytest
from busy_machine import bound
from web.serving import RolloutSource, client_at, two_at, until
from web.test_play_socket import NEW, ask

from gtp_engine.base.errors import SgfError, TengenError
from gtp_engine.people.web import open_games, record_processes
from gtp_engine.people.web.record_processes import SHORT, RecordProcesses, check_record


@pytest.fixture(autouse=True)
def _on_a_busy_machine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_processes, "READ_SECONDS", 600.0)


def sleeping(data: bytes) -> None:
    time.sleep(600)


async def call(function: object, data: bytes) -> object:
    records = RecordProcesses()
    async with records.turn(data, client_at("192.0.2.1")):
        return await records.call(function, data, client_at("192.0.2.1"))  # type: ignore[arg-type]


@pytest.mark.parametrize("length", [10, SHORT + 1])
async def test_results_and_errors_come_back(length: int) -> None:
    assert await call(len, bytes(length)) == length
    with pytest.raises(SgfError, match="no SGF data found"):
        await call(check_record, bytes(length))


async def test_work_ends_with_the_one_who_waits_for_it() -> None:
    work = asyncio.create_task(call(sleeping, bytes(SHORT + 1)))
    await until(multiprocessing.active_children)
    work.cancel()
    await until(lambda: not multiprocessing.active_children())


class Ending:
    """Ends the process that reads it."""

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (1,)


async def test_a_process_that_ends_is_not_waited_for() -> None:
    """More than a pipe holds was written to it, for ever, and its address had no turn any more."""
    with pytest.raises(TengenError, match="its process has ended"):
        async with asyncio.timeout(bound(20)):
            await call(Ending(), bytes(1 << 20))


async def test_what_a_client_that_has_gone_has_sent_is_not_read() -> None:
    """Fifty of them held 170 MiB for most of a minute, a process for each."""
    records = RecordProcesses()
    with pytest.raises(TengenError, match="the client has gone"):
        await records.call(sleeping, bytes(SHORT + 1), client_at("192.0.2.1", is_lost=True))


async def test_work_ends_after_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_processes, "READ_SECONDS", 0.3)
    with pytest.raises(TengenError, match=r"more than 0\.3 seconds to read"):
        await call(sleeping, bytes(SHORT + 1))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("length", [SHORT, SHORT + 1])
async def test_an_address_has_a_long_and_a_short_record_at_a_time(length: int) -> None:
    """Fifty threads that read short ones, or queries about long games, kept moves waiting for two seconds and more."""
    records, data, other = RecordProcesses(), bytes(length), bytes(2 * SHORT + 1 - length)
    async with records.turn(data, client_at("2001:db8::1")):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), records.turn(data, client_at("2001:db8::2")):
                pass
        async with records.turn(other, client_at("2001:db8::2")), records.turn(data, client_at("192.0.2.1")):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05), records.turn(data, client_at("192.0.2.2")):
                    pass


@pytest.mark.parametrize(
    "data",
    [b"(;SZ[19]" + b";TR[aa:ss]" * 420 + b")", b"(;SZ[9]" + b";TR[aa][bb][cc][dd][ee][ff][gg][hh]" * 17_000 + b")"],
)
def test_records_that_would_be_too_much_for_a_page_are_refused(data: bytes) -> None:
    with pytest.raises(TengenError, match="more than 150,000 nodes and marked points"):
        check_record(data)


async def test_a_record_that_takes_long_stops_no_new_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of the games was held meanwhile: others waited for three minutes."""
    monkeypatch.setattr(open_games, "check_record", sleeping)
    async with two_at("/play", RolloutSource(), games=tmp_path) as (_, slow, other):
        await slow.send_json({"do": "load", "file": base64.b64encode(bytes(SHORT + 1)).decode()})
        await until(multiprocessing.active_children)
        game = await ask(other, **NEW)
        await ask(other, do="open", id=game["id"])
        slow.get_extra_info("socket").shutdown(socket.SHUT_RDWR)  # as a system does whose browser has ended
        await until(lambda: not multiprocessing.active_children())
