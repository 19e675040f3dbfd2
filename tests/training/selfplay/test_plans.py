"""Plans of games that differ in rules, komi and handicap."""

from collections import Counter

import numpy as np
import pytest

from gtp_engine.go.rules import PRESETS
from gtp_engine.training.selfplay.plans import (
    EVEN_SHARE,
    HANDICAP_ADVANTAGE_SHARE,
    HANDICAP_SHARE,
    RULE_WEIGHTS,
    STOPPED_SHARE,
    GamePlan,
    komi_near,
    plan_with_advantages,
    varied_plan,
)

PLANS = 3000


@pytest.fixture(scope="module")
def plans() -> list[GamePlan]:
    rng = np.random.default_rng(1)
    return [varied_plan(rng, 19, 19) for _ in range(PLANS)]


def test_every_preset_of_the_rules_is_played() -> None:
    assert {PRESETS[name] for name in RULE_WEIGHTS} == set(PRESETS.values())


def test_rules_are_drawn_by_their_weights(plans: list[GamePlan]) -> None:
    drawn = Counter(plan.rules for plan in plans)
    total = sum(RULE_WEIGHTS.values())
    for name, weight in RULE_WEIGHTS.items():
        assert drawn[PRESETS[name]] / PLANS == pytest.approx(weight / total, abs=0.03), name


def test_komi_is_near_what_the_rules_suggest_and_sometimes_is_not(plans: list[GamePlan]) -> None:
    offsets = np.array([abs(plan.komi - plan.rules.default_komi()) for plan in plans])
    assert all((2 * plan.komi).is_integer() for plan in plans)
    rng = np.random.default_rng(1)
    komi = [komi_near(PRESETS["chinese"], 0.15, rng, 19, 19) for _ in range(1000)]
    assert {each % 1 for each in komi} == {0.0, 0.5}
    assert np.std(komi) == pytest.approx(0.15 * 19, rel=0.1)
    assert 0.6 < np.mean(offsets <= 3) < 0.75
    assert 0.01 < np.mean(offsets > 12) < 0.06


def test_handicaps(plans: list[GamePlan]) -> None:
    placed = [plan for plan in plans if plan.handicap]
    by_policy = [plan for plan in plans if plan.white_passes]
    assert (len(placed) + len(by_policy)) / PLANS == pytest.approx(HANDICAP_SHARE, abs=0.02)
    assert len(placed) == pytest.approx(len(by_policy), rel=0.4)
    assert {len(plan.handicap) for plan in placed} == {2, 3, 4, 5}
    assert {plan.white_passes + 1 for plan in by_policy} == {2, 3, 4, 5}
    assert all(plan.even_at is None or plan.even_at > 2 * plan.white_passes for plan in by_policy), "stones stand first"


@pytest.mark.parametrize(("size", "most"), [(9, 3), (7, 0), (8, 2)])
def test_small_boards_have_small_handicaps(size: int, most: int) -> None:
    rng = np.random.default_rng(1)
    plans = [varied_plan(rng, size, size) for _ in range(1000)]
    assert max(max(len(plan.handicap), plan.white_passes and plan.white_passes + 1) for plan in plans) == most


def test_shares_of_games_made_even_and_stopped(plans: list[GamePlan]) -> None:
    assert np.mean([plan.even_at is not None for plan in plans]) == pytest.approx(EVEN_SHARE, abs=0.04)
    assert np.mean([plan.stops_when_decided for plan in plans]) == pytest.approx(STOPPED_SHARE, abs=0.04)


def test_advantages_are_mostly_those_of_white_in_handicap_games(plans: list[GamePlan]) -> None:
    assert not any(plan.advantage_black for plan in plans)
    rng = np.random.default_rng(1)
    found = [plan_with_advantages(rng, 19, 19) for _ in range(PLANS)]
    with_handicap = [plan.advantage_black for plan in found if plan.handicap or plan.white_passes]
    assert np.mean(np.array(with_handicap) < 0) == pytest.approx(HANDICAP_ADVANTAGE_SHARE, abs=0.1)
    assert set(with_handicap) == {0.0, -0.5, -1.0, -1.5, -2.0, -2.5, -3.0}
    even = [plan.advantage_black for plan in found if not plan.handicap and not plan.white_passes]
    assert min(even) < 0 < max(even) and np.mean(np.array(even) != 0) < 0.03
