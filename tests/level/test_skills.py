"""What skills mean."""

from itertools import pairwise

import pytest

from gtp_engine.level.skills import BOTTOM_SKILL, POLICY_SKILL, TOP_SKILL, settings_of


def test_settings_narrow_as_the_skill_grows():
    settings = [settings_of(skill / 4, 19, 19) for skill in range(int(4 * BOTTOM_SKILL), int(4 * TOP_SKILL) + 1)]
    assert all(a.visits <= b.visits for a, b in pairwise(settings))
    assert all(a.temperature > b.temperature for a, b in pairwise(settings))
    assert all(a.allowed_loss > b.allowed_loss for a, b in pairwise(settings))


def test_the_strongest_level_plays_the_best_move():
    assert settings_of(TOP_SKILL, 19, 19).temperature == 0.0


def test_a_policy_level_evaluates_the_position_once():
    assert settings_of(POLICY_SKILL, 19, 19).visits == 1
    assert settings_of(POLICY_SKILL + 0.1, 19, 19).visits > 1


def test_moves_may_lose_less_on_a_small_board():
    assert settings_of(2.0, 9, 9).allowed_loss == pytest.approx(settings_of(2.0, 19, 19).allowed_loss * 9 / 19)


def test_no_skill_is_below_the_beginner():
    assert settings_of(BOTTOM_SKILL - 1.0, 19, 19) == settings_of(BOTTOM_SKILL, 19, 19)
