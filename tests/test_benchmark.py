"""The benchmark: its keys are stable, its numbers are numbers, and a broken start is reported."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from nn import tiny_networks

from gtp_engine.arena import benchmark
from gtp_engine.arena.benchmark import format_report, measure_katago, run_benchmark, seconds_to_answer
from gtp_engine.base.errors import TengenError
from gtp_engine.base.machine import available_cores
from gtp_engine.base.worker_process import join_command
from gtp_engine.cli import cli
from gtp_engine.config import NetworkConfig

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
    for what, kinds in (("rollouts_per_s", {"uniform", "tactical"}), ("playouts_per_s", {"rave", "uct"})):
        assert {size: set(row) for size, row in report[what].items()} == {"9x9": kinds, "19x19": kinds}
        assert all(value > 0 for row in report[what].values() for value in row.values())
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
    "evaluations_per_s": {"0": {"1": 99.0, "2": 98.0}, "1": {"1": 305.2, "2": 310.0}, "2": {"1": 600.0, "2": 612.34}},
    "playouts_per_s": {"1": 580.0, "2": 605.0},
    "recommended": {"network_threads": 2, "eval_batch": 1},
}


def test_report_of_a_network_for_people() -> None:
    assert format_report(REPORT | {"network": NETWORK}).splitlines()[6:] == [
        "network b6c96 on 19x19: OpenVINO in bfloat16",
        "batch size                          1        2",
        "evaluations/s, all threads       99.0     98.0",
        "evaluations/s, 1 thread         305.2    310.0",
        "evaluations/s, 2 threads        600.0    612.3",
        "playouts/s                      580.0    605.0",
        "best here: --network-threads 2 --eval-batch 1",
    ]


KATAGO_OUTPUT = (Path(__file__).parent / "data" / "katago" / "benchmark.txt").read_bytes().decode()
"""What KataGo 1.17.2 prints, shortened."""


def program(folder: Path, output: str, *, status: int = 0) -> str:
    """Return a command that prints a text and exits with `status`."""
    (folder / "output.txt").write_text(output, newline="")
    script = folder / "program.py"
    script.write_text(
        "import pathlib, sys; sys.stdout.write(pathlib.Path(sys.argv[1]).read_bytes().decode()); "
        "sys.exit(int(sys.argv[2]))"
    )
    return join_command([sys.executable, str(script), str(folder / "output.txt"), str(status)])


def test_katagos_best_number_of_threads_counts(tmp_path: Path) -> None:
    command = program(tmp_path, KATAGO_OUTPUT)
    expected = {"command": command, "board": "19x19", "threads": 2, "playouts_per_s": 58.25, "evaluations_per_s": 50.0}
    assert measure_katago(command) == expected
    assert format_report(REPORT | {"network": NETWORK, "katago": expected}).splitlines()[13:] == [
        "best of each                    playouts/s  evaluations/s",
        "Tengen on 19x19                      605.0          612.3",
        "KataGo on 19x19, 2 threads            58.2           50.0",
        "ratio                                10.39          12.25",
    ]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-katago benchmark", "cannot run 'no-such-katago benchmark': No such file or directory"),
        ("katago 'benchmark", "cannot run 'katago 'benchmark': No closing quotation"),
        (" ", "cannot run ' ': no command"),
    ],
)
def test_a_katago_that_cannot_be_run_is_reported(command: str, message: str) -> None:
    with pytest.raises(TengenError, match=re.escape(message)):
        measure_katago(command)


@pytest.mark.parametrize(
    ("model", "katago", "message"),
    [
        (None, "no-such-katago benchmark", "cannot run 'no-such-katago benchmark'"),
        ("no-such-network.onnx", "katago benchmark", "network 'no-such-network.onnx' does not exist"),
    ],
)
def test_a_wrong_command_or_network_is_found_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, model: str | None, katago: str, message: str
) -> None:
    for measure in ("measure_network", "measure_rollouts", "measure_playouts", "measure_startup"):
        monkeypatch.setattr(benchmark, measure, lambda *_: pytest.fail("measured"))
    network = NetworkConfig(model=model)
    with pytest.raises(TengenError, match=message):
        run_benchmark(seconds=0.05, repeats=1, progress=lambda line: None, network=network, katago=katago)


def test_a_katago_that_fails_is_reported(tmp_path: Path) -> None:
    command = program(tmp_path, "Uncaught exception: Could not open file gtp.cfg")
    with pytest.raises(TengenError, match=r"printed no result, and at last 'Uncaught .* gtp.cfg': expected a command"):
        measure_katago(command)


def test_a_katago_that_fails_after_its_first_results_is_reported(tmp_path: Path) -> None:
    command = program(tmp_path, KATAGO_OUTPUT + "terminate called: out of memory\n", status=3)
    with pytest.raises(TengenError, match=r"' ended with exit code 3, after 'terminate called: out of memory': exp"):
        measure_katago(command)


def test_on_windows_the_command_keeps_its_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[Any] = []

    def run(command: Any, **options: Any) -> Any:
        commands.append(command)
        return SimpleNamespace(stdout=KATAGO_OUTPUT, returncode=0)

    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr(benchmark.subprocess, "run", run)
    measure_katago(r"katago.exe benchmark -model C:\nets\a.bin.gz")
    assert commands == [["katago.exe", "benchmark", "-model", r"C:\nets\a.bin.gz"]]


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
    assert [line.split()[0] for line in lines] == [
        "Network",
        "It",
        *["Evaluations"] * len(report["evaluations_per_s"]),
        "Search",
    ]


def test_command_prints_json(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(**settings: Any) -> Any:
        asked.append((settings["network"], settings["katago"]))
        return REPORT

    monkeypatch.setattr(benchmark, "run_benchmark", run)
    result = CliRunner().invoke(cli, ["benchmark", "--json"])
    assert json.loads(result.stdout) == REPORT
    assert CliRunner().invoke(cli, ["benchmark", "--no-network"]).stdout == format_report(REPORT) + "\n"
    assert CliRunner().invoke(cli, ["benchmark", "--compare", "katago benchmark"]).exit_code == 0
    assert asked == [(NetworkConfig(), None), (None, None), (NetworkConfig(), "katago benchmark")]


def test_an_engine_that_refuses_is_reported() -> None:
    with pytest.raises(TengenError, match=r"a started engine: .*no_such_command.*unknown command"):
        seconds_to_answer(("no_such_command",))


def test_an_engine_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false" if sys.platform != "darwin" else "/usr/bin/false")
    with pytest.raises(TengenError, match=r"a started engine: .* exit code 1 instead of replying to 'name'"):
        seconds_to_answer(("name",))
