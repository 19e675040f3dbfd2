"""One engine of a match: its colour, clock and times in a game, and the commands it gets, in gogui-twogtp's order.

At the start: protocol_version, name, version, list_commands, tengen-ready if the engine is ours, and kata-set-param if
the match sets the visits.  For each game: boardsize, clear_board, the rules if the engine lists a command for them,
komi, a clock if the match has one, the handicap, and the opening's stones as `play`.  Rules come before komi because an
engine may reset komi with them.

The client (`protocols.client.gtp_engines`) knows how clocks and rules are sent.
"""

import contextlib
from pathlib import Path
from typing import Final

from gtp_engine.arena.match.settings import MatchError, MatchSettings, MatchSide
from gtp_engine.base.errors import CommandFailedError, EngineError
from gtp_engine.go.clock import TimeKind, TimeSettings, full_time, time_after_move
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.protocols.client.connection import EngineConnection
from gtp_engine.protocols.client.gtp_engines import GtpEngine, SimpleGtpEngine
from gtp_engine.protocols.client.simple import wait_for

_REQUIRED: Final = ("boardsize", "clear_board", "komi", "play", "genmove")


class MatchEngine(SimpleGtpEngine):
    """An engine process and, after `shake_hands`, its name, version and commands; and how it does in the game it plays.

    Raises EngineError when the process cannot be started or fails.
    """

    def __init__(self, side: MatchSide, settings: MatchSettings, *, log: Path) -> None:
        self.side = side
        self._settings = settings
        self._times = settings.time_settings() or TimeSettings.none()
        self.color: int = BLACK
        self.time_left = full_time(self._times)
        """What its clock shows."""
        self.think_times: list[float] = []
        """Seconds of its moves."""
        self.overruns = 0
        connection = wait_for(EngineConnection.popen(settings.command(side), label=side, log=log))
        super().__init__(GtpEngine(connection, settings.reply_timeout))

    def shake_hands(self) -> None:
        """Request name, version and commands, and set the engine's visits.

        Raises EngineStartError when it does not speak GTP 2, MatchError when it lacks a command that every game needs.
        """
        self.hello()
        missing = [command for command in _REQUIRED if not self.lists(command)]
        if missing:
            raise MatchError(f"{self.side}: {self.name} does not list {', '.join(missing)}, which every game needs")
        if self.lists("tengen-ready"):  # before that, an engine that has just been installed plays by small searches
            self.send("tengen-ready")
        if self._settings.visits:
            if not self.lists("kata-set-param"):
                raise MatchError(
                    f"{self.side}: the visits of {self.name} cannot be set (it does not list kata-set-param); "
                    "leave out --visits and set the limit in its command"
                )
            self.send(f"kata-set-param maxVisits {self._settings.visits}")

    def sit_down(self, color: int) -> None:
        """Begin a game of this colour with a full clock."""
        self.color, self.time_left = color, full_time(self._times)
        self.think_times, self.overruns = [], 0

    def set_up_game(self, opening: Game) -> None:
        """Give the engine the match's rules, komi and clock, then the stones and moves of an opening.

        Raises MatchError when it refuses one of them: the match would be meaningless.
        """
        times, stones = self._times, sorted(opening.setup_stones, key=lambda stone: stone.color != WHITE)
        has_clock = times.kind is not TimeKind.NONE
        kinds = self.time_kinds() if times.kind in (TimeKind.FISCHER, TimeKind.BYOYOMI) else ()
        if times.kind is TimeKind.BYOYOMI and TimeKind.BYOYOMI not in kinds:
            raise MatchError(f"{self.side}: {self.name} has no byo-yomi; play with --overtime-stones")
        if has_clock and not (times.kind in kinds or self.lists("time_settings")):
            raise MatchError(f"{self.side}: {self.name} does not list time_settings; play without clocks")
        try:
            self.clear_board(opening)
            if has_clock:
                self.set_time_settings(times)
            if self._settings.handicap and self.lists("set_free_handicap"):
                self.set_up(opening)
            else:  # White's stones first: Black's moves before White's first one would count as a handicap
                self.play_moves(opening, stones)
            self.play_moves(opening, opening.moves)
        except CommandFailedError as error:
            raise MatchError(f"the game cannot be set up: {error}") from error

    def send_time_left(self) -> None:
        """Send the engine's clock, if the match is set to do so or the engine plays with an emulated Fischer clock.

        Nothing is sent to an engine that does not list `time_left`, and a refusal is ignored: the engine then relies
        on its own clock.
        """
        is_emulated = self._times.kind is TimeKind.FISCHER and TimeKind.FISCHER not in self.time_kinds()
        if self._settings.time_left or is_emulated:
            with contextlib.suppress(CommandFailedError):
                self.set_time_left(self.color, self._times, self.time_left)

    def loses_on_time(self, seconds: float) -> bool:
        """Deduct a move from the clock; return whether it loses because it took more than clock and grace allow.

        The grace forgives each overstep separately, for delays of the machine rather than the engine.  The full time is
        still deducted, so an engine cannot use the grace as extra time.
        """
        times, before, settings = self._times, self.time_left, self._settings
        after = time_after_move(times, before, seconds)
        self.time_left = after._replace(has_time=True)
        if after.has_time:
            return False
        self.overruns += 1
        forgiven = time_after_move(times, before, max(0.0, seconds - settings.time_grace)).has_time
        return settings.forfeit_on_time and not forgiven

    def final_score(self) -> str | None:
        """Return the engine's score of the final position, or None when it has no such command or fails."""
        if not self.lists("final_score"):
            return None
        try:
            return self.send("final_score")
        except EngineError:
            return None
