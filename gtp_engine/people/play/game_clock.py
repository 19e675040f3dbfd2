"""The clocks of both players, of which one runs at a time.

`gtp_engine.go.clock` knows what a move costs; this reads the system's time.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final

from gtp_engine.go.clock import TimeKind, TimeLeft, TimeSettings, full_time, time_after_move, time_during_move
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import to_color


class GameClock:
    """Two clocks under `settings`; none runs at first.  `now` returns growing seconds.  Raises InvalidColorError."""

    def __init__(self, settings: TimeSettings, now: Callable[[], float] = time.monotonic) -> None:
        self.settings: Final = settings
        self._now: Final = now
        self._left = {color: full_time(settings) for color in (BLACK, WHITE)}
        self._to_move = EMPTY
        self._spent = 0.0
        self._since: float | None = None

    @property
    def is_limited(self) -> bool:
        """Whether the settings limit the time at all."""
        return self.settings.kind is not TimeKind.NONE

    @property
    def running(self) -> int:
        """The colour whose clock runs, EMPTY for none."""
        return EMPTY if self._since is None else self._to_move

    def start(self, color: int | str) -> None:
        """Let the clock of `color` run; the time of a move of the other one is forgotten."""
        color = to_color(color)
        if self._to_move != color:
            self.drop_move()
        self._to_move = color
        if self._since is None:
            self._since = self._now()

    def pause(self) -> None:
        """Stop the running clock; `start` continues the move."""
        self._spent = self._elapsed()
        self._since = None

    def end_move(self) -> None:
        """Stop the clock after a move, whose time is taken off."""
        if self._to_move != EMPTY:
            left = self._left[self._to_move]
            self._left[self._to_move] = time_after_move(self.settings, left, self._elapsed())
        self.drop_move()

    def drop_move(self) -> None:
        """Stop the clock and forget the time of the move."""
        self._to_move, self._spent, self._since = EMPTY, 0.0, None

    def left(self, color: int | str) -> TimeLeft:
        """Return what the clock of `color` shows now."""
        color = to_color(color)
        left = self._left[color]
        return time_during_move(self.settings, left, self._elapsed()) if color == self._to_move else left

    def at_last_move(self) -> Mapping[int, TimeLeft]:
        """Return both clocks as they stood after the last move."""
        return dict(self._left)

    def set_back(self, left: Mapping[int, TimeLeft]) -> None:
        """Stop the clocks and set both, for a move that was taken back."""
        self._left = dict(left)
        self.drop_move()

    def _elapsed(self) -> float:
        """Return the seconds of the move so far."""
        return self._spent if self._since is None else self._spent + self._now() - self._since


def format_time_left(settings: TimeSettings, left: TimeLeft) -> str:
    """Return what a clock shows: "9:59", in overtime "0:12 (3 periods)" or "2:10 (7 moves)"."""
    if not left.has_time:
        return "0:00"
    if not settings.has_overtime or left.main > 0:
        return _clock(left.main)
    if settings.kind is TimeKind.CANADIAN:
        return f"{_clock(left.period)} ({left.stones} move{'s' if left.stones != 1 else ''})"
    return f"{_clock(left.period)} ({left.periods} period{'s' if left.periods != 1 else ''})"


def _clock(seconds: float) -> str:
    """Return seconds as a clock shows them, rounded up so that 0:00 means none are left."""
    whole = int(-(-seconds // 1))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
