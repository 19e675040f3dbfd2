"""Evaluations per second of a network by threads and batch size, and playouts per second of a search with it.

Evaluations are of positions that are not cached, and include the encoding of features.  Playouts are in positions of a
game that the network plays by its policy, with the best number of threads; those that reach a position which was
evaluated before need no evaluation.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from gtp_engine.config import Config, NetworkConfig
from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.evaluator import DEFAULT_OPTIONS
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.game import Game
from gtp_engine.machine import available_cores
from gtp_engine.search.limits import Limits

if TYPE_CHECKING:
    from gtp_engine.nn.network_evaluator import NetworkEvaluator
    from gtp_engine.search.puct.puct_search import PuctSearch

CPU_BATCHES: Final = (1, 2, 4, 8, 16)
GPU_BATCHES: Final = (1, 8, 16, 32, 64, 128)
"""Batch sizes that are measured."""

STAGES: Final = (0.06, 0.17, 0.28)
"""Moves for each point of the board after which positions of a game are searched: 21, 61 and 101 on 19×19.  The empty
board would flatter: in an opening the same moves in another order are most of the tree."""

GOOD_ENOUGH: Final = 0.95
"""Share of the best playouts per second from which a smaller batch is recommended: it selects knowing more results."""


def measure_network(
    config: NetworkConfig, seconds: float, repeats: int, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Return the speed of a network for each number of threads and each batch size, and the recommended ones.

    Raises ModelError when it cannot be loaded.
    """
    from gtp_engine.nn import load_evaluator

    first = load_evaluator(config, log=progress)
    runtime = first.networks[0].model.runtime
    width, height = first.info.boards.usual
    report: dict[str, Any] = {"name": first.info.name, "runtime": first.runtime_text, "board": f"{width}x{height}"}
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
        playouts[str(batch)] = _network_playouts_per_second(evaluator, seconds, repeats)
        evaluator.close()
    enough = GOOD_ENOUGH * max(playouts.values())
    smallest = next(batch for batch in batches if playouts[str(batch)] >= enough)
    recommended = {"network_threads": best, "eval_batch": smallest}
    return report | {"evaluations_per_s": evaluations, "playouts_per_s": playouts, "recommended": recommended}


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


def _network_playouts_per_second(evaluator: "NetworkEvaluator", seconds: float, repeats: int) -> float:
    """Return the median playouts per second of `repeats` rounds of searches, each with a new tree and an empty cache.

    The searches are on the usual board, in batches of the evaluator's size.

    A round searches each position for `seconds`: a search's first batches are small, so a short one would be slower.
    """
    from gtp_engine.search.puct.puct_search import PuctSearch

    search = PuctSearch(Config().with_values({"puct.eval_batch": evaluator.info.batch}), evaluator)
    games = _positions_of_a_game(search, *evaluator.info.boards.usual)
    limits = Limits(watcher=lambda progress: progress.seconds >= seconds)
    rates = []
    for _ in range(repeats):
        reports = []
        for game in games:
            search.clear()
            evaluator.clear_cache()
            reports.append(search.run(game, limits))
        rates.append(sum(report.playouts for report in reports) / sum(report.seconds for report in reports))
    search.close()
    return statistics.median(rates)


def _positions_of_a_game(search: "PuctSearch", width: int, height: int) -> list[Game]:
    """Return the positions to search, after as many moves of a game as STAGES say."""
    game, found = Game(width, height), []
    for stage in STAGES:
        while len(game.moves) < stage * width * height and not game.is_over:
            game.play(search.run(game, Limits(visits=1)).moves[0].point)
        found.append(game.copy())
    return found
