"""The clocks of both players, of which one runs at a time, and times as people write them: "10m+3x30s".

`gtp_engine.clock` knows what a move costs; this reads the system's time.
"""

import re
import time
from collections.abc import Callable, Mapping
from typing import Final

from gtp_engine.clock import TimeKind, TimeLeft, TimeSettings, full_time, time_after_move, time_during_move
from gtp_engine.errors import TimeSettingsError, problem, shown
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import check_color

_TIME: Final = r"(?:(?:\d{1,4})h)?(?:(?:\d{1,5})m)?(?:(?:\d{1,6})s?)?"
_SETTINGS: Final = re.compile(
    rf"(?P<main>{_TIME})(?:\+(?:(?P<count>[1-9]\d{{0,3}})(?P<kind>[x/]))?(?P<extra>{_TIME}))?"
)
_PARTS: Final = re.compile(r"(\d+)([hms]?)")
_SECONDS: Final = {"h": 3600, "m": 60, "s": 1, "": 1}

TIME_EXPECTED: Final = (
    "a main time such as 10m, then perhaps overtime: +3x30s for three byo-yomi periods of 30 seconds, +15/5m for "
    "Canadian overtime of 15 moves in 5 minutes, +10s for a Fischer increment; or none"
)


class GameClock:
    """Two clocks under `settings`; at first none runs.  `now` returns seconds that only grow."""

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

    def start(self, color: int) -> None:
        """Let the clock of `color` run; the time of a move of the other one is forgotten."""
        check_color(color)
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

    def left(self, color: int) -> TimeLeft:
        """Return what the clock of `color` shows now."""
        check_color(color)
        left = self._left[color]
        return time_during_move(self.settings, left, self._elapsed()) if color == self._to_move else left

    def at_last_move(self) -> dict[int, TimeLeft]:
        """Return both clocks as they stood after the last move."""
        return dict(self._left)

    def set_back(self, left: Mapping[int, TimeLeft]) -> None:
        """Stop the clocks and set both, for a move that was taken back."""
        self._left = dict(left)
        self.drop_move()

    def _elapsed(self) -> float:
        """Return the seconds of the move so far."""
        return self._spent if self._since is None else self._spent + self._now() - self._since


def parse_time(text: str) -> TimeSettings:
    """Return the time settings that a text names, see `TIME_EXPECTED`; raises TimeSettingsError."""
    plain = text.strip().lower().replace(" ", "")
    if plain == "none":
        return TimeSettings.none()
    match = _SETTINGS.fullmatch(plain)
    if not plain or not match or (match["extra"] is not None and not match["extra"]):
        raise TimeSettingsError(problem(f"time {shown(text)}", expected=TIME_EXPECTED))
    main, extra = _seconds(match["main"]), _seconds(match["extra"] or "")
    if match["extra"] is None:
        return TimeSettings.absolute(main)
    if match["kind"] == "x":
        return TimeSettings.byoyomi(main, extra, int(match["count"]))
    if match["kind"] == "/":
        return TimeSettings.canadian(main, extra, int(match["count"]))
    return TimeSettings.fischer(main, extra)


def format_time(settings: TimeSettings) -> str:
    """Return time settings as `parse_time` reads them, whole seconds; limits of Fischer settings are left out."""
    main = _text(settings.main_time)
    if settings.kind is TimeKind.NONE:
        return "none"
    if settings.kind is TimeKind.BYOYOMI:
        return f"{main}+{settings.periods}x{_text(settings.overtime)}"
    if settings.kind is TimeKind.CANADIAN:
        return f"{main}+{settings.stones}/{_text(settings.overtime)}"
    if settings.kind is TimeKind.ABSOLUTE:
        return main
    return f"{main}+{_text(settings.increment)}"


def format_time_left(settings: TimeSettings, left: TimeLeft) -> str:
    """Return what a clock shows: "9:59", in overtime "0:12 (3 periods)" or "2:10 (7 moves)"."""
    if not left.has_time:
        return "0:00"
    if not settings.has_overtime or left.main > 0:
        return _clock(left.main)
    if settings.kind is TimeKind.CANADIAN:
        return f"{_clock(left.period)} ({left.stones} move{'s' if left.stones != 1 else ''})"
    return f"{_clock(left.period)} ({left.periods} period{'s' if left.periods != 1 else ''})"


def _seconds(text: str) -> int:
    return sum(int(number) * _SECONDS[unit] for number, unit in _PARTS.findall(text))


def _text(seconds: float) -> str:
    """Return a time in the largest unit that divides it."""
    whole = round(seconds)
    for unit in ("h", "m"):
        if whole and whole % _SECONDS[unit] == 0:
            return f"{whole // _SECONDS[unit]}{unit}"
    return f"{whole}s"


def _clock(seconds: float) -> str:
    """Return seconds as a clock shows them, rounded up so that 0:00 means none are left."""
    whole = int(-(-seconds // 1))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
