"""Clients of engines that speak KataGo's analysis protocol: queries about positions, answered in no fixed order.

    SimpleAnalysisEngine  the plain client; any thread may ask
    AnalysisEngine        the same for asyncio
    query_of              the query about a game

A thread reads the responses and gives each to the query with its id.  Another one writes, so that a caller does not
wait for an engine that does not read.  Every query asks for reports at an interval, by which an engine that works
shows that it lives: what is silent for longer than the timeout is killed.

Source: KataGo's `docs/Analysis_Engine.md`.
"""

import asyncio
import contextlib
import json
import math
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any, Final

from gtp_engine.base.errors import (
    CommandFailedError,
    EngineDiedError,
    EngineError,
    EngineTimeoutError,
    LimitError,
    problem,
    shown,
)
from gtp_engine.engine.answers import Analysis, Limit
from gtp_engine.go.constants import BLACK, opponent
from gtp_engine.go.coords import Color, Move
from gtp_engine.go.game import Game
from gtp_engine.protocols.client import NO_LIMIT, AnalysisStream, AsyncAnalysis, read_response, vertices_of
from gtp_engine.protocols.client.connection import (
    RECEIVED,
    REPLY_SECONDS,
    REPORT_SECONDS,
    AsyncClient,
    EngineConnection,
    SimpleClient,
    checked_seconds,
    whole,
)

_SIGNS_OF_LIFE: Final = 4
"""Reports that a working engine sends in the time after which it counts as dead."""

_WAIT_SECONDS: Final = 0.25
"""Seconds between two looks whether the engine has been silent for too long."""

_LIMIT_KEYS: Final = ("maxTime", "maxPlayouts")
"""Settings that end a search: a warning about one means that the search would never end."""

Receive = Callable[[Any], None]
"""Gets what arrives for a query, an Analysis or an EngineError, from the reading thread."""


