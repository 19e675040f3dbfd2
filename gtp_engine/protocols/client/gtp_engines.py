"""Clients of engines that speak GTP: one command at a time, moves, analyses, clocks, options.

    SimpleGtpEngine  the plain client
    GtpEngine        the same for asyncio, whose waits do not hold up the event loop

Every wait has an end: what does not answer in time is killed.  Replies are read
leniently, like other clients read them: lines before the first `=` or `?` are skipped (an engine that prints a banner
on stdout still plays), an empty line ends the reply, and CRLF is accepted.

GTP 2 has one kind of clock (`time_settings`, canadian); others are sent where the engine lists `kata-time_settings` and
has the kind.  An engine without Fischer clocks gets a canadian one, as from gtp2ogs: main time less one increment, then
one move for each increment.  Before each of its moves `time_left` sends the time it really has, less one increment, as
main time, so that it does not spend all of it on one move; if nothing remains, the rest is sent as the time of one
overtime move.  Seconds of `time_left` are whole, rounded down, as gtp2ogs sends them.

For asyncio any event loop will do, on every platform, as threads wait for the processes.  A call that is cancelled goes
on in its thread until the engine has replied, and the next call waits for that; leaving the `async with` block
meanwhile kills the engine.
"""

import contextlib
import json
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple, Self

from gtp_engine.base.errors import (
    CommandFailedError,
    EngineError,
    EngineStartError,
    EngineTimeoutError,
    InvalidVertexError,
    LimitError,
    problem,
    shown,
)
from gtp_engine.engine.answers import Analysis, Limit, PlayResult
from gtp_engine.go.clock import TimeKind, TimeLeft, TimeSettings, settings_command, time_left_arguments
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import COLORS, AnyMove, Move, to_color
from gtp_engine.go.game import Game
from gtp_engine.go.rules import KGS_NAMES, PRESETS, Rules
from gtp_engine.protocols.client import NO_LIMIT, AnalysisStream, AsyncAnalysis, read_report, vertices_of
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


