"""Processes that play and label side by side on one machine, each with games of its own.

Each sends its blocks through a pipe.  It waits until they are read, and ends when the pipe is closed; a pipe that ends,
even in the middle of a block, shows that its worker has ended.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Final, NamedTuple, cast

from gtp_engine.errors import TengenError, WorkerError, problem
from gtp_engine.selfplay.move_policy import MovePolicy
from gtp_engine.selfplay.rows_evaluator import RowsEvaluator
from gtp_engine.training.distillation.labelled_games import Block, SelfPlaySettings, play_blocks

TeacherMaker = Callable[[], RowsEvaluator]
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
_END_SECONDS: Final = 10.0
"""Seconds that a worker has to end."""


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
    processes: list[SpawnProcess] = []
    pipes: list[Connection] = []

    def start(number: int) -> None:
        process, pipe = _start(workers[number], settings, number)
        processes.append(process)
        pipes.append(pipe)

    def receive() -> Iterator[Block | None]:
        blocks = _receive(pipes)
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
        for process in processes:
            process.terminate()
        for process, pipe in zip(processes, pipes, strict=True):
            process.join(_END_SECONDS)
            pipe.close()


def _start(makers: Makers, settings: SelfPlaySettings, number: int) -> tuple[SpawnProcess, Connection]:
    """Start a worker; return it and the reading end of its pipe."""
    context = multiprocessing.get_context("spawn")  # a fork would inherit the threads of numba and of the runtime
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(makers, settings, number, writing), daemon=True)
    process.start()
    writing.close()  # only the worker's end is left, so that the pipe ends with the worker
    return process, reading


def _receive(pipes: Sequence[Connection]) -> Iterator[Block | None]:
    """Yield blocks, and None after an interval without any, until a worker fails."""
    while True:
        ready = wait(pipes, CHECK_INTERVAL)
        if not ready:
            yield None
        for pipe in ready:
            try:
                found: Block | str = cast("Connection", pipe).recv()
            except (EOFError, OSError):
                raise WorkerError(
                    problem("a worker ended unexpectedly", advice="try fewer workers, or a smaller --batch")
                ) from None
            if isinstance(found, str):
                raise WorkerError(found)
            yield found


def _work(makers: Makers, settings: SelfPlaySettings, number: int, pipe: Connection) -> None:
    """Send blocks until the pipe is closed, or the text of an error: the body of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one ends the others
    try:
        for block in makers.blocks(settings, number):
            pipe.send(block)
    except TengenError as error:
        pipe.send(str(error))
    except BrokenPipeError:
        return
