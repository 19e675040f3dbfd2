"""The speed of this installation on this machine: `gtp-engine benchmark`.

All measurements are a report with stable keys, ready for JSON:

    version, machine    of the engine; as `machine.describe_machine` describes it
    rollouts_per_s      {"9x9": {"uniform": …, "tactical": …}, "19x19": …}   played and counted, on one core
    playouts_per_s      {"9x9": {"rave": …, "uct": …}, "19x19": …}           of a search with all threads
    startup_s           {"name": …, "first_genmove": …}                      from the start of a process
    network             {"name", "runtime", "board", "evaluations_per_s": {threads: {batch: …}},
                         "playouts_per_s": {batch: …}, "recommended": {"network_threads", "eval_batch"}}
    katago              {"command", "board", "threads", "playouts_per_s", "evaluations_per_s"}

The last two are there if they were asked for.  Compare only numbers of one machine and one run.

Evaluations of a network are of positions that are not cached, and include the encoding of features.  Playouts with a
network are in positions of a game that it plays by its policy, with the best number of threads; those that reach a
position which was evaluated before need no evaluation.

KataGo's speed is that of its own benchmark: `katago benchmark -model FILE -config FILE -threads 1,2,4`.  KataGo
searches ten positions of a game with an empty tree and cache each, by default with 800 visits, once for each number of
threads, and writes a line for each (`PlayUtils::BenchmarkResults::toString` in its `program/playutils.cpp`).  The
number of threads with the most visits per second counts.
"""

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

from gtp_engine import __version__
from gtp_engine.base.errors import TengenError, counted, shown
from gtp_engine.base.machine import available_cores, describe_machine
from gtp_engine.base.streams import Log
from gtp_engine.base.worker_process import split_command
from gtp_engine.config import Config, NetworkConfig
from gtp_engine.engine.searches import positions_of_a_game
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import new_evaluation, new_positions
from gtp_engine.go.constants import BLACK
from gtp_engine.go.game import Game
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.nn.named_networks import model_path
from gtp_engine.nn.network_evaluator import NetworkEvaluator
from gtp_engine.nn.network_files import find_networks
from gtp_engine.nn.onnx_model import OnnxModel
from gtp_engine.protocols.client.connection import EngineConnection
from gtp_engine.protocols.client.gtp_engines import GtpEngine, SimpleGtpEngine
from gtp_engine.protocols.client.simple import wait_for
from gtp_engine.search.limits import Limits, RootPosition
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.rollouts.reusable_rollout_tree import RolloutBuffers
from gtp_engine.search.rollouts.rollout import POLICIES
from gtp_engine.search.rollouts.rollout_search import RolloutSearch, kernel_position
from gtp_engine.search.rollouts.rollout_select import evaluate_leaves, select_leaves
from gtp_engine.search.rollouts.rollout_tree import new_tree

Report = dict[str, Any]


def run_benchmark(
    *,
    seconds: float,
    repeats: int,
    progress: Log,
    network: NetworkConfig | None = None,
    katago: str | None = None,
) -> Report:
    """Return all measurements, each of about `seconds`; `progress` is called with a line before each kind.

    With `network`, the speed of that network is measured too, and with `katago`, a `katago benchmark` command, KataGo's
    right before it: what is wrong with the command shows at once, not after minutes of measuring.

    Raises TengenError when a started engine does not answer or KataGo fails, ModelError when there is no such
    network.
    """
    asked_for: Report = {}
    if network is not None:
        find_networks(model_path(network.model))
    if katago is not None:
        progress("KataGo …")
        asked_for["katago"] = measure_katago(katago)
    if network is not None:
        asked_for["network"] = measure_network(network, seconds, repeats, progress)
    progress("Rollouts on one core …")
    rollouts = measure_rollouts(seconds, repeats)
    progress("Search on all cores …")
    playouts = measure_playouts(seconds, repeats)
    progress("Start of a process …")
    return {
        "version": __version__,
        "machine": describe_machine(),
        "rollouts_per_s": rollouts,
        "playouts_per_s": playouts,
        "startup_s": measure_startup(repeats),
        **asked_for,
    }


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
    if "network" in report:
        lines += _network_lines(report["network"])
    if "katago" in report:
        lines += _comparison(report["network"], report["katago"])
    return "\n".join(lines)


def _comparison(network: Mapping[str, Any], katago: Mapping[str, Any]) -> list[str]:
    """Return the best speeds of both engines, and how many times as fast this one is."""
    most = max(max(row.values()) for row in network["evaluations_per_s"].values())
    ours = (max(network["playouts_per_s"].values()), most)
    theirs = (katago["playouts_per_s"], katago["evaluations_per_s"])
    katago_label = f"KataGo on {katago['board']}, {_threads_text(str(katago['threads']))}"
    return [
        f"{'best of each':<28}{'playouts/s':>14}{'evaluations/s':>15}",
        *(
            f"{label:<28}{playouts:>14.1f}{evaluations:>15.1f}"
            for label, (playouts, evaluations) in ((f"Tengen on {network['board']}", ours), (katago_label, theirs))
        ),
        f"{'ratio':<28}{ours[0] / theirs[0]:>14.2f}{ours[1] / theirs[1]:>15.2f}",
    ]


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


