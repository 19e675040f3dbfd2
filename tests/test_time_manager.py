"""The clock never runs out under any settings, and the pace makes sense."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from time_settings import limited

from gtp_engine.config import Config, SearchConfig, TimeConfig
from gtp_engine.config.katago import GTP_OPTIONS, with_katago_settings
from gtp_engine.config.sections import DEFAULT_LAG
from gtp_engine.engine.time_manager import (
    MIN_SPREAD,
    RESERVED_PERIODS,
    TimeBudget,
    TimeWatcher,
    budget,
    effort,
    may_stop_when_won,
    obvious_factor,
    should_stop,
)
from gtp_engine.go.clock import LATE_MOVES, Clock, TimeSettings
from gtp_engine.search.limits import Progress

DEFAULT = Config()
AREA_19 = 361
OWN_MOVES = 400
ENOUGH = 50
"""Visits from which a high winrate counts."""

SECONDS = st.floats(0, 1e4) | st.floats(0, 5) | st.sampled_from([0.0, 0.1, 1.0, 5.0, 10.0, 30.0, 600.0, 1e9])
LIMITED = limited(SECONDS, st.integers(1, 3) | st.integers(1, 40))


def any_config() -> st.SearchStrategy[Config]:
    time = st.builds(
        TimeConfig,
        lag=st.none() | st.floats(0, 60),
        drift=st.just(0.02) | st.floats(0, 10),
        hard_move_factor=st.floats(1, 10),
        max_share=st.floats(0.01, 0.5),
    )
    return st.just(DEFAULT) | st.builds(Config, time=time)


class Game:
    """Our clock and the controller's over a game in which the opponent moves at once."""

    def __init__(self, time_settings: TimeSettings, config: Config = DEFAULT, area: int = AREA_19) -> None:
        self.config = config
        self.area = area
        self.ours = Clock(time_settings, drift=config.time.drift)
        self.theirs = Clock(time_settings)
        self.moves_played = 0

    def budget(self) -> TimeBudget:
        return budget(self.ours, moves_played=self.moves_played, area=self.area, config=self.config)

    def move(self, seconds: float, *, lag: float = 0.0) -> None:
        self.theirs.spend(seconds + lag)
        self.ours.spend(seconds)
        self.moves_played += 2

    def send_time_left(self) -> None:
        left = self.theirs.left
        if self.theirs.in_overtime:
            self.ours.set_time_left(left.period, left.periods + left.stones)
        else:
            self.ours.set_time_left(left.main, 0)

    def play(self, own_moves: int, *, use: str = "target", synced: bool = True) -> list[float]:
        """Return the seconds of moves that all take their target or maximum, without lag."""
        spent = []
        for _ in range(own_moves):
            if synced:
                self.send_time_left()
            spent.append(getattr(self.budget(), use))
            self.move(spent[-1])
            assert self.theirs.left.has_time
        return spent


TINY = [
    "absolute 0", "absolute 1", "byoyomi 0 1 1", "byoyomi 1 1 5", "byoyomi 3 10 1", "canadian 0 10 25",
    "canadian 3 10 25", "canadian 0 1 1", "canadian 60 300 1000", "fischer 1 0.1", "fischer-capped 1 0.1 1 0.2"
]  # fmt: skip


# --- Never losing on time


@pytest.mark.parametrize("words", TINY)
@pytest.mark.parametrize("use", ["target", "maximum"])
def test_tiny_times_last_the_game_with_all_the_lag_allowed_for_and_on_our_own_count(words: str, use: str) -> None:
    game = Game(TimeSettings.parse(words.split()))
    for _ in range(OWN_MOVES):
        game.send_time_left()
        limits = game.budget()
        game.move(getattr(limits, use), lag=limits.lag)
        assert game.theirs.left.has_time
    assert len(Game(TimeSettings.parse(words.split())).play(OWN_MOVES, use=use, synced=False)) == OWN_MOVES


