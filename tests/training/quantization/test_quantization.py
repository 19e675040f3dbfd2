"""Quantizing: which layers, how their numbers are rounded, the graphs that come out, the file, the command."""

import json
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from fake_evaluators import UniformEvaluator
from katago_inputs import row_of
from networks.katago_records import game_of
from nn import tiny_networks
from nn.katago_files import NetworkFile
from shared_files import reference_records, shared_file

from gtp_engine.base.errors import TengenError
from gtp_engine.base.machine import describe_machine
from gtp_engine.cli.models_command import quantize_command
from gtp_engine.config.sections import QuantizeSettings
from gtp_engine.evaluation.evaluator_info import ANY_BOARD, BoardSizes
from gtp_engine.evaluation.positions import Positions
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.katago_format.parser import parse_network
from gtp_engine.nn.metadata import info_of, read_properties
from gtp_engine.nn.onnx_export.build import build_model
from gtp_engine.nn.onnx_export.convert import info_of_network
from gtp_engine.nn.onnx_model import RawOutputs, new_session
from gtp_engine.nn.providers import PROVIDERS, Runtime
from gtp_engine.nn.quantized_copy import UnfinishedCopy, is_made_from, read_quality
from gtp_engine.training.quantization import quantize_file
from gtp_engine.training.quantization.calibration import PER_GAME, boards_of, encode_sample, play_examples, sample_games
from gtp_engine.training.quantization.quantized_graph import (
    LARGEST_WEIGHT,
    PRODUCT,
    Layer,
    Range,
    layers_of,
    measure_ranges,
    quantized_model,
    round_weights,
    scale_input,
)
from gtp_engine.training.quantization.sensitivity import (
    Difference,
    Sensitivity,
    choose_exact,
    difference,
    measure_sensitivities,
    sample_outputs,
    speeds,
)

CPU = Runtime(PROVIDERS["cpu"], "float32")
SIZE = 5


def nothing(*_: object) -> None:
    pass


def random_examples(count: int = 8, *, size: int = SIZE, seed: int = 1) -> Inputs:
    random = np.random.default_rng(seed)
    spatial = (random.random((count, tiny_networks.PLANES, size, size)) < 0.3).astype(np.float32)
    globals_ = random.standard_normal((count, tiny_networks.GLOBALS)).astype(np.float32)
    return Inputs(spatial, globals_)


def join_rows(rows: list[Positions]) -> Positions:
    return Positions(*(np.concatenate(arrays) for arrays in zip(*rows, strict=True)))


def run(model: onnx.ModelProto, part: Inputs) -> list[Any]:
    height, width = part.spatial.shape[2:]
    session = new_session(model.SerializeToString(), CPU, {"height": height, "width": width})
    found = session.run({"spatial": part.spatial, "globals": part.globals_})
    return [found[name] for name in ("policy", "value", "ownership")]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks")
    return tiny_networks.v7_network(folder / "tiny.onnx", blocks=2, sizes=f"{SIZE}x{SIZE}")


def imported(*blocks: Any, version: int = 16, **changes: Any) -> onnx.ModelProto:
    network = parse_network(NetworkFile(version, blocks, **changes).bytes())
    return build_model(network, info_of_network(network, origin="test", terms="MIT", sha256=""))


AMX_IS_WRONG = pytest.mark.skipif(
    "amx_int8" in (describe_machine()["simd"] or ()),
    reason="ONNX Runtime up to 1.24 gets 8-bit products of 24 columns wrong with AMX (its pull request 27671)",
)


@pytest.fixture(
    scope="module",
    params=[
        ("ordinary", "gpool", ("ordinary", "ordinary")),
        pytest.param(("ordinary", "attention", "ffn"), marks=AMX_IS_WRONG),
    ],
)
def model(request: pytest.FixtureRequest) -> onnx.ModelProto:
    return imported(*request.param)


# --- Which layers


def test_the_trunk_is_quantized_but_not_the_first_convolution_and_the_heads(path: Path) -> None:
    layers = layers_of(model := onnx.load(path))
    assert [weights.shape for layer in layers for weights in layer.weights.values()] == [(8, 8, 9)] * 4
    assert all(layer.channel_axis == 1 and layer.work == 8 * 8 * 9 for layer in layers)
    next(node for node in model.graph.node if layers[0].source in node.input).input[2:] = ["computed bias"]
    assert [layer.source for layer in layers_of(model)] == [layer.source for layer in layers[1:]]


