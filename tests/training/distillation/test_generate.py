"""Filling a folder: goals, Ctrl-C, progress, worker processes, and the command as users run it."""

import multiprocessing
import re
import signal
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from fake_evaluators import FakeEvaluator
from nn import tiny_networks
from training.distillation.test_shards import TEACHER

from gtp_engine import Evaluator, ModelError
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.workers.worker_pool import FIRST_PLACE, WorkerPlace, _serve
from gtp_engine.cli import cli
from gtp_engine.training.distillation.distillation_settings import GenerateSettings
from gtp_engine.training.distillation.generate import BlockWorkerMaker, DataFolder, Teacher, generate, pooled_blocks
from gtp_engine.training.distillation.labelled_games import LabelledBlock, first_game, play_blocks
from gtp_engine.training.distillation.shards import HELD_OUT, TRAIN, read_shard, shard_paths


def played(sizes: str = "4=1") -> Iterator[LabelledBlock]:
    return play_blocks(FakeEvaluator(), GenerateSettings(sizes=sizes, seed=1, batch=3))


def opened(path: Path, **settings: Any) -> DataFolder:
    return DataFolder(path, TEACHER, GenerateSettings(**settings))


def written(path: Path) -> int:
    return sum(read_shard(shard)[0].count for split in (TRAIN, HELD_OUT) for shard in shard_paths(path / split))


# --- When it ends


def test_it_ends_when_the_folder_holds_enough(tmp_path: Path) -> None:
    folder = opened(tmp_path, positions=200)
    folder.fill(played())
    assert 200 <= written(tmp_path) == folder.new < 200 + 48
    again = opened(tmp_path, positions=folder.new)
    again.fill(played())
    assert again.new == again.labelled.total() == 0, "the goal is the folder's, not the run's"


def test_it_ends_when_time_is_up(tmp_path: Path) -> None:
    folder = opened(tmp_path, minutes=0.2 / 60)
    folder.fill(played())
    assert 0.2 <= folder.seconds < 20
    assert written(tmp_path) == folder.new > 0


@pytest.mark.parametrize("is_stopped", [False, True])
def test_it_ends_with_the_blocks_or_when_it_is_stopped(tmp_path: Path, is_stopped: bool) -> None:
    asked: list[bool] = []
    folder = opened(tmp_path)

    def progress(positions: int, text: str) -> None:
        assert text.startswith(f"{positions:,} positions, ")
        asked.append(is_stopped and folder.labelled.total() >= 96)

    table = folder.fill(islice(played(), 3), progress, lambda: any(asked))
    assert (table.endswith(", stopped"), folder.labelled.total()) == (is_stopped, 96 if is_stopped else 3 * 48)
    assert written(tmp_path) == folder.new


def test_it_can_be_stopped_before_the_first_block(tmp_path: Path) -> None:
    def nothing() -> Iterator[None]:
        while True:
            answers.append(len(answers) == 3)
            yield None

    answers: list[bool] = []
    table = opened(tmp_path).fill(nothing(), is_stopped=lambda: any(answers))
    assert table.endswith("0 new positions in 0 s (0/s), 0 duplicates left out, stopped")


def test_an_error_of_the_blocks_loses_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[LabelledBlock]:
        yield from islice(played(), 2)
        raise RuntimeError("worker")

    with pytest.raises(RuntimeError, match="worker"):
        opened(tmp_path).fill(broken())
    assert written(tmp_path) > 48


# --- What is shown


def test_the_table_has_a_line_for_each_board(tmp_path: Path) -> None:
    folder = opened(tmp_path, positions=1500)
    head, first, second, last = folder.fill(played("4=1,5x3=1")).splitlines()
    assert head.split() == ["board", "labelled", "share", "a", "worker,", "/s", "in", "the", "folder"]
    assert [line.split()[0] for line in (first, second)] == ["5x3", "4x4"] and first.split()[3].isdigit()
    assert int(first.split()[-1]) + int(second.split()[-1]) == folder.new == written(tmp_path)
    assert last.startswith(f"{folder.new:,} new positions in ")
    assert last.endswith(f"{folder.duplicates:,} duplicates left out")


# --- The command


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["generate", *arguments], env={"COLUMNS": "120"})


