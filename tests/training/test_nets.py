"""Torch modules compute what the graphs of the same networks do, and return their descriptions."""

import dataclasses
from typing import Any

import numpy as np
import onnxruntime
import pytest
from nn.katago_files import NetworkFile
from shared_files import shared_file
from training.needs_torch import torch
from training.toy import TINY, run, tiny_module

from gtp_engine.errors import ConfigError, ModelError
from gtp_engine.networks.katago_format.description import GlobalPoolingBlock, Network
from gtp_engine.networks.katago_format.parser import load_network, parse_network
from gtp_engine.networks.onnx_export import build_model, info_of_network
from gtp_engine.training.distillation.module_files import random_positions
from gtp_engine.training.nets.architecture import architecture_of, empty_network, network_of
from gtp_engine.training.nets.network_module import NetworkModule
from gtp_engine.training.nets.new import new_network
from gtp_engine.training.nets.shape import Shape

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
    "name",
    ["g170-b6c96-s175395328-d26788732", "b7c96h3tfrs-test5-cnorm", "b7c96h6kv3qk32v16tflrs-fson-bnh"],
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
    assert (module.has_optimistic_policy, module.has_errors) == (version >= 12, version >= 9)
    before = run(module, 5, 5)
    module.drop_optimistic_policy()
    module.drop_errors()
    assert not module.has_optimistic_policy and not module.has_errors
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


@pytest.mark.parametrize("activation", ["relu", "mish", "silu"])
def test_new_networks(activation: str) -> None:
    assert_like_graph(tiny_module(activation=activation).describe(), 6, 5)


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


def test_norms_that_do_not_count_stay_as_they_are() -> None:
    module = tiny_module()
    before = run(module, 5, 5)
    after = run(module.train(), 5, 5)
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


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


def test_modules_run_on_any_board() -> None:
    for width, height in ((2, 2), (3, 7), (19, 19)):
        assert run(tiny_module(), width, height, count=1).policy.shape == (1, 1, width * height + 1)
