"""Clients of engines that speak GTP: one command at a time, moves, analyses, clocks, options.

    GtpEngine        the client for asyncio
    SimpleGtpEngine  the same without asyncio

Every wait has an end: what does not answer in time is killed.  Replies are read leniently, like other clients read
them: lines before the first `=` or `?` are skipped (an engine that prints a banner on stdout still plays), an empty
line ends the reply, and CRLF is accepted.

GTP 2 has one kind of clock (`time_settings`, canadian); others are sent where the engine lists `kata-time_settings` and
has the kind.  An engine without Fischer clocks gets a canadian one, as from gtp2ogs: main time less one increment, then
one move for each increment.  Before each of its moves `time_left` sends the time it really has, less one increment, as
main time, so that it does not spend all of it on one move; if nothing remains, the rest is sent as the time of one
overtime move.  Seconds of `time_left` are whole, rounded down, as gtp2ogs sends them.

A call that is cancelled frees the engine: an analysis is stopped, and what the engine still replies is read before the
next command.  GTP cannot break off a `genmove`; closing the engine meanwhile kills it.
"""

import asyncio
import json
import math
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import wraps
from itertools import takewhile
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from gtp_engine.base.errors import (
    CommandFailedError,
    EngineError,
    EngineStartError,
    EngineTimeoutError,
    InvalidVertexError,
    LimitError,
    of_kind,
    shown,
)
from gtp_engine.base.former_names import former_name
from gtp_engine.engine.answers import Analysis, Limit, PlayResult, question
from gtp_engine.go.clock import TimeKind, TimeLeft, TimeSettings, settings_command, time_left_arguments
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import AnyMove, Move, to_color
from gtp_engine.go.game import Game
from gtp_engine.go.rules import KGS_NAMES, PRESETS
from gtp_engine.protocols.client import NO_LIMIT, AsyncAnalysis, read_report, vertices_among, vertices_of
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

P = ParamSpec("P")
R = TypeVar("R")

MOST_LINES: Final = 100_000
"""Lines of a reply; an engine that sends more is ended."""

_KEEP_POSITION: Final = frozenset(
    {"name", "version", "protocol_version", "list_commands", "known_command", "showboard", "get_komi", "final_score"}
    | {"final_status_list", "time_left", "time_settings", "kata-time_settings", "kata-list_time_settings"}
    | {"kata-set-param", "kata-get-param", "kata-get-params", "lz-setoption", "kata-get-rules"}
)
"""Commands after which the engine's position is the one that was sent."""

_REPLY_HEAD = re.compile(r"^([=?])\d*\s?(.*)$", re.DOTALL)


class TimedReply(NamedTuple):
    """The text of a successful reply and the seconds from the command's last byte to the reply's first line."""

    text: str
    seconds: float


class _Reply:
    """A reply that has not been read to its end."""

    def __init__(self, command: str, patience: float, *, is_analysis: bool = False) -> None:
        self.command: Final = command
        self.patience: Final = patience
        self.started: Final = time.monotonic()
        self.deadline = self.started + patience
        self.is_analysis: Final = is_analysis
        self.has_begun = self.is_stopping = False


def _in_turn(
    method: "Callable[Concatenate[GtpEngine, P], Awaitable[R]]",
) -> "Callable[Concatenate[GtpEngine, P], Coroutine[Any, Any, R]]":
    """Return a method of an engine of which only one is called at a time, except by one another."""

    @wraps(method)
    async def call(self: "GtpEngine", /, *args: P.args, **named: P.kwargs) -> R:
        async with self._turn():
            return await method(self, *args, **named)

    return call


