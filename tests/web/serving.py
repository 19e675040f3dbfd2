"""A web server in this process with fake searches or real engines, and clients of it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeVar

import pytest
from aiohttp import ClientWebSocketResponse
from aiohttp.test_utils import TestClient, TestServer
from analysis.fake_search import FakeBackend
from busy_machine import bound, is_over
from gtp.fake_engine import FakeEngine

from gtp_engine.config import Config
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.people.web import engine_host, record_processes
from gtp_engine.people.web.access import Access
from gtp_engine.people.web.engine_host import EngineHost
from gtp_engine.people.web.operations import Operations
from gtp_engine.people.web.saved_games import SavedGame
from gtp_engine.people.web.server_settings import ServerSettings
from gtp_engine.people.web.web_process import new_application

TOKEN = "a-token-of-the-tests"

Client = TestClient[Any, Any]
Socket = ClientWebSocketResponse
T = TypeVar("T")

told: Final[list[str]] = []


class FakeSource(FakeBackend):
    """A backend with fake searches, whose engines are fake too and are recorded."""

    config = Config()

    def __init__(self, seconds_per_visit: float = 0.0) -> None:
        super().__init__(seconds_per_visit)
        self.engines: list[FakeEngine] = []

    def load(self, config: Config) -> "FakeSource":
        assert self.is_loaded.wait(60)
        return self

    def open_engine(self, config: Config, log: Callable[[str], None]) -> FakeEngine:
        self.engines.append(FakeEngine())
        return self.engines[-1]

    def work(self) -> None:
        """Say that no network has done anything."""


class RolloutSource(FakeSource):
    """The real searches, without a network, small and the same in every run."""

    config = Config().with_values({"search.search": "rave", "search.visits": 20, "search.threads": 1, "search.seed": 1})

    def load(self, config: Config) -> Any:
        super().load(config)
        return SharedEngines(config).load_for_analyses()


def saved_game(sgf: str, **values: Any) -> SavedGame:
    """Return a game of Black against the engine without a clock, as it is stored, unless `values` say otherwise."""
    usual: dict[str, Any] = {"human": "black", "level": None, "time": ("none",), "dead": ()}
    return SavedGame(sgf=sgf, **usual | values)


def client_at(address: str, *, is_lost: bool = False) -> Any:
    return SimpleNamespace(address=address, is_lost=lambda: is_lost)


@contextlib.asynccontextmanager
async def serving(
    source: FakeSource | None = None,
    *,
    token: str | None = None,
    games: Path = Path("no-such-folder"),
    port: int = 0,
    errors: int = 0,
    operations: Operations | None = None,
    **settings: Any,
) -> AsyncIterator[Client]:
    """Run a server with settings in this process and yield a client of it; `told` says whom it refuses."""
    log: list[str] = []
    told.clear()
    source = source or FakeSource()
    load: Any = source.load
    host = EngineHost(source.config, load, log.append)
    host.start()
    access = Access(ServerSettings(**settings), token, told.append)
    server = TestServer(new_application(host, access, games, operations=operations), port=port)
    async with TestClient(server) as client:
        with pytest.MonkeyPatch.context() as patch:  # a busy machine takes longer to read a long record
            patch.setattr(record_processes, "READ_SECONDS", bound(record_processes.READ_SECONDS))
            yield client
    await close(host)
    assert len([line for line in log if "rror" in line]) == errors, log


@contextlib.asynccontextmanager
async def two_at(path: str, source: FakeSource, **options: Any) -> AsyncIterator[tuple[Client, Socket, Socket]]:
    """Run such a server, and yield a client of it and two WebSockets at a path."""
    async with serving(source, **options) as client, client.ws_connect(path) as one, client.ws_connect(path) as other:
        yield client, one, other


async def close(host: EngineHost) -> None:
    """Close a host once its networks are loaded; its thread has to end, however slow the machine is."""
    await asyncio.to_thread(host.source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_host, "END_WAIT", 60.0)
        assert await asyncio.to_thread(host.close)


def run(test: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine to its end, and return what it returns; it takes seconds at most."""

    async def limited() -> T:
        async with asyncio.timeout(bound(120)):
            return await test()

    return asyncio.run(limited())


def connections(client: Client) -> list[Any]:
    """Return the connections that the client's server holds open."""
    runner: Any = client.server.runner
    return list(runner.server.connections)


async def until(condition: Callable[[], object]) -> float:
    """Wait until a condition holds; return how long that took, in seconds."""
    started = time.monotonic()
    while not condition():
        assert not is_over(started, 60), "waited in vain"
        await asyncio.sleep(0.002)
    return time.monotonic() - started
