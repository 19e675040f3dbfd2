"""What a page sends to the server and receives from it, over a WebSocket, in JSON.

A message of the page is an object with the field `do` (see `_Page.commands`), one of the server has a `type`:

    hello     the engine: its version, whether it has levels, rule sets with their komi, the longest file; what the page
              may do: `role`, "watch", "play" or "compute" (see `access`)
    game      a game: `play.state_of`, whether the engine thinks or is being compiled, the age of the clocks in
              seconds, whether it was opened from a file
    tree      all nodes of the game, each before its children (see `people.play.game_state.node_values`)
    nodes     those that are new or have changed since; new ones are the last children of their parents
    at        the node to show after an edit: one that it has made, or the one before what it has taken out
    record    the game as a file, in base 64
    games     games on the disk, those played last first, with accuracies where their moves have been reviewed
    networks  the networks to choose from, by the name that chooses one: what to call it; the `current` one; the `best`
              one that is published, null if it is here
    hint      the best moves
    openings  what is played in a position (see `people.review.openings`), first without and then with what it loses
    problems  how many problems the file has that was to be opened; nothing else has been done with it
    problem   one of them (see `people.review.problems.problem_values`)
    answer    whether a move solves a problem: its `line`, and the `best` one
    review    what a review of the game has found so far (see `game_reviews`)
    review_file   a file of a finished review
    error     why something could not be done; for a move that the rules forbid also its `vertex`, and the `reason`

Analyses are no business of this socket: pages ask for them at `/analysis`, as KaTrain does.
"""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from functools import partial
from operator import methodcaller
from typing import Any, Final, TypeVar

from aiohttp import web

from gtp_engine import __version__
from gtp_engine.base.errors import IllegalMoveError, TengenError, shown
from gtp_engine.engine.level_play import LevelError
from gtp_engine.go.clock import parse_time
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE
from gtp_engine.go.coords import format_color
from gtp_engine.go.rules import PRESETS
from gtp_engine.people.play import GameSession, GameSettings, Phase
from gtp_engine.people.play.game_state import INFORMATION
from gtp_engine.people.review import Effort
from gtp_engine.people.review.problems import problem_values, problems_in
from gtp_engine.people.web.access import ROLE, Role
from gtp_engine.people.web.client_socket import MAX_MESSAGE, ClientSocket, Seats, accepted, too_many_values
from gtp_engine.people.web.game_reviews import GameReviews, Studies
from gtp_engine.people.web.open_games import LISTED, Message, OpenGame, SessionMethod
from gtp_engine.people.web.saved_games import MOST_GAMES
from gtp_engine.protocols.analysis.query import MAX_KOMI, Fields
from gtp_engine.protocols.analysis.server import as_text
from gtp_engine.sgf import GameNode
from gtp_engine.sgf.foreign.encodings import is_binary

MAX_HANDICAP: Final = 9

MAX_TITLE: Final = 80
"""Characters of the name of a game."""

MAX_FILE: Final = 780_000
"""Longest game record, bytes, that fits into a message, where three bytes take four; a game has about 10 kB."""

MAX_TEXT: Final = 60_000
"""Characters of a text, such as a comment: every change of a game writes its whole record, and is sent to its pages."""

MOST_VISITS: Final = 1_000_000
LEAST_SECONDS: Final = 0.1
MOST_SECONDS: Final = 3600.0
"""Bounds of what a review may spend on a position."""

MAX_NODES: Final = 1_000_000
"""Nodes of a tree; the longest file has fewer."""

PageCommand = Callable[[Fields], Awaitable[Message | None]]
"""Follows a request, and returns what the page is sent for it, if anything."""
T = TypeVar("T")


async def serve_page(request: web.Request, reviews: GameReviews, seats: Seats) -> web.StreamResponse:
    """Follow the requests of a page until it goes."""
    async with accepted(request, seats) as client:
        page = _Page(client, reviews, request)
        try:
            await page.run()
        finally:
            page.leave()
    return client.response


