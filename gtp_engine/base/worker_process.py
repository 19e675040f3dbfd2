"""Processes that work for this one: workers at the other end of a pipe, programs that the user names.

Workers are spawned, because a fork would inherit the threads of numba and of the network's runtime.  A pipe that ends
shows that its worker has ended.  What they do, and what becomes of it when they die, is a matter of `workers`.
"""

import contextlib
import multiprocessing
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.context import SpawnProcess
from typing import Any, Final, NamedTuple

from gtp_engine.base.files import remove_unfinished

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection

    Connection = PipeConnection
else:
    from multiprocessing.connection import Connection as Connection  # for other modules too

END_SECONDS: Final = 10.0
"""Seconds that a worker has to end."""


def split_command(command: str) -> list[str]:
    """Return the words of a command line, as a shell splits it, or on Windows a program written in C.

    Raises ValueError for an empty or unclosed one.
    """
    arguments = _split_on_windows(command) if sys.platform == "win32" else shlex.split(command)
    if not arguments:
        raise ValueError("no command")
    return arguments


def _split_on_windows(command: str) -> list[str]:
    """Return the words that `subprocess.list2cmdline` has joined, by the same rules of Microsoft's C library."""
    words, is_open, is_quoted = [""], False, False
    pieces = re.findall(r"(?:(\\*)(\"))|([ \t]+)|(\\+|[^\\\" \t]+)", command.strip(" \t\r\n"))
    for slashes, quote, blanks, other in pieces:
        if blanks and not is_quoted:
            words.append("")
            continue
        is_open = True
        if quote and len(slashes) % 2 == 0:
            is_quoted = not is_quoted
        words[-1] += slashes[: len(slashes) // 2] + (quote if len(slashes) % 2 else "") + blanks + other
    if is_quoted:
        raise ValueError("No closing quotation")
    return words if is_open else []


def join_command(words: Sequence[str], platform: str = sys.platform) -> str:
    """Return the command line that `split_command` and a shell (cmd on Windows) read as these words."""
    return subprocess.list2cmdline(words) if platform == "win32" else shlex.join(words)


def own_session() -> dict[str, Any]:
    """Return the arguments of `subprocess.Popen` by which Ctrl-C in the terminal does not reach a program.

    It ends only this process, which then ends the program.
    """
    flag = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # the same on Windows
    return {"start_new_session": True, "creationflags": flag}


def kill_program(pid: int) -> None:
    """Kill a program of a session of its own that has not ended, and what it has started."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            tree = ["taskkill", "/T", "/F", "/PID", str(pid)]
            subprocess.run(tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        else:
            os.killpg(pid, signal.SIGKILL)


class WorkerProcess(NamedTuple):
    """A worker, and this side's end of its pipe."""

    process: SpawnProcess
    pipe: Connection


def start_worker(work: Callable[..., None], *args: Any) -> WorkerProcess:
    """Start a process that calls `work(*args, pipe)`.  Arguments can be pickled.

    Ctrl-C, which reaches all processes of a terminal, does not end it: that is left to `end_worker`.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(work, args, there), daemon=True)
    process.start()
    there.close()  # only the worker's end is left, so that the pipe ends with the worker
    return WorkerProcess(process, here)


def end_worker(worker: WorkerProcess) -> None:
    """End a worker, in the middle of its work if need be, and close its pipe."""
    worker.process.kill()  # not SIGTERM, which does not end one that has been stopped
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
