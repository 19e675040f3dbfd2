"""The chain of `scripts/alphago/chain`, as short as it can be: every stage, one game of each match, the table."""

import importlib.util
import re
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest
from nn.tiny_networks import v7_network
from training.needs_torch import torch

from gtp_engine.config.network import NetworkConfig
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.training.alphago.round_robin import Conditions, match_steps, players_of

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts" / "alphago"

assert torch


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # scripts beside the sources leave nothing there
    monkeypatch.syspath_prepend(SCRIPTS)
    loader = SourceFileLoader("alphago_chain", str(SCRIPTS / "chain"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def smallest(script: ModuleType) -> object:
    """Return a chain on 5×5 that takes some seconds a stage."""
    net = ("--layers", 2, "--channels", 4)
    learning = ("--samples", 512, "--batch", 64, "--validations", 1, "--threads", 1, "--precision", "float32")
    return script.Plan(
        size=5,
        play_records=("--games", 24, "--batch", 24),
        supervised_policy=(*net, *learning, "--test-share", 0.3),
        rollout_policy=("--epochs", 1, "--least-count", 5, "--test-share", 0.3, "--positions", 0),
        reinforce=("--iterations", 1, "--games", 4, "--validation-games", 4, "--threads", 1, "--precision", "float32"),
        value_network=(*learning, "--games", 24, "--hidden", 4, "--test-share", 0.3, "--rollouts", 0),
        games=1,
        seconds=0.02,
    )


def test_every_stage_of_a_short_chain(
    script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    some = ("mixed", "policy", "rave")  # enough for every kind of search, and quicker than all
    monkeypatch.setattr(script, "players_of", lambda *of: [each for each in players_of(*of) if each.key in some])
    teacher = v7_network(tmp_path / "teacher.onnx")
    out, plan = tmp_path / "chain", smallest(script)
    script.run_chain(plan, out, teacher, terms="CC0-1.0")
    said = capfd.readouterr()
    assert "5/5  Value network" in said.err
    assert "3/3  policy network alone – rollouts alone (RAVE)" in said.err

    evaluator = load_evaluator(NetworkConfig(model=str(out / "network"), provider="cpu"), log=print, board=(5, 5))
    assert [network.model.info.kind for network in evaluator.networks] == ["policy", "value"]
    assert {network.model.info.license for network in evaluator.networks} == {"CC0-1.0"}
    linear = evaluator.info.linear_policy
    assert linear is not None and linear.license == "CC0-1.0"
    evaluator.close()

    table = (out / "table.md").read_text("utf-8")
    assert table in said.out
    rows = [line.split(" | ") for line in table.splitlines()[4:]]
    assert [row[0] for row in rows] == ["| 1", "| 2", "| 3"] and {row[3] for row in rows} == {"2"}
    assert all(re.fullmatch(r"[+-]\d+ ± \d+", row[2]) for row in rows)

    script.run_chain(plan, out, teacher)
    again = capfd.readouterr()
    assert again.err.count("is there already") == 4 and table in again.out, "nothing is made or played again"


def test_everybody_plays_everybody(tmp_path: Path) -> None:
    players = players_of(tmp_path / "network", 0.5, "/usr/games/gnugo")
    steps = match_steps(players, Conditions(size=9, games=6, seconds=0.5), tmp_path, parallel=2)
    assert len(steps) == 15 and len({step.command[-1] for step in steps}) == 15
    assert all("--random-plies" in step.command for step in steps), "pairs of games with exchanged colours"
    by_key = {player.key: player.command for player in players}
    assert "--mode gtp --level 10" in by_key["gnugo"]
    assert "--visits 1" in by_key["policy"] and "--time-per-move" not in by_key["policy"]
    timed = [by_key[key] for key in ("value", "mixed", "rollouts", "rave")]
    assert all("--time-per-move 0.5 --no-early-stop" in command for command in timed)
    assert [re.search(r"rollout-share (\S+)", command)[1] for command in timed[:3]] == ["0", "0.5", "1"]  # type: ignore[index]
