"""How long a network takes for calls of 1, 2, 4 … positions on this machine: measured once, and kept on disk.

The times decide how many positions a search has evaluated at once (`EvaluatorInfo.batches`).  They lie beside the
compiled networks, and are measured again for another network file, precision, processor, number of threads or version
of a package.  While kernels are being compiled the cores are busy, so nothing is measured before they are complete.
"""

import json
import sys
import time
from collections.abc import Sequence
from math import inf
from typing import Final

from gtp_engine import __version__
from gtp_engine.base.files import json_of
from gtp_engine.base.machine import available_cores, processor_key
from gtp_engine.compiled.kernel_cache import is_cache_filled, keep_network, kept_network
from gtp_engine.evaluation.evaluator_info import FULL_AREA
from gtp_engine.nn.network_evaluator import Model
from gtp_engine.nn.onnx_model import OnnxModel, random_inputs

_CALLS: Final = 4
_ROUNDS: Final = 6
"""Calls of each number of positions, of which the fastest counts: other programs only make calls slower.  The numbers
take turns, so that a machine that is slower for a while is so for all of them."""
_LONGEST: Final = 0.5
"""Seconds after which no more calls are made, so that a start with a slow network is not held up."""

CallSeconds = tuple[tuple[int, float], ...]
"""Positions in a call, and its seconds on a board of 19×19."""


def call_seconds(networks: Sequence[OnnxModel], board: tuple[int, int], *, threads: int) -> CallSeconds:
    """Return the seconds of calls of 1, 2, 4 … positions to all of these networks, measured on `board` unless kept.

    Nothing for graphics cards, whose batches are large whatever they take, and while kernels are being compiled.
    """
    runtime = networks[0].runtime
    if not runtime.provider.is_cpu:
        return ()
    states = [(network.path.resolve(), network.path.stat()) for network in networks]
    files = [(str(path), state.st_size, state.st_mtime_ns) for path, state in states]
    version = sys.modules[runtime.provider.package].__version__  # imported when the networks were loaded
    key = repr((files, runtime.title, version, __version__, processor_key(), available_cores(), threads, board))
    try:
        return tuple((int(size), float(seconds)) for size, seconds in json_of((kept_network(key) or b"").decode()))
    except (TypeError, ValueError):  # nothing is kept, or it is damaged
        pass
    if not is_cache_filled():
        return ()
    sizes = [1 << power for power in range(networks[0].batch.bit_length())]
    seconds, until = [inf] * len(sizes), time.perf_counter() + _LONGEST
    for number in range(1 + _ROUNDS):
        found = [sum(fastest_call(network, size, board, calls=1) for network in networks) for size in sizes]
        if number > 0:  # the first calls of a session are slower
            seconds = [min(pair) for pair in zip(seconds, found, strict=True)]
        if number > 0 and time.perf_counter() > until:
            break
    for i in range(1, len(sizes)):  # as fast as two calls at least: on a busy machine longer calls are disturbed more
        seconds[i] = min(seconds[i], 2 * seconds[i - 1])
    full_boards = board[0] * board[1] / FULL_AREA
    times = tuple((size, each / full_boards) for size, each in zip(sizes, seconds, strict=True))
    keep_network(key, json.dumps(times).encode())
    return times


def fastest_call(network: Model, size: int, board: tuple[int, int] | None = None, *, calls: int = _CALLS) -> float:
    """Return the seconds of the fastest of some calls of so many positions; `board` is as in `random_inputs`."""
    inputs, seconds = random_inputs(network.info, size, board), []
    for _ in range(calls):
        started = time.perf_counter()
        network.run(*inputs)
        seconds.append(time.perf_counter() - started)
    return min(seconds)
