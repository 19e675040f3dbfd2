"""The time commands of a match: GTP 2 has one kind of clock, matches have three.

    canadian   `time_settings`, which every engine with clocks has
    byo-yomi   `kata-time_settings byoyomi`, which the engine must list in `kata-list_time_settings`
    fischer    `kata-time_settings fischer`, where `kata-list_time_settings` lists it

An engine without Fischer clocks gets a canadian one, as from gtp2ogs: main time less one increment, then one move for
each increment.  Before each of its moves `time_left` sends the time it really has, less one increment, as main time, so
that it does not spend all of it on one move; if nothing remains, the rest is sent as the time of one overtime move.  An
engine that ignores `time_left` then never runs out of time, but does not use the time it has saved.

Seconds of `time_left` are whole, rounded down, as gtp2ogs sends them.
"""

import math

from gtp_engine.clock import TimeKind, TimeLeft, TimeSettings, reported_time


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
