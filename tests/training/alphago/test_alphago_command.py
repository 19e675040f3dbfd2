"""`gtp-engine alphago`: the flags of every stage, and what it reports without PyTorch."""

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
    monkeypatch.setattr("gtp_engine.training.core.requirements.find_spec", lambda name: None)
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


@pytest.mark.parametrize("stage", [*STAGES, "records"])
def test_flags_are_unique(stage: str) -> None:
    found = CliRunner().invoke(cli, ["alphago", stage, "--help"])
    assert found.exit_code == 0
    listed = [line.split()[0] for line in found.output.splitlines() if line.startswith("  --")]
    assert len(set(listed)) == len(listed)
