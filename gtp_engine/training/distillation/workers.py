"""Workers that play and label side by side, each with games of its own: their networks, and where they run.

    Teacher, PlayingNetwork   the networks of a worker: the teacher labels the games, the player plays some of them
    blocks_of_workers        processes on this machine
    blocks_of_cluster        actors on a Ray cluster, on the machines that Ray chooses

A process sends its blocks through a pipe.  It waits until they are read, and ends when the pipe is closed; a pipe that
ends, even in the middle of a block, shows that its worker has ended.  To a cluster the network's file is sent along,
beside what `worker_process` sends.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Final, NamedTuple, Protocol, cast

from gtp_engine.errors import TengenError, WorkerError, problem
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.files import sha256_of
from gtp_engine.machine import describe_machine
from gtp_engine.nn.metadata import NetworkInfo, read_info
from gtp_engine.nn.network_evaluator import uncached_evaluator
from gtp_engine.nn.onnx_model import OnnxModel, installed_providers
from gtp_engine.nn.providers import choose_runtimes
from gtp_engine.selfplay.policy_games import MovePolicy, NetworkMoves, SearchMoves
from gtp_engine.training.distillation.labelled_games import LabelledBlock, SelfPlaySettings, play_blocks
from gtp_engine.worker_process import Connection, WorkerProcess, connected, end_workers, start_worker

TeacherMaker = Callable[[], Evaluator]
PlayerMaker = Callable[[], MovePolicy]
"""Return a worker's teacher and its player; can be pickled."""

CHECK_INTERVAL: Final = 1.0
"""Seconds of waiting for a block between two checks for an interruption."""
_BLOCKS_AHEAD: Final = 2
"""Blocks requested from each actor in advance, so that it does not wait while one is transferred."""


