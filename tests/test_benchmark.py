"""The benchmark: its keys are stable, its numbers are numbers, and a broken start is reported."""

import json
import sys

import pytest
from click.testing import CliRunner

from gtp_engine import benchmark
from gtp_engine.benchmark import BenchmarkError, format_report, run_benchmark, seconds_to_answer
from gtp_engine.cli import cli

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


def test_command_prints_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "run_benchmark", lambda **_: REPORT)
    result = CliRunner().invoke(cli, ["benchmark", "--json"])
    assert json.loads(result.stdout) == REPORT
    assert CliRunner().invoke(cli, ["benchmark"]).stdout == format_report(REPORT) + "\n"


def test_an_engine_that_refuses_is_reported() -> None:
    with pytest.raises(BenchmarkError, match=r"did not answer 'no_such_command': \? unknown command"):
        seconds_to_answer(("no_such_command",))


def test_an_engine_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false" if sys.platform != "darwin" else "/usr/bin/false")
    with pytest.raises(BenchmarkError, match="did not answer 'name'"):
        seconds_to_answer(("name",))