@pytest.mark.parametrize("sends_time_left", [True, False])
@settings(max_examples=150)
@given(time_settings=LIMITED, config=any_config(), side=st.integers(2, 25), seed=st.integers(0, 2**32))
@example(time_settings=TimeSettings.canadian(1.0, 5e-324, 2), config=DEFAULT, side=19, seed=1)
@example(time_settings=TimeSettings.canadian(10, 30, 5), config=DEFAULT, side=19, seed=1)
@example(time_settings=TimeSettings.canadian(3, 10, 25), config=DEFAULT, side=9, seed=1)
def test_no_controller_sees_the_clock_run_out(
    sends_time_left: bool, time_settings: TimeSettings, config: Config, side: int, seed: int
) -> None:
    """Up to `drift` seconds per move are not measured; our own count never shows more than the controller's clock."""
    game = Game(time_settings, config, side * side)
    rng = random.Random(seed)
    for _ in range(OWN_MOVES):
        if sends_time_left:
            game.send_time_left()
        limits = game.budget()
        assert 0 <= limits.target <= limits.maximum < math.inf
        seconds = rng.choice([limits.maximum, limits.target, limits.maximum * rng.random()])
        most = limits.lag if sends_time_left else min(config.time.drift, limits.lag)
        game.move(seconds, lag=most * rng.choice([0, 1, rng.random()]))
        assert game.theirs.left.has_time
        if sends_time_left and rng.random() < 0.5:
            game.ours.note_lateness(rng.choice([-1.0, 0.0, 2 * rng.random()]))


ENOUGH_TIME = "absolute 60, fischer 60 5, fischer-capped 60 5 60 5, byoyomi 60 10 3, byoyomi 0 10 3"
ENOUGH_TIME += ", canadian 60 30 5, canadian 0 30 5, canadian 0 30 1"


@pytest.mark.parametrize("words", ENOUGH_TIME.split(", "))
def test_the_whole_lag_is_held_back_where_there_is_time(words: str) -> None:
    game = Game(TimeSettings.parse(words.split()))
    assert game.budget().lag >= DEFAULT_LAG
    game.move(0.0)
    assert game.budget().lag >= DEFAULT_LAG


# What is held back from a period of so many seconds: before the first move, after moves on time, 0.05 and 5 s late.
# The last period holds back twice 0.5 s, and never more than half.
@pytest.mark.parametrize(
    ("seconds", "unknown", "on_time", "late", "too_late"),
    [
        (0.1, 0.05, 0.05, 0.05, 0.05), (0.5, 0.25, 0.1, 0.15, 0.25), (1.0, 0.5, 0.125, 0.175, 0.5),
        (2.0, 1.0, 0.25, 0.3, 1.0), (3.0, 1.0, 0.5, 0.55, 1.0), (5.0, 1.0, 1.0, 1.0, 1.0), (30.0, 1.0, 1.0, 1.0, 1.0)
    ],
)  # fmt: skip
def test_less_is_held_back_from_short_periods_once_moves_were_on_time(
    seconds: float, unknown: float, on_time: float, late: float, too_late: float
) -> None:
    for time_settings in (TimeSettings.canadian(0, seconds, 1), TimeSettings.byoyomi(0, seconds, 1)):
        clock = Clock(time_settings)

        def held_back(config: Config = DEFAULT, clock: Clock = clock) -> TimeBudget:
            return budget(clock, moves_played=0, area=AREA_19, config=config)

        assert held_back().lag == pytest.approx(unknown)
        for lateness, expected in ((-1.0, on_time), (0.05, late), (0.0, late), (5.0, too_late)):
            clock.note_lateness(lateness)
            assert held_back().lag == pytest.approx(expected)
            assert held_back().target == held_back().maximum == pytest.approx(seconds - expected)
            assert held_back(Config(time=TimeConfig(lag=0.25))).lag == pytest.approx(min(0.5, seconds / 2))


def test_lateness_is_forgotten_after_some_moves_in_time() -> None:
    clock = Clock(TimeSettings.canadian(0, 1, 1))
    clock.note_lateness(0.3)
    for _ in range(LATE_MOVES - 1):
        clock.note_lateness(0.0)
    assert clock.lateness == 0.3
    clock.note_lateness(-2.0)
    assert clock.lateness == 0.0


# --- Pace


