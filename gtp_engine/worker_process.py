"""Processes that work for this one: workers at the other end of a pipe, programs that the user names, a Ray cluster.

Workers are spawned, because a fork would inherit the threads of numba and of the network's runtime.  A pipe that ends
shows that its worker has ended.

Other machines are those of a Ray cluster.  Every one of them needs the same version of Ray (the extra `ray`) and the
dependencies of this package.  The package itself is sent along.  https://docs.ray.io
"""

import multiprocessing
import os
import shlex
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Final, NamedTuple

import gtp_engine
from gtp_engine.errors import WorkerError, problem

_END_SECONDS: Final = 10.0
"""Seconds that a worker has to end."""


def split_command(command: str) -> list[str] | str:
    """Return a command line as `subprocess` runs it without a shell; raises ValueError for an empty or unclosed one.

    On Windows, where each program splits its own command line, it stays one text.
    """
    arguments = command.strip() if os.name == "nt" else shlex.split(command)
    if not arguments:
        raise ValueError("no command")
    return arguments


class WorkerProcess(NamedTuple):
    """A worker, and this side's end of its pipe."""

    process: SpawnProcess
    pipe: Connection


def start_worker(work: Callable[..., None], *args: Any, duplex: bool) -> WorkerProcess:
    """Start a process that calls `work(*args, pipe)`; unless `duplex`, it only sends.  Arguments can be pickled.

    Ctrl-C, which reaches all processes of a terminal, does not end it: that is left to `end_workers`.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex)
    process = context.Process(target=_run, args=(work, args, there), daemon=True)
    process.start()
    there.close()  # only the worker's end is left, so that the pipe ends with the worker
    return WorkerProcess(process, here)


def end_workers(workers: Sequence[WorkerProcess]) -> None:
    """End workers, in the middle of their work if need be, and close their pipes."""
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(_END_SECONDS)
        worker.pipe.close()


def _run(work: Callable[..., None], args: tuple[Any, ...], pipe: Connection) -> None:
    """Work: the body of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work(*args, pipe)


LOCAL: Final = "local"
"""In place of an address: start a cluster on this machine, for this run."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield the package `ray`, connected to the cluster at `address`; what was started there ends with the context.

    Raises WorkerError where Ray is missing or cannot be reached.
    """
    try:
        import ray
    except ImportError:
        raise WorkerError(problem("Ray is not installed", advice="pip install 'gtp-engine[ray]'")) from None
    try:
        ray.init(
            address=None if address == LOCAL else address,
            runtime_env={"py_modules": [gtp_engine]},
            log_to_driver=False,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        text = str(error).partition("\n")[0]
        raise WorkerError(
            problem(f"no Ray cluster at {address} ({text})", advice="`ray start --head` starts one")
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()
