"""`gtp-engine alphago`: the flags of every stage, and what it reports without PyTorch."""

import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from gtp_engine.cli import cli

STAGES = {
    "policy": ("records", "run", "--minutes=1"),
    "rollout-policy": ("records", "run"),
    "reinforce": ("supervised", "run"),
    "value": ("supervised", "reinforced", "run", "--minutes=1"),
    "chain": ("folder",),
}


@pytest.mark.parametrize("stage", STAGES)
def test_stages_need_pytorch(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.training.core.learning.find_spec", lambda name: None)
    found = CliRunner().invoke(cli, ["alphago", stage, *STAGES[stage]])
    assert found.exit_code == 2
    assert found.stderr == 'Error: training needs PyTorch; install it: pip install "gtp-engine[train]"\n'


@pytest.mark.parametrize(
    ("stage", "flag", "message"),
    [
        ("policy", "--layers=1", "option policy.layers = 1: expected an integer of at least 2"),
        ("policy", "--minutes=0", "a run without end: expected a number of samples or minutes"),
        ("rollout-policy", "--test-share=2", "option rollout.test_share = 2.0: expected a number from 0 to 1"),
        ("reinforce", "--rules=japanese", "option games.rules = 'japanese': expected tromp-taylor or chinese"),
    ],
)
def test_values_out_of_bounds(stage: str, flag: str, message: str) -> None:
    found = CliRunner().invoke(cli, ["alphago", stage, *STAGES[stage], flag])
    assert found.exit_code == 2 and message in found.stderr


def test_interrupted_records_tell_a_chain_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next stage would otherwise begin with too few games."""

    def play_records(*_: object, **__: object) -> int:
        signal.raise_signal(signal.SIGTERM)
        return 1

    for name, function in (("play_records", play_records), ("load_player", lambda *_, **__: None)):
        monkeypatch.setattr(f"gtp_engine.training.alphago.stages.play_records.{name}", function)
    done = CliRunner().invoke(cli, ["alphago", "records", "net.onnx", str(tmp_path)])
    assert done.exit_code == 130 and done.output.startswith("1 game played")


@pytest.mark.parametrize(
    ("stage", "run", "comparison"),
    [
        ("value", "value.run_value", "comparisons.compare_run"),
        ("rollout-policy", "rollout_policy.run_rollout_policy", "comparisons.report_run"),
    ],
)
def test_the_comparison_after_a_run_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, run: str, comparison: str
) -> None:
    """It takes minutes, and the first Ctrl-C only told the run to write its checkpoint, which was written."""
    pytest.importorskip("torch", reason="training needs PyTorch")
    before, found = signal.getsignal(signal.SIGINT), []

    def compare(*_: object, **__: object) -> str:
        found.append(signal.getsignal(signal.SIGINT))
        return "a table"

    monkeypatch.setattr("gtp_engine.training.alphago.stages.game_records.read_games", lambda *_, **__: [])
    monkeypatch.setattr(f"gtp_engine.training.alphago.stages.{run}", lambda *_, **__: tmp_path)
    monkeypatch.setattr(f"gtp_engine.training.alphago.stages.{comparison}", compare)
    done = CliRunner().invoke(cli, ["alphago", stage, *STAGES[stage]])
    assert (done.exit_code, done.stdout, found) == (0, "a table\n", [before])


def test_a_rollout_policy_that_cannot_be_read_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is for the comparison, which comes after hours of training."""
    pytest.importorskip("torch", reason="training needs PyTorch")
    monkeypatch.setattr("gtp_engine.training.alphago.stages.value.run_value", lambda *_: pytest.fail("it has begun"))
    done = CliRunner().invoke(cli, ["alphago", "value", *STAGES["value"], "--linear=none.npz"])
    assert done.exit_code == 2 and "'none.npz'" in done.stderr
