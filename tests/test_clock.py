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
from gtp_engine.go.clock import KGS_KINDS, Clock, TimeKind, full_time, time_after_move

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
    with pytest.raises(TimeSettingsError, match=r"time settings of the kind '.*'; call TimeSettings.absolute, fischer"):
        TimeSettings(words)  # type: ignore[arg-type]


# --- Counting


@pytest.mark.parametrize(("settings", "moves", "expected"), texts("clocks"))
def test_clocks(settings: str, moves: str, expected: tuple[bool, float, int, float, int]) -> None:
    assert _clock_after(TimeSettings.parse(settings.split()), *map(float, moves.split())) == TimeLeft(*expected)


def test_drift_is_added_to_each_move_of_its_own_count() -> None:
    clock = Clock(ABSOLUTE, drift=0.5)
    clock.spend(10)
    clock.spend(-1)
    assert clock.left.main == 589.0


def test_reset_starts_again_and_forgets_what_time_left_implied() -> None:
    for settings in (NONE, ABSOLUTE, CANADIAN, BYOYOMI, FISCHER, CAPPED):
        clock = Clock(settings)
        clock.set_time_left(3, 2)
        clock.spend(1e6)
        clock.reset()
        assert (clock.settings, clock.left, clock.is_confirmed) == (settings, full_time(settings), True)


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


@pytest.mark.parametrize(("words", "text", "expected"), texts("time_left"))
def test_time_left_sets_the_clock(words: str, text: str, expected: tuple[float, int, float, int]) -> None:
    settings, (seconds, stones) = TimeSettings.parse(words.split()), text.split()
    clock = Clock(settings)
    clock.spend(70)
    clock.set_time_left(float(seconds), int(stones))
    assert clock.left == TimeLeft(True, *expected)
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
