"""Time settings as people write them: "10m+3x30s"."""

import re
from typing import Final

from gtp_engine.clock import TimeKind, TimeLeft, TimeSettings
from gtp_engine.errors import TimeSettingsError, problem, shown

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
