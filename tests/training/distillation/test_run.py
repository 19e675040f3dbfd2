"""A run with all it leaves behind: log, curves, network; the commands around it, and their chain."""

import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from busy_machine import wait_until
from click.testing import CliRunner, Result
from match_helpers import engine
from training.commands import carry_out_here
from training.needs_torch import torch
from training.toy import exported, tiny_config, tiny_module, trained, write_data
from training.toy import run as run_module

from gtp_engine.base import steps
from gtp_engine.base.steps import ENGINE, carry_out_all, engine_command
from gtp_engine.cli import cli
from gtp_engine.config.sections import NetworkConfig
from gtp_engine.nn.katago_inputs import ADVANTAGE, GLOBALS
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.nn.metadata import info_of, read_metadata, read_properties
from gtp_engine.training.core.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from gtp_engine.training.core.loop import RunProgress, TrainingError
from gtp_engine.training.core.optimizer import ParallelGradients
from gtp_engine.training.core.reporting import add_line, begin_log, read_log, smoothed, write_panels
from gtp_engine.training.distillation import chain
from gtp_engine.training.distillation.chain import TINY, steps_of, won_games
from gtp_engine.training.distillation.module_files import KIND, module_of_file
from gtp_engine.training.distillation.run import DistillationRun, export_run, first_module
from gtp_engine.training.distillation.shards import Samples, ShardError, facts_of, read_shard, shard_paths, write_shard
from gtp_engine.training.nets.architecture import architecture_of
from gtp_engine.training.nets.new import PLAIN, WITH_ERRORS
from gtp_engine.training.quantization import sensitivity

SIZES = ["--blocks=1", "--channels=4", "--pooling-every=0"]
LEARNING = ["--batch=8", "--precision=float32", "--validations=1", "--boards=5=1"]


def test_a_run_leaves_log_curves_and_a_network_that_plays(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="curves need matplotlib")
    config = tiny_config(tmp_path, name="stones")
    assert trained(config)
    assert sorted(path.name for path in config.out.iterdir()) == [
        "checkpoint.pt", "curves.png", "log.jsonl", "stones.onnx"
    ]  # fmt: skip
    network = NetworkConfig(model=str(config.out / "stones.onnx"), provider="cpu")
    evaluator = load_evaluator(network, log=lambda _: None, board=(5, 5))
    origin = evaluator.models[0].info.origin
    assert origin == "trained by Tengen on 480 samples of positions labelled by counter of stones"
    shown = capfd.readouterr().err
    assert "validation (5x5) after 480 samples: positions" in shown and "stones.onnx" in shown


@pytest.mark.parametrize(("shares", "boards"), [((), "2-25"), (((5, 5, 1.0),), "5x5")])
def test_a_network_trained_on_one_board_alone_plays_that_board_alone(
    tmp_path: Path, shares: tuple[tuple[int, int, float], ...], boards: str
) -> None:
    config = tiny_config(tmp_path, board_shares=shares)
    assert trained(config)
    (file,) = config.out.glob("*.onnx")
    assert str(read_metadata(file).sizes) == boards


def relabel(data: Path, change: Callable[[Samples], Samples]) -> None:
    for path in shard_paths(data / "train"):
        samples, meta = read_shard(path)
        path.unlink()
        write_shard(path, change(samples), meta)


def test_a_network_knows_advantages_that_its_games_had(tmp_path: Path) -> None:
    config, advantage = tiny_config(tmp_path, name="stones", samples=16), np.eye(GLOBALS, dtype=np.float32)[ADVANTAGE]
    for with_advantages in (False, True):
        if with_advantages:
            relabel(config.data, lambda samples: samples._replace(globals=samples.globals + advantage))
        run = replace(config, out=tmp_path / str(with_advantages))
        assert trained(run)
        assert read_metadata(run.out / "stones.onnx").advantages == with_advantages


def test_a_run_without_curves_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    config = tiny_config(tmp_path, name="stones", in_memory=True)
    assert trained(config)
    assert sorted(path.name for path in config.out.iterdir()) == ["checkpoint.pt", "log.jsonl", "stones.onnx"]
    assert capfd.readouterr().err.count("no curves: matplotlib is missing") == 1


