"""The clients for asyncio: the plain ones, whose waits do not hold up the event loop.

    GtpEngine       an engine that speaks GTP; calls wait for each other
    AnalysisEngine  an engine that speaks the analysis protocol; any number of queries at a time
    AsyncAnalysis   a search: awaited for its result, or iterated for its reports

    async with GtpEngine.popen("gnugo --mode gtp") as engine:
        result = await engine.play(game, Limit(time=1))

Any event loop will do, on every platform, as threads wait for the processes.  A call that is cancelled goes on in its
thread until the engine has replied, and the next call waits for that; leaving the `async with` block meanwhile kills
the engine.
"""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, ParamSpec, Protocol, Self, TypeVar

from gtp_engine.arguments import checked
from gtp_engine.client import Analysis, Limit, PlayResult
from gtp_engine.client.analysis_engines import SimpleAnalysisEngine, query_of
from gtp_engine.client.gtp_engines import REPLY_SECONDS, REPORT_SECONDS, AnalysisStream, SimpleGtpEngine
from gtp_engine.clock import TimeLeft, TimeSettings
from gtp_engine.errors import EngineError
from gtp_engine.go.game import Game

_WAIT_SECONDS: Final = 0.25
"""Seconds between two looks whether the engine has been silent for too long."""


class _Closable(Protocol):
    """An engine of either kind, for asyncio."""

    async def close(self) -> None: ...


class _Killable(Protocol):
    """A plain engine of either kind."""

    def kill(self) -> None: ...
    def close(self) -> None: ...


P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=_Closable)
Plain = TypeVar("Plain", bound=_Killable)


class EngineOpening(Generic[E]):
    """An engine that is being started: await it, or let `async with` start it and close it in the end."""

    def __init__(self, start: Callable[[], Awaitable[E]]) -> None:
        self._start: Final = start
        self._engine: E | None = None

    def __await__(self) -> Generator[Any, None, E]:
        return self._start().__await__()

    async def __aenter__(self) -> E:
        self._engine = await self
        return self._engine

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._engine is not None:
            await self._engine.close()


async def _started(make: Callable[[], Plain], executor: Executor) -> Plain:
    """Return what `make` returns in the executor; if the caller is cancelled, the engine is ended once it has begun."""
    future = executor.submit(make)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        future.add_done_callback(_end)
        raise


def _end(future: "Future[Plain]") -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().kill()
        future.result().close()


class Reports(Protocol):
    """The source of reports of an `AsyncAnalysis`."""

    async def next(self) -> Analysis | None:
        """Return the next report, None after the last."""
        ...

    def stop(self) -> None:
        """Stop the search; blocks for no reply, and again is harmless."""
        ...


class AsyncAnalysis:
    """A search that an engine has been asked for.

    `await` returns the result; `async for` yields an `Analysis` now and then, the last one with `is_final`.  The search
    ends at its limit, and when it is left: by `close`, at the end of an `async with` block, when the loop over it is
    left by `break` or an error, or with the next command to an engine that does one thing at a time.  Raises
    EngineError.
    """

    def __init__(self, reports: Reports, result: Callable[[], Awaitable[Analysis]]) -> None:
        self._reports: Final = reports
        self._result: Final = result
        self._is_over = False

    def __await__(self) -> Generator[Any, None, Analysis]:
        self._is_over = True
        return self._result().__await__()

    def __aiter__(self) -> AsyncIterator[Analysis]:
        return self

    async def __anext__(self) -> Analysis:
        if self._is_over:
            raise StopAsyncIteration
        try:
            report = await self._reports.next()
        except BaseException:
            self.close()
            raise
        if report is None or report.is_final:
            self.close()
        if report is None:
            raise StopAsyncIteration
        return report

    def close(self) -> None:
        """Stop the search."""
        if not self._is_over:
            self._is_over = True
            self._reports.stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


