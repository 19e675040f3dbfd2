"""The 8-bit copy that `models import` and `get` make: where it is made, after which trial, and what is logged."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from nn import tiny_networks

from gtp_engine.base.files import sha256_of
from gtp_engine.nn import network_files, onnx_model
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.onnx_model import OnnxModel
from gtp_engine.nn.plug_ins import FASTER_COPY
from gtp_engine.nn.providers import PROVIDERS
from gtp_engine.nn.quantized_copy import UnfinishedCopy, is_quantized_copy, quantized_path
from gtp_engine.training.quantization import Quantized
from gtp_engine.training.quantization import faster_copy as faster_copy_module
from gtp_engine.training.quantization.sensitivity import Difference

SIZE = 5


def nothing(*_: object) -> None:
    pass


def hint_for(path: Path) -> str:
    simd = network_files.describe_machine()["simd"]
    return network_files.quantization_hint(network_files.find_networks(path)["policy"], PROVIDERS["openvino"], simd)


def faster_copy(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    simd: str = "avx_vnni",
    int8: float = 3.0,
    kl: float = 0.001,
    winrate: float = 0.002,
    gain: float = 1.5,
) -> list[str]:
    """Return the lines logged about an 8-bit copy on a pretended machine, with pretended trial and quantization."""
    monkeypatch.setattr(network_files, "describe_machine", lambda: {"simd": [simd]})
    monkeypatch.setattr(onnx_model, "installed_providers", lambda: ["openvino"])

    def quantize(source: Path, target: Path, *_: object, **__: object) -> Quantized:
        target.touch()
        speeds = {"float32": 1.0, "bfloat16": 2.0, "int8": int8}
        return Quantized(target, "OpenVINO", {"int8": Difference(kl, 0.98, winrate, 100)}, speeds, (), frozenset())

    monkeypatch.setattr(faster_copy_module, "largest_gain", lambda path, provider: gain)
    monkeypatch.setattr(faster_copy_module, "quantize_file", quantize)
    lines: list[str] = []
    faster_copy_module.make_faster_copy(path, progress=nothing, log=lines.append)
    return lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tiny_networks.v7_network(tmp_path / "net.onnx")


def test_a_copy_is_kept_where_it_is_faster_and_agrees(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = faster_copy(path, monkeypatch)
    assert "net-int8.onnx: 1.5 times as fast as bfloat16 here, policy KL 0.0010" in lines[-1]
    assert quantized_path(path).exists()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"int8": 2.3}, "it was only 1.15 times as fast as bfloat16"),
        ({"kl": 0.006}, "it differs too much from float32 (policy KL 0.0060, winrate off by 0.0020;"),
        ({"winrate": 0.011}, "it differs too much from float32 (policy KL 0.0010, winrate off by 0.0110;"),
    ],
)
def test_why_a_copy_is_of_no_use(
    path: Path, monkeypatch: pytest.MonkeyPatch, fault: dict[str, float], reason: str
) -> None:
    line = faster_copy(path, monkeypatch, **fault)[-1]  # type: ignore[arg-type]
    assert line.startswith(f"net-int8.onnx will not be used: {reason}")


def test_no_copy_is_made_that_would_not_be_used(tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert faster_copy(path, monkeypatch, simd="asimd") == []
    policy = tiny_networks.v7_network(tmp_path / "other.onnx", encoder="alphago-49", planes="49", globals="0")
    assert faster_copy(policy, monkeypatch) == []
    assert sorted(tmp_path.iterdir()) == sorted([path, policy])


def test_no_copy_is_made_that_would_be_no_faster(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = faster_copy(path, monkeypatch, simd="avx2", gain=0.72)
    assert lines[-1] == "No 8-bit copy is made: here it would be 0.72 times as fast as the network itself."
    assert not quantized_path(path).exists()
    assert "times as fast" in faster_copy(path, monkeypatch, simd="avx2", gain=1.3)[-1]
    assert quantized_path(path).exists()


def test_the_speed_in_8_bits_is_tried_without_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tiny_networks.v7_network(tmp_path / "tiny.onnx", blocks=2, sizes=f"{SIZE}x{SIZE}")
    monkeypatch.setattr("gtp_engine.training.quantization.sensitivity.ROUND_SECONDS", 0.01)

    def pretended(models: Mapping[str, OnnxModel], examples: Inputs) -> dict[str, float]:
        assert examples.spatial.shape[::2] == (faster_copy_module.BATCH, SIZE) and examples.spatial.shape[3] == SIZE
        for model in models.values():
            assert np.isfinite(model.run(examples.spatial, examples.globals_).policy).all()
        return {name: 3.0 if name == "int8" else 2.0 for name in models}

    assert faster_copy_module.largest_gain(path, "cpu") > 0.0
    monkeypatch.setattr(faster_copy_module, "speeds", pretended)
    assert faster_copy_module.largest_gain(path, "cpu") == 1.5
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the command lines of processes, which are not started; the processor gains from 8 bits."""
    commands: list[list[str]] = []
    monkeypatch.setattr(network_files, "describe_machine", lambda: {"simd": ["avx_vnni"]})
    monkeypatch.setattr(onnx_model, "installed_providers", lambda: ["openvino"])
    monkeypatch.setattr(network_files.subprocess, "Popen", lambda command, **_: commands.append(command))
    return commands


