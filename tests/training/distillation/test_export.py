"""Exported files: they agree with the module, play in the engine, and give their weights back exactly."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from nn.katago_files import NetworkFile
from training.needs_torch import torch
from training.toy import exported, run, tiny_config, tiny_module, unpacked

from gtp_engine import Game, ModelError, load_evaluator
from gtp_engine.config.sections import NetworkConfig
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import new_evaluation, new_positions
from gtp_engine.nn.katago_format.parser import parse_network
from gtp_engine.nn.metadata import read_metadata
from gtp_engine.nn.onnx_export.convert import info_of_network
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.distillation.labelled_games import Labeller
from gtp_engine.training.distillation.losses import HeldOut, ValidationSet, predictions_of
from gtp_engine.training.distillation.module_files import check_file, model_of, module_of_file
from gtp_engine.training.distillation.run import first_module
from gtp_engine.training.distillation.shards import HELD_OUT, UNKNOWN, ShardMeta, ShardName, facts_of, join, write_shard
from gtp_engine.training.nets.architecture import PROPERTY, read_onnx
from gtp_engine.training.nets.network_module import NetworkModule
from gtp_engine.training.nets.new import PLAIN, WITH_ERRORS, OutputSet


def test_files_have_metadata(tmp_path: Path) -> None:
    path = exported(tmp_path / "net.onnx")
    onnx.checker.check_model(onnx.load(path), full_check=True)
    info = read_metadata(path)
    assert (info.kind, info.encoder, info.planes, info.globals_) == ("policy+value", "katago-v7", 22, 19)
    assert (info.name, info.origin, info.license) == ("net", "made by a test", "CC0-1.0")
    assert info.sizes.include(2, 25) and info.model_version == 8
    assert [entry.name for entry in tmp_path.iterdir()] == ["net.onnx"]


def test_a_file_with_other_outputs_is_not_kept(tmp_path: Path) -> None:
    path = exported(tmp_path / "net.onnx", tiny_module(seed=1))
    with pytest.raises(ModelError, match=r"exported network's policy on 9×9 differs by [\d.e+-]+: expected at most"):
        check_file(path, tiny_module(seed=2))


@pytest.mark.parametrize("outputs", [PLAIN, WITH_ERRORS])
def test_a_network_agrees_with_its_evaluations_in_the_engine(tmp_path: Path, outputs: OutputSet) -> None:
    """Positions of both colours go through the evaluator, the labels and the metrics, and come out without a change."""
    module = tiny_module(outputs=outputs)
    network = NetworkConfig(
        model=str(exported(tmp_path / "net.onnx", module)), provider="cpu", precision="float32", symmetry="none"
    )
    evaluator = load_evaluator(network, log=lambda _: None, board=(5, 5))
    game, labeller, samples = Game(5, 5), Labeller(5, 5), []
    positions, evaluation = new_positions(1, 5, 5), new_evaluation(1, 5, 5)
    for vertex in ("C3", "D4", "D3", "B2", "pass", "C4"):
        game.play(vertex)
        write_game(positions, 0, game)
        evaluator.evaluate(Request(positions, 1, evaluation))
        samples.append(labeller.label(positions, evaluation, [0], np.zeros_like(evaluation.policy)))
    samples[-1].value[:] = 0  # a game without a result has no winrate
    (tmp_path / HELD_OUT).mkdir()
    path = tmp_path / HELD_OUT / str(ShardName(5, 5, 0, 0))
    write_shard(path, join(samples), ShardMeta(5, 5, "", "", "", 0))
    machine = choose_machine("cpu", "float32", threads=1)
    (agreement,) = HeldOut(tmp_path / HELD_OUT, 100).validate(module, machine).values()
    assert agreement.positions == 6 and agreement.same_first_move == 1.0
    assert abs(agreement.policy_kl) < 1e-3
    assert agreement.winrate_error < 1e-3 and agreement.ownership_error < 1 / 127
    batch = unpacked(join(samples), (5, 5))
    predicted = predictions_of(
        module(batch.planes.float(), batch.globals), batch, module.network.scales, outputs.version
    )
    unknown = (batch.score[:, 3:] == UNKNOWN).all()
    assert unknown == (outputs is PLAIN) and predicted.score.shape[1] == (3 if unknown else 6)
    if not unknown:  # the engine counts the others as 0 where a game has no result
        torch.testing.assert_close(predicted.score[:, 3:], batch.score[:, 3:], rtol=1e-3, atol=1e-3)
    other = HeldOut(tmp_path / HELD_OUT, 100).validate(tiny_module(seed=2), machine)[ValidationSet(5, 5)]
    assert other.policy_kl > 0.002 and other.winrate_error > 0.005 and other.lead_error > 0.1


@pytest.mark.parametrize("activation", ["relu", "mish", "silu"])
def test_weights_come_back_from_a_file(tmp_path: Path, activation: str) -> None:
    module = tiny_module(activation=activation)
    path = exported(tmp_path / "net.onnx", module)
    again = NetworkModule(read_onnx(path)).eval()
    torch.testing.assert_close(run(again, 6, 5), run(module, 6, 5), rtol=1e-5, atol=1e-5)
    network = replace(again.describe(), name="net")
    model = model_of(network, info_of_network(network, origin="made by a test", terms="CC0-1.0", sha256=""))
    assert same_numbers(model, onnx.load(path)), "written again, it is the same file up to one rounding"


@pytest.mark.parametrize("version", [8, 10, 14])
def test_weights_of_other_shapes_come_back(tmp_path: Path, version: int) -> None:
    network = parse_network(NetworkFile(version, ("gpool", ("ordinary", "gpool"), "ordinary")).bytes())
    module = NetworkModule(network).eval()
    path = exported(tmp_path / "net.onnx", module)
    torch.testing.assert_close(
        run(NetworkModule(read_onnx(path)).eval(), 5, 4), run(module, 5, 4), rtol=1e-5, atol=1e-5
    )


def same_numbers(one: onnx.ModelProto, other: onnx.ModelProto) -> bool:
    arrays = [[onnx.numpy_helper.to_array(each) for each in model.graph.initializer] for model in (one, other)]
    return len(arrays[0]) == len(arrays[1]) and all(
        np.allclose(a, b, rtol=1e-6, atol=1e-7) for a, b in zip(*arrays, strict=True)
    )


def with_other_sizes(model: onnx.ModelProto) -> None:
    weights = model.graph.initializer[0]
    weights.CopyFrom(onnx.numpy_helper.from_array(np.zeros((2, 2), np.float32), weights.name))


def with_a_wrong_architecture(model: onnx.ModelProto) -> None:
    next(entry for entry in model.metadata_props if entry.key == PROPERTY).value = "{}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.graph.node.pop(0), "is not that of its architecture"),
        (with_other_sizes, "is not that of its architecture"),
        (lambda model: model.ClearField("metadata_props"), "give the .bin.gz file"),
        (with_a_wrong_architecture, "expected that of a network"),
    ],
)
def test_files_that_were_changed(tmp_path: Path, change: Callable[[onnx.ModelProto], None], message: str) -> None:
    path = exported(tmp_path / "net.onnx")
    model = onnx.load(path)
    change(model)
    onnx.save(model, path)
    with pytest.raises(ModelError, match=message):
        read_onnx(path)


def test_transformers_cannot_be_read_back(tmp_path: Path) -> None:
    network = parse_network(NetworkFile(17, ("attention-learned", "ffn")).bytes())
    path = exported(tmp_path / "net.onnx", NetworkModule(network).eval())
    with pytest.raises(ModelError, match="is not that of its architecture"):
        read_onnx(path)


def test_what_training_can_begin_with(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"expected a checkpoint \(\.pt\), an \.onnx file or one of KataGo's"):
        module_of_file(tmp_path / "net.txt2")
    with pytest.raises(ModelError, match="cannot be read"):
        module_of_file(tmp_path / "net.onnx")
    for content in (b"", b"junk" * 100):
        (tmp_path / "net.onnx").write_bytes(content)
        with pytest.raises(ModelError, match=r"'net.onnx' (is damaged|has no recorded architecture)"):
            module_of_file(tmp_path / "net.onnx")


@pytest.mark.parametrize("block", [0, 1, 2])
def test_networks_that_imitate_people(tmp_path: Path, block: int) -> None:
    """KataGo adds the profile before the first block, training here perhaps later; export compares file and module."""
    path = tmp_path / "human.bin.gz"
    path.write_bytes(NetworkFile(15, human=1).bytes(gzipped=True))
    network = module_of_file(path).network
    network = replace(network, trunk=replace(network.trunk, profile_block=block))
    target = exported(tmp_path / "human.onnx", NetworkModule(network).eval())
    assert read_metadata(target).needs_profile
    read = module_of_file(target)
    assert read.needs_profile and read.trunk.profile_block == block


def test_areas_of_the_inputs_follow_the_rules_in_training(tmp_path: Path) -> None:
    """Shards are encoded so; a network that began as one of KataGo's with other inputs said that it still has them."""
    init = tmp_path / "first.bin.gz"
    init.write_bytes(NetworkFile(17, suicide_area=1).bytes(gzipped=True))
    config = tiny_config(tmp_path, init=init)
    module = first_module(config, facts_of(config.data / "train"), print)
    assert module_of_file(init).network.suicide_area and not module.describe().suicide_area
