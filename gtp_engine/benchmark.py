"""The speed of this installation on this machine: `gtp-engine benchmark`.

Three kinds of measurements, each the median of several, and a fourth for a network:

    rollouts_per_s    {"9x9": {"uniform": …, "tactical": …}, "19x19": …}   played and counted, on one core
    playouts_per_s    {"9x9": {"rave": …, "uct": …}, "19x19": …}           of a search with all threads
    startup_s         {"name": …, "first_genmove": …}                      from the start of a process
    network           {"name", "runtime", "board", "evaluations_per_s": {threads: {batch: …}},
                       "playouts_per_s": {batch: …}, "recommended": {"network_threads", "eval_batch"}}

Start-up is measured on a real process with compiled code on disk: the time until `name` is answered, and until the
first move on an empty 19×19 board at 10 visits.  Evaluations are of positions that are not cached, and include the
encoding of features.  Playouts with a network are from the empty board, with the best number of threads.  Compare only
numbers of one machine and one run.
"""

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Final

from gtp_engine import __version__
from gtp_engine.config import Config, NetworkConfig
from gtp_engine.errors import TengenError, counted
from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.evaluator import DEFAULT_OPTIONS
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.game import Game
from gtp_engine.machine import available_cores, describe_machine
from gtp_engine.search.limits import Limits
from gtp_engine.search.rollouts.rollout import POLICIES, rollouts_per_second
from gtp_engine.search.rollouts.rollout_search import RolloutSearch

if TYPE_CHECKING:
    from gtp_engine.nn.network_evaluator import NetworkEvaluator

SIZES: Final = (9, 19)
SEARCHES: Final = ("rave", "uct")

STARTUP_VISITS: Final = 10
"""Visits of the first move of a started process."""

CPU_BATCHES: Final = (1, 2, 4, 8, 16)
GPU_BATCHES: Final = (1, 8, 16, 32, 64, 128)
"""Batch sizes that are measured."""

GOOD_ENOUGH: Final = 0.95
"""Share of the best playouts per second from which a smaller batch is recommended: it selects knowing more results."""

_ANSWER_SECONDS: Final = 300.0
"""Longest wait for a started engine, which may have to compile first; then it is killed."""

Report = dict[str, Any]
"""The numbers under stable keys, ready for JSON."""


class BenchmarkError(TengenError):
    """A measurement failed; the message says which and why."""


def run_benchmark(
    *, seconds: float, repeats: int, progress: Callable[[str], None], network: NetworkConfig | None = None
) -> Report:
    """Return all measurements, each of about `seconds`; `progress` is called with a line before each kind.

    With `network`, the speed of that network is measured too.

    Raises BenchmarkError when a started engine does not answer, ModelError when there is no such network.
    """
    measured = {} if network is None else {"network": measure_network(network, seconds, repeats, progress)}
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
        **measured,
    }


def measure_network(config: NetworkConfig, seconds: float, repeats: int, progress: Callable[[str], None]) -> Report:
    """Return the speed of a network for each number of threads and each batch size, and the recommended ones.

    Raises ModelError when it cannot be loaded.
    """
    from gtp_engine.nn import load_evaluator

    first = load_evaluator(config, log=progress)
    runtime = first.networks[0].model.runtime
    width, height = first.info.boards.usual
    report: Report = {"name": first.info.name, "runtime": first.runtime_text, "board": f"{width}x{height}"}
    first.close()
    batches = CPU_BATCHES if runtime.provider.is_cpu else GPU_BATCHES
    threads = _thread_counts() if runtime.provider.is_cpu and not config.network_threads else [config.network_threads]
    evaluations: dict[str, dict[str, float]] = {str(count): {} for count in threads}
    playouts: dict[str, float] = {}

    def loaded(count: int, batch: int) -> "NetworkEvaluator":
        settings = replace(config, network_threads=count)
        return load_evaluator(settings, log=lambda line: None, board=(width, height), batch=batch)

    for count in threads:
        progress(f"Evaluations in {count or 'all'} threads …")
        for batch in batches:
            evaluator = loaded(count, batch)
            evaluations[str(count)][str(batch)] = _evaluations_per_second(evaluator, width, height, seconds)
            evaluator.close()
    best = max(threads, key=lambda count: max(evaluations[str(count)].values()))
    progress("Search with the network …")
    for batch in batches:
        evaluator = loaded(best, batch)
        playouts[str(batch)] = _network_playouts_per_second(evaluator, Game(width, height), seconds, repeats)
        evaluator.close()
    enough = GOOD_ENOUGH * max(playouts.values())
    smallest = next(batch for batch in batches if playouts[str(batch)] >= enough)
    recommended = {"network_threads": best, "eval_batch": smallest}
    return report | {"evaluations_per_s": evaluations, "playouts_per_s": playouts, "recommended": recommended}


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


