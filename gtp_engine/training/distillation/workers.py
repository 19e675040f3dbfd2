"""Processes that play and label side by side on one machine, each with games and a share of the threads of its own.

Each has a pipe, through which its blocks come.  It waits while nobody reads, and ends when nobody can any more; the end
of a pipe says that its worker is gone, even in the middle of a block.
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
"""Makes a worker's teacher; can be pickled."""

LOOK_INTERVAL: Final = 1.0
"""Seconds of waiting for a block after which one looks whether the end was asked for."""
_END_SECONDS: Final = 10.0
"""Seconds a worker gets to end."""


class WorkerError(TengenError):
    """A worker came to an end that nobody asked for."""


@contextmanager
def blocks_of_workers(
    make_teacher: TeacherMaker, settings: SelfPlaySettings, workers: int
) -> Iterator[Iterator[Block | None]]:
    """Yield the blocks of `workers` processes as they come, and None now and then; they end with the context.

    A single worker is this process itself.  When one fails, the iterator raises WorkerError in the words of its error.
    """
    if workers == 1:
        yield play_blocks(make_teacher(), settings)
        return
    processes: list[SpawnProcess] = []
    answers: list[Connection] = []
    try:
        for number in range(workers):
            process, answer = _start(make_teacher, settings, number)
            processes.append(process)
            answers.append(answer)
        yield _received(answers)
    finally:
        for process in processes:
            process.terminate()
        for process, answer in zip(processes, answers, strict=True):
            process.join(_END_SECONDS)
            answer.close()


def _start(make_teacher: TeacherMaker, settings: SelfPlaySettings, number: int) -> tuple[SpawnProcess, Connection]:
    """Return a worker that has been started, and the end of its pipe to read from."""
    context = multiprocessing.get_context("spawn")  # a fork would inherit the threads of numba and of the runtime
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(make_teacher, settings, number, writing), daemon=True)
    process.start()
    writing.close()  # the worker's is the only one left, so that the pipe ends with the worker
    return process, reading


def _received(answers: Sequence[Connection]) -> Iterator[Block | None]:
    """Yield blocks, and None after an interval without any, until a worker fails."""
    while True:
        ready = wait(answers, LOOK_INTERVAL)
        if not ready:
            yield None
        for answer in ready:
            try:
                found: Block | str = cast("Connection", answer).recv()
            except (EOFError, OSError):
                raise WorkerError(
                    problem("a worker came to a sudden end", advice="try fewer workers, or a smaller --batch")
                ) from None
            if isinstance(found, str):
                raise WorkerError(found)
            yield found


def _work(make_teacher: TeacherMaker, settings: SelfPlaySettings, number: int, answers: Connection) -> None:
    """Send blocks as long as somebody reads them, or the text of an error: the body of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes; the first one ends the others
    try:
        for block in play_blocks(make_teacher(), settings, number):
            answers.send(block)
    except TengenError as error:
        answers.send(str(error))
    except BrokenPipeError:
        return
