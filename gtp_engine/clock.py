"""Time settings and one player's clock: how much time there is, and what a move costs.

Not here: how much of it to spend (`time_manager`), the text of GTP commands beyond the arguments of the settings,
and any reading of the system's clock; seconds come in as numbers, so everything can be tested without waiting.

The settings (all in seconds):

    none             no limit
    absolute         main time for the whole game
    canadian         main time, then periods of `overtime` in which `stones` moves must be made
    byoyomi          main time, then `periods` of `overtime`; a move within a period gives the period back
    fischer          main time, plus `increment` after each move
    fischer-capped   the same, the clock never above `main_time_limit`, no move longer than `move_time_limit`

Sources: the GTP 2 draft (time_settings, time_left), the documentation of kgsGtp (kgs-time_settings; the third
argument of time_left counts periods under byo-yomi) and KataGo's docs/GTP_Extensions.md (kata-time_settings).
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from gtp_engine.errors import TimeSettingsError, problem, shown

MAX_SECONDS: Final = 1e12
"""Longest time accepted, in seconds (30,000 years): still exact to a tenth of a millisecond as a float."""

MAX_COUNT: Final = 1_000_000
"""Most stones or periods accepted, as in KataGo."""

_ROUNDING: Final = 1e-6
"""Seconds by which a move may exceed a clock without losing: sums of floats, not time."""

_NUMBER: Final = re.compile(r"[+-]?([0-9]{1,400}([.,][0-9]{0,400})?|[.,][0-9]{1,400})([eE][+-]?[0-9]{1,4})?")


class TimeKind(StrEnum):
    """The kinds of time settings, with the words of kata-time_settings."""

    NONE = "none"
    ABSOLUTE = "absolute"
    CANADIAN = "canadian"
    BYOYOMI = "byoyomi"
    FISCHER = "fischer"
    FISCHER_CAPPED = "fischer-capped"


KATA_KINDS: Final = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")
"""What kata-time_settings takes, in the order kata-list_time_settings prints."""

KGS_KINDS: Final = ("none", "absolute", "byoyomi", "canadian")
"""What kgs-time_settings takes."""


@dataclass(frozen=True)
class TimeSettings:
    """Time settings; make them with the constructors below, which check and simplify.

    Fields a kind does not use are 0, limits it does not have infinite.  All times in seconds.
    """

    kind: TimeKind = TimeKind.NONE
    main_time: float = 0.0
    overtime: float = 0.0
    stones: int = 0
    periods: int = 0
    increment: float = 0.0
    main_time_limit: float = math.inf
    move_time_limit: float = math.inf

    @property
    def has_overtime(self) -> bool:
        """Return whether the game goes on when the main time is used up."""
        return self.overtime > 0

    @staticmethod
    def none() -> "TimeSettings":
        """Return settings without a limit."""
        return TimeSettings()

    @staticmethod
    def absolute(main_time: float) -> "TimeSettings":
        """Return sudden death after `main_time`; raises TimeSettingsError."""
        return TimeSettings(TimeKind.ABSOLUTE, main_time=_checked(main_time, "main time"))

    @staticmethod
    def canadian(main_time: float, overtime: float, stones: int) -> "TimeSettings":
        """Return main time, then periods of `overtime` for `stones` moves each; raises TimeSettingsError.

        As GTP's time_settings says: no overtime means absolute, overtime for no stones at all means no limit.
        """
        main_time, overtime = _checked(main_time, "main time"), _checked(overtime, "overtime")
        stones = _checked_count(stones, "stones")
        if overtime == 0:
            return TimeSettings.absolute(main_time)
        if stones == 0:
            return TimeSettings.none()
        return TimeSettings(TimeKind.CANADIAN, main_time=main_time, overtime=overtime, stones=stones)

    @staticmethod
    def byoyomi(main_time: float, overtime: float, periods: int) -> "TimeSettings":
        """Return main time, then `periods` of `overtime`; raises TimeSettingsError.

        Without periods, or with periods of no length, the settings are absolute.
        """
        main_time, overtime = _checked(main_time, "main time"), _checked(overtime, "period time")
        periods = _checked_count(periods, "periods")
        if overtime == 0 or periods == 0:
            return TimeSettings.absolute(main_time)
        return TimeSettings(TimeKind.BYOYOMI, main_time=main_time, overtime=overtime, periods=periods)

    @staticmethod
    def fischer(main_time: float, increment: float) -> "TimeSettings":
        """Return main time that grows by `increment` with each move; raises TimeSettingsError."""
        main_time, increment = _checked(main_time, "main time"), _checked(increment, "increment")
        return TimeSettings(TimeKind.FISCHER, main_time=main_time, increment=increment)

    @staticmethod
    def fischer_capped(
        main_time: float, increment: float, main_time_limit: float, move_time_limit: float
    ) -> "TimeSettings":
        """Return Fischer settings with a cap on the clock and on each move; a negative cap is none.

        Raises TimeSettingsError, also for a clock that starts above its cap.
        """
        main_time, increment = _checked(main_time, "main time"), _checked(increment, "increment")
        main_time_limit = _checked_limit(main_time_limit, "main time limit")
        move_time_limit = _checked_limit(move_time_limit, "limit per move")
        if main_time_limit < main_time:
            given = f"main time limit {main_time_limit:g} with main time {main_time:g}"
            raise TimeSettingsError(problem(given, expected="a limit of at least the main time, or -1 for none"))
        return TimeSettings(
            TimeKind.FISCHER_CAPPED,
            main_time=main_time,
            increment=increment,
            main_time_limit=main_time_limit,
            move_time_limit=move_time_limit,
        )

    @staticmethod
    def parse_gtp(words: Sequence[str]) -> "TimeSettings":
        """Return the settings of the three arguments of `time_settings`; raises TimeSettingsError."""
        if len(words) < 3:
            raise TimeSettingsError(problem(_given(words), expected="MAIN_TIME OVERTIME STONES"))
        return TimeSettings.parse(["canadian", *words])

    @staticmethod
    def parse(words: Sequence[str], kinds: Sequence[str] = KATA_KINDS) -> "TimeSettings":
        """Return the settings of `kata-time_settings`' or (with KGS_KINDS) `kgs-time_settings`' arguments.

        The first word is one of `kinds` in any case, the others numbers; further words are ignored, as KataGo does
        and KGS asks for.  Raises TimeSettingsError.
        """
        kind = words[0].lower().replace("byo-yomi", "byoyomi") if words else ""
        if kind not in kinds:
            raise TimeSettingsError(problem(_given(words[:1]), expected=f"one of {', '.join(kinds)}"))
        names = _ARGUMENTS[kind]
        if len(words) <= len(names):
            raise TimeSettingsError(problem(_given(words), expected=" ".join((kind, *names))))
        values = [_parse_number(name, word) for name, word in zip(names, words[1:], strict=False)]
        return _MAKERS[kind](*values)


_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "none": (),
    "absolute": ("MAIN_TIME",),
    "canadian": ("MAIN_TIME", "OVERTIME", "STONES"),
    "byoyomi": ("MAIN_TIME", "PERIOD_TIME", "PERIODS"),
    "fischer": ("MAIN_TIME", "INCREMENT"),
    "fischer-capped": ("MAIN_TIME", "INCREMENT", "MAIN_TIME_LIMIT", "MOVE_TIME_LIMIT"),
}
_COUNTS: Final = ("STONES", "PERIODS")

_MAKERS: Final[Mapping[str, Callable[..., TimeSettings]]] = {
    "none": TimeSettings.none,
    "absolute": TimeSettings.absolute,
    "canadian": TimeSettings.canadian,
    "byoyomi": TimeSettings.byoyomi,
    "fischer": TimeSettings.fischer,
    "fischer-capped": TimeSettings.fischer_capped,
}


def read_number(word: str) -> float:
    """Return the number a word of a command stands for; NaN for none, infinite where it is too large for a float.

    A decimal comma is a decimal point (q5Go sends `komi 7,50` under some locales); nan, infinities, hexadecimal
    and underscores, which Python's own float() would take, are no numbers.
    """
    return float(word.replace(",", ".")) if _NUMBER.fullmatch(word) else math.nan


def _given(words: Sequence[str]) -> str:
    """Return the start of a message about these arguments."""
    return f"time settings {shown(' '.join(words))}"


def _parse_number(name: str, word: str) -> float | int:
    """Return the number a word stands for, whole for stones and periods; raises TimeSettingsError."""
    value = read_number(word)
    is_count = name in _COUNTS
    if math.isfinite(value) and (not is_count or value.is_integer()):
        return int(value) if is_count else value
    expected = "an integer" if is_count else "a number of seconds"
    raise TimeSettingsError(problem(f"{name} {shown(word)}", expected=expected))


def _checked(seconds: float, name: str) -> float:
    """Return a time within bounds as a float; raises TimeSettingsError."""
    if not 0 <= seconds <= MAX_SECONDS:
        raise TimeSettingsError(problem(f"{name} {shown(seconds)}", expected="seconds, 0 or more"))
    return float(seconds)


def _checked_limit(seconds: float, name: str) -> float:
    """Return a cap on a time, infinite for a negative one; raises TimeSettingsError."""
    return math.inf if -MAX_SECONDS <= seconds < 0 else _checked(seconds, name)


def _checked_count(count: int, name: str) -> int:
    """Return a number of stones or periods within bounds; raises TimeSettingsError."""
    if not 0 <= count <= MAX_COUNT:
        raise TimeSettingsError(problem(f"{name} {shown(count)}", expected=f"an integer from 0 to {MAX_COUNT}"))
    return count


class TimeLeft(NamedTuple):
    """What a clock shows.  Compared as tuples, more time is greater: of two moves the longer never leaves more.

    `has_time` is false once the clock has run out; the rest is then a guess.  `main` is the main time left.  In
    overtime (or before it, as it will begin) `periods` byo-yomi periods are left with the current one, which has
    `period` seconds left, in which `stones` moves are to be made (canadian).  Seconds, never negative.
    """

    has_time: bool
    main: float
    periods: int
    period: float
    stones: int


class Clock:
    """One player's clock: what is left under the settings, as the controller says or by our own count.

    The engine calls `spend` after each of its moves; a controller that sends time_left corrects the count through
    `set_time_left`, one that does not (gogui-twogtp) is served by the count alone.  `drift` seconds are added to
    each move that is counted, for what passes between the two programs unseen.
    """

    def __init__(self, settings: TimeSettings | None = None, *, drift: float = 0.0) -> None:
        self._given = settings if settings is not None else TimeSettings.none()
        self._drift = drift
        self.reset()

    @property
    def settings(self) -> TimeSettings:
        """Return the settings in force; without any, time_left alone puts absolute or canadian ones in force."""
        return self._settings

    @property
    def left(self) -> TimeLeft:
        """Return what the clock shows."""
        return self._left

    @property
    def in_overtime(self) -> bool:
        """Return whether the main time of settings with overtime is used up."""
        return self._settings.has_overtime and self._left.main <= 0

    @property
    def is_confirmed(self) -> bool:
        """Return whether the controller's clock is known: no move has been booked since it was last stated."""
        return self._is_confirmed

    def reset(self) -> None:
        """Start a new game under the settings given."""
        self._settings = self._given
        self._left = full_time(self._settings)
        self._is_confirmed = True

    def spend(self, seconds: float) -> None:
        """Book a move that took `seconds`, plus the drift; negative seconds count as none.

        A clock that runs out stays at zero, or at the start of its last period, with `left.has_time` false:
        whoever asks for another move has let the overstep pass.
        """
        self._left = time_after_move(self._settings, self._left, max(0.0, seconds) + self._drift)
        self._is_confirmed = False

    def set_time_left(self, seconds: float, stones: int) -> None:
        """Set the clock as GTP's `time_left COLOR seconds stones` says.

        stones 0: `seconds` of main time; otherwise of the current period, with that many stones to play (canadian)
        or periods left (byo-yomi).  Lenient: negative seconds count as time already taken from the overtime,
        stones without overtime are ignored, and 0 0 without settings still means no limit.  Raises
        TimeSettingsError only for seconds that are not finite, negative stones and more than MAX_COUNT stones.
        """
        if not math.isfinite(seconds) or not 0 <= stones <= MAX_COUNT:
            given = f"time left {shown(seconds)} and {shown(stones)} stones"
            raise TimeSettingsError(problem(given, expected=f"finite seconds and 0 to {MAX_COUNT} stones"))
        seconds = min(seconds, MAX_SECONDS)
        if self._given.kind is TimeKind.NONE and seconds > 0:
            self._settings = _implied_settings(seconds, stones)
        self._left = _time_stated(self._settings, seconds, stones)
        self._is_confirmed = True


