"""Clients of engines that speak KataGo's analysis protocol: queries about positions, answered in no fixed order.

    AnalysisEngine        the client for asyncio
    SimpleAnalysisEngine  the same without asyncio; any thread may ask
    query_of              the query about a game

A task reads the responses and gives each to the query with its id.  Every query about a position asks for reports at an
interval, by which an engine that works shows that it lives: what is silent for longer than the timeout is killed.

Source: KataGo's `docs/Analysis_Engine.md`.
"""

import asyncio
import contextlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from numbers import Integral
from typing import Any, Final

from gtp_engine.base.errors import (
    ArgumentError,
    CommandFailedError,
    EngineDiedError,
    EngineError,
    EngineTimeoutError,
    LimitError,
    of_kind,
    shown,
)
from gtp_engine.engine.answers import Analysis, Limit, question
from gtp_engine.go.constants import opponent
from gtp_engine.go.coords import Color, Move
from gtp_engine.go.game import Game
from gtp_engine.protocols.client import NO_LIMIT, AsyncAnalysis, read_response, vertices_among, vertices_of
from gtp_engine.protocols.client.connection import (
    RECEIVED,
    REPLY_SECONDS,
    REPORT_SECONDS,
    AsyncClient,
    EngineConnection,
    checked_seconds,
    whole,
)
from gtp_engine.protocols.client.simple import SimpleClient, simple, streaming

_SIGNS_OF_LIFE: Final = 4
"""Reports that a working engine sends in the time after which it counts as dead."""

_LIMIT_KEYS: Final = ("maxTime", "maxPlayouts")
"""Settings that end a search: a warning about one means that the search would never end."""


