"""Time settings and clocks: GTP's, KGS's and KataGo's semantics, and that a clock only ever counts down."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from texts import meaning, texts
from time_settings import limited

from gtp_engine import TimeLeft, TimeSettings, TimeSettingsError
from gtp_engine.go.clock import KGS_KINDS, MAX_SECONDS, Clock, TimeKind, full_time, time_after_move

NONE = TimeSettings.none()
ABSOLUTE = TimeSettings.absolute(600)
CANADIAN = TimeSettings.canadian(60, 30, 5)
BYOYOMI = TimeSettings.byoyomi(60, 10, 3)
FISCHER = TimeSettings.fischer(60, 5)
CAPPED = TimeSettings.fischer_capped(60, 5, 62, 20)

SECONDS = st.floats(0, 1e4) | st.floats(0, 5) | st.integers(0, 100).map(float)
ANY = st.just(NONE) | limited(SECONDS, st.integers(0, 30))


def _clock_after(settings: TimeSettings, *moves: float) -> TimeLeft:
    clock = Clock(settings)
    for seconds in moves:
        clock.spend(seconds)
    return clock.left


# --- Settings


READERS: dict[str, Callable[[Sequence[str]], TimeSettings]] = {
    "time_settings": TimeSettings.parse_gtp,
    "kgs-time_settings": partial(TimeSettings.parse, kinds=KGS_KINDS),
    "kata-time_settings": TimeSettings.parse,
}


@pytest.mark.parametrize(("kind", "text", "expected"), texts("clock"), ids=lambda text: text[:40])
def test_commands_for_settings(kind: str, text: str, expected: str) -> None:
    assert meaning(lambda text: " ".join(READERS[kind](text.split()).words()), text) == expected


@pytest.mark.parametrize(
    "settings",
    [
        NONE,
        TimeSettings.absolute(1_234_567.25),
        CANADIAN,
        BYOYOMI,
        FISCHER,
        CAPPED,
        replace(CAPPED, move_time_limit=math.inf),
    ],
)
def test_settings_come_back_from_their_words(settings: TimeSettings) -> None:
    assert TimeSettings.parse(settings.words()) == settings


@pytest.mark.parametrize("words", ["", "1", "1 2", "a b c", "1 2 c", "-1 2 3", "nan 0 0", "1 2 " + "9" * 5000])
def test_bad_gtp_time_settings_are_refused(words: str) -> None:
    with pytest.raises(TimeSettingsError):
        TimeSettings.parse_gtp(words.split())


# --- Counting


@pytest.mark.parametrize(
    ("settings", "moves", "has_time", "left"),
    [
        (ABSOLUTE, (100, 0.5), True, (499.5, 0, 0.0, 0)),
        (ABSOLUTE, (600,), True, (0.0, 0, 0.0, 0)),
        (ABSOLUTE, (601, 0), False, (0.0, 0, 0.0, 0)),
        (FISCHER, (10,), True, (55.0, 0, 0.0, 0)),
        (FISCHER, (1, 1), True, (68.0, 0, 0.0, 0)),
        (FISCHER, (60,), True, (5.0, 0, 0.0, 0)),
        (FISCHER, (63,), False, (5.0, 0, 0.0, 0)),
        (CAPPED, (1,), True, (62.0, 0, 0.0, 0)),
        (CAPPED, (1, 10), True, (57.0, 0, 0.0, 0)),
        (CAPPED, (21,), False, (44.0, 0, 0.0, 0)),
        (CANADIAN, (59,), True, (1.0, 0, 30.0, 5)),
        (CANADIAN, (62,), True, (0.0, 0, 28.0, 4)),  # the move that uses up the main time is the first stone
        (CANADIAN, (60, 2, 3), True, (0.0, 0, 25.0, 2)),
        (CANADIAN, (62, 1, 1, 1, 1), True, (0.0, 0, 30.0, 5)),  # after the last stone a fresh period begins
        (CANADIAN, (91,), False, (0.0, 0, 30.0, 5)),
        (BYOYOMI, (59,), True, (1.0, 3, 10.0, 0)),
        (BYOYOMI, (60,), True, (0.0, 3, 10.0, 0)),
        (BYOYOMI, (69.9, 9.9, 9.9), True, (0.0, 3, 10.0, 0)),  # a move within the period gives it back
        (BYOYOMI, (71,), True, (0.0, 2, 10.0, 0)),
        (BYOYOMI, (60, 11, 11), True, (0.0, 1, 10.0, 0)),
        (BYOYOMI, (89,), True, (0.0, 1, 10.0, 0)),
        (BYOYOMI, (91,), False, (0.0, 1, 10.0, 0)),
        (NONE, (1e6, 1e6), True, full_time(NONE)[1:]),
    ],
)
def test_clocks(settings: TimeSettings, moves: tuple[float, ...], has_time: bool, left: tuple[float, ...]) -> None:
    assert _clock_after(settings, *moves) == (has_time, *left)


def test_drift_is_added_to_each_move_of_its_own_count() -> None:
    clock = Clock(ABSOLUTE, drift=0.5)
    clock.spend(10)
    clock.spend(-1)
    assert clock.left.main == 589.0


def test_reset_starts_again_and_forgets_what_time_left_implied() -> None:
    for settings in (NONE, ABSOLUTE, CANADIAN, BYOYOMI, FISCHER, CAPPED):
        clock = Clock(settings)
        clock.spend(1e6)
        clock.set_time_left(3, 2)
        clock.reset()
        assert (clock.settings, clock.left) == (settings, full_time(settings))


@given(settings=ANY, moves=st.lists(SECONDS, max_size=20))
def test_a_clock_stays_within_its_bounds(settings: TimeSettings, moves: list[float]) -> None:
    clock = Clock(settings, drift=0.01)
    for seconds in moves:
        clock.spend(seconds)
        left = clock.left
        assert min(left[1:]) >= 0
        assert left.main <= max(settings.main_time + len(moves) * settings.increment, 0)
        assert left.period <= settings.overtime
        assert left.periods <= settings.periods
        assert settings.has_overtime or not clock.in_overtime
        if settings.has_overtime:
            assert 0 < left.stones <= settings.stones or settings.kind is TimeKind.BYOYOMI
            assert left.periods >= 1 or settings.kind is TimeKind.CANADIAN


@given(settings=ANY, before=st.lists(SECONDS, max_size=5), short=SECONDS, more=SECONDS)
def test_a_longer_move_never_leaves_more_time(
    settings: TimeSettings, before: list[float], short: float, more: float
) -> None:
    left = _clock_after(settings, *before)
    assume(left.has_time)
    assert time_after_move(settings, left, short + more) <= time_after_move(settings, left, short)


# --- Times reported by the controller


@pytest.mark.parametrize(
    ("settings", "seconds", "stones", "expected"),
    [
        (ABSOLUTE, 123.5, 0, TimeLeft(True, 123.5, 0, 0.0, 0)),
        (ABSOLUTE, -2, 0, TimeLeft(True, 0.0, 0, 0.0, 0)),
        (ABSOLUTE, 50, 3, TimeLeft(True, 50.0, 0, 0.0, 0)),
        (ABSOLUTE, 1e30, 0, TimeLeft(True, MAX_SECONDS, 0, 0.0, 0)),
        (FISCHER, 42, 0, TimeLeft(True, 42.0, 0, 0.0, 0)),
        (FISCHER, 42, 1, TimeLeft(True, 42.0, 0, 0.0, 0)),
        (CANADIAN, 42, 0, TimeLeft(True, 42.0, 0, 30.0, 5)),
        (CANADIAN, 12, 3, TimeLeft(True, 0.0, 0, 12.0, 3)),
        (CANADIAN, 12, 30, TimeLeft(True, 0.0, 0, 12.0, 30)),
        (CANADIAN, -1, 3, TimeLeft(True, 0.0, 0, 0.0, 3)),
        (CANADIAN, 0, 0, TimeLeft(True, 0.0, 0, 30.0, 5)),
        (CANADIAN, -1, 0, TimeLeft(True, 0.0, 0, 29.0, 5)),
        (CANADIAN, -40, 0, TimeLeft(True, 0.0, 0, 0.0, 5)),
        (BYOYOMI, 42, 0, TimeLeft(True, 42.0, 3, 10.0, 0)),
        (BYOYOMI, 7, 2, TimeLeft(True, 0.0, 2, 7.0, 0)),
        (BYOYOMI, 24, 9, TimeLeft(True, 14.0, 3, 10.0, 0)),  # more than a period has
        (BYOYOMI, 24, 2, TimeLeft(True, 14.0, 2, 10.0, 0)),
        (BYOYOMI, 11, 3, TimeLeft(True, 0.0, 3, 11.0, 0)),  # rounded up
        (CANADIAN, 824, 1, TimeLeft(True, 824.0, 0, 30.0, 5)),
        (CANADIAN, 824, 5, TimeLeft(True, 794.0, 0, 30.0, 5)),
        (CANADIAN, 31, 5, TimeLeft(True, 0.0, 0, 31.0, 5)),
        (BYOYOMI, 0, 0, TimeLeft(True, 0.0, 3, 10.0, 0)),
        (BYOYOMI, -1, 0, TimeLeft(True, 0.0, 3, 9.0, 0)),
        (BYOYOMI, -1, 2, TimeLeft(True, 0.0, 1, 9.0, 0)),
        (BYOYOMI, -99, 2, TimeLeft(True, 0.0, 1, 0.0, 0)),
        (NONE, 0, 0, TimeLeft(True, 0.0, 0, 0.0, 0)),
    ],
)
def test_time_left_sets_the_clock(settings: TimeSettings, seconds: float, stones: int, expected: TimeLeft) -> None:
    clock = Clock(settings)
    clock.spend(70)
    clock.set_time_left(seconds, stones)
    assert clock.left == expected
    assert clock.settings == settings


def test_main_time_with_one_stone_stays_main_time_below_a_period() -> None:
    clock = Clock(TimeSettings.canadian(600, 300, 20))
    clock.set_time_left(250, 1)  # as well the last stone of a period: nothing was reported before
    assert clock.left == TimeLeft(True, 0.0, 0, 250.0, 1)
    clock.reset()
    clock.set_time_left(310, 1)
    clock.spend(20)
    clock.set_time_left(285, 1)
    assert clock.left == TimeLeft(True, 285.0, 0, 300.0, 20)
    clock.set_time_left(295, 19)
    clock.set_time_left(120, 1)
    assert clock.left == TimeLeft(True, 0.0, 0, 120.0, 1)
    clock.reset()
    clock.set_time_left(250, 1)
    assert clock.left == TimeLeft(True, 0.0, 0, 250.0, 1), "another game"


def test_time_left_without_settings_is_a_limit() -> None:
    clock = Clock()
    clock.set_time_left(20, 0)
    assert (clock.settings, clock.left.main) == (TimeSettings.absolute(20), 20.0)
    clock.spend(5)
    assert clock.left.main == 15.0
    clock.set_time_left(0, 0)
    assert (clock.settings.kind, clock.left.main) == (TimeKind.ABSOLUTE, 0.0)
    clock.set_time_left(30, 5)
    assert (clock.settings, clock.left) == (TimeSettings.canadian(0, 30, 5), TimeLeft(True, 0.0, 0, 30.0, 5))


@pytest.mark.parametrize(
    ("seconds", "stones"), [(math.nan, 0), (math.inf, 0), (-math.inf, 1), (10, -1), (10, 1_000_001)]
)
def test_time_left_refuses_invalid_times(seconds: float, stones: int) -> None:
    for clock in (Clock(CANADIAN), Clock(NONE)):
        clock.spend(10)
        before = clock.left
        with pytest.raises(TimeSettingsError, match="expected finite seconds and 0 to 1000000 stones"):
            clock.set_time_left(seconds, stones)
        assert clock.left == before


@given(settings=ANY, seconds=st.floats(-1e6, 1e9), stones=st.integers(0, 10**6), spent=SECONDS)
def test_time_left_is_lenient(settings: TimeSettings, seconds: float, stones: int, spent: float) -> None:
    clock = Clock(settings)
    clock.set_time_left(seconds, stones)
    assert min(clock.left[1:]) >= 0
    clock.spend(spent)
    assert min(clock.left[1:]) >= 0


@given(settings=ANY, moves=st.lists(SECONDS, max_size=10))
def test_time_left_of_a_correct_controller_changes_nothing(settings: TimeSettings, moves: list[float]) -> None:
    clock = Clock(settings)
    for seconds in moves:
        clock.spend(seconds)
        before = clock.left
        assume(before.has_time)
        if clock.in_overtime:
            clock.set_time_left(before.period, before.periods + before.stones)
        elif settings.kind is not TimeKind.NONE:
            clock.set_time_left(before.main, 0)
        assert clock.left == before