@pytest.mark.parametrize("area", [4, 49, 81, 169, 361, 625])
@pytest.mark.parametrize("moves_played", [0, 60, 400])
def test_no_move_takes_more_than_its_share_of_sudden_death(area: int, moves_played: int) -> None:
    clock = Clock(TimeSettings.absolute(600))
    limits = budget(clock, moves_played=moves_played, area=area, config=DEFAULT)
    assert limits.maximum <= DEFAULT.time.max_share * 600
    assert limits.target <= 600 / MIN_SPREAD
    assert limits.maximum <= DEFAULT.time.hard_move_factor * limits.target


def test_byoyomi_hard_moves_take_spare_periods_and_leave_the_reserve() -> None:
    game = Game(TimeSettings.byoyomi(0, 10, 6))
    spent = game.play(20, use="maximum")
    assert spent[:3] == pytest.approx([19.5, 19.5, 19.5])
    assert spent[3:] == pytest.approx([9.5] * 17)
    assert game.theirs.left.periods == RESERVED_PERIODS


PACE = """\
setting                 |    1   11   21   31   41   61   81  101  131 | main time lasts
absolute 600            |  3.7  4.0  4.3  4.7  5.3  4.1  3.2  2.5  1.7 | 150
absolute 3600           | 22.5 24.1 26.0 28.5 31.9 24.8 19.3 15.0 10.3 | 150
byoyomi 600 30 5        | 46.6 46.6 29.5 29.5 29.5 29.5 29.5 29.5 29.5 | 13
byoyomi 3600 30 5       | 46.6 46.6 46.6 46.6 46.6 46.6 29.5 29.5 29.5 | 78
byoyomi 60 10 5         | 15.5  9.5  9.5  9.5  9.5  9.5  9.5  9.5  9.5 | 4
byoyomi 300 5 1         |  7.8  7.8  7.8  7.8  4.0  4.0  4.0  4.0  4.0 | 39
byoyomi 1800 60 3       | 93.2 93.2 59.5 59.5 59.5 59.5 59.5 59.5 59.5 | 20
byoyomi 0 30 5          | 29.5 29.5 29.5 29.5 29.5 29.5 29.5 29.5 29.5 | 0
canadian 300 600 25     | 37.3 23.5 23.5 23.5 23.5 23.5 23.5 23.5 23.5 | 9
canadian 1800 300 20    | 23.3 23.3 23.3 23.3 23.3 23.3 14.5 14.5 14.5 | 78
fischer 300 5           |  8.7  8.7  8.7  8.7  8.7  7.2  6.3  5.8  5.4 | 150
fischer 60 20           | 20.5 20.5 20.5 20.5 20.5 20.3 20.2 20.1 20.0 | 150
"""
"""Seconds that a move of ours aims for, by its number, on 19x19; the last number is that of the moves in main time."""


def pace_of(words: str, area: int = AREA_19) -> str:
    """Return a line of `PACE`: every move takes exactly its target."""
    time_settings = TimeSettings.parse(words.split())
    game = Game(time_settings, area=area)
    targets, in_main = [], 0
    for _ in range(150):
        in_main += not game.ours.in_overtime
        targets.append(game.budget().target)
        game.move(targets[-1])
    shown = "".join(f"{targets[number - 1]:5.1f}" for number in (1, 11, 21, 31, 41, 61, 81, 101, 131))
    return f"{words:<24}|{shown} | {in_main}"


@pytest.mark.parametrize("line", PACE.splitlines()[1:], ids=lambda line: line.partition(" |")[0].strip())
def test_pace(line: str) -> None:
    assert pace_of(line.partition("|")[0].strip()) == line


@pytest.mark.parametrize("area", [81, 169, 361])
@pytest.mark.parametrize("words", ["byoyomi 600 30 5", "byoyomi 1200 30 5", "byoyomi 60 5 3", "canadian 900 600 25"])
def test_a_move_before_overtime_takes_one_and_a_half_to_e_overtimes(words: str, area: int) -> None:
    time_settings = TimeSettings.parse(words.split())
    game = Game(time_settings, area=area)
    per_move = time_settings.overtime / (time_settings.stones or 1)
    while game.ours.left.main > 2 * math.e * per_move:
        target = game.budget().target
        assert 1.5 <= target / per_move <= math.e + 1e-9
        game.move(target)


