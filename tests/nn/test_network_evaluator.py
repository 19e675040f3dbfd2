"""From raw outputs to evaluations: an oracle, symmetry laws, Black's view, the cache, separate networks, mixed rows."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from board_helpers import game_from, point_to_action
from katago_inputs import play, row_of
from nn import tiny_networks
from nn.boards import random_rows
from shared_files import shared_file

from gtp_engine import Evaluator, Game, ModelError, Rules, load_evaluator
from gtp_engine.config import NetworkConfig
from gtp_engine.config.human import parse_profile
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, ANY_SYMMETRY, EvaluationOptions, Request
from gtp_engine.evaluation.from_game import conditions_of, write_conditions, write_game
from gtp_engine.evaluation.positions import (
    Evaluation,
    Positions,
    conditions_of_row,
    new_evaluation,
    new_positions,
    take_rows,
)
from gtp_engine.go.constants import BLACK, PASS, padded_length
from gtp_engine.go.coords import board_points, transformed_points, xy_to_point
from gtp_engine.go.rules import PRESETS
from gtp_engine.nn.cache import WAYS, Cache, find, new_cache, store
from gtp_engine.nn.encoders import new_encoder
from gtp_engine.nn.metadata import Scales
from gtp_engine.nn.network_evaluator import NetworkEvaluator, uncached_evaluator
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs
from gtp_engine.nn.providers import PROVIDERS, Runtime
from gtp_engine.nn.symmetry import cell_table

CPU = Runtime(PROVIDERS["cpu"], "float32")
PLAIN = NetworkConfig(symmetry="none", cache_positions=0)
TOLERANCE = 2e-5


def model(path: Path) -> OnnxModel:
    return OnnxModel(path, CPU, batch=4)


def evaluator_of(path: Path, config: NetworkConfig = PLAIN) -> NetworkEvaluator:
    katago = model(path)
    return NetworkEvaluator(katago, katago, config=config)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_networks.v7_network(tmp_path_factory.mktemp("networks") / "tiny.onnx")


def evaluate(evaluator: NetworkEvaluator, positions: Positions, size: tuple[int, int], **how: float) -> Evaluation:
    out = new_evaluation(positions.to_play.size, *size)
    for field in out:
        field[...] = 99  # values that are not written show
    evaluator.evaluate(Request(positions, positions.to_play.size, out, EvaluationOptions(**how)))  # type: ignore[arg-type]
    return out


def changed(positions: Positions, **conditions: float) -> Positions:
    """Return the positions under other conditions."""
    rows = take_rows(positions, np.arange(len(positions.key)))
    write_conditions(rows, slice(None), conditions_of_row(positions, 0)._replace(**conditions))
    return rows


# --- A slow oracle


def softplus(x: float) -> float:
    return math.log(1 + math.exp(x))


def raw_outputs(path: Path, positions: Positions, row: int, size: tuple[int, int]) -> RawOutputs:
    """Return what a network says about a row."""
    model = OnnxModel(path, CPU)
    encoder = new_encoder(model.info.encoder, *size, suicide_area=model.info.suicide_area)
    return model.run(*encoder.encode(positions, [row], np.zeros(1, dtype=np.int32)))


def oracle(path: Path, positions: Positions, row: int, game: Game, optimism: float) -> dict:
    """Return the evaluation of a row, computed one number at a time."""
    width, height = game.width, game.height
    raw = raw_outputs(path, positions, row, (width, height))
    assert raw.policy is not None and raw.value is not None and raw.misc is not None and raw.ownership is not None
    logits = {}
    for point in [PASS, *game.legal_points()]:
        action = point_to_action(point, width=width, height=height)
        plain, optimistic = raw.policy[0, 0, action], raw.policy[0, 1, action]
        logits[point] = math.exp((1 - optimism) * plain + optimism * optimistic)
    total = sum(logits.values())
    values = [math.exp(x) for x in raw.value[0]]
    conditions = conditions_of(game)
    if conditions.superko and not conditions.territory:
        values[2] = 0.0
    win, loss, void = (value / sum(values) for value in values)
    sign = 1 if positions.to_play[row] == BLACK else -1
    misc, scales = raw.misc[0].tolist(), Scales()
    score, spread = misc[0] * scales.score_mean, softplus(misc[1]) * scales.score_stdev
    mean = score * (1 - void)
    return {
        "policy": {point: logit / total for point, logit in logits.items()},
        "win_black": win if sign == 1 else loss,
        "loss_black": loss if sign == 1 else win,
        "score_black": sign * mean,
        "score_stdev": math.sqrt((score**2 + spread**2) * (1 - void) - mean**2),
        "lead_black": sign * misc[2] * scales.lead * (1 - void),
        "time_left": softplus(misc[3]) * scales.time_left,
        "winloss_error": math.sqrt(softplus(misc[4] / 2) ** 2 * scales.winloss_error),
        "score_error": math.sqrt(softplus(misc[5] / 2) ** 2 * scales.score_error),
        "ownership_black": {
            xy_to_point(x, y, width=width): sign * math.tanh(raw.ownership[0, y * width + x])
            for x in range(width)
            for y in range(height)
        },
    }


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor"])
@pytest.mark.parametrize("optimism", [0.0, 0.7])
def test_evaluations_agree_with_a_slow_oracle(path: Path, rules: str, optimism: float) -> None:
    size = (7, 5)
    positions, games = random_rows(5, *size, rules=rules)
    out = evaluate(evaluator_of(path), positions, size, optimism=optimism)
    for row, game in enumerate(games):
        expected = oracle(path, positions, row, game, optimism)
        for name, value in expected.items():
            found = getattr(out, name)[row]
            if isinstance(value, dict):
                assert {point: found[point] for point in value} == pytest.approx(value, abs=TOLERANCE), name
                assert np.count_nonzero(found) <= len(value), name
            else:
                assert found == pytest.approx(value, rel=1e-4, abs=TOLERANCE), name


@pytest.mark.parametrize(("version", "power"), [("8", None), ("9", 0), ("10", 1), ("13", 1), ("14", 2), ("15", 2)])
def test_what_old_versions_say_of_time_left_and_errors(tmp_path: Path, version: str, power: int | None) -> None:
    """The errors of version 9 have no scales, of 10 to 13 they are roots of variances, and then of squares."""
    misc = 4 if power is None else 6
    old = tiny_networks.v7_network(tmp_path / "old.onnx", policies=1, misc=misc, model_version=version)
    positions, _ = random_rows(2, 5)
    out = evaluate(evaluator_of(old), positions, (5, 5))
    raw, scales = raw_outputs(old, positions, 1, (5, 5)).misc, Scales()
    found = (out.winloss_error[1], out.score_error[1])
    if power is None:
        assert (out.time_left[1], *found) == (-1, -1, -1)
        return
    assert raw is not None and out.time_left[1] > 0
    for i, (scale, unit) in enumerate([(scales.winloss_error, 1), (scales.score_error, 10)]):
        spread = softplus(float(raw[0, 4 + i]) / max(1, power)) ** max(1, power)
        assert found[i] == pytest.approx(math.sqrt(spread * scale) if power else spread * unit, rel=1e-4)


def test_temperature_flattens_the_policy(path: Path) -> None:
    positions, _ = random_rows(3, 9)
    sharp = evaluate(evaluator_of(path), positions, (9, 9)).policy
    flat = evaluate(evaluator_of(path), positions, (9, 9), temperature=2.0).policy
    for row in range(3):
        legal = sharp[row] > 0
        ratio = np.sqrt(sharp[row][legal]) / flat[row][legal]
        assert ratio == pytest.approx(ratio[0], rel=1e-3)


def test_passing_hacks_limit_the_probability_of_passing(path: Path) -> None:
    positions, _ = random_rows(1, 5)
    found = evaluate(evaluator_of(path), changed(positions, passing_hacks=True), (5, 5), temperature=0.01).policy
    assert found[0, PASS] <= 0.95 + 1e-6


def test_areas_as_if_suicide_were_legal_are_told_on_request(path: Path) -> None:
    """White's stone is dead while suicide is illegal; the cache keeps the evaluations apart."""
    game = game_from("XXXXXX\nX...X.\nX.O.XX\nX...XX\nXXXXXX\n......\n......", Rules.parse("chinese"))
    positions, evaluator = new_positions(1, 6, 7), evaluator_of(path, replace(PLAIN, cache_positions=10))
    write_game(positions, 0, game)
    as_trained, never, always = (
        float(evaluate(evaluator, positions, (6, 7), suicide_area=each).win_black[0]) for each in (-1, 0, 1)
    )
    assert as_trained == never != always


