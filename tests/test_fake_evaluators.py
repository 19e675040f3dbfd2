"""Evaluators without a network: valid evaluations that depend on the position alone."""

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator, UniformEvaluator
from nn.boards import random_rows

from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.positions import Evaluation, new_evaluation
from gtp_engine.go.constants import PASS


def evaluations(evaluator: FakeEvaluator | UniformEvaluator, seed: int = 1) -> Evaluation:
    positions, _ = random_rows(4, 9, 7, seed=seed)
    out = new_evaluation(4, 9, 7)
    evaluator.evaluate(Request(positions, 4, out))
    return out


@pytest.mark.parametrize("evaluator", [FakeEvaluator(seed=3), UniformEvaluator()])
def test_evaluations_are_valid(evaluator: FakeEvaluator | UniformEvaluator) -> None:
    _, games = random_rows(4, 9, 7)
    out = evaluations(evaluator)
    assert out.policy.sum(axis=1) == pytest.approx(1, abs=1e-5)
    for row, game in enumerate(games):
        assert set(np.flatnonzero(out.policy[row])) == {PASS, *game.legal_points()}
    assert out.win_black + out.loss_black == pytest.approx(1)
    assert np.abs(out.ownership_black).max() <= 1
    on_board = games[0].board.color != 3
    assert not out.ownership_black[:, ~on_board].any()


def test_evaluations_depend_on_position_and_seed_only() -> None:
    first = evaluations(FakeEvaluator())
    for field, again in zip(first, evaluations(FakeEvaluator(encode=True)), strict=True):
        assert np.array_equal(field, again)
    assert len(set(first.win_black.tolist())) == 4
    assert not np.array_equal(first.policy, evaluations(FakeEvaluator(seed=1)).policy)


def test_a_better_score_wins_more_often() -> None:
    out = evaluations(FakeEvaluator())
    order = np.argsort(out.score_black)
    assert (np.diff(out.win_black[order]) > 0).all()


def test_the_uniform_evaluator_prefers_no_move_and_no_side() -> None:
    out = evaluations(UniformEvaluator())
    for row in out.policy:
        assert len(set(row[row > 0].tolist())) == 1
    assert (out.win_black == 0.5).all()


def test_calls_are_counted() -> None:
    evaluator = FakeEvaluator()
    evaluations(evaluator)
    assert (evaluator.calls, evaluator.rows) == (1, 4)