class _Page:
    """A page: it shows one game at a time."""

    def __init__(self, client: ClientSocket, reviews: GameReviews, request: web.Request) -> None:
        self._role: Final = request[ROLE]
        self._client: Final = client
        self._games: Final = reviews.games
        self._reviews: Final = reviews
        self._shown: OpenGame | None = None
        self._loading: asyncio.Task[None] | None = None
        self._problems: list[bytes] = []
        self._studies: Final = Studies(reviews, self._send)
        self._commands: Final = self.commands()

    def commands(self) -> dict[str, tuple[Role, PageCommand]]:
        """Return the role that each kind of request needs, and what follows it."""
        by_role: dict[Role, dict[str, PageCommand]] = {
            Role.PLAY: {
                "new": self._start,
                "load": self._load,
                "check_time": lambda fields: self._game().check_time(),
                "hint": lambda fields: self._game().hint(),
                "problem": self._problem,
                "play": self._play,
                "go": self._go,
                **{name: partial(self._edit, name) for name in _EDITS},
                "toggle_dead": self._toggle_dead,
                **{name: partial(self._call, *methods) for name, methods in _PLAIN.items()},
            },
            Role.WATCH: {
                "open": self._open,
                "save": self._save,
                "review_file": lambda fields: self._reviews.file(self._game().name, _text(fields, "format")),
            },
            Role.COMPUTE: {
                "games": self._list,
                "networks": lambda fields: self._games.networks(),
                "network": self._use_network,
                "delete_game": self._delete,
                "rename_game": self._rename,
                "openings": self._explore,
                "check_answer": lambda fields: self._studies.check_answer(fields.data, _text(fields, "vertex")),
                "review": self._review,
                "stop_review": lambda fields: self._reviews.cancel(self._game().name),
            },
        }
        return {name: (role, command) for role, group in by_role.items() for name, command in group.items()}

    async def run(self) -> None:
        """Follow messages one after the other; a page that goes meanwhile is answered."""
        rules = [
            {"name": name, "komi": rules.default_komi(), "komi_9x9": rules.fair_komi(9, 9)}
            for name, rules in PRESETS.items()
        ]
        hello = {"version": __version__, "levels": self._games.has_levels, "rules": rules, "max_file": MAX_FILE}
        self._send({"type": "hello", **hello, "role": self._role.name.lower()})
        turn = asyncio.Lock()
        async with asyncio.TaskGroup() as tasks:
            async for message in self._client.messages():
                await turn.acquire()
                tasks.create_task(self._answer(self._follow(message))).add_done_callback(lambda _: turn.release())

    async def _answer(self, work: Awaitable[Message | None]) -> None:
        """Do what a message asks for and send what that returns, or why it is impossible."""
        try:
            if (answer := await work) is not None:
                self._send(answer)
        except Exception as error:
            self._send(self._games.error_message(error, "after a message of a page"))

    def leave(self) -> None:
        """Stop showing the game."""
        if self._shown is not None:
            self._shown.viewers.discard(self._client.put)
        self._shown = None
        self._studies.stop()

    async def _follow(self, message: bytes) -> Message | None:
        """Do what a message asks for, and return the answer, if it has one; raises TengenError."""
        if refusal := too_many_values(message):
            raise TengenError(refusal)
        try:
            data = json.loads(message)
        except (ValueError, RecursionError):
            data = None
        name = data.get("do") if isinstance(data, dict) else None
        if not isinstance(name, str) or name not in self._commands:
            given = f"message {shown(message.decode(errors='replace'))}"
            raise TengenError(given, expected=f"a JSON object with do = {', '.join(self._commands)}")
        needed, command = self._commands[name]
        if self._role < needed:
            given = f"{name} with a token for {self._role.name.lower()}"
            raise TengenError(given, expected=f"one for {needed.name.lower()}")
        try:
            return await command(Fields(data))
        except IllegalMoveError as error:
            return {"type": "error", "message": str(error), "reason": error.reason, "vertex": data.get("vertex")}
        except LevelError as error:
            return {"type": "error", "message": str(error), "reason": "levels"}

    async def _list(self, fields: Fields) -> Message:
        text = _text(fields, "text") if "text" in fields else ""
        count = fields.integer("count", 1, MOST_GAMES) if "count" in fields else LISTED
        return await self._games.newest(await asyncio.to_thread(self._reviews.saved.accuracies), text, count)

    async def _use_network(self, fields: Fields) -> None:
        """Begin to load a network, which may take minutes; the page goes on meanwhile."""
        self._loading = asyncio.create_task(self._answer(self._load_network(_text(fields, "name"))))

    async def _load_network(self, name: str) -> Message | None:
        news = await self._games.use_network(name)
        return news if self._shown is None else None  # else the game has told its pages

    async def _delete(self, fields: Fields) -> Message:
        await self._games.remove(_text(fields, "id"))
        await self._reviews.remove(_text(fields, "id"))
        return await self._list(fields)

    async def _rename(self, fields: Fields) -> Message:
        title = " ".join(_text(fields, "title", MAX_TITLE).split())
        await self._games.rename(_text(fields, "id"), title)
        return await self._list(fields)

    async def _start(self, fields: Fields) -> Message | None:
        settings = GameSettings(
            human=fields.color("human"),
            width=fields.integer("size", MIN_SIZE, MAX_SIZE),
            rules=_text(fields, "rules"),
            komi=None if fields.value("komi") is None else fields.number("komi", -MAX_KOMI, MAX_KOMI),
            handicap=fields.integer("handicap", 0, MAX_HANDICAP),
            has_free_handicap=fields.flag("free_handicap"),
            time=parse_time(_text(fields, "time")),
        )
        self._games.require_pace(self._client.address)
        return await self._show(await self._games.start(settings, _text_or_none(fields, "level")))

    async def _load(self, fields: Fields) -> Message | None:
        human, data = _color_or_none(fields, "human"), _file(fields)
        if is_binary(data):
            return {"type": "error", "message": "the file is not a game record", "reason": "binary"}
        if "asks" in fields and fields.flag("asks"):
            self._problems = await self._reading(data, problems_in)
            if self._problems:
                return {"type": "problems", "count": len(self._problems)}
        self._games.require_pace(self._client.address)
        level = _text_or_none(fields, "level")
        return await self._show(await self._games.load(data, human, level, self._client))

    async def _open(self, fields: Fields) -> Message | None:
        return await self._show(await self._games.find(_text(fields, "id"), self._client))

    async def _explore(self, fields: Fields) -> None:
        shown = None if self._shown is None else self._shown.name
        await self._studies.explore(fields.data, _text(fields, "rank"), shown)

    async def _problem(self, fields: Fields) -> Message:
        if not self._problems:
            raise TengenError("no problems are open: open a file of problems")
        number = fields.integer("number", 1, len(self._problems))
        values = await self._reading(self._problems[number - 1], problem_values)
        return {"type": "problem", "number": number, **values}

    async def _reading(self, data: bytes, function: Callable[[bytes], T]) -> T:
        """Return what a function returns for a record, in a process that ends with the client if it takes long."""
        records = self._games.records
        async with records.turn(data, self._client):
            return await records.call(function, data, self._client)

    async def _play(self, fields: Fields) -> None:
        vertex, node = _text(fields, "vertex"), _node(fields) if "node" in fields else None
        if node is None:
            self._game().require_turn()
            await self._change(self._game(), lambda session: session.play(vertex))
        else:
            await self._change(
                self._game_with_room(),
                lambda session: session.play_at(node, vertex),
                lambda session: session.require_legal(node, vertex),
            )

    async def _go(self, fields: Fields) -> None:
        node = _node(fields)
        await self._change(self._game(), lambda session: session.go_to(node), lambda session: session.tree.node(node))

    async def _save(self, fields: Fields) -> Message:
        content = base64.b64encode(await asyncio.to_thread(self._game().record, is_main=False)).decode("ascii")
        return {"type": "record", "id": self._game().name, "content": content}

    async def _edit(self, name: str, fields: Fields) -> Message | None:
        """Change a node of the tree, and say which one to show if it is another."""
        game = self._game() if name == "delete" else self._game_with_room()
        node, (change, *values) = _node(fields), _EDITS[name](fields)
        found = await self._change(
            game,
            lambda session: session.edit(node, lambda each: change(each, *values)).id,
            lambda session: session.tree.node(node),
        )
        return None if found == node else {"type": "at", "id": game.name, "node": found}

    async def _toggle_dead(self, fields: Fields) -> None:
        vertex = _text(fields, "vertex")
        check = methodcaller("require", Phase.SCORING)
        await self._change(self._game(), lambda session: session.toggle_dead(vertex), check)

    async def _review(self, fields: Fields) -> None:
        visits = fields.integer("visits", 1, MOST_VISITS) if "visits" in fields else None
        seconds = fields.number("seconds", LEAST_SECONDS, MOST_SECONDS) if "seconds" in fields else None
        await self._reviews.start(self._game(), Effort(visits=visits, seconds=seconds))

    async def _call(self, check: SessionMethod, method: SessionMethod, _fields: Fields) -> None:
        await self._change(self._game(), method, check)

    async def _change(self, game: OpenGame, method: SessionMethod, check: SessionMethod | None = None) -> object:
        """Do what `OpenGame.change` does, in the name of the page's address."""
        return await game.change(method, check, address=self._client.address)

    def _game(self) -> OpenGame:
        """Return the game that is shown; raises TengenError."""
        if self._shown is None:
            raise TengenError("no game is open: start one")
        return self._shown

    def _game_with_room(self) -> OpenGame:
        """Return the game that is shown, for an edit: a record has a size that can be opened again."""
        game = self._game()
        if len(game.record()) > MAX_FILE:
            given = f"a game record of {len(game.record()):,} bytes"
            raise TengenError(given, expected=f"{MAX_FILE:,} at most", advice="delete variations")
        return game

    async def _show(self, game: OpenGame) -> Message | None:
        """Show another game; return why it is not saved, if it is not."""
        self.leave()
        self._shown = game

        def waiting(_: str) -> None:
            """Receive nothing, so that the game stays open."""

        game.viewers.add(waiting)
        try:
            await self._client.wait_for_bulk(len(game.published.message()))
            game.show_to(self._client.put)
        finally:
            game.viewers.discard(waiting)
        await self._reviews.recall(game)
        self._send(await self._reviews.message(game.name))
        return {"type": "error", "message": game.unsaved} if game.unsaved else None

    def _send(self, message: Message) -> None:
        self._client.put(as_text(message))


