"""The chain of `scripts/train_default`, as short as it can be."""

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest
from training.needs_torch import torch

from gtp_engine.nn.metadata import info_of, read_properties
from gtp_engine.nn.shipped import shipped_folder
from gtp_engine.training.core.command_chain import carry_out, carry_out_all

SCRIPT = Path(__file__).parents[3] / "scripts" / "train_default"

assert torch


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = SourceFileLoader("train_default", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_every_step_of_a_short_chain(
    script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # scripts beside the sources leave nothing there
    plan = script.TINY._replace(positions=400, minutes=0.05, games=2, visits=2)
    teacher = next(shipped_folder().glob("*.onnx"))
    steps = script.steps_of(plan, tmp_path, teacher)
    assert carry_out_all(steps) == 0
    infos = {path.stem: info_of(read_properties(path)) for path in tmp_path.glob("*.onnx")}
    assert {name: info.precision for name, info in infos.items()} == {
        "untrained": "float32", "trained": "float32", "trained-int8": "int8"
    }  # fmt: skip
    assert infos["trained"].origin != infos["untrained"].origin
    assert len((tmp_path / "match" / "results.jsonl").read_text().splitlines()) == plan.games
    assert "| 9×9 |" in capfd.readouterr().out, "the table of agreement"

    assert carry_out(steps[2], "") == 0
    assert "trained.onnx is there already" in capfd.readouterr().err
    assert "resume" in script.steps_of(plan, tmp_path, teacher)[1].command
    with pytest.raises(SystemExit) as ended:
        script.say_result(steps[-1])
    said = capfd.readouterr().out
    assert (ended.value.code == 0) == ("won 100%" in said) and "of 2 games" in said