# --- Symmetries


@pytest.mark.parametrize("symmetry", range(8))
def test_a_symmetry_is_undone(path: Path, symmetry: int) -> None:
    _, games = random_rows(4, 5, seed=3)
    game, evaluator = games[-1], evaluator_of(path)
    positions = new_positions(1, 5, 5)
    write_game(positions, 0, game)
    shown = evaluate(evaluator, positions, (5, 5), symmetry=symmetry)
    write_game(positions, 0, game.transformed(symmetry))
    expected = evaluate(evaluator, positions, (5, 5), symmetry=0)
    assert shown.win_black == pytest.approx(expected.win_black, abs=TOLERANCE)
    for point, there in transformed_points(symmetry, 5, 5).items():
        assert shown.policy[0, point] == pytest.approx(expected.policy[0, there], abs=TOLERANCE)
        assert shown.ownership_black[0, point] == pytest.approx(expected.ownership_black[0, there], abs=TOLERANCE)


@pytest.mark.parametrize(("size", "count"), [((5, 5), 8), ((6, 4), 4)])
def test_all_symmetries_are_averaged(path: Path, size: tuple[int, int], count: int) -> None:
    positions, _ = random_rows(3, *size)
    evaluator = evaluator_of(path)
    single = [evaluate(evaluator, positions, size, symmetry=number) for number in range(count)]
    found = evaluate(evaluator, positions, size, symmetry=ALL_SYMMETRIES)
    for name in Evaluation._fields:
        if name != "score_stdev":
            assert getattr(found, name) == pytest.approx(
                np.mean([getattr(one, name) for one in single], axis=0), rel=1e-3, abs=1e-4
            ), name
    squares = np.mean([one.score_stdev**2 + one.score_black**2 for one in single], axis=0)
    assert found.score_stdev == pytest.approx(np.sqrt(squares - found.score_black**2), rel=1e-3)
    by_default = evaluate(evaluator_of(path, replace(PLAIN, symmetry="all")), positions, size)
    assert np.array_equal(by_default.policy, found.policy)