def test_convolutions_of_one_tensor_are_one_layer() -> None:
    layers = layers_of(imported("gpool"))
    assert [len(layer.weights) for layer in layers] == [2, 1], "the pooled and the other convolution share an input"


def test_products_of_transformers_are_layers() -> None:
    model = imported("attention", "ffn")
    products = {node.output[0]: node.input[1] for node in model.graph.node if node.op_type == PRODUCT}
    shapes = {entry.name: tuple(entry.dims) for entry in model.graph.initializer}
    layers = layers_of(model)
    assert {layer.channel_axis for layer in layers} == {-1}
    for name, weights in (each for layer in layers for each in layer.weights.items()):
        inputs, outputs = shapes[products[name]]
        assert weights.shape == (outputs, inputs, 1)


# --- Ranges and rounding


def test_what_is_calculated_from_a_profile_of_players_stays_exact() -> None:
    """A few numbers for each position: OpenVINO could not load their products in 8 bits, which gain nothing."""
    of_people, plain = (layers_of(imported("gpool", version=15, human=human)) for human in (1, 0))
    assert len(of_people) == len(plain) > 1


def test_a_network_that_imitates_people_is_calibrated_with_all_ranks() -> None:
    network = parse_network(NetworkFile(15, human=1).bytes())
    info = info_of_network(network, origin="", terms="", sha256="")
    rng = np.random.default_rng(1)
    sample, _ = sample_games(UniformEvaluator(), (SIZE, SIZE), games=8, rng=rng)
    inputs = encode_sample(sample, info, rng)
    assert inputs.spatial.shape == (8 * PER_GAME, tiny_networks.PLANES, SIZE, SIZE)
    assert (inputs.spatial[:, 0] == 1).all() and (inputs.globals_[:, 5] != 0).any(), "the board, and komi"
    ranks = inputs.globals_[:, 19 + 6 : 19 + 40].sum(axis=1)
    assert len(set(ranks.tolist())) > 15 and ranks.min() >= 1 and ranks.max() <= 29


def test_ranges_are_those_of_the_channels(path: Path) -> None:
    original, examples = onnx.load(path), [random_examples(11), random_examples(3, size=7)]
    layers = layers_of(original)
    ranges = measure_ranges(original, layers, examples, CPU, nothing)
    watched = onnx.ModelProto()
    watched.CopyFrom(original)
    source = layers[1].source
    watched.graph.output.append(onnx.helper.make_empty_tensor_value_info(source))
    values = []
    for part in examples:
        height, width = part.spatial.shape[2:]
        session = new_session(watched.SerializeToString(), CPU, {"height": height, "width": width})
        found = session.run({"spatial": part.spatial, "globals": part.globals_})[source]
        values.append(found.transpose(1, 0, 2, 3).reshape(8, -1))
    joined = np.concatenate(values, axis=1)
    np.testing.assert_allclose(ranges[source].low, joined.min(1), atol=1e-5)
    np.testing.assert_allclose(ranges[source].high, joined.max(1), atol=1e-5)
    np.testing.assert_allclose(ranges[source].mean, joined.mean(1), atol=1e-5)


def a_range(low: list[float], high: list[float]) -> Range:
    lows, highs = np.array(low, dtype=np.float32), np.array(high, dtype=np.float32)
    return Range(lows, highs, (lows + highs) / 2)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ([0, 0, 0], [1, 10, 100]),
        ([-0.3, -0.3, -0.3], [0.1, 5, 40]),
        ([-9, -1, 0], [-3, 0, 0]),
        ([0, 0, 0], [0, 0, 0]),
        ([2, 3, 4], [5, 6, 7]),
    ],
)
def test_everything_seen_is_rounded_to_the_nearest_step_and_zero_exactly(low: list[float], high: list[float]) -> None:
    seen = a_range(low, high)
    scale = scale_input(seen)
    assert 0 <= scale.zero <= 255
    for values in (seen.low, seen.high, seen.mean, np.zeros(3, dtype=np.float32)):
        steps = np.clip(np.rint(values * scale.factors / scale.step) + scale.zero, 0, 255) - scale.zero
        error = np.abs(steps * scale.step / scale.factors - values)
        assert (error <= 1.01 * scale.step / scale.factors).all()  # the ends lie half a step off, as zero is a step
    assert (np.zeros(3) * scale.factors / scale.step == 0).all()