def full_time(settings: TimeSettings) -> TimeLeft:
    """Return what a clock shows at the start of the game."""
    return TimeLeft(True, settings.main_time, settings.periods, settings.overtime, settings.stones)


def time_after_move(settings: TimeSettings, left: TimeLeft, seconds: float) -> TimeLeft:
    """Return what a clock that showed `left` shows after a move of `seconds` (0 or more)."""
    if settings.kind is TimeKind.NONE:
        return left
    if settings.has_overtime:
        if seconds < left.main:
            return left._replace(main=left.main - seconds)
        in_period = left if left.main <= 0 else full_time(settings)._replace(has_time=left.has_time)
        return _after_overtime_move(settings, in_period._replace(main=0.0), seconds - left.main)
    has_time = seconds <= min(left.main, settings.move_time_limit) + _ROUNDING
    main = min(max(0.0, left.main - seconds) + settings.increment, settings.main_time_limit)
    return left._replace(has_time=left.has_time and has_time, main=main)


def _after_overtime_move(settings: TimeSettings, left: TimeLeft, seconds: float) -> TimeLeft:
    """Return what is left after a move that took `seconds` of overtime (after the main time, if it had any)."""
    fresh = full_time(settings)._replace(has_time=left.has_time, main=0.0)
    if settings.kind is TimeKind.BYOYOMI:
        lost = _periods_in(settings, seconds - left.period - _ROUNDING, at_most=left.periods)
        periods = left.periods - lost
        return fresh._replace(has_time=left.has_time and periods > 0, periods=max(1, periods))
    if seconds > left.period + _ROUNDING:
        return fresh._replace(has_time=False)
    if left.stones <= 1:
        return fresh
    return left._replace(period=max(0.0, left.period - seconds), stones=left.stones - 1)


