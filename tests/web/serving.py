"""A web server in this process with fake searches or real engines, and clients of it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from aiohttp.test_utils import TestClient, TestServer
from analysis.fake_search import FakeBackend
from busy_machine import bound
from gtp.fake_engine import FakeEngine

from gtp_engine.config import Config
from gtp_engine.web.access import Access
from gtp_engine.web.application import new_application
from gtp_engine.web.engine_host import EngineHost

TOKEN = "a-token-of-the-tests"

Client = TestClient[Any, Any]


class FakeSource(FakeBackend):
    """A backend with fake searches, whose engines are fake too and are recorded."""

    def __init__(self, seconds_per_visit: float = 0.0) -> None:
        super().__init__(seconds_per_visit)
        self.engines: list[FakeEngine] = []

    def load(self) -> "FakeSource":
        assert self.is_loaded.wait(20)
        return self

    def open_engine(self, config: Config, log: Callable[[str], None]) -> FakeEngine:
        self.engines.append(FakeEngine())
        return self.engines[-1]


@contextlib.asynccontextmanager
async def serving(
    source: FakeSource | None = None, *, token: str | None = None, names: tuple[str, ...] = ()
) -> AsyncIterator[Client]:
    """Run a server in this process and yield a client of it."""
    log: list[str] = []
    load: Any = (source or FakeSource()).load
    host = EngineHost(Config(), load, log.append)
    host.start()
    server = TestServer(new_application(host, Access(token, frozenset(names), is_encrypted=False)))
    async with TestClient(server) as client:
        yield client
    assert await asyncio.to_thread(host.close)
    assert log == []


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a coroutine to its end; it takes seconds at most."""

    async def limited() -> None:
        async with asyncio.timeout(bound(30)):
            await test()

    asyncio.run(limited())


def connections(client: Client) -> list[Any]:
    """Return the connections that the client's server holds open."""
    runner: Any = client.server.runner
    return list(runner.server.connections)


async def until(condition: Callable[[], object], seconds: float) -> float:
    """Wait until a condition holds; return how long that took, in seconds."""
    started = time.perf_counter()
    async with asyncio.timeout(bound(seconds)):
        while not condition():
            await asyncio.sleep(0.002)
    return time.perf_counter() - started
