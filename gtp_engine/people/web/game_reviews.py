"""Reviews of games that pages show, one at a time, each in a thread; those that are finished are kept on disk.

Like reviews, what pages ask about openings and problems is searched by guests of the network (`Studies`).

What has been found so far goes to pages as messages.  A message of the type `review` has these fields:

    id         the game
    state      "none", "running" or "finished"; with "none" there are no other fields
    share      how much is done, from 0 to 1
    review     the review of the moves whose positions have been searched, null before the first, as in a review's JSON
               file (see docs/review.md), but for what pages do not draw: boards, owners and all candidates but the best
"""

import asyncio
import base64
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from gtp_engine.base.errors import TengenError, problem, shown
from gtp_engine.config import Config
from gtp_engine.config.sections import LEVELS
from gtp_engine.evaluation.evaluator import Evaluator, ExclusiveEvaluator
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.people.rank_estimate import RankTable
from gtp_engine.people.review import (
    Effort,
    Finding,
    GameAnalysis,
    GameLine,
    SavedWork,
    annotated,
    new_review,
    page_of,
    read_game,
)
from gtp_engine.people.review.annotations import is_own_output, stored_findings
from gtp_engine.people.review.lessons import People, completed, human_network
from gtp_engine.people.review.openings import compared, moves_played
from gtp_engine.people.review.problems.life_and_death import DEEPER, LifeAndDeath
from gtp_engine.people.web.engine_host import EngineHost, GuestCancelled, GuestEvaluator
from gtp_engine.people.web.open_games import Message, OpenGame, OpenGames
from gtp_engine.people.web.saved_games import JsonFileError, JsonFiles
from gtp_engine.protocols.analysis.query import Fields, QueryError, parse_query
from gtp_engine.search.limits import CancelToken

GROUP: Final = 8
"""Positions searched side by side: few, so that pages get the progress every few seconds."""

MOST_REVIEWS: Final = 50
"""Reviews that are kept on disk, about a megabyte each; the oldest makes room for a new one."""

_FORMAT: Final = 3
"""The format of the files: the record and the review's JSON."""

_OLD_FORMAT: Final = 2
"""The one before: a page with the JSON in it, and the annotated record."""

_DATA_IN_PAGE: Final = re.compile(r'<script[^>]* id="data"[^>]*>(.*?)</script>', re.DOTALL)

MOST_IN_MEMORY: Final = 16
"""Finished reviews that are kept in memory: as many as games may be open; one of 250 moves takes 4 MB."""

STORED: Final = "the network of an earlier review"
"""What stands for the network of a review that is read from a record."""

MOST_QUESTIONS: Final = 2**50
"""Numbers of the questions of a page are below."""

_PROBLEM_VISITS: Final = 200
"""Visits of each search for a problem: a person waits, so unclear answers are searched deeper only once."""

FORMATS: Final = ("html", "sgf")
"""The files of a review that pages offer."""

OnFound = Callable[[float, Mapping[str, Any] | None], None]
"""Receives the share that is done, from 0 to 1, and what has been found."""


class FinishedReview(NamedTuple):
    """A finished review: the record that was reviewed, and what `GameReview.to_json` has written of it."""

    record: bytes
    review: dict[str, Any]

    @staticmethod
    def from_json(values: dict[str, Any]) -> "FinishedReview | None":
        """Return the review in a file, None for another format; raises TypeError, LookupError or ValueError."""
        if values.get("format") == _FORMAT:
            return FinishedReview(base64.b64decode(values["record"], validate=True), {**values["review"]})
        if values.get("format") != _OLD_FORMAT:
            return None
        page, record = (base64.b64decode(values["files"][kind], validate=True) for kind in ("html", "sgf"))
        return FinishedReview(record, {**json.loads(_DATA_IN_PAGE.findall(page.decode())[0])})

    def file(self, format: str) -> bytes:
        """Return the page or the annotated record, which a record that is a review already is itself."""
        if format == "html":
            return page_of(self.review, title="Game").encode()
        if is_own_output(self.record):
            return self.record
        game = self.review["game"]
        line = read_game(self.record, rules=Rules.parse(game["rules"]), komi=game["komi"])
        findings = [Finding.from_json(each) for each in self.review["positions"]]
        return annotated(self.record, new_review(line, findings, self.review["network"]))


