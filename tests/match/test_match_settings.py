"""Settings that make no match are refused with the value and the expectation."""

from typing import Any

import pytest

from gtp_engine import MatchSettings, TengenError, TimeSettings
from gtp_engine.arena.match.settings import MatchError, Sprt


def settings(**values: Any) -> MatchSettings:
    return MatchSettings(**({"first": "a", "second": "b"} | values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"first": " "}, "two engine commands"),
        ({"size": 26}, "option match.size = 26: expected an integer from 2 to 25"),
        ({"komi": float("nan")}, "match.komi = nan: expected a number"),
        ({"games": 0}, "match.games = 0: expected an integer of at least 1"),
        ({"parallel": 0}, "match.parallel = 0: expected an integer of at least 1"),
        ({"main_time": -1.0}, r"match.main_time = -1\.0: expected a number of at least 0 \(seconds\)"),
        ({"time_grace": float("inf")}, "match.time_grace = inf"),
        ({"overtime": 5.0}, "overtime needs both"),
        ({"overtime_stones": 5}, "overtime needs both"),
        ({"overtime_periods": 5}, "overtime needs both"),
        ({"overtime": 5.0, "overtime_stones": 1, "overtime_periods": 5}, "leave out one"),
        ({"increment": -1.0}, r"match.increment = -1\.0: expected a number of at least 0"),
        ({"increment": 2.0, "main_time": 9.0, "overtime": 5.0, "overtime_stones": 1}, "has no overtime"),
        ({"increment": 2.0}, "needs main time"),
        ({"time_left": True}, "time_left without a clock"),
        ({"time_grace": 9.0}, "time_grace without a clock"),
        ({"forfeit_on_time": False}, "forfeit_on_time without a clock"),
        ({"reply_timeout": 0.0}, "match.reply_timeout = 0.0: expected a number of at least 0.001"),
        ({"referee": "coin"}, "'coin': expected players or estimate or board"),
        ({"rules": "chess"}, "'chess'"),
        ({"size": 5, "handicap": 2}, "5x5 is too small for a fixed handicap"),
        ({"size": 9, "handicap": 10}, "invalid fixed handicap 10: expected 2 to 9 stones"),
        ({"size": 9, "handicap": 2, "openings": "records"}, "leave out one of them"),
        ({"size": 9, "handicap": 2, "sprt": Sprt(0, 5)}, "leave out the handicap"),
    ],
)
def test_bad_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(TengenError, match=message):
        settings(**values)


def test_clocks() -> None:
    assert settings().time_settings() is None
    assert settings(main_time=600.0).time_settings() == TimeSettings.absolute(600)
    assert settings(main_time=60.0, increment=2.0).time_settings() == TimeSettings.fischer(60, 2)
    assert settings(main_time=9, overtime=2, overtime_periods=3).time_settings() == TimeSettings.byoyomi(9, 2, 3)
    assert settings(overtime=1.5, overtime_stones=1).time_settings() == TimeSettings.canadian(0, 1.5, 1)
    assert settings(time_per_move=1.5) == settings(overtime=1.5, overtime_stones=1)


def test_identity_leaves_out_what_may_change() -> None:
    assert settings(games=10, parallel=1).identity() == settings(games=60, parallel=2).identity()
    assert settings(first_name="A").identity() == settings(first_name="B").identity()
    assert settings(seed=1).identity() != settings(seed=2).identity()
    assert settings(sprt=Sprt(0, 5)).identity() != settings(sprt=Sprt(0, 6)).identity()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((5, 5), "Elo differences 5 and 5 of the sequential test: expected a smaller and a larger one"),
        ((0, float("nan")), "Elo differences 0 and nan"),
        ((0, 5000), "from -4000 to 4000"),
        ((0, 5, 0.0), "alpha 0: expected a probability above 0 and below 0.5"),
        ((0, 5, 0.05, 0.5), "beta 0.5: expected"),
    ],
)
def test_bad_tests_are_refused(values: tuple[float, ...], message: str) -> None:
    with pytest.raises(MatchError, match=message):
        Sprt(*values)