def test_a_period_nearly_gone_is_given_up() -> None:
    clock = Clock(TimeSettings.byoyomi(0, 30, 3))
    clock.set_time_left(0.2, 3)
    assert budget(clock, moves_played=80, area=AREA_19, config=DEFAULT).target == pytest.approx(29.7)
    # The next one is the last then, and holds back twice the lag.
    clock.set_time_left(0.2, 2)
    assert budget(clock, moves_played=80, area=AREA_19, config=DEFAULT).target == pytest.approx(29.2)
    clock.set_time_left(0.2, 1)
    assert budget(clock, moves_played=80, area=AREA_19, config=DEFAULT).maximum == pytest.approx(0.1)


def test_periods_shorter_than_the_lag_are_not_lost() -> None:
    game = Game(TimeSettings.byoyomi(0, 0.6, 5))
    assert game.play(20) == pytest.approx([0.3] * 20)
    assert game.theirs.left.periods == 5


def test_a_short_clock_saves_a_part_of_each_increment_for_delays() -> None:
    """With 2 s and 0.2 s a move every clock ended at 0.2 s where each move came 0.1 s late, and one delay lost."""
    game = Game(TimeSettings.fischer(2, 0.2), area=81)
    for _ in range(40):
        game.send_time_left()
        game.move(game.budget().target, lag=0.1)
    assert game.theirs.left.main > 0.4


def test_capped_fischer_wastes_nothing_over_the_cap() -> None:
    game = Game(TimeSettings.fischer_capped(60, 30, 60, -1))
    for _ in range(20):
        before = game.theirs.left.main
        (spent,) = game.play(1)
        assert before - spent + 30 <= 60 + 1e-9


def test_capped_fischer_keeps_each_move_under_its_limit() -> None:
    game = Game(TimeSettings.fischer_capped(600, 10, -1, 4))
    assert game.play(20, use="maximum") == pytest.approx([3.5] * 20)


# --- Without a clock


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        (Config(), 5.0),
        (Config(time=TimeConfig(time_per_move=1.0)), 1.0),
        (Config(search=SearchConfig(visits=100)), math.inf),
        (Config(search=SearchConfig(playouts=100)), math.inf),
        (Config(time=TimeConfig(time_per_move=1.0), search=SearchConfig(visits=100)), 1.0),
        (Config(time=TimeConfig(max_time=8.0)), 8.0),
        (Config(time=TimeConfig(max_time=8.0, time_per_move=1.0)), 1.0),
        (Config(time=TimeConfig(max_time=0.5, time_per_move=1.0)), 0.5),
        (Config(time=TimeConfig(max_time=2.0), search=SearchConfig(visits=100)), 2.0),
    ],
)
def test_time_per_move_without_a_clock(config: Config, seconds: float) -> None:
    limits = budget(Clock(), moves_played=0, area=AREA_19, config=config)
    assert limits == TimeBudget(seconds, seconds, 0.0, is_average=True)


@pytest.mark.parametrize(
    "settings", [TimeSettings.absolute(1800), TimeSettings.fischer(600, 30), TimeSettings.byoyomi(60, 30, 5)]
)
def test_the_longest_time_counts_with_a_clock_too(settings: TimeSettings) -> None:
    """KataGo's maxTime did nothing while a clock ran: a move took up to two minutes.  Time per move does."""
    found = budget(Clock(settings), moves_played=20, area=AREA_19, config=Config(time=TimeConfig(max_time=1.0)))
    assert found.target == found.maximum == 1.0
    plain = budget(Clock(settings), moves_played=20, area=AREA_19, config=Config())
    assert plain.maximum > 20.0
    for time in (TimeConfig(max_time=1e6), TimeConfig(time_per_move=100.0)):
        assert budget(Clock(settings), moves_played=20, area=AREA_19, config=Config(time=time)) == plain


