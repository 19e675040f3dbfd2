"""Time settings and one player's clock: how much time is left, and what a move costs.

How much of it to spend is up to `time_manager`.  The system's clock is never read here: seconds are passed in as
numbers, so everything can be tested without waiting.

The settings (all in seconds):

    none             no limit
    absolute         main time for the whole game
    canadian         main time, then periods of `overtime` in which `stones` moves must be made
    byoyomi          main time, then `periods` of `overtime`; a move within a period gives the period back
    fischer          main time, plus `increment` after each move
    fischer-capped   the same, with at most `main_time_limit` on the clock and `move_time_limit` for a move

Sources: the GTP 2 draft (time_settings, time_left), the documentation of kgsGtp (kgs-time_settings; the third
argument of time_left counts periods under byo-yomi) and KataGo's docs/GTP_Extensions.md (kata-time_settings).
"""

import math
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from numbers import Integral, Real
from typing import Final, NamedTuple

from gtp_engine.base.errors import TimeSettingsError, of_kind, shown

MAX_SECONDS: Final = 1e12
"""Longest time on a clock, in seconds (30,000 years); as a float it is still exact to a tenth of a millisecond.  Longer
ones are shortened to it."""

LATE_MOVES: Final = 8
"""Moves of which the latest counts: as long as a machine is busy, moves are late again and again."""

_UNLIMITED: Final = 1e20
_LARGEST: Final = 1e25
"""Seconds above which a main time is none, and the most that settings may have, as in KataGo."""

MAX_COUNT: Final = 1_000_000
"""Most stones or periods accepted, as in KataGo."""

_ROUNDING: Final = 1e-6
"""Seconds by which a move may exceed a clock without losing: rounding errors of sums, not time."""

_REPORT_ROUNDING: Final = 1.0
"""Seconds by which a reported period may exceed a full one: controllers round."""

_NUMBER: Final = re.compile(r"[+-]?([0-9]{1,400}([.,][0-9]{0,400})?|[.,][0-9]{1,400})([eE][+-]?[0-9]{1,4})?")


_TIME: Final = r"(?:(?:\d{1,4})h)?(?:(?:\d{1,5})m(?:in)?)?(?:(?:\d{1,6})(?:s(?:ec)?)?)?"
_SHORT: Final = re.compile(rf"(?P<main>{_TIME})(?:\+(?:(?P<count>[1-9]\d{{0,3}})(?P<kind>[x/]))?(?P<extra>{_TIME}))?")
_PARTS: Final = re.compile(r"(\d+)([hms]?)")
_UNITS: Final = {"h": 3600, "m": 60, "s": 1, "": 1}

TIME_EXPECTED: Final = (
    "a main time such as 10m, then perhaps overtime: +3x30s for three byo-yomi periods of 30 seconds, +15/5m for "
    "Canadian overtime of 15 moves in 5 minutes, +10s for a Fischer increment; or none"
)


class TimeKind(StrEnum):
    """The kinds of time settings, named as in kata-time_settings."""

    NONE = "none"
    ABSOLUTE = "absolute"
    BYOYOMI = "byoyomi"
    CANADIAN = "canadian"
    FISCHER = "fischer"
    FISCHER_CAPPED = "fischer-capped"


KATA_KINDS: Final = tuple(map(str, TimeKind))
"""The kinds that kata-time_settings accepts, in the order of kata-list_time_settings."""

KGS_KINDS: Final = KATA_KINDS[:4]
"""The kinds that kgs-time_settings accepts."""


