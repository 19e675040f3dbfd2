"""The time from the start of a process to its first replies, with compiled code on disk."""

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, Final

from gtp_engine.benchmark.benchmark_error import BenchmarkError

STARTUP_VISITS: Final = 10
"""Visits of the first move of a started process."""

_ANSWER_SECONDS: Final = 300.0
"""Longest wait for a started engine, which may have to compile first; then it is killed."""


def measure_startup(repeats: int) -> dict[str, float]:
    """Return the median seconds from the start of a process to `name` and to the first move; raises BenchmarkError.

    One start before the measured ones ensures that compiled code is on disk.
    """
    first_move = ("boardsize 19", "genmove b")
    seconds_to_answer(("tengen-ready", *first_move))
    return {
        "name": statistics.median(seconds_to_answer(("name",)) for _ in range(repeats)),
        "first_genmove": statistics.median(seconds_to_answer(first_move) for _ in range(repeats)),
    }


def seconds_to_answer(commands: Sequence[str]) -> float:
    """Return the seconds from the start of `gtp-engine` to the last of its replies; raises BenchmarkError."""
    arguments = [sys.executable, "-m", "gtp_engine", "gtp", "--visits", str(STARTUP_VISITS)]
    started = time.perf_counter()
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        watchdog = threading.Timer(_ANSWER_SECONDS, process.kill)
        watchdog.start()
        try:
            process.stdin.write("".join(f"{command}\n" for command in commands))
            process.stdin.flush()
            replies = [_read_reply(process.stdout) for _ in commands]
            seconds = time.perf_counter() - started
            _, errors = process.communicate("quit\n")
        except OSError:
            replies, seconds = [""], 0.0
            _, errors = process.communicate()
        finally:
            watchdog.cancel()
    if not all(reply.startswith("=") for reply in replies):
        reason = replies[-1].strip() or errors.strip().rpartition("\n")[2] or "it ended"
        raise BenchmarkError(f"a started engine did not answer {commands[-1]!r}: {reason}")
    return seconds


def _read_reply(stdout: IO[str]) -> str:
    """Return one GTP reply without its closing empty line; "" when the output ends before it is complete."""
    reply = ""
    for line in stdout:
        if line == "\n":
            return reply
        reply += line
    return ""
