"""One engine of a match: the commands it gets, in the order in which gogui-twogtp sends them.

At the start: protocol_version, name, version, list_commands, tengen-ready if the engine is ours, and kata-set-param if
the match sets the visits.  For each game: boardsize, clear_board, the rules if the engine lists a command for them,
komi, a clock if the match has one, the handicap, and the opening's stones as `play`.  Rules come before komi because an
engine may reset komi with them.

GTP 2 has one kind of clock, matches have three:

    canadian   `time_settings`, which every engine with clocks has
    byo-yomi   `kata-time_settings byoyomi`, which the engine must list in `kata-list_time_settings`
    fischer    `kata-time_settings fischer`, where `kata-list_time_settings` lists it

An engine without Fischer clocks gets a canadian one, as from gtp2ogs: main time less one increment, then one move for
each increment.  Before each of its moves `time_left` sends the time it really has, less one increment, as main time, so
that it does not spend all of it on one move; if nothing remains, the rest is sent as the time of one overtime move.  An
engine that ignores `time_left` then never runs out of time, but does not use the time it has saved.  Seconds of
`time_left` are whole, rounded down, as gtp2ogs sends them.
"""

import contextlib
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gtp_engine.clock import TimeKind, TimeLeft, TimeSettings, reported_time
from gtp_engine.errors import shown
from gtp_engine.go.constants import BLACK, Move
from gtp_engine.go.coords import format_vertex
from gtp_engine.go.rules import KGS_NAMES, PRESETS, Rules
from gtp_engine.match.gtp_client import CommandFailedError, GtpClient, GtpClientError, TimedReply
from gtp_engine.match.settings import MatchError, MatchSettings, MatchSide

_REQUIRED: Final = ("boardsize", "clear_board", "komi", "play", "genmove")