def test_any_symmetry_is_always_the_same_for_a_position(path: Path) -> None:
    positions, _ = random_rows(6, 5)
    evaluator = evaluator_of(path, replace(PLAIN, symmetry="any"))
    found = evaluate(evaluator, positions, (5, 5), symmetry=ANY_SYMMETRY)
    single = [evaluate(evaluator, positions, (5, 5), symmetry=number) for number in range(8)]
    chosen = (positions.key % np.uint64(8)).tolist()
    for row, number in enumerate(chosen):
        assert np.array_equal(found.policy[row], single[number].policy[row])
    assert len(set(chosen)) > 1


# --- The cache


class CountingModel(OnnxModel):
    """Counts the positions it is given."""

    rows = 0

    def run(self, spatial: np.ndarray, globals_: np.ndarray) -> object:  # type: ignore[override]
        self.rows += len(spatial)
        return super().run(spatial, globals_)


def counted(path: Path) -> tuple[CountingModel, NetworkEvaluator]:
    """Return a model that counts, and an evaluator by it with a cache."""
    model = CountingModel(path, CPU, batch=4)
    return model, NetworkEvaluator(model, model, config=NetworkConfig(cache_positions=100))


def test_transpositions_share_an_evaluation_where_that_is_asked_for(path: Path) -> None:
    model, evaluator = counted(path)
    games = [play(Game(5), *moves) for moves in (("C3", "D4", "E5"), ("E5", "D4", "C3"))]
    rows = [row_of(game) for game in games]
    shared = [evaluate(evaluator, row, (5, 5), shares_transpositions=True) for row in rows]
    assert model.rows == 1
    assert np.array_equal(shared[0].policy, shared[1].policy)
    own = [evaluate(evaluator, row, (5, 5)) for row in rows]
    assert model.rows == 3
    assert not np.array_equal(own[0].policy, own[1].policy), "the network's inputs have the last moves"