def _message(name: str, state: str, share: float, review: Mapping[str, Any] | None) -> Message:
    if review is not None:
        positions = [{**each, "candidates": each["candidates"][:1]} for each in review["positions"]]
        for each in positions:
            del each["stones"], each["ownership"]
        review = {**review, "positions": positions}
    return {"type": "review", "id": name, "state": state, "share": round(share, 3), "review": review}


def review_record(
    data: bytes, config: Config, analysis: GameAnalysis, people: People | None, send: OnFound
) -> FinishedReview:
    """Return the review of a record, with what `people` play.

    Raises SgfError for a record that cannot be reviewed, and what the analysis raises.
    """
    line, saved = _line_of(data, config), SavedWork(None, "")
    sent: list[Finding] = []

    def progress(share: float, text: str) -> None:
        nonlocal sent
        first = [saved.get(True, number) for number in range(len(line.positions))]
        found = [saved.get(False, each.number) or each for each in first if each is not None]  # second looks count
        if not found:
            send(share, None)
        elif found != sent:
            sent = found
            moves = line.moves[: len(found) - 1]  # those between the positions that have been found
            beginning = GameLine(replace(line.record, moves=moves), line.positions[: len(found)])
            send(share, new_review(beginning, found, analysis.network(line)).to_json())

    review = new_review(line, analysis.run(line, saved, progress), analysis.network(line))
    review = completed(review, analysis, people)
    return FinishedReview(data, {**review.to_json(), "key": analysis.key(data, line)})


def stored_review(data: bytes, config: Config) -> FinishedReview | None:
    """Return the review that is stored in a record itself, if it is a review of ours; nothing is searched."""
    line = _line_of(data, config)
    findings = stored_findings(data, line)
    if findings is None:
        return None
    return FinishedReview(data, completed(new_review(line, findings, STORED), None).to_json())


def _line_of(data: bytes, config: Config) -> GameLine:
    """Return the game of a record, which may name no rules or komi."""
    return read_game(data, rules=Rules.parse(config.game.rules), komi=config.game.komi)


