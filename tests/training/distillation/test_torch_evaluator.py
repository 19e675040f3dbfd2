"""A teacher run by torch agrees with one run by ONNX Runtime."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from nn.katago_files import NetworkFile
from training.needs_torch import torch
from training.toy import tiny_module

from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.networks.onnx_export import convert_file
from gtp_engine.selfplay.rows_evaluator import RowsEvaluator
from gtp_engine.training.distillation.export import export_network
from gtp_engine.training.distillation.teacher import OnnxTeacher
from gtp_engine.training.distillation.torch_evaluator import TorchTeacher


def answers(evaluator: RowsEvaluator) -> Evaluation:
    """Return the evaluations of two games, one with White to play."""
    positions, evaluation = new_positions(3, 5, 4), new_evaluation(3, 5, 4)
    games = [Game(5, 4, Rules.parse("japanese")), Game(5, 4, Rules.parse("tromp-taylor"), 3.5)]
    games[0].play("C3")
    for row, game in enumerate(games):
        write_game(positions, row, game)
    evaluator.evaluate_rows(positions, [conditions_of(game) for game in games], evaluation)
    return evaluation


@pytest.mark.parametrize("version", [8, 14, 17])
def test_an_imported_network_as_a_teacher(tmp_path: Path, version: int) -> None:
    source = tmp_path / "net.bin.gz"
    source.write_bytes(NetworkFile(version, policies=4).bytes(gzipped=True))
    convert_file(source, tmp_path / "net.onnx")
    teacher = TorchTeacher(source, "cpu", "float32", threads=1)
    onnx_teacher = OnnxTeacher(tmp_path / "net.onnx", 2, 1, "cpu", "float32")
    found, expected = answers(teacher()), answers(onnx_teacher())
    for name, one, other in zip(Evaluation._fields, found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4, err_msg=name)
    assert teacher.info() == onnx_teacher.info(), "name, hash and licence too"


def test_an_exported_network_as_a_teacher(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    export_network(tiny_module(), path, name="net", origin="", terms="CC0-1.0")
    teacher = pickle.loads(pickle.dumps(TorchTeacher(path, "cpu", "float32", threads=1)))
    onnx_teacher = OnnxTeacher(path, 2, 1, "cpu", "float32")
    np.testing.assert_allclose(answers(teacher()).policy, answers(onnx_teacher()).policy, atol=1e-4)
    assert teacher.info() == onnx_teacher.info()
    assert teacher.info().licence == "CC0-1.0"


def test_a_teacher_leaves_no_gradients(tmp_path: Path) -> None:
    source = tmp_path / "net.bin"
    source.write_bytes(NetworkFile(8).bytes())
    answers(TorchTeacher(source, "cpu", "float32", threads=1)())
    assert torch.is_grad_enabled()
