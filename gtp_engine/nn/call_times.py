"""How long a network takes for calls of 1, 2, 4 … positions on this machine, alone and two at a time.

They decide how many positions a search has evaluated at once (`EvaluatorInfo.batches`).  They are measured once, lie
beside the compiled networks, and are measured again for another network file, precision, processor, number of threads
or version of a package.  Nothing is measured while the cores are busy with other programs or with compiling kernels.
What was measured while others began to use the machine counts for one start: it is not kept.
"""

import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from gtp_engine import __version__
from gtp_engine.base.files import json_of
from gtp_engine.base.machine import available_cores, is_busy, processor_key
from gtp_engine.compiled.kernel_cache import is_cache_filled, keep_network, kept_network
from gtp_engine.evaluation.evaluator_info import FULL_AREA, EvaluatorInfo
from gtp_engine.nn.network_evaluator import Model
from gtp_engine.nn.onnx_model import OnnxModel, random_inputs

_CALLS: Final = 4
_ROUNDS: Final = 12
"""Calls of each number of positions, of which the fastest counts.  The numbers take turns, so that a machine that is
slower or faster for a while is so for all of them: where others share a processor with AMX, calls take two to three
times as long in some seconds as in others."""
_ALIKE: Final = 1.6
"""Largest factor between the fastest calls of the first rounds and of the others for which they are kept.  It was 1.06
to 1.48 in 15 of 16 trials on two cores with nothing else to do, and 1.64 to 10 in 12 beside six programs."""
_PAIRS: Final = 3
"""Calls that each of two threads makes in a round."""
_LONGEST: Final = 1.0
"""Seconds after which no third round begins, so that a start with a slow network is not held up."""

CallSeconds = tuple[tuple[int, float], ...]
"""Positions in a call, and its seconds on a board of 19×19."""


class CallTimes(NamedTuple):
    """How long calls take: those made alone, and those of which two are made at a time, if that gains."""

    alone: CallSeconds = ()
    pairs: CallSeconds = ()


def call_times(networks: Sequence[OnnxModel], board: tuple[int, int], *, threads: int) -> CallTimes:
    """Return the seconds of calls of 1, 2, 4 … positions to all of these networks, measured on `board` unless kept.

    Nothing for graphics cards, whose batches are large whatever they take, and while the cores are busy.  Where pairs
    of calls gain, the networks are ready for them (`OnnxModel.halve_cores`).
    """
    runtime = networks[0].runtime
    if not runtime.provider.is_cpu:
        return CallTimes()
    states = [(network.path.resolve(), network.path.stat()) for network in networks]
    files = [(str(path), state.st_size, state.st_mtime_ns) for path, state in states]
    version = sys.modules[runtime.provider.package].__version__  # imported when the networks were loaded
    key = repr((files, runtime.title, version, __version__, processor_key(), available_cores(), threads, board))
    try:
        alone, pairs = json_of((kept_network(key) or b"").decode())
        times = CallTimes(_times(alone), _times(pairs))
    except (TypeError, ValueError):  # nothing is kept, or it is damaged
        if not is_cache_filled() or is_busy():
            return CallTimes()
        times, is_steady = _measured(networks, board)
        if is_steady:
            keep_network(key, json.dumps(times).encode())
    for network in networks if times.pairs else ():
        network.halve_cores()
    return times


def _times(kept: Any) -> CallSeconds:
    return tuple((int(size), float(seconds)) for size, seconds in kept)


def _measured(networks: Sequence[OnnxModel], board: tuple[int, int]) -> tuple[CallTimes, bool]:
    """Return the seconds of calls, of pairs only where a search gains by them, and whether they stayed alike."""
    sizes = [1 << power for power in range(networks[0].batch.bit_length())]
    can_pair, until = all([network.halve_cores() for network in networks]), time.perf_counter() + _LONGEST
    paired = sizes[1:-1] if can_pair else []  # smaller calls would need more work beside them than they save
    rounds: list[list[float]] = []
    with ThreadPoolExecutor(2) as pool:
        for number in range(1 + _ROUNDS):
            alone = [sum(fastest_call(each, size, board, calls=1) for each in networks) for size in sizes]
            pairs = [sum(_call_of_pairs(each, size, board, pool) for each in networks) for size in paired]
            rounds.append([*alone, *pairs])
            if number > 1 and time.perf_counter() > until:
                break
    half = 1 + len(rounds) // 2  # without the first round, whose calls are slower
    halves = [[*map(min, zip(*part, strict=True))] for part in (rounds[1:half], rounds[half:])]
    is_steady = all(max(pair) <= _ALIKE * min(pair) for pair in zip(*halves, strict=True))
    fastest = [min(pair) * FULL_AREA / (board[0] * board[1]) for pair in zip(*halves, strict=True)]
    seconds, seconds_of_pairs = fastest[: len(sizes)], fastest[len(sizes) :]
    for i in range(1, len(sizes)):  # as fast as two calls at least: on a busy machine longer calls are disturbed more
        seconds[i] = min(seconds[i], 2 * seconds[i - 1])
    found = CallTimes(tuple(zip(sizes, seconds, strict=True)), tuple(zip(paired, seconds_of_pairs, strict=True)))
    info = EvaluatorInfo("", networks[0].batch, call_seconds=found.alone, pair_seconds=found.pairs)
    if info.batches(*board, size=0, count=0, repeats=False)[1] > 1:
        return found, is_steady
    for network in networks:
        network.join_cores()
    return CallTimes(found.alone), is_steady


def _call_of_pairs(network: Model, size: int, board: tuple[int, int], pool: ThreadPoolExecutor) -> float:
    """Return the seconds of a call of which two threads make some at a time."""
    inputs = random_inputs(network.info, size, board)
    started = time.perf_counter()
    for _ in pool.map(lambda _: [network.run(*inputs) for _ in range(_PAIRS)], range(2)):
        pass
    seconds = (time.perf_counter() - started) / _PAIRS
    network.run(*inputs)  # so that the next call is taken for one that is alone
    return seconds


def fastest_call(network: Model, size: int, board: tuple[int, int] | None = None, *, calls: int = _CALLS) -> float:
    """Return the seconds of the fastest of some calls of so many positions; `board` is as in `random_inputs`."""
    inputs, seconds = random_inputs(network.info, size, board), []
    for _ in range(calls):
        started = time.perf_counter()
        network.run(*inputs)
        seconds.append(time.perf_counter() - started)
    return min(seconds)