def test_a_new_network_has_the_outputs_that_its_data_label(tmp_path: Path) -> None:
    """The first shard of each board decides; positions without a label are left out of a loss."""
    config = tiny_config(tmp_path)
    assert first_module(config, facts_of(config.data / "train"), print).network.version == PLAIN.version
    relabel(config.data, lambda samples: samples._replace(optimistic=samples.policy, score=abs(samples.score)))
    write_data(config.data, (5, 5), seed=2)
    assert first_module(config, facts_of(config.data / "train"), print).network.version == WITH_ERRORS.version


@pytest.mark.parametrize(
    ("kind", "errors", "optimistic"),
    [("checkpoint", False, False), ("checkpoint", True, True), ("onnx", True, False), ("onnx", False, True)],
)
def test_a_run_drops_the_outputs_of_its_first_network_that_its_data_do_not_label(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str, errors: bool, optimistic: bool
) -> None:
    """The search would use them as they were, while the trunk before them changes."""
    first = tiny_module(outputs=WITH_ERRORS)
    if kind == "onnx":
        init = exported(tmp_path / "first.onnx", first)
    else:
        init = tmp_path / "run" / "checkpoint.pt"
        network = {"architecture": architecture_of(first.network), "counts_statistics": True}
        write_checkpoint(init.parent, Checkpoint(KIND, network, {}, first.state_dict(), {}, 0, 0, 0.0))
    config = tiny_config(tmp_path, name="second", samples=16, init=init, out=tmp_path / "second")
    if optimistic:
        relabel(config.data, lambda samples: samples._replace(optimistic=samples.policy))
    if errors:
        relabel(config.data, lambda samples: samples._replace(score=abs(samples.score)))
    begun = first_module(config, facts_of(config.data / "train"), print)
    for found, before in zip(run_module(begun.eval(), 5, 5), run_module(first, 5, 5), strict=True):
        torch.testing.assert_close(found, before[:, : found.shape[1]], rtol=1e-4, atol=1e-4)
    assert trained(config)
    shown = capfd.readouterr().err
    assert (f"{init.name} begins without its optimistic policy, for which" in shown) != optimistic
    assert (f"{init.name} begins without its expected errors, for which" in shown) != errors
    target = config.out / "second.onnx"
    outputs = run_module(module_of_file(target), 5, 5)
    assert (outputs.policy.shape[1], outputs.misc.shape[1]) == (1 + optimistic, 6 if errors else 3)
    info = read_metadata(target)
    assert info.model_version == (WITH_ERRORS if errors else PLAIN).version
    assert info.origin.endswith(f"labelled by counter of stones, beginning with {init.name}"), "whose terms may bind"


def test_the_log_of_a_continued_run_has_every_step_once(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="curves need matplotlib")
    config = tiny_config(tmp_path)
    assert trained(config)
    whole = read_log(config.out / "log.jsonl")
    checkpoint = read_checkpoint(config.out)
    begin_log(config.out / "log.jsonl", after=11)
    assert [line["steps"] for line in read_log(config.out / "log.jsonl")] == list(range(1, 12))
    steps = [line for line in whole if line["kind"] == "step"]
    assert [line["steps"] for line in steps] == list(range(1, 31)) and checkpoint.steps == 30
    assert steps[-1].keys() == {"kind", *RunProgress._fields}
    validations = [line for line in whole if line["kind"] == "validation"]
    assert [line["samples"] for line in validations] == [240, 480]
    figures = validations[0]["figures"]
    assert figures.keys() == {"5x5", "4x3"} and "policy_kl" in figures["5x5"]