class GtpEngine(AsyncClient):
    """An engine that speaks GTP 2, such as GNU Go, KataGo, Leela Zero, Pachi, or this one, for asyncio.

    `timeout` is the longest wait for a reply, in seconds, perhaps infinite.  `popen` and `connect` make one, and ask
    for name, version and commands.  Calls are made one after the other; only `kill` is safe from any thread.  The end
    of an `async with` block closes it.  Methods raise EngineError: EngineDiedError, EngineTimeoutError (the engine has
    been killed) and CommandFailedError, whose messages begin with the label; LimitError for a time that is not above 0
    seconds; InvalidVertexError and InvalidColorError as those of `Game`.

        async with GtpEngine.popen("gnugo --mode gtp") as engine:
            result = await engine.genmove(game, Limit(time=1))
    """

    def __init__(self, connection: EngineConnection, timeout: float = REPLY_SECONDS) -> None:
        super().__init__(connection, timeout)
        self.name = ""
        """The engine's reply to `name`."""
        self.version = ""
        """The engine's reply to `version`."""
        self.commands: frozenset[str] = frozenset()
        """The commands that it lists."""
        self._lock: Final = asyncio.Lock()
        self._owner: asyncio.Task[Any] | None = None
        self._reply: _Reply | None = None
        self._position: _Sent | None = None
        self._limit = Limit()
        self._limits_before: dict[str, str] = {}
        self._kinds: tuple[str, ...] | None = None

    async def hello(self) -> None:
        """Ask for name, version and commands; raises EngineStartError for another protocol than GTP 2."""
        protocol = await self.send("protocol_version")
        if protocol != "2":
            speaks = f"{self.label}: {shown(self.connection.name)} speaks GTP version {shown(protocol)}, not 2"
            raise EngineStartError(speaks)
        self.name = await self.send("name")
        self.version = await self.send("version")
        self.commands = frozenset((await self.send("list_commands")).split())

    def lists(self, command: str) -> bool:
        """Return whether the engine lists a command."""
        return command in self.commands

    # --- commands ---

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait until no other task has the turn; one that has it may take it again."""
        if self._owner is (task := asyncio.current_task()):
            yield
            return
        async with self._lock:
            self._owner = task
            try:
                yield
            finally:
                self._owner = None

    @_in_turn
    async def send(self, command: str, timeout: float | None = None) -> str:
        """Return the engine's reply to any command line, within `timeout` seconds.

        After a command that may have changed the board, the next call sends the whole position again.
        """
        if command.split(" ")[0] not in _KEEP_POSITION:
            self._position = None
        return (await self.send_timed(command, timeout)).text

    @_in_turn
    async def send_timed(self, command: str, timeout: float | None = None) -> TimedReply:
        """Return the reply with its time; what the engine knows about the position stays as it is."""
        patience = self._patience(timeout)
        if not command.strip() or "\n" in command:
            raise EngineError(f"{self.label}: command {shown(command)}", expected="one line of GTP")
        await self._settle()
        self.connection.write(command)
        reply = self._reply = _Reply(command, patience)
        seconds, lines = 0.0, list[str]()
        while (found := await self._line(reply)) is not None:
            if not lines:
                seconds = max(0.0, found[0] - reply.started)  # the reply may arrive before `started` is read
            lines.append(found[1])
            if len(lines) > MOST_LINES:
                raise self._endless(reply)
        self.connection.log.note(RECEIVED, "\n".join(lines))
        head = _REPLY_HEAD.match(lines[0])
        assert head is not None, "_line returns only replies"
        text = "\n".join([head.group(2), *lines[1:]]).strip()
        if head.group(1) == "?":
            raise self._failed(command, text)
        return TimedReply(text, seconds)

    def _failed(self, command: str, text: str) -> CommandFailedError:
        return CommandFailedError(f"{self.label}: {shown(command)} failed: {whole(text)}", reply=text)

    def _endless(self, reply: _Reply) -> EngineTimeoutError:
        self.kill()
        return EngineTimeoutError(f"{self.label}: no end of the reply to {shown(reply.command)}; it has been killed")

    async def _line(self, reply: _Reply) -> tuple[float, str] | None:
        """Return when the next line of a reply arrived, and the line; None after the last one."""
        while True:
            arrival, line = await self.connection.next_line(reply.command, reply.deadline, reply.patience)
            if reply.has_begun and not line:
                self._reply = None
                return None
            if arrival > reply.deadline:
                raise self._endless(reply)
            reply.has_begun = reply.has_begun or _REPLY_HEAD.match(line) is not None
            if reply.has_begun:
                return arrival, line

    async def _settle(self) -> None:
        """Read the rest of a reply whose reader has left; end an analysis."""
        if (reply := self._reply) is not None:
            self._ask_to_stop()
            reply.deadline = max(reply.deadline, time.monotonic() + self.timeout)
            while await self._line(reply) is not None:
                pass

    def _ask_to_stop(self) -> None:
        if self._reply is not None and self._reply.is_analysis and not self._reply.is_stopping:
            self._reply.is_stopping = True
            self.connection.write("")

    # --- the position ---

    @_in_turn
    async def set_game(self, game: Game) -> None:
        """Give the engine the position of a game, with its rules and komi; sends only what it does not have yet.

        An engine without a command for rules plays by its own.
        """
        game = of_kind(game, Game, "game").copy()  # the caller may go on with it meanwhile
        base = (game.width, game.height, game.rules, game.komi, frozenset(game.setup_stones), game.first_player)
        wanted = _Sent(base, game.moves)
        known, self._position = self._position, None  # unknown if a command fails
        if known is not None and known.base == wanted.base:
            pairs = zip(known.moves, wanted.moves, strict=False)
            common = len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])
            if len(known.moves) == common or self.lists("undo"):
                for _ in range(len(known.moves) - common):
                    await self.send("undo")
                await self.play_moves(game, wanted.moves[common:])
                self._position = wanted
                return
        await self.clear_board(game)
        await self.set_up(game)
        await self.play_moves(game, wanted.moves)
        self._position = wanted

    @_in_turn
    async def clear_board(self, game: Game) -> None:
        """Give the engine an empty board with the size, the rules and the komi of a game; the rules first."""
        width, height, rules = game.width, game.height, game.rules
        if width != height and not self.lists("rectangular_boardsize"):
            raise EngineError(f"{self.label}: {self.name} has no board of {width}x{height}, only square ones")
        await self.send(f"boardsize {width}" if width == height else f"rectangular_boardsize {width} {height}")
        await self.send("clear_board")
        # KGS has one Chinese rule set; it stands for ours with simple ko, for which `kgs-rules` has no other name.
        names = (name for name, preset in KGS_NAMES.items() if PRESETS[preset] == rules)
        kgs_name = "chinese" if rules == PRESETS["chinese"] else next(names, None)
        if self.lists("kata-set-rules"):
            await self.send(f"kata-set-rules {rules.to_json()}")
        elif self.lists("kgs-rules") and kgs_name:
            await self.send(f"kgs-rules {kgs_name}")
        await self.send(f"komi {game.komi:g}" if float(f"{game.komi:g}") == game.komi else f"komi {game.komi!r}")

    @_in_turn
    async def set_up(self, game: Game) -> None:
        """Set up the stones of a game before its first move, on the empty board: a handicap, or any position."""
        stones = game.setup_stones
        if not stones:
            return
        is_handicap = len(stones) > 1 and game.first_player == WHITE and all(each.color == BLACK for each in stones)
        if is_handicap and self.lists("set_free_handicap"):
            await self.send(" ".join(["set_free_handicap", *(game.vertex(stone.point) for stone in stones)]))
        elif self.lists("set_position"):
            await self.send(" ".join(["set_position", *(f"{s.color.letter} {game.vertex(s.point)}" for s in stones)]))
        else:
            await self.play_moves(game, stones)

    @_in_turn
    async def play_moves(self, game: Game, moves: Sequence[AnyMove]) -> None:
        """Send moves or stones to the engine, on the board of a game; raises CommandFailedError when it refuses one."""
        for color, point in map(game.as_move, moves):
            await self.send(f"play {color.letter} {game.vertex(point)}")

    # --- moves and scores ---

    @_in_turn
    async def genmove(
        self, game: Game, limit: Limit | None = None, *, color: int | str | None = None, timeout: float | None = None
    ) -> PlayResult:
        """Return the move that the engine chooses in the position of a game, which does not change.

        `color` defaults to the side to play.  The engine has `timeout` seconds beyond the time of the limit.  Raises
        EngineError also for a limit that the engine does not have, and for a reply that is not a move.
        """
        game, limit = question(game, limit)
        mover = game.to_play if color is None else to_color(color)
        await self.set_game(game)
        await self._set_limit(limit)
        known, self._position = self._position, None
        reply = await self.send_genmove(mover, (limit.time or 0.0) + self._patience(timeout))
        if reply.text.lower() == "resign":
            return PlayResult(None, reply.seconds)
        try:
            played = game.as_move((mover, reply.text))
        except InvalidVertexError as error:
            raise EngineError(f"{self.label}: the reply to genmove is not a move: {error}") from None
        assert known is not None, "set_game has set it"
        self._position = known._replace(moves=(*known.moves, played))
        return PlayResult(played, reply.seconds)

    @_in_turn
    async def send_genmove(self, color: int | str, timeout: float | None = None) -> TimedReply:
        """Return the engine's move as text, with the seconds it took; it is played on the engine's board."""
        return await self.send_timed(f"genmove {to_color(color).letter.lower()}", timeout)

    @_in_turn
    async def score(self, game: Game) -> str:
        """Return the engine's score of a finished game, such as "B+3.5"."""
        await self.set_game(game)
        return await self.send("final_score")

    # --- analysis ---

    def analyse(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        every: float = REPORT_SECONDS,
        ownership: bool = False,
        allow: Iterable[int | str] = (),
        avoid: Iterable[int | str] = (),
        timeout: float | None = None,
    ) -> AsyncAnalysis:
        """Return a search of the position of a game, from the view of the side to play.

        Awaiting it, as `SimpleGtpEngine.analyse` does, needs a limit of time or visits and returns the result.
        Iterating, as over `SimpleGtpEngine.watch`, yields reports, about one in `every` seconds, until the limit or
        until it is left.  `timeout` is the longest wait for a report; two come in that time even if `every` is longer.
        With `ownership` also who will own each point, which not all engines tell.  `allow` and `avoid` are the only
        moves to search, and those not to search, in this position.  Raises LimitError for a limit of playouts, which
        analyses do not have, and for none where one is needed.
        """
        game, limit = question(game, limit)
        if limit.playouts is not None:
            raise LimitError(f"{self.label}: an analysis of {limit.playouts} playouts", expected="time or visits")
        kind = next((name for name in ("kata-analyze", "lz-analyze") if self.lists(name)), None)
        if kind is None:
            raise EngineError(
                f"{self.label}: {self.name} has no analysis: it lists neither kata-analyze nor lz-analyze"
            )
        patience, color = self._patience(timeout), game.to_play.letter
        seconds = min(checked_seconds(every, "reports every"), (limit.time or math.inf) / 2, patience / 2)
        command = f"{kind} {color.lower()} {max(1, round(min(100 * seconds, NO_LIMIT)))}"
        if kind == "kata-analyze":
            command += f" rootInfo true{' ownership true' if ownership else ''}"
        for word, moves in (("allow", vertices_among(game, allow)), ("avoid", vertices_among(game, avoid))):
            command += f" {word} {color} {','.join(moves)} 1" if moves else ""
        position = game.copy()

        def ask(wants_result: bool) -> _GtpReports:
            if wants_result and limit == Limit():
                raise LimitError(f"{self.label}: an analysis without a limit", expected="Limit(time=…) or visits=…")
            return _GtpReports(self, command, position, limit, patience)

        return AsyncAnalysis(ask)

    # --- time, limits, options ---

    @_in_turn
    async def time_kinds(self) -> tuple[str, ...]:
        """Return the kinds of clocks that the engine has beside GTP's, as kata-list_time_settings names them."""
        if self._kinds is None:
            has_more = self.lists("kata-time_settings") and self.lists("kata-list_time_settings")
            self._kinds = tuple((await self.send_timed("kata-list_time_settings")).text.split()) if has_more else ()
        return self._kinds

    @_in_turn
    async def set_time_settings(self, times: TimeSettings) -> None:
        """Set the clocks of both sides; raises EngineError for a kind that the engine does not have."""
        kinds = await self.time_kinds() if times.kind in (TimeKind.FISCHER, TimeKind.BYOYOMI) else ()
        if times.kind is TimeKind.BYOYOMI and TimeKind.BYOYOMI not in kinds:
            raise EngineError(f"{self.label}: {self.name} has no byo-yomi; use TimeSettings.canadian")
        if not (times.kind in kinds or self.lists("time_settings")):
            raise EngineError(f"{self.label}: {self.name} does not list time_settings, so it has no clock")
        self._limit = replace(self._limit, time=None)
        await self.send(settings_command(times, knows_fischer=TimeKind.FISCHER in kinds))

    @_in_turn
    async def set_time_left(self, color: int | str, times: TimeSettings, left: TimeLeft) -> None:
        """Tell the engine what a clock shows; an engine that does not list `time_left` relies on its own."""
        if self.lists("time_left"):
            arguments = time_left_arguments(times, left, knows_fischer=TimeKind.FISCHER in (self._kinds or ()))
            await self.send(f"time_left {to_color(color).letter} {arguments}")

    @_in_turn
    async def options(self) -> dict[str, str]:
        """Return the settings that `set_option` changes, by name; empty for an engine without KataGo's commands.

        KataGo itself has kata-get-params without listing it.
        """
        if not (self.lists("kata-get-params") or self.lists("kata-list-params")):
            return {}
        try:
            reply = await self.send("kata-get-params")
        except CommandFailedError:
            return {
                name: await self.send(f"kata-get-param {name}")
                for name in (await self.send("kata-list-params")).split()
            }
        try:
            found = json.loads(reply)
            return {name: value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}
        except (ValueError, AttributeError) as error:
            given = f"{self.label}: the reply {shown(reply)} to kata-get-params"
            raise EngineError(given, expected="a JSON object") from error

    @_in_turn
    async def set_option(self, name: str, value: str | float | bool) -> None:
        """Change a setting of the engine, by KataGo's command, Leela Zero's, or the command of that name.

        GNU Go's `level` is such a command.  True and False are sent as "true" and "false".
        """
        try:
            text = str(value).lower() if isinstance(value, bool) else str(value)
        except ValueError:  # an integer of more than 4300 digits
            raise EngineError(f"{self.label}: option {shown(name)} {shown(value)}: too long a number") from None
        if self.lists("kata-set-param"):
            await self.send(f"kata-set-param {name} {text}")
        elif self.lists("lz-setoption"):
            await self.send(f"lz-setoption name {name} value {text}")
        elif self.lists(name):
            await self.send(f"{name} {text}")
        else:
            raise EngineError(f"{self.label}: {self.name} has no option {shown(name)}")

    async def _set_limit(self, limit: Limit) -> None:
        """Give the engine the limits of the next move, and take back those of the one before."""
        if limit.time != self._limit.time:
            await self._set_time_for_move(limit.time)
        if limit.visits != self._limit.visits:
            await self._set_count("visits", limit.visits)
        if limit.playouts != self._limit.playouts:
            await self._set_count("playouts", limit.playouts)
        self._limit = limit

    async def _set_time_for_move(self, seconds: float | None) -> None:
        if seconds is None:
            await self.send(settings_command(TimeSettings.none(), knows_fischer=False))
        elif seconds != int(seconds) and TimeKind.BYOYOMI in await self.time_kinds():
            await self.send(f"kata-time_settings byoyomi 0 {seconds!r} 1")
        elif self.lists("time_settings"):
            await self.send(f"time_settings 0 {math.ceil(seconds)} 1")
        else:
            raise EngineError(f"{self.label}: {self.name} does not list time_settings, so it has no limit of time")

    async def _set_count(self, name: str, count: int | None) -> None:
        """Set the visits or the playouts of a move; None: as many as before the first limit."""
        if not (self.lists("kata-set-param") or self.lists("lz-setoption")):
            raise EngineError(
                f"{self.label}: the {name} of {self.name} cannot be set; use Limit(time=…) or its command"
            )
        option = name if self.lists("lz-setoption") else f"max{name.capitalize()}"
        if option not in self._limits_before and self.lists("kata-get-param"):
            self._limits_before[option] = await self.send(f"kata-get-param {option}")
        await self.set_option(option, self._limits_before.get(option, str(NO_LIMIT)) if count is None else count)

    play = former_name("GtpEngine.play", genmove, gone="3.0")
    set_position = former_name("GtpEngine.set_position", set_game, gone="3.0")
    set_time = former_name("GtpEngine.set_time", set_time_settings, gone="3.0")

    # --- the end ---

    def _take_leave(self) -> None:
        """Send `quit`; kill an engine that still owes a reply."""
        reply, self._reply = self._reply, None  # a search that is left later has nothing to stop
        if reply is not None and not reply.is_analysis:
            self.kill()
        if self.is_alive():
            if reply is not None and not reply.is_stopping:
                self.connection.write("")
            self.connection.write("quit")


