"""The words in which a match tells an engine its time: GTP 2 knows one kind of clock, matches have two.

    canadian   `time_settings`, which every engine with clocks has
    fischer    `kata-time_settings fischer`, where `kata-list_time_settings` answers that it is known

An engine without Fischer clocks is told of a canadian one, as gtp2ogs does it: main time less one increment, then one
move for each increment.  Before each of its moves `time_left` says what it really has, less one increment, as main
time, so that it does not think all of it is for one move; when that leaves nothing, the rest is the time of one
overtime move.  An engine that ignores `time_left` then never runs out of time, but does not use what it has saved.

Seconds of `time_left` are whole, rounded down, as gtp2ogs sends them.
"""

import math

from gtp_engine.clock import TimeKind, TimeLeft, TimeSettings


def settings_command(times: TimeSettings, *, knows_fischer: bool) -> str:
    """Return the command that sets up a clock at the start of a game."""
    if times.kind is TimeKind.FISCHER and knows_fischer:
        return f"kata-time_settings fischer {_seconds(times.main_time)} {_seconds(times.increment)}"
    if times.kind is TimeKind.FISCHER:
        main_time = max(0.0, times.main_time - times.increment)
        return f"time_settings {_seconds(main_time)} {_seconds(times.increment)} 1"
    return f"time_settings {_seconds(times.main_time)} {_seconds(times.overtime)} {times.stones}"


def time_left_arguments(times: TimeSettings, left: TimeLeft, *, knows_fischer: bool) -> str:
    """Return the arguments of `time_left`, after the colour, for a clock that shows `left`."""
    seconds, stones = left.main, 0
    if times.has_overtime and left.main <= 0:
        seconds, stones = left.period, left.stones
    elif times.kind is TimeKind.FISCHER and not knows_fischer:
        seconds, stones = (left.main - times.increment, 0) if left.main > times.increment else (left.main, 1)
    return f"{max(0, math.floor(seconds))} {stones}"


def _seconds(value: float) -> str:
    """Return seconds as an integer where they are whole, because GTP 2 knows no others."""
    return str(int(value)) if value == int(value) else repr(value)
