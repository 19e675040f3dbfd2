"""Which search a configuration names."""

import contextlib

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine.analysis.engine_backend import EngineBackend
from gtp_engine.config import Config
from gtp_engine.engine.search_factory import new_searcher, new_searches, uses_network
from gtp_engine.engine.warm_up import warm_up
from gtp_engine.errors import ConfigError
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.rollouts.rollout_search import RolloutSearch


@pytest.mark.parametrize(
    ("algorithm", "evaluator", "kind"),
    [
        ("auto", FakeEvaluator(), PuctSearch),
        ("puct", FakeEvaluator(), PuctSearch),
        ("rave", FakeEvaluator(), RolloutSearch),
        ("uct", FakeEvaluator(), RolloutSearch),
        ("auto", None, RolloutSearch),
        ("rave", None, RolloutSearch),
    ],
)
def test_the_configuration_and_the_network_decide(algorithm: str, evaluator: Evaluator | None, kind: type) -> None:
    config = Config().with_values({"search.search": algorithm})
    assert uses_network(config, evaluator) == (kind is PuctSearch)
    with contextlib.closing(new_searcher(config, evaluator)) as searcher:
        assert type(searcher) is kind


@pytest.mark.parametrize(
    ("knows_komi", "algorithm", "kinds"),
    [
        (True, "auto", (PuctSearch, PuctSearch)),
        (False, "auto", (PuctSearch, RolloutSearch)),
        (False, "uct", (RolloutSearch, RolloutSearch)),
    ],
)
def test_rollouts_answer_questions_where_the_network_assumes_a_komi(
    knows_komi: bool, algorithm: str, kinds: tuple[type, type]
) -> None:
    evaluator = FakeEvaluator(knows_komi=knows_komi, has_rollout_policy=True)
    policy = {"auto": "network", "uct": "uniform"}[algorithm]
    config = Config().with_values({"search.search": algorithm, "search.rollout_policy": policy})
    searches = new_searches(config, evaluator)
    assert tuple(map(type, searches)) == kinds
    for search in searches:
        search.close()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"search.search": "puct"}, "puct without a network; name one with --model FILE"),
        ({"search.rollout_policy": "network"}, "rollout_policy = network in a search without a network"),
    ],
)
def test_a_missing_network_is_reported_at_once(values: dict[str, str], message: str) -> None:
    config = Config().with_values(values)
    with pytest.raises(ConfigError, match=message):
        new_searcher(config, None)
    with pytest.raises(ConfigError, match=message):
        EngineBackend(config, None, print)


def test_kernels_are_warmed_up_with_the_human_like_network() -> None:
    """Searches warm up networks that are not KataGo's; without `human` its settings would be refused."""
    config = Config().with_values({"human.human_profile": "rank_5k", "human.human_move_share": "0.5"})
    human = FakeEvaluator(needs_profile=True)
    warm_up(config, FakeEvaluator(), (5, 5), print, human)
