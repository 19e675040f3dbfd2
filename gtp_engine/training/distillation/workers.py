"""Processes that play and label side by side on one machine, each with games of its own.

Each sends its blocks through a pipe.  It waits until they are read, and ends when the pipe is closed; a pipe that ends,
even in the middle of a block, shows that its worker has ended.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Final, NamedTuple, cast

from gtp_engine.errors import TengenError, WorkerError, problem
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.selfplay.move_policy import MovePolicy
from gtp_engine.training.distillation.labelled_games import Block, SelfPlaySettings, play_blocks
from gtp_engine.worker_process import WorkerProcess, end_workers, start_worker

TeacherMaker = Callable[[], Evaluator]
PlayerMaker = Callable[[], MovePolicy]
"""Return a worker's teacher and its player; can be pickled."""


class Makers(NamedTuple):
    """What makes the networks of a worker."""

    teacher: TeacherMaker
    player: PlayerMaker | None = None

    def blocks(self, settings: SelfPlaySettings, number: int = 0) -> Iterator[Block]:
        """Return the blocks of worker `number`, in this process."""
        return play_blocks(self.teacher(), settings, number, None if self.player is None else self.player())


CHECK_INTERVAL: Final = 1.0
"""Seconds of waiting for a block between two checks for an interruption."""


@contextmanager
def blocks_of_workers(makers: Makers, settings: SelfPlaySettings, workers: int) -> Iterator[Iterator[Block | None]]:
    """Yield the blocks of `workers` workers with the same networks; see `blocks_of_processes`.

    A single worker is this process itself.
    """
    if workers == 1:
        yield makers.blocks(settings)
        return
    with blocks_of_processes([makers] * workers, settings) as blocks:
        yield blocks


@contextmanager
def blocks_of_processes(workers: Sequence[Makers], settings: SelfPlaySettings) -> Iterator[Iterator[Block | None]]:
    """Yield the blocks of a process for each of `workers` as they arrive, and None from time to time.

    The first one compiles the kernels; the others start when its first block has arrived.  All end with the context.
    When one fails, the iterator raises WorkerError with the text of its error.
    """
    started: list[WorkerProcess] = []

    def start(number: int) -> None:
        started.append(start_worker(_work, workers[number], settings, number, duplex=False))

    def receive() -> Iterator[Block | None]:
        blocks = _receive(started)
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


def _receive(workers: Sequence[WorkerProcess]) -> Iterator[Block | None]:
    """Yield blocks, and None after an interval without any, until a worker fails; more may be added meanwhile."""
    while True:
        ready = wait([worker.pipe for worker in workers], CHECK_INTERVAL)
        if not ready:
            yield None
        for pipe in ready:
            try:
                found: Block | str = cast("Connection", pipe).recv()
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