def format_report(report: Mapping[str, Any]) -> str:
    """Return the measurements as lines of text."""
    machine = report["machine"]
    lines = [
        f"Tengen {report['version']} on {machine['processor']}, {counted(machine['cores']['usable'], 'core')}",
        *_rows("rollouts/s, one core", report["rollouts_per_s"]),
        *_rows("playouts/s, all cores", report["playouts_per_s"]),
        f"process start to name           {report['startup_s']['name']:8.2f} s",
        f"process start to first genmove  {report['startup_s']['first_genmove']:8.2f} s",
    ]
    return "\n".join([*lines, *(_network_lines(report["network"]) if "network" in report else [])])


def _network_lines(network: Mapping[str, Any]) -> list[str]:
    """Return the measurements of a network as lines of text: a column for each batch size."""
    evaluations, playouts = network["evaluations_per_s"], network["playouts_per_s"]
    rows = {"batch size": {batch: batch for batch in playouts}}
    rows |= {f"evaluations/s, {_threads_text(count)}": row for count, row in evaluations.items()}
    rows["playouts/s"] = playouts
    table = [
        f"{label:<28}" + "".join(f"{value if isinstance(value, str) else f'{value:.1f}':>9}" for value in row.values())
        for label, row in rows.items()
    ]
    best = network["recommended"]
    return [
        f"network {network['name']} on {network['board']}: {network['runtime']}",
        *table,
        f"best here: --network-threads {best['network_threads']} --eval-batch {best['eval_batch']}",
    ]


def _threads_text(count: str) -> str:
    return "all threads" if count == "0" else f"{count} thread{'s' if count != '1' else ''}"


def _thread_counts() -> list[int]:
    """Return the powers of two below the number of cores, and that number."""
    cores = available_cores()
    return [*(count for count in (1, 2, 4, 8, 16, 32, 64) if count < cores), cores]


def _evaluations_per_second(evaluator: "NetworkEvaluator", width: int, height: int, seconds: float) -> float:
    """Return the positions per second that an evaluator evaluates in full batches, none of them cached."""
    game = Game(width, height)
    batch = evaluator.info.batch
    positions, out = new_positions(batch, width, height), new_evaluation(batch, width, height)
    for row in range(batch):
        write_game(positions, row, game)
    conditions = conditions_of(game)
    evaluator.evaluate(positions, batch, conditions, out, DEFAULT_OPTIONS)  # loads the kernels
    evaluated, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        positions.key[:] += 1  # new keys, so that the cache takes them for new positions
        evaluator.evaluate(positions, batch, conditions, out, DEFAULT_OPTIONS)
        evaluated += batch
    return evaluated / (time.perf_counter() - started)


def _network_playouts_per_second(evaluator: "NetworkEvaluator", game: Game, seconds: float, repeats: int) -> float:
    """Return the median playouts per second of searches, each with a new tree and an empty cache."""
    from gtp_engine.search.puct.puct_search import PuctSearch

    search = PuctSearch(Config(), evaluator)
    search.run(game, Limits(visits=1))  # loads the kernels
    rates = []
    for _ in range(repeats):
        search.clear()
        evaluator.clear_cache()
        report = search.run(game, Limits(watcher=lambda progress: progress.seconds >= seconds))
        rates.append(report.playouts / report.seconds)
    search.close()
    return statistics.median(rates)


def _rows(label: str, table: Mapping[str, Mapping[str, float]]) -> list[str]:
    return [
        f"{label:<22} {size:>6} {kind:<9} {value:>9,.0f}" for size, row in table.items() for kind, value in row.items()
    ]


def _table(kinds: Iterable[str], measure: Callable[[int, str], float]) -> dict[str, dict[str, float]]:
    return {f"{size}x{size}": {kind: measure(size, kind) for kind in kinds} for size in SIZES}


def _rollouts_per_second(size: int, policy: str, seconds: float, repeats: int) -> float:
    return statistics.median(rollouts_per_second(size, size, policy, seconds) for _ in range(repeats))


def _playouts_per_second(size: int, algorithm: str, seconds: float, repeats: int) -> float:
    """Return the median playouts per second of searches from the empty board, each with a new tree."""
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