_PLAIN: Final[dict[str, tuple[SessionMethod, SessionMethod]]] = {
    "undo": (GameSession.last_own_move, GameSession.undo),
    "redo": (GameSession.nodes_to_redo, GameSession.redo),
    "resign": (methodcaller("require", Phase.PLAYING, Phase.SCORING), GameSession.resign),
    "accept": (methodcaller("require", Phase.SCORING), GameSession.accept_score),
    "resume": (methodcaller("require", Phase.SCORING, Phase.FINISHED), GameSession.resume),
}
"""Requests without arguments: what refuses them while the engine thinks, and what does them."""


def _set_stone(node: GameNode, vertex: str, color: str) -> GameNode:
    node.tree.point(vertex)
    node = node.add_node() if node.moves else node
    node.set_stone(vertex, color)
    return node


def _set_turn(node: GameNode, color: int) -> GameNode:
    node = node.add_node() if node.moves else node
    node.set("PL", format_color(color)[0].upper())
    return node


def _set_information(node: GameNode, values: dict[str, str]) -> None:
    for name, text in values.items():
        node.tree.root.set(name, *([text] if text else []))


def _delete(node: GameNode) -> GameNode | None:
    node.delete()
    return node.parent


_EDITS: Final[dict[str, Callable[[Fields], tuple[Any, ...]]]] = {
    "comment": lambda fields: (setattr, "comment", _text(fields, "comment")),
    "mark": lambda fields: (GameNode.set_mark, _text(fields, "vertex"), _text_or_none(fields, "mark")),
    "label": lambda fields: (GameNode.set_label, _text(fields, "vertex"), _text(fields, "label")),
    "stone": lambda fields: (_set_stone, _text(fields, "vertex"), _text(fields, "stone")),
    "turn": lambda fields: (_set_turn, fields.color("player")),
    "try": lambda fields: (GameNode.add_move, _text(fields, "vertex"), _color_or_none(fields, "color")),
    "main": lambda fields: (GameNode.make_main_line,),
    "delete": lambda fields: (_delete,),
    "information": lambda fields: (
        _set_information,
        {name: _text(fields, name) for name in INFORMATION if name in fields},
    ),
}
"""What reads a request for a change of a node: the function that changes it, and its arguments after the node."""


def _text(fields: Fields, name: str, most: int = MAX_TEXT) -> str:
    """Return a text of at most so many characters; raises QueryError."""
    value = fields.value(name)
    if not isinstance(value, str):
        raise fields.error(name, "a text")
    if len(value) > most:
        raise fields.error(name, f"{most} characters at most")
    return value


def _file(fields: Fields) -> bytes:
    """Return a file; raises QueryError."""
    try:
        return base64.b64decode(_text(fields, "file", MAX_MESSAGE), validate=True)
    except ValueError:
        raise fields.error("file", "a text in base 64") from None


def _node(fields: Fields) -> int:
    return fields.integer("node", 0, MAX_NODES)


def _text_or_none(fields: Fields, name: str) -> str | None:
    return None if fields.value(name) is None else _text(fields, name)


def _color_or_none(fields: Fields, name: str) -> int | None:
    return fields.color(name) if name in fields else None
