"""Settings that make no match or tournament are refused with the value and the expectation."""

import tomllib
from typing import Any

import pytest
from texts import meaning, texts

from gtp_engine import MatchSettings, TimeSettings
from gtp_engine.arena.match.settings import MatchError, Sprt
from gtp_engine.arena.tournament.tournament_file import parse_description


def settings(**values: Any) -> MatchSettings:
    return MatchSettings(**({"first": "a", "second": "b"} | values))


@pytest.mark.parametrize(("kind", "text", "expected"), texts("matches"))
def test_bad_values_are_refused(kind: str, text: str, expected: str) -> None:
    description = {"engines": [{"name": name, "command": "x"} for name in "ac"], "conditions": [{"size": 5}]}
    parsers = {
        "match": lambda text: settings(**tomllib.loads(text)),
        "tournament": lambda text: parse_description(description | tomllib.loads(text)),
    }
    assert meaning(parsers[kind], text) == expected


def test_clocks() -> None:
    assert settings().time_settings() is None
    assert settings(main_time=600.0).time_settings() == TimeSettings.absolute(600)
    assert settings(main_time=60.0, increment=2.0).time_settings() == TimeSettings.fischer(60, 2)
    assert settings(main_time=9, overtime=2, overtime_periods=3).time_settings() == TimeSettings.byoyomi(9, 2, 3)
    assert settings(overtime=1.5, overtime_stones=1).time_settings() == TimeSettings.canadian(0, 1.5, 1)
    assert settings(time_per_move=1.5) == settings(overtime=1.5, overtime_stones=1)


def test_identity_leaves_out_what_may_change() -> None:
    assert settings(games=10, parallel=1).identity() == settings(games=60, parallel=2).identity()
    named = {"second_name": "B", "sprt": Sprt(-4000, 4000)}
    assert settings(first_name="A", **named).identity() == settings(**named | {"second_name": "C"}).identity()
    assert settings(seed=1).identity() != settings(seed=2).identity()
    assert settings(sprt=Sprt(0, 5)).identity() != settings(sprt=Sprt(0, 6)).identity()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((5, 5), "Elo differences 5 and 5 of the sequential test: expected a smaller and a larger one"),
        ((0, float("nan")), "Elo differences 0 and nan"),
        ((0, 4001), "from -4000 to 4000"),
        ((-4001, 0), "Elo differences -4001 and 0"),
        ((0, 5, 0.0), "alpha 0: expected a probability above 0 and below 0.5"),
        ((0, 5, 0.05, 0.5), "beta 0.5: expected"),
    ],
)
def test_bad_tests_are_refused(values: tuple[float, ...], message: str) -> None:
    with pytest.raises(MatchError, match=message):
        Sprt(*values)
    with pytest.raises(MatchError, match="leave out the handicap"):
        settings(size=9, handicap=2, sprt=Sprt(0, 5))
