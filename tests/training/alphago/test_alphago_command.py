"""`gtp-engine alphago`: the flags of every stage, and what it reports without PyTorch."""

import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from gtp_engine.base.installation import advice_for
from gtp_engine.cli import cli

STAGES = {
    "policy": ("records", "run", "--minutes=1"),
    "rollout-policy": ("records", "run"),
    "rollout-network": ("records", "run", "--minutes=1"),
    "reinforce": ("supervised", "run"),
    "value": ("supervised", "reinforced", "run", "--minutes=1"),
    "chain": ("folder",),
}


@pytest.mark.parametrize("stage", STAGES)
def test_stages_need_pytorch(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.training.core.learning.find_spec", lambda name: None)
    found = CliRunner().invoke(cli, ["alphago", stage, *STAGES[stage]])
    assert found.exit_code == 2
    assert found.stderr == f"Error: training needs PyTorch; {advice_for('train')}\n"


@pytest.mark.parametrize(
    ("stage", "flag", "message"),
    [
        ("policy", "--layers=1", "option policy.layers = 1: expected an integer of at least 2"),
        ("rollout-network", "--layers=1", "option rollout_net.layers = 1: expected an integer of at least 2"),
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
