"""When a search is told to stop, and which game KataGo would see."""

import threading
from dataclasses import replace

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine.config import Config
from gtp_engine.engine.thinker import KNOWN_RATE, Thinker, TimeWatcher, since_move_out_of_turn
from gtp_engine.engine.thresholds import NETWORK, ROLLOUTS, Effort
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
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


def watcher(maximum: float = 2.0, *, late: float = 0.0, effort: Effort = NETWORK) -> TimeWatcher:
    return TimeWatcher(TimeBudget(maximum, maximum), Config(), effort, late=late)


def test_a_step_that_would_go_beyond_the_maximum_is_not_begun() -> None:
    watch = watcher()
    assert [watch(progress(seconds)) for seconds in (0.5, 1.0, 1.4, 1.6)] == [False, False, False, True]


def test_long_steps_are_forgotten_after_a_while() -> None:
    watch = watcher()
    assert not any(watch(progress(tenths / 10)) for tenths in range(6, 19))
    assert watch(progress(1.91))


def test_what_passed_before_the_search_counts() -> None:
    assert not watcher()(progress(0.9))
    assert watcher(late=0.5)(progress(0.9))


def test_the_first_playouts_say_nothing_about_their_rate() -> None:
    """At 3 playouts a second nobody overtakes in 1.6 seconds, but later ones come in batches."""
    few = progress(0.3, playouts=1, leader_visits=8, runner_up_visits=1)
    many = progress(0.3, playouts=KNOWN_RATE, leader_visits=1000, runner_up_visits=1)
    assert not watcher()(few)
    assert watcher()(many)


@pytest.mark.parametrize(
    ("has_ownership", "share", "effort"),
    [(True, 0.0, NETWORK), (True, 0.5, NETWORK), (True, 1.0, ROLLOUTS), (False, 0.0, ROLLOUTS), (False, 0.5, ROLLOUTS)],
)
def test_few_visits_do_only_where_a_network_tells_owners(has_ownership: bool, share: float, effort: Effort) -> None:
    evaluator = FakeEvaluator(has_ownership=has_ownership)
    config = replace(Config(), puct=replace(Config().puct, rollout_share=share))
    assert Thinker(config, evaluator, threading.Event()).effort is effort


@pytest.mark.parametrize(("effort", "visits"), [(NETWORK, 50), (ROLLOUTS, 1000)])
def test_a_decided_game_needs_fewer_visits_of_a_network(effort: Effort, visits: int) -> None:
    for leader, expected in ((visits, True), (visits - 1, False)):
        decided = progress(0.1, winrate=0.99, leader_visits=leader, runner_up_visits=leader)
        assert watcher(effort=effort)(decided) is expected


def played(*moves: str, handicap: bool = False) -> Game:
    game = Game(9)
    if handicap:
        game.set_handicap([game.play(vertex, BLACK).point for vertex in ("C3", "G7")])
    for text in moves:
        color, vertex = text.split()
        game.play(vertex, BLACK if color == "b" else WHITE)
    return game


def test_a_game_in_turns_is_seen_as_it_is() -> None:
    game = played("b D4", "w E5", "b pass")
    assert since_move_out_of_turn(game, WHITE) is game


def test_whoever_moves_twice_begins_a_new_game() -> None:
    part = since_move_out_of_turn(played("w D4", "b E5", "b F6", "w C4", handicap=True), BLACK)
    assert [move.color for move in part.moves] == [BLACK, WHITE]
    assert (part.first_player, part.handicap) == (BLACK, 0)
    assert len(part.setup_stones) == 4


def test_a_side_that_is_asked_out_of_turn_too() -> None:
    game = played("b D4")
    part = since_move_out_of_turn(game, BLACK)
    assert (part.moves, part.to_play, part.hash) == ((), BLACK, game.hash)
