"""The networks: their layers, their checkpoints, and exported files with the same outputs."""

from dataclasses import asdict, replace
from pathlib import Path

import onnx
import pytest
from training.needs_torch import torch

from gtp_engine.base.errors import ConfigError, ModelError
from gtp_engine.nn.metadata import read_metadata
from gtp_engine.training.alphago.stages import nets
from gtp_engine.training.core.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

SHAPE = nets.NetShape(5, 4, layers=4, channels=6, hidden=8)


def shaken(kind: str, seed: int = 1, shape: nets.NetShape = SHAPE) -> nets.PolicyNet | nets.ValueNet:
    """Return a network whose biases and statistics are random too, so that each of them matters."""
    net = nets.new_net(nets.KINDS[kind], shape, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    for parameter in net.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=generator)
    for statistics in net.buffers():
        statistics += torch.rand(statistics.shape, generator=generator)
    return net.eval()


def test_layers_are_those_of_the_paper() -> None:
    """13 layers of 192 filters: one of 5×5, eleven of 3×3, one of 1×1, and a bias for each point."""
    net = nets.PolicyNet(nets.NetShape(19, 19, layers=13, channels=192))
    sizes = [tuple(conv.weight.shape) for conv in net.trunk.layers]
    assert sizes == [(192, 48, 5, 5)] + [(192, 192, 3, 3)] * 11
    assert net.to_logits.weight.shape == (1, 192, 1, 1) and net.point_bias.shape == (361,)
    value = nets.ValueNet(nets.NetShape(19, 19, layers=13, channels=192))
    assert value.trunk.layers[0].weight.shape == (192, 49, 5, 5)
    assert value.to_hidden.weight.shape == (256, 361) and value.to_value.weight.shape == (1, 256)


@pytest.mark.parametrize("layers", [3, 4, 6])
def test_a_value_network_starts_with_the_policys_filters_and_ignores_colour(layers: int) -> None:
    policy, value = shaken("policy"), shaken("value", shape=replace(SHAPE, layers=layers))
    before = [conv.weight.clone() for conv in value.trunk.layers]
    assert isinstance(policy, nets.PolicyNet) and isinstance(value, nets.ValueNet)
    value.copy_trunk(policy)
    for number, own in enumerate(value.trunk.layers):
        if number < len(policy.trunk.layers):
            source = policy.trunk.layers[number].weight
            assert torch.equal(own.weight[:, : source.shape[1]], source)
        else:
            assert torch.equal(own.weight, before[number])
    planes = torch.rand(2, 49, 4, 5)
    torch.testing.assert_close(value(planes)[0], value(torch.cat([planes[:1, :48], 1 - planes[:1, 48:]], dim=1))[0])


def test_norms_normalize_features_and_are_merged_into_the_filters() -> None:
    net = nets.new_net(nets.ValueNet, SHAPE, seed=1)
    conv, norm, planes = net.trunk.layers[0], net.trunk.norms[0], torch.rand(64, 49, 4, 5)
    features = norm(conv(planes))
    torch.testing.assert_close(features.mean(dim=(0, 2, 3)), torch.zeros(6), atol=1e-5, rtol=0)
    torch.testing.assert_close(features.var(dim=(0, 2, 3)), torch.ones(6), atol=1e-2, rtol=0)
    net = shaken("value")
    assert isinstance(net, nets.ValueNet)
    for conv, norm, filters in zip(net.trunk.layers, net.trunk.norms, net.trunk.filters(), strict=True):
        wanted = norm(conv(planes))
        planes = torch.conv2d(planes, *filters, padding="same")
        torch.testing.assert_close(planes, wanted, atol=1e-4, rtol=1e-4)


def test_a_value_network_predicts_the_winner_and_every_owner() -> None:
    """The owners depend on the features alone."""
    net = shaken("value")
    assert isinstance(net, nets.ValueNet)
    planes = torch.rand(3, 49, 4, 5)
    outputs = net(planes)
    assert outputs.shape == (3, 1 + 20)
    torch.testing.assert_close(outputs[:, 1:], net.to_owners(net.trunk(planes)).flatten(1).tanh())
    net.to_owners.weight.data.zero_()
    assert torch.equal(net(planes)[:, 0], outputs[:, 0])
    names = {tensor.name for tensor in nets.model_of(net, name="x", origin="x", terms="").graph.output}
    assert names == {"value", "ownership"}


@pytest.mark.parametrize("kind", ["policy", "value"])
def test_exported_files_have_the_networks_outputs_and_describe_it(tmp_path: Path, kind: str) -> None:
    net, path = shaken(kind), tmp_path / f"{kind}.onnx"
    nets.export_net(net, path, name="small", origin="made by a test", terms="CC0-1.0")
    onnx.checker.check_model(onnx.load(path), full_check=True)
    info = read_metadata(path)
    assert (info.kind, info.planes, info.encoder) == (kind, net.PLANES, f"alphago-{net.PLANES}")
    assert str(info.sizes) == "5x4" and info.passes == "none"
    assert (info.name, info.origin, info.license) == ("small", "made by a test", "CC0-1.0")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    with pytest.raises(ModelError, match=rf"the exported {kind} network differs by [\d.e+-]+: expected at most 0.0001"):
        nets.check_net_file(path, shaken(kind, seed=2))


@pytest.mark.parametrize("change", [{"layers": 1}, {"channels": 0}, {"hidden": 0}])
def test_sizes_that_are_too_small(change: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=r"^a network with .*: expected at least"):
        nets.NetShape(9, 9, **change)


def test_checkpoints_restore_the_network(tmp_path: Path) -> None:
    net = shaken("policy")
    checkpoint = Checkpoint("policy", asdict(SHAPE), {"a": 1}, net.state_dict(), {}, 3, 4, 5.0)
    write_checkpoint(tmp_path, checkpoint)
    planes = torch.rand(1, 48, 4, 5)
    torch.testing.assert_close(nets.read_policy(tmp_path)(planes), net(planes))
    assert read_checkpoint(tmp_path).steps == 3
    write_checkpoint(tmp_path, Checkpoint("value", asdict(SHAPE), {}, shaken("value").state_dict(), {}, 3, 4, 5.0))
    with pytest.raises(ModelError, match="has a value network: expected a run with a policy network"):
        nets.read_policy(tmp_path)
