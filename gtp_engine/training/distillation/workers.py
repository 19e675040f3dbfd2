"""Processes that play and label side by side on one machine, each with games and a share of the threads of its own.

Each sends its blocks through a pipe.  It waits until they are read, and ends when the pipe is closed; a pipe that ends,
even in the middle of a block, shows that its worker has ended.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Final, cast

from gtp_engine.errors import TengenError, problem
from gtp_engine.selfplay.rows_evaluator import RowsEvaluator
from gtp_engine.training.distillation.labelled_games import Block, SelfPlaySettings, play_blocks

TeacherMaker = Callable[[], RowsEvaluator]
"""Returns a worker's teacher; can be pickled."""

CHECK_INTERVAL: Final = 1.0
"""Seconds of waiting for a block between two checks for an interruption."""
_END_SECONDS: Final = 10.0
"""Seconds that a worker has to end."""


class WorkerError(TengenError):
    """A worker that failed or ended unexpectedly."""


@contextmanager
def blocks_of_workers(
    make_teacher: TeacherMaker, settings: SelfPlaySettings, workers: int
) -> Iterator[Iterator[Block | None]]:
    """Yield the blocks of `workers` processes as they arrive, and None from time to time; they end with the context.

    A single worker is this process itself.  When one fails, the iterator raises WorkerError with the text of its error.
    """
    if workers == 1:
        yield play_blocks(make_teacher(), settings)
        return
    processes: list[SpawnProcess] = []
    pipes: list[Connection] = []
    try:
        for number in range(workers):
            process, pipe = _start(make_teacher, settings, number)
            processes.append(process)
            pipes.append(pipe)
        yield _receive(pipes)
    finally:
        for process in processes:
            process.terminate()
        for process, pipe in zip(processes, pipes, strict=True):
            process.join(_END_SECONDS)
            pipe.close()


def _start(make_teacher: TeacherMaker, settings: SelfPlaySettings, number: int) -> tuple[SpawnProcess, Connection]:
    """Start a worker; return it and the reading end of its pipe."""
    context = multiprocessing.get_context("spawn")  # a fork would inherit the threads of numba and of the runtime
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(make_teacher, settings, number, writing), daemon=True)
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


def _work(make_teacher: TeacherMaker, settings: SelfPlaySettings, number: int, pipe: Connection) -> None:
    """Send blocks until the pipe is closed, or the text of an error: the body of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one ends the others
    try:
        for block in play_blocks(make_teacher(), settings, number):
            pipe.send(block)
    except TengenError as error:
        pipe.send(str(error))
    except BrokenPipeError:
        return