class SimpleGtpEngine(SimpleClient):
    """An engine that speaks GTP 2, such as GNU Go, KataGo, Leela Zero, Pachi, or this one.

    `timeout` is the longest wait for a reply, in seconds, perhaps infinite.  `popen` and `connect` make one, and ask
    for name, version and commands.  One thread at a time may use it; only `kill` is safe from any thread.  The end of a
    `with` block closes it.  Methods raise EngineError: EngineDiedError, EngineTimeoutError (the engine has been killed)
    and CommandFailedError, whose messages begin with the label.
    """

    def __init__(self, connection: EngineConnection, timeout: float = REPLY_SECONDS) -> None:
        super().__init__(connection, timeout)
        self.name = ""
        """The engine's reply to `name`."""
        self.version = ""
        """The engine's reply to `version`."""
        self.commands: frozenset[str] = frozenset()
        """The commands that it lists."""
        self._position: _Sent | None = None
        self._limits: dict[str, str] = {}
        self._limits_before: dict[str, str] = {}
        self._analysis = 0
        self._is_analysing = self._is_stopping = False
        self._kinds: tuple[str, ...] | None = None

    def _started(self) -> Self:
        try:
            self.hello()
        except BaseException:
            self.close()
            raise
        return self

    def hello(self) -> None:
        """Ask for name, version and commands; raises EngineStartError for another protocol than GTP 2."""
        protocol = self.send("protocol_version")
        if protocol != "2":
            speaks = f"{self.label}: {shown(self.connection.name)} speaks GTP version {shown(protocol)}, not 2"
            raise EngineStartError(speaks)
        self.name = self.send("name")
        self.version = self.send("version")
        self.commands = frozenset(self.send("list_commands").split())

    def lists(self, command: str) -> bool:
        """Return whether the engine lists a command."""
        return command in self.commands

    # --- commands ---

    def send(self, command: str, timeout: float | None = None) -> str:
        """Return the engine's reply to any command line, within `timeout` seconds.

        After a command that may have changed the board, the next call sends the whole position again.
        """
        if command.split(" ")[0] not in _KEEP_POSITION:
            self._position = None
        return self.send_timed(command, timeout).text

    def send_timed(self, command: str, timeout: float | None = None) -> TimedReply:
        """Return the reply with its time; what the engine knows about the position stays as it is."""
        patience = self._patience(timeout)
        self._end_analysis()
        self._write(command)
        seconds, lines = self._receive(command, time.monotonic(), patience)
        self.connection.log.note(RECEIVED, "\n".join(lines))
        head = _REPLY_HEAD.match(lines[0])
        assert head is not None, "_receive returns only replies"
        text = "\n".join([head.group(2), *lines[1:]]).strip()
        if head.group(1) == "?":
            raise self._failed(command, text)
        return TimedReply(text, seconds)

    def _write(self, command: str) -> None:
        if not command.strip() or "\n" in command:
            raise EngineError(problem(f"{self.label}: command {shown(command)}", expected="one line of GTP"))
        self.connection.write(command)

    def _failed(self, command: str, text: str) -> CommandFailedError:
        return CommandFailedError(f"{self.label}: {shown(command)} failed: {whole(text)}", reply=text)

    def _receive(self, command: str, started: float, timeout: float) -> tuple[float, list[str]]:
        """Return the seconds until the reply's first line, and its lines without the closing empty one."""
        deadline, seconds, lines = started + timeout, 0.0, list[str]()
        while True:
            arrival, line = self.connection.next_line(command, deadline, timeout)
            if lines and not line:
                return seconds, lines
            if lines:
                lines.append(line)
            elif _REPLY_HEAD.match(line):
                seconds = max(0.0, arrival - started)  # the reply may arrive before `started` is read
                lines.append(line)
            if len(lines) > MOST_LINES or (not lines and arrival > deadline):
                self.kill()
                raise EngineTimeoutError(f"{self.label}: no end of the reply to {shown(command)}; it has been killed")

    # --- the position ---

    def set_position(self, game: Game) -> None:
        """Give the engine the position of a game, with its rules and komi; sends only what it does not have yet.

        An engine without a command for rules plays by its own.
        """
        wanted = _Sent.of(game)
        known, self._position = self._position, None  # unknown if a command fails
        if known is not None and known.base == wanted.base:
            common = next(
                (i for i, pair in enumerate(zip(known.moves, wanted.moves, strict=False)) if pair[0] != pair[1]),
                min(len(known.moves), len(wanted.moves)),
            )
            if len(known.moves) == common or self.lists("undo"):
                for _ in range(len(known.moves) - common):
                    self.send("undo")
                self.play_moves(game, wanted.moves[common:])
                self._position = wanted
                return
        self.clear_board(game)
        self.set_stones(game)
        self.play_moves(game, wanted.moves)
        self._position = wanted

    def clear_board(self, game: Game) -> None:
        """Give the engine an empty board with the size, the rules and the komi of a game; the rules first."""
        self.send(self._size_command(game.width, game.height))
        self.send("clear_board")
        for command in self._rules_commands(game.rules):
            self.send(command)
        self.send(f"komi {game.komi:g}" if float(f"{game.komi:g}") == game.komi else f"komi {game.komi!r}")

    def _size_command(self, width: int, height: int) -> str:
        if width == height:
            return f"boardsize {width}"
        if not self.lists("rectangular_boardsize"):
            raise EngineError(f"{self.label}: {self.name} has no board of {width}x{height}, only square ones")
        return f"rectangular_boardsize {width} {height}"

    def _rules_commands(self, rules: Rules) -> list[str]:
        if self.lists("kata-set-rules"):
            return [f"kata-set-rules {rules.to_json()}"]
        kgs_name = _kgs_name(rules)
        return [f"kgs-rules {kgs_name}"] if self.lists("kgs-rules") and kgs_name else []

    def set_stones(self, game: Game) -> None:
        """Set up the stones of a game before its first move, on the empty board: a handicap, or any position."""
        stones = game.setup_stones
        if not stones:
            return
        is_handicap = len(stones) > 1 and game.first_player == WHITE and all(each.color == BLACK for each in stones)
        if is_handicap and self.lists("set_free_handicap"):
            self.send(" ".join(["set_free_handicap", *(game.vertex(stone.point) for stone in stones)]))
        elif self.lists("set_position"):
            self.send(" ".join(["set_position", *(f"{_letter(s.color)} {game.vertex(s.point)}" for s in stones)]))
        else:
            self.play_moves(game, stones)

    def play_moves(self, game: Game, moves: Sequence[AnyMove]) -> None:
        """Send moves or stones to the engine, on the board of a game; raises CommandFailedError when it refuses one."""
        for color, point in map(game.as_move, moves):
            self.send(f"play {_letter(color)} {game.vertex(point)}")

    # --- moves and scores ---

    def play(
        self, game: Game, limit: Limit | None = None, *, color: int | str | None = None, timeout: float | None = None
    ) -> PlayResult:
        """Return the move that the engine chooses in the position of a game, which does not change.

        `color` defaults to the side to play.  The engine has `timeout` seconds beyond the time of the limit.  Raises
        EngineError also for a limit that the engine does not have, and for a move that is none.
        """
        limit, mover = limit or Limit(), game.to_play if color is None else COLORS[to_color(color)]
        self.set_position(game)
        self._set_limit(limit)
        known, self._position = self._position, None
        reply = self.genmove(mover, (limit.time or 0.0) + self._patience(timeout))
        if reply.text.lower() == "resign":
            return PlayResult(None, reply.seconds)
        try:
            played = game.as_move((mover, reply.text))
        except InvalidVertexError as error:
            raise EngineError(f"{self.label}: the reply to genmove is no move: {error}") from None
        assert known is not None, "set_position has set it"
        self._position = known._replace(moves=(*known.moves, played))
        return PlayResult(played, reply.seconds)

    def genmove(self, color: int | str, timeout: float | None = None) -> TimedReply:
        """Return the engine's move as text, with the seconds it took; it is played on the engine's board."""
        return self.send_timed(f"genmove {_letter(to_color(color)).lower()}", timeout)

    def score(self, game: Game) -> str:
        """Return the engine's score of a finished game, such as "B+3.5"."""
        self.set_position(game)
        return self.send("final_score")

    # --- analysis ---

    def analyse(self, game: Game, limit: Limit, *, ownership: bool = False, timeout: float | None = None) -> Analysis:
        """Return what the engine finds in the position of a game within a limit of time or visits.

        With `ownership` also who will own each point, which not all engines tell.  Raises LimitError without a limit.
        """
        if limit == Limit():
            raise LimitError(
                problem(f"{self.label}: an analysis without a limit", expected="Limit(time=…) or visits=…")
            )
        report = None
        for report in self.watch(game, limit, ownership=ownership, timeout=timeout):  # noqa: B007
            pass
        if report is None:
            raise EngineError(f"{self.label}: the analysis ended without a report")
        return report

    def watch(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        every: float = REPORT_SECONDS,
        ownership: bool = False,
        timeout: float | None = None,
    ) -> AnalysisStream:
        """Return the reports of a search of the position of a game, about one in `every` seconds.

        Winrates and points are those of the side to play.  The search goes on until the limit, or until the stream is
        left.  `timeout` is the longest wait for a report; two come in that time even if `every` is longer.
        Raises LimitError for a limit of playouts, which analyses do not have.
        """
        limit = limit or Limit()
        if limit.playouts is not None:
            raise LimitError(
                problem(f"{self.label}: an analysis of {limit.playouts} playouts", expected="time or visits")
            )
        kind = next((name for name in ("kata-analyze", "lz-analyze") if self.lists(name)), None)
        if kind is None:
            raise EngineError(
                f"{self.label}: {self.name} has no analysis: it lists neither kata-analyze nor lz-analyze"
            )
        self.set_position(game)
        patience = self._patience(timeout)
        seconds = min(checked_seconds(every, "reports every"), (limit.time or math.inf) / 2, patience / 2)
        interval = max(1, round(min(100 * seconds, NO_LIMIT)))
        extras = f" rootInfo true{' ownership true' if ownership else ''}" if kind == "kata-analyze" else ""
        command = f"{kind} {_letter(game.to_play).lower()} {interval}{extras}"
        self._end_analysis()
        self._write(command)
        self._analysis += 1
        self._is_analysing, self._is_stopping = True, False
        reading = _GtpReports(self, command, game, limit, patience)
        return AnalysisStream(reading.read, reading.stop)

    def _end_analysis(self) -> list[str]:
        """Stop the analysis, if one runs, and return the lines that had not been read yet."""
        lines = list[str]()
        if not self._is_analysing:
            return lines
        self._ask_to_stop()
        deadline = time.monotonic() + self.timeout
        while True:
            _, line = self.connection.next_line("the end of an analysis", deadline, self.timeout)
            if not line:
                self._is_analysing = False
                return lines
            lines[:] = [*lines[-1:], line]
            if time.monotonic() > deadline:
                self.kill()
                raise EngineTimeoutError(f"{self.label}: the analysis does not end; the engine has been killed")

    def _end_of_failure(self) -> None:
        """Read the empty line after an analysis that the engine has refused."""
        deadline = time.monotonic() + self.timeout
        while self.connection.next_line("an analysis that it refused", deadline, self.timeout)[1]:
            pass
        self._is_analysing = False

    def _ask_to_stop(self) -> None:
        if self._is_analysing and not self._is_stopping:
            self._is_stopping = True
            self.connection.write("")

    # --- time, limits, options ---

    def time_kinds(self) -> tuple[str, ...]:
        """Return the kinds of clocks that the engine has beside GTP's, as kata-list_time_settings names them."""
        if self._kinds is None:
            has_more = self.lists("kata-time_settings") and self.lists("kata-list_time_settings")
            self._kinds = tuple(self.send_timed("kata-list_time_settings").text.split()) if has_more else ()
        return self._kinds

    def set_time(self, times: TimeSettings) -> None:
        """Set the clocks of both sides; raises EngineError for a kind that the engine does not have."""
        kinds = self.time_kinds() if times.kind in (TimeKind.FISCHER, TimeKind.BYOYOMI) else ()
        if times.kind is TimeKind.BYOYOMI and TimeKind.BYOYOMI not in kinds:
            raise EngineError(f"{self.label}: {self.name} has no byo-yomi; use TimeSettings.canadian")
        if not (times.kind in kinds or self.lists("time_settings")):
            raise EngineError(f"{self.label}: {self.name} does not list time_settings, so it has no clock")
        self._limits.pop("time", None)
        self.send(settings_command(times, knows_fischer=TimeKind.FISCHER in kinds))

    def set_time_left(self, color: int | str, times: TimeSettings, left: TimeLeft) -> None:
        """Tell the engine what a clock shows; an engine that does not list `time_left` relies on its own."""
        if self.lists("time_left"):
            arguments = time_left_arguments(times, left, knows_fischer=TimeKind.FISCHER in (self._kinds or ()))
            self.send(f"time_left {_letter(to_color(color))} {arguments}")

    def options(self) -> dict[str, str]:
        """Return the settings that `set_option` changes, by name; empty for an engine without KataGo's commands.

        KataGo itself has kata-get-params without listing it.
        """
        if not (self.lists("kata-get-params") or self.lists("kata-list-params")):
            return {}
        try:
            reply = self.send("kata-get-params")
        except CommandFailedError:
            return {name: self.send(f"kata-get-param {name}") for name in self.send("kata-list-params").split()}
        try:
            found = json.loads(reply)
            return {name: value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}
        except (ValueError, AttributeError) as error:
            given = f"{self.label}: the reply {shown(reply)} to kata-get-params"
            raise EngineError(problem(given, expected="a JSON object")) from error

    def set_option(self, name: str, value: str | float | bool) -> None:
        """Change a setting of the engine, by KataGo's command, Leela Zero's, or the command of that name.

        GNU Go's `level` is such a command.  True and False are sent as "true" and "false".
        """
        try:
            text = str(value).lower() if isinstance(value, bool) else str(value)
        except ValueError:  # an integer of more than 4300 digits
            raise EngineError(f"{self.label}: option {shown(name)} {shown(value)}: too long a number") from None
        if self.lists("kata-set-param"):
            self.send(f"kata-set-param {name} {text}")
        elif self.lists("lz-setoption"):
            self.send(f"lz-setoption name {name} value {text}")
        elif self.lists(name):
            self.send(f"{name} {text}")
        else:
            raise EngineError(f"{self.label}: {self.name} has no option {shown(name)}")

    def _set_limit(self, limit: Limit) -> None:
        """Give the engine the limits of the next move, and take back those of the one before."""
        wanted = {name: f"{value:g}" for name, value in vars(limit).items() if value is not None}
        for name in [*self._limits, *wanted]:
            if wanted.get(name) == self._limits.get(name):
                continue
            if name == "time":
                self._set_time_for_move(limit.time)
            else:
                self._set_count(name, getattr(limit, name))
        self._limits = wanted

    def _set_time_for_move(self, seconds: float | None) -> None:
        if seconds is None:
            self.send(settings_command(TimeSettings.none(), knows_fischer=False))
        elif seconds != int(seconds) and TimeKind.BYOYOMI in self.time_kinds():
            self.send(f"kata-time_settings byoyomi 0 {seconds!r} 1")
        elif self.lists("time_settings"):
            self.send(f"time_settings 0 {math.ceil(seconds)} 1")
        else:
            raise EngineError(f"{self.label}: {self.name} does not list time_settings, so it has no limit of time")

    def _set_count(self, name: str, count: int | None) -> None:
        """Set the visits or the playouts of a move; None: as many as before the first limit."""
        if not (self.lists("kata-set-param") or self.lists("lz-setoption")):
            raise EngineError(
                f"{self.label}: the {name} of {self.name} cannot be set; use Limit(time=…) or its command"
            )
        option = name if self.lists("lz-setoption") else f"max{name.capitalize()}"
        if option not in self._limits_before and self.lists("kata-get-param"):
            self._limits_before[option] = self.send(f"kata-get-param {option}")
        self.set_option(option, self._limits_before.get(option, str(NO_LIMIT)) if count is None else count)

    # --- the end ---

    def close(self) -> None:
        """Send `quit`, and kill the engine if it does not exit within five seconds.  Raises nothing."""
        with contextlib.suppress(EngineError):
            self._ask_to_stop()
        self.connection.close()


