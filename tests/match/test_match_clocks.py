"""The time commands sent to engines, alone and in whole games between scripted engines."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from match_helpers import play, sent

from gtp_engine.arena.match.settings import MatchError
from gtp_engine.go.clock import (
    TimeLeft,
    TimeSettings,
    full_time,
    settings_command,
    time_after_move,
    time_left_arguments,
)

FISCHER = TimeSettings.fischer(60, 2)
CANADIAN = TimeSettings.canadian(60, 30.5, 5)
BYOYOMI = TimeSettings.byoyomi(60, 30, 5)
KATA = "--lists time_settings --lists time_left --lists kata-time_settings"
KNOWS = f"{KATA} --answers 'kata-list_time_settings none absolute byoyomi canadian fischer fischer-capped'"
KNOWS_NOT = f"{KATA} --answers 'kata-list_time_settings none absolute byoyomi canadian fischer-capped'"


@pytest.mark.parametrize(
    ("times", "knows_fischer", "command"),
    [
        (CANADIAN, False, "time_settings 60 30.5 5"),
        (CANADIAN, True, "time_settings 60 30.5 5"),
        (TimeSettings.absolute(600), False, "time_settings 600 0 0"),
        (BYOYOMI, False, "kata-time_settings byoyomi 60 30 5"),
        (FISCHER, True, "kata-time_settings fischer 60 2"),
        (FISCHER, False, "time_settings 58 2 1"),
        (TimeSettings.fischer(1, 2.5), False, "time_settings 0 2.5 1"),
    ],
)
def test_settings(times: TimeSettings, knows_fischer: bool, command: str) -> None:
    assert settings_command(times, knows_fischer=knows_fischer) == command


@pytest.mark.parametrize(
    ("times", "spent", "knows_fischer", "arguments"),
    [
        (CANADIAN, [10.5], False, "49 0"),
        (CANADIAN, [70.0], False, "20 4"),
        (BYOYOMI, [10.5], False, "49 0"),
        (BYOYOMI, [100.0], False, "30 4"),
        (FISCHER, [], True, "60 0"),
        (FISCHER, [10.0, 20.5], True, "33 0"),
        (FISCHER, [], False, "58 0"),
        (FISCHER, [10.0, 20.5], False, "31 0"),
        (FISCHER, [60.0], False, "2 1"),
        (FISCHER, [59.5], False, "0 0"),
    ],
)
def test_time_left(times: TimeSettings, spent: list[float], knows_fischer: bool, arguments: str) -> None:
    left: TimeLeft = full_time(times)
    for seconds in spent:
        left = time_after_move(times, left, seconds)
    assert time_left_arguments(times, left, knows_fischer=knows_fischer) == arguments


def times_sent(folder: Path, side: str) -> list[str]:
    return [line for line in sent(folder, side) if "time" in line]


@pytest.mark.parametrize("on_request", [[], ["time_left B 60 0"]])
def test_an_engine_with_fischer_clocks_gets_one(tmp_path: Path, on_request: list[str]) -> None:
    play(tmp_path, KNOWS, KNOWS, main_time=60.0, increment=2.0, time_left=bool(on_request))
    told = ["kata-list_time_settings", "kata-time_settings fischer 60 2", *on_request]
    assert times_sent(tmp_path, "first") == told


@pytest.mark.parametrize("lists", [KNOWS_NOT, "--lists time_settings --lists time_left"])
def test_another_engine_gets_a_canadian_clock_and_always_time_left(tmp_path: Path, lists: str) -> None:
    play(tmp_path, f"{lists} --black 'C3 C4'", lists, main_time=60.0, increment=2.0)
    commands = [line for line in times_sent(tmp_path, "first") if line != "kata-list_time_settings"]
    assert commands[0] == "time_settings 58 2 1"
    assert commands[1] == "time_left B 58 0"
    assert len(commands) == 1 + 3, "before each of its three moves"


def test_byoyomi_needs_an_engine_that_has_it(tmp_path: Path) -> None:
    values = {"main_time": 60.0, "overtime": 30.0, "overtime_periods": 5}
    play(tmp_path / "knows", KNOWS, KNOWS, **values)
    assert times_sent(tmp_path / "knows", "first")[1:] == ["kata-time_settings byoyomi 60 30 5"]
    with pytest.raises(MatchError, match="has no byo-yomi; play with --overtime-stones"):
        play(tmp_path / "knows not", "--lists time_settings", "--lists time_settings", **values)


def test_the_increment_is_given_after_each_move(tmp_path: Path) -> None:
    """Two moves of 1.2 s need more than 2 s of main time, but not more than that and one increment."""
    moves, white = f"{KNOWS} --black 'wait:1.2 wait:1.2 C3'", f"{KNOWS} --white 'A1 A2 A3'"
    with ThreadPoolExecutor() as both:
        given, none = both.map(
            lambda increment: play(
                tmp_path / f"{increment}", moves, white, main_time=2.0, increment=increment, time_grace=0.0
            ),
            (30.0, 0.0),
        )
    assert [(game.reason, game.overruns["first"]) for game in given] == [("score", 0)]
    assert [(game.result, game.reason, game.overruns["first"], game.moves) for game in none] == [("W+T", "time", 1, 2)]
