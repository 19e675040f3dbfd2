"""All games of the server: those that pages show have an engine, the others lie on disk.

A game is between a person and the engine.  The methods of its session run in threads, one at a time.  A request of the
person's first ends the search of the engine, which begins again afterwards if it is still its turn.  A few do so while
the engine thinks about a move; further ones wait for it.

A change is on the disk before pages get it.  Where that is impossible the game goes on, and they are told.
"""

import asyncio
import contextlib
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from math import ceil
from typing import Any, Final, NamedTuple

from gtp_engine.base.errors import GameStateError, SgfError, TengenError, counted
from gtp_engine.engine import Engine
from gtp_engine.nn.network_catalogue import PUBLISHED
from gtp_engine.people.play import GameSession, GameSettings, Phase, analysis_of, state_of
from gtp_engine.people.play.game_state import node_values, rows_of
from gtp_engine.people.review.annotations import is_own_output
from gtp_engine.people.review.openings import Opening, opening_of
from gtp_engine.people.web.access import Pace, by_address, network_of
from gtp_engine.people.web.client_socket import CHECK, ClientSocket, Locks
from gtp_engine.people.web.engine_host import EngineHost, NetworkMenu
from gtp_engine.people.web.record_processes import RecordProcesses, check_record
from gtp_engine.people.web.saved_games import DAMAGED, DamagedFileError, JsonFileError, SavedGame, SavedGames, new_id
from gtp_engine.protocols.analysis.server import as_text
from gtp_engine.search.limits import CancelToken
from gtp_engine.sgf import GameNode, GameTree, SgfRecord, parse_sgf, play_record

HINTS: Final = 5
"""Moves of a hint."""

Message = dict[str, Any]
"""A message for pages, as JSON has it."""

SessionMethod = Callable[[GameSession], object]
"""A method of a session, or a function that is called with one."""

LISTED: Final = 30
"""Games of the list that come at once, those that were played last."""

INDEXED: Final = 1000
"""Games whose openings are told, those that were played last: reading one takes some milliseconds."""

MOST_OPEN: Final = 64
"""Games with an engine at once: each has search trees of its own."""

MOST_INTERRUPTIONS: Final = 3
"""How often requests may end the search for a move, which begins again: a page that floods must not stop the engine."""

ENDING: Final = "the server ends; its games are kept"
"""What pages are told then."""

MOST_IDLE: Final = 8
"""Games with an engine that no page shows: they wait for pages that are loaded again."""

NEW_GAMES: Final = (60.0, 0.1)
"""Games that an address may begin at once, and in a second when these are used up: each may push an old one out."""