class _Sent(NamedTuple):
    """A position as an engine has received it: what is set before the first move, and the moves."""

    base: tuple[object, ...]
    moves: tuple[Move, ...]

    @staticmethod
    def of(game: Game) -> "_Sent":
        base = (game.width, game.height, game.rules, game.komi, frozenset(game.setup_stones), game.first_player)
        return _Sent(base, game.moves)


class _GtpReports:
    """Reads the reports of one analysis of an engine."""

    def __init__(self, engine: SimpleGtpEngine, command: str, game: Game, limit: Limit, timeout: float) -> None:
        self._engine: Final = engine
        self._number: Final = engine._analysis
        self._command: Final = command
        self._vertices: Final = vertices_of(game)
        self._to_play: Final = game.to_play
        self._turn: Final = len(game.moves)
        self._scale: Final = 1.0 if command.startswith("kata") else 10_000.0
        self._limit: Final = limit
        self._timeout: Final = timeout
        self._started: Final = time.monotonic()
        self._has_begun = False
        self._last: Analysis | None = None

    def read(self) -> Analysis | None:
        """Return the next report, None once the analysis has ended without another."""
        engine = self._engine
        if not self._is_running():
            return None
        self._read_newest()
        if engine._is_analysing and self._is_done():
            for line in engine._end_analysis():
                self._take(line)
        if self._last is None or engine._is_analysing:
            return self._last
        return replace(self._last, is_final=True)

    def stop(self) -> None:
        """Ask the engine to stop, unless it has; what it still writes is read before the next command."""
        if self._is_running():
            self._engine._ask_to_stop()

    def _is_running(self) -> bool:
        return self._engine._is_analysing and self._engine._analysis == self._number

    def _is_done(self) -> bool:
        limit, last = self._limit, self._last
        if limit.time is not None and time.monotonic() - self._started >= limit.time:
            return True
        return limit.visits is not None and last is not None and last.visits >= limit.visits

    def _read_newest(self) -> None:
        """Read lines until there is a report, and those that have arrived after it, or until the limit of time."""
        connection, deadline = self._engine.connection, time.monotonic() + self._timeout
        found = False
        while not found or connection.has_line():
            if self._limit.time is not None and not connection.has_line():
                left = self._started + self._limit.time - time.monotonic()
                if self._last is not None and not connection.wait_for_line(max(0.0, left)) and connection.is_alive():
                    return
            _, line = connection.next_line(self._command, deadline, self._timeout)
            if not line:
                self._engine._is_analysing = False
                return
            found = self._take(line) or found
            if time.monotonic() > deadline:
                self._engine.kill()
                label, command = self._engine.label, shown(self._command)
                raise EngineTimeoutError(f"{label}: no report of {command} within {self._timeout:g} s")

    def _take(self, line: str) -> bool:
        """Keep what a line reports; return whether it does.  Raises EngineError."""
        if not self._has_begun and (head := _REPLY_HEAD.match(line)):
            self._has_begun = True
            if head.group(1) == "?":
                self._engine._end_of_failure()
                raise self._engine._failed(self._command, head.group(2))
            line = head.group(2)
        if not line.startswith("info"):
            return False
        try:
            report = read_report(line, self._vertices, to_play=self._to_play, scale=self._scale, turn=self._turn)
        except (KeyError, ValueError) as error:
            label, command = self._engine.label, shown(self._command)
            raise EngineError(f"{label}: a report of {command} cannot be read: {whole(str(error))}") from error
        self._last = report or self._last
        return report is not None


