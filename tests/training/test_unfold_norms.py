"""A network from a file gets norms with statistics again, and computes what it did."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from nn.katago_files import NetworkFile
from training.needs_torch import torch
from training.toy import run, tiny_config, tiny_module

from gtp_engine.networks.katago_format.parser import parse_network
from gtp_engine.training.distillation.module_files import export_network
from gtp_engine.training.distillation.run import facts_of, first_module, new_loop
from gtp_engine.training.nets.architecture import read_onnx
from gtp_engine.training.nets.layers import NormLayer
from gtp_engine.training.nets.network_module import NetworkModule, unfold_norms


def from_file(folder: Path, module: NetworkModule) -> NetworkModule:
    """Return a module as its exported file has it, norms folded."""
    export_network(module, folder / "net.onnx", name="net", origin="", terms="")
    return NetworkModule(read_onnx(folder / "net.onnx")).eval()


def unfold(module: NetworkModule) -> None:
    unfold_norms(module, [lambda seed=seed: run(module, 6, 5, count=20, seed=seed) for seed in range(3)])


def test_the_outputs_stay(tmp_path: Path) -> None:
    module = from_file(tmp_path, tiny_module())
    before = run(module, 7, 4)
    unfold(module)
    for one, other in zip(run(module, 7, 4), before, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


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


def test_a_filter_of_zeros_stays(tmp_path: Path) -> None:
    module = from_file(tmp_path, tiny_module())
    weight = dict(module.named_parameters())["trunk.blocks.layers.0.first.conv.weight"]
    with torch.no_grad():
        weight[0] = 0
    before = run(module, 6, 5)
    unfold(module)
    assert not weight[0].any()
    torch.testing.assert_close(run(module, 6, 5).policy, before.policy, rtol=1e-4, atol=1e-4)


def test_networks_without_batch_norms_in_the_trunk() -> None:
    network = parse_network(NetworkFile(17, ("attention-learned", "ffn"), norm="rms").bytes())
    module = NetworkModule(network).eval()
    before = run(module, 5, 5)
    unfold_norms(module, [lambda: run(module, 5, 5, count=20)])
    for one, other in zip(run(module, 5, 5), before, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("in_memory", [False, True])
def test_training_goes_on_from_a_file_with_norms(tmp_path: Path, in_memory: bool) -> None:
    config = tiny_config(tmp_path, name="stones")
    from_file(tmp_path, tiny_module())
    config = replace(config, init=tmp_path / "net.onnx", in_memory=in_memory)
    fixed = replace(config, learning=replace(config.learning, fixed_norms=1.0))
    place = new_loop(fixed).checkpoint().state["stream"]
    assert not new_loop(fixed).module.counts_statistics
    loop = new_loop(config)
    assert loop.module.counts_statistics
    assert loop.checkpoint().state["stream"] == place, "the batches that were measured are trained on too"
    for one, other in zip(
        run(loop.average.module, 5, 5),
        run(first_module(config, facts_of(config.data / "train"), print).eval(), 5, 5),
        strict=True,
    ):
        assert np.allclose(one, other, rtol=1e-3, atol=1e-3)
