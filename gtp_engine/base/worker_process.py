"""Processes that work for this one: workers at the other end of a pipe, programs that the user names.

Workers are spawned, because a fork would inherit the threads of numba and of the network's runtime.  A pipe that ends
shows that its worker has ended.  What they do, and what becomes of it when they die, is a matter of `workers`.
"""

import contextlib
import multiprocessing
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.context import SpawnProcess
from typing import IO, Any, Final, NamedTuple

from gtp_engine.base.files import remove_unfinished

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection

    Connection = PipeConnection
else:
    from multiprocessing.connection import Connection as Connection  # for other modules too

END_SECONDS: Final = 10.0
"""Seconds that a worker has to end."""


def split_command(command: str) -> list[str] | str:
    """Return a command line as `subprocess` runs it without a shell; raises ValueError for an empty or unclosed one.

    On Windows, where each program splits its own command line, it stays one text.
    """
    arguments = command.strip() if sys.platform == "win32" else shlex.split(command)
    if not arguments:
        raise ValueError("no command")
    return arguments


def join_command(words: Sequence[str], platform: str = sys.platform) -> str:
    """Return the command line that `split_command` and a shell (cmd on Windows) read as these words."""
    return subprocess.list2cmdline(words) if platform == "win32" else shlex.join(words)


def start_program(arguments: list[str] | str, *, stderr: IO[bytes] | int) -> "subprocess.Popen[bytes]":
    """Start a program that reads and writes pipes, with what `split_command` returns; raises OSError and ValueError.

    Ctrl-C in the terminal ends only this process, which then ends the program.
    """
    return subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
    )


def kill_program(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program of `start_program` and what it has started, unless it has ended, and wait for its end."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
                subprocess.run(tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            else:
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.wait()


class WorkerProcess(NamedTuple):
    """A worker, and this side's end of its pipe."""

    process: SpawnProcess
    pipe: Connection


def start_worker(work: Callable[..., None], *args: Any) -> WorkerProcess:
    """Start a process that calls `work(*args, pipe)`.  Arguments can be pickled.

    Ctrl-C, which reaches all processes of a terminal, does not end it: that is left to `end_workers`.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(work, args, there), daemon=True)
    process.start()
    there.close()  # only the worker's end is left, so that the pipe ends with the worker
    return WorkerProcess(process, here)


def end_workers(workers: Sequence[WorkerProcess]) -> None:
    """End workers, in the middle of their work if need be, and close their pipes."""
    for worker in workers:
        worker.process.kill()  # not SIGTERM, which does not end one that has been stopped
    for worker in workers:
        worker.process.join(END_SECONDS)
        worker.pipe.close()


def _run(work: Callable[..., None], args: tuple[Any, ...], pipe: Connection) -> None:
    """Work: the body of a process, which ends when its parent has ended, however that came."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    work(*args, pipe)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    remove_unfinished()
    os._exit(1)
