"""Rows with their own rules and komi: evaluated in one call, with the same results as one by one."""

from pathlib import Path

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator
from nn import tiny_networks

from gtp_engine.config import NetworkConfig
from gtp_engine.errors import ModelError
from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, DEFAULT_OPTIONS, EvaluationOptions
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import new_positions, take_rows
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS
from gtp_engine.nn.encoded_network import Network
from gtp_engine.nn.network_evaluator import NetworkEvaluator
from gtp_engine.nn.onnx_model import OnnxModel
from gtp_engine.nn.providers import PROVIDERS, Runtime
from gtp_engine.selfplay.rows_evaluator import GroupedRows, NetworkRows

CPU = Runtime(PROVIDERS["cpu"], "float32")


def model(path: Path) -> OnnxModel:
    return OnnxModel(path, CPU, batch=4)


def random_games(width: int, height: int) -> list[Game]:
    """Return a game under each rule set, of different lengths and with different komi."""
    rng = np.random.default_rng(1)
    games = []
    for number, rules in enumerate(PRESETS.values()):
        game = Game(width, height, rules, 7.5 - number)
        for _ in range(2 * number):
            points = game.legal_points()
            game.play(int(rng.choice(points)) if points else PASS)
        games.append(game)
    return games


def test_rows_are_evaluated_under_their_own_rules() -> None:
    games = [
        Game(5, 5, PRESETS[rules], komi) for rules, komi in (("chinese", 7.5), ("japanese", 6.5), ("chinese", 7.5))
    ]
    for game, vertex in zip(games, ("A1", "B2", "C3"), strict=True):
        game.play(vertex)
    positions, together, alone = new_positions(3, 5, 5), new_evaluation(3, 5, 5), new_evaluation(1, 5, 5)
    for row, game in enumerate(games):
        write_game(positions, row, game)
    evaluator = FakeEvaluator()
    GroupedRows(evaluator).evaluate_rows(positions, [conditions_of(game) for game in games], together)
    assert (evaluator.calls, evaluator.rows) == (2, 3), "equal conditions share a call"
    for row, game in enumerate(games):
        FakeEvaluator().evaluate(take_rows(positions, [row]), 1, conditions_of(game), alone, DEFAULT_OPTIONS)
        for array, expected in zip(together, alone, strict=True):
            np.testing.assert_array_equal(array[row], expected[0])


@pytest.mark.parametrize("size", [(7, 7), (6, 4)])
def test_a_network_evaluates_mixed_rows_as_it_evaluates_each_alone(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tiny_networks.v7_network(tmp_path / "tiny.onnx", policies=2, misc=6, model_version="14")
    games = random_games(*size)
    positions, together, apart = (
        new_positions(len(games) + 2, *size),
        new_evaluation(len(games) + 2, *size),
        new_evaluation(len(games) + 2, *size),
    )
    for row, game in enumerate(games):
        write_game(positions, row, game)
    conditions = [conditions_of(game) for game in games]
    rows = NetworkRows(model(path))
    rows.evaluate_rows(positions, conditions, together)
    network = Network(model(path))
    alone = NetworkEvaluator(network, network, config=NetworkConfig(cache_positions=0))
    GroupedRows(alone).evaluate_rows(positions, conditions, apart)
    for name, array, expected in zip(Evaluation._fields, together, apart, strict=True):
        np.testing.assert_allclose(array, expected, atol=2e-5, err_msg=name)
    assert len({conditions_.superko for conditions_ in conditions}) == 3


def test_the_mean_of_all_looks_and_the_optimistic_policy(tmp_path: Path) -> None:
    """Eight looks at a square board are those that a search averages over; one more call gives full optimism."""
    path = tiny_networks.v7_network(tmp_path / "tiny.onnx", policies=2, misc=6, model_version="14")
    game = Game(5, 5)
    game.play("B2")
    positions, found, expected = new_positions(1, 5, 5), new_evaluation(1, 5, 5), new_evaluation(1, 5, 5)
    write_game(positions, 0, game)
    rows = NetworkRows(model(path), looks=8)
    rows.evaluate_rows(positions, [conditions_of(game)], found)
    network = Network(model(path))
    alone = NetworkEvaluator(network, network, config=NetworkConfig(cache_positions=0))
    options = EvaluationOptions(ALL_SYMMETRIES)
    alone.evaluate(positions, 1, conditions_of(game), expected, options)
    for name, array, wanted in zip(Evaluation._fields, found, expected, strict=True):
        np.testing.assert_allclose(array, wanted, atol=2e-5, err_msg=name)
    alone.evaluate(positions, 1, conditions_of(game), expected, options._replace(optimism=1.0))
    assert rows.optimistic is not None
    np.testing.assert_allclose(rows.optimistic, expected.policy, atol=2e-5)
    assert not np.allclose(rows.optimistic, found.policy, atol=1e-3)


def test_there_is_a_workspace_for_each_board_size(tmp_path: Path) -> None:
    rows = NetworkRows(model(tiny_networks.v7_network(tmp_path / "tiny.onnx", model_version="14")))
    policies = []
    for width, height in ((7, 7), (5, 5), (7, 7)):
        positions, out = new_positions(1, width, height), new_evaluation(1, width, height)
        write_game(positions, 0, Game(width, height))
        rows.evaluate_rows(positions, [conditions_of(Game(width, height))], out)
        policies.append(out.policy.copy())
    np.testing.assert_array_equal(policies[0], policies[2])
    assert policies[0].shape != policies[1].shape


def test_networks_without_score_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="expected policy\\+value and katago-v7"):
        NetworkRows(model(tiny_networks.alphago_policy(tmp_path / "policy.onnx")))


def test_nan_and_infinity_are_an_error(tmp_path: Path) -> None:
    rows = NetworkRows(model(tiny_networks.v7_network(tmp_path / "huge.onnx", scale=1e20)))
    positions = new_positions(1, 5, 5)
    write_game(positions, 0, Game(5))
    with pytest.raises(ModelError, match="returned NaN or infinity"):
        rows.evaluate_rows(positions, [conditions_of(Game(5))], new_evaluation(1, 5, 5))