def test_a_log_of_version_1_has_the_names_of_now(tmp_path: Path) -> None:
    """A run that began with it would otherwise have no curves of its games.  An incomplete line is left out."""
    figures = ['{"winrate": 0.25, "loss": 1.0}', '{"against the first network": {"winrate": 0.5}}']
    path = tmp_path / "log.jsonl"
    path.write_text(
        "".join(f'{{"steps": {i}, "games": 8, "figures": {each}}}\n' for i, each in enumerate(figures)) + '{"ste'
    )
    begin_log(path, after=1)
    add_line(path, {"steps": 2, "figures": {"winrate": 0.75}})
    training, test, after = (line["figures"] for line in read_log(path))
    assert [line.get("samples") for line in read_log(path)] == [8, 8, None]
    assert training == {"winrate": 0.25, "loss": 1.0} and after == {"winrate": 0.75}
    assert test == {"against the first network": {"winrate": 0.5}} and '"games"' not in path.read_text()
    assert smoothed([(i, i) for i in range(401)])[::133] == [(2, 1.0), (400, 399.5)], "neighbours are averaged"


def test_the_names_of_curves_have_a_fixed_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matplotlib looks for the best one on request, and warns when that takes long, as on a busy machine."""
    legend = pytest.importorskip("matplotlib.legend", reason="curves need matplotlib")
    monkeypatch.setattr(legend.Legend, "_find_best_position", None)
    write_panels(tmp_path / "curves.png", {"losses": {"training": [(0.0, 1.0), (1.0, 0.5)]}})
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def run(*arguments: object) -> Result:
    """Carry out a command of training in this process."""
    return CliRunner().invoke(cli, ["train", *map(str, arguments)])


@pytest.mark.parametrize("in_memory", [False, True])
def test_boards_without_positions_are_named(tmp_path: Path, in_memory: bool) -> None:
    lines: list[str] = []
    config = tiny_config(tmp_path, board_shares=((5, 5, 0.5), (7, 7, 0.3), (9, 7, 0.2)), in_memory=in_memory)
    DistillationRun(config, log=lines.append)
    assert lines == [f"no positions on 7x7, 9x7 in {config.data}: the other boards have their shares"]
    DistillationRun(replace(config, board_shares=()), log=lines.append)
    assert len(lines) == 1
    with pytest.raises(ShardError, match=r"^no shards in .*: expected some of the boards 7x7, 9x7$"):
        DistillationRun(replace(config, board_shares=config.board_shares[1:]), log=lines.append)


def test_a_run_without_validation_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A few games hold none out; a run looked as if it had been validated."""
    config = tiny_config(tmp_path, samples=16)
    for path in shard_paths(config.data / "held-out"):
        path.unlink()
    assert trained(config)
    assert f"no positions are held out in {config.data}: there are no validations" in capfd.readouterr().err


def test_a_run_goes_on_with_smaller_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, write, steps = tiny_config(tmp_path), ParallelGradients.write, list[Any]()

    def fail(*arguments: Any, **how: Any) -> Any:
        steps.append(arguments)
        if len(steps) == 4:
            raise torch.OutOfMemoryError
        return write(*arguments, **how)

    monkeypatch.setattr(ParallelGradients, "write", fail)
    message = r"^batches of 16 do not fit into the memory of cpu; continue with a smaller --batch \(`train resume`\)$"
    with pytest.raises(TrainingError, match=message):
        trained(config)
    found = run("resume", config.out, "--batch=8", f"--samples={3 * 16 + 2 * 8}")
    assert found.exit_code == 0, found.output
    assert (read_checkpoint(config.out).steps, read_checkpoint(config.out).samples) == (5, 64)


def test_a_run_goes_on_with_data_that_were_moved(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, samples=16)
    assert trained(config)
    config.data.rename(tmp_path / "elsewhere")
    found = run("resume", config.out, "--samples=32")
    assert found.exit_code == 2 and "--data" in found.stderr
    found = run("resume", config.out, "--samples=32", f"--data={tmp_path / 'elsewhere'}")
    assert found.exit_code == 0, found.output
    assert read_checkpoint(config.out).samples == 32