@pytest.mark.parametrize(
    ("moves_played", "decay", "factor"),
    [
        (0, 100, 1.0), (65, 100, 1.5), (130, 100, 2.0), (230, 100, 1 + 0.36787944), (330, 100, 1 + 0.13533528),
        (130, 0, 2.0), (131, 0, 1.0)
    ],
)  # fmt: skip
def test_the_middle_game_may_get_more_time(moves_played: int, decay: float, factor: float) -> None:
    """Of the default peak of 130 moves on 19x19, and 1/e every 100 moves after it (worked out by hand)."""
    clock = Clock(TimeSettings.absolute(3600))
    plain, stretched = (
        budget(clock, moves_played=moves_played, area=361, config=Config().with_values(values)).target
        for values in ({}, {"time.midgame_stretch": 2.0, "time.endgame_decay": decay})
    )
    assert stretched == pytest.approx(factor * plain)


def test_planned_time_is_stretched_up_to_the_maximum() -> None:
    clock = Clock(TimeSettings.absolute(3600))
    plain, longer, longest = (
        budget(clock, moves_played=50, area=361, config=Config().with_values({"time.stretch": stretch}))
        for stretch in (1.0, 1.5, 100.0)
    )
    assert longer.target == pytest.approx(1.5 * plain.target)
    assert longest.target == longest.maximum == longer.maximum == plain.maximum


@pytest.mark.parametrize(
    ("entropy", "surprise", "factor"), [(0, 0, 0.5), (0.3, 0, 1 - 0.5 * 0.36787944), (0.3, 0.3, 1 - 0.5 * 0.13533528)]
)
def test_obvious_moves_may_get_less_time(entropy: float, surprise: float, factor: float) -> None:
    """exp(-1) at the tolerances 0.3 and 0.15 of the defaults, of the less obvious of the two."""
    config = Config().with_values({"time.obvious_share": 0.5}).time
    assert obvious_factor(config, entropy=entropy, surprise=surprise) == pytest.approx(factor)


# --- Stopping

LIMITS = TimeBudget(target=10.0, maximum=25.0, lag=0.5)


def progress(seconds: float, **facts: object) -> Progress:
    defaults: dict[str, object] = {
        "visits": 100, "playouts": 100, "leader_visits": 40, "runner_up_visits": 39, "leader_is_best_value": True,
        "winrate": 0.5, "choices": 50
    }  # fmt: skip
    return Progress(seconds=seconds, **{**defaults, **facts})  # type: ignore[arg-type]


def _stops(elapsed: float, leader: int, runner_up: int, rate: float = 100.0, agree: bool = True, **facts: bool) -> bool:
    found = progress(elapsed, leader_visits=leader, runner_up_visits=runner_up, leader_is_best_value=agree)
    return should_stop(found, LIMITS, rate=rate, **facts)


@pytest.mark.parametrize(
    ("elapsed", "leader", "runner_up", "facts", "stops"),
    [
        (25.0, 1000, 1000, {}, True),  # always at the maximum
        (25.0, 1000, 1000, {"early_stop": False}, True),
        (25.0, 1000, 1000, {"agree": False}, True),
        (9.9, 500, 495, {}, False),  # an easy move at the target
        (9.9, 500, 400, {"rate": 2000.0}, False),
        (10.0, 500, 400, {}, True),
        (5.0, 700, 200, {}, False),  # early where the second cannot catch up
        (5.0, 701, 200, {}, True),
        (5.0, 701, 200, {"early_stop": False}, False),
        (5.0, 701, 200, {"rate": math.inf}, False),
        (10.0, 1000, 900, {}, False),  # a narrow lead extends
        (10.0, 1000, 899, {}, True),
        (24.5, 1000, 990, {}, False),
        (24.5, 1000, 900, {}, True),  # 50 visits more cannot make up 100
        (24.5, 1000, 900, {"early_stop": False}, True),
        (10.0, 1000, 500, {}, True),  # disagreement of visits and value extends
        (10.0, 1000, 500, {"agree": False}, False),
        (20.0, 1001, 500, {"agree": False}, True),
        (0.0, 0, 0, {"settled": True}, True),
        (0.0, 0, 0, {"settled": True, "early_stop": False}, False),
    ],
)
def test_when_to_stop(elapsed: float, leader: int, runner_up: int, facts: dict[str, Any], stops: bool) -> None:
    assert _stops(elapsed, leader, runner_up, **facts) == stops


