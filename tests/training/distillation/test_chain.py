"""The chain of `gtp-engine train chain`, as short as it can be."""

import shlex
import subprocess
from pathlib import Path

import pytest
from match_helpers import engine
from training.commands import carry_out_here
from training.needs_torch import torch
from training.toy import tiny_module

from gtp_engine.base import steps
from gtp_engine.base.steps import carry_out, carry_out_all, engine_command
from gtp_engine.nn.metadata import info_of, read_properties
from gtp_engine.training.distillation import chain
from gtp_engine.training.distillation.chain import TINY, steps_of, won_games
from gtp_engine.training.distillation.module_files import export_network
from gtp_engine.training.quantization import sensitivity

assert torch


@pytest.mark.long
def test_every_step_of_a_short_chain(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_status_of", carry_out_here)
    monkeypatch.setattr(chain, "available_cores", lambda: 1)
    players: list[str] = []
    monkeypatch.setattr(
        chain, "engine_command", lambda *flags: players.append(engine_command(*flags)) or engine("--score B+1")
    )
    monkeypatch.setattr(sensitivity, "ROUND_SECONDS", 0.01)
    sizes = {"sizes": "5=1", "board": 5, "positions": 100, "minutes": 0.001, "games": 1, "visits": 2}
    plan = TINY._replace(**sizes, quantization=("--positions", 48))
    teacher = tmp_path / "teacher.onnx"
    export_network(tiny_module(), teacher, name="teacher", origin="", terms="")
    commands = steps_of(plan, tmp_path, teacher)
    assert carry_out_all(commands) == 0
    infos = {path.stem: info_of(read_properties(path)) for path in tmp_path.glob("*.onnx") if path != teacher}
    assert {name: info.precision for name, info in infos.items()} == {
        "untrained": "float32", "trained": "float32", "trained-int8": "int8"
    }  # fmt: skip
    assert infos["trained"].origin != infos["untrained"].origin
    assert len((tmp_path / "match" / "results.jsonl").read_text().splitlines()) == plan.games
    assert "| 5×5 |" in capfd.readouterr().out, "the table of agreement"

    assert carry_out(commands[2], "") == 0
    assert "trained.onnx exists already" in capfd.readouterr().err
    assert "resume" in steps_of(plan, tmp_path, teacher)[1].command
    later = steps_of(plan, tmp_path, teacher, minutes=3)
    assert later[0].command[-4:] == ("resume", tmp_path / "run", "--minutes", 2.0), "the games are over"
    for player in {*players}:  # scripted engines stood for them in the match: these take seconds to get ready
        done = subprocess.run(shlex.split(player), input="name\nquit\n", capture_output=True, text=True, check=True)
        assert done.stdout.startswith("= Tengen\n")
    rate, games = won_games(commands[-1])
    assert rate in (0, 0.5, 1) and games == 1


def test_a_chain_with_a_deadline_divides_its_time(tmp_path: Path) -> None:
    games, training, *rest = steps_of(TINY, tmp_path, tmp_path / "teacher.onnx", minutes=27)
    assert games.command[games.command.index("--minutes") + 1] == 9 and "--positions" not in games.command
    assert training.command[-2:] == ("--minutes", 18.0)
    assert [step.title for step in rest] == [step.title for step in steps_of(TINY, tmp_path, tmp_path)[2:]]