@pytest.mark.usefixtures("interruptible")
def test_the_commands_train_resume_export_and_validate(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="curves need matplotlib")
    data, out = write_data(tmp_path / "data", (5, 5)), tmp_path / "run"

    def interrupt() -> None:
        wait_until(lambda: (out / "log.jsonl").exists() and read_log(out / "log.jsonl"))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    found = run("run", f"--data={data}", f"--out={out}", "--minutes=9", *SIZES, *LEARNING)
    assert found.exit_code == 130 and f"gtp-engine train resume {out}" in found.stderr
    samples = read_checkpoint(out).samples
    found = run("resume", out, f"--samples={samples + 16}")
    assert found.exit_code == 0 and read_checkpoint(out).samples == samples + 16, found.stderr
    found = run("export", out, "-o", tmp_path / "net.onnx", "--license=CC0")
    assert found.stdout == f"Written: {tmp_path / 'net.onnx'}\n" and (tmp_path / "net.onnx").exists(), found.stderr
    table = run("validate", tmp_path / "net.onnx", data).stdout.splitlines()
    assert table[0].startswith("| board | positions |") and table[2].startswith("| 5×5 | ") and len(table) == 3


@pytest.mark.parametrize("command", ["resume", "export"])
def test_a_run_of_another_kind_is_refused(tmp_path: Path, command: str) -> None:
    write_checkpoint(tmp_path, Checkpoint("policy", {}, {"stage": "supervised policy"}, {}, {}, 1, 1, 1.0))
    found = run(command, tmp_path)
    message = "Error: a checkpoint of a policy network: expected one of distillation; name another folder\n"
    assert (found.exit_code, found.stderr) == (2, message)


def test_exports_have_the_name_of_their_size(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, samples=16)
    pytest.importorskip("matplotlib", reason="curves need matplotlib")
    assert trained(config)
    with pytest.raises(TrainingError, match=r"there is a run in .* already"):
        trained(config)
    assert export_run(config.out, tmp_path / "x.onnx", origin="elsewhere").name == "x.onnx"
    assert (config.out / "b2c6.onnx").exists() and torch.get_num_threads() == 1


assert torch


def test_a_short_chain(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_status_of", carry_out_here)
    monkeypatch.setattr(chain, "available_cores", lambda: 1)
    players: list[str] = []
    monkeypatch.setattr(
        chain, "engine_command", lambda *flags: players.append(engine_command(*flags)) or engine("--score B+1")
    )
    monkeypatch.setattr(sensitivity, "ROUND_SECONDS", 0.01)
    sizes = {"sizes": "5=1", "board": 5, "positions": 100, "minutes": 0.001, "games": 1, "visits": 2}
    plan = TINY._replace(**sizes, shape=tuple(SIZES), quantization=("--positions", 48))
    teacher = exported(tmp_path / "teacher.onnx")
    commands = steps_of(plan, tmp_path, teacher)
    carry_out_all(commands)
    infos = {path.stem: info_of(read_properties(path)) for path in tmp_path.glob("*.onnx") if path != teacher}
    assert {name: info.precision for name, info in infos.items()} == {
        "untrained": "float32", "trained": "float32", "trained-int8": "int8"
    }  # fmt: skip
    assert infos["trained"].origin != infos["untrained"].origin
    assert len((tmp_path / "match" / "results.jsonl").read_text().splitlines()) == plan.games
    assert "| 5×5 |" in capfd.readouterr().out, "the table of agreement"

    carry_out_all([commands[2]])
    assert "trained.onnx exists already" in capfd.readouterr().err
    assert "resume" in steps_of(plan, tmp_path, teacher)[1].command
    later = steps_of(plan, tmp_path, teacher, minutes=3)
    assert later[0].command[-4:] == ("resume", tmp_path / "run", "--minutes", 2.0), "the games are over"
    for player in players:  # scripted engines stood for them in the match: these take seconds to get ready
        flags = shlex.split(player)[len(ENGINE) :]
        network = cli.commands["gtp"].make_context("gtp", flags).params["network__model"]
        assert network in {str(path) for path in tmp_path.glob("*.onnx")}
    rate, games = won_games(commands[-1])
    assert rate in (0, 0.5, 1) and games == 1


def test_a_chain_with_a_deadline_divides_its_time(tmp_path: Path) -> None:
    games, training, *rest = steps_of(TINY, tmp_path, tmp_path / "teacher.onnx", minutes=27)
    assert games.command[games.command.index("--minutes") + 1] == 9 and "--positions" not in games.command
    assert training.command[-2:] == ("--minutes", 18.0)
    assert [step.title for step in rest] == [step.title for step in steps_of(TINY, tmp_path, tmp_path)[2:]]