def test_cached_evaluations_need_no_network(path: Path) -> None:
    model, evaluator = counted(path)
    positions, _ = random_rows(6, 7)
    first = evaluate(evaluator, positions, (7, 7))
    assert model.rows == 6
    again = evaluate(evaluator, positions, (7, 7))
    assert model.rows == 6
    for field, cached in zip(first, again, strict=True):
        assert np.array_equal(field, cached)
    evaluate(evaluator, changed(positions, komi=0.5), (7, 7))
    evaluate(evaluator, positions, (7, 7), optimism=0.5)
    evaluate(evaluator, positions, (7, 7), symmetry=3)
    assert model.rows == 24
    evaluator.clear_cache()
    evaluate(evaluator, positions, (7, 7))
    assert model.rows == 30


def test_two_threads_find_what_one_does(path: Path) -> None:
    """They share the cache and the encoder, and each has arrays of its own."""
    batches = [random_rows(4, 7, seed=seed)[0] for seed in range(8)]
    expected = [evaluate(evaluator_of(path), positions, (7, 7)) for positions in batches]
    shared = evaluator_of(path, replace(PLAIN, cache_positions=16))

    def evaluate_often(_: int) -> list[Evaluation]:
        return [evaluate(shared, positions, (7, 7)) for _ in range(20) for positions in batches]

    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(evaluate_often, range(2)):
            for evaluation, right in zip(found, expected * 20, strict=True):
                for field, other in zip(evaluation, right, strict=True):
                    np.testing.assert_allclose(field, other, atol=1e-3)


def test_games_on_boards_of_three_sizes_keep_their_evaluations(path: Path) -> None:
    model, evaluator = counted(path)
    rows = {size: random_rows(2, size)[0] for size in (3, 5, 7, 9)}

    def evaluated(size: int) -> int:
        """Return how many positions the network is given for two rows of a board."""
        before = model.rows
        evaluate(evaluator, rows[size], (size, size))
        return model.rows - before

    assert [evaluated(size) for size in (3, 5, 7, 3, 5, 7)] == [2, 2, 2, 0, 0, 0]
    assert evaluated(3) == 0
    assert [evaluated(size) for size in (9, 3, 5)] == [2, 0, 2], "5x5, unused for longest, made room for 9x9"


def test_only_missing_rows_are_evaluated(path: Path) -> None:
    positions, _ = random_rows(7, 7)
    evaluator = evaluator_of(path, replace(PLAIN, cache_positions=100))
    expected = evaluate(evaluator_of(path), positions, (7, 7))
    some = Positions(*(field[[1, 4, 5]] for field in positions))
    evaluate(evaluator, some, (7, 7))
    found = evaluate(evaluator, positions, (7, 7))
    for name in Evaluation._fields:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-4), name