def test_time_that_would_be_lost_is_used() -> None:
    limits = replace(LIMITS, is_saved=False)

    def stops(elapsed: float, **facts: bool) -> bool:
        return should_stop(progress(elapsed, leader_visits=701, runner_up_visits=200), limits, rate=100.0, **facts)

    assert not stops(5.0)
    assert stops(10.0)
    assert stops(5.0, settled=True)


SAVED = ["absolute 3", "fischer 1 1", "byoyomi 0 5 1", "byoyomi 10 1 3", "canadian 0 5 1", "canadian 0 4 2"]
LOST = ["byoyomi 0 1 3", "byoyomi 0 4.9 1", "canadian 0 1 1"]


@pytest.mark.parametrize("words", [*SAVED, *LOST])
def test_time_left_of_a_short_period_is_lost(words: str) -> None:
    clock = Clock(TimeSettings.parse(words.split()))
    assert budget(clock, moves_played=0, area=AREA_19, config=DEFAULT).is_saved == (words in SAVED)


@pytest.mark.parametrize("words", ["byoyomi 0 30 1", "canadian 0 30 5"])
def test_the_end_of_a_long_period_is_none_of_a_short_one(words: str) -> None:
    clock = Clock(TimeSettings.parse(words.split()))
    clock.set_time_left(3.0, 1)
    assert budget(clock, moves_played=50, area=AREA_19, config=DEFAULT).is_saved


@given(
    elapsed=st.floats(0, 30),
    visits=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    rate=st.floats(0, 1e6),
    agree=st.booleans(),
    early_stop=st.booleans(),
)
def test_early_stop_never_changes_the_leader(
    elapsed: float, visits: tuple[int, int], rate: float, agree: bool, early_stop: bool
) -> None:
    """Before its deadline a search ends only if all the visits still to come could not make another move lead."""
    runner_up, leader = sorted(visits)
    if _stops(elapsed, leader, runner_up, rate, agree, early_stop=early_stop):
        at_deadline = elapsed >= LIMITS.target
        assert at_deadline or runner_up + rate * (LIMITS.target - elapsed) < leader
        assert at_deadline or early_stop


@pytest.mark.parametrize(
    ("choices", "visits", "winrate", "when_won", "expected"),
    [
        (1, 1, 0.5, False, True),
        (1, 0, 0.5, False, False),  # not tried yet
        (50, ENOUGH, 0.99, True, True),
        (50, ENOUGH, 0.99, False, False),
        (50, ENOUGH, 0.01, True, False),
        (50, ENOUGH, 0.9, True, False),
        (50, ENOUGH - 1, 0.999, True, False),
    ],
)
def test_a_settled_move_is_played_early(
    choices: int, visits: int, winrate: float, when_won: bool, expected: bool
) -> None:
    found = progress(1.0, choices=choices, leader_visits=visits, winrate=winrate)
    assert TimeWatcher(LIMITS, DEFAULT, ENOUGH, may_stop_when_won=when_won)(found) is expected
    assert not TimeWatcher(LIMITS, DEFAULT, ENOUGH, may_stop_when_forced=False)(found)


@pytest.mark.parametrize(
    ("moves_played", "limits", "expected"),
    [(180, {}, False), (181, {}, True), (0, {}, False), (300, {"visits": 100}, False), (300, {"playouts": 100}, False)],
)
def test_a_won_game_ends_searches_only_late_and_without_a_number_of_visits(
    moves_played: int, limits: dict[str, int], expected: bool
) -> None:
    config = Config(search=SearchConfig(**limits))
    assert may_stop_when_won(moves_played=moves_played, area=AREA_19, config=config) is expected


# --- Watching a search


def watcher(
    target: float = 2.0, maximum: float = 2.0, config: Config = DEFAULT, *, late: float = 0.0, is_average: bool = False
) -> TimeWatcher:
    limits = TimeBudget(target, maximum, is_average=is_average)
    return TimeWatcher(limits, config, ENOUGH, late=late, may_stop_when_won=True)


