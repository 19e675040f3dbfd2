"""`gtp-engine alphago`: the flags of every stage, what it reports without PyTorch, and its chain at its shortest."""

import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from match_helpers import engine
from nn.tiny_networks import v7_network
from training.commands import carry_out_here
from training.needs_torch import torch

from gtp_engine.base import steps
from gtp_engine.base.installation import advice_for
from gtp_engine.base.steps import ENGINE
from gtp_engine.cli import cli
from gtp_engine.cli.alphago_command import alphago_command
from gtp_engine.config.sections import NetworkConfig
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.training.alphago.linear_policy import LinearPolicy
from gtp_engine.training.alphago.stages import stage_chain
from gtp_engine.training.alphago.stages.stage_chain import MINI, players_of, tournament_of

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


def test_interrupted_records_tell_a_chain_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next stage would otherwise begin with too few games."""

    def play_records(*_: object, **__: object) -> tuple[int, int]:
        signal.raise_signal(signal.SIGTERM)
        return 2, 3

    for name, function in (("play_records", play_records), ("load_player", lambda *_, **__: None)):
        monkeypatch.setattr(f"gtp_engine.training.alphago.stages.play_records.{name}", function)
    done = CliRunner().invoke(cli, ["alphago", "records", "net.onnx", str(tmp_path)])
    assert done.exit_code == 130 and done.output.startswith("1 game played, 3 in ")


assert torch

_NET = ("--layers", 2, "--channels", 4)
_LEARNING = ("--samples", 512, "--batch", 64, "--validations", 1, "--threads", 1, "--precision", "float32")
SMALLEST = stage_chain.StageFlags(
    command="the smallest",
    size=5,
    records=("--games", 24, "--parallel-games", 24),
    policy=(*_NET, *_LEARNING, "--test-share", 0.3),
    rollout_policy=("--epochs", 1, "--least-count", 5, "--test-share", 0.3),
    rollout_network=(*_NET, *_LEARNING, "--test-share", 0.3),
    reinforce=("--iterations", 1, "--games", 4, "--evaluation-games", 4, "--threads", 1, "--precision", "float32"),
    value=(*_LEARNING, "--games", 24, "--hidden", 4, "--test-share", 0.3),
    games=1,
    seconds=0.02,
)
"""A chain on 5×5 with a few seconds for each stage."""


def scripted_players(network: Path, seconds: float, gnugo: str | None) -> dict[str, str]:
    """Return scripted engines for two of the players, whose flags exist: those take seconds to get ready."""
    players = players_of(network, seconds)
    for player in players.values():
        assert cli.commands["gtp"].make_context("gtp", shlex.split(player)[len(ENGINE) :]).params
    return {name: engine("--score B+1") for name in [*players][:2]}


def test_a_short_chain(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_chain, "players_of", scripted_players)
    monkeypatch.setattr(steps, "_status_of", carry_out_here)
    teacher, out = v7_network(tmp_path / "teacher.onnx"), tmp_path / "chain"
    stage_chain.run_chain(SMALLEST, out, teacher, terms="CC0-1.0")
    log = capfd.readouterr().err
    assert "6/6  Value network" in log
    assert "1/1  Tournament" in log

    evaluator = load_evaluator(NetworkConfig(model=str(out / "network"), provider="cpu"), log=print, board=(5, 5))
    assert [model.info.kind for model in evaluator.models] == ["policy", "value", "rollout"]
    assert {model.info.license for model in evaluator.models} == {"CC0-1.0"}
    linear = evaluator.info.rollout_weights
    assert isinstance(linear, LinearPolicy) and linear.license == "CC0-1.0"
    evaluator.close()

    table = (out / "table.md").read_text("utf-8")
    rows = [line.split(" | ") for line in table.splitlines()[6:]]
    assert [row[0] for row in rows] == ["| 1", "| 2"] and {row[3] for row in rows} == {"1"}
    assert all(re.fullmatch(r"[+-]\d+ ± \d+", row[2]) for row in rows)

    stage_chain.run_chain(SMALLEST, out, teacher)
    again = capfd.readouterr().err
    products = "supervised/policy.onnx rollouts/rollout-policy.npz rollout-network/rollout.onnx value/value.onnx"
    assert all(f"{out / product} " in again for product in products.split()), "nothing is trained again"
    assert (out / "table.md").read_text("utf-8") == table


@pytest.mark.parametrize("plan", [stage_chain.FULL, stage_chain.MINI], ids=["full", "mini"])
def test_the_flags_of_a_plan_exist(plan: stage_chain.StageFlags, tmp_path: Path) -> None:
    for step in stage_chain.training_steps(plan, tmp_path, tmp_path / "teacher.onnx", terms="MIT"):
        group, stage, *arguments = (str(part) for part in step.command[len(ENGINE) :])
        assert group == "alphago"
        assert alphago_command.commands[stage].make_context(stage, arguments).params
    assert MINI.on(9) == MINI
    assert (MINI.on(7).size, MINI.on(7).command) == (7, "gtp-engine alphago chain --mini --size 7")


def test_all_pairs_play(tmp_path: Path) -> None:
    text = tournament_of(players_of(tmp_path / 'a "network" λ', 0.5, "/usr/games/gnugo"), MINI)
    described = tomllib.loads(text)
    assert (described["games"], described["conditions"]) == (4, [{"size": 9, "random-plies": 4}])
    *timed, policy, rave, gnugo = [entrant["command"] for entrant in described["engines"]]
    assert "--mode gtp --level 10" in gnugo
    assert "--visits 1" in policy and "--time-per-move" not in policy and 'a "network" λ' in policy
    assert all("--time-per-move 0.5 --no-early-stop" in command for command in (*timed, rave))
    assert [re.search(r"rollout-share (\S+)", command)[1] for command in timed] == ["0", "0.5", "1"]  # type: ignore[index]


def test_nothing_imports_alphago_until_it_is_asked_for() -> None:
    program = (
        "import sys; import gtp_engine.nn.loading, gtp_engine.search.puct.puct_search;"
        "import gtp_engine.protocols.gtp.session;"
        "from gtp_engine.config import Config; from gtp_engine.engine.resources import Resources;"
        "from gtp_engine.engine.searches import new_searcher;"
        "from gtp_engine import FunctionEvaluator; from gtp_engine.search.players import rollout_players;"
        "new_searcher(Resources(None), Config()).close();"
        "assert rollout_players(Config(), FunctionEvaluator(print, 'none')) is None;"
        "print([name for name in sys.modules if name.startswith('gtp_engine.training.alphago')])"
    )
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == "[]"
