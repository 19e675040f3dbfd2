"""The searches of an engine: thresholds, limits, memory; the network's evaluation of a game."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from math import inf
from unittest.mock import Mock, call

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine import CancelToken, Config, Evaluator, Game
from gtp_engine.engine.searches import (
    NETWORK_THRESHOLDS,
    ROLLOUT_THRESHOLDS,
    Searches,
    Thresholds,
    measure_searches,
    since_move_out_of_turn,
)
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import transformed_points
from gtp_engine.search.limits import Limits, SearchRequest


@pytest.mark.parametrize(("has_ownership", "share", "thresholds"), [
    (True, 0.0, NETWORK_THRESHOLDS), (True, 0.5, NETWORK_THRESHOLDS), (True, 1.0, ROLLOUT_THRESHOLDS),
    (False, 0.0, ROLLOUT_THRESHOLDS), (False, 0.5, ROLLOUT_THRESHOLDS),
])  # fmt: skip
def test_few_visits_suffice_only_with_a_networks_ownership_and_komi(
    has_ownership: bool, share: float, thresholds: Thresholds
) -> None:
    evaluator = FakeEvaluator(has_ownership=has_ownership)
    config = replace(Config(), puct=replace(Config().puct, rollout_share=share))
    assert Searches(config, evaluator).thresholds is thresholds
    assert Searches(config, FakeEvaluator(knows_komi=False)).thresholds is ROLLOUT_THRESHOLDS


@pytest.mark.parametrize(("option", "value", "field", "for_moves", "for_analyses"), [
    ("puct.anti_mirror", False, "anti_mirror", False, False),
    ("analysis.expect_mirroring", True, "anti_mirror", True, True),
    ("analysis.wide_root_noise", 0.3, "wide_root_noise", 0.0, 0.3),
    ("analysis.ignore_history", True, "ignores_history", False, True),
])  # fmt: skip
def test_moves_and_analyses_have_their_own_settings(
    option: str, value: float, field: str, for_moves: float, for_analyses: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[float] = []

    def run(game: Game, request: SearchRequest, *, to_play: int) -> None:
        found.append(getattr(request, field))

    searches = Searches(Config().with_values({option: value}), FakeEvaluator())
    monkeypatch.setattr(searches._game_search, "run", run)
    searches.search_move(Game(5), BLACK, Limits(cancel=CancelToken()))
    searches.analyze(Game(5), BLACK, Limits(cancel=CancelToken()))
    assert found == [for_moves, for_analyses]


def test_a_confirmation_is_the_same_however_the_board_is_turned() -> None:
    """A few visits tried other moves in each orientation, and the engine passed in some of them alone."""
    searches, game, found = Searches(Config(), FakeEvaluator()), played("b C3", "w G7", "b D5", "w G3", "b H8"), set()
    for symmetry in range(8):
        turned = transformed_points(symmetry, 9, 9)
        report = searches.confirm(game.transformed(symmetry), WHITE, deadline=inf, cancel=CancelToken())
        assert report is not None and report.raw is not None
        maps = (report.ownership_black, report.raw.policy, report.raw.ownership_black)
        back = {new: old for old, new in turned.items()}
        owners = [by[point] for point in turned.values() for by in maps]
        moves = [(back[move.point], move.visits, *map(back.__getitem__, move.pv)) for move in report.moves]
        found.add((report.value_black, *moves, *owners))
    assert len(found) == 1


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_speed_is_measured_with_rollouts_mixed_in(share: float) -> None:
    """`kata-benchmark` was an internal error: it forgot the players of the rollouts."""
    config = Config().with_values({"puct.rollout_share": share, "search.seed": 1})
    speed = measure_searches(config, FakeEvaluator(), (3, 3), 2, CancelToken())
    assert (speed.positions, speed.visits) == (10, 20) and speed.evaluations >= 10


def test_networks_that_were_loaded_later_are_cleared_and_closed() -> None:
    searches, later = Searches(Config(), FakeEvaluator()), Mock()
    searches.resources.others["later"] = later
    searches.clear()
    searches.close()
    assert later.method_calls == [call.clear_cache(), call.close()]


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize(("evaluator", "visits"), [(FakeEvaluator(), 6_000), (None, 30_000)], ids=["puct", "rollouts"])
def test_clearing_gives_the_memory_of_the_trees_back(evaluator: Evaluator | None, visits: int) -> None:
    """Only numpy's arrays count: kernels that a thread of an earlier test loads meanwhile take up to 16 MiB besides."""

    def arrays() -> int:
        found = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)])
        return sum(trace.size for trace in found.traces)

    searches = Searches(Config().with_values({"search.seed": "1", "search.threads": "1"}), evaluator)
    game = Game(9)
    searches.search_afresh(game, BLACK, Limits(100))
    searches.clear()
    before = arrays()
    searches.search_afresh(game, BLACK, Limits(visits))
    assert arrays() - before > 10 * 2**20
    searches.clear()
    assert arrays() - before < 2**20
    searches.close()


def played(*moves: str, handicap: bool = False) -> Game:
    game = Game(9)
    if handicap:
        game.set_handicap([game.play(vertex, BLACK).point for vertex in ("C3", "G7")])
    for text in moves:
        color, vertex = text.split()
        game.play(vertex, BLACK if color == "b" else WHITE)
    return game


def test_a_second_move_in_a_row_begins_a_new_game() -> None:
    part = since_move_out_of_turn(played("w D4", "b E5", "b F6", "w C4", handicap=True), BLACK)
    assert [move.color for move in part.moves] == [BLACK, WHITE]
    assert (part.first_player, part.handicap) == (BLACK, 0)
    assert len(part.setup_stones) == 4


def test_a_search_out_of_turn_begins_a_new_game() -> None:
    game = played("b D4")
    part = since_move_out_of_turn(game, BLACK)
    assert (part.moves, part.to_play, part.hash) == ((), BLACK, game.hash)
    assert since_move_out_of_turn(game, WHITE) is game  # in turn