class OpenGame:
    """A game, which is saved after every change; `viewers` receive messages about it as text.

    Its file is `name` in `saved`, with the engine's `level`, None for that of its configuration, and the `title` that
    its owner has given to it.  Searches hold the precedence of `host`.  Coroutines and methods are for the event loop.
    """

    def __init__(
        self, name: str, session: GameSession, level: str | None, title: str, saved: SavedGames, host: EngineHost
    ) -> None:
        self.name: Final = name
        self.viewers: Final[set[Callable[[str], None]]] = set()
        self._session: Final = session
        self._saved: Final = saved
        self._precedence: Final = host.precedence
        self._log: Final = host.log
        self._lock: Final = asyncio.Lock()
        self._turns: Final = Locks()
        self._writing: Final = asyncio.Lock()
        self._kept = SavedGame.of(session, level, title)
        self._written: SavedGame | None = None
        self._cancel = CancelToken()
        self._interruptions = 0
        self._is_ending = False
        self.unsaved = ""
        """Why the last change is not on the disk, "" if it is."""
        self._end: Final = CancelToken()
        self._thinking: asyncio.Task[None] | None = None
        self.published, _ = PublishedTree(name, None, {}).after(session.tree)
        self._record = session.to_bytes(is_main=True)
        self._state = state_of(session)
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
            "thinking": self.is_thinking,
            "opened": not self._session.is_own,
            "compiling": self._session.engine.kernels.is_compiling,
            "unsaved": self.unsaved,
            "age": time.monotonic() - self._state_time if self._state["clocks"] else 0.0,
            **self._state,
        }

    def show_to(self, viewer: Callable[[str], None]) -> None:
        """Send the game to a page, which gets all changes from then on."""
        self.viewers.add(viewer)
        viewer(self.published.message())
        viewer(as_text(self.message()))

    def record(self, *, is_main: bool = True) -> bytes:
        """Return the record with all its variations, with the game as its main line; without `is_main` as it is."""
        return self._record if is_main else self._session.to_bytes()

    def reviewable_record(self) -> bytes:
        """Return the record that a review annotates: a record that is a review already gives its moves only."""
        is_kept = not is_own_output(self._record, unreadable=True)
        return self._record if is_kept else self._session.game.to_sgf().encode()

    async def begin(self) -> None:
        """Save the game, and let the engine move if it is its turn, or find the dead stones unless that was done."""
        async with self._lock:
            await self._save()
        if self._session.phase is Phase.SCORING and not self._session.has_marked_dead:
            self._state["score"] = ""  # it would be wrong as long as the dead stones are not known
            self._thinking = asyncio.create_task(self._think(lambda session: session.propose_dead(self._end)))
        self._let_engine_move()

    async def change(self, method: SessionMethod, check: SessionMethod | None = None, *, address: str = "") -> object:
        """Do what a person asks for, a method of the session, then let the engine move; raises TengenError.

        While the engine thinks, `check` may refuse the request at once, so that its search goes on.  Returns what the
        method returns.  Those at one address take turns, so that many do not push one at another address out.
        """
        if check is not None and self.is_thinking:
            check(self._session)
        self._interrupt()
        try:
            async with self._turns.of(network_of(address)), self._lock:
                return await self._call(method)
        finally:
            self._let_engine_move()

    def require_turn(self) -> None:
        """Raise GameStateError while the engine thinks about its move."""
        if self.is_thinking and self._session.is_engine_turn:
            raise GameStateError("it is the engine's move", advice="let it play, or undo")

    async def check_time(self) -> None:
        """End the game if a clock has run out."""
        clock = self._session.clock
        if clock.running and not clock.left(clock.running).has_time:
            await self.change(GameSession.check_time)

    async def hint(self) -> Message:
        """Return the best moves of a search as a message; raises TengenError, such as while the engine is to move."""
        self.require_turn()
        self._interrupt()
        try:
            async with self._lock:
                self._cancel = cancel = CancelToken()
                with self._precedence.held():
                    report = await asyncio.to_thread(self._session.hint, cancel=cancel)
                moves = [asdict(move) for move in analysis_of(report, self._session.game).moves[:HINTS]]
        finally:
            self._let_engine_move()
        return {"type": "hint", "id": self.name, "moves": moves}

    async def change_engine(self, open_engine: Callable[[str | None], Engine]) -> None:
        """Go on with the engine that `open_engine` returns for the game's level, or send pages why it cannot."""

        def change() -> None:
            new, old = open_engine(self._kept.level), self._session.engine
            try:
                self._session.go_on_with(new)
            except TengenError:
                new.close()
                raise
            old.close()

        self._cancel.cancel()
        try:
            async with self._lock:
                await asyncio.to_thread(change)
        except TengenError as error:
            self.publish({"type": "error", "message": str(error)})
        self._let_engine_move()

    async def rename(self, title: str) -> None:
        """Give the game another name, also while the engine thinks; raises JsonFileError."""
        self._kept = replace(self._kept, title=title)
        await self._write(keeps_age=True)

    def end(self) -> None:
        """Let the engine begin no other search, and tell pages why."""
        self._is_ending = True
        self.publish({"type": "error", "message": ENDING})

    async def close(self) -> None:
        """End the engine's search, and free the engine."""
        self._cancel.cancel()
        self._end.cancel()
        if self._thinking is not None:
            await asyncio.wait((self._thinking,))
        async with self._lock:
            await asyncio.to_thread(self._session.engine.close)

    def _interrupt(self) -> None:
        """End the engine's search, unless requests have done so too often since its last move."""
        if not (self.is_thinking and self._session.is_engine_turn):
            self._cancel.cancel()
        elif self._interruptions < MOST_INTERRUPTIONS:
            self._interruptions += 1
            self._cancel.cancel()

    def _let_engine_move(self) -> None:
        """Let the engine move if it is its turn, in a task of its own."""
        if self._session.is_engine_turn and not self.is_thinking and not self._is_ending:
            self._cancel = cancel = CancelToken()
            self._thinking = asyncio.create_task(
                self._think(lambda session: session.engine_move(cancel) if session.is_engine_turn else None)
            )
            self.publish(self.message())

    async def _think(self, method: SessionMethod) -> None:
        """Call a method of the session that searches, without a request of the person's."""
        try:
            async with self._lock:
                await self._call(method)
        except TengenError as error:
            self.publish({"type": "error", "message": str(error)})
        finally:
            self._thinking = None
            self.publish(self.message())

    async def _call(self, method: SessionMethod) -> object:
        """Call a method of the session in a thread; then save the game and show it to all pages."""
        session, before, played = self._session, self._session.phase, len(self._session.game.moves)
        try:
            with self._precedence.held():
                found = await asyncio.to_thread(method, session)
                if len(session.game.moves) != played:
                    self._interruptions = 0
                if session.phase is Phase.SCORING and before is not Phase.SCORING:
                    await self._save()
                    await self._show(is_counted=False)
                    await asyncio.to_thread(session.propose_dead, self._end)
                return found
        finally:
            await self._save()
            await self._show()

    async def _show(self, *, is_counted: bool = True) -> None:
        """Show the game as it is now, without a score before the dead stones are known."""
        session = self._session
        state, self._record, (self.published, changes) = await asyncio.to_thread(
            lambda: (state_of(session), session.to_bytes(is_main=True), self.published.after(session.tree))
        )
        self._state = state if is_counted else state | {"score": ""}
        self._state_time = time.monotonic()
        if changes:
            self.publish(changes)
        self.publish(self.message())

    def publish(self, message: Message | str) -> None:
        """Send a message, or its text, to all pages that show the game."""
        text = message if isinstance(message, str) else as_text(message)
        for viewer in self.viewers:
            viewer(text)

    async def _save(self) -> None:
        """Write the game to its file, in a thread, unless it is there; tell pages if that is impossible."""
        before = self.unsaved
        self._kept = SavedGame.of(self._session, self._kept.level, self._kept.title)
        if self._kept == self._written:
            return
        try:
            await self._write()
            self.unsaved = ""
        except JsonFileError as error:
            self.unsaved = str(error)
        if self.unsaved and self.unsaved != before:
            self._log(self.unsaved)
            self.publish({"type": "error", "message": self.unsaved})

    async def _write(self, *, keeps_age: bool = False) -> None:
        async with self._writing:
            kept, self._written = self._kept, None
            await asyncio.to_thread(self._saved.save, self.name, kept, keeps_age=keeps_age)
            self._written = kept


