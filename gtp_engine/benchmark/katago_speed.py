"""KataGo's speed, by its own benchmark: `katago benchmark -model FILE -config FILE -threads 1,2,4`.

KataGo searches ten positions of a game with an empty tree and cache each, by default with 800 visits, once for each
number of threads, and writes a line for each (`PlayUtils::BenchmarkResults::toString` in its `program/playutils.cpp`).
The number of threads with the most visits per second counts.
"""

import re
import subprocess
from typing import Any, Final

from gtp_engine.benchmark.benchmark_error import BenchmarkError
from gtp_engine.errors import problem, shown
from gtp_engine.worker_process import split_command

_RESULT: Final = re.compile(
    r"numSearchThreads = +(?P<threads>\d+):.*\bvisits/s = (?P<visits>[\d.]+) nnEvals/s = (?P<evaluations>[\d.]+)"
)
_BOARD: Final = re.compile(r"\(board size (\d+x\d+)\)")


def measure_katago(command: str) -> dict[str, Any]:
    """Return the best of what a `katago benchmark` command prints: see `speed_report`, key `katago`.

    Raises BenchmarkError if it cannot be run, fails or prints no result.
    """
    output, status = _run(command)
    results = list(_RESULT.finditer(output))
    if status or not results:
        last = shown(output.strip().rpartition("\n")[2], length=200)
        ended = f"ended with exit code {status}, after {last}" if status else f"printed no result, and at last {last}"
        raise BenchmarkError(
            problem(f"{shown(command)} {ended}", expected="a command like `katago benchmark -model FILE -config FILE`")
        )
    best = max(results, key=lambda result: float(result["visits"]))
    board = _BOARD.search(output)
    return {
        "command": command,
        "board": "" if board is None else board[1],
        "threads": int(best["threads"]),
        "playouts_per_s": float(best["visits"]),
        "evaluations_per_s": float(best["evaluations"]),
    }


def _run(command: str) -> tuple[str, int]:
    """Return what a command writes to stdout and stderr, and its exit code; raises BenchmarkError."""
    try:
        finished = subprocess.run(
            split_command(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BenchmarkError(f"cannot run {shown(command)}: {reason}") from error
    return finished.stdout, finished.returncode
