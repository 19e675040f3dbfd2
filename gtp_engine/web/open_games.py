"""All games of the server: those that pages show have an engine, the others lie on disk."""

import asyncio
from collections.abc import Callable
from typing import Final

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.errors import TengenError, counted
from gtp_engine.play import GameSession, GameSettings
from gtp_engine.web.engine_host import EngineHost
from gtp_engine.web.open_game import Message, OpenGame
from gtp_engine.web.saved_games import SavedGames

MOST_OPEN: Final = 16
"""Games with an engine at once: each has search trees of its own."""

LEVEL: Final = "play.level"
"""The option that sets how strongly the engine plays."""


class TooManyGamesError(TengenError):
    """Every game that may have an engine is being played."""


class OpenGames:
    """Opens games, new ones and those in `saved`, with engines of `host`; coroutines are for the event loop."""

    def __init__(self, host: EngineHost, saved: SavedGames) -> None:
        self._host: Final = host
        self._saved: Final = saved
        self._games: Final[dict[str, OpenGame]] = {}  # the one used last is the last
        self._lock: Final = asyncio.Lock()

    @property
    def has_levels(self) -> bool:
        """Whether the engine has levels."""
        return any(option.key == LEVEL for option in Config.options())

    async def start(self, settings: GameSettings, level: str | None) -> OpenGame:
        """Return a new game; raises TengenError."""
        async with self._lock:
            name = await asyncio.to_thread(self._saved.new_id)
            return await self._open(name, level, lambda engine: GameSession.start(engine, settings))

    async def load(self, data: bytes, human: int | None, level: str | None) -> OpenGame:
        """Return a new game that continues the SGF file `data`; raises TengenError."""
        async with self._lock:
            name = await asyncio.to_thread(self._saved.new_id)
            return await self._open(name, level, lambda engine: GameSession.load(engine, data, human=human), data)

    async def find(self, name: str) -> OpenGame:
        """Return a game by its id; raises TengenError."""
        async with self._lock:
            game = self._games.pop(name, None)
            if game is not None:
                self._games[name] = game
                return game
            saved = await asyncio.to_thread(self._saved.load, name)
            return await self._open(name, saved.level, saved.session, saved.opened)

    def is_shown(self, name: str) -> bool:
        """Return whether a page shows a game."""
        return name in self._games and bool(self._games[name].viewers)

    def publish(self, name: str, message: Message) -> None:
        """Send a message to all pages that show a game."""
        if name in self._games:
            self._games[name].publish(message)

    async def close(self) -> None:
        """Free the engines of all games."""
        await asyncio.gather(*(game.close() for game in self._games.values()))
        self._games.clear()

    async def _open(
        self, name: str, level: str | None, set_up: Callable[[Engine], GameSession], opened: bytes | None = None
    ) -> OpenGame:
        """Return a game with a new engine, after making room for it; raises TengenError.

        `opened` is the file that it is loaded from, if any.
        """
        await self._make_room()
        session = await asyncio.to_thread(self._session, level, set_up)
        game = OpenGame(name, session, level, self._saved, self._host.precedence, opened)
        self._games[name] = game
        await game.begin()
        return game

    def _session(self, level: str | None, set_up: Callable[[Engine], GameSession]) -> GameSession:
        """Return a session with a new engine."""
        config = self._host.config
        if level is not None and self.has_levels:
            config = config.with_values({LEVEL: level})
        engine = self._host.open_engine(config, self._host.log)
        try:
            return set_up(engine)
        except TengenError:
            engine.close()
            raise

    async def _make_room(self) -> None:
        """Close the game that has been idle longest if there are too many; raises TooManyGamesError."""
        if len(self._games) < MOST_OPEN:
            return
        for name, game in self._games.items():
            if game.is_idle:
                del self._games[name]
                await game.close()
                return
        raise TooManyGamesError(f"{counted(MOST_OPEN, 'game')} are being played; close one of their pages first")
