"""The supervised policy: it learns, resumes exactly, and its examples have the right perspective."""

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from training.alphago.games import ORDERLY_MOVES, orderly_records, write_records
from training.needs_torch import torch

from gtp_engine import Config, ConfigError, Game, ModelError
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.steps import never
from gtp_engine.cli import cli
from gtp_engine.nn.evaluators import evaluator_of
from gtp_engine.search.limits import Limits
from gtp_engine.search.players import rollout_players
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.training.alphago.stages.game_positions import GameStore, example_stream, examples_of
from gtp_engine.training.alphago.stages.nets import NetShape, PolicyNet, new_net, read_policy
from gtp_engine.training.alphago.stages.stage_settings import (
    PolicyLearning,
    PolicySettings,
    RolloutNetSettings,
    StageRun,
)
from gtp_engine.training.alphago.stages.supervised import PolicyRun, run_supervised
from gtp_engine.training.core.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.reporting import read_log

pytest.importorskip("matplotlib", reason="curves need matplotlib")

LEARNING = PolicyLearning(
    samples=60 * 32, batch=32, learning_rate=0.01, threads=1, precision="float32", validations=4, log_steps=5
)
MACHINE = choose_machine("cpu", "float32", threads=1)
GAMES = 40
SHORT = 20 * 32
"""Samples of a run that need not learn much."""


def run(out: Path, is_stopped: Callable[[], bool] = never, **changes: Any) -> bool:
    """Train a small network on orderly games; return whether its file has been written."""
    settings = PolicySettings(layers=3, channels=12, test_share=0.2)
    with ProgressBar() as bar:
        run_supervised(orderly_records(GAMES), settings, replace(LEARNING, **changes), StageRun(out, bar, is_stopped))
    return (out / "policy.onnx").exists()


def test_a_network_learns_to_predict_moves(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) and (tmp_path / "curves.png").exists()
    log = read_log(tmp_path / "log.jsonl")
    tests = [line["figures"]["test"] for line in log if line["kind"] == "validation"]
    assert tests[-1]["loss"] < 0.8 * tests[0]["loss"] and tests[-1]["loss"] < 2.5
    assert tests[-1]["top-1"] > 0.2 and tests[-1]["top-5"] > tests[-1]["top-1"]
    assert "top-5" in capfd.readouterr().err


def test_a_network_for_rollouts_plays_them_beside_a_policy_without_a_value(tmp_path: Path) -> None:
    """The policy alone plays with rollouts that count in full (λ = 1), by either kind of rollouts."""
    run(tmp_path / "policy", samples=SHORT)
    settings = RolloutNetSettings(layers=2, channels=4, test_share=0.2)
    with ProgressBar() as bar:
        made = StageRun(tmp_path / "small", bar)
        run_supervised(orderly_records(GAMES), settings, replace(LEARNING, samples=SHORT), made)
    with pytest.raises(ModelError, match="a rollout network: expected a run with a policy network"):
        read_policy(tmp_path / "small")
    folder = tmp_path / "network"
    folder.mkdir()
    shutil.copy(tmp_path / "policy" / "policy.onnx", folder)
    alone = Config().with_values({"network.model": str(folder), "network.provider": "cpu", "search.visits": 40})
    with pytest.raises(ModelError, match=r"expected one for value too.*--rollout-share 1"):
        evaluator_of(alone, print)
    config = alone.with_values({"puct.rollout_share": 1})
    size = read_policy(tmp_path / "policy").shape.width
    for policy in ("tactical", "network"):
        evaluator = evaluator_of(config, print)
        assert evaluator is not None
        assert not evaluator.info.has_value
        assert evaluator.info.has_rollout_policy == (policy == "network")
        played = config.with_values({"search.rollout_policy": policy})
        with pytest.raises(ConfigError, match="without a value network: expected 1"):
            rollout_players(alone, evaluator)
        with closing(PuctSearch(played, evaluator)) as search:
            report = search.run(Game(size), Limits(visits=40))
        assert report.visits == 40 and 0 < report.winrate < 1
        evaluator.close()
        shutil.copy(tmp_path / "small" / "rollout.onnx", folder)