class Teacher(Protocol):
    """A network file and how it is run, a dataclass; called, it returns the evaluator.  It is pickled for workers."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def path(self) -> Path: ...  # noqa: D102

    def __call__(self) -> Evaluator:
        """Return an evaluator of this network, for one thread; raises ModelError."""
        ...

    def info(self) -> NetworkInfo:
        """Return the metadata of the file; the hash is that of the file it was converted from, if that is recorded."""
        ...


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


@dataclass(frozen=True)
class OnnxTeacher:
    """A network file that ONNX Runtime runs, see `Teacher`.

    `batch` is the number of positions of a call; `threads` 0 means all cores; `looks` is as in `uncached_evaluator`.
    """

    path: Path
    batch: int
    threads: int = 0
    provider: str = "auto"
    precision: str = "auto"
    looks: int = 1

    def __call__(self) -> Evaluator:
        """Return an evaluator; see `Teacher`."""
        info = read_info(self.path)
        runtime = choose_runtimes(
            self.provider,
            self.precision,
            networks=[info.precision],
            available=installed_providers(),
            simd=describe_machine()["simd"],
        )[0]
        model = OnnxModel(self.path, runtime, threads=self.threads, batch=self.batch)
        return uncached_evaluator(model, looks=self.looks)

    def info(self) -> NetworkInfo:
        """Return the metadata of the file; see `Teacher`."""
        info = read_info(self.path)
        return replace(info, source_sha256=info.source_sha256 or sha256_of(self.path))


class Makers(NamedTuple):
    """What makes the networks of a worker."""

    teacher: TeacherMaker
    player: PlayerMaker | None = None

    def blocks(self, settings: SelfPlaySettings, number: int = 0) -> Iterator[LabelledBlock]:
        """Return the blocks of worker `number`, in this process."""
        return play_blocks(self.teacher(), settings, number, None if self.player is None else self.player())


# Processes


@contextmanager
def blocks_of_workers(
    makers: Makers, settings: SelfPlaySettings, workers: int
) -> Iterator[Iterator[LabelledBlock | None]]:
    """Yield the blocks of `workers` workers with the same networks; see `blocks_of_processes`.

    A single worker is this process itself.
    """
    if workers == 1:
        yield makers.blocks(settings)
        return
    with blocks_of_processes([makers] * workers, settings) as blocks:
        yield blocks


@contextmanager
def blocks_of_processes(
    workers: Sequence[Makers], settings: SelfPlaySettings
) -> Iterator[Iterator[LabelledBlock | None]]:
    """Yield the blocks of a process for each of `workers` as they arrive, and None from time to time.

    The first one compiles the kernels; the others start when its first block has arrived.  All end with the context.
    When one fails, the iterator raises WorkerError with the text of its error.
    """
    started: list[WorkerProcess] = []

    def start(number: int) -> None:
        started.append(start_worker(_work, workers[number], settings, number, duplex=False))

    def receive() -> Iterator[LabelledBlock | None]:
        blocks = _from_pipes(started)
        for block in blocks:
            yield block
            if block is not None:
                break
        for number in range(1, len(workers)):
            start(number)
        yield from blocks

    try:
        start(0)
        yield receive()
    finally:
        end_workers(started)


def _from_pipes(workers: Sequence[WorkerProcess]) -> Iterator[LabelledBlock | None]:
    """Yield blocks, and None after an interval without any, until a worker fails; more may be added meanwhile."""
    while True:
        ready = wait([worker.pipe for worker in workers], CHECK_INTERVAL)
        if not ready:
            yield None
        for pipe in ready:
            try:
                found: LabelledBlock | str = cast("Connection", pipe).recv()
            except (EOFError, OSError):
                advice = "try fewer --workers, or fewer games side by side"
                raise WorkerError(problem("a worker ended unexpectedly", advice=advice)) from None
            if isinstance(found, str):
                raise WorkerError(found)
            yield found


def _work(makers: Makers, settings: SelfPlaySettings, number: int, pipe: Connection) -> None:
    """Send blocks until the pipe is closed, or the text of an error: the body of a process."""
    with suppress(BrokenPipeError):
        try:
            for block in makers.blocks(settings, number):
                pipe.send(block)
        except TengenError as error:
            pipe.send(str(error))


# A cluster


class SentTeacher:
    """A teacher that carries its network file; where it is called, the file exists as long as this object."""

    def __init__(self, teacher: Teacher) -> None:
        self._teacher: Final = teacher
        self._data: Final = teacher.path.read_bytes()
        self._folder: TemporaryDirectory[str] | None = None

    def __call__(self) -> Evaluator:
        """Return the evaluator; raises ModelError."""
        self._folder = TemporaryDirectory(prefix="tengen-")
        path = Path(self._folder.name) / self._teacher.path.name
        path.write_bytes(self._data)
        return replace(self._teacher, path=path)()


class _Actor:
    """The actor: returns one block after the other."""

    def __init__(self, makers: Makers, settings: SelfPlaySettings, number: int) -> None:
        self._makers = makers
        self._settings = settings
        self._number = number
        self._blocks: Iterator[LabelledBlock] | None = None

    def next_block(self) -> LabelledBlock | str:
        """Return a block, or the text of an error."""
        try:
            if self._blocks is None:
                self._blocks = self._makers.blocks(self._settings, self._number)
            return next(self._blocks)
        except TengenError as error:
            return str(error)


@contextmanager
def blocks_of_cluster(
    makers: Makers, settings: SelfPlaySettings, workers: int, address: str, *, threads: int
) -> Iterator[Iterator[LabelledBlock | None]]:
    """Yield the blocks of `workers` actors on the cluster at `address` as they arrive, and None from time to time.

    `threads` is how many cores each of them takes; Ray waits until they are free.  The actors end with the context.
    Raises WorkerError where Ray is missing, cannot be reached, or an actor fails.
    """
    with connected(address) as ray:
        make = ray.put(makers)
        actor = ray.remote(num_cpus=threads)(_Actor)
        yield _from_actors(ray, [actor.remote(make, settings, number) for number in range(workers)])


def _from_actors(ray: Any, actors: list[Any]) -> Iterator[LabelledBlock | None]:
    """Yield blocks as they come, and None after an interval without any."""
    pending = {actor.next_block.remote(): actor for _ in range(_BLOCKS_AHEAD) for actor in actors}
    while True:
        done, _ = ray.wait(list(pending), num_returns=1, timeout=CHECK_INTERVAL)
        if not done:
            yield None
        for reference in done:
            actor = pending.pop(reference)
            pending[actor.next_block.remote()] = actor
            try:
                found: LabelledBlock | str = ray.get(reference)
            except ray.exceptions.RayError as error:
                reason = str(error).strip().splitlines()[-1]
                raise WorkerError(f"a worker of the cluster failed: {reason}") from error
            if isinstance(found, str):
                raise WorkerError(found)
            yield found
