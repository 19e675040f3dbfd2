"""A game between a person and the engine, and the pages that show it.

The methods of the session run in threads, one at a time.  A request of the person's first ends the search of the
engine, which begins again afterwards if it is still its turn.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from gtp_engine.errors import TengenError
from gtp_engine.go.coords import format_color
from gtp_engine.play import GameSession, Phase, hints_of, state_of
from gtp_engine.review.annotations import can_be_annotated
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.sgf import parse_sgf
from gtp_engine.sgf.tree_text import games_in
from gtp_engine.web.precedence import Precedence
from gtp_engine.web.saved_games import SavedGame, SavedGames, words_of

HINTS: Final = 5
"""Moves of a hint."""

Message = dict[str, Any]
"""A message for pages, as JSON has it."""


class OpenGame:
    """The game `name`, which is saved after every change; `viewers` receive messages about it.

    `level` is that of the engine, None if it has no levels.  `opened` is the file that the game was loaded from, if
    any.  Searches hold `precedence`.  Coroutines and methods are for the event loop.
    """

    def __init__(
        self,
        name: str,
        session: GameSession,
        level: str | None,
        saved: SavedGames,
        precedence: Precedence,
        opened: bytes | None = None,
    ) -> None:
        self.name: Final = name
        self.viewers: Final[set[Callable[[Message], None]]] = set()
        self._session: Final = session
        self._level: Final = level
        self._saved: Final = saved
        self._precedence: Final = precedence
        self._opened: Final = opened
        self._lock: Final = asyncio.Lock()
        self._cancel = CancelToken()
        self._end: Final = CancelToken()
        self._thinking: asyncio.Task[None] | None = None
        self._state = _state_of(session)
        self._state_time = time.monotonic()

    @property
    def is_thinking(self) -> bool:
        """Whether the engine is choosing a move."""
        return self._thinking is not None and not self._thinking.done()

    @property
    def is_idle(self) -> bool:
        """Whether no page shows the game and nothing is going on."""
        return not (self.viewers or self.is_thinking or self._lock.locked())

    def message(self) -> Message:
        """Return the game as a message; its clocks are as they were `age` seconds ago."""
        return {
            "type": "game",
            "id": self.name,
            "level": self._level,
            "thinking": self.is_thinking,
            "compiling": self._session.engine.is_compiling,
            "age": time.monotonic() - self._state_time if self._state["clocks"] else 0.0,
            **self._state,
        }

    def record(self) -> bytes:
        """Return the game as SGF: the file that was opened, if it can be annotated and has the same moves still."""
        if self._opened is not None and can_be_annotated(self._opened):
            record = parse_sgf(self._opened)
            if not record.later_setups and record.moves == self._session.game.moves:
                return games_in(self._opened)[0]
        return str(self._state["sgf"]).encode()

    async def begin(self) -> None:
        """Save the game, and let the engine move if it is its turn, or find the dead stones unless that was done."""
        async with self._lock:
            await self._save()
        if self._session.phase is Phase.SCORING and not self._session.has_marked_dead:
            self._state = _uncounted(self._state)
            self._thinking = asyncio.create_task(self._think(lambda session: session.propose_dead(self._end)))
        self._let_engine_move()

    async def change(self, method: Callable[[GameSession], object]) -> None:
        """Do what the person asks for, a method of the session, then let the engine move; raises TengenError."""
        self._cancel.cancel()
        try:
            async with self._lock:
                await self._call(method)
        finally:
            self._let_engine_move()

    async def hint(self) -> Message:
        """Return the best moves of a search as a message; raises TengenError."""
        self._cancel.cancel()
        try:
            async with self._lock:
                self._cancel = cancel = CancelToken()
                with self._precedence.held():
                    report = await asyncio.to_thread(self._session.hint, cancel=cancel)
                moves = [asdict(move) for move in hints_of(self._session.game, report, HINTS)]
        finally:
            self._let_engine_move()
        return {"type": "hint", "id": self.name, "moves": moves}

    async def close(self) -> None:
        """End the engine's search, and free the engine."""
        self._cancel.cancel()
        self._end.cancel()
        if self._thinking is not None:
            await asyncio.wait((self._thinking,))
        async with self._lock:
            await asyncio.to_thread(self._session.engine.close)

    def _let_engine_move(self) -> None:
        """Let the engine move if it is its turn, in a task of its own."""
        if self._session.is_engine_turn and not self.is_thinking:
            self._cancel = cancel = CancelToken()
            self._thinking = asyncio.create_task(
                self._think(lambda session: session.engine_move(cancel) if session.is_engine_turn else None)
            )
            self.publish(self.message())

    async def _think(self, method: Callable[[GameSession], object]) -> None:
        """Call a method of the session that searches, without a request of the person's."""
        try:
            async with self._lock:
                await self._call(method)
        except TengenError as error:
            self.publish({"type": "error", "message": str(error)})
        finally:
            self._thinking = None
            self.publish(self.message())

    async def _call(self, method: Callable[[GameSession], object]) -> None:
        """Call a method of the session in a thread; then save the game and show it to all pages."""
        session, before = self._session, self._session.phase
        try:
            with self._precedence.held():
                await asyncio.to_thread(method, session)
                if session.phase is Phase.SCORING and before is not Phase.SCORING:
                    self._show(is_counted=False)
                    await asyncio.to_thread(session.propose_dead, self._end)
        finally:
            self._show()
            await self._save()

    def _show(self, *, is_counted: bool = True) -> None:
        """Show the game as it is now, without a score before the dead stones are known."""
        state = _state_of(self._session)
        self._state = state if is_counted else _uncounted(state)
        self._state_time = time.monotonic()
        self.publish(self.message())

    def publish(self, message: Message) -> None:
        """Send a message to all pages that show the game."""
        for viewer in self.viewers:
            viewer(message)

    async def _save(self) -> None:
        """Write the game to its file, in a thread."""
        game = SavedGame.of(self._session, self._level, self._opened)
        await asyncio.to_thread(self._saved.save, self.name, game)


def _uncounted(state: Message) -> Message:
    """Return a state without the score, which is wrong as long as the dead stones are not known."""
    return state | {"score": ""}


def _state_of(session: GameSession) -> Message:
    """Return the state of a session with what an analysis of it needs, and its record."""
    game = session.game
    return {
        **asdict(state_of(session)),
        "setup": [(format_color(stone.color), game.vertex(stone.point)) for stone in game.setup_stones],
        "first": format_color(game.first_player),
        "time": words_of(session.settings.time),
        "sgf": session.to_sgf(),
    }
