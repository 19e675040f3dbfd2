"""The searches of an engine: which thresholds and limits they use, and the memory they take."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine.config import Config
from gtp_engine.engine.searches import Searches
from gtp_engine.engine.thresholds import NETWORK_THRESHOLDS, ROLLOUT_THRESHOLDS, Thresholds
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.constants import BLACK
from gtp_engine.go.game import Game
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits


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


@pytest.mark.parametrize("anti_mirror", [True, False])
def test_moves_to_play_are_searched_against_mirrors_but_analyses_are_not(
    anti_mirror: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, found = Config().with_values({"puct.anti_mirror": anti_mirror}), []

    def run(game: Game, limits: Limits, *, to_play: int) -> None:
        found.append(limits.anti_mirror)

    searches = Searches(config, FakeEvaluator())
    monkeypatch.setattr(searches._game_search, "run", run)
    searches.search_move(Game(5), BLACK, Limits(cancel=CancelToken()))
    searches.analyze(Game(5), BLACK, Limits(cancel=CancelToken()))
    assert found == [anti_mirror, False]


def test_only_analyses_use_the_settings_of_analyses(monkeypatch: pytest.MonkeyPatch) -> None:
    config, found = Config().with_values({"analysis.wide_root_noise": 0.3, "analysis.ignore_history": True}), []

    def run(game: Game, limits: Limits, *, to_play: int) -> None:
        found.append((limits.wide_root_noise, limits.ignores_history))

    searches = Searches(config, FakeEvaluator())
    monkeypatch.setattr(searches._game_search, "run", run)
    searches.analyze(Game(5), BLACK, Limits(cancel=CancelToken()))
    searches.search_move(Game(5), BLACK, Limits(cancel=CancelToken()))
    assert found == [(0.3, True), (0.0, False)]


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize(("evaluator", "visits"), [(FakeEvaluator(), 12_000), (None, 60_000)], ids=["puct", "rollouts"])
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