class _Sent(NamedTuple):
    """A position as an engine has received it: what is set before the first move, and the moves."""

    base: tuple[object, ...]
    moves: tuple[Move, ...]


class _GtpReports:
    """Reads the reports of one analysis of an engine."""

    def __init__(self, engine: GtpEngine, command: str, game: Game, limit: Limit, timeout: float) -> None:
        self._engine: Final = engine
        self.turn: Callable[[], AbstractAsyncContextManager[None]] = engine._turn
        self._command: Final = command
        self._game: Final = game
        self._vertices: Final = vertices_of(game)
        self._scale: Final = 1.0 if command.startswith("kata") else 10_000.0
        self._limit: Final = limit
        self._timeout: Final = timeout
        self._reply: _Reply | None = None
        self._last: Analysis | None = None

    async def begin(self) -> None:
        """Send the position and the command."""
        if self._reply is None:
            async with self.turn():
                await self._engine.set_game(self._game)
                await self._engine._settle()
                self._engine.connection.write(self._command)
                self._engine._reply = self._reply = _Reply(self._command, self._timeout, is_analysis=True)

    async def next(self) -> Analysis | None:
        """Return the newest report, None once the analysis has ended without another."""
        async with self.turn():
            if (reply := self._running()) is None:
                return None
            await self._read_newest(reply)
            if self._running() and self._is_done(reply):
                self._engine._ask_to_stop()
                reply.deadline = time.monotonic() + self._engine.timeout
                while (found := await self._engine._line(reply)) is not None:
                    self._take(found[1])
            if self._last is None or self._running():
                return self._last
            return replace(self._last, is_final=True)

    def stop(self) -> None:
        """Ask the engine to stop, unless it has; what it still writes is read before the next command."""
        if self._running():
            self._engine._ask_to_stop()

    def _running(self) -> _Reply | None:
        """Return the reply to the analysis; None before it, and once it or another command has ended it."""
        return None if self._engine._reply is not self._reply else self._reply

    def _is_done(self, reply: _Reply) -> bool:
        limit, last = self._limit, self._last
        if limit.time is not None and time.monotonic() - reply.started >= limit.time:
            return True
        return limit.visits is not None and last is not None and last.visits >= limit.visits

    async def _read_newest(self, reply: _Reply) -> None:
        """Read lines until there is a report, and those that have arrived after it, or until the limit of time."""
        connection, found = self._engine.connection, False
        reply.deadline = time.monotonic() + self._timeout
        while not found or connection.has_line():
            if self._limit.time is not None and self._last is not None and not connection.has_line():
                left = reply.started + self._limit.time - time.monotonic()
                if not await connection.wait_for_line(left):
                    return
            line = await self._engine._line(reply)
            if line is None:
                return
            head = _REPLY_HEAD.match(line[1])
            if head is not None and head.group(1) == "?":
                await self._engine._settle()
                raise self._engine._failed(self._command, head.group(2))
            found = self._take(line[1]) or found

    def _take(self, line: str) -> bool:
        """Keep what a line reports; return whether it does.  Raises EngineError."""
        head = _REPLY_HEAD.match(line)
        text = line if head is None else head.group(2)
        if not text.startswith("info"):
            return False
        to_play, turn = self._game.to_play, len(self._game.moves)
        try:
            report = read_report(text, self._vertices, to_play=to_play, scale=self._scale, turn=turn)
        except (KeyError, ValueError) as error:
            label, command = self._engine.label, shown(self._command)
            raise EngineError(f"{label}: a report of {command} cannot be read: {whole(str(error))}") from error
        self._last = report or self._last
        return report is not None


