"""Reviews of games that pages show, one at a time; those that are finished are kept on disk."""

import asyncio
import base64
from collections.abc import Callable
from typing import Final, NamedTuple

from gtp_engine.errors import TengenError, problem, shown
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.web.engine_host import EngineHost
from gtp_engine.web.guest_evaluator import GuestCancelled, GuestEvaluator
from gtp_engine.web.json_files import JsonFileError
from gtp_engine.web.open_game import Message, OpenGame
from gtp_engine.web.open_games import OpenGames
from gtp_engine.web.review_work import FinishedReview, ReviewWork
from gtp_engine.web.saved_reviews import SavedReviews

MOST_IN_MEMORY: Final = 16
"""Finished reviews that are kept in memory: as many as games may be open; one takes about a megabyte."""

FORMATS: Final = ("html", "sgf")
"""The files of a review that pages offer."""


class ReviewError(TengenError):
    """A review cannot begin now, or there is none."""


class _Running(NamedTuple):
    """The review that is under way."""

    name: str
    cancel: CancelToken
    task: asyncio.Task[None]


class GameReviews:
    """Reviews open `games` with the network of `host`, and keeps the reviews in `saved`.

    Coroutines are for the event loop.
    """

    def __init__(self, host: EngineHost, games: OpenGames, saved: SavedReviews) -> None:
        self._host: Final = host
        self._games: Final = games
        self._saved: Final = saved
        self._lock: Final = asyncio.Lock()
        self._running: _Running | None = None
        self._latest: Message = {}
        self._finished: Final[dict[str, FinishedReview]] = {}  # the newest is the last

    async def message(self, name: str) -> Message:
        """Return what is known about the review of a game as a message."""
        finished = await self._find(name)
        if self._running is not None and self._running.name == name and self._latest:
            return self._latest
        return _none(name) if finished is None else finished.message

    async def start(self, game: OpenGame) -> None:
        """Begin to review a game, in the background; raises ReviewError while a page shows another that is reviewed.

        A review that no page shows gives way.
        """
        async with self._lock:
            running = self._running
            if running is not None:
                if running.name == game.name:
                    return
                if self._games.is_shown(running.name):
                    raise ReviewError("another game is being reviewed; try again when that review is finished")
                await self._end(running)
            cancel = CancelToken()
            self._latest = {}
            task = asyncio.create_task(self._review(game, cancel))
            self._running = _Running(game.name, cancel, task)

    async def cancel(self, name: str) -> None:
        """End the review of a game if it is under way; what it has found is dropped."""
        async with self._lock:
            if self._running is not None and self._running.name == name:
                await self._end(self._running)

    async def file(self, name: str, format: str) -> Message:
        """Return a file of a finished review as a message, its bytes in base 64; raises ReviewError."""
        if format not in FORMATS:
            raise ReviewError(problem(f"format {shown(format)}", expected=" or ".join(FORMATS)))
        finished = await self._find(name)
        if finished is None:
            raise ReviewError("this game has no finished review: start one")
        content = finished.files[format]
        return {
            "type": "review_file",
            "id": name,
            "format": format,
            "content": base64.b64encode(content).decode("ascii"),
        }

    async def close(self) -> None:
        """End the review that is under way."""
        async with self._lock:
            if self._running is not None:
                await self._end(self._running)

    async def _end(self, running: _Running) -> None:
        running.cancel.cancel()
        await asyncio.wait((running.task,))

    async def _review(self, game: OpenGame, cancel: CancelToken) -> None:
        """Review a game, and tell its pages."""
        loop, name = asyncio.get_running_loop(), game.name

        def send(message: Message) -> None:
            loop.call_soon_threadsafe(self._tell, message)

        try:
            finished = await asyncio.to_thread(self._run, game, send, cancel)
            self._remember(name, finished)
            await asyncio.to_thread(self._saved.save, name, finished)
        except GuestCancelled:
            pass
        except TengenError as error:
            self._games.publish(name, {"type": "error", "message": str(error)})
        finally:
            self._running = None
            self._games.publish(name, await self.message(name))

    async def _find(self, name: str) -> FinishedReview | None:
        """Return the finished review of a game, if there is one, from memory or else from disk."""
        if name not in self._finished:
            try:
                saved = await asyncio.to_thread(self._saved.load, name)
            except JsonFileError as error:
                self._host.log(str(error))
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

    def _run(self, game: OpenGame, send: Callable[[Message], None], cancel: CancelToken) -> FinishedReview:
        """Do the work, beside the games; raises what `ReviewWork.run` raises, and GuestCancelled.  For a thread."""
        work, evaluator = ReviewWork(game.name, game.record(), self._host.config, send), self._host.lend_evaluator()
        return work.run(None if evaluator is None else GuestEvaluator(evaluator, self._host.precedence, cancel))

    def _tell(self, message: Message) -> None:
        """Show what has been found to the game's pages."""
        self._latest = message
        self._games.publish(message["id"], message)


def _none(name: str) -> Message:
    return {"type": "review", "id": name, "state": "none"}
