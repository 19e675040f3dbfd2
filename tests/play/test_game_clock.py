"""Two clocks, of which one runs: what they show in mid-move, pauses, moves taken back; times as people write them."""

from functools import partial

import pytest

from gtp_engine.base.errors import TimeSettingsError
from gtp_engine.go.clock import TimeLeft, TimeSettings, full_time, time_after_move, time_during_move
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.people.play import GameClock, format_time, format_time_left, parse_time


class Time:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


BYOYOMI = TimeSettings.byoyomi(60, 10, 3)


@pytest.mark.parametrize(
    ("seconds", "main", "periods", "period"),
    [(0, 60, 3, 10), (59, 1, 3, 10), (64, 0, 3, 6), (70, 0, 3, 0), (71, 0, 2, 9), (80, 0, 2, 0), (88, 0, 1, 2)],
)
def test_byoyomi_counts_down_period_by_period(seconds: float, main: float, periods: int, period: float) -> None:
    shown = time_during_move(BYOYOMI, full_time(BYOYOMI), seconds)
    assert shown == TimeLeft(True, main, periods, pytest.approx(period), 0)


@pytest.mark.parametrize(
    ("settings", "enough", "too_long"),
    [
        (TimeSettings.absolute(60), 60, 60.1), (BYOYOMI, 90, 90.1), (TimeSettings.canadian(60, 30, 5), 90, 90.1),
        (TimeSettings.fischer(60, 5), 60, 60.1), (TimeSettings.fischer_capped(60, 5, 120, 20), 20, 20.1),
    ],
)  # fmt: skip
def test_time_runs_out_in_mid_move(settings: TimeSettings, enough: float, too_long: float) -> None:
    for seconds, has_time in ((enough, True), (too_long, False)):
        assert time_during_move(settings, full_time(settings), seconds).has_time == has_time
        assert time_after_move(settings, full_time(settings), seconds).has_time == has_time


@pytest.mark.parametrize(
    ("steps", "left", "running"),
    [
        ("B 7 B pause 1000", (53, 60), EMPTY),
        ("B 7 B pause 1000 B 3", (50, 60), BLACK),  # a pause costs no time, and the move goes on
        ("B 20 W 5", (60, 55), WHITE),  # a move that was not ended has spent none
        ("B 7 end W 7 back", (60, 60), EMPTY),
    ],
)
def test_which_time_counts(steps: str, left: tuple[int, int], running: int) -> None:
    time = Time()
    clock = GameClock(TimeSettings.absolute(60), time)
    acts = {"pause": clock.pause, "end": clock.end_move, "back": partial(clock.set_back, clock.at_last_move())}
    acts |= {"B": partial(clock.start, BLACK), "W": partial(clock.start, WHITE)}
    for step in steps.split():
        if step.isdecimal():
            time.now += int(step)
        else:
            acts[step]()
    assert ((clock.left(BLACK).main, clock.left(WHITE).main), clock.running) == (left, running)


@pytest.mark.parametrize(
    ("text", "settings", "written"),
    [
        ("none", TimeSettings.none(), "none"), ("10m", TimeSettings.absolute(600), "10m"),
        ("1h30m", TimeSettings.absolute(5400), "90m"), ("45s", TimeSettings.absolute(45), "45s"),
        ("10min + 3x30 sec", TimeSettings.byoyomi(600, 30, 3), "10m+3x30s"),
        ("10m+15/5m", TimeSettings.canadian(600, 300, 15), "10m+15/5m"),
        ("5m+10s", TimeSettings.fischer(300, 10), "5m+10s"), ("0s+1x5s", TimeSettings.byoyomi(0, 5, 1), "0s+1x5s"),
        ("Byo-yomi 600 30 3", TimeSettings.byoyomi(600, 30, 3), "10m+3x30s"),
    ],
)  # fmt: skip
def test_settings_are_read_and_written(text: str, settings: TimeSettings, written: str) -> None:
    assert parse_time(text) == settings
    assert format_time(settings) == written
    assert parse_time(written) == settings


@pytest.mark.parametrize(
    "text", ["", "soon", "10m+", "10m+3x", "+", "m", "10m+x30s", "-5m", "10m3x30s", "5m+0/5m", "5m+0x30s", "9" * 20]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(TimeSettingsError, match="expected a main time such as 10m"):
        parse_time(text)


@pytest.mark.parametrize(
    ("settings", "left", "shown"),
    [
        ("10m", TimeLeft(True, 599.2, 0, 0, 0), "10:00"), ("2h", TimeLeft(True, 3599.5, 0, 0, 0), "1:00:00"),
        ("10m+3x30s", TimeLeft(True, 9, 3, 30, 0), "0:09"), ("10m+3x30s", TimeLeft(False, 0, 0, 0, 0), "0:00"),
        ("10m+3x30s", TimeLeft(True, 0, 1, 7.5, 0), "0:08 (1 period)"),
        ("10m+3x30s", TimeLeft(True, 0, 3, 30, 0), "0:30 (3 periods)"),
        ("10m+15/5m", TimeLeft(True, 0, 0, 130, 2), "2:10 (2 moves)"),
        ("10m+15/5m", TimeLeft(True, 0, 0, 130, 1), "2:10 (1 move)"),
    ],
)  # fmt: skip
def test_a_clock(settings: str, left: TimeLeft, shown: str) -> None:
    assert format_time_left(parse_time(settings), left) == shown