class AnalysisEngine(AsyncClient):
    """An engine that speaks KataGo's analysis protocol, such as "katago analysis …" or "gtp-engine analysis".

    For asyncio.  Any number of searches may be awaited at a time, as by `asyncio.gather`; the engine chooses their
    order.  `timeout` is the longest silence of the engine while it has something to answer, in seconds, perhaps
    infinite.  The end of an `async with` block closes it.  Methods raise EngineError: EngineDiedError,
    EngineTimeoutError (the engine has been killed) and CommandFailedError, whose messages begin with the label;
    LimitError for a time that is not above 0 seconds, and InvalidVertexError.

        async with AnalysisEngine.popen("katago analysis") as engine:
            results = await engine.analyse_game(game, Limit(visits=100))
    """

    def __init__(self, connection: EngineConnection, timeout: float = REPLY_SECONDS) -> None:
        super().__init__(connection, timeout)
        self._waiting: dict[str, _Query] = {}
        self._count = 0
        self._heard = time.monotonic()
        self._failure: EngineError | None = None
        self._reader: asyncio.Task[None] | None = None

    async def hello(self) -> None:
        """Begin to read responses; nothing is asked."""
        self._reader = asyncio.create_task(self._read())

    # --- questions ---

    async def version(self) -> str:
        """Return the engine's version."""
        (response,) = await self.query({"action": "query_version"})
        return str(response.get("version", ""))

    async def query(self, query: Mapping[str, Any], *, timeout: float | None = None) -> list[dict[str, Any]]:
        """Return the last responses to any query of the protocol, as they are: one for each of its `analyzeTurns`.

        The query gets an `id` here.  `timeout` is the longest silence in seconds.  Raises ArgumentError for no JSON.
        """
        asked = _Query(self, of_kind(query, Mapping, "query"), self._patience(timeout))
        found = list[dict[str, Any]]()
        try:
            while len(found) < asked.turns:
                response = await asked.answer()
                found += [] if response.get("isDuringSearch") else [response]
        finally:
            asked.stop()
        return found

    def analyse(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        every: float = REPORT_SECONDS,
        ownership: bool = False,
        allow: Iterable[int | str] = (),
        avoid: Iterable[int | str] = (),
        overrides: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> AsyncAnalysis:
        """Return a search of the position of a game, from Black's view.

        Awaiting it, as `SimpleAnalysisEngine.analyse` does, returns the result; without a limit the engine's own holds.
        Iterating, as over `SimpleAnalysisEngine.watch`, yields reports, one in `every` seconds, until the limit or
        until it is left.  `timeout` is the longest silence in seconds.  With `ownership` also who will own each point.
        `allow` and `avoid` are the only moves to search, and those not to search, in this position.  `overrides` are
        KataGo's settings for this query, such as {"humanSLProfile": "rank_5k"}.
        """
        settings = question(game, limit)[1]
        position, patience = game.copy(), self._patience(timeout)
        restrictions = {
            key: [{"player": game.to_play.letter, "moves": vertices, "untilDepth": 1}]
            for key, moves in (("allowMoves", allow), ("avoidMoves", avoid))
            if (vertices := vertices_among(game, moves))
        }

        def ask(wants_result: bool) -> _Query:
            until, interval = (settings, math.inf) if wants_result else (limit, every)
            asked = query_of(position, until, every=interval, ownership=ownership) | restrictions
            asked["overrideSettings"] |= overrides or {}
            return _Query(self, asked, patience, position)

        return AsyncAnalysis(ask)

    async def analyse_game(
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
        `timeout` is the longest silence in seconds.  Raises LimitError for turns that the game does not have.
        """
        game, limit = question(game, limit)
        wanted, seconds = _turns_of(game, turns), self._patience(timeout)
        queries = _queries_of_turns(game, limit, wanted, ownership=ownership)
        found: dict[int, Analysis] = {}
        with contextlib.ExitStack() as stack:
            asked = [_Query(self, query, seconds, game) for query in queries]
            for query in asked:
                stack.callback(query.stop)
                await query.begin()
            for query in asked:
                left = query.turns
                while left:
                    report: Analysis = await query.answer()
                    if report.is_final:
                        found[report.turn] = report
                        left -= 1
        return [found[turn] for turn in wanted]

    # --- queries and responses ---

    def _send(self, query: Mapping[str, Any]) -> str:
        """Send a query and return the id that it gets; raises EngineError, and ArgumentError for what is not JSON."""
        if self._failure is not None:
            raise self._failure
        self._count += 1
        name = f"q{self._count}"
        if not self._waiting:
            self._heard = time.monotonic()
        try:
            text = json.dumps({**query, "id": name}, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:  # numpy's numbers; NaN
            raise ArgumentError(f"query: {error}", expected="values of JSON") from None
        self.connection.write(text)
        return name

    def _forget(self, name: str) -> None:
        """End a query: the engine stops its search, and what still arrives is dropped.  Again is harmless."""
        if self._waiting.pop(name, None) is not None and self._failure is None:
            self._send({"action": "terminate", "terminateId": name})

    async def _check_life(self, timeout: float) -> None:
        """Kill the engine if it has been silent for longer than `timeout` seconds; raises EngineTimeoutError."""
        if self._failure is None and time.monotonic() - self._heard > timeout:
            names = ", ".join(list(self._waiting)[:3])
            self.kill()
            words = f"{self.label}: no response to query {names} within {timeout:g} s"
            error = EngineTimeoutError(f"{words}{await self.connection.last_words()}")
            self._fail(error)
            raise error

    async def _read(self) -> None:
        while self._failure is None:
            try:
                _, line = await self.connection.next_line("a query", math.inf, math.inf)
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
        found = self._waiting.get(name) if isinstance(name, str) else None
        if "error" in response:
            where = f" (field {shown(response['field'])})" if "field" in response else ""
            text = str(response["error"])
            which = f"the query {shown(name)}" if name else "the query"
            error = CommandFailedError(f"{self.label}: {which}{where} failed: {whole(text)}", reply=text)
            if found is not None:
                self._waiting.pop(str(name))
                found.receive(error)
            elif name is None:
                self._fail(error)
        elif found is not None and "warning" in response:
            text = str(response["warning"])
            if any(key in text for key in _LIMIT_KEYS):
                self._forget(str(name))
                words = f"{self.label}: the engine does not know a limit of the query {shown(name)}: {whole(text)}"
                found.receive(CommandFailedError(words, reply=text))
        elif found is not None and response.get("noResults"):
            self._waiting.pop(str(name))
            found.receive(EngineError(f"{self.label}: the query {name} was ended without results"))
        elif found is not None:
            try:
                found.receive(found.read(response))
            except (KeyError, TypeError, ValueError) as error:
                self._waiting.pop(str(name))
                words = f"{self.label}: a response to query {name} cannot be read: {whole(repr(error))}"
                found.receive(EngineError(words))
            if not response.get("isDuringSearch"):
                found.left -= 1
            if not found.left:
                self._waiting.pop(str(name), None)

    def _fail(self, error: EngineError) -> None:
        """Answer all queries, those to come too, with an error."""
        self._failure = self._failure or error
        waiting = list(self._waiting.values())
        self._waiting.clear()
        for query in waiting:
            query.receive(error)

    # --- the end ---

    def _take_leave(self) -> None:
        """End all searches."""
        if self._reader is not None:
            self._reader.cancel()
        names = list(self._waiting) if self.is_alive() else []
        self._fail(EngineDiedError(f"{self.label}: the engine has been closed"))
        for name in names:
            self.connection.write(json.dumps({"id": f"end of {name}", "action": "terminate", "terminateId": name}))


class _Query:
    """What arrives for a query, which is sent when the first answer is wanted; `read` makes answers of responses.

    A query of `query_of` comes with its game; its answers are Analyses.
    """

    def __init__(
        self, engine: AnalysisEngine, query: Mapping[str, Any], timeout: float, game: Game | None = None
    ) -> None:
        self._engine: Final = engine
        self.turn: Callable[[], AbstractAsyncContextManager[None]] = contextlib.nullcontext
        self.read: Callable[[dict[str, Any]], Any] = dict
        if game is not None:
            turns_before = len(game.moves) - len(query["moves"])  # of a position that is sent without its moves
            self.read = partial(read_response, vertices=vertices_of(game), turns_before=turns_before)
            interval = max(0.05, min(query["reportDuringSearchEvery"], timeout / _SIGNS_OF_LIFE, 1e6))
            query = {**query, "reportDuringSearchEvery": interval}
        self._query: Final = query
        self._timeout: Final = timeout
        self.turns: Final = len(query.get("analyzeTurns", (0,)))
        self.left = self.turns  # that the engine has not answered yet
        self._name = ""
        self._arrived: Final[asyncio.Queue[Any]] = asyncio.Queue()

    def receive(self, answer: object) -> None:
        """Keep an answer, or the EngineError that it is."""
        self._arrived.put_nowait(answer)

    async def begin(self) -> None:
        """Send the query."""
        if not self._name:
            self._name = self._engine._send(self._query)
            self._engine._waiting[self._name] = self

    async def answer(self) -> Any:
        """Return the next answer; raises EngineError, also for an engine that has been silent for too long."""
        await self.begin()
        while True:
            heard = self._engine._heard
            try:
                async with asyncio.timeout(min(heard + self._timeout - time.monotonic() + 0.01, 1e9)):
                    answer = await self._arrived.get()
            except TimeoutError:
                await self._engine._check_life(self._timeout)
                continue
            if isinstance(answer, EngineError):
                raise answer
            return answer

    async def next(self) -> Analysis:
        """Return the newest report; raises EngineError."""
        report: Analysis = await self.answer()
        while not report.is_final and not self._arrived.empty():
            report = await self.answer()
        return report

    def stop(self) -> None:
        """End the query."""
        self._engine._forget(self._name)


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
        return [[each.color.letter, game.vertex(each.point)] for each in placed]

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
            raise LimitError(f"turn {shown(turn)} of an analysis", expected=f"an integer from 0 to {most}")
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


class SimpleAnalysisEngine(SimpleClient[AnalysisEngine]):
    """An engine that speaks KataGo's analysis protocol, without asyncio; see `AnalysisEngine`, whose methods it has.

    Any thread may ask.  The end of a `with` block closes it.  Methods raise EngineError, LimitError for a time that is
    not above 0 seconds, and InvalidVertexError.

        with SimpleAnalysisEngine.popen("katago analysis") as engine:
            results = engine.analyse_game(game, Limit(visits=100))
    """

    _client_class = AnalysisEngine

    version = simple(AnalysisEngine.version)
    query = simple(AnalysisEngine.query)
    analyse = simple(AnalysisEngine.analyse)
    analyse_game = simple(AnalysisEngine.analyse_game)
    watch = streaming(AnalysisEngine.analyse)
