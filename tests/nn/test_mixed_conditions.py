"""Positions of games that differ in rules, komi and profile: evaluated in one call, with the same results as alone."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from nn import tiny_networks
from shared_files import shared_file

from gtp_engine import Evaluator, Game, ModelError, load_evaluator
from gtp_engine.config import NetworkConfig
from gtp_engine.config.human import parse_profile
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, EvaluationOptions, Request
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import Evaluation, Positions, new_evaluation, new_positions, take_rows
from gtp_engine.go.constants import PASS
from gtp_engine.go.rules import PRESETS
from gtp_engine.nn.named_networks import shipped_folder
from gtp_engine.nn.network_evaluator import EncodedNetwork, NetworkEvaluator, uncached_evaluator
from gtp_engine.nn.onnx_model import OnnxModel
from gtp_engine.nn.providers import PROVIDERS, Runtime

CPU = Runtime(PROVIDERS["cpu"], "float32")
PROFILES = ("rank_9d", "rank_15k")


def model(path: Path) -> OnnxModel:
    return OnnxModel(path, CPU, batch=4)


def random_games(width: int, height: int, rules: Sequence[str] = (*PRESETS,)) -> list[Game]:
    """Return a game under each rule set, of different lengths and with different komi."""
    rng = np.random.default_rng(1)
    games = []
    for number, name in enumerate(rules):
        game = Game(width, height, PRESETS[name], 7.5 - number)
        for _ in range(2 * number):
            points = game.legal_points()
            game.play(int(rng.choice(points)) if points else PASS)
        games.append(game)
    return games


def rows_of(games: Sequence[Game], profiles: Sequence[str] = ("",)) -> Positions:
    """Return the positions of games, and two rows more that mean nothing; the profiles take turns."""
    positions = new_positions(len(games) + 2, games[0].width, games[0].height)
    for row, game in enumerate(games):
        profile = parse_profile(profiles[row % len(profiles)]).code
        write_game(positions, row, game, conditions=conditions_of(game, human_profile=profile))
    return positions


def check_together(evaluator: Evaluator, positions: Positions, count: int, size: tuple[int, int]) -> Evaluation:
    """Return the evaluation of rows in one call, after comparing it with a call for each row."""
    together, alone = new_evaluation(count, *size), new_evaluation(1, *size)
    evaluator.evaluate(Request(positions, count, together))
    for row in range(count):
        evaluator.clear_cache()
        evaluator.evaluate(Request(take_rows(positions, [row]), 1, alone))
        for name, array, expected in zip(Evaluation._fields, together, alone, strict=True):
            np.testing.assert_allclose(array[row], expected[0], rtol=1e-3, atol=1e-4, err_msg=name)
    return together


@pytest.mark.parametrize("cached", [0, 100])
@pytest.mark.parametrize("size", [(7, 7), (6, 4)])
def test_positions_under_all_rule_sets_share_a_call(tmp_path: Path, size: tuple[int, int], cached: int) -> None:
    network = EncodedNetwork(model(tiny_networks.v7_network(tmp_path / "tiny.onnx", misc=6, model_version="14")))
    evaluator = NetworkEvaluator(network, network, config=NetworkConfig(cache_positions=cached))
    games = random_games(*size)
    assert len({conditions_of(game).superko for game in games}) == 3
    check_together(evaluator, rows_of(games), len(games), size)


def same_position(rules: Sequence[str], komis: Sequence[float]) -> list[Game]:
    """Return the same moves of a game under different rules and komi."""
    games = [Game(9, 9, PRESETS[name], komi) for name in rules for komi in komis]
    for game in games:
        for vertex in ("E5", "C3", "G6", "D7", "F3"):
            game.play(vertex)
    return games


THREE_RULE_SETS = ("chinese", "japanese", "tromp-taylor")
TWO_KOMI = (0.5, 7.5)


def test_the_shipped_network_evaluates_three_rule_sets_and_two_komi_at_once() -> None:
    config = NetworkConfig(model=str(shipped_folder()), provider="cpu", precision="float32")
    evaluator = load_evaluator(config, log=lambda text: None, board=(9, 9))
    games = same_position(THREE_RULE_SETS, TWO_KOMI)
    found = check_together(evaluator, rows_of(games), len(games), (9, 9))
    assert len({f"{value:.4f}" for value in found.lead_black.tolist()}) == len(games), "all differ"
    evaluator.close()


def test_a_human_like_network_evaluates_three_rule_sets_two_komi_and_two_profiles_at_once(tmp_path: Path) -> None:
    from gtp_engine.nn.onnx_export import convert_file

    path = tmp_path / "human.onnx"
    convert_file(shared_file("human-sl-reference/hum-b3c24nbt-mish.bin.gz"), path)
    config = NetworkConfig(model=str(path), provider="cpu", precision="float32")
    evaluator = load_evaluator(config, log=lambda text: None, board=(9, 9))
    games = [game for game in same_position(THREE_RULE_SETS, TWO_KOMI) for _ in PROFILES]
    found = check_together(evaluator, rows_of(games, PROFILES), len(games), (9, 9))
    assert len({policy.tobytes() for policy in found.policy}) == len(games) == 12, "all differ"
    evaluator.close()


def test_the_mean_of_all_looks_and_the_optimistic_policy(tmp_path: Path) -> None:
    """Eight looks at a square board are those that a search averages over; one more call gives full optimism."""
    path = tiny_networks.v7_network(tmp_path / "tiny.onnx", policies=2, misc=6, model_version="14")
    game = Game(5, 5)
    game.play("B2")
    positions, found, expected = rows_of([game]), new_evaluation(3, 5, 5), new_evaluation(3, 5, 5)
    optimistic = np.full_like(found.policy, np.nan)
    uncached_evaluator(model(path), looks=8).evaluate(Request(positions, 1, found, optimistic=optimistic))
    network = EncodedNetwork(model(path))
    searching = NetworkEvaluator(network, network, config=NetworkConfig())
    searching.evaluate(Request(positions, 1, expected, EvaluationOptions(ALL_SYMMETRIES)))
    for name, array, wanted in zip(Evaluation._fields, found, expected, strict=True):
        np.testing.assert_allclose(array, wanted, atol=1e-4, err_msg=name)
    searching.evaluate(Request(positions, 1, expected, EvaluationOptions(ALL_SYMMETRIES, optimism=1.0)))
    np.testing.assert_allclose(optimistic[0], expected.policy[0], atol=1e-4)
    assert np.isnan(optimistic[1:]).all(), "only the rows that were asked for"
    assert not np.allclose(optimistic[0], found.policy[0], atol=1e-3)


def test_without_an_optimistic_policy_zeros_are_written(tmp_path: Path) -> None:
    evaluator = uncached_evaluator(model(tiny_networks.v7_network(tmp_path / "tiny.onnx", policies=1)))
    positions, out = rows_of([Game(5)]), new_evaluation(3, 5, 5)
    optimistic = np.full_like(out.policy, np.nan)
    evaluator.evaluate(Request(positions, 1, out, optimistic=optimistic))
    assert not optimistic[0].any()


def test_the_optimistic_policy_is_written_for_positions_in_the_cache(tmp_path: Path) -> None:
    network = EncodedNetwork(model(tiny_networks.v7_network(tmp_path / "tiny.onnx", policies=2)))
    evaluator = NetworkEvaluator(network, network, config=NetworkConfig())
    request = Request(rows_of([Game(5)]), 1, new_evaluation(3, 5, 5))
    evaluator.evaluate(request)
    optimistic = np.zeros_like(request.out.policy)
    evaluator.evaluate(request._replace(optimistic=optimistic))
    assert optimistic[0].sum() == pytest.approx(1.0, abs=1e-4)


def test_networks_without_score_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="expected policy\\+value and katago-v7"):
        uncached_evaluator(model(tiny_networks.alphago_policy(tmp_path / "policy.onnx")))