def test_the_command_generates_data_with_a_network_and_continues(tmp_path: Path) -> None:
    network = tiny_networks.v7_network(tmp_path / "tiny.onnx", license="CC0", source_sha256="ab")
    arguments = (str(network), str(tmp_path / "data"), "--sizes", "5=1,6x4=1", "--batch", "4", "--provider", "cpu")
    first = run(*arguments, "--positions", "600", "--held-out", "0.2")
    assert first.exit_code == 0
    assert not re.sub(r"^.*\d positions, \d+/s.*\n", "", first.stderr, flags=re.MULTILINE), "nothing but its progress"
    assert "new positions in" in first.stdout
    count = written(tmp_path / "data")
    assert 600 <= count < 700
    samples, meta = read_shard(shard_paths(tmp_path / "data" / TRAIN)[0])
    assert (meta.teacher, meta.teacher_sha256, meta.licence, meta.seed) == ("tiny", "ab", "CC0", 1)
    np.testing.assert_allclose(samples.policy.sum(axis=1, dtype=float), 1, atol=2e-3)
    np.testing.assert_allclose(samples.value.sum(axis=1, dtype=float), 1, atol=2e-3)
    second = run(*arguments, "--positions", "1000")
    assert second.exit_code == 0
    assert written(tmp_path / "data") >= 1000
    assert {path.name.split("-")[1] for path in shard_paths(tmp_path / "data" / TRAIN)} == {"1", "2"}


def test_an_interrupted_command_tells_a_chain_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next command would otherwise begin with too few positions."""

    def generate(*_: object, **__: object) -> str:
        signal.raise_signal(signal.SIGTERM)
        return "a table"

    monkeypatch.setattr("gtp_engine.training.distillation.generate.generate", generate)
    done = CliRunner().invoke(cli, ["generate", "teacher.onnx", "data"])
    assert (done.exit_code, done.output) == (130, "a table\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "nine"], "Error: sizes 'nine': expected sizes from 2 to 25"),
        (["--precision", "int8"], "Error: precision int8: expected a quantized network"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    network = tiny_networks.v7_network(tmp_path / "tiny.onnx")
    done = run(str(network), str(tmp_path / "data"), *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith(message), done.stderr
    assert len(done.stderr.splitlines()) == 1


SETTINGS = GenerateSettings(sizes="5=1", seed=3, batch=2)
FAKE = BlockWorkerMaker(SETTINGS, FakeEvaluator)


def test_an_error_of_a_worker_is_raised_with_its_text(tmp_path: Path) -> None:
    path = tmp_path / "none.onnx"
    path.write_bytes(b"nothing")
    with (
        pooled_blocks([BlockWorkerMaker(SETTINGS, Teacher(path, GenerateSettings()))], 2) as blocks,
        pytest.raises(ModelError, match=r"^'none.onnx' is damaged or no ONNX file"),
    ):
        while next(blocks) is None:
            pass
    assert not multiprocessing.active_children()


def test_a_worker_whose_command_was_killed_ends_without_a_word() -> None:

    def teacher() -> Evaluator:
        raise ModelError("the process that runs the networks has ended")

    here, there = multiprocessing.Pipe()
    here.close()
    for maker in (FAKE, BlockWorkerMaker(SETTINGS, teacher)):
        _serve(maker, FIRST_PLACE, None, there)


def test_one_worker_is_this_process(tmp_path: Path) -> None:
    network = tiny_networks.v7_network(tmp_path / "tiny.onnx")
    settings = GenerateSettings(positions=50, sizes="5=1", provider="cpu")
    with ProgressBar() as bar:
        table = generate(network, tmp_path / "data", settings, bar, lambda: bool(multiprocessing.active_children()))
    assert "stopped" not in table


def test_a_worker_that_dies_is_replaced_by_one_with_other_games() -> None:
    """The run ended.  Now nothing is lost that has arrived, and no game comes twice."""
    found: dict[int, list[list[int]]] = {}
    notes: list[str] = []
    with pooled_blocks([FAKE], 2, note=notes.append) as blocks:
        for block in blocks:
            if block is None:
                continue
            number = int(block.samples.game[0])
            found.setdefault(number >> 24, []).append(block.samples.game.tolist())
            if len(found) == 2 and not notes:
                for process in multiprocessing.active_children():
                    process.kill()
            if len(found) == 4:
                break
    assert sorted(found) == sorted(first_game(3, worker, life) >> 24 for worker in (0, 1) for life in (0, 1))
    for worker, life in ((0, 0), (1, 0), (0, 1), (1, 1)):
        numbers = found[first_game(3, worker, life) >> 24]
        alone = FAKE.blocks(WorkerPlace(worker, life))
        assert numbers == [next(alone).samples.game.tolist() for _ in numbers], "each block once, in its order"