class SavedReviews(JsonFiles):
    """The reviews in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "review")
        self._accuracy: Final = lru_cache(2 * MOST_REVIEWS)(self._read_accuracy)  # some were written again since

    def save(self, name: str, review: FinishedReview) -> None:
        """Write the review of the game `name`; raises JsonFileError."""
        record = base64.b64encode(review.record).decode("ascii")
        self.write(name, {"format": _FORMAT, "record": record, "review": review.review})
        self.keep(MOST_REVIEWS)

    def load(self, name: str) -> FinishedReview | None:
        """Return the review of the game `name`, None if there is none of a known format; raises JsonFileError."""
        return self.read(name, FinishedReview.from_json)

    def accuracies(self) -> dict[str, Message]:
        """Return by games the `line` that was reviewed, and the accuracy of "B" and "W", None without a move."""
        found = {}
        for name, written in self.newest()[:MOST_REVIEWS]:
            with suppress(JsonFileError, TypeError, LookupError):
                found[name] = self._accuracy(name, written)
        return found

    def _read_accuracy(self, name: str, _written: float) -> Message:
        """Return the accuracies in a file as it was written at this time; raises one of these errors without any."""
        finished = self.load(name)
        if finished is None:
            raise LookupError(name)
        players, moves = finished.review["players"], finished.review["moves"]
        line = [[move["color"], move["vertex"]] for move in moves]
        return {"line": line, **{color: players[color]["accuracy"] for color in ("B", "W")}}


class GameReviews:
    """Reviews open `games` with the network of `host`, one at a time, and keeps the reviews in `saved`.

    Coroutines are for the event loop.
    """

    def __init__(self, host: EngineHost, games: OpenGames, saved: SavedReviews) -> None:
        self.host: Final = host
        self.saved: Final = saved
        self.games: Final = games
        self._lock: Final = asyncio.Lock()
        self._human: tuple[Evaluator, RankTable | None] | None = None
        self._loading: Final = threading.Lock()
        self._running = ""  # the game that is being reviewed
        self._cancel = CancelToken()
        self._task: asyncio.Task[None] | None = None
        self._latest: Message = {}
        self._finished: Final[dict[str, FinishedReview]] = {}  # the newest is the last

    async def message(self, name: str) -> Message:
        """Return what is known about the review of a game as a message."""
        finished = await self._find(name)
        if self._running == name and self._latest:
            return self._latest
        if finished is None:
            return {"type": "review", "id": name, "state": "none"}
        return _message(name, "finished", 1.0, finished.review)

    async def recall(self, game: OpenGame) -> None:
        """Take over the review that is stored in the record of a game, if it has one and no newer one is known."""
        if await self._find(game.name) is not None:
            return
        with suppress(TengenError):  # a record without moves
            stored = await asyncio.to_thread(stored_review, game.record(), self.host.config)
            if stored is not None:
                self._remember(game.name, stored)
                await asyncio.to_thread(self.saved.save, game.name, stored)  # the list of games reads it there

    async def remove(self, name: str) -> None:
        """End and remove the review of a game that is removed; raises JsonFileError."""
        await self.cancel(name)
        self._finished.pop(name, None)
        await asyncio.to_thread(self.saved.remove, name)

    async def start(self, game: OpenGame, effort: Effort) -> None:
        """Begin to review a game, in the background, with this effort.

        A review that no page shows gives way; raises TengenError while a page shows another one that is under way.
        """
        async with self._lock:
            if self._running == game.name:
                return
            if self.games.is_shown(self._running):
                raise TengenError("another game is being reviewed; try again when that review is finished")
            await self._end()
            self._running, self._latest, self._cancel = game.name, {}, CancelToken()
            self._task = asyncio.create_task(self._review(game, effort, self._cancel))

    async def cancel(self, name: str) -> None:
        """End the review of a game if it is under way; what it has found is dropped."""
        async with self._lock:
            if self._running == name:
                await self._end()

    async def file(self, name: str, format: str) -> Message:
        """Return a file of a finished review as a message, its bytes in base 64; raises TengenError."""
        if format not in FORMATS:
            raise TengenError(f"format {shown(format)}", expected=" or ".join(FORMATS))
        finished = await self._find(name)
        if finished is None:
            raise TengenError("this game has no finished review: start one")
        content = base64.b64encode(await asyncio.to_thread(finished.file, format)).decode("ascii")
        return {"type": "review_file", "id": name, "format": format, "content": content}

    async def close(self) -> None:
        """End the review that is under way."""
        async with self._lock:
            await self._end()
            if self._human is not None:
                self._human[0].close()

    async def _end(self) -> None:
        self._cancel.cancel()
        if self._task is not None:
            await asyncio.wait((self._task,))

    async def _review(self, game: OpenGame, effort: Effort, cancel: CancelToken) -> None:
        """Review a game, and tell its pages."""
        loop, name = asyncio.get_running_loop(), game.name

        def send(share: float, review: Mapping[str, Any] | None) -> None:
            loop.call_soon_threadsafe(self._tell, _message(name, "running", share, review))

        def work() -> FinishedReview:
            record, config, (network, people) = game.reviewable_record(), self.host.config, self.guests(cancel)
            return review_record(record, config, GameAnalysis(config, network, effort, group=GROUP), people, send)

        try:
            finished = await asyncio.to_thread(work)
            self._remember(name, finished)
            await asyncio.to_thread(self.saved.save, name, finished)
        except GuestCancelled:
            pass
        except Exception as error:
            self.games.publish(name, self.games.error_message(error, "in a review"))
        finally:
            self._running = ""
            self.games.publish(name, await self.message(name))

    async def _find(self, name: str) -> FinishedReview | None:
        """Return the finished review of a game, if there is one, from memory or else from disk."""
        if name not in self._finished:
            try:
                saved = await asyncio.to_thread(self.saved.load, name)
            except JsonFileError as error:
                self.host.log(str(error))
                saved = None
            if saved is not None and name not in self._finished:
                self._remember(name, saved)
        return self._finished.get(name)

    def _remember(self, name: str, finished: FinishedReview) -> None:
        """Keep a review in memory, as the newest."""
        self._finished.pop(name, None)
        self._finished[name] = finished
        for oldest in list(self._finished)[:-MOST_IN_MEMORY]:
            del self._finished[oldest]

    def guests(self, cancel: CancelToken) -> tuple[Evaluator | None, People | None]:
        """Return the network and the people of the human-like one, which let games go first; None without networks.

        Both raise GuestCancelled after the cancellation.  For a thread.
        """
        evaluator = self.host.source().lend_evaluator()
        if evaluator is None:
            return None, None
        with self._loading:
            if self._human is None and (found := human_network(self.host.config, self.host.log)) is not None:
                self._human = ExclusiveEvaluator(found[0]), found[1]  # several pages may ask at once
        guest = GuestEvaluator(evaluator, self.host.precedence, cancel)
        if self._human is None:
            return guest, None
        human, table = self._human
        return guest, People(guest, GuestEvaluator(human, self.host.precedence, cancel), table)

    def _tell(self, message: Message) -> None:
        """Show what has been found to the game's pages."""
        self._latest = message
        self.games.publish(message["id"], message)