def test_the_fingerprint_is_that_of_files_precision_and_options(path: Path, tmp_path: Path) -> None:
    tiny_networks.v7_network(tmp_path / "same.onnx")
    tiny_networks.v7_network(tmp_path / "other.onnx", seed=2)
    same, other = evaluator_of(tmp_path / "same.onnx").info, evaluator_of(tmp_path / "other.onnx").info
    known = evaluator_of(path).info.fingerprint
    assert same.fingerprint == known
    assert other.name == same.name and other.fingerprint != known
    assert evaluator_of(path, replace(PLAIN, symmetry="all")).info.fingerprint != known
    assert evaluator_of(path, replace(PLAIN, cache_positions=10)).info.fingerprint == known
    halved = model(path)
    halved.precision = "bfloat16"
    assert NetworkEvaluator(halved, halved, config=PLAIN).info.fingerprint != known


# --- Networks for one purpose each


def alphago(tmp_path: Path, config: NetworkConfig = PLAIN) -> NetworkEvaluator:
    policy = model(tiny_networks.alphago_policy(tmp_path / "policy.onnx", **{"pass": "none"}))
    value = model(tiny_networks.alphago_value(tmp_path / "value.onnx", name="value", **{"pass": "none"}))
    rollout = tiny_networks.alphago_policy(tmp_path / "rollout.onnx", seed=5, kind="rollout", name="fast")
    return NetworkEvaluator(policy, value, rollout=model(rollout), config=config)


def test_separate_networks_make_one_evaluator(tmp_path: Path) -> None:
    evaluator = alphago(tmp_path)
    positions, games = random_rows(4, 9)
    out = evaluate(evaluator, positions, (9, 9))
    info = evaluator.info
    assert (info.name, info.has_score, info.has_ownership) == ("tiny + value + fast", False, False)
    assert info.has_rollout_policy and info.rollout_weights is None
    assert out.win_black + out.loss_black == pytest.approx(1)
    assert not out.score_black.any() and not out.ownership_black.any()
    assert (out.time_left == -1).all() and (out.score_error == -1).all()
    assert out.policy.sum(axis=1) == pytest.approx(1, abs=1e-5)
    for row, game in enumerate(games):
        assert set(np.flatnonzero(out.policy[row])) == {PASS, *game.legal_points()}


def test_a_value_network_may_have_an_ownership_output(tmp_path: Path) -> None:
    """Value and points are Black's with either side to move, and in every orientation at their place."""
    path = tiny_networks.alphago_value(tmp_path / "value.onnx", ownership="1", **{"pass": "none"})
    policy = model(tiny_networks.alphago_policy(tmp_path / "policy.onnx", **{"pass": "none"}))
    evaluator = NetworkEvaluator(policy, model(path), config=PLAIN)
    assert evaluator.info.has_ownership and not evaluator.info.has_score
    positions, _ = random_rows(6, 9)
    points = np.array(list(board_points(9, 9)))
    for symmetry in range(8):
        out = evaluate(evaluator, positions, (9, 9), symmetry=symmetry)
        turned = np.full(6, symmetry, dtype=np.int32)
        raw = evaluator.raw_outputs(evaluator.models[1], positions, np.arange(6, dtype=np.int32), turned)
        assert raw.ownership is not None
        sign = np.where(positions.to_play == BLACK, 1, -1)
        wanted = sign[:, None] * np.tanh(raw.ownership[:, cell_table(9, 9)[symmetry, points]])
        assert out.ownership_black[:, points] == pytest.approx(wanted, abs=TOLERANCE)
        assert raw.value is not None
        assert out.win_black - out.loss_black == pytest.approx(sign * raw.value[:, 0], abs=TOLERANCE)
        everywhere, on_board = np.abs(out.ownership_black).sum(), np.abs(wanted).sum()
        assert everywhere == pytest.approx(on_board, abs=1e-3), "there is nothing off the board"


def test_a_network_that_cannot_pass_gets_a_pass_prior(tmp_path: Path) -> None:
    positions, _ = random_rows(2, 9)
    evaluator = alphago(tmp_path, replace(PLAIN, pass_prior=0.25))
    assert evaluate(evaluator, positions, (9, 9)).policy[:, PASS] == pytest.approx(0.25, abs=1e-5)