def _kgs_name(rules: Rules) -> str | None:
    """Return the argument of `kgs-rules` closest to the rules, or None.

    KGS has one Chinese rule set; it is also sent for ours with simple ko, for which an engine that lists only
    `kgs-rules` has no other name.
    """
    if rules == PRESETS["chinese"]:
        return "chinese"
    return next((name for name, preset in KGS_NAMES.items() if PRESETS[preset] == rules), None)


def _letter(color: int) -> str:
    return "B" if color == BLACK else "W"


class GtpEngine(AsyncClient[SimpleGtpEngine]):
    """An engine that speaks GTP 2, for asyncio; see `SimpleGtpEngine`, whose methods it has.

    `popen` and `connect` start one.  Calls are made one after the other.
    """

    _plain_class = SimpleGtpEngine

    @property
    def name(self) -> str:
        """The engine's reply to `name`."""
        return self.plain.name

    @property
    def version(self) -> str:
        """The engine's reply to `version`."""
        return self.plain.version

    @property
    def commands(self) -> frozenset[str]:
        """The commands that it lists."""
        return self.plain.commands

    def lists(self, command: str) -> bool:
        """Return whether the engine lists a command."""
        return self.plain.lists(command)

    async def send(self, command: str, timeout: float | None = None) -> str:
        """Return the engine's reply to any command line, within `timeout` seconds; see `SimpleGtpEngine.send`."""
        return await self._call(self.plain.send, command, timeout)

    async def set_position(self, game: Game) -> None:
        """Give the engine the position of a game; see `SimpleGtpEngine.set_position`."""
        await self._call(self.plain.set_position, game.copy())

    async def play(
        self, game: Game, limit: Limit | None = None, *, color: int | str | None = None, timeout: float | None = None
    ) -> PlayResult:
        """Return the move that the engine chooses in a game, which does not change; see `SimpleGtpEngine.play`.

        The engine has `timeout` seconds beyond the time of the limit.
        """
        return await self._call(self.plain.play, game.copy(), limit, color=color, timeout=timeout)

    async def score(self, game: Game) -> str:
        """Return the engine's score of a finished game, such as "B+3.5"."""
        return await self._call(self.plain.score, game.copy())

    def analyse(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        every: float = REPORT_SECONDS,
        ownership: bool = False,
        timeout: float | None = None,
    ) -> AsyncAnalysis:
        """Return a search of the position of a game, to be awaited or iterated, from the view of the side to play.

        A report comes about every `every` seconds; `timeout` is the longest wait for one.  Awaiting needs a limit
        (LimitError); see `SimpleGtpEngine.analyse` and `watch`.
        """
        position = game.copy()
        watch = partial(self.plain.watch, position, limit, every=every, ownership=ownership, timeout=timeout)
        analyse = partial(self.plain.analyse, position, limit or Limit(), ownership=ownership, timeout=timeout)
        return AsyncAnalysis(_ThreadReports(self, watch), lambda: self._call(analyse))

    async def set_time(self, times: TimeSettings) -> None:
        """Set the clocks of both sides; see `SimpleGtpEngine.set_time`."""
        await self._call(self.plain.set_time, times)

    async def set_time_left(self, color: int | str, times: TimeSettings, left: TimeLeft) -> None:
        """Tell the engine what a clock shows; see `SimpleGtpEngine.set_time_left`."""
        await self._call(self.plain.set_time_left, color, times, left)

    async def options(self) -> dict[str, str]:
        """Return the settings that `set_option` changes, by name."""
        return await self._call(self.plain.options)

    async def set_option(self, name: str, value: str | float | bool) -> None:
        """Change a setting of the engine to a `value` as its command takes it; see `SimpleGtpEngine.set_option`."""
        await self._call(self.plain.set_option, name, value)


class _ThreadReports:
    """The reports of a plain stream, read in the engine's thread."""

    def __init__(self, engine: GtpEngine, watch: Callable[[], AnalysisStream]) -> None:
        self._engine: Final = engine
        self._watch: Final = watch
        self._stream: AnalysisStream | None = None
        self._is_stopped = False

    async def next(self) -> Analysis | None:
        """Return the next report, None after the last."""
        return await self._engine._call(self._next)

    def _next(self) -> Analysis | None:
        if self._stream is None:
            self._stream = self._watch()
        if self._is_stopped:
            self._stream.close()
        return next(self._stream, None)

    def stop(self) -> None:
        """Stop the search."""
        self._is_stopped = True
        if self._stream is not None:
            self._stream.close()
