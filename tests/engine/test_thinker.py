"""The searches of an engine: which thresholds they use."""

from dataclasses import replace

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine.config import Config
from gtp_engine.engine.thinker import Thinker
from gtp_engine.engine.thresholds import NETWORK, ROLLOUTS, Thresholds


@pytest.mark.parametrize(
    ("has_ownership", "share", "thresholds"),
    [(True, 0.0, NETWORK), (True, 0.5, NETWORK), (True, 1.0, ROLLOUTS), (False, 0.0, ROLLOUTS), (False, 0.5, ROLLOUTS)],
)
def test_few_visits_suffice_only_with_a_networks_ownership(
    has_ownership: bool, share: float, thresholds: Thresholds
) -> None:
    evaluator = FakeEvaluator(has_ownership=has_ownership)
    config = replace(Config(), puct=replace(Config().puct, rollout_share=share))
    assert Thinker(config, evaluator).thresholds is thresholds
