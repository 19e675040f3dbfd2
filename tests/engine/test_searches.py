"""The searches of an engine: thresholds, limits, when they are stopped, memory; the network's evaluation of a game."""

import contextlib
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine.config import Config
from gtp_engine.engine.searches import (
    KNOWN_RATE,
    NETWORK_THRESHOLDS,
    ROLLOUT_THRESHOLDS,
    Searches,
    Thresholds,
    TimeWatcher,
    since_move_out_of_turn,
)
from gtp_engine.engine.time_manager import TimeBudget
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.limits import CancelToken, Limits, Progress, SearchRequest


@pytest.mark.parametrize(
    ("has_ownership", "share", "thresholds"),
    [
        (True, 0.0, NETWORK_THRESHOLDS),
        (True, 0.5, NETWORK_THRESHOLDS),
        (True, 1.0, ROLLOUT_THRESHOLDS),
        (False, 0.0, ROLLOUT_THRESHOLDS),
        (False, 0.5, ROLLOUT_THRESHOLDS),
    ],
)
def test_few_visits_suffice_only_with_a_networks_ownership(
    has_ownership: bool, share: float, thresholds: Thresholds
) -> None:
    evaluator = FakeEvaluator(has_ownership=has_ownership)
    config = replace(Config(), puct=replace(Config().puct, rollout_share=share))
    assert Searches(config, evaluator).thresholds is thresholds


def test_a_network_that_assumes_a_komi_needs_many_visits() -> None:
    assert Searches(Config(), FakeEvaluator(knows_komi=False)).thresholds is ROLLOUT_THRESHOLDS


@pytest.mark.parametrize(("option", "value", "field", "for_moves", "for_analyses"), [
    ("puct.anti_mirror", False, "anti_mirror", False, False),
    ("analysis.expect_mirroring", True, "anti_mirror", True, True),
    ("analysis.wide_root_noise", 0.3, "wide_root_noise", 0.0, 0.3),
    ("analysis.ignore_history", True, "ignores_history", False, True),
])  # fmt: skip
def test_moves_and_analyses_have_their_own_settings(
    option: str,
    value: float,
    field: str,
    for_moves: float,
    for_analyses: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[float] = []

    def run(game: Game, request: SearchRequest, *, to_play: int) -> None:
        found.append(getattr(request, field))

    searches = Searches(Config().with_values({option: value}), FakeEvaluator())
    monkeypatch.setattr(searches._game_search, "run", run)
    searches.search_move(Game(5), BLACK, Limits(cancel=CancelToken()))
    searches.analyze(Game(5), BLACK, Limits(cancel=CancelToken()))
    assert found == [for_moves, for_analyses]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_speed_is_measured_with_rollouts_mixed_in(share: float) -> None:
    """`kata-benchmark` was an internal error: it forgot the players of the rollouts."""
    config = Config().with_values({"puct.rollout_share": share, "search.seed": 1})
    with contextlib.closing(Searches(config, FakeEvaluator())) as searches:
        speed = searches.measure(3, 3, 2, CancelToken())
    assert (speed.positions, speed.visits) == (10, 20) and speed.evaluations >= 10


def test_what_searches_are_told_holds_for_those_beside_them() -> None:
    told: list[str] = []

    class Telling(FakeEvaluator):
        def clear_cache(self) -> None:
            told.append("clear")

        def close(self) -> None:
            told.append("close")

    config = Config().with_values({"human.human_profile": "rank_5k", "search.visits": 8})
    searches = Searches(config, FakeEvaluator(needs_profile=True))
    beside = searches.beside(Telling())
    searches.resources.others.append(Telling())
    assert beside.config == config.with_values({"human.human_profile": ""})
    searches.configure(config.with_values({"search.visits": 9}))
    assert beside.config == config.with_values({"human.human_profile": "", "search.visits": 9})
    searches.clear()
    searches.close()
    assert told == ["clear", "clear", "close", "close"]


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize(("evaluator", "visits"), [(FakeEvaluator(), 6_000), (None, 30_000)], ids=["puct", "rollouts"])
def test_clearing_gives_the_memory_of_the_trees_back(evaluator: Evaluator | None, visits: int) -> None:
    """The arrays are seen by tracemalloc, to which numpy reports them."""
    searches = Searches(Config().with_values({"search.seed": "1", "search.threads": "1"}), evaluator)
    game = Game(9)
    searches.search_afresh(game, BLACK, Limits(100))
    searches.clear()
    before, _ = tracemalloc.get_traced_memory()
    searches.search_afresh(game, BLACK, Limits(visits))
    grown, _ = tracemalloc.get_traced_memory()
    searches.clear()
    after, _ = tracemalloc.get_traced_memory()
    assert grown - before > 10 * 2**20
    assert after - before < 2**20
    searches.close()


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


def test_an_obvious_move_gets_less_time() -> None:
    config = Config().with_values({"time.obvious_share": 0.5})
    watch = TimeWatcher(TimeBudget(4.0, 10.0), config, NETWORK_THRESHOLDS)
    facts = {"leader_visits": 60, "runner_up_visits": 39, "playouts": 9}
    assert watch(progress(1.0, entropy=0.0, **facts)) is False
    assert watch(progress(2.1, entropy=9.0, **facts)) is False
    assert watch(progress(2.2, entropy=0.0, **facts)) is True, "after half of the four seconds"


@pytest.mark.parametrize(("share", "expected"), [(0.0, True), (0.95, True), (0.5, False)])
def test_a_search_ends_when_no_other_move_can_get_its_share_of_visits(share: float, expected: bool) -> None:
    """In the 0.9 seconds that are left the runner-up can get 129 visits."""
    config = Config().with_values({"puct.futile_visits": share})
    watch = TimeWatcher(TimeBudget(2.0, 2.0), config, NETWORK_THRESHOLDS)
    assert not any(watch(progress(tenths / 10)) for tenths in range(1, 10))
    assert watch(progress(1.0, playouts=100, leader_visits=150, runner_up_visits=39)) is expected


@pytest.mark.parametrize(("thresholds", "visits"), [(NETWORK_THRESHOLDS, 50), (ROLLOUT_THRESHOLDS, 1000)])
def test_a_decided_game_needs_fewer_visits_with_a_network(thresholds: Thresholds, visits: int) -> None:
    for leader, expected in ((visits, True), (visits - 1, False)):
        decided = progress(0.1, winrate=0.99, leader_visits=leader, runner_up_visits=leader)
        assert watcher(thresholds=thresholds)(decided) is expected


def played(*moves: str, handicap: bool = False) -> Game:
    game = Game(9)
    if handicap:
        game.set_handicap([game.play(vertex, BLACK).point for vertex in ("C3", "G7")])
    for text in moves:
        color, vertex = text.split()
        game.play(vertex, BLACK if color == "b" else WHITE)
    return game


def test_a_game_in_turns_stays_as_it_is() -> None:
    game = played("b D4", "w E5", "b pass")
    assert since_move_out_of_turn(game, WHITE) is game


def test_a_second_move_in_a_row_begins_a_new_game() -> None:
    part = since_move_out_of_turn(played("w D4", "b E5", "b F6", "w C4", handicap=True), BLACK)
    assert [move.color for move in part.moves] == [BLACK, WHITE]
    assert (part.first_player, part.handicap) == (BLACK, 0)
    assert len(part.setup_stones) == 4


def test_a_search_out_of_turn_begins_a_new_game() -> None:
    game = played("b D4")
    part = since_move_out_of_turn(game, BLACK)
    assert (part.moves, part.to_play, part.hash) == ((), BLACK, game.hash)
