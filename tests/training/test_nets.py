"""Torch modules compute what the graphs of the same networks do, and return their descriptions."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from nn.katago_files import NetworkFile
from shared_files import shared_file
from training.needs_torch import torch
from training.toy import TINY, exported, random_positions, run, tiny_config, tiny_module

from gtp_engine.base.errors import ConfigError, ModelError
from gtp_engine.nn.katago_format.description import GlobalPoolingBlock, Network
from gtp_engine.nn.katago_format.parser import load_network, parse_network
from gtp_engine.nn.onnx_export.build import build_model
from gtp_engine.nn.onnx_export.convert import info_of_network
from gtp_engine.training.distillation.run import DistillationRun, first_module
from gtp_engine.training.distillation.shards import facts_of
from gtp_engine.training.nets.architecture import architecture_of, empty_network, network_of, read_onnx
from gtp_engine.training.nets.layers import NormLayer
from gtp_engine.training.nets.network_module import NetworkModule, unfold_norms
from gtp_engine.training.nets.new import Shape, new_network

TOLERANCE = 1e-4
"""Of float32, as a share of the largest output, or of 1."""


def assert_like_graph(network: Network, width: int, height: int) -> None:
    model = build_model(network, info_of_network(network, origin="test", terms="", sha256=""))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    spatial, globals_ = random_positions(width, height, 3, seed=1)
    found = run(NetworkModule(network).eval(), width, height)
    for name, answer in zip(found._fields, found, strict=True):
        (expected,) = session.run([name], {"spatial": spatial, "globals": globals_})
        assert answer.shape == expected.shape, name
        assert np.abs(answer.numpy() - expected).max() < TOLERANCE * max(1.0, np.abs(expected).max()), name


@pytest.mark.parametrize(
    "name", ["g170-b6c96-s175395328-d26788732", "b7c96h3tfrs-test5-cnorm", "b7c96h6kv3qk32v16tflrs-fson-bnh"]
)
def test_imported_networks(name: str) -> None:
    assert_like_graph(load_network(shared_file(f"nets/{name}.bin.gz")), 9, 7)


@pytest.mark.parametrize("version", range(8, 18))
def test_versions(version: int) -> None:
    assert_like_graph(parse_network(NetworkFile(version).bytes()), 5, 5)


@pytest.mark.parametrize("version", [8, 9, 12, 15, 17])
def test_outputs_can_be_left_out(version: int) -> None:
    """As a graph of the rest computes it."""
    network = parse_network(NetworkFile(version, policies=2 if version >= 12 else 1).bytes())
    module = NetworkModule(network).eval()
    before = run(module, 5, 5)
    outputs = ["optimistic policy"] * (version >= 12) + ["expected errors"] * (version >= 9)
    assert module.keep_outputs(optimistic=False, errors=False) == outputs
    assert not module.keep_outputs(optimistic=False, errors=False)
    for found, expected in zip(run(module, 5, 5), before, strict=True):
        torch.testing.assert_close(found, expected[:, : found.shape[1]])
    assert_like_graph(module.describe(), 5, 5)


@pytest.mark.parametrize(
    "blocks",
    [
        (("ordinary", ("gpool",)), "ordinary"),
        ("attention", "attention-fixed", "attention-fixed-shared"),
        ("attention-learned", "ffn", "attention-learned-shared"),
        (("attention-learned", "ffn"), "gpool"),
    ],
    ids=str,
)
@pytest.mark.parametrize("norm", ["batch", "rms", "spatial-rms"])
def test_blocks(blocks: tuple[Any, ...], norm: str) -> None:
    assert_like_graph(parse_network(NetworkFile(17, blocks, norm=norm, policies=4).bytes()), 5, 4)


@pytest.mark.parametrize(("filter_size", "dilation"), [(1, 1), (5, 1), (3, 2)])
def test_filters(filter_size: int, dilation: int) -> None:
    assert_like_graph(parse_network(NetworkFile(8, filter_size=filter_size, dilation=dilation).bytes()), 5, 4)


@pytest.mark.parametrize(
    "blocks", [("ordinary", "gpool", ("ordinary",)), ("attention-learned", "ffn", "attention")], ids=str
)
def test_a_module_returns_its_description(blocks: tuple[Any, ...]) -> None:
    network = parse_network(NetworkFile(17, blocks, norm="rms").bytes())
    found = NetworkModule(network).describe()
    assert_equal(dataclasses.replace(found, parameters=network.parameters), network)


def assert_equal(found: Any, expected: Any) -> None:
    """Compare two descriptions down to the numbers, which batch norms round once."""
    if isinstance(expected, np.ndarray):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    elif dataclasses.is_dataclass(expected):
        assert type(found) is type(expected)
        for field in dataclasses.fields(expected):
            assert_equal(getattr(found, field.name), getattr(expected, field.name))
    elif isinstance(expected, tuple):
        for pair in zip(found, expected, strict=True):
            assert_equal(*pair)
    else:
        assert found == expected


def test_norms_that_count_take_in_the_statistics_of_batches() -> None:
    module = NetworkModule(new_network(TINY, name="new", seed=1))
    module.count_statistics(True)
    inputs = [torch.from_numpy(each) for each in random_positions(5, 5, 8, seed=1)]
    before = module.eval()(*inputs).policy
    for _ in range(300):
        counted = module.train()(*inputs).policy
    after = module.eval()(*inputs).policy
    assert (before - counted).abs().mean() > 0.2 * counted.std()
    assert (after - counted).abs().mean() < 0.02 * counted.std(), "the averages are those of the batch"


def test_every_weight_gets_a_gradient() -> None:
    module = tiny_module().train()
    spatial, globals_ = (torch.from_numpy(each) for each in random_positions(5, 5, 8, seed=1))
    sum(output.square().sum() for output in module(spatial, globals_)).backward()
    assert [name for name, each in module.named_parameters() if each.grad is None or not each.grad.any()] == []


def test_new_networks_begin_with_an_even_policy_and_repeat_by_seed() -> None:
    one, same, other = (NetworkModule(new_network(Shape(), name="new", seed=seed)).eval() for seed in (1, 1, 2))
    answers = run(one, 9, 9)
    assert answers.policy.std() < 1.0 and answers.value.std() < 1.0
    assert torch.equal(answers.policy, run(same, 9, 9).policy)
    assert not torch.equal(answers.policy, run(other, 9, 9).policy)


def test_every_third_block_pools() -> None:
    blocks = new_network(Shape(blocks=7), name="new", seed=1).trunk.blocks
    assert [isinstance(block, GlobalPoolingBlock) for block in blocks] == [False, False, True] * 2 + [False]
    blocks = new_network(Shape(blocks=3, pooling_every=0), name="new", seed=1).trunk.blocks
    assert not any(isinstance(block, GlobalPoolingBlock) for block in blocks)


@pytest.mark.parametrize("wrong", [{"blocks": 0}, {"channels": 0}, {"pooled_channels": 96}, {"activation": "tanh"}])
def test_invalid_sizes(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="expected"):
        Shape(**wrong)


def test_architectures_keep_everything_but_the_weights() -> None:
    network = parse_network(NetworkFile(17, ("gpool", ("attention-learned", "ffn")), norm="rms").bytes())
    text = architecture_of(network)
    assert_equal(architecture_of(empty_network(text)), text)
    paths: list[tuple[str, ...]] = []

    def fill(path: tuple[str, ...], sizes: tuple[int, ...]) -> Any:
        paths.append(path)
        return np.zeros(sizes, np.float32)

    network_of(text, fill)
    assert len(set(paths)) == len(paths) and ("trunk", "blocks", "0", "pool", "conv", "weights") in paths


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "Conv"}', '{"kind": "Scales"}', '{"kind": "no"}', "null"])
def test_invalid_architectures(text: str) -> None:
    with pytest.raises(ModelError, match="expected that of a network"):
        empty_network(text)


def from_file(folder: Path, module: NetworkModule) -> NetworkModule:
    """Return a module as its exported file has it, norms folded."""
    return NetworkModule(read_onnx(exported(folder / "net.onnx", module))).eval()


def unfold(module: NetworkModule) -> None:
    unfold_norms(module, lambda: [run(module, 6, 5, count=20, seed=seed) for seed in range(3)])


def without_a_filter(folder: Path) -> NetworkModule:
    module = from_file(folder, tiny_module())
    module.trunk.blocks.layers[0].first.conv.weight.data[0] = 0
    return module


def transformer(_: Path) -> NetworkModule:
    network = parse_network(NetworkFile(17, ("attention-learned", "ffn"), norm="rms").bytes())
    return NetworkModule(network).eval()


@pytest.mark.parametrize("begun", [without_a_filter, transformer])
def test_the_outputs_stay(tmp_path: Path, begun: Callable[[Path], NetworkModule]) -> None:
    """Also where a filter is zero, or the trunk has no batch norms."""
    module = begun(tmp_path)
    before = run(module, 7, 4)
    unfold(module)
    torch.testing.assert_close(run(module, 7, 4), before, rtol=1e-4, atol=1e-4)


def test_norms_get_the_statistics_of_their_inputs(tmp_path: Path) -> None:
    module = from_file(tmp_path, tiny_module())
    unfold(module)
    assert module.counts_statistics
    before = run(module, 6, 5, count=100, seed=9)
    module.train()
    counted = run(module, 6, 5, count=100, seed=9)
    assert (counted.policy - before.policy).abs().mean() < 0.2 * before.policy.std()


def test_the_filters_before_norms_become_as_large_as_the_others(tmp_path: Path) -> None:
    module = tiny_module()
    norms = [layer for layer in module.modules() if isinstance(layer, NormLayer)]
    with torch.no_grad():
        for norm in norms:
            norm.variance *= 400  # as in a network whose activations grow from block to block
    module = from_file(tmp_path, module)

    def spread() -> float:
        weights = dict(module.named_parameters())
        sizes = [
            weights[f"trunk.blocks.layers.{block}.{part}.conv.weight"].detach().square().mean().sqrt().item()
            for block in range(2)
            for part in ("first", "second")
        ]
        return max(sizes) / min(sizes)

    assert spread() > 10
    unfold(module)
    assert spread() < 3


@pytest.mark.parametrize("in_memory", [False, True])
def test_training_goes_on_from_a_file_with_norms(tmp_path: Path, in_memory: bool) -> None:
    config = tiny_config(tmp_path, name="stones")
    from_file(tmp_path, tiny_module())
    config = replace(config, init=tmp_path / "net.onnx", in_memory=in_memory)
    fixed = replace(config, learning=replace(config.learning, fixed_norms=1.0))
    assert not DistillationRun(fixed).module.counts_statistics
    loop = DistillationRun(config)
    assert loop.module.counts_statistics
    begun = first_module(config, facts_of(config.data / "train"), print).eval()
    torch.testing.assert_close(run(loop.average.module, 5, 5), run(begun, 5, 5), rtol=1e-3, atol=1e-3)
    next(loop.work())
    assert loop.state()[1]["stream"]["step"] == 1, "the batches that were measured are trained on too"
