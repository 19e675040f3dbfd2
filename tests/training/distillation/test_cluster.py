"""Workers on a Ray cluster: one of two nodes on this machine, which takes half a minute; skipped without Ray."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_evaluators import FakeEvaluator
from ray_support import HAS_RAY, needs_ray, two_nodes

from gtp_engine.errors import WorkerError
from gtp_engine.training.distillation.labelled_games import MOST_WORKERS, SelfPlaySettings, first_game
from gtp_engine.training.distillation.workers import Makers, OnnxTeacher, SentTeacher, blocks_of_cluster
from gtp_engine.worker_process import LOCAL

SETTINGS = SelfPlaySettings({(5, 5): 1.0}, seed=7, batch=2)
FAKE = Makers(FakeEvaluator)

LONGEST_WAIT = 300.0
"""Seconds until both actors must have started."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return the address of a cluster of two nodes, of one core each."""
    with two_nodes() as found:
        yield found


@needs_ray
@pytest.mark.filterwarnings("ignore")
def test_workers_on_two_nodes_play_games_of_their_own(address: str) -> None:
    wanted = {first_game(7, 0) >> 32, first_game(7, 1) >> 32}
    workers: set[int] = set()
    with blocks_of_cluster(FAKE, SETTINGS, 2, address, threads=1) as found:
        deadline = time.monotonic() + LONGEST_WAIT
        while workers != wanted and time.monotonic() < deadline:
            block = next(found)
            if block is not None:
                assert block.board == (5, 5)
                workers |= set((block.samples.game >> 32).tolist())
    assert workers == wanted, "two nodes of one core: an actor on each"


@needs_ray
@pytest.mark.filterwarnings("ignore")
def test_an_error_of_a_worker_is_raised_with_its_text(address: str, tmp_path: Path) -> None:
    path = tmp_path / "none.onnx"
    path.write_bytes(b"nothing")
    teacher = Makers(SentTeacher(OnnxTeacher(path, 2)))
    with (
        blocks_of_cluster(teacher, SETTINGS, 1, address, threads=1) as found,
        pytest.raises(WorkerError, match=r"^'none.onnx' is damaged or no ONNX file"),
    ):
        next(block for block in found if block is not None)


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed")
def test_without_ray_the_error_names_the_extra() -> None:
    with (
        pytest.raises(WorkerError, match=r"pip install 'gtp-engine\[ray\]'"),
        blocks_of_cluster(FAKE, SETTINGS, 1, LOCAL, threads=1),
    ):
        pass


def test_numbers_of_games_contain_seed_and_worker() -> None:
    assert first_game(7, 1) - first_game(7, 0) == 1 << 32
    assert first_game(8, 0) == first_game(7, MOST_WORKERS)