def test_weights_are_rounded_to_the_nearest_step_of_their_channels_and_the_bias_restores_the_mean_result() -> None:
    seen = a_range([0, 0, 0], [1, 10, 100])
    scale = scale_input(seen)
    steps = scale.step / scale.factors
    np.testing.assert_allclose(steps / steps[2], [0.1, np.sqrt(0.1), 1], rtol=0.5)
    assert steps[2] == pytest.approx(100 / 255), "small channels have finer steps, the largest none the coarser ones"
    weights = np.random.default_rng(1).standard_normal((4, 3, 9)).astype(np.float32)
    weights[3] = 0
    rounded = round_weights(weights, scale, seen.mean)
    steps = rounded.steps[:, None, None] * scale.factors[:, None]
    assert np.isfinite(steps).all() and not rounded.values[3].any(), "weights that are all zero stay so"
    assert (np.abs(rounded.values * steps - weights) <= 0.5001 * steps).all()
    assert (np.abs(rounded.values[:3].astype(int)).max(axis=(1, 2)) == LARGEST_WEIGHT).all(), "the grid is used up"
    restored = (rounded.values * steps).sum(2) @ seen.mean + rounded.bias
    np.testing.assert_allclose(restored, weights.sum(2) @ seen.mean, rtol=1e-4, atol=1e-6)


# --- Graphs


def prepared(model: onnx.ModelProto) -> tuple[list[Layer], dict[str, Range], Inputs]:
    part, layers = random_examples(), layers_of(model)
    return layers, measure_ranges(model, layers, [part], CPU, nothing), part


def test_a_quantized_network_says_nearly_the_same(model: onnx.ModelProto) -> None:
    before = model.SerializeToString()
    layers, ranges, part = prepared(model)
    quantized = quantized_model(model, layers, ranges)
    assert model.SerializeToString() == before, "the original is not changed"
    onnx.checker.check_model(quantized)
    for found, expected in zip(run(quantized, part), run(model, part), strict=True):
        spread = np.std(expected)
        assert 0 < np.abs(found - expected).max() < 0.15 * spread
    small = [entry for entry in quantized.graph.initializer if entry.data_type == onnx.TensorProto.INT8]
    sizes = {int(np.prod(entry.dims)) for entry in small}
    assert {weights.size for layer in layers for weights in layer.weights.values()} <= sizes, "weights are bytes"
    used = {name for node in quantized.graph.node for name in node.input}
    assert {entry.name for entry in quantized.graph.initializer} <= used, "the old weights are gone"


def test_a_matrix_product_keeps_its_mean_result() -> None:
    """Like a convolution.  The inputs are on the grid, so that only the weights are rounded."""
    random = np.random.default_rng(1)
    values = random.integers(0, 256, (64, 16)).astype(np.float32)
    values[0], values[1] = 0, 255
    weights = random.standard_normal((16, 8)).astype(np.float32)
    nodes = [
        onnx.helper.make_node("Split", ["inputs"], ["other", "source"], axis=1),
        onnx.helper.make_node("MatMul", ["source", "weights"], ["result"]),
    ]
    shapes = {name: [None, size] for name, size in (("inputs", 32), ("result", 8))}
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    graph = onnx.helper.make_graph(
        nodes, "product", ends[:1], ends[1:], [onnx.numpy_helper.from_array(weights, "weights")]
    )
    original = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    ranges = {"source": Range(values.min(0), values.max(0), values.mean(0))}
    quantized = quantized_model(original, layers_of(original), ranges)
    found = new_session(quantized.SerializeToString(), CPU, {}).run({"inputs": np.tile(values, 2)})["result"]
    errors = found - values @ weights
    assert np.abs(errors).max() > 1
    np.testing.assert_allclose(errors.mean(0), 0, atol=0.01)


def test_layers_can_be_left_out(model: onnx.ModelProto) -> None:
    layers, ranges, part = prepared(model)
    untouched = quantized_model(model, layers, ranges, {layer.source for layer in layers})
    assert not any(node.op_type == "QuantizeLinear" for node in untouched.graph.node)
    for found, expected in zip(run(untouched, part), run(model, part), strict=True):
        np.testing.assert_array_equal(found, expected)
    all_but_one = quantized_model(model, layers, ranges, {layers[0].source})
    rounding = [node for node in all_but_one.graph.node if node.op_type == "QuantizeLinear"]
    assert len(rounding) == len(layers) - 1