def test_a_step_that_would_go_beyond_the_maximum_is_not_begun() -> None:
    watch = watcher()
    assert [watch(progress(seconds)) for seconds in (0.5, 1.0, 1.4, 1.6)] == [False, False, False, True]


@pytest.mark.parametrize(("last", "expected"), [(1.79, False), (1.81, True)])
def test_an_average_may_be_exceeded_by_half_a_step(last: float, expected: bool) -> None:
    watch = watcher(is_average=True)
    seen = [watch(progress(seconds, runner_up_visits=40)) for seconds in (0.4, 0.8, 1.2, 1.6, last)]
    assert seen == [False, False, False, False, expected]


def test_long_steps_are_forgotten_after_a_while() -> None:
    watch = watcher()
    assert not any(watch(progress(tenths / 10)) for tenths in range(6, 19))
    assert watch(progress(1.91))


def test_what_passed_before_the_search_counts() -> None:
    assert not watcher()(progress(0.9))
    assert watcher(late=0.5)(progress(0.9))


@pytest.mark.parametrize(
    ("playouts", "runner_up", "expected"), [(1, 1, False), (15, 1, False), (16, 709, True), (16, 711, False)]
)
def test_playouts_come_as_fast_as_since_the_first_call(playouts: int, runner_up: int, expected: bool) -> None:
    """The root took 0.2 seconds; 16 playouts in 0.1 s after it promise 240 in the 1.5 s that are left."""
    watch = watcher()
    assert not watch(progress(0.2, playouts=1, leader_visits=950, runner_up_visits=runner_up))
    found = progress(0.3, playouts=1 + playouts, leader_visits=950, runner_up_visits=runner_up)
    assert watch(found) is expected


def test_an_obvious_move_gets_less_time() -> None:
    config = Config().with_values({"time.obvious_share": 0.5})
    watch = watcher(4.0, 10.0, config)
    facts = {"leader_visits": 60, "runner_up_visits": 39, "playouts": 9}
    assert watch(progress(1.0, entropy=0.0, **facts)) is False
    assert watch(progress(2.1, entropy=9.0, **facts)) is False
    assert watch(progress(2.2, entropy=0.0, **facts)) is True, "after half of the four seconds"


@pytest.mark.parametrize(("share", "expected"), [(0.0, True), (0.95, True), (0.5, False)])
def test_a_search_ends_when_no_other_move_can_get_its_share_of_visits(share: float, expected: bool) -> None:
    """In the 0.9 seconds that are left the runner-up can get 129 visits."""
    config = Config().with_values({"puct.futile_visits": share})
    watch = watcher(config=config)
    assert not any(watch(progress(tenths / 10, playouts=10 * tenths)) for tenths in range(1, 10))
    assert watch(progress(1.0, playouts=100, leader_visits=150, runner_up_visits=39)) is expected


# --- less effort


@pytest.mark.parametrize(
    ("passes", "winrates", "share"),
    [
        (0, (), 1.0),
        (1, (), 0.5),
        (2, (), 0.25),
        (0, (0.99, 0.995, 0.9875), 0.7),  # win − loss 0.975, half way from 0.95 to 1: 1 + 0.5 (0.4 − 1)
        (1, (0.99, 0.995, 0.9875), 0.35),
        (0, (0.1, 1.0, 1.0, 1.0), 0.4),
        (0, (1.0, 1.0), 1.0),
        (0, (0.99, 0.975, 0.99), 1.0),
    ],
)
def test_katagos_factors_of_the_search(passes: int, winrates: tuple[float, ...], share: float) -> None:
    settings = {
        "searchFactorAfterOnePass": "0.50",
        "searchFactorAfterTwoPass": "0.25",
        "searchFactorWhenWinning": "0.40",
        "searchFactorWhenWinningThreshold": "0.95",
    }
    config, _ = with_katago_settings(DEFAULT, settings, GTP_OPTIONS)
    assert effort(config.time, passes=passes, winrates=winrates) == pytest.approx(share)
    assert effort(DEFAULT.time, passes=passes, winrates=winrates) == 1.0
