"""The benchmark: its keys are stable, its numbers are numbers, and a broken start is reported."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from nn import tiny_networks

from gtp_engine import benchmark
from gtp_engine.benchmark import BenchmarkError, format_report, run_benchmark, seconds_to_answer
from gtp_engine.cli import cli
from gtp_engine.config import NetworkConfig
from gtp_engine.machine import available_cores

REPORT = {
    "version": "0.1.0",
    "machine": {"processor": "Abacus", "cores": {"usable": 2}},
    "rollouts_per_s": {"9x9": {"uniform": 50_000.4, "tactical": 15_000.0}},
    "playouts_per_s": {"9x9": {"rave": 20_000.0}},
    "startup_s": {"name": 0.1, "first_genmove": 0.65},
}


def test_keys_and_numbers() -> None:
    lines: list[str] = []
    report = run_benchmark(seconds=0.02, repeats=1, progress=lines.append)
    assert json.loads(json.dumps(report)) == report
    assert {size: set(row) for size, row in report["rollouts_per_s"].items()} == {
        "9x9": {"uniform", "tactical"},
        "19x19": {"uniform", "tactical"},
    }
    assert {size: set(row) for size, row in report["playouts_per_s"].items()} == {
        "9x9": {"rave", "uct"},
        "19x19": {"rave", "uct"},
    }
    for table in (report["rollouts_per_s"], report["playouts_per_s"]):
        assert all(value > 0 for row in table.values() for value in row.values())
    assert set(report["startup_s"]) == {"name", "first_genmove"}
    assert all(value > 0 for value in report["startup_s"].values())
    assert len(lines) == 3


def test_report_for_people() -> None:
    assert format_report(REPORT).splitlines() == [
        "Tengen 0.1.0 on Abacus, 2 cores",
        "rollouts/s, one core      9x9 uniform      50,000",
        "rollouts/s, one core      9x9 tactical     15,000",
        "playouts/s, all cores     9x9 rave         20,000",
        "process start to name               0.10 s",
        "process start to first genmove      0.65 s",
    ]


NETWORK = {
    "name": "b6c96",
    "runtime": "OpenVINO in bfloat16",
    "board": "19x19",
    "evaluations_per_s": {"1": {"1": 305.2, "2": 310.0}, "2": {"1": 600.0, "2": 612.34}},
    "playouts_per_s": {"1": 580.0, "2": 605.0},
    "recommended": {"network_threads": 2, "eval_batch": 1},
}


def test_report_of_a_network_for_people() -> None:
    assert format_report(REPORT | {"network": NETWORK}).splitlines()[6:] == [
        "network b6c96 on 19x19: OpenVINO in bfloat16",
        "batch size                          1        2",
        "evaluations/s, 1 thread         305.2    310.0",
        "evaluations/s, 2 threads        600.0    612.3",
        "playouts/s                      580.0    605.0",
        "best here: --network-threads 2 --eval-batch 1",
    ]


def test_a_network_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "CPU_BATCHES", (1, 4))
    path = tiny_networks.v7_network(tmp_path / "tiny.onnx", sizes="9x9")
    lines: list[str] = []
    report = benchmark.measure_network(NetworkConfig(model=str(path), provider="cpu"), 0.05, 1, lines.append)
    assert json.loads(json.dumps(report)) == report
    assert (report["name"], report["board"]) == ("tiny", "9x9")
    assert str(available_cores()) in report["evaluations_per_s"]
    for row in [*report["evaluations_per_s"].values(), report["playouts_per_s"]]:
        assert list(row) == ["1", "4"]
        assert all(value > 0 for value in row.values())
    assert report["recommended"]["eval_batch"] in (1, 4)
    assert str(report["recommended"]["network_threads"]) in report["evaluations_per_s"]
    assert len(lines) == 2 + len(report["evaluations_per_s"])


def test_a_network_that_cannot_be_loaded_is_an_error_of_the_command() -> None:
    result = CliRunner().invoke(cli, ["benchmark", "--model", "no-such-network.onnx"])
    assert result.exit_code == 2
    assert "Error: network 'no-such-network.onnx' does not exist: expected an ONNX file or a folder" in result.stderr


def test_command_prints_json(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(**settings: Any) -> Any:
        asked.append(settings["network"])
        return REPORT

    monkeypatch.setattr(benchmark, "run_benchmark", run)
    result = CliRunner().invoke(cli, ["benchmark", "--json"])
    assert json.loads(result.stdout) == REPORT
    assert CliRunner().invoke(cli, ["benchmark", "--no-network"]).stdout == format_report(REPORT) + "\n"
    assert asked == [NetworkConfig(), None], "the network that ships, and none"
    assert CliRunner().invoke(cli, ["benchmark", "--no-network", "--model", "x.onnx"]).exit_code == 2


def test_an_engine_that_refuses_is_reported() -> None:
    with pytest.raises(BenchmarkError, match=r"did not answer 'no_such_command': \? unknown command"):
        seconds_to_answer(("no_such_command",))


def test_an_engine_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false" if sys.platform != "darwin" else "/usr/bin/false")
    with pytest.raises(BenchmarkError, match="did not answer 'name'"):
        seconds_to_answer(("name",))