class PublishedTree(NamedTuple):
    """What pages know of the tree of the game `name`: the values of its nodes (see `node_values`) by their ids.

    They are kept as the text that is sent: many pages may ask for it, and each encoding would keep all clients waiting.
    """

    name: str
    root: GameNode | None
    nodes: Mapping[int, tuple[object, str]]
    """What each node had when its text was made, which edits replace, and the text."""

    def message(self, changed: Mapping[int, tuple[object, str]] | None = None) -> str:
        """Return the message with all nodes, each before its children, or with those that are new or have changed."""
        head = as_text({"type": "tree" if changed is None else "nodes", "id": self.name})
        texts = (text for _, text in (self.nodes if changed is None else changed).values())
        return f'{head[:-1]},"nodes":[{",".join(texts)}]}}'

    def after(self, tree: GameTree) -> "tuple[PublishedTree, str]":
        """Return what pages know once they have got a message, and that message, "" for no change.

        It has all nodes if some have been taken out, or stand in another order.
        """
        known, nodes = self.nodes if tree.root is self.root else {}, list(tree.nodes())
        others = [node for node in nodes if node.id not in known or known[node.id][0] is not node.raw]
        changed = {node.id: (node.raw, as_text(node_values(node))) for node in others}
        is_rearranged = [node.id for node in nodes if node.id in known] != list(known) or any(
            node.id not in known and node.parent is not None and node.parent.children[-1].id in known for node in nodes
        )
        new = PublishedTree(self.name, tree.root, {node.id: changed.get(node.id) or known[node.id] for node in nodes})
        if is_rearranged or not known:
            return new, new.message()
        return new, new.message(changed) if changed else ""