def test_passing_has_probability_1_where_no_move_is_legal(tmp_path: Path) -> None:
    game = Game(2, 2, Rules.parse("chinese"))
    game.play("A1", BLACK)
    game.play("B2", BLACK)
    positions = new_positions(1, 2, 2)
    write_game(positions, 0, game, 2)
    out = evaluate(alphago(tmp_path), positions, (2, 2))
    assert out.policy[0, PASS] == pytest.approx(1)


def test_the_rollout_network_has_a_policy_of_its_own(tmp_path: Path) -> None:
    evaluator = alphago(tmp_path)
    positions, _ = random_rows(3, 9)
    policy = np.full_like(evaluate(evaluator, positions, (9, 9)).policy, 5)
    evaluator.write_rollout_policy(positions, 3, policy)
    assert policy.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert not np.allclose(policy, evaluate(evaluator, positions, (9, 9)).policy)


# --- What goes wrong


def test_wrong_planes_are_reported(tmp_path: Path) -> None:
    odd = tiny_networks.alphago_policy(tmp_path / "odd.onnx", encoder="alphago-49")
    with pytest.raises(ModelError, match=r"'odd.onnx' takes 48 planes and 0 global values: expected 49 and 0"):
        evaluator_of(odd)


def test_nan_and_infinity_are_reported(tmp_path: Path) -> None:
    huge = tiny_networks.v7_network(tmp_path / "huge.onnx", scale=1e30)
    positions, _ = random_rows(1, 5)
    with pytest.raises(ModelError, match=r"returned NaN or infinity; set network\.precision to float32"):
        evaluate(evaluator_of(huge), positions, (5, 5))


N = padded_length(5, 5)


def random_evaluation(rows: int, seed: int = 0) -> Evaluation:
    random = np.random.default_rng(seed)
    out = new_evaluation(rows, 5, 5)
    for field in out:
        field[...] = random.standard_normal(field.shape)
    out.policy[...] = random.dirichlet(np.full(N, 0.05), size=rows)
    out.policy[:, :10] = 0
    out.ownership_black[...] = np.tanh(out.ownership_black)
    return out


def look_up(cache: Cache, keys: list[int]) -> tuple[Evaluation, list[int]]:
    """Return what is found, and the rows that are missing."""
    out, missing = new_evaluation(len(keys), 5, 5), np.zeros(len(keys), dtype=np.int32)
    count = find(cache, np.array(keys, dtype=np.uint64), len(keys), out, missing)
    return out, missing[:count].tolist()


def store_rows(cache: Cache, keys: list[int], evaluation: Evaluation) -> None:
    store(cache, np.array(keys, dtype=np.uint64), np.arange(len(keys), dtype=np.int32), evaluation)


def test_evaluations_are_found_as_they_were_stored() -> None:
    cache, evaluation = new_cache(64, N), random_evaluation(3)
    before = [field.copy() for field in evaluation]
    store_rows(cache, [1, 2, 0], evaluation)
    found, missing = look_up(cache, [0, 3, 1])
    assert missing == [1]
    for field, left, old in zip(found, evaluation, before, strict=True):
        assert np.array_equal(field[0], left[2])
        assert np.array_equal(field[2], left[0])
        assert left == pytest.approx(old, abs=2e-5)
    assert np.array_equal(evaluation.policy > 0, before[0] > 0), "rounding makes no move illegal"


def test_the_least_recently_used_entry_is_replaced() -> None:
    cache = new_cache(WAYS, N)  # so that all keys share their places
    keys = list(range(1, WAYS + 1))
    for key in keys:
        store_rows(cache, [key], random_evaluation(1, key))
    assert look_up(cache, keys)[1] == []
    look_up(cache, [1])
    for key in keys[2:]:
        look_up(cache, [key])
    store_rows(cache, [100], random_evaluation(1))
    assert look_up(cache, [*keys, 100])[1] == [1]