@dataclass(frozen=True)
class TimeSettings:
    """Time settings; use the constructors below, which check and simplify them, and raise TimeSettingsError.

    Fields that a kind does not use are 0, limits that it does not have are infinite.  All times are in seconds.

    >>> TimeSettings.byoyomi(600, 30, 5).periods, TimeSettings.fischer(600, 10).increment
    (5, 10.0)
    """

    kind: TimeKind = TimeKind.NONE
    main_time: float = 0.0
    overtime: float = 0.0
    stones: int = 0
    periods: int = 0
    increment: float = 0.0
    main_time_limit: float = math.inf
    move_time_limit: float = math.inf

    def __post_init__(self) -> None:
        """Refuse what is none of the kinds, such as a time."""
        if not isinstance(self.kind, TimeKind):
            advice = "call TimeSettings.absolute, fischer, byoyomi or canadian"
            raise TimeSettingsError(f"time settings of the kind {shown(self.kind)}", advice=advice)

    @property
    def has_overtime(self) -> bool:
        """Return whether the game continues after the main time."""
        return self.overtime > 0

    @staticmethod
    def none() -> "TimeSettings":
        """Return settings without a limit."""
        return TimeSettings()

    @staticmethod
    def absolute(main_time: float) -> "TimeSettings":
        """Return sudden death after `main_time`; raises TimeSettingsError."""
        checked = _checked(main_time, "main time")
        return TimeSettings.none() if main_time > _UNLIMITED else TimeSettings(TimeKind.ABSOLUTE, main_time=checked)

    @staticmethod
    def canadian(main_time: float, overtime: float, stones: int) -> "TimeSettings":
        """Return main time, then periods of `overtime` for `stones` moves each; raises TimeSettingsError.

        As GTP's time_settings defines it, no overtime means absolute, and overtime for 0 stones means no limit.
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
        checked, increment = _checked(main_time, "main time"), _checked(increment, "increment")
        is_limited = main_time <= _UNLIMITED
        return TimeSettings(TimeKind.FISCHER, main_time=checked, increment=increment) if is_limited else TimeSettings()

    @staticmethod
    def fischer_capped(
        main_time: float, increment: float, main_time_limit: float, move_time_limit: float
    ) -> "TimeSettings":
        """Return Fischer settings with a cap on the clock and on each move; a negative cap means no cap.

        Raises TimeSettingsError, also if the clock starts above its cap.
        """
        main_time, increment = _checked(main_time, "main time"), _checked(increment, "increment")
        main_time_limit = _checked_limit(main_time_limit, "main time limit")
        move_time_limit = _checked_limit(move_time_limit, "limit per move")
        if main_time_limit < main_time:
            given = f"main time limit {main_time_limit:g} with main time {main_time:g}"
            raise TimeSettingsError(given, expected="a limit of at least the main time, or -1 for none")
        return TimeSettings(
            TimeKind.FISCHER_CAPPED,
            main_time=main_time,
            increment=increment,
            main_time_limit=main_time_limit,
            move_time_limit=move_time_limit,
        )

    def words(self) -> tuple[str, ...]:
        """Return the settings as `parse` takes them."""
        names = (_FIELDS.get(name, name.lower()) for name in _ARGUMENTS[self.kind])
        values = [float(getattr(self, name)) for name in names]
        return (self.kind.value, *("-1" if math.isinf(value) else f"{value:.15g}" for value in values))

    @staticmethod
    def parse_gtp(words: Sequence[str]) -> "TimeSettings":
        """Return the settings of the three arguments of `time_settings`; raises TimeSettingsError."""
        if len(words) < 3:
            raise TimeSettingsError(_given(words), expected="MAIN_TIME OVERTIME STONES")
        return TimeSettings.parse(["canadian", *words])

    @staticmethod
    def parse(words: Sequence[str], kinds: Sequence[str] = KATA_KINDS) -> "TimeSettings":
        """Return the settings of `kata-time_settings`' or (with KGS_KINDS) `kgs-time_settings`' arguments.

        The first word is one of `kinds` in upper or lower case, the others are numbers; further words are ignored, as
        KataGo does and KGS requires.  Raises TimeSettingsError.
        """
        if not all(isinstance(word, str) for word in (*words, *kinds)):
            raise TimeSettingsError(f"time settings {shown(words)}", expected="words")
        kind = words[0].lower().replace("byo-yomi", "byoyomi") if words else ""
        if kind not in kinds:
            raise TimeSettingsError(_given(words[:1]), expected=f"one of {', '.join(kinds)}")
        names = _ARGUMENTS[kind]
        if len(words) <= len(names):
            raise TimeSettingsError(_given(words), expected=" ".join((kind, *names)))
        values = [_parse_number(name, word) for name, word in zip(names, words[1:], strict=False)]
        construct: Callable[..., TimeSettings] = getattr(TimeSettings, kind.replace("-", "_"))
        return construct(*values)


_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "none": (),
    "absolute": ("MAIN_TIME",),
    "canadian": ("MAIN_TIME", "OVERTIME", "STONES"),
    "byoyomi": ("MAIN_TIME", "PERIOD_TIME", "PERIODS"),
    "fischer": ("MAIN_TIME", "INCREMENT"),
    "fischer-capped": ("MAIN_TIME", "INCREMENT", "MAIN_TIME_LIMIT", "MOVE_TIME_LIMIT"),
}
_FIELDS: Final = {"PERIOD_TIME": "overtime"}
"""Fields of settings that are not named like their arguments."""
_COUNTS: Final = ("STONES", "PERIODS")


def parse_time(text: str) -> TimeSettings:
    """Return the time settings that a text names; raises TimeSettingsError.

    They are as people write them (see `TIME_EXPECTED`), or the words of `TimeSettings.parse`.
    """
    words = of_kind(text, str, "time").lower().split()
    if words and words[0].replace("byo-yomi", "byoyomi") in KATA_KINDS:
        return TimeSettings.parse(words)
    plain = "".join(words)
    match = _SHORT.fullmatch(plain)
    if not plain or not match or (match["extra"] is not None and not match["extra"]):
        raise TimeSettingsError(f"time {shown(text)}", expected=TIME_EXPECTED)
    main, extra = _in_seconds(match["main"]), _in_seconds(match["extra"] or "")
    if match["extra"] is None:
        return TimeSettings.absolute(main)
    if match["kind"] == "x":
        return TimeSettings.byoyomi(main, extra, int(match["count"]))
    if match["kind"] == "/":
        return TimeSettings.canadian(main, extra, int(match["count"]))
    return TimeSettings.fischer(main, extra)


def format_time(settings: TimeSettings) -> str:
    """Return time settings as `parse_time` reads them, whole seconds; limits of Fischer settings are left out."""
    main = _in_units(settings.main_time)
    if settings.kind is TimeKind.NONE:
        return "none"
    if settings.kind is TimeKind.BYOYOMI:
        return f"{main}+{settings.periods}x{_in_units(settings.overtime)}"
    if settings.kind is TimeKind.CANADIAN:
        return f"{main}+{settings.stones}/{_in_units(settings.overtime)}"
    if settings.kind is TimeKind.ABSOLUTE:
        return main
    return f"{main}+{_in_units(settings.increment)}"


def _in_seconds(text: str) -> int:
    return sum(int(number) * _UNITS[unit] for number, unit in _PARTS.findall(text))


def _in_units(seconds: float) -> str:
    """Return a time in the largest unit that divides it."""
    whole = round(seconds)
    for unit in ("h", "m"):
        if whole and whole % _UNITS[unit] == 0:
            return f"{whole // _UNITS[unit]}{unit}"
    return f"{whole}s"


def read_number(word: str) -> float:
    """Return the number in a word of a command; NaN if it is not a number, infinity if too large for a float.

    A decimal comma counts as a decimal point (q5Go sends `komi 7,50` under some locales).  Words like "nan" and "inf",
    hexadecimal digits and underscores, which Python's float() would accept, are not numbers.
    """
    return float(word.replace(",", ".")) if _NUMBER.fullmatch(word) else math.nan


def _given(words: Sequence[str]) -> str:
    """Return the start of an error message about these arguments."""
    return f"time settings {shown(' '.join(map(str, words)))}"


def _parse_number(name: str, word: str) -> float | int:
    """Return the number in a word, an integer for stones and periods; raises TimeSettingsError."""
    value = read_number(word)
    is_count = name in _COUNTS
    if math.isfinite(value) and (not is_count or value.is_integer()):
        return int(value) if is_count else value
    raise TimeSettingsError(f"{name} {shown(word)}", expected="an integer" if is_count else "a number of seconds")


def _checked(seconds: float, name: str) -> float:
    """Return a time as a float, shortened to MAX_SECONDS; raises TimeSettingsError."""
    if not isinstance(seconds, Real) or not 0 <= seconds <= _LARGEST:
        raise TimeSettingsError(f"{name} {shown(seconds)}", expected="seconds, 0 or more")
    return min(float(seconds), MAX_SECONDS)


def _checked_limit(seconds: float, name: str) -> float:
    """Return a cap on a time, infinite for a negative one or one that no clock reaches; raises TimeSettingsError."""
    limit = math.inf if isinstance(seconds, Real) and -_LARGEST <= seconds < 0 else _checked(seconds, name)
    return math.inf if limit >= MAX_SECONDS else limit


def _checked_count(count: int, name: str) -> int:
    """Return a number of stones or periods within bounds; raises TimeSettingsError."""
    if not isinstance(count, Integral) or not 0 <= count <= MAX_COUNT:
        raise TimeSettingsError(f"{name} {shown(count)}", expected=f"an integer from 0 to {MAX_COUNT}")
    return count


class TimeLeft(NamedTuple):
    """The time on a clock.  As tuples, more time is greater: of two moves the longer never leaves more.

    `has_time` is false once the clock has run out; the other fields are then a guess.  `main` is the main time left.
    `periods` counts the byo-yomi periods left, the current one included; `period` are the seconds left in it, and
    `stones` the moves still to make in it (Canadian).  Before the overtime these are their initial values.  Seconds are
    never negative.

        engine.set_time_left("black", settings, TimeLeft(True, 0.0, periods=3, period=30.0, stones=0))
    """

    has_time: bool
    main: float
    periods: int
    period: float
    stones: int


class Clock:
    """One player's clock: the time left under the settings, reported by the controller or counted by the engine.

    The engine calls `spend` after each of its moves; a controller that sends time_left corrects the count through
    `set_time_left`, with others (gogui-twogtp) the count has to do.  The drift makes up for delays between the two
    programs.
    """

    def __init__(self, settings: TimeSettings | None = None, *, drift: float = 0.0) -> None:
        self._given: Final = settings if settings is not None else TimeSettings.none()
        self.drift = drift
        """Seconds added to each move that is counted."""
        self.settings = self._given
        """The settings in force; if none were given, time_left alone implies absolute or Canadian ones."""
        self.left = full_time(self.settings)
        """The time on the clock."""
        self.is_confirmed = True
        """Whether the controller has reported its clock since the last move that was counted."""
        self._counts_main_as_stone = False
        self._late: Final[deque[float]] = deque(maxlen=LATE_MOVES)

    def reset(self) -> None:
        """Start a new game under the settings given."""
        self.settings, self.left = self._given, full_time(self._given)
        self.is_confirmed, self._counts_main_as_stone = True, False

    @property
    def in_overtime(self) -> bool:
        """Return whether the main time of settings with overtime is used up."""
        return self.settings.has_overtime and self.left.main <= 0

    @property
    def lateness(self) -> float | None:
        """Return by how many seconds the latest of the last moves was late, 0 if none was; None before the first."""
        return max(self._late, default=None)

    def note_lateness(self, seconds: float) -> None:
        """Note by how many seconds a move has exceeded the time that it was given; negative seconds count as 0."""
        self._late.append(max(0.0, seconds))

    def spend(self, seconds: float) -> None:
        """Take a move of `seconds`, plus the drift, off the clock; negative seconds count as 0.

        A clock that runs out stays at zero, or at the start of its last period, with `left.has_time` false; a
        controller that asks for another move has accepted this.
        """
        self.left = time_after_move(self.settings, self.left, max(0.0, seconds) + self.drift)
        self.is_confirmed = False

    def set_time_left(self, seconds: float, stones: int) -> None:
        """Set the clock as GTP's `time_left COLOR seconds stones` defines.

        With `stones` 0 the seconds are main time; otherwise they belong to the current period, with that many stones to
        play (Canadian) or periods left (byo-yomi).  More seconds than a period has include main time.  Lenient:
        negative seconds count as time already taken from the overtime, stones without overtime are ignored, and 0 0
        without settings still means no limit.  Raises TimeSettingsError only for seconds that are not finite, negative
        stones and more than MAX_COUNT stones.
        """
        are_numbers = isinstance(seconds, Real) and isinstance(stones, Integral)
        if not are_numbers or not abs(seconds) < math.inf or not 0 <= stones <= MAX_COUNT:
            given = f"time left {shown(seconds)} and {shown(stones)} stones"
            raise TimeSettingsError(given, expected=f"finite seconds and 0 to {MAX_COUNT} stones")
        seconds = max(-MAX_SECONDS, min(seconds, MAX_SECONDS))
        if self._given.kind is TimeKind.NONE and seconds > 0:
            self.settings = TimeSettings.canadian(0.0, seconds, stones) if stones else TimeSettings.absolute(seconds)
        if self.settings.stones > 2 and stones == 1:
            # Old versions of gtp2ogs write 1 in main time too.  Main time is never followed by the last stone of
            # several, so what was main time once still is, also where it is less than a period.
            is_main = _exceeds_period(self.settings, seconds)
            self._counts_main_as_stone |= is_main
            stones = 0 if is_main or (self._counts_main_as_stone and self.left.main > 0) else stones
        self.left = _reported_time(self.settings, seconds, stones)
        self.is_confirmed = True


def full_time(settings: TimeSettings) -> TimeLeft:
    """Return the time on a clock at the start of the game."""
    return TimeLeft(True, settings.main_time, settings.periods, settings.overtime, settings.stones)


def time_after_move(settings: TimeSettings, left: TimeLeft, seconds: float) -> TimeLeft:
    """Return the time on a clock that had `left` after a move of `seconds` (0 or more)."""
    left = time_during_move(settings, left, seconds)
    if settings.kind is TimeKind.NONE:
        return left
    if not settings.has_overtime:
        return left._replace(main=min(left.main + settings.increment, settings.main_time_limit))
    if left.main > 0:
        return left
    fresh = full_time(settings)._replace(has_time=left.has_time, main=0.0)
    if settings.kind is TimeKind.BYOYOMI:
        return fresh._replace(periods=max(1, left.periods))
    return left._replace(stones=left.stones - 1) if left.has_time and left.stones > 1 else fresh


def time_during_move(settings: TimeSettings, left: TimeLeft, seconds: float) -> TimeLeft:
    """Return what a clock that had `left` shows `seconds` (0 or more) into a move, counting down."""
    if settings.kind is TimeKind.NONE:
        return left
    if not settings.has_overtime:
        has_time = seconds <= min(left.main, settings.move_time_limit) + _ROUNDING
        return left._replace(has_time=left.has_time and has_time, main=max(0.0, left.main - seconds))
    if seconds < left.main:
        return left._replace(main=left.main - seconds)
    if left.main > 0:
        left, seconds = full_time(settings)._replace(main=0.0), seconds - left.main
    exceeded = seconds - left.period
    lost = _periods_in(settings, exceeded - _ROUNDING, at_most=left.periods)
    if exceeded > _ROUNDING and lost >= left.periods:  # of byo-yomi; there are none under Canadian settings
        return left._replace(has_time=False, periods=0, period=0.0)
    return left._replace(periods=left.periods - lost, period=max(0.0, lost * settings.overtime - exceeded))


def reported_time(settings: TimeSettings, left: TimeLeft) -> tuple[float, int]:
    """Return the seconds and stones by which `Clock.set_time_left` sets a clock to `left`."""
    if settings.has_overtime and left.main <= 0:
        return left.period, left.stones or left.periods
    return left.main, 0


def _periods_in(settings: TimeSettings, seconds: float, *, at_most: int) -> int:
    """Return how many byo-yomi periods `seconds` use up, a part counting as a whole, from 0 to `at_most`."""
    return math.ceil(min(max(0.0, seconds) / settings.overtime, at_most))


def _reported_time(settings: TimeSettings, seconds: float, stones: int) -> TimeLeft:
    """Return the time on a clock that a controller has reported; see `Clock.set_time_left`."""
    full = full_time(settings)
    if settings.kind is TimeKind.NONE:
        return full
    if not settings.has_overtime or (stones == 0 and seconds > 0):
        return full._replace(main=max(0.0, seconds))
    period = seconds if stones > 0 else seconds + settings.overtime
    main = seconds - settings.overtime if _exceeds_period(settings, seconds) else 0.0
    if settings.kind is TimeKind.CANADIAN:
        if main > 0:
            return full._replace(main=main)
        return full._replace(main=0.0, period=max(0.0, period), stones=stones or full.stones)
    periods = min(stones, settings.periods) if stones > 0 else settings.periods
    if period < 0:
        lost = _periods_in(settings, -period, at_most=periods - 1)
        periods, period = periods - lost, max(0.0, period + lost * settings.overtime)
    if main > 0:
        return full._replace(main=main, periods=periods)
    return full._replace(main=0.0, period=period, periods=periods)


def _exceeds_period(settings: TimeSettings, seconds: float) -> bool:
    """Return whether a period cannot have as many seconds left, so that some of them are main time."""
    return settings.has_overtime and seconds > settings.overtime + _REPORT_ROUNDING


def settings_command(times: TimeSettings, *, knows_fischer: bool) -> str:
    """Return the command that sets up a clock at the start of a game; whole seconds are integers, as in GTP 2."""
    if times.kind is TimeKind.BYOYOMI or (times.kind is TimeKind.FISCHER and knows_fischer):
        return " ".join(("kata-time_settings", *times.words()))
    if times.kind is TimeKind.FISCHER:
        return f"time_settings {max(0.0, times.main_time - times.increment):.15g} {times.increment:.15g} 1"
    if times.kind is TimeKind.NONE:
        return "time_settings 0 1 0"  # overtime without stones is no limit, by GTP's definition
    return f"time_settings {times.main_time:.15g} {times.overtime:.15g} {times.stones}"


def time_left_arguments(times: TimeSettings, left: TimeLeft, *, knows_fischer: bool) -> str:
    """Return the arguments of `time_left`, after the colour, for a clock that shows `left`."""
    seconds, stones = reported_time(times, left)
    if times.kind is TimeKind.FISCHER and not knows_fischer:
        seconds, stones = (left.main - times.increment, 0) if left.main > times.increment else (left.main, 1)
    return f"{max(0, math.floor(seconds))} {stones}"
