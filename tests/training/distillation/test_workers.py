"""Worker processes: blocks of all of them, their errors, their end."""

import multiprocessing
from pathlib import Path

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine.base.errors import ModelError
from gtp_engine.base.workers.worker_pool import FIRST_PLACE, WorkerPlace, _serve
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.training.distillation.labelled_games import SelfPlaySettings, first_game
from gtp_engine.training.distillation.workers import BlockWorkerMaker, Makers, OnnxTeacher, blocks_of_workers

SETTINGS = SelfPlaySettings({(5, 5): 1.0}, seed=3, batch=2)
FAKE = Makers(FakeEvaluator)


def test_two_workers_play_games_of_their_own() -> None:
    """Each sends the blocks it would generate alone, in the same order."""
    wanted = {first_game(3, worker) >> 32: worker for worker in (0, 1)}
    found: dict[int, list[list[int]]] = {0: [], 1: []}
    with blocks_of_workers(FAKE, SETTINGS, 2) as blocks:
        for block in blocks:
            if block is not None:
                worker = wanted[int(block.samples.game[0]) >> 32]
                found[worker].append(block.samples.game.tolist())
            if found[0] and found[1]:
                break
    for worker, numbers in found.items():
        alone = FAKE.blocks(SETTINGS, WorkerPlace(worker))
        assert numbers == [next(alone).samples.game.tolist() for _ in numbers]
    assert not multiprocessing.active_children()


def test_one_worker_is_this_process() -> None:
    with blocks_of_workers(FAKE, SETTINGS, 1) as blocks:
        assert next(blocks) is not None
        assert not multiprocessing.active_children()


def test_an_error_of_a_worker_is_raised_with_its_text(tmp_path: Path) -> None:
    path = tmp_path / "none.onnx"
    path.write_bytes(b"nothing")
    with (
        blocks_of_workers(Makers(OnnxTeacher(path, 2)), SETTINGS, 2) as blocks,
        pytest.raises(ModelError, match=r"^'none.onnx' is damaged or no ONNX file"),
    ):
        while next(blocks) is None:
            pass
    assert not multiprocessing.active_children()


def test_a_worker_whose_command_was_killed_ends_without_a_word() -> None:
    """Those of a plan could not evaluate any more, nor report that, and each wrote a traceback."""

    def teacher() -> Evaluator:
        raise ModelError("the process that runs the networks has ended")

    here, there = multiprocessing.Pipe()
    here.close()
    for makers in (FAKE, Makers(teacher)):
        _serve(BlockWorkerMaker(makers, SETTINGS), FIRST_PLACE, None, there)


def test_a_worker_that_dies_is_replaced_by_one_with_other_games() -> None:
    """The run ended.  Now nothing is lost that has arrived, and no game comes twice."""
    found: dict[int, list[list[int]]] = {}
    notes: list[str] = []
    with blocks_of_workers(FAKE, SETTINGS, 2, notes.append) as blocks:
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
        alone = FAKE.blocks(SETTINGS, WorkerPlace(worker, life))
        assert numbers == [next(alone).samples.game.tolist() for _ in numbers], "each block once, in its order"
