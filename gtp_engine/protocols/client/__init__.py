"""Clients of engines: programs that speak GTP or KataGo's analysis protocol, as processes or over TCP.

    AsyncAnalysis                    a search while it goes on
    read_report, read_response       answers as engines write them

    connection        lines to and from a process or a socket, with time limits, a log and the engine's last words
    gtp_engines       GtpEngine: moves, analyses, clocks, options, one command at a time
    analysis_engines  AnalysisEngine: many queries about positions at a time
    simple            what makes SimpleGtpEngine and SimpleAnalysisEngine of them, without asyncio

What is asked of an engine and what it answers are the same values for this package's `Engine` and for other engines
(`engine.answers`).
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import pairwise, takewhile
from typing import Any, Final, Protocol, Self

from gtp_engine.base.errors import EngineError
from gtp_engine.engine.answers import Analysis, MoveAnalysis
from gtp_engine.go.coords import Color, points_by_number
from gtp_engine.go.game import Game, several

NO_LIMIT: Final = 1_000_000_000
"""Visits for a search that is to go on until it is stopped."""


class Reports(Protocol):
    """The source of reports of an `AsyncAnalysis`; who waits for its result alone has the `turn` meanwhile."""

    turn: Callable[[], AbstractAsyncContextManager[None]]

    async def begin(self) -> None:
        """Ask for the search."""

    async def next(self) -> Analysis | None:
        """Return the newest report that has arrived, or wait for one; None after the last."""

    def stop(self) -> None:
        """Stop the search; blocks for no reply, and again is harmless."""


class AsyncAnalysis:
    """A search that an engine has been asked for.

    `await` returns the result, again the same; `async for` yields an `Analysis` now and then, the last one with
    `is_final`.  The search begins then, or with an `async with` block.  It ends at its limit, and when it is left: by
    `close`, at the end of the block, when the loop over it is left by `break` or an error, or with the next command to
    an engine that does one thing at a time; while a result is awaited, other commands wait.  A task of it is made by
    `asyncio.ensure_future`.  Raises EngineError.

    `ask` returns the reports of the search; it is told whether only the result is wanted.

        async for report in engine.analyse(game, Limit(visits=1000), every=0.5):
            print(report)
    """

    def __init__(self, ask: Callable[[bool], Reports]) -> None:
        self._ask: Final = ask
        self._reports: Reports | None = None
        self._last: Analysis | None = None
        self._is_over = False

    def __await__(self) -> Generator[Any, None, Analysis]:
        return self._result().__await__()

    async def _result(self) -> Analysis:
        if not (self._is_over and self._last):
            if self._reports is not None:
                self._reports.stop()
            self._reports = self._ask(True)
            async with self._reports.turn():
                async for _ in self:
                    pass
        if self._last is None:
            raise EngineError("the analysis ended without a report")
        return self._last

    def __aiter__(self) -> AsyncIterator[Analysis]:
        return _Loop(self)

    async def __anext__(self) -> Analysis:
        if self._is_over:
            raise StopAsyncIteration
        try:
            report = await (await self._begun()).next()
        except BaseException:
            self.close()
            raise
        if report is None or report.is_final:
            self.close()
        if report is None:
            raise StopAsyncIteration
        self._last = report
        return report

    async def _begun(self) -> Reports:
        reports = self._reports = self._reports or self._ask(False)
        await reports.begin()
        return reports

    def close(self) -> None:
        """Stop the search."""
        if not self._is_over:
            self._is_over = True
            if self._reports is not None:
                self._reports.stop()

    async def __aenter__(self) -> Self:
        await self._begun()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


class _Loop:
    """A loop over a search, which it ends when it is left, even if the search is still referred to."""

    def __init__(self, search: AsyncAnalysis) -> None:
        self._search: Final = search

    def __aiter__(self) -> AsyncIterator[Analysis]:
        return self

    async def __anext__(self) -> Analysis:
        return await self._search.__anext__()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self._search.close()


def vertices_of(game: Game) -> tuple[str, ...]:
    """Return the vertices of a board, row by row from the top left."""
    return tuple(point.vertex for point in points_by_number(game.width, game.height).values() if not point.is_pass)


def vertices_among(game: Game, moves: Iterable[int | str]) -> list[str]:
    """Return moves as vertices; raises InvalidVertexError."""
    return [game.vertex(move) for move in several(moves)]


def read_report(line: str, vertices: tuple[str, ...], *, to_play: Color, scale: float, turn: int) -> Analysis | None:
    """Return what a line of kata-analyze or lz-analyze says, from the view of the side to play; None for another line.

    `scale` is what a winrate of 1 is in it: 1, or 10,000 for lz-analyze.  `vertices` are those of the board, row by row
    from the top left.  Raises KeyError and ValueError for a line that cannot be read.
    """
    words = line.split()
    if words[:1] != ["info"]:
        return None
    moves, root, ownership = list[MoveAnalysis](), dict[str, str](), dict[str, float]()
    begins = [place for place, word in enumerate(words) if word in _PARTS]
    for begin, end in pairwise([*begins, len(words)]):
        kind, values, numbers = _read_part(*words[begin:end])
        if kind == "info" and "move" in values:
            moves.append(_read_move(values, numbers.get("pv", []), scale))
        elif kind == "rootInfo":
            root = values
        ownership |= dict(zip(vertices, map(float, numbers.get("ownership", ())), strict=False))
    if not moves:
        return None
    best = moves[0]
    return Analysis(
        side=to_play,
        to_play=to_play,
        visits=int(root["visits"]) if "visits" in root else sum(move.visits for move in moves),
        winrate=float(root["winrate"]) / scale if "winrate" in root else best.winrate,
        lead=float(root["scoreLead"]) if "scoreLead" in root else best.lead,
        moves=tuple(moves),
        ownership=ownership,
        turn=turn,
        is_final=False,
    )


_LISTS: Final = frozenset(
    {"pv", "pvVisits", "pvEdgeVisits", "ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev"}
)
"""Keys that several values follow."""
_PARTS: Final = frozenset({"info", "rootInfo"})
"""Words with which the parts of a line begin."""


def _read_part(kind: str, *words: str) -> tuple[str, dict[str, str], dict[str, list[str]]]:
    """Return the first word of a part of a line, and its values and its lists by key."""
    values, lists, place = dict[str, str](), dict[str, list[str]](), 0
    while place < len(words):
        word = words[place]
        place += 1
        if word in _LISTS:
            lists[word] = [*takewhile(lambda each: each not in _LISTS and each != "isSymmetryOf", words[place:])]
            place += len(lists[word])
        elif place < len(words):
            values[word] = words[place]
            place += 1
    return kind, values, lists


def _read_move(values: Mapping[str, Any], pv: Iterable[str], scale: float) -> MoveAnalysis:
    """Return a move with its values, numbers or text, in which a winrate of 1 is `scale`."""

    def number(key: str, unit: float = 1.0) -> float | None:
        return float(values[key]) / unit if key in values else None

    return MoveAnalysis(
        vertex=values["move"],
        visits=int(values["visits"]),
        winrate=float(values["winrate"]) / scale,
        lead=number("scoreLead") if "scoreLead" in values else number("scoreMean"),
        prior=number("prior", scale),
        lcb=number("lcb", scale),
        pv=tuple(pv),
    )


def read_response(response: Mapping[str, Any], vertices: tuple[str, ...], *, turns_before: int) -> Analysis:
    """Return a response whose numbers are Black's; raises KeyError, TypeError, ValueError.

    `vertices` are those of the board, row by row from the top left; `turns_before` were not sent.
    """
    root = response["rootInfo"]
    infos = sorted(response["moveInfos"], key=lambda info: int(info["order"]))
    return Analysis(
        side=Color.BLACK,
        to_play=Color.WHITE if root.get("currentPlayer", "B") == "W" else Color.BLACK,
        visits=int(root["visits"]),
        winrate=float(root["winrate"]),
        lead=float(root["scoreLead"]) if "scoreLead" in root else None,
        moves=tuple(_read_move(info, info.get("pv", ()), 1.0) for info in infos),
        ownership=dict(zip(vertices, map(float, response.get("ownership", ())), strict=False)),
        turn=int(response.get("turnNumber", 0)) + turns_before,
        is_final=not response.get("isDuringSearch", False),
    )
