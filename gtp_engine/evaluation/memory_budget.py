"""The memory of trees and caches: how much one tree may take, and how all that a process has share what is free."""

import math
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from gtp_engine.base.machine import free_memory_mib
from gtp_engine.config import SearchConfig

FREE_SHARE: Final = 1 / 8
"""Share of the free memory that one tree may take: an engine has two, an analysis one for each position at a time, and
while a tree grows or is pruned there are two copies of it."""

LEAST_MEMORY: Final = 128
"""MiB that a tree may take however little is free: 36,000 nodes on 19x19."""

MOST_MEMORY: Final = 8192
"""MiB that a tree takes at most unless configured: 2.3 million nodes on 19x19."""

UNKNOWN_MEMORY: Final = 512
"""MiB that a tree may take where the free memory is not known."""

BUDGET_SHARE: Final = 1 / 4
"""Share of the free memory that all trees and caches of a process take together: while a tree grows or is pruned there
are two copies of it, and other programs want to live too."""

UNKNOWN_BUDGET: Final = 1024
"""MiB that they take where the free memory is not known."""


def tree_memory(config: SearchConfig) -> int:
    """Return the MiB that a tree may take: as configured, else a share of what is free now."""
    if config.max_memory is not None:
        return config.max_memory
    free = free_memory_mib()
    return UNKNOWN_MEMORY if free is None else min(MOST_MEMORY, max(LEAST_MEMORY, int(FREE_SHARE * free)))


class Holder(Protocol):
    """What holds memory that it can do without: a tree."""

    @property
    def memory(self) -> float:
        """The memory in use, MiB."""

    def clear(self) -> None:
        """Give it back."""


class MemoryBudget:
    """The memory that all trees and caches of this process take together; for any thread.

    A tree alone may take all of it; several that want more than there is get equal parts.  Those that are being
    searched give back by themselves, because they may hold no more than is `allowed`; others are cleared for them where
    they hold more than their part, the one first that was not searched for the longest time.
    """

    def __init__(self, share: float, unknown: float) -> None:
        self._share: Final = share
        self._unknown: Final = unknown
        self._lock: Final = threading.RLock()  # a finalizer may run while it is held
        self._holders: Final[weakref.WeakKeyDictionary[Holder, float]] = weakref.WeakKeyDictionary()  # time of last use
        self._kept = 0.0
        self._total = 0.0

    def join(self, holder: Holder) -> None:
        """Give a new tree its part; what is free now counts from here on."""
        with self._lock:
            free = free_memory_mib()
            held = self._kept + sum(each.memory for each in self._holders)
            self._total = self._unknown if free is None else self._share * (free + held)
            self._holders[holder] = time.monotonic()

    def keep(self, thing: object, memory: float) -> None:
        """Set memory (MiB) aside for a cache, as long as `thing` exists."""
        with self._lock:
            self._kept += memory
        weakref.finalize(thing, self._release, memory)

    @contextmanager
    def using(self, holder: Holder) -> Iterator[None]:
        """Let no one clear a tree in the `with` block."""
        with self._lock:
            self._holders[holder] = math.inf
        try:
            yield
        finally:
            with self._lock:
                self._holders[holder] = time.monotonic()

    def allowed(self, holder: Holder, wanted: float, most: float) -> float:
        """Return the MiB that a tree in use may hold, which wants so many and may take `most` if it is alone."""
        with self._lock:
            total = max(self._total - min(self._kept, self._total / 2), most)
            part = total / max(1, len(self._holders))
            others = {each: each.memory for each in self._holders if each is not holder}
            room = total - sum(others.values())
            for other in sorted(others, key=self._holders.__getitem__):
                if room >= min(wanted, part):
                    break
                if others[other] > part and self._holders[other] < math.inf:
                    other.clear()
                    room += others[other]
            return min(most, max(part, room))

    def _release(self, memory: float) -> None:
        with self._lock:
            self._kept -= memory


BUDGET: Final = MemoryBudget(BUDGET_SHARE, UNKNOWN_BUDGET)
"""That of this process."""