def _summary(saved: SavedGame, record: SgfRecord, review: Message) -> Message:
    """Return what a list of games shows of one: who played, the last position, the result; raises TengenError.

    The accuracy is that of `review` (see `SavedReviews.accuracies`) unless the game is another one by now.
    """
    game, _ = play_record(record)
    line = [[move.color.letter, game.vertex(move.point)] for move in game.moves]
    return {
        "title": saved.title,
        "names": {"black": record.black_name or "Black", "white": record.white_name or "White"},
        "human": saved.human,
        "opened": not saved.is_own,
        "level": saved.level,
        "rules": game.rules.preset_name() or "",
        "moves": len(game.moves),
        "handicap": game.handicap,
        "result": saved.result or record.result or "",
        "accuracy": {color: review[color] for color in ("B", "W")} if review.get("line") == line else None,
        "rows": rows_of(game, game.board.color),
    }


class OpenGames:
    """Opens games, new ones and those in `saved`, with engines of `host`; coroutines are for the event loop."""

    def __init__(self, host: EngineHost, saved: SavedGames) -> None:
        self._host: Final = host
        self._saved: Final = saved
        self._games: Final[dict[str, OpenGame]] = {}  # the one used last is the last
        self._paces: Final = by_address(lambda: Pace(*NEW_GAMES))
        self.records: Final = RecordProcesses()
        self._opening = 0
        self._names: Final = Locks()
        """Of each game, so that it is opened only once; no one who holds one may ask for another one."""
        self._choosing: Final = asyncio.Lock()
        self._opening_of: Final = lru_cache(2 * INDEXED)(self._read_opening)  # some files were written again since
        self._indexing: Final = threading.Lock()

    @property
    def has_levels(self) -> bool:
        """Whether games below full strength can be played: levels need a network and its search."""
        config = self._host.config
        return config.wants_network and config.search.search in ("auto", "puct")

    async def networks(self) -> Message:
        """Return the networks to choose from as a message."""
        names, current = await asyncio.to_thread(NetworkMenu.of, self._host.config)
        best = PUBLISHED[0]
        found = None if best.name in names else {"name": best.name, "megabytes": round(best.wheel_bytes / 1e6)}
        return {"type": "networks", "names": names, "current": current, "best": found}

    async def use_network(self, name: str) -> Message:
        """Let all games go on with another network, and remember it; raises TengenError.

        Return what `networks` says then, which all pages that show a game have been told.
        """
        if self._choosing.locked():
            raise GameStateError("another network is being loaded", advice="wait until it is there")
        async with self._choosing:
            await asyncio.to_thread(self._host.use_network, name)
            news = await self.networks()
            await asyncio.to_thread(self._saved.remember_network, news["current"])
            games = list(self._games.values())
            for game in games:
                await game.change_engine(self._engine)
            for game in games:
                game.publish(news)
        return news

    def require_pace(self, address: str) -> None:
        """Raise TengenError if too many new games have come from an address."""
        if delay := self._paces(address).refusal():
            raise TengenError("too many games have been begun from your address", advice=f"wait {ceil(delay)} seconds")

    async def start(self, settings: GameSettings, level: str | None) -> OpenGame:
        """Return a new game; raises TengenError."""
        return await self._open(await self._new_name(), level, lambda engine: GameSession.start(engine, settings))

    async def load(self, data: bytes, human: int | None, level: str | None, client: ClientSocket) -> OpenGame:
        """Return a new game that continues the SGF file `data` of a client; raises TengenError.

        The file is not read any further once the client is lost.
        """
        async with self.records.turn(data, client):
            await self.records.call(check_record, data, client)
            name = await self._new_name()
            return await self._open(name, level, lambda engine: GameSession.load(engine, data, human=human))

    async def find(self, name: str, client: ClientSocket) -> OpenGame:
        """Return a game by its id, which a client asks for; raises TengenError."""
        async with self._names.of(name):
            if (game := self._games.pop(name, None)) is not None:
                self._games[name] = game
                return game
            try:
                saved = await asyncio.to_thread(self._saved.load, name)
                data = saved.sgf.encode(errors="surrogatepass")
                async with self.records.turn(data, client):
                    with contextlib.suppress(SgfError):  # what is damaged shows below
                        await self.records.call(check_record, data, client)
                    return await self._open(name, saved.level, saved.session, saved.title)
            except DamagedFileError as error:
                await asyncio.to_thread(self._saved.put_aside, name)
                self._host.log(f"the game {name} is damaged and was put aside as {name}{DAMAGED}: {error}")
                raise JsonFileError(f"the game {name} is damaged and was put aside") from error

    async def newest(self, reviews: dict[str, Message], text: str = "", count: int = LISTED) -> Message:
        """Return the `count` games on the disk that were played last as a message, with the accuracies in `reviews`.

        They are those with `text` in their names, players or dates; games that were begun and not played are left out.
        """
        games = await asyncio.to_thread(self._newest, reviews, text.casefold(), count + 1)
        return {"type": "games", "games": games[:count], "text": text, "has_more": len(games) > count}

    def _newest(self, reviews: dict[str, Message], text: str, count: int) -> list[Message]:
        found = []
        for name, written, saved in self._saved.games():
            with contextlib.suppress(TengenError):
                record = parse_sgf(saved.sgf.encode(errors="surrogatepass"))
                is_unplayed = saved.is_own and not record.moves and not saved.title
                words = filter(None, (saved.title, record.black_name, record.white_name, record.date))
                if is_unplayed or text not in "\n".join(words).casefold():
                    continue
                found.append({"id": name, "time": written, **_summary(saved, record, reviews.get(name, {}))})
                if len(found) == count:
                    break
        return found

    def openings(self, shown: str | None) -> list[Opening]:
        """Return those of the newest games but the one that is `shown`; waits for the disk, for a thread."""
        with self._indexing:
            return [self._opening_of(*each) for each in self._saved.newest()[:INDEXED] if each[0] != shown]

    def _read_opening(self, name: str, _written: float) -> Opening:
        """Return the opening of a game as it was written at this time, none of one that cannot be read."""
        with contextlib.suppress(TengenError):
            saved = self._saved.load(name)
            record = parse_sgf(saved.sgf.encode(errors="surrogatepass"))
            return opening_of(record, saved.result or record.result or "")
        return Opening({}, "")

    def error_message(self, error: Exception, where: str) -> Message:
        """Return the message about an error that was caught; an unexpected one, as seen `where`, is logged whole."""
        if isinstance(error, TengenError):
            return {"type": "error", "message": str(error)}
        self._host.log(f"internal error {where}:\n{''.join(traceback.format_exception(error)).rstrip()}")
        return {"type": "error", "message": f"internal error: {type(error).__name__}"}

    async def remove(self, name: str) -> None:
        """Remove a game from the disk; raises TengenError if a page shows it."""
        async with self._names.of(name):
            if self.is_shown(name):
                raise GameStateError("the game is open on a page; open another one there first")
            if (game := self._games.pop(name, None)) is not None:
                await game.close()
            await asyncio.to_thread(self._saved.remove, name)

    async def rename(self, name: str, title: str) -> None:
        """Give a game another name, "" for none, which changes nothing else of it; raises TengenError."""
        async with self._names.of(name):
            if name in self._games:
                await self._games[name].rename(title)
            else:
                saved = await asyncio.to_thread(self._saved.load, name)
                await asyncio.to_thread(self._saved.save, name, replace(saved, title=title), keeps_age=True)

    def is_shown(self, name: str) -> bool:
        """Return whether a page shows a game."""
        return name in self._games and bool(self._games[name].viewers)

    def publish(self, name: str, message: Message) -> None:
        """Send a message to all pages that show a game."""
        if name in self._games:
            self._games[name].publish(message)

    def counts(self) -> dict[str, int]:
        """Return how many games have an engine, and of how many a page, a search or an unsaved move is open."""
        games = self._games.values()
        return {
            "open": len(games),
            "shown": sum(bool(game.viewers) for game in games),
            "thinking": sum(game.is_thinking for game in games),
            "unsaved": sum(bool(game.unsaved) for game in games),
        }

    async def end_moves(self) -> None:
        """Tell all pages that the server ends; wait until no engine searches for a move, and begin no search."""
        for game in self._games.values():
            game.end()
        while any(game.is_thinking for game in self._games.values()):
            await asyncio.sleep(CHECK)

    async def close(self) -> None:
        """Free the engines of all games."""
        await asyncio.gather(*(game.close() for game in self._games.values()))
        self._games.clear()

    async def _new_name(self) -> str:
        """Return the id of a new game, after making room for its file, if that is possible."""
        try:
            await asyncio.to_thread(self._saved.make_room)
        except JsonFileError as error:
            self._host.log(str(error))
        return new_id()

    async def _open(
        self, name: str, level: str | None, set_up: Callable[[Engine], GameSession], title: str = ""
    ) -> OpenGame:
        """Return a game with a new engine, after making room for it; raises TengenError."""

        def opened() -> OpenGame:
            with contextlib.ExitStack() as stack:
                engine = self._engine(level)
                stack.callback(engine.close)
                session = set_up(engine)
                try:
                    game = OpenGame(name, session, level, title, self._saved, self._host)
                except Exception as error:
                    raise DamagedFileError(f"the game cannot be shown: {error}") from error
                stack.pop_all()
            return game

        await self._make_room()
        network = self._host.config.network.model
        self._opening += 1
        try:
            game = self._games[name] = await asyncio.to_thread(opened)
        finally:
            self._opening -= 1
        if self._host.config.network.model != network:  # another one has been chosen meanwhile
            await game.change_engine(self._engine)
        await game.begin()
        return game

    def _engine(self, level: str | None) -> Engine:
        """Return a new engine of this level."""
        config = self._host.config
        if level is not None:
            config = config.with_values({"play.level": level})
        return self._host.source().open_engine(config, self._host.log)

    async def _make_room(self) -> None:
        """Close games that have been idle longest if there are too many; raises TengenError."""
        while (idle := [name for name, game in self._games.items() if game.is_idle]) and (
            len(idle) >= MOST_IDLE or len(self._games) + self._opening >= MOST_OPEN
        ):
            async with self._names.of(idle[0]):
                if idle[0] in self._games and self._games[idle[0]].is_idle:
                    await self._games.pop(idle[0]).close()
        if len(self._games) + self._opening >= MOST_OPEN:
            raise TengenError(f"{counted(MOST_OPEN, 'game')} are being played; close one of their pages first")