def test_a_copy_behind(
    path: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`models get` and `import` took ten minutes before they said that the network can play."""
    monkeypatch.setattr(network_files, "_SMALLEST_TO_QUANTIZE", 0)  # it gets no advice otherwise
    text = network_files.begin_faster_copy(path)
    assert "is made in the background (--no-int8: none)" in text
    assert "is being made, or was stopped (just begun;" in hint_for(path)
    assert f"`gtp-engine models quantize {path}` goes on" in text
    (command,) = started
    monkeypatch.setattr("sys.argv", ["", *command[4:]])
    monkeypatch.setattr(faster_copy_module, "step_aside", nothing)
    monkeypatch.setattr(faster_copy_module, "largest_gain", lambda path, provider: 1.0)
    faster_copy_module.main()
    assert "No 8-bit copy is made" in capsys.readouterr().err
    assert [*path.parent.iterdir()] == [path]
    assert hint_for(path) == network_files.begin_faster_copy(path) == "", "the trial is kept"


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="only Linux has a class for idle time")
def test_the_process_behind_works_on_one_core_in_idle_time() -> None:
    """A game that was begun meanwhile got a third of its playouts."""
    program = f"import os; from {FASTER_COPY} import step_aside; step_aside(); "
    program += "print(os.sched_getscheduler(0) == os.SCHED_IDLE, len(os.sched_getaffinity(0)), os.nice(0), flush=True)"
    program += "; os._exit(0)"  # in idle time, clearing modules away took 20 s of a busy machine
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "True 1 19\n"


def test_a_copy_is_begun_once(path: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_files, "_SMALLEST_TO_QUANTIZE", 0)  # it gets no advice otherwise
    monkeypatch.setattr("sys.argv", ["", str(path)])
    for name in ("step_aside", "make_faster_copy"):
        monkeypatch.setattr(faster_copy_module, name, lambda *_, **__: None)
    unfinished = UnfinishedCopy(quantized_path(path))
    with unfinished.making("a"):
        unfinished.note(0.43, "playing games")
        unfinished.note(0.44, "too soon after another note")
        faster_copy_module.main()  # of a process that was started before, and found 8 bits no faster
        text = network_files.begin_faster_copy(path)
        assert text == "An 8-bit copy is being made in the background (43%, playing games)."
        assert f"was stopped (43%, playing games; `gtp-engine models quantize {path}` goes on)" in hint_for(path)
    tiny_networks.v7_network(quantized_path(path), precision="int8", quantized_from=sha256_of(path))
    assert network_files.begin_faster_copy(path) == "" and started == []
    assert is_quantized_copy(quantized_path(path)) and not is_quantized_copy(path.with_name("alone-int8.onnx"))


@pytest.mark.usefixtures("started")
def test_where_no_process_can_be_started(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Mock(side_effect=OSError(11, "Resource temporarily unavailable"))
    monkeypatch.setattr(network_files.subprocess, "Popen", refusal)
    text = network_files.begin_faster_copy(path)
    assert text.startswith("An 8-bit copy cannot be made in the background (Resource temporarily unavailable): ")
