"""How fast this installation is on this machine: `gtp-engine benchmark`.

Three kinds of numbers, each the median of several measurements:

    rollouts_per_s    {"9x9": {"uniform": …, "tactical": …}, "19x19": …}   played and counted, on one core
    playouts_per_s    {"9x9": {"rave": …, "uct": …}, "19x19": …}           of a search with all threads
    startup_s         {"name": …, "first_genmove": …}                      from the start of a process

Start-up is that of a real process with compiled code on disk: the time until `name` is answered, and until the first
move on an empty 19×19 board at 10 visits.  Compare numbers only of one machine and one run.
"""

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any, Final

from gtp_engine import __version__
from gtp_engine.config import Config
from gtp_engine.errors import TengenError
from gtp_engine.go.game import Game
from gtp_engine.machine import describe_machine
from gtp_engine.search.limits import Limits
from gtp_engine.search.rollouts.rollout import POLICIES, rollouts_per_second
from gtp_engine.search.rollouts.search import RolloutSearch

SIZES: Final = (9, 19)
SEARCHES: Final = ("rave", "uct")

STARTUP_VISITS: Final = 10
"""Visits of the first move whose time is measured."""

_ANSWER_SECONDS: Final = 300.0
"""Longest wait for a started engine, which may have to compile first; then it is ended."""

Report = dict[str, Any]
"""The numbers under stable keys, ready for JSON."""


class BenchmarkError(TengenError):
    """A measurement failed; the message says which and why."""


def run_benchmark(*, seconds: float, repeats: int, progress: Callable[[str], None]) -> Report:
    """Return all numbers; each measurement takes about `seconds`.  `progress` gets a line before each kind.

    Raises BenchmarkError when a started engine does not answer.
    """
    progress("Rollouts on one core …")
    rollouts = _table(POLICIES, lambda size, policy: _rollouts_per_second(size, policy, seconds, repeats))
    progress("Search on all cores …")
    playouts = _table(SEARCHES, lambda size, search: _playouts_per_second(size, search, seconds, repeats))
    progress("Start of a process …")
    return {
        "version": __version__,
        "machine": describe_machine(),
        "rollouts_per_s": rollouts,
        "playouts_per_s": playouts,
        "startup_s": measure_startup(repeats),
    }


def measure_startup(repeats: int) -> dict[str, float]:
    """Return the median seconds from the start of a process to `name` and to the first move; raises BenchmarkError.

    One start before the measured ones makes sure that compiled code is on disk.
    """
    first_move = ("boardsize 19", "genmove b")
    seconds_to_answer(first_move)
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


def format_report(report: Mapping[str, Any]) -> str:
    """Return the numbers as lines for people."""
    machine = report["machine"]
    lines = [
        f"Tengen {report['version']} on {machine['processor']}, {machine['cores']['usable']} cores",
        *_rows("rollouts/s, one core", report["rollouts_per_s"]),
        *_rows("playouts/s, all cores", report["playouts_per_s"]),
        f"process start to name           {report['startup_s']['name']:8.2f} s",
        f"process start to first genmove  {report['startup_s']['first_genmove']:8.2f} s",
    ]
    return "\n".join(lines)


def _rows(label: str, table: Mapping[str, Mapping[str, float]]) -> list[str]:
    return [
        f"{label:<22} {size:>6} {kind:<9} {value:>9,.0f}" for size, row in table.items() for kind, value in row.items()
    ]


def _table(kinds: Iterable[str], measure: Callable[[int, str], float]) -> dict[str, dict[str, float]]:
    return {f"{size}x{size}": {kind: measure(size, kind) for kind in kinds} for size in SIZES}


def _rollouts_per_second(size: int, policy: str, seconds: float, repeats: int) -> float:
    return statistics.median(rollouts_per_second(size, size, policy, seconds) for _ in range(repeats))


def _playouts_per_second(size: int, algorithm: str, seconds: float, repeats: int) -> float:
    """Return the median playouts a second of searches from the empty board, each with a new tree."""
    config = Config().with_values({"search.search": algorithm})
    search = RolloutSearch(config.search)
    game = Game(size)
    search.run(game, Limits(visits=1))  # loads the kernels
    rates = []
    for _ in range(repeats):
        search.clear()
        report = search.run(game, Limits(watcher=lambda progress: progress.seconds >= seconds))
        rates.append(report.playouts / report.seconds)
    search.close()
    return statistics.median(rates)


def _read_reply(stdout: IO[str]) -> str:
    """Return one GTP reply without its closing empty line; "" when the output ends before it is complete."""
    reply = ""
    for line in stdout:
        if line == "\n":
            return reply
        reply += line
    return ""