class Studies:
    """What a page asks about openings and problems: one question at a time, a new one ends the one before.

    Coroutines and methods are for the event loop; `send` is called there.
    """

    def __init__(self, reviews: GameReviews, send: Callable[[Message], None]) -> None:
        self._reviews: Final = reviews
        self._send: Final = send
        self._turn: Final = asyncio.Lock()
        self._cancel = CancelToken()
        self._task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """End the question that is being answered."""
        self._cancel.cancel()

    async def explore(self, query: Mapping[str, Any], rank: str, on_page: str | None) -> None:
        """Tell what is played in the position of an analysis query, and then what the moves lose.

        The game `on_page` does not count; raises QueryError.
        """
        game, number = await asyncio.to_thread(self._asked, query)
        if rank not in LEVELS:
            raise QueryError("rank", problem(f"rank {shown(rank)}", expected=f"{LEVELS[0]} to {LEVELS[-1]}"))

        def work(cancel: CancelToken) -> Iterator[Message]:
            network, people = self._reviews.guests(cancel)
            moves = moves_played(game, rank, people, self._reviews.games.openings(on_page))
            is_last = network is None or not network.info.has_score
            yield {"type": "openings", "number": number, "moves": [*map(asdict, moves)], "is_last": is_last}
            if network is not None and not is_last:
                moves = compared(game, moves, self._reviews.host.config, network)
                yield {"type": "openings", "number": number, "moves": [*map(asdict, moves)], "is_last": True}

        self._begin(work)

    async def check_answer(self, query: Mapping[str, Any], vertex: str) -> None:
        """Tell whether a move succeeds in the problem of an analysis query, and the best one; raises TengenError."""
        game, number = await asyncio.to_thread(self._asked, query)
        color, asked = game.to_play, game.point(vertex)

        def work(cancel: CancelToken) -> Iterator[Message]:
            network, _people = self._reviews.guests(cancel)
            config = self._reviews.host.config
            solver = LifeAndDeath(config, network, _PROBLEM_VISITS, wrong_moves=0, deeper=DEEPER[:1])
            solution = solver.solve(game, color, asked=asked)
            lines = {move.point: [*map(game.vertex, move.line)] for move in solution.moves}
            yield {
                "type": "answer",
                "number": number,
                "is_right": solution.is_right(asked),
                "line": lines.get(asked, [vertex]),
                "best": lines[solution.moves[0].point],
            }

        self._begin(work)

    def _asked(self, query: Mapping[str, Any]) -> tuple[Game, int]:
        """Return the position after all moves of a query, and the number by which the page knows it."""
        number = Fields(query).integer("number", 0, MOST_QUESTIONS)
        asked, _ = parse_query({**query, "id": "study"}, self._reviews.host.config)
        return asked.game_at(len(asked.moves)), number

    def _begin(self, work: Callable[[CancelToken], Iterator[Message]]) -> None:
        self.stop()
        self._cancel = CancelToken()
        self._task = asyncio.create_task(self._answer(work, self._cancel))

    async def _answer(self, work: Callable[[CancelToken], Iterator[Message]], cancel: CancelToken) -> None:
        """Send what `work` finds, after the end of the question before."""
        loop = asyncio.get_running_loop()

        def run() -> None:
            for message in work(cancel):
                loop.call_soon_threadsafe(self._send, message)

        try:
            async with self._turn:
                if not cancel.is_cancelled:
                    await asyncio.to_thread(run)
        except GuestCancelled:
            pass
        except Exception as error:
            self._send(self._reviews.games.error_message(error, "in a question of a page"))
