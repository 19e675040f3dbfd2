"""A teacher run by torch agrees with one run by ONNX Runtime."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_evaluators import evaluated
from nn.katago_files import NetworkFile
from training.needs_torch import torch
from training.toy import exported, tiny_module

from gtp_engine import Evaluator, Game, ModelError, Rules
from gtp_engine.base.progress import ProgressBar
from gtp_engine.evaluation.positions import Evaluation
from gtp_engine.nn.onnx_export.convert import convert_file
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.training.core.devices import Machine
from gtp_engine.training.distillation.distillation_settings import GenerateSettings
from gtp_engine.training.distillation.evaluation_server import THREADS, EvaluationServer, RemoteModel, remote_evaluator
from gtp_engine.training.distillation.generate import Teacher, generate
from gtp_engine.training.distillation.module_files import TorchModel
from gtp_engine.training.distillation.shards import is_of_player, read_shard, shard_paths
from gtp_engine.training.nets.network_module import NetworkModule, Outputs
from gtp_engine.training.nets.new import WITH_ERRORS

SETTINGS = GenerateSettings(batch=2, threads=1, provider="cpu", precision="float32")
WITH_TORCH = replace(SETTINGS, torch=True)


def answers(evaluator: Evaluator) -> Evaluation:
    """Return the evaluations of two games, one with White to play."""
    games = [Game(5, 4, Rules.parse("japanese")), Game(5, 4, Rules.parse("tromp-taylor"), 3.5)]
    games[0].play("C3")
    return evaluated(evaluator, *games)


@pytest.mark.parametrize("version", [8, 14, 17])
def test_an_imported_network_as_a_teacher(tmp_path: Path, version: int) -> None:
    source = tmp_path / "net.bin.gz"
    source.write_bytes(NetworkFile(version, policies=4).bytes(gzipped=True))
    convert_file(source, tmp_path / "net.onnx")
    teacher = Teacher(source, WITH_TORCH)
    onnx_teacher = Teacher(tmp_path / "net.onnx", SETTINGS)
    found, expected = answers(teacher()), answers(onnx_teacher())
    for name, one, other in zip(Evaluation._fields, found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4, err_msg=name)
    assert teacher.info() == onnx_teacher.info(), "name, hash and licence too"
    assert torch.is_grad_enabled()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return an exported network."""
    return exported(tmp_path / "net.onnx")


def model_of(path: Path) -> TorchModel:
    return TorchModel(path, SETTINGS)


def test_an_exported_network_as_a_teacher(path: Path) -> None:
    teacher = pickle.loads(pickle.dumps(Teacher(path, WITH_TORCH)))
    onnx_teacher = Teacher(path, SETTINGS)
    np.testing.assert_allclose(answers(teacher()).policy, answers(onnx_teacher()).policy, atol=1e-4)
    assert teacher.info() == onnx_teacher.info()
    assert teacher.info().license == "CC0-1.0"


def inputs_of(width: int, height: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return planes of noise, and global values."""
    rng = np.random.default_rng(1)
    planes = rng.integers(2, size=(count, 22, height, width)).astype(np.float32)
    return planes, rng.random((count, 19), dtype=np.float32)


def test_where_memory_is_too_small_calls_are_halved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(path)
    planes, globals_ = inputs_of(5, 4, 7)
    expected, run, counts = model.run(planes, globals_), Machine.run, []

    def run_if_small(self: Machine, module: NetworkModule, planes: torch.Tensor, globals_: torch.Tensor) -> Outputs:
        if len(planes) > 2:
            raise torch.OutOfMemoryError
        counts.append(len(planes))
        return run(self, module, planes, globals_)

    monkeypatch.setattr(Machine, "run", run_if_small)
    found = model.run(planes, globals_)
    assert counts == [1] * 7 and model.batch == 1, "7 positions, then 3, then 1 at once"
    np.testing.assert_allclose(found.policy, expected.policy, atol=1e-5)


def test_workers_ask_the_process_that_has_the_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests of several ports are answered together, each with its own, on boards of any size up to the largest."""
    path = exported(tmp_path / "net.onnx", tiny_module(outputs=WITH_ERRORS))
    model = model_of(path)
    server = EvaluationServer([model])
    ports = [server.port(0, rows=4, area=20) for _ in range(3)]
    with server, ThreadPoolExecutor(3) as pool:
        inputs = [inputs_of(5 - i, 4, 4 - i) for i in range(3)]
        asked = [
            pool.submit(RemoteModel(port).run, planes, globals_)
            for port, (planes, globals_) in zip(ports, inputs, strict=True)
        ]
        for request, (planes, globals_) in zip(asked, inputs, strict=True):
            for one, other in zip(request.result(), model.run(planes, globals_), strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5)
        np.testing.assert_allclose(
            answers(remote_evaluator(ports[0])).policy, answers(Teacher(path, WITH_TORCH)()).policy, atol=1e-5
        )
        with pytest.raises(ValueError, match="5 positions of 20 points at a port for 4 of 20"):
            RemoteModel(ports[0]).run(*inputs_of(5, 4, 5))
        monkeypatch.setattr(model, "run_bits", lambda *_: 1 / 0)
        with pytest.raises(ModelError, match=r"network net could not be run \(ZeroDivisionError: division by zero\)"):
            RemoteModel(ports[0]).run(*inputs_of(5, 4, 1))
    with pytest.raises(ModelError, match="the process that runs the networks has ended"):
        RemoteModel(ports[0]).run(*inputs_of(5, 4, 1))


def test_workers_of_a_run_ask_its_process(tmp_path: Path, path: Path) -> None:
    """A GPU is for one process: the networks of the teacher and of the player stay in the command's."""
    settings = GenerateSettings(
        positions=200, sizes="5=2,4x3=1", workers=2, batch=4, player=str(path), looks=2,
        torch=True, precision="float32", compressed=False,
    )  # fmt: skip
    with ProgressBar() as bar:
        table = generate(path, tmp_path / "data", settings, bar)
    shards = [read_shard(shard)[0] for shard in shard_paths(tmp_path / "data" / "train")]
    assert "new positions in" in table and sum(shard.count for shard in shards) >= 150
    assert {bool(flag) for shard in shards for flag in is_of_player(shard.game)} == {False, True}
    assert len({int(number) >> 32 for shard in shards for number in shard.game}) == 2, "two workers"


def test_each_thread_of_the_server_runs_all_networks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's ports for teacher and player come in turns; one thread served all teachers, the other all players."""
    models = [model_of(path) for _ in range(2)]
    threads: list[set[int]] = [set(), set()]

    def recording(number: int, *inputs: Any) -> RawOutputs:
        threads[number].add(threading.get_ident())
        return TorchModel.run_bits(models[number], *inputs)

    for number, model in enumerate(models):
        monkeypatch.setattr(model, "run_bits", partial(recording, number))
    server = EvaluationServer(models)
    ports = [server.port(number, rows=1, area=20) for _ in range(2) for number in range(2)]
    with server:
        for port in ports:
            RemoteModel(port).run(*inputs_of(5, 4, 1))
    assert [len(found) for found in threads] == [THREADS, THREADS]