def test_evaluations_fill_the_memory_in_the_order_of_their_arrival() -> None:
    cache = new_cache(1000, N)
    store_rows(cache, [70, 3, 500], random_evaluation(3))
    store_rows(cache, [3, 41], random_evaluation(2))
    assert np.flatnonzero(cache.policy.any(axis=1)).tolist() == [0, 1, 2, 3]
    assert look_up(cache, [70, 3, 500, 41])[1] == [] and np.count_nonzero(cache.key) == 4


def test_a_half_full_table_keeps_nearly_all_entries() -> None:
    cache = new_cache(1000, N)
    keys = np.random.default_rng(0).integers(2**64, size=500, dtype=np.uint64)
    evaluation = random_evaluation(1)
    for key in keys:
        store_rows(cache, [int(key)], evaluation)
    assert len(look_up(cache, keys.tolist())[1]) <= 5


# --- Positions of games that differ in rules, komi and profile: evaluated in one call, with the same results as alone


PROFILES = ("rank_9d", "rank_15k")


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
        write_game(positions, row, game, conditions=conditions_of(game)._replace(human_profile=profile))
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
    path = tiny_networks.v7_network(tmp_path / "tiny.onnx", misc=6, model_version="14")
    evaluator = evaluator_of(path, NetworkConfig(cache_positions=cached))
    games = random_games(*size)
    assert len({conditions_of(game).superko for game in games}) == 3
    check_together(evaluator, rows_of(games), len(games), size)


def test_a_human_like_network_evaluates_three_rule_sets_two_komi_and_two_profiles_at_once(tmp_path: Path) -> None:
    from gtp_engine.nn.onnx_export.convert import convert_file

    path = tmp_path / "human.onnx"
    convert_file(shared_file("human-sl-reference/hum-b3c24nbt-mish.bin.gz"), path)
    config = NetworkConfig(model=str(path), provider="cpu", precision="float32")
    evaluator = load_evaluator(config, log=lambda text: None, board=(9, 9))
    conditions = product(("chinese", "japanese", "tromp-taylor"), (0.5, 7.5), PROFILES)
    games = [play(Game(9, 9, rules, komi), "E5", "C3", "G6", "D7", "F3") for rules, komi, _ in conditions]
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
    searching = evaluator_of(path, NetworkConfig())
    searching.evaluate(Request(positions, 1, expected, EvaluationOptions(ALL_SYMMETRIES)))
    for name, array, wanted in zip(Evaluation._fields, found, expected, strict=True):
        np.testing.assert_allclose(array, wanted, atol=1e-4, err_msg=name)
    searching.evaluate(Request(positions, 1, expected, EvaluationOptions(ALL_SYMMETRIES, optimism=1.0)))
    np.testing.assert_allclose(optimistic[0], expected.policy[0], atol=1e-4)
    assert np.isnan(optimistic[1:]).all(), "only the rows that were asked for"
    assert not np.allclose(optimistic[0], found.policy[0], atol=1e-3)


@pytest.mark.parametrize("policies", [1, 2])
def test_the_optimistic_policy_is_written_for_positions_in_the_cache_and_zeros_without(
    tmp_path: Path, policies: int
) -> None:
    evaluator = evaluator_of(tiny_networks.v7_network(tmp_path / "tiny.onnx", policies=policies), NetworkConfig())
    request = Request(rows_of([Game(5)]), 1, new_evaluation(3, 5, 5))
    for _ in range(2):
        optimistic = np.full_like(request.out.policy, np.nan)
        evaluator.evaluate(request._replace(optimistic=optimistic))
        assert optimistic[0].sum() == pytest.approx(policies - 1.0, abs=1e-4)


def test_networks_without_score_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="expected policy\\+value and katago-v7"):
        uncached_evaluator(model(tiny_networks.alphago_policy(tmp_path / "policy.onnx")))
