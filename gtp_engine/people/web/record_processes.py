"""Work on records that clients have sent, which may be of any kind: in a process that can be ended at any time.

Short ones are read in a thread, because a record is read in time that grows with its length (`sgf.reader`).  Others end
with the client that has sent them or after `READ_SECONDS`.  Short ones and others take turns, one of each address:
threads that compute keep the event loop waiting, each for a millisecond.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from gtp_engine.base.errors import TengenError
from gtp_engine.base.worker_process import Connection, end_worker, start_worker
from gtp_engine.people.play.game_state import node_values
from gtp_engine.people.web.access import network_of
from gtp_engine.people.web.client_socket import ClientSocket, Locks
from gtp_engine.sgf import GameTree, play_record

SHORT: Final = 16_000
"""Bytes of a record that is read in a thread: most games have less, and starting a process takes half a second."""

READ_SECONDS: Final = 10.0
"""Seconds for a record: the longest that fit into a message take three on one core."""

MOST_AT_ONCE: Final = 2
"""Records that are read at once, and as many short ones."""

_CHECK: Final = 0.1
"""Seconds between two checks whether the work is still wanted."""

MOST_SHOWN: Final = 150_000
"""Nodes, and points that they name, which a page is sent: with 50 bytes for each that is the most that may wait."""


T = TypeVar("T")


def check_record(data: bytes) -> None:
    """Read and play a record as opening it does; raises SgfError, and TengenError for one not to be shown."""
    tree = GameTree(data)
    play_record(tree.record)
    count = 0
    for node in tree.nodes():
        count += 1 + sum(len(value) for value in node_values(node).values() if isinstance(value, list | dict))
        if count > MOST_SHOWN:
            given = f"a record of more than {MOST_SHOWN:,} nodes and marked points"
            raise TengenError(given, advice="take variations out of it")


class RecordProcesses:
    """Calls functions with records; made in the event loop, in which its coroutines run."""

    def __init__(self) -> None:
        self._seats: Final = asyncio.Semaphore(MOST_AT_ONCE), asyncio.Semaphore(MOST_AT_ONCE)
        self._addresses: Final = Locks()

    @asynccontextmanager
    async def turn(self, data: bytes, client: ClientSocket) -> AsyncIterator[None]:
        """Have a turn in the `async with` block for work on what a client has sent, a record or queries."""
        is_long = len(data) > SHORT
        async with self._addresses.of((network_of(client.address), is_long)), self._seats[is_long]:
            yield

    async def call(self, function: Callable[[bytes], T], data: bytes, client: ClientSocket) -> T:
        """Return what a function returns for a record, and raise the TengenError that it raises; within a turn.

        Raises TengenError if that takes too long, or once the client is lost, as a cancellation ends it.
        """
        if client.is_lost():  # while it waited for its turn
            raise TengenError("the client has gone")
        if len(data) <= SHORT:
            return await asyncio.to_thread(function, data)
        is_over = threading.Event()
        try:
            return await asyncio.to_thread(_in_process, function, data, lambda: is_over.is_set() or client.is_lost())
        finally:
            is_over.set()


def _in_process(function: Callable[[bytes], T], data: bytes, is_over: Callable[[], bool]) -> T:
    """Do what `RecordProcesses.call` does, until it is over."""
    worker, end = start_worker(_answer, function), time.monotonic() + READ_SECONDS
    try:
        worker.pipe.send_bytes(data)  # an argument would be waited for without an end if the process ends too early
        while not worker.pipe.poll(_CHECK):
            if is_over() or time.monotonic() > end:
                given = f"a record that takes more than {READ_SECONDS:g} seconds to read"
                raise TengenError(given, advice="take variations out of it")
        found: T | TengenError = worker.pipe.recv()
    except (EOFError, ConnectionError):
        raise TengenError("the record could not be read: its process has ended") from None
    finally:
        end_worker(worker)
    if isinstance(found, TengenError):
        raise found
    return found


def _answer(function: Callable[[bytes], Any], pipe: Connection) -> None:
    """Work: send what a function returns for the record that comes, or the TengenError that it raises."""
    try:
        found = function(pipe.recv_bytes())
    except TengenError as error:
        found = error
    pipe.send(found)