def test_a_stopped_run_resumes_exactly(tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    run(whole, samples=SHORT)
    answers = iter([False] * 7 + [True])
    assert not run(parted, lambda: next(answers), samples=SHORT)
    assert read_checkpoint(parted).steps == 7
    assert run(parted, samples=SHORT)
    torch.testing.assert_close(read_checkpoint(parted).weights, read_checkpoint(whole).weights, rtol=0, atol=0)
    steps = [line["steps"] for line in read_log(parted / "log.jsonl")]
    assert steps == sorted(steps)
    with pytest.raises(ConfigError, match="batch 32 there, 16 now"):
        run(parted, samples=SHORT, batch=16)


def test_the_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    """Of the same kind, such as one of reinforcement, or of another: both were a KeyError."""
    for kind, error, message in (
        ("policy", ConfigError, "stage None there, 'supervised policy' now"),
        ("value", ModelError, "a checkpoint of a value network: expected one of policy; name another folder"),
    ):
        write_checkpoint(tmp_path, Checkpoint(kind, {}, {"iterations": 1}, {}, {}, 1, 1, 1.0))
        with pytest.raises(error, match=message):
            run(tmp_path)


def test_accuracies_count_what_was_played(tmp_path: Path) -> None:
    store = GameStore(orderly_records(3))
    stones = store.stones()
    actions = torch.from_numpy(store.actions(stones, np.zeros(len(stones), dtype=np.int32)).astype(np.int64))
    place = iter(range(0, len(actions), 512))

    def fifth(planes: torch.Tensor) -> torch.Tensor:
        begin = next(place)
        logits = torch.full((len(planes), 25), 0.0)
        played = actions[begin : begin + len(planes)]
        for rank in range(4):
            logits[torch.arange(len(planes)), (played + 1 + rank) % 25] = 9.0 - rank
        logits[torch.arange(len(planes)), played] = 4.0
        return logits

    net = new_net(PolicyNet, NetShape(5, 5, layers=2, channels=1), seed=1)
    loop = PolicyRun(net, ((store, stones), (store, stones)), LEARNING, MACHINE, tmp_path, {})
    loop.average.module = fifth
    found = loop.validate()["test"]
    assert found["top-1"] == 0 and found["top-5"] == 1


def test_examples_have_the_perspective_of_the_side_to_move() -> None:
    """Own stones and opponent's stones; outcome 1 for the winner and −1 for the loser, of either colour."""
    store = GameStore(orderly_records(2))
    (examples,) = examples_of((store, store.stones()), for_value=True)
    own, other = examples.planes[:, 0].sum((1, 2)), examples.planes[:, 1].sum((1, 2))
    is_black = examples.planes[:, 48].amax((1, 2)) > 0
    assert torch.equal(own, torch.where(is_black, other, other - 1)), "Black has moved as often, White once less"
    assert is_black.tolist() == [True, False] * ORDERLY_MOVES
    assert examples.outcomes[:ORDERLY_MOVES].tolist() == [1, -1] * 6, "Black has won the first game"
    assert examples.outcomes[ORDERLY_MOVES:].tolist() == [-1, 1] * 6
    assert torch.equal(examples.owners[0], -examples.owners[1]) and examples.owners.abs().sum() > 0
    (of_policy,) = examples_of((store, store.stones()), for_value=False)
    assert of_policy.planes.shape[1] == 48 and of_policy.owners.shape == (len(examples.owners), 0)


def test_a_stream_shows_every_position_once_an_epoch_and_can_go_back() -> None:
    store = GameStore(orderly_records(4))
    stream = partial(example_stream, (store, store.stones()), 12, seed=1, for_value=False)
    batches = [*islice(stream(None), 5)]
    for again, wanted in zip(stream(batches[2][1]), batches[3:], strict=False):
        assert all(torch.equal(a, b) for a, b in zip(again[0], wanted[0], strict=True)) and again[1] == wanted[1]
    moves = sorted(int(batch.planes[row, 0].sum() + batch.planes[row, 1].sum())
                   for batch, _ in batches[:4] for row in range(12))  # fmt: skip
    assert moves == sorted(list(range(12)) * 4)


def test_the_command_trains(tmp_path: Path) -> None:
    records, out = write_records(tmp_path / "records", 12), tmp_path / "run"
    command = ["alphago", "policy", str(records), str(out), "--test-share=0.3"]
    sizes = ["--layers=2", "--channels=4", "--batch=8", "--validations=1", "--threads=1", "--license=CC0"]
    found = CliRunner().invoke(cli, [*command, *sizes, "--samples=24"])
    assert found.exit_code == 0 and "top-5" in found.stderr and read_policy(out).shape.channels == 4