def test_a_real_network_hardly_changes() -> None:
    """On positions of real games, those of the reference, b6c96 keeps to what quantizing is to cost at most."""
    network = parse_network(shared_file("nets/g170-b6c96-s175395328-d26788732.bin.gz").read_bytes())
    info = info_of_network(network, origin="test", terms="MIT", sha256="")
    original = build_model(network, info)
    games = [game_of(record) for record in reference_records() if record["size"] == [19, 19]]
    part = encode_sample(join_rows([row_of(game) for game in games]), info, np.random.default_rng(1))
    halves = [Inputs(part.spatial[first::2], part.globals_[first::2]) for first in (0, 1)]
    layers = layers_of(original)
    quantized = quantized_model(original, layers, measure_ranges(original, layers, halves[:1], CPU, nothing))
    policy_and_value = [RawOutputs(*run(model, halves[1])[:2], None, None) for model in (original, quantized)]
    found = difference(policy_and_value[:1], policy_and_value[1:])
    assert len(layers) == 12 and 1e-5 < found.policy_kl < 0.01
    assert found.same_first_move >= 0.9 and found.winrate_error < 0.012, "of 20 positions"


# --- Sensitivity


def test_each_layer_is_measured(path: Path) -> None:
    original = onnx.load(path)
    layers, ranges, part = prepared(original)
    steps: list[tuple[int, int]] = []

    def outputs_of(left_out: set[str]) -> list[RawOutputs]:
        return sample_outputs(quantized_model(original, layers, ranges, left_out), [part], CPU)

    reference = sample_outputs(original, [part], CPU)
    found = measure_sensitivities(layers, reference, outputs_of, lambda *step: steps.append(step))
    assert [entry.layer for entry in found] == layers
    assert all(0 < entry.difference.policy_kl < 0.01 for entry in found)
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def costing(name: str, kl: float, size: int, *, winrate: float = 0.0) -> Sensitivity:
    layer = Layer(name, 1, {name: np.zeros((size, 1, 1), dtype=np.float32)})
    return Sensitivity(layer, Difference(kl, 1.0, winrate, 8))


def test_layers_that_cost_far_more_than_their_share_stay_exact() -> None:
    usual = [costing(f"usual{number}", 0.00005, 10) for number in range(16)]
    bad, worst = costing("bad", 0.0003, 10), costing("worst", 0.0005, 5)
    assert choose_exact([*usual, bad, worst], 0.1) == {"bad", "worst"}
    assert choose_exact([*usual, bad, worst], 0.05) == {"worst"}, "no more than their share of the work"
    assert choose_exact([*usual, bad, worst], 0.0) == set()
    assert choose_exact(usual, 0.5) == set()
    bad = [costing(f"bad{number}", 0.0005, 10) for number in range(3)]
    assert len(choose_exact([*usual, *bad], 0.5)) == 1, "a tenth of the work at most"
    assert choose_exact([costing("exact", 0.0, 1)], 0.5) == set()
    misleading = costing("misleading", 0.00005, 10, winrate=0.01)
    assert choose_exact([*usual, misleading], 0.1) == {"misleading"}, "its policy is like that of the others"


def test_more_layers_of_an_inaccurate_network_stay_exact() -> None:
    layers = [costing(f"layer{number}", 0.00011 * number, 10) for number in range(10)]  # 0.00495 in all
    assert choose_exact(layers, 1.0) == {f"layer{number}" for number in range(4, 10)}, "0.00066 is left"
    assert choose_exact(layers, 0.2) == {"layer9", "layer8"}
    assert choose_exact(layers[:9], 1.0) == set(), "0.00396 in all is accurate enough"


# --- Comparison


def outputs(policy: list[list[float]], value: list[list[float]]) -> RawOutputs:
    return RawOutputs(np.log(np.array(policy, np.float32))[:, None], np.log(np.array(value, np.float32)), None, None)


def test_differences_are_averages_over_all_positions() -> None:
    first = [outputs([[0.5, 0.5]], [[0.6, 0.2, 0.2]]), outputs([[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9, 1e-9]] * 2)]
    second = [outputs([[0.25, 0.75]], [[0.5, 0.4, 0.1]]), outputs([[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9, 1e-9]] * 2)]
    found = difference(first, second)
    assert found.positions == 3
    assert found.policy_kl == pytest.approx((0.5 * np.log(2) + 0.5 * np.log(2 / 3)) / 3, abs=1e-6)
    assert found.same_first_move == pytest.approx(2 / 3)
    assert found.winrate_error == pytest.approx((0.7 - 0.55) / 3, abs=1e-6)


