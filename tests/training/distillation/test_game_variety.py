"""Plans of games for training: shares of boards, rules, komi and handicap."""

from collections import Counter

import numpy as np
import pytest

from gtp_engine.errors import ConfigError
from gtp_engine.go.rules import PRESETS
from gtp_engine.selfplay.policy_games import GamePlan
from gtp_engine.training.distillation.game_variety import (
    EVEN_SHARE,
    HANDICAP_SHARE,
    RULE_WEIGHTS,
    SIZE_PRESETS,
    STOPPED_SHARE,
    parse_sizes,
    varied_plan,
)

PLANS = 3000


@pytest.fixture(scope="module")
def plans() -> list[GamePlan]:
    rng = np.random.default_rng(1)
    return [varied_plan(rng, 19, 19) for _ in range(PLANS)]


def test_sizes_become_shares() -> None:
    shares = parse_sizes("9=4, 13=2,19x13=.5,7=1.5,5=0")
    assert shares == {(9, 9): 0.5, (13, 13): 0.25, (19, 13): 0.0625, (7, 7): 0.1875}


@pytest.mark.parametrize("text", ["", "9", "9=", "9=-1", "1=1", "26=1", "9=1,9=2", "9=1;13=1", "9=0", "x9=1", "large"])
def test_sizes_that_make_no_sense(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected sizes from 2 to 25 .* or mixed or small"):
        parse_sizes(text)


def test_the_mixed_preset_has_every_size_and_9_13_and_19_most_often() -> None:
    shares = parse_sizes("mixed")
    assert {(size, size) for size in range(7, 20)} <= shares.keys()
    assert {board for board, share in shares.items() if share > 0.1} == {(9, 9), (13, 13), (19, 19)}
    assert any(width != height for width, height in shares)
    assert all(sum(parse_sizes(name).values()) == pytest.approx(1) for name in SIZE_PRESETS)


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
