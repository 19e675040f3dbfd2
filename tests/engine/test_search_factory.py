"""Which search a configuration names."""

import contextlib

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine.config import Config
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.shared_engines import SharedEngines
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
    resources = Resources(evaluator)
    assert resources.uses_network(config) == (kind is PuctSearch)
    with contextlib.closing(resources.new_searcher(config)) as searcher:
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
    searches = Resources(evaluator).new_searches(config)
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
        Resources(None).new_searcher(config)
    with pytest.raises(ConfigError, match=message):
        SharedEngines(config).load_for_analyses()


def test_kernels_are_warmed_up_with_the_human_like_network() -> None:
    """Searches warm up networks that are not KataGo's; without `human` its settings would be refused."""
    config = Config().with_values({"human.human_profile": "rank_5k", "human.human_move_share": "0.5"})
    human = FakeEvaluator(needs_profile=True)
    Resources(FakeEvaluator(), human).warm_up(config, (5, 5), print)