def _rows(label: str, table: Mapping[str, Mapping[str, float]]) -> list[str]:
    return [
        f"{label:<22} {size:>6} {kind:<9} {value:>9,.0f}" for size, row in table.items() for kind, value in row.items()
    ]


CPU_BATCHES: Final = (1, 2, 4, 8, 16)
GPU_BATCHES: Final = (1, 8, 16, 32, 64, 128)
"""Batch sizes that are measured."""

STAGES: Final = (0.06, 0.17, 0.28)
"""Moves for each point of the board after which positions of a game are searched: 21, 61 and 101 on 19×19.  The empty
board would flatter: in an opening the same moves in another order are most of the tree."""

GOOD_ENOUGH: Final = 0.95
"""Share of the best playouts per second from which a smaller batch is recommended: it selects knowing more results."""


def measure_network(config: NetworkConfig, seconds: float, repeats: int, progress: Log) -> dict[str, Any]:
    """Return the speed of a network for each number of threads and each batch size, and the recommended ones.

    Raises ModelError when it cannot be loaded.
    """
    first = load_evaluator(config, log=progress)
    model = first.models[0]
    assert isinstance(model, OnnxModel), "it was loaded from a file"
    runtime = model.runtime
    width, height = first.info.boards.usual
    report: dict[str, Any] = {"name": first.info.name, "runtime": runtime.title, "board": f"{width}x{height}"}
    first.close()
    batches = CPU_BATCHES if runtime.provider.is_cpu else GPU_BATCHES
    cores, threads = available_cores(), [config.network_threads]
    if runtime.provider.is_cpu and not config.network_threads:
        threads = [*(count for count in (1, 2, 4, 8, 16, 32, 64) if count < cores), cores]
    evaluations: dict[str, dict[str, float]] = {str(count): {} for count in threads}
    playouts: dict[str, float] = {}

    def loaded(count: int, batch: int) -> NetworkEvaluator:
        settings = replace(config, network_threads=count)
        return load_evaluator(settings, log=lambda line: None, board=(width, height), batch=batch)

    for count in threads:
        progress(f"Evaluations in {counted(count, 'thread') if count else 'all threads'} …")
        for batch in batches:
            with closing(loaded(count, batch)) as evaluator:
                evaluations[str(count)][str(batch)] = _evaluations_per_second(evaluator, width, height, seconds)
    best = max(threads, key=lambda count: max(evaluations[str(count)].values()))
    progress("Search with the network …")
    for batch in batches:
        with closing(loaded(best, batch)) as evaluator:
            playouts[str(batch)] = _network_playouts_per_second(evaluator, seconds, repeats)
    enough = GOOD_ENOUGH * max(playouts.values())
    smallest = next(batch for batch in batches if playouts[str(batch)] >= enough)
    recommended = {"network_threads": best, "eval_batch": smallest}
    return report | {"evaluations_per_s": evaluations, "playouts_per_s": playouts, "recommended": recommended}


def _evaluations_per_second(evaluator: NetworkEvaluator, width: int, height: int, seconds: float) -> float:
    """Return the positions per second that an evaluator evaluates in full batches, none of them cached."""
    game = Game(width, height)
    batch = evaluator.info.batch
    positions, out = new_positions(batch, width, height), new_evaluation(batch, width, height)
    for row in range(batch):
        write_game(positions, row, game)
    request = Request(positions, batch, out)
    evaluator.evaluate(request)  # loads the kernels
    evaluated, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        positions.key[:] += 1  # new keys, so that the cache takes them for new positions
        evaluator.evaluate(request)
        evaluated += batch
    return evaluated / (time.perf_counter() - started)


def _network_playouts_per_second(evaluator: NetworkEvaluator, seconds: float, repeats: int) -> float:
    """Return the playouts per second in positions of a game on the usual board, in batches of the evaluator's size.

    A round searches each position for `seconds`: a search's first batches are small, so a short one would be slower.
    """
    search = PuctSearch(Config().with_values({"puct.eval_batch": evaluator.info.batch}), evaluator)
    games = positions_of_a_game(search, *evaluator.info.boards.usual, STAGES)
    return _playouts_per_second(search, games, seconds, repeats, forget=evaluator.clear_cache)


SIZES: Final = (9, 19)
SEARCHES: Final = ("rave", "uct")

POINTS_AT_ONCE: Final = 20_000
"""Points of the boards on which rollouts are played between two looks at the time."""

Rates = dict[str, dict[str, float]]
"""Numbers per second by board and kind: {"9x9": {"uniform": …}}."""