class MatchEngine:
    """An engine process and, after `shake_hands`, its name, version and commands.

    Raises GtpClientError when the process cannot be started or fails.
    """

    def __init__(self, side: MatchSide, settings: MatchSettings, *, log: Path) -> None:
        self.side = side
        self.name = ""
        self.version = ""
        self._settings = settings
        self._times = settings.time_settings()
        self._knows_fischer = False
        self._commands: frozenset[str] = frozenset()
        self._client = GtpClient(settings.command(side), label=side, log=log, timeout=settings.reply_timeout)

    def shake_hands(self) -> None:
        """Request name, version and commands, and set the engine's visits.

        Raises MatchError when it does not speak GTP 2 or lacks a command that every game needs.
        """
        protocol = self._client.send("protocol_version").text
        if protocol != "2":
            raise MatchError(f"{self.side}: {shown(self._client.command)} speaks GTP version {shown(protocol)}, not 2")
        self.name = self._client.send("name").text
        self.version = self._client.send("version").text
        self._commands = frozenset(self._client.send("list_commands").text.split())
        missing = [command for command in _REQUIRED if command not in self._commands]
        if missing:
            raise MatchError(f"{self.side}: {self.name} does not list {', '.join(missing)}")
        if self.lists("tengen-ready"):  # before that, an engine that has just been installed plays by small searches
            self._client.send("tengen-ready")
        if self._settings.visits:
            self._set_visits(self._settings.visits)

    def _set_visits(self, visits: int) -> None:
        if "kata-set-param" not in self._commands:
            raise MatchError(
                f"{self.side}: the visits of {self.name} cannot be set (it does not list kata-set-param); "
                "leave out --visits and set the limit in its command"
            )
        self._client.send(f"kata-set-param maxVisits {visits}")

    def describe(self) -> dict[str, str]:
        """Return the engine's name and version from its replies."""
        return {"name": self.name, "version": self.version}

    def lists(self, command: str) -> bool:
        """Return whether the engine lists a command."""
        return command in self._commands

    def start_game(self) -> None:
        """Set up an empty board with the match's rules, komi and clocks.

        Raises MatchError when the engine refuses one of them: the match would be meaningless.
        """
        settings = self._settings
        commands = [f"boardsize {settings.size}", "clear_board", *self._rules_commands()]
        commands.append(f"komi {settings.komi}")
        if self._times is not None:
            kinds = self._kinds_of_clocks()
            self._knows_fischer = TimeKind.FISCHER in kinds
            if self._times.kind is TimeKind.BYOYOMI and TimeKind.BYOYOMI not in kinds:
                raise MatchError(f"{self.side}: {self.name} has no byo-yomi; play with --overtime-stones")
            if not (self._times.kind in kinds or self.lists("time_settings")):
                raise MatchError(f"{self.side}: {self.name} does not list time_settings; play without clocks")
            commands.append(settings_command(self._times, knows_fischer=self._knows_fischer))
        for command in commands:
            try:
                self._client.send(command)
            except CommandFailedError as error:
                raise MatchError(str(error)) from error

    def _kinds_of_clocks(self) -> list[str]:
        """Return the kinds that the engine lists, if the match has a clock that GTP 2 has no command for."""
        if self._times is None or self._times.kind not in (TimeKind.FISCHER, TimeKind.BYOYOMI):
            return []
        if not (self.lists("kata-time_settings") and self.lists("kata-list_time_settings")):
            return []
        return self._client.send("kata-list_time_settings").text.split()

    def _rules_commands(self) -> list[str]:
        rules = self._settings.parsed_rules()
        if self.lists("kata-set-rules"):
            return [f"kata-set-rules {rules.to_json()}"]
        kgs_name = _kgs_name(rules)
        if self.lists("kgs-rules") and kgs_name:
            return [f"kgs-rules {kgs_name}"]
        return []

    def play(self, move: Move) -> None:
        """Send a move to the engine; raises CommandFailedError when it refuses."""
        self._client.send(f"play {_letter(move.color)} {self._vertex(move.point)}")

    def place_handicap(self) -> None:
        """Place the match's handicap stones, if any; raises MatchError when the engine refuses them."""
        stones = [Move(BLACK, point) for point in self._settings.handicap_points()]
        if not stones or not self.lists("set_free_handicap"):
            self.play_all(stones)
            return
        try:
            self._client.send(" ".join(["set_free_handicap", *(self._vertex(stone.point) for stone in stones)]))
        except CommandFailedError as error:
            raise MatchError(str(error)) from error

    def play_all(self, moves: Iterable[Move]) -> None:
        """Send the stones of an opening to the engine; raises MatchError when it refuses one."""
        try:
            for move in moves:
                self.play(move)
        except CommandFailedError as error:
            raise MatchError(f"the stones before the first move cannot be placed: {error}") from error

    def _vertex(self, point: int) -> str:
        size = self._settings.size
        return format_vertex(point, width=size, height=size)

    def send_time_left(self, color: int, left: TimeLeft) -> None:
        """Send the engine's clock, if the match is set to do so or the engine plays with an emulated Fischer clock.

        Nothing is sent to an engine that does not list `time_left`, and a refusal is ignored: the engine then relies
        on its own clock.
        """
        times = self._times
        is_emulated = times is not None and times.kind is TimeKind.FISCHER and not self._knows_fischer
        if times is None or not (self._settings.time_left or is_emulated) or not self.lists("time_left"):
            return
        arguments = time_left_arguments(times, left, knows_fischer=self._knows_fischer)
        with contextlib.suppress(CommandFailedError):
            self._client.send(f"time_left {_letter(color)} {arguments}")

    def genmove(self, color: int) -> TimedReply:
        """Return the engine's move as text, with the seconds it took."""
        return self._client.send(f"genmove {_letter(color).lower()}")

    def final_score(self) -> str | None:
        """Return the engine's score of the final position, or None when it has no such command or fails."""
        if not self.lists("final_score"):
            return None
        try:
            return self._client.send("final_score").text
        except GtpClientError:
            return None

    def is_alive(self) -> bool:
        """Return whether the engine still runs."""
        return self._client.is_alive()

    def close(self) -> None:
        """End the engine with `quit`, or kill it when it does not exit."""
        self._client.close()

    def kill(self) -> None:
        """Kill the engine; safe from any thread."""
        self._client.kill()


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


def settings_command(times: TimeSettings, *, knows_fischer: bool) -> str:
    """Return the command that sets up a clock at the start of a game."""
    if times.kind is TimeKind.BYOYOMI:
        return f"kata-time_settings byoyomi {_seconds(times.main_time)} {_seconds(times.overtime)} {times.periods}"
    if times.kind is TimeKind.FISCHER and knows_fischer:
        return f"kata-time_settings fischer {_seconds(times.main_time)} {_seconds(times.increment)}"
    if times.kind is TimeKind.FISCHER:
        main_time = max(0.0, times.main_time - times.increment)
        return f"time_settings {_seconds(main_time)} {_seconds(times.increment)} 1"
    return f"time_settings {_seconds(times.main_time)} {_seconds(times.overtime)} {times.stones}"


def time_left_arguments(times: TimeSettings, left: TimeLeft, *, knows_fischer: bool) -> str:
    """Return the arguments of `time_left`, after the colour, for a clock that shows `left`."""
    seconds, stones = reported_time(times, left)
    if times.kind is TimeKind.FISCHER and not knows_fischer:
        seconds, stones = (left.main - times.increment, 0) if left.main > times.increment else (left.main, 1)
    return f"{max(0, math.floor(seconds))} {stones}"


def _seconds(value: float) -> str:
    """Return seconds as an integer where they are whole: GTP 2 has only integers."""
    return str(int(value)) if value == int(value) else repr(value)
