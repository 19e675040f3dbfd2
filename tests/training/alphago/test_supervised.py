"""The supervised policy: it learns, goes on exactly where it was, and plays in the engine for either colour."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training.alphago.games import ORDERLY_MOVES, orderly_records, write_records
from training.needs_torch import torch

from gtp_engine.errors import ConfigError
from gtp_engine.progress import ProgressBar
from gtp_engine.training.alphago.examples import ExampleStream, examples_of
from gtp_engine.training.alphago.game_positions import Picks, Shelf
from gtp_engine.training.alphago.game_records import RecordsError
from gtp_engine.training.alphago.stage_checkpoint import policy_of
from gtp_engine.training.alphago.stage_settings import StageLearning
from gtp_engine.training.alphago.supervised import SupervisedRun, accuracy, run_supervised
from gtp_engine.training.core.checkpoint import read_checkpoint
from gtp_engine.training.core.run_log import read_log
from gtp_engine.training.core.stopping import never

pytest.importorskip("matplotlib", reason="curves need matplotlib")

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts" / "alphago"
LEARNING = StageLearning(
    samples=60 * 32, batch=32, learning_rate=0.01, threads=1, precision="float32", validations=4, log_steps=5
)
GAMES = orderly_records(40)


def a_run(out: Path, **changes: Any) -> SupervisedRun:
    return SupervisedRun(out, replace(LEARNING, **changes), layers=3, channels=12, test_share=0.2)


def test_a_network_learns_to_foretell_moves(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with ProgressBar() as bar:
        path = run_supervised(a_run(tmp_path), GAMES, bar, never)
    assert path == tmp_path / "policy.onnx" and path.exists() and (tmp_path / "curves.png").exists()
    log = read_log(tmp_path / "log.jsonl")
    judged = [line["figures"]["test"] for line in log if line["kind"] == "validation"]
    assert judged[-1]["loss"] < 0.8 * judged[0]["loss"] and judged[-1]["loss"] < 2.5
    assert judged[-1]["top-1"] > 0.2 and judged[-1]["top-5"] > judged[-1]["top-1"]
    assert "top-5" in capfd.readouterr().err


def test_a_run_that_was_stopped_goes_on_exactly(tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    with ProgressBar() as bar:
        run_supervised(a_run(whole), GAMES, bar, never)
        asked = iter([False] * 17 + [True])
        assert run_supervised(a_run(parted), GAMES, bar, lambda: next(asked)) is None
        assert read_checkpoint(parted).steps == 17
        assert run_supervised(a_run(parted), GAMES, bar, never) is not None
    weights = read_checkpoint(whole).weights
    for name, values in read_checkpoint(parted).weights.items():
        assert torch.equal(values, weights[name]), name
    assert [line["steps"] for line in read_log(parted / "log.jsonl")] == sorted(
        line["steps"] for line in read_log(parted / "log.jsonl")
    )
    with (
        ProgressBar() as bar,
        pytest.raises(ConfigError, match=r"the run there has batch 32, not 16: expected the settings"),
    ):
        run_supervised(a_run(parted, batch=16), GAMES, bar, never)


def test_accuracies_count_what_was_played() -> None:
    shelf = Shelf(GAMES[:3])
    picks = shelf.move_picks()
    actions = torch.from_numpy(shelf.actions(picks).astype(np.int64))
    place = iter(range(0, len(actions), 512))

    def fifth(planes: torch.Tensor) -> torch.Tensor:
        begin = next(place)
        logits = torch.full((len(planes), 25), 0.0)
        played = actions[begin : begin + len(planes)]
        for rank in range(4):
            logits[torch.arange(len(planes)), (played + 1 + rank) % 25] = 9.0 - rank
        logits[torch.arange(len(planes)), played] = 4.0
        return logits

    found = accuracy(shelf, picks, fifth)
    assert found["top-1"] == 0 and found["top-5"] == 1


def test_examples_show_the_side_to_move_and_its_outcome() -> None:
    """Own stones and opponent's stones, 1 for the winner's positions and −1 for the loser's, whichever colour."""
    shelf = Shelf(GAMES[:2])
    (examples,) = examples_of(shelf, shelf.move_picks(), size=64, for_value=True)
    own, other = examples.planes[:, 0].sum((1, 2)), examples.planes[:, 1].sum((1, 2))
    is_black = examples.planes[:, 48].amax((1, 2)) > 0
    assert torch.equal(own, torch.where(is_black, other, other - 1)), "Black has moved as often, White once less"
    assert is_black.tolist() == [True, False] * ORDERLY_MOVES
    assert examples.outcomes[:ORDERLY_MOVES].tolist() == [1, -1] * 6, "Black has won the first game"
    assert examples.outcomes[ORDERLY_MOVES:].tolist() == [-1, 1] * 6
    assert torch.equal(examples.owners[0], -examples.owners[1]) and examples.owners.abs().sum() > 0
    (of_policy,) = examples_of(shelf, shelf.move_picks(), size=64, for_value=False)
    assert of_policy.planes.shape[1] == 48 and of_policy.owners.shape == (len(examples.owners), 0)