@checked
class GtpEngine:
    """An engine that speaks GTP 2, for asyncio; see `SimpleGtpEngine`, whose methods it has.

    `popen` and `connect` start one.  Calls are made one after the other.
    """

    def __init__(self, plain: SimpleGtpEngine, executor: Executor) -> None:
        self.plain: Final = plain
        """The plain client, for a moment in which no call is running."""
        self._executor: Final = executor
        self._running = 0

    @classmethod
    def popen(
        cls,
        command: str | Sequence[str],
        *,
        timeout: float = REPLY_SECONDS,
        label: str | None = None,
        log: Path | str | None = None,
    ) -> "EngineOpening[Self]":
        """Start an engine as a new process; see `SimpleGtpEngine.popen`."""
        return cls._opening(partial(SimpleGtpEngine.popen, command, timeout=timeout, label=label, log=log))

    @classmethod
    def connect(
        cls,
        host: str,
        port: int,
        *,
        timeout: float = REPLY_SECONDS,
        label: str | None = None,
        log: Path | str | None = None,
    ) -> "EngineOpening[Self]":
        """Connect to an engine that listens on a TCP port; see `SimpleGtpEngine.connect`."""
        return cls._opening(partial(SimpleGtpEngine.connect, host, port, timeout=timeout, label=label, log=log))

    @classmethod
    def _opening(cls, make: Callable[[], SimpleGtpEngine]) -> "EngineOpening[Self]":
        async def start() -> Self:
            executor = ThreadPoolExecutor(1, thread_name_prefix="gtp engine")
            try:
                return cls(await _started(make, executor), executor)
            except BaseException:
                executor.shutdown(wait=False)
                raise

        return EngineOpening(start)

    async def _call(self, function: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Return what a function of the plain client returns, in the engine's thread."""
        future = self._executor.submit(partial(function, *args, **named))
        self._running += 1
        future.add_done_callback(self._is_done)
        return await asyncio.wrap_future(future)

    def _is_done(self, future: "Future[Any]") -> None:
        self._running -= 1

    @property
    def label(self) -> str:
        """What messages begin with."""
        return self.plain.label

    @property
    def name(self) -> str:
        """The engine's reply to `name`."""
        return self.plain.name

    @property
    def version(self) -> str:
        """The engine's reply to `version`."""
        return self.plain.version

    @property
    def commands(self) -> frozenset[str]:
        """The commands that it lists."""
        return self.plain.commands

    def lists(self, command: str) -> bool:
        """Return whether the engine lists a command."""
        return self.plain.lists(command)

    async def send(self, command: str, timeout: float | None = None) -> str:
        """Return the engine's reply to any command line; see `SimpleGtpEngine.send`."""
        return await self._call(self.plain.send, command, timeout)

    async def set_position(self, game: Game) -> None:
        """Give the engine the position of a game; see `SimpleGtpEngine.set_position`."""
        await self._call(self.plain.set_position, game.copy())

    async def play(
        self, game: Game, limit: Limit | None = None, *, color: int | str | None = None, timeout: float | None = None
    ) -> PlayResult:
        """Return the move that the engine chooses in a game, which does not change; see `SimpleGtpEngine.play`."""
        return await self._call(self.plain.play, game.copy(), limit, color=color, timeout=timeout)

    async def score(self, game: Game) -> str:
        """Return the engine's score of a finished game, such as "B+3.5"."""
        return await self._call(self.plain.score, game.copy())

    def analyse(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        every: float = REPORT_SECONDS,
        ownership: bool = False,
        timeout: float | None = None,
    ) -> AsyncAnalysis:
        """Return a search of the position of a game, to be awaited or iterated, from the view of the side to play.

        Awaiting needs a limit (LimitError); see `SimpleGtpEngine.analyse` and `watch`.
        """
        position = game.copy()
        watch = partial(self.plain.watch, position, limit, every=every, ownership=ownership, timeout=timeout)
        analyse = partial(self.plain.analyse, position, limit or Limit(), ownership=ownership, timeout=timeout)
        return AsyncAnalysis(_ThreadReports(self, watch), lambda: self._call(analyse))

    async def set_time(self, times: TimeSettings) -> None:
        """Set the clocks of both sides; see `SimpleGtpEngine.set_time`."""
        await self._call(self.plain.set_time, times)

    async def set_time_left(self, color: int | str, times: TimeSettings, left: TimeLeft) -> None:
        """Tell the engine what a clock shows; see `SimpleGtpEngine.set_time_left`."""
        await self._call(self.plain.set_time_left, color, times, left)

    async def options(self) -> dict[str, str]:
        """Return the settings that `set_option` changes, by name."""
        return await self._call(self.plain.options)

    async def set_option(self, name: str, value: str | float) -> None:
        """Change a setting of the engine; see `SimpleGtpEngine.set_option`."""
        await self._call(self.plain.set_option, name, value)

    def is_alive(self) -> bool:
        """Return whether the engine runs."""
        return self.plain.is_alive()

    def kill(self) -> None:
        """Kill the process and its children."""
        self.plain.kill()

    async def close(self) -> None:
        """Send `quit`, and kill the engine if it does not exit; at once if a call is still waiting for a reply."""
        if self._running:
            self.plain.kill()
        try:
            await asyncio.shield(asyncio.wrap_future(self._executor.submit(self.plain.close)))
        finally:
            self._executor.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _ThreadReports:
    """The reports of a plain stream, read in the engine's thread."""

    def __init__(self, engine: GtpEngine, watch: Callable[[], AnalysisStream]) -> None:
        self._engine: Final = engine
        self._watch: Final = watch
        self._stream: AnalysisStream | None = None
        self._is_stopped = False

    async def next(self) -> Analysis | None:
        """Return the next report, None after the last."""
        return await self._engine._call(self._next)

    def _next(self) -> Analysis | None:
        if self._stream is None:
            self._stream = self._watch()
        if self._is_stopped:
            self._stream.close()
        return next(self._stream, None)

    def stop(self) -> None:
        """Stop the search."""
        self._is_stopped = True
        if self._stream is not None:
            self._stream.close()


@checked
class AnalysisEngine:
    """An engine that speaks KataGo's analysis protocol, for asyncio; see `SimpleAnalysisEngine`.

    Any number of searches may be awaited at a time, as by `asyncio.gather`; the engine chooses their order.
    """

    def __init__(self, plain: SimpleAnalysisEngine) -> None:
        self.plain: Final = plain
        """The plain client."""

    @classmethod
    def popen(
        cls,
        command: str | Sequence[str],
        *,
        timeout: float = REPLY_SECONDS,
        label: str | None = None,
        log: Path | str | None = None,
    ) -> "EngineOpening[Self]":
        """Start an engine as a new process; see `SimpleGtpEngine.popen`."""
        return cls._opening(partial(SimpleAnalysisEngine.popen, command, timeout=timeout, label=label, log=log))

    @classmethod
    def connect(
        cls,
        host: str,
        port: int,
        *,
        timeout: float = REPLY_SECONDS,
        label: str | None = None,
        log: Path | str | None = None,
    ) -> "EngineOpening[Self]":
        """Connect to an engine that listens on a TCP port; see `SimpleGtpEngine.connect`."""
        make = partial(SimpleAnalysisEngine.connect, host, port, timeout=timeout, label=label, log=log)
        return cls._opening(make)

    @classmethod
    def _opening(cls, make: Callable[[], SimpleAnalysisEngine]) -> "EngineOpening[Self]":
        async def start() -> Self:
            with contextlib.closing(_OneThread()) as thread:
                return cls(await _started(make, thread.executor))

        return EngineOpening(start)

    @property
    def label(self) -> str:
        """What messages begin with."""
        return self.plain.label

    def analyse(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        every: float = REPORT_SECONDS,
        ownership: bool = False,
        timeout: float | None = None,
    ) -> AsyncAnalysis:
        """Return a search of the position of a game, to be awaited or iterated, from Black's view.

        Without a limit awaiting takes the engine's own, and iterating goes on until it is left.
        """
        position, seconds = game.copy(), self.plain.timeout if timeout is None else timeout

        def reports(limit: Limit | None, every: float) -> _QueryReports:
            return _QueryReports(
                self.plain, position, query_of(position, limit, every=every, ownership=ownership), seconds
            )

        async def result() -> Analysis:
            (found,) = await _finals(reports(limit or Limit(), math.inf), 1)
            return found

        return AsyncAnalysis(reports(limit, every), result)

    async def analyse_game(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        turns: Iterable[int] | None = None,
        ownership: bool = False,
        timeout: float | None = None,
    ) -> list[Analysis]:
        """Return what the engine finds after each number of moves; see `SimpleAnalysisEngine.analyse_game`."""
        wanted = list(range(len(game.moves) + 1) if turns is None else turns)
        query = query_of(game, limit or Limit(), every=math.inf, ownership=ownership) | {"analyzeTurns": wanted}
        seconds = self.plain.timeout if timeout is None else timeout
        finals = await _finals(_QueryReports(self.plain, game.copy(), query, seconds), len(set(wanted)))
        found = {report.turn: report for report in finals}
        return [found[turn] for turn in wanted]

    def is_alive(self) -> bool:
        """Return whether the engine runs."""
        return self.plain.is_alive()

    def kill(self) -> None:
        """Kill the process and its children."""
        self.plain.kill()

    async def close(self) -> None:
        """End all searches and the engine; kill it if it does not exit."""
        with contextlib.closing(_OneThread()) as thread:
            await asyncio.shield(asyncio.wrap_future(thread.executor.submit(self.plain.close)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _OneThread:
    """An executor for one call, which `close` does not wait for."""

    def __init__(self) -> None:
        self.executor: Final = ThreadPoolExecutor(1, thread_name_prefix="engine")

    def close(self) -> None:
        """Let the thread end after its call."""
        self.executor.shutdown(wait=False)


class _QueryReports:
    """What arrives for one query, which is sent when the first report is wanted."""

    def __init__(self, engine: SimpleAnalysisEngine, game: Game, query: dict[str, Any], timeout: float) -> None:
        self._engine: Final = engine
        self._game: Final = game
        self._query: Final = query
        self._timeout: Final = timeout
        self._name = ""
        self._arrived: asyncio.Queue[Analysis | EngineError] = asyncio.Queue()

    async def next(self) -> Analysis:
        """Return the next report; raises EngineError."""
        if not self._name:
            loop = asyncio.get_running_loop()

            def receive(answer: Any) -> None:
                with contextlib.suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(self._arrived.put_nowait, answer)

            self._name = self._engine.submit_analysis(self._game, self._query, receive, self._timeout)
        while True:
            try:
                answer = await asyncio.wait_for(self._arrived.get(), _WAIT_SECONDS)
            except TimeoutError:
                self._engine.check_life(self._timeout)
                continue
            if isinstance(answer, EngineError):
                raise answer
            return answer

    def stop(self) -> None:
        """End the query."""
        if self._name:
            self._engine.forget(self._name)


async def _finals(reports: _QueryReports, count: int) -> list[Analysis]:
    """Return so many results of a query, without the reports before them."""
    found = dict[int, Analysis]()
    try:
        while len(found) < count:
            report = await reports.next()
            if report.is_final:
                found[report.turn] = report
    finally:
        reports.stop()
    return list(found.values())
