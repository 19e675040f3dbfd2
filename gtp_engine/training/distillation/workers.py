"""Workers that play and label side by side, each with games of its own: their networks, and where they run.

    Teacher, PlayingNetwork   the networks of a worker: the teacher labels the games, the player plays some of them
    blocks_of_workers        the blocks of this process, or of several on this machine
    pooled_blocks            those of any workers: processes of this machine, or actors on a Ray cluster

A block is what a worker returns for a task (`workers`), and tasks are all alike.  A block is counted once: when its
worker is lost before it has arrived, its games are, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple

from gtp_engine.base.errors import WorkerError
from gtp_engine.base.files import sha256_of
from gtp_engine.base.workers import open_workers
from gtp_engine.base.workers.worker_pool import FIRST_PLACE, WorkerJob, WorkerPlace, WorkerPool, ignore_note
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.nn.metadata import NetworkInfo, read_info
from gtp_engine.nn.network_evaluator import uncached_evaluator
from gtp_engine.nn.onnx_model import OnnxModel, runtime_here
from gtp_engine.training.distillation.distillation_settings import MOST_WORKERS, GenerateSettings
from gtp_engine.training.distillation.labelled_games import MOST_LIVES, LabelledBlock, SelfPlaySettings, play_blocks
from gtp_engine.training.selfplay.policy_games import MovePolicy, NetworkMoves, SearchMoves

TeacherMaker = Callable[[], Evaluator]
"""Returns a worker's teacher; can be pickled."""

CHECK_INTERVAL: Final = 1.0
"""Seconds of waiting for a block between two checks for an interruption."""
_BLOCKS_AHEAD: Final = 2
"""Blocks requested from each worker in advance, so that it does not wait while one is transferred."""


@dataclass(frozen=True)
class Teacher(ABC):
    """A network file and how it is run; called, it returns the evaluator.  It is pickled for workers.

    `looks` is as in `uncached_evaluator`.
    """

    path: Path
    settings: GenerateSettings
    looks: int = 1

    @abstractmethod
    def __call__(self) -> Evaluator:
        """Return an evaluator of this network, for one thread; raises ModelError or ConfigError."""

    @abstractmethod
    def info(self) -> NetworkInfo:
        """Return the metadata of the file; the hash is that of the file it was converted from, if that is recorded."""


@dataclass(frozen=True)
class PlayingNetwork:
    """A network that plays by its policy or, with more than one of `visits`, by a search; called, it returns the moves.

    It is pickled for workers.
    """

    network: Callable[[], Evaluator]
    visits: int = 1
    seed: int = 1

    def __call__(self) -> MovePolicy:
        """Return what gives the moves, for one thread; raises what the network's maker raises."""
        evaluator = self.network()
        if self.visits == 1:
            return NetworkMoves(evaluator)
        return SearchMoves(evaluator, self.visits, seed=self.seed)


class OnnxTeacher(Teacher):
    """A network file that ONNX Runtime runs."""

    def __call__(self) -> Evaluator:
        """Return an evaluator; see `Teacher`."""
        settings = self.settings
        runtime = runtime_here(settings.provider, settings.precision, read_info(self.path).precision)
        model = OnnxModel(self.path, runtime, threads=settings.threads, batch=settings.batch)
        return uncached_evaluator(model, looks=self.looks)

    def info(self) -> NetworkInfo:
        """Return the metadata of the file; see `Teacher`."""
        info = read_info(self.path)
        return replace(info, source_sha256=info.source_sha256 or sha256_of(self.path))


class Makers(NamedTuple):
    """What makes the networks of a worker."""

    teacher: TeacherMaker
    player: PlayingNetwork | None = None

    def blocks(self, settings: SelfPlaySettings, place: WorkerPlace = FIRST_PLACE) -> Iterator[LabelledBlock]:
        """Return the blocks of a worker, in this process."""
        teacher, player = _at(self.teacher, place)(), self.player
        moves = None if player is None else replace(player, network=_at(player.network, place))()
        return play_blocks(teacher, settings, place.number, moves, life=place.life)


def _at(maker: TeacherMaker, place: WorkerPlace) -> TeacherMaker:
    """Return what makes the evaluator at a place, where its file may have another path."""
    return replace(maker, path=place.path(maker.path)) if isinstance(maker, Teacher) else maker


@dataclass(frozen=True)
class BlockWorkerMaker:
    """Makes a worker that returns one block after the other; all its tasks are None."""

    makers: Makers
    settings: SelfPlaySettings

    def __call__(self, place: WorkerPlace) -> Callable[[None], LabelledBlock]:
        """Return the worker.  One that replaces another begins other games, since those under way are lost."""
        if place.number >= MOST_WORKERS or place.life >= MOST_LIVES:
            limits = f"at most {MOST_WORKERS:,} workers, each replaced {MOST_LIVES - 1} times"
            raise WorkerError(f"worker {place.number + 1:,}, the {place.life + 1}th of it", expected=limits)
        blocks = self.makers.blocks(self.settings, place)
        return lambda _: next(blocks)


@contextmanager
def blocks_of_workers(
    makers: Makers, settings: SelfPlaySettings, workers: int, note: Callable[[str], None] = ignore_note
) -> Iterator[Iterator[LabelledBlock | None]]:
    """Yield the blocks of `workers` workers with the same networks; see `pooled_blocks`.

    A single worker is this process itself.
    """
    if workers == 1:
        yield makers.blocks(settings)
        return
    with pooled_blocks(job_of([makers], settings), workers, note=note) as blocks:
        yield blocks


def job_of(
    makers: Sequence[Makers], settings: SelfPlaySettings, *, files: Sequence[Path] = (), threads: int = 1
) -> WorkerJob:
    """Return the job of workers, of which number i has networks i of `makers`, which begin again after the last."""
    made = [BlockWorkerMaker(each, settings) for each in makers]
    return WorkerJob("generate", made, files, threads, ahead=_BLOCKS_AHEAD, alike=True)


@contextmanager
def pooled_blocks(
    job: WorkerJob, workers: int | None, address: str | None = None, note: Callable[[str], None] = ignore_note
) -> Iterator[Iterator[LabelledBlock | None]]:
    """Yield the blocks of a pool's workers as they arrive, and None from time to time; see `open_workers`.

    The iterator raises what a worker has raised.
    """
    with open_workers(job, workers, address, note=note) as pool:
        yield _from_pool(pool, job.ahead)


def _from_pool(pool: WorkerPool[None, LabelledBlock], ahead: int) -> Iterator[LabelledBlock | None]:
    """Yield blocks as they come, and None after an interval without any."""
    done: SimpleQueue[Future[LabelledBlock]] = SimpleQueue()
    asked = 0
    while True:
        while asked < ahead * pool.workers:  # of which there may be more
            pool.submit(None).add_done_callback(done.put)
            asked += 1
        try:
            block = done.get(timeout=CHECK_INTERVAL)
        except Empty:
            yield None
            continue
        asked -= 1
        yield block.result()