class SimpleAnalysisEngine(SimpleClient):
    """An engine that speaks KataGo's analysis protocol, such as "katago analysis …" or "gtp-engine analysis".

    `timeout` is the longest silence of the engine while it has something to answer, in seconds, perhaps infinite.  All
    methods are for any thread.  The end of a `with` block closes it.  Methods raise EngineError: EngineDiedError,
    EngineTimeoutError (the engine has been killed) and CommandFailedError, whose messages begin with the label.
    """

    def __init__(self, connection: EngineConnection, timeout: float = REPLY_SECONDS) -> None:
        super().__init__(connection, timeout)
        self._waiting: dict[str, tuple[Callable[[dict[str, Any]], Any], Receive]] = {}
        self._lock: Final = threading.Lock()
        self._count = 0
        self._heard = time.monotonic()
        self._failure: EngineError | None = None
        self._outbox: Final[queue.SimpleQueue[str | None]] = queue.SimpleQueue()
        self._threads: Final = [
            threading.Thread(target=work, name=f"{name} {connection.label}", daemon=True)
            for work, name in ((self._read, "responses of"), (self._write, "queries to"))
        ]
        for thread in self._threads:
            thread.start()

    # --- questions ---

    def version(self) -> str:
        """Return the engine's version."""
        answers = Answers(self)
        name = self.submit({"action": "query_version"}, answers.receive, lambda response: response)
        try:
            return str(answers.next(self.timeout).get("version", ""))
        finally:
            self.forget(name)

    def analyse(
        self, game: Game, limit: Limit | None = None, *, ownership: bool = False, timeout: float | None = None
    ) -> Analysis:
        """Return what the engine finds in the position of a game, from Black's view.

        Without a limit the engine's own settings hold.  With `ownership` also who will own each point.
        """
        report: Analysis | None = None
        with self.watch(game, limit or Limit(), every=math.inf, ownership=ownership, timeout=timeout) as reports:
            for report in reports:  # noqa: B007
                pass
        if report is None:
            raise EngineError(f"{self.label}: the query was ended without results")
        return report

    def analyse_game(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        turns: Iterable[int] | None = None,
        ownership: bool = False,
        timeout: float | None = None,
    ) -> list[Analysis]:
        """Return what the engine finds after each number of moves in `turns`, by default after 0, 1, … up to all.

        From Black's view, in the order of `turns`.  Positions are searched side by side, as many as the engine likes.
        Raises LimitError for turns that the game does not have.
        """
        wanted, answers, patience = _turns_of(game, turns), Answers(self), self._patience(timeout)
        queries = _queries_of_turns(game, limit or Limit(), wanted, ownership=ownership)
        names = [self.submit_analysis(game, query, answers.receive, timeout) for query in queries]
        found: dict[int, Analysis] = {}
        try:
            while set(found) != set(wanted):
                report = answers.next(patience)
                if report.is_final:
                    found[report.turn] = report
        finally:
            for name in names:
                self.forget(name)
        return [found[turn] for turn in wanted]

    def watch(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        every: float = REPORT_SECONDS,
        ownership: bool = False,
        timeout: float | None = None,
    ) -> AnalysisStream:
        """Return the reports of a search of the position of a game, one in `every` seconds, from Black's view.

        The search goes on until the limit, or until the stream is left.  `timeout` is the longest silence.
        """
        answers, seconds = Answers(self), self._patience(timeout)
        query = query_of(game, limit, every=every, ownership=ownership)
        name = self.submit_analysis(game, query, answers.receive, timeout)

        def read() -> Analysis:
            report: Analysis = answers.next(seconds, newest=True)
            if report.is_final:
                self.forget(name)
            return report

        return AnalysisStream(read, lambda: self.forget(name))

    def submit_analysis(self, game: Game, query: dict[str, Any], receive: Receive, timeout: float | None = None) -> str:
        """Send a query, which `query_of` makes; return its name, which `forget` ends.  `receive` gets its reports."""
        vertices, asked = vertices_of(game), dict(query)
        seconds = self._patience(timeout)
        sign = max(0.05, min(asked.get("reportDuringSearchEvery", math.inf), seconds / _SIGNS_OF_LIFE))
        asked["reportDuringSearchEvery"] = min(sign, 1e6)
        moves = len(game.moves) - len(asked["moves"])  # of a position that is sent without its moves

        def read(response: dict[str, Any]) -> Analysis:
            return read_response(response, vertices, turns_before=moves)

        return self.submit(asked, receive, read)

    def submit(self, query: dict[str, Any], receive: Receive, read: Callable[[dict[str, Any]], Any]) -> str:
        """Send any query and return the id that it gets; `receive` gets what `read` makes of each response to it."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            self._count += 1
            name = f"q{self._count}"
            if not self._waiting:
                self._heard = time.monotonic()
            self._waiting[name] = (read, receive)
        self._outbox.put(json.dumps({"id": name, **query}, separators=(",", ":"), allow_nan=False))
        return name

    def forget(self, name: str) -> None:
        """End a query: the engine stops its search, and what still arrives is dropped.  Again is harmless."""
        with self._lock:
            if self._waiting.pop(name, None) is None or self._failure is not None:
                return
            self._count += 1
            end = {"id": f"q{self._count}", "action": "terminate", "terminateId": name}
        self._outbox.put(json.dumps(end, separators=(",", ":")))

    def check_life(self, timeout: float) -> None:
        """Kill the engine if it has been silent for longer than `timeout` seconds; raises EngineTimeoutError."""
        if self._failure is None and time.monotonic() - self._heard > timeout:
            names = ", ".join(list(self._waiting)[:3])
            words = f"{self.label}: no response to query {names} within {timeout:g} s{self.connection.last_words()}"
            error = EngineTimeoutError(words)
            self._fail(error)
            self.kill()
            raise error

    # --- the two threads ---

    def _write(self) -> None:
        while (line := self._outbox.get()) is not None:
            try:
                self.connection.write(line)
            except EngineError as error:
                self._fail(error)
                return

    def _read(self) -> None:
        while True:
            try:
                _, line = self.connection.next_line("a query", math.inf, math.inf)
            except EngineError as error:
                self._fail(error)
                return
            self.connection.log.note(RECEIVED, line)
            try:
                response = json.loads(line)
            except ValueError:
                continue  # a banner or a message for people, as lines before a GTP reply
            if isinstance(response, dict):
                self._heard = time.monotonic()
                self._take(response)

    def _take(self, response: dict[str, Any]) -> None:
        """Give a response to its query; one about no query is an answer to all."""
        name = response.get("id")
        with self._lock:
            found = self._waiting.get(name) if isinstance(name, str) else None
        if "error" in response:
            where = f" (field {shown(response['field'])})" if "field" in response else ""
            text = str(response["error"])
            words = f"{self.label}: the query {shown(name) if name else ''}{where} failed: {whole(text)}"
            error = CommandFailedError(words.replace("query  ", "query "), reply=text)
            if found is not None:
                self._drop(name)
                found[1](error)
            elif name is None:
                self._fail(error)
            return
        if found is not None and "warning" in response and any(key in str(response["warning"]) for key in _LIMIT_KEYS):
            self.forget(str(name))
            words = f"{self.label}: the engine does not know a limit of the query {shown(name)}"
            found[1](CommandFailedError(f"{words}: {whole(str(response['warning']))}", reply=str(response["warning"])))
            return
        if found is None or "warning" in response:
            return
        read, receive = found
        if response.get("noResults"):
            self._drop(name)
            receive(EngineError(f"{self.label}: the query {name} was ended without results"))
            return
        try:
            answer = read(response)
        except (KeyError, TypeError, ValueError) as error:
            self._drop(name)
            answer = EngineError(f"{self.label}: a response to query {name} cannot be read: {whole(repr(error))}")
        receive(answer)

    def _drop(self, name: object) -> None:
        with self._lock:
            self._waiting.pop(str(name), None)

    def _fail(self, error: EngineError) -> None:
        """Answer all queries, those to come too, with an error."""
        with self._lock:
            self._failure = self._failure or error
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for _, receive in waiting:
            receive(error)

    # --- the end ---

    def close(self) -> None:
        """End all searches and the engine; kill it if it does not exit within five seconds.  Raises nothing."""
        if self._failure is None and self.is_alive():
            for name in list(self._waiting):
                self.forget(name)
        self._fail(EngineDiedError(f"{self.label}: the engine has been closed"))
        self._outbox.put(None)
        self._threads[1].join(_WAIT_SECONDS)
        self.connection.close(last_words="")
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(_WAIT_SECONDS)

    def kill(self) -> None:
        """Kill the process and its children."""
        super().kill()
        self._outbox.put(None)


class Answers:
    """Waits for what arrives for one query, from one thread."""

    def __init__(self, engine: SimpleAnalysisEngine) -> None:
        self._engine: Final = engine
        self._arrived: Final[queue.SimpleQueue[Any]] = queue.SimpleQueue()

    def receive(self, answer: object) -> None:
        """Keep an answer; from any thread."""
        self._arrived.put(answer)

    def next(self, timeout: float, *, newest: bool = False) -> Any:
        """Return the next answer, or with `newest` the last one that has arrived; raises the error that it is."""
        while True:
            try:
                answer = self._arrived.get(timeout=_WAIT_SECONDS)
            except queue.Empty:
                self._engine.check_life(timeout)
                continue
            while newest and not isinstance(answer, EngineError) and not self._arrived.empty():
                answer = self._arrived.get_nowait()
            if isinstance(answer, EngineError):
                raise answer
            return answer


def query_of(game: Game, limit: Limit | None, *, every: float, ownership: bool) -> dict[str, Any]:
    """Return the query about the position of a game; without a limit the search goes on until it is ended.

    A position whose side to play does not follow from the moves is sent without them.
    """
    moves, stones, first = game.moves, game.setup_stones, game.first_player
    if moves and game.to_play == moves[-1].color:
        moves, first = (), game.to_play
        stones = tuple(Move(color, point) for point, color in game.stones.items())
    settings: dict[str, Any] = {"reportAnalysisWinratesAs": "BLACK"}
    settings |= {} if limit is None or limit.time is None else {"maxTime": limit.time}
    settings |= {} if limit is None or limit.playouts is None else {"maxPlayouts": limit.playouts}
    visits = NO_LIMIT if limit is None or (limit.visits is None and limit != Limit()) else limit.visits

    def pairs(placed: Iterable[Move]) -> list[list[str]]:
        return [["B" if each.color == BLACK else "W", game.vertex(each.point)] for each in placed]

    return {
        "moves": pairs(moves),
        **({"initialStones": pairs(stones)} if stones else {}),
        "initialPlayer": Color(first).letter,
        "rules": json.loads(game.rules.to_json()),
        "komi": game.komi,
        "boardXSize": game.width,
        "boardYSize": game.height,
        "analyzeTurns": [len(moves)],
        "reportDuringSearchEvery": checked_seconds(every, "reports every"),
        "includeOwnership": ownership,
        "overrideSettings": settings,
        **({} if visits is None else {"maxVisits": visits}),
    }


def _turns_of(game: Game, turns: Iterable[int] | None) -> tuple[int, ...]:
    """Return the numbers of moves that are asked for, by default all; raises LimitError for others."""
    most = len(game.moves)
    wanted = tuple(range(most + 1)) if turns is None else tuple(turns)
    for turn in wanted:
        if not (isinstance(turn, Integral) and 0 <= turn <= most):
            raise LimitError(problem(f"turn {shown(turn)} of an analysis", expected=f"an integer from 0 to {most}"))
    return tuple(map(int, wanted))


def _queries_of_turns(game: Game, limit: Limit, turns: tuple[int, ...], *, ownership: bool) -> Iterator[dict[str, Any]]:
    """Yield the queries about a game after so many moves; a last position whose side to play was set is its own."""
    query, wanted = query_of(game, limit, every=math.inf, ownership=ownership), dict.fromkeys(turns)
    if len(query["moves"]) < len(game.moves):
        if len(game.moves) in wanted:
            yield query
            del wanted[len(game.moves)]
        before = game.copy()
        before.to_play = opponent(game.to_play)
        query = query_of(before, limit, every=math.inf, ownership=ownership)
    if wanted:
        yield {**query, "analyzeTurns": list(wanted)}


class AnalysisEngine(AsyncClient[SimpleAnalysisEngine]):
    """An engine that speaks KataGo's analysis protocol, for asyncio; see `SimpleAnalysisEngine`.

    Any number of searches may be awaited at a time, as by `asyncio.gather`; the engine chooses their order.
    """

    _plain_class = SimpleAnalysisEngine

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

        Without a limit awaiting takes the engine's own, and iterating goes on until it is left.  A report comes about
        every `every` seconds; `timeout` is the longest silence in seconds.
        """
        position, seconds = game.copy(), self.plain._patience(timeout)

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
        """Return what the engine finds after each number of moves; see `SimpleAnalysisEngine.analyse_game`.

        `timeout` is the longest silence in seconds.
        """
        wanted, seconds = _turns_of(game, turns), self.plain._patience(timeout)
        queries = _queries_of_turns(game, limit or Limit(), wanted, ownership=ownership)
        reports = [_QueryReports(self.plain, game.copy(), query, seconds) for query in queries]
        finals = await asyncio.gather(*(_finals(each, len(each.query["analyzeTurns"])) for each in reports))
        found = {report.turn: report for each in finals for report in each}
        return [found[turn] for turn in wanted]


class _QueryReports:
    """What arrives for one query, which is sent when the first report is wanted."""

    def __init__(self, engine: SimpleAnalysisEngine, game: Game, query: dict[str, Any], timeout: float) -> None:
        self._engine: Final = engine
        self._game: Final = game
        self.query: Final = query
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

            self._name = self._engine.submit_analysis(self._game, self.query, receive, self._timeout)
        while True:
            try:
                async with asyncio.timeout(_WAIT_SECONDS):  # not wait_for, which in Python 3.11 may lose a cancellation
                    answer = await self._arrived.get()
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