def measure_rollouts(seconds: float, repeats: int) -> Rates:
    """Return the rollouts per second of each policy on one core, medians of `repeats` measurements of `seconds`."""
    return _table(
        POLICIES,
        lambda size, policy: statistics.median(_rollouts_per_second(size, policy, seconds) for _ in range(repeats)),
    )


def _rollouts_per_second(size: int, policy: str, seconds: float) -> float:
    """Return how many rollouts from the empty board one core plays and counts in a second, as leaves of a search."""
    batch = POINTS_AT_ONCE // size**2
    buffers = RolloutBuffers((size, size), batch=batch, threads=1, seed=1)
    config = Config().with_values({"search.rollout_policy": policy}).search
    position, tree = kernel_position(RootPosition(Game(size), BLACK), config), new_tree(1)  # which has no room to grow

    def play() -> None:
        select_leaves(tree, position, buffers.leaves, batch, buffers.works[0].rollout)
        evaluate_leaves(position, buffers.leaves, 0, batch, buffers.works[0])

    play()  # loads the kernels
    played, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        play()
        played += batch
    return played / elapsed


def measure_playouts(seconds: float, repeats: int) -> Rates:
    """Return the playouts per second of each search on all cores, medians of `repeats` searches of `seconds`."""

    def measure(size: int, algorithm: str) -> float:
        search, game = RolloutSearch(Config().with_values({"search.search": algorithm}).search), Game(size)
        search.run(game, Limits(visits=1))  # loads the kernels
        return _playouts_per_second(search, [game], seconds, repeats)

    return _table(SEARCHES, measure)


def _table(kinds: Iterable[str], measure: Callable[[int, str], float]) -> Rates:
    return {f"{size}x{size}": {kind: measure(size, kind) for kind in kinds} for size in SIZES}


def _playouts_per_second(
    search: PuctSearch | RolloutSearch,
    games: Sequence[Game],
    seconds: float,
    repeats: int,
    forget: Callable[[], None] = lambda: None,
) -> float:
    """Return the median playouts per second of `repeats` rounds of searches, each with a new tree, after `forget`."""
    limits, rates = Limits(watcher=lambda progress: progress.seconds >= seconds), []
    for _ in range(repeats):
        reports = []
        for game in games:
            search.clear()
            forget()
            reports.append(search.run(game, limits))
        rates.append(sum(report.playouts for report in reports) / sum(report.seconds for report in reports))
    search.close()
    return statistics.median(rates)


STARTUP_VISITS: Final = 10
"""Visits of the first move of a started process."""

_ANSWER_SECONDS: Final = 300.0
"""Longest wait for a started engine, which may have to compile first; then it is killed."""


def measure_startup(repeats: int) -> dict[str, float]:
    """Return the median seconds from the start of a process to `name` and to the first move; raises EngineError.

    One start before the measured ones ensures that compiled code is on disk.
    """
    first_move = ("boardsize 19", "genmove b")
    seconds_to_answer(("tengen-ready", *first_move))
    return {
        "name": statistics.median(seconds_to_answer(("name",)) for _ in range(repeats)),
        "first_genmove": statistics.median(seconds_to_answer(first_move) for _ in range(repeats)),
    }


def seconds_to_answer(commands: Sequence[str]) -> float:
    """Return the seconds from the start of `gtp-engine` to the last of its replies; raises EngineError."""
    arguments = [sys.executable, "-m", "gtp_engine", "gtp", "--visits", str(STARTUP_VISITS)]
    started = time.perf_counter()
    connection = wait_for(EngineConnection.popen(arguments, label="a started engine"))
    with SimpleGtpEngine(GtpEngine(connection, _ANSWER_SECONDS)) as engine:
        for command in commands:
            engine.send(command)
        return time.perf_counter() - started


_RESULT: Final = re.compile(
    r"numSearchThreads = +(?P<threads>\d+):.*\bvisits/s = (?P<visits>[\d.]+) nnEvals/s = (?P<evaluations>[\d.]+)"
)
_BOARD: Final = re.compile(r"\(board size (\d+x\d+)\)")


def measure_katago(command: str) -> dict[str, Any]:
    """Return the best of what a `katago benchmark` command prints: see the key `katago` above.

    Raises TengenError if it cannot be run, fails or prints no result.
    """
    try:
        finished = subprocess.run(
            split_command(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TengenError(f"cannot run {shown(command)}: {reason}") from error
    output, status = finished.stdout, finished.returncode
    results = list(_RESULT.finditer(output))
    if status or not results:
        last = shown(output.strip().rpartition("\n")[2], length=200)
        ended = f"ended with exit code {status}, after {last}" if status else f"printed no result, and at last {last}"
        raise TengenError(
            f"{shown(command)} {ended}", expected="a command like `katago benchmark -model FILE -config FILE`"
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
