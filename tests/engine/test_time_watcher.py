"""When a running search is stopped."""

import pytest

from gtp_engine.config import Config
from gtp_engine.engine.thresholds import NETWORK_THRESHOLDS, ROLLOUT_THRESHOLDS, Thresholds
from gtp_engine.engine.time_watcher import KNOWN_RATE, TimeWatcher
from gtp_engine.search.limits import Progress
from gtp_engine.time_manager import TimeBudget


def progress(seconds: float, **facts: object) -> Progress:
    defaults: dict[str, object] = {
        "visits": 100,
        "playouts": 100,
        "leader_visits": 40,
        "runner_up_visits": 39,
        "leader_is_best_value": True,
        "winrate": 0.5,
        "choices": 50,
    }
    return Progress(seconds=seconds, **{**defaults, **facts})  # type: ignore[arg-type]


def watcher(maximum: float = 2.0, *, late: float = 0.0, thresholds: Thresholds = NETWORK_THRESHOLDS) -> TimeWatcher:
    return TimeWatcher(TimeBudget(maximum, maximum), Config(), thresholds, late=late, may_stop_when_won=True)


def test_a_step_that_would_go_beyond_the_maximum_is_not_begun() -> None:
    watch = watcher()
    assert [watch(progress(seconds)) for seconds in (0.5, 1.0, 1.4, 1.6)] == [False, False, False, True]


@pytest.mark.parametrize(("last", "expected"), [(1.79, False), (1.81, True)])
def test_an_average_may_be_exceeded_by_half_a_step(last: float, expected: bool) -> None:
    watch = TimeWatcher(TimeBudget(2.0, 2.0, is_average=True), Config(), NETWORK_THRESHOLDS)
    seen = [watch(progress(seconds, runner_up_visits=40)) for seconds in (0.4, 0.8, 1.2, 1.6, last)]
    assert seen == [False, False, False, False, expected]


def test_long_steps_are_forgotten_after_a_while() -> None:
    watch = watcher()
    assert not any(watch(progress(tenths / 10)) for tenths in range(6, 19))
    assert watch(progress(1.91))


def test_what_passed_before_the_search_counts() -> None:
    assert not watcher()(progress(0.9))
    assert watcher(late=0.5)(progress(0.9))


def test_the_rate_of_the_first_playouts_is_not_used() -> None:
    """At 3 playouts a second no move could overtake in 1.6 seconds, but later ones come in batches."""
    few = progress(0.3, playouts=1, leader_visits=8, runner_up_visits=1)
    many = progress(0.3, playouts=KNOWN_RATE, leader_visits=1000, runner_up_visits=1)
    assert not watcher()(few)
    assert watcher()(many)


@pytest.mark.parametrize(("thresholds", "visits"), [(NETWORK_THRESHOLDS, 50), (ROLLOUT_THRESHOLDS, 1000)])
def test_a_decided_game_needs_fewer_visits_with_a_network(thresholds: Thresholds, visits: int) -> None:
    for leader, expected in ((visits, True), (visits - 1, False)):
        decided = progress(0.1, winrate=0.99, leader_visits=leader, runner_up_visits=leader)
        assert watcher(thresholds=thresholds)(decided) is expected
