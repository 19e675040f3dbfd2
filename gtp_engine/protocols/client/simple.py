"""Clients of engines without asyncio: thin wrappers of those for asyncio, made once for all methods.

    wait_for      the result of something awaitable, in the calling thread
    starting      a class method that starts an engine as one for asyncio does
    simple        a method that waits for what a method for asyncio returns
    streaming     a method that returns the reports of a search as an iterator
    SimpleClient  how a client starts and ends

One event loop, in a thread of its own, serves all clients of the process; any thread may wait.  A wait that Ctrl-C
breaks off is cancelled there too.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, ClassVar, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from gtp_engine.base.errors import refuse_copy
from gtp_engine.engine.answers import Analysis
from gtp_engine.protocols.client import AsyncAnalysis
from gtp_engine.protocols.client.connection import AsyncClient

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=AsyncClient)
S = TypeVar("S", bound="SimpleClient[Any]")


def wait_for(result: Awaitable[R]) -> R:
    """Return what is awaited, or raise its error; not from the event loop itself."""
    future = asyncio.run_coroutine_threadsafe(_awaited(result), _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def _awaited(result: Awaitable[R]) -> R:
    return await result


_loops: Final[dict[int, asyncio.AbstractEventLoop]] = {}  # by process: its thread stays behind after a fork


def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of the clients of this process; of several threads that ask first, one makes it."""
    if (known := _loops.get(process := os.getpid())) is not None:
        return known
    loop = _loops.setdefault(process, made := asyncio.new_event_loop())
    if loop is made:
        threading.Thread(target=loop.run_forever, name="clients of engines", daemon=True).start()
    else:
        made.close()
    return loop


def simple(method: "Callable[Concatenate[Any, P], Awaitable[R]]") -> "Callable[Concatenate[SimpleClient[Any], P], R]":
    """Return a method that waits for what a method for asyncio returns."""

    @wraps(method)
    def call(self: "SimpleClient[Any]", /, *args: P.args, **named: P.kwargs) -> R:
        return wait_for(method(self.client, *args, **named))

    return call


class starting(Generic[P]):
    """A class method that starts an engine, and waits for it, as one for asyncio does."""

    def __init__(self, method: Callable[P, object]) -> None:
        self._method: Final = method

    def __get__(self, instance: object, owner: type[S]) -> Callable[P, S]:
        """Return the method of that class."""

        @wraps(self._method)
        def start(*args: P.args, **named: P.kwargs) -> S:
            return owner(wait_for(getattr(owner._client_class, start.__name__)(*args, **named)))

        return start


def streaming(
    method: "Callable[Concatenate[Any, P], AsyncAnalysis]",
) -> "Callable[Concatenate[SimpleClient[Any], P], AnalysisStream]":
    """Return a method that begins the search of a method for asyncio."""

    @wraps(method)
    def call(self: "SimpleClient[Any]", /, *args: P.args, **named: P.kwargs) -> AnalysisStream:
        return AnalysisStream(method(self.client, *args, **named))

    return call


class AnalysisStream(Iterator[Analysis]):
    """The reports of a running search, an iterator of `Analysis`; the last one has `is_final`.

    The search ends at its limit, with `close`, at the end of a `with` block, with the next command to an engine that
    does one thing at a time, or when the stream is no longer used.  Of the reports that have arrived meanwhile, the
    newest is returned.  Iterating raises EngineError.

        with engine.watch(game, every=0.5) as reports:
            for report in reports:
                print(report)
    """

    def __init__(self, search: AsyncAnalysis) -> None:
        self._search: Final = search
        wait_for(search.__aenter__())

    def __next__(self) -> Analysis:
        report = wait_for(anext(self._search, None))
        if report is None:
            raise StopIteration
        return report

    def close(self) -> None:
        """Stop the search; again is harmless."""
        wait_for(self._search.__aexit__())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            _loop().call_soon_threadsafe(self._search.close)  # without waiting, as this may be any thread


class SimpleClient(Generic[C]):
    """A client of an engine without asyncio: how it starts and ends."""

    _client_class: ClassVar[type[Any]]

    def __init__(self, client: C) -> None:
        self.client: Final = client
        """The client for asyncio, which lives in the event loop of `wait_for`."""
        self.label: Final = client.label
        """What messages begin with."""

    __reduce__ = refuse_copy
    popen = starting(AsyncClient.popen)
    connect = starting(AsyncClient.connect)
    mock = starting(AsyncClient.mock)

    def is_alive(self) -> bool:
        """Return whether the engine runs."""
        return self.client.is_alive()

    def kill(self) -> None:
        """Kill the process and its children.  Safe from any thread, and after the process has ended."""
        self.client.kill()

    def close(self) -> None:
        """End the engine, and kill it if it does not exit within five seconds.  Raises nothing; again is harmless."""
        wait_for(self.client.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