class SimpleGtpEngine(SimpleClient[GtpEngine]):
    """An engine that speaks GTP 2, without asyncio; see `GtpEngine`, whose methods it has.

    Any thread may use it; calls are made one after the other.  The end of a `with` block closes it.  Methods raise
    EngineError, LimitError for a time that is not above 0 seconds, InvalidVertexError and InvalidColorError.

        with SimpleGtpEngine.popen("gnugo --mode gtp") as engine:
            result = engine.genmove(game, Limit(time=1))
    """

    _client_class = GtpEngine

    @property
    def name(self) -> str:
        """The engine's reply to `name`."""
        return self.client.name

    @property
    def version(self) -> str:
        """The engine's reply to `version`."""
        return self.client.version

    @property
    def commands(self) -> frozenset[str]:
        """The commands that it lists."""
        return self.client.commands

    def lists(self, command: str) -> bool:
        """Return whether the engine lists a command."""
        return self.client.lists(command)

    hello = simple(GtpEngine.hello)
    send = simple(GtpEngine.send)
    send_timed = simple(GtpEngine.send_timed)
    send_genmove = simple(GtpEngine.send_genmove)
    set_game = simple(GtpEngine.set_game)
    clear_board = simple(GtpEngine.clear_board)
    set_up = simple(GtpEngine.set_up)
    play_moves = simple(GtpEngine.play_moves)
    genmove = simple(GtpEngine.genmove)
    score = simple(GtpEngine.score)
    analyse = simple(GtpEngine.analyse)
    watch = streaming(GtpEngine.analyse)
    time_kinds = simple(GtpEngine.time_kinds)
    set_time_settings = simple(GtpEngine.set_time_settings)
    set_time_left = simple(GtpEngine.set_time_left)
    options = simple(GtpEngine.options)
    set_option = simple(GtpEngine.set_option)

    play = former_name("SimpleGtpEngine.play", genmove, now="SimpleGtpEngine.genmove", gone="3.0")
    set_position = former_name("SimpleGtpEngine.set_position", set_game, now="SimpleGtpEngine.set_game", gone="3.0")
    set_time = former_name("SimpleGtpEngine.set_time", set_time_settings, gone="3.0")