def test_a_stream_shows_every_position_once_an_epoch_and_can_go_back() -> None:
    shelf = Shelf(GAMES[:4])
    stream = ExampleStream(shelf, shelf.move_picks(), 12, seed=1, for_value=False)
    batches = [next(stream) for _ in range(3)]
    state = stream.state()
    fourth, fifth = next(stream), next(stream)
    stream.go_to(state)
    for again, wanted in ((next(stream), fourth), (next(stream), fifth)):
        assert all(torch.equal(a, b) for a, b in zip(again, wanted, strict=True))
    moves = sorted(int(batch.planes[row, 0].sum() + batch.planes[row, 1].sum())
                   for batch in [*batches, fourth] for row in range(12))  # fmt: skip
    assert moves == sorted(list(range(12)) * 4)


def test_positions_after_the_last_move_have_no_action() -> None:
    shelf = Shelf(GAMES[:2])
    picks = Picks(np.array([0, 1]), np.array([12, 12]), np.array([1, 1], dtype=np.int8))
    (examples,) = examples_of(shelf, picks, size=2, for_value=True)
    assert examples.actions.tolist() == [-1, -1] and examples.outcomes.tolist() == [1, -1]


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path) -> None:
    with ProgressBar() as bar, pytest.raises(Exception, match=r"the loss after \d+ steps is (nan|inf)"):
        run_supervised(a_run(tmp_path, learning_rate=1e30, clip=1e30, optimizer="adamw"), GAMES, bar, never)


def test_games_of_which_none_are_left_to_test_on(tmp_path: Path) -> None:
    with ProgressBar() as bar, pytest.raises(RecordsError, match=r"games to learn from and 0 to test on"):
        run_supervised(SupervisedRun(tmp_path, LEARNING, 3, 4, test_share=0.0), GAMES, bar, never)


def test_the_script_trains_and_says_what_is_wrong(tmp_path: Path) -> None:
    records, out = write_records(tmp_path / "records", 12), tmp_path / "run"
    command = [sys.executable, str(SCRIPTS / "supervised_policy"), str(records), str(out), "--test-share=0.3"]
    sizes = ["--layers=2", "--channels=4", "--batch=8", "--validations=1", "--threads=1", "--license=CC0"]
    found = subprocess.run([*command, *sizes, "--samples=24"], capture_output=True, text=True, check=True, timeout=120)
    assert "top-5" in found.stderr and policy_of(out).shape.channels == 4
    found = subprocess.run([*command, *sizes], capture_output=True, text=True, check=False, timeout=120)
    assert found.returncode == 1 and "a run without end: expected a number of samples or minutes" in found.stderr