# --- Inputs for calibration


def test_no_game_serves_both_calibration_and_validation(path: Path) -> None:
    assert boards_of(ANY_BOARD) == {(19, 19): 0.5, (13, 13): 0.25, (9, 9): 0.25}
    assert boards_of(BoardSizes((2, 13), (2, 13))) == {(13, 13): 0.5, (9, 9): 0.5}
    assert boards_of(BoardSizes((7, 7), (5, 5))) == {(7, 5): 1.0}
    info = info_of(read_properties(path))
    seen: list[tuple[int, int]] = []
    calibration, held_out = play_examples(
        UniformEvaluator(), info, positions=96, seed=1, progress=lambda ended, games: seen.append((ended, games))
    )
    assert seen == sorted(seen) and seen[-1] == (seen[0][1], seen[0][1]), "one count of all games on all boards"
    assert [part.spatial.shape[2:] for part in calibration] == [(SIZE, SIZE)]
    assert (len(calibration[0].spatial), len(held_out[0].spatial)) == (64, 32)


# --- The file and the command

QUICK = QuantizeSettings(positions=48, provider="cpu", threads=1, good_enough=0.0)


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.training.quantization.sensitivity.ROUND_SECONDS", 0.01)


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("simd", [["avx2"], ["avx2", "avx_vnni"]])
def test_a_file_is_quantized(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simd: list[str]) -> None:
    for module in ("training.quantization.quantize", "nn.onnx_model"):
        monkeypatch.setattr(f"gtp_engine.{module}.describe_machine", lambda: {"simd": simd})
    target = tmp_path / "small.onnx"
    played: list[list[Inputs]] = []

    def recorded(*arguments: Any, **options: Any) -> tuple[list[Inputs], list[Inputs]]:
        calibration, held_out = play_examples(*arguments, **options)
        played.append(calibration)
        return calibration, held_out

    monkeypatch.setattr("gtp_engine.training.quantization.quantize.play_examples", recorded)
    result = quantize_file(path, target, QUICK, progress=nothing)
    assert [file.name for file in tmp_path.iterdir()] == ["small.onnx"]
    before, after = read_properties(path), read_properties(target)
    assert info_of(after).precision == "int8"
    assert {key: after[key] for key in before if key != "tengen.precision"} == {
        key: text for key, text in before.items() if key != "tengen.precision"
    }
    note = json.loads(after["tengen.quantization"])
    positions = sum(len(part.spatial) for part in played[0])
    assert (note["positions"], note["seed"], note["layers"], note["layers_in_float"]) == (positions, 1, 4, [])
    assert (len(result.sensitivities), result.exact) == (4, frozenset())
    ((has_vnni, comparison),) = read_quality(target).items()
    assert has_vnni == ("avx_vnni" in simd)
    found = result.differences["int8"]
    assert (comparison.policy_kl, comparison.winrate_error) == (found.policy_kl, found.winrate_error)
    assert comparison.policy_kl < 0.01 and comparison.speeds.keys() == result.speeds.keys() == {"float32", "int8"}
    assert is_made_from(target, path)


def test_speeds_are_in_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(perf_counter=count(0, 0.25).__next__)
    monkeypatch.setattr("gtp_engine.training.quantization.sensitivity.time", clock)
    model, examples = SimpleNamespace(batch=4, run=lambda *inputs: None), Inputs(np.zeros((3, 1)), np.zeros((3, 1)))
    assert speeds({"net": cast(Any, model)}, examples) == {"net": 2 * 4 / 0.75}, "of two calls"


@pytest.mark.usefixtures("no_waiting")
def test_layers_are_not_measured_where_the_whole_is_good_enough(path: Path, tmp_path: Path) -> None:
    shares: list[float] = []
    quick = replace(QUICK, good_enough=0.01, good_enough_winrate=0.01)
    result = quantize_file(path, tmp_path / "a.onnx", quick, progress=lambda share, text: shares.append(share))
    assert (result.sensitivities, result.exact) == ((), frozenset())
    assert json.loads(read_properties(tmp_path / "a.onnx")["tengen.quantization"])["layers"] == 4
    assert (np.diff(shares) > -1e-9).all(), "progress never goes back"
    assert (shares[0], shares[-1]) == (0, pytest.approx(1))


