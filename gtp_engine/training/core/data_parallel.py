"""Threads that each go through a whole network with a part of the positions, and meet once at its end.

torch's own threads meet after every operation, hundreds of times a step: on a machine that does anything else two of
them were slower than one (training b6c96, 9×9, two busy cores: 160 positions/s, one thread 470, two parts 590; on idle
cores 780 one thread, 1370 two parts).  Games of a network of 7 layers with 64 filters took 89 s instead of 5.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from gtp_engine.training.core.devices import Machine

MOST_PARTS: Final = 8
"""Parts at most: Python itself runs on one core, and steers all of them."""

Result = TypeVar("Result")


def parts_on(machine: Machine) -> int:
    """Return into how many parts positions should be split on this machine."""
    return min(machine.threads, MOST_PARTS) if machine.device.type == "cpu" else 1


class PartThreads:
    """`parts` threads, among which torch's threads are divided; they end with this object, or when it is closed."""

    def __init__(self, machine: Machine, parts: int) -> None:
        self.parts: Final = parts
        self._pool: Final = ThreadPoolExecutor(parts, "part", initializer=lambda: machine.use_threads(parts))

    def map(self, function: Callable[..., Result], *arguments: Iterable[Any]) -> list[Result]:
        """Return the function's results, as the built-in `map`, once all are there; raises what it raises."""
        return list(self._pool.map(function, *arguments))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
