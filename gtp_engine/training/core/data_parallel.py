"""Data parallelism over threads: each runs a whole network on a share of the positions; they meet once at its end.

torch's own threads meet after every operation, hundreds of times a step: on a machine with other work two of them were
slower than one (training b6c96, 9×9, two busy cores: 160 positions/s, one thread 470, two shares 590; on idle cores 780
one thread, 1370 two shares).  Games of a network of 7 layers with 64 filters took 89 s instead of 5.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from gtp_engine.training.core.devices import Machine

MOST_THREADS: Final = 8
"""Threads at most: Python itself runs on one core, and steers all of them."""

Result = TypeVar("Result")


def threads_on(machine: Machine) -> int:
    """Return how many threads should share the positions of a batch on this machine."""
    return min(machine.threads, MOST_THREADS) if machine.device.type == "cpu" else 1


class ParallelThreads:
    """`count` threads, among which torch's threads are divided; they end with this object, or when it is closed."""

    def __init__(self, machine: Machine, count: int) -> None:
        self.count: Final = count
        self._pool: Final = ThreadPoolExecutor(count, "data-parallel", initializer=lambda: machine.use_threads(count))

    def map(self, function: Callable[..., Result], *arguments: Iterable[Any]) -> list[Result]:
        """Return the function's results, like the built-in `map`, once all are there; raises what it raises."""
        return list(self._pool.map(function, *arguments))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
