"""Settings that make no match are refused with the value and the expectation."""

from typing import Any

import pytest

from gtp_engine.clock import TimeSettings
from gtp_engine.errors import TengenError
from gtp_engine.match.settings import MatchSettings, describe_difference, other_side


def settings(**values: Any) -> MatchSettings:
    return MatchSettings(**({"first": "a", "second": "b"} | values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"first": " "}, "two engine commands"),
        ({"board_size": 26}, "board size 26: expected 2 to 25"),
        ({"komi": float("nan")}, "komi nan: expected a finite number"),
        ({"games": 0}, "games 0: expected at least 1"),
        ({"parallel": 0}, "parallel 0: expected at least 1"),
        ({"main_time": -1.0}, r"main_time -1\.0: expected zero or more"),
        ({"time_grace": float("inf")}, "time_grace inf"),
        ({"overtime": 5.0}, "overtime needs both"),
        ({"overtime_stones": 5}, "overtime needs both"),
        ({"reply_timeout": 0.0}, "more than zero seconds"),
        ({"referee": "coin"}, "'coin': expected estimate, board, players"),
        ({"rules": "chess"}, "'chess'"),
    ],
)
def test_bad_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(TengenError, match=message):
        settings(**values)


def test_clocks() -> None:
    assert settings().time_settings() is None
    assert settings(main_time=600.0).time_settings() == TimeSettings.absolute(600)
    assert settings(overtime=1.5, overtime_stones=1).time_settings() == TimeSettings.canadian(0, 1.5, 1)


def test_identity_leaves_out_what_may_change() -> None:
    assert settings(games=10, parallel=1).identity() == settings(games=60, parallel=2).identity()
    assert settings(seed=1).identity() != settings(seed=2).identity()


def test_describe_difference() -> None:
    assert describe_difference({"a": 1, "b": 2}, {"a": 1, "b": 2}) == ""
    assert describe_difference({"a": 1, "b": 2}, {"a": 3, "c": 4}) == (
        "a 1 there, 3 now; b 2 there, None now; c None there, 4 now"
    )


def test_sides() -> None:
    assert (other_side("first"), other_side("second")) == ("second", "first")
