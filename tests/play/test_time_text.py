"""Time settings as people write them, and clocks as they read them."""

import pytest

from gtp_engine.clock import TimeLeft, TimeSettings
from gtp_engine.errors import TimeSettingsError
from gtp_engine.play.time_text import format_time, format_time_left, parse_time


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("none", TimeSettings.none()),
        ("10m", TimeSettings.absolute(600)),
        ("1h30m", TimeSettings.absolute(5400)),
        ("45s", TimeSettings.absolute(45)),
        ("10m+3x30s", TimeSettings.byoyomi(600, 30, 3)),
        ("10m+15/5m", TimeSettings.canadian(600, 300, 15)),
        ("5m+10s", TimeSettings.fischer(300, 10)),
        ("0s+1x5s", TimeSettings.byoyomi(0, 5, 1)),
    ],
)
def test_settings_are_read_and_written(text: str, settings: TimeSettings) -> None:
    assert parse_time(text) == settings
    assert parse_time(format_time(settings)) == settings


@pytest.mark.parametrize(
    "text", ["", "soon", "10m+", "10m+3x", "+", "m", "10m+x30s", "-5m", "10m3x30s", "5m+0/5m", "5m+0x30s", "9" * 20]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(TimeSettingsError, match="expected a main time such as 10m"):
        parse_time(text)


@pytest.mark.parametrize(
    ("settings", "left", "shown"),
    [
        ("10m", TimeLeft(True, 599.2, 0, 0, 0), "10:00"),
        ("2h", TimeLeft(True, 3725, 0, 0, 0), "1:02:05"),
        ("10m+3x30s", TimeLeft(True, 9, 3, 30, 0), "0:09"),
        ("10m+3x30s", TimeLeft(True, 0, 1, 7.5, 0), "0:08 (1 period)"),
        ("10m+15/5m", TimeLeft(True, 0, 0, 130, 7), "2:10 (7 moves)"),
        ("10m+3x30s", TimeLeft(False, 0, 0, 0, 0), "0:00"),
    ],
)
def test_a_clock(settings: str, left: TimeLeft, shown: str) -> None:
    assert format_time_left(parse_time(settings), left) == shown