def _periods_in(settings: TimeSettings, seconds: float, *, at_most: int) -> int:
    """Return how many byo-yomi periods `seconds` take up, begun ones included, from 0 to `at_most`."""
    return math.ceil(min(max(0.0, seconds) / settings.overtime, at_most))


def _implied_settings(seconds: float, stones: int) -> TimeSettings:
    """Return the settings that time_left implies where there are none."""
    return TimeSettings.canadian(0.0, seconds, stones) if stones > 0 else TimeSettings.absolute(seconds)


def _time_stated(settings: TimeSettings, seconds: float, stones: int) -> TimeLeft:
    """Return what a controller says is left; see `Clock.set_time_left`."""
    full = full_time(settings)
    if settings.kind is TimeKind.NONE:
        return full
    if not settings.has_overtime or (stones == 0 and seconds > 0):
        return full._replace(main=max(0.0, seconds))
    period = seconds if stones > 0 else seconds + settings.overtime
    if settings.kind is TimeKind.CANADIAN:
        return full._replace(main=0.0, period=max(0.0, period), stones=stones or full.stones)
    periods = min(stones, settings.periods) if stones > 0 else settings.periods
    if period < 0:
        lost = _periods_in(settings, -period, at_most=periods - 1)
        periods, period = periods - lost, max(0.0, period + lost * settings.overtime)
    return full._replace(main=0.0, period=period, periods=periods)