@pytest.mark.usefixtures("no_waiting")
def test_a_quantization_that_was_stopped_goes_on(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`models get`, called again, began at 0%."""
    names = ("calibration.sample_games", "quantize.measure_ranges", "sensitivity.difference")
    done = {name: Mock(wraps=resolve_name(f"gtp_engine.training.quantization.{name}")) for name in names}
    for name, work in done.items():
        monkeypatch.setattr(f"gtp_engine.training.quantization.{name}", work)

    def interrupt(stop: str, share: float, text: str) -> None:
        if stop in text:
            raise KeyboardInterrupt

    def weights(target: Path) -> list[bytes]:
        return [entry.SerializeToString() for entry in onnx.load(target).graph.initializer]

    settings = replace(QUICK, positions=72)
    quantize_file(path, tmp_path / "whole.onnx", settings, progress=nothing)
    whole, copy = sum(work.call_count for work in done.values()), tmp_path / "stopped.onnx"
    for stop in ("playing games: 4 of", "measuring the ranges of values: 16", "each layer: 2 of 4"):
        for work in done.values():
            work.reset_mock()
        with pytest.raises(KeyboardInterrupt):
            quantize_file(path, copy, settings, progress=partial(interrupt, stop))
        assert not copy.exists() and UnfinishedCopy(copy).progress
        quantize_file(path, copy, settings, progress=nothing)
        assert (
            sum(work.call_count for work in done.values()) <= whole + 2
        )  # the step that was stopped, and the comparison of the whole
        assert weights(copy) == weights(tmp_path / "whole.onnx")
        copy.unlink()
        assert [file.name for file in tmp_path.iterdir()] == ["whole.onnx"]


def test_what_was_kept_for_another_network_is_dropped(tmp_path: Path) -> None:
    copy = UnfinishedCopy(tmp_path / "net-int8.onnx")
    made: list[str] = []

    def make(key: str, *, stops: bool) -> int:
        def compute() -> dict[str, Any]:
            made.append(key)
            return {"x": np.array([len(made)])}

        with copy.making(key) as keep:
            found = int(keep("part", compute)["x"][0])
            if stops:
                raise KeyboardInterrupt
        return found

    for key in ("a", "a", "b"):
        with pytest.raises(KeyboardInterrupt):
            make(key, stops=True)
    assert made == ["a", "b"]
    (copy.folder / "part.npz").write_bytes(b"damaged")
    assert make("b", stops=False) == 3 and not copy.folder.exists()


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize(
    ("changes", "target", "message"),
    [
        ({"precision": "int8"}, "out.onnx", "already in int8: expected one in float32"),
        ({"kind": "policy"}, "out.onnx", "is for policy, with inputs katago-v7: expected one for policy and value"),
        ({"blocks": 0, "sizes": "5x5"}, "out.onnx", "no layer that could be quantized"),
        ({}, "none/out.onnx", "cannot write .*: No such file"),
        ({}, "./net.onnx", r"cannot write .*net\.onnx': this command reads it; name another file"),
    ],
)
def test_what_cannot_be_quantized_is_refused(tmp_path: Path, changes: Any, target: str, message: str) -> None:
    source = tiny_networks.v7_network(tmp_path / "net.onnx", **changes)
    before = source.read_bytes()
    with pytest.raises(TengenError, match=message):
        quantize_file(source, tmp_path / target, QUICK, progress=nothing)
    assert source.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["net.onnx"]


@pytest.mark.usefixtures("no_waiting")
def test_the_command_prints_what_it_made(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    flags = ["--positions", "48", "--provider", "cpu", "--threads", "1", "--verbose"]
    result = CliRunner().invoke(quantize_command, [str(path), "-o", str(target), *flags])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["input", "of", "layer", "work", "policy", "KL", "winrate", "error"]
    assert "25.0%" in lines[1]
    written = next(number for number, line in enumerate(lines) if line.startswith(f"Written: {target}"))
    assert {line.split()[0] for line in lines[written - 3 : written - 1]} == {"float32", "int8"}
    (comparison,) = read_quality(target).values()
    expected = [] if comparison.objection("float32") == "" else ["It will not be used by default"]
    assert [line[:30] for line in lines[written + 1 :]] == expected
