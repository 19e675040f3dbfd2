"""How much memory a search tree may take."""

from typing import Final

from gtp_engine.config import SearchConfig
from gtp_engine.machine import free_memory_mib

FREE_SHARE: Final = 1 / 8
"""Share of the free memory that one tree may take: an engine has two, an analysis one for each position at a time, and
while a tree grows or is pruned there are two copies of it."""

LEAST_MEMORY: Final = 128
"""MiB that a tree may take however little is free: 36,000 nodes on 19x19."""

MOST_MEMORY: Final = 8192
"""MiB that a tree takes at most unless configured: 2.3 million nodes on 19x19."""

UNKNOWN_MEMORY: Final = 512
"""MiB that a tree may take where the free memory is not known."""


def tree_memory(config: SearchConfig) -> int:
    """Return the MiB that a tree may take: as configured, else a share of what is free now."""
    if config.max_memory is not None:
        return config.max_memory
    free = free_memory_mib()
    return UNKNOWN_MEMORY if free is None else min(MOST_MEMORY, max(LEAST_MEMORY, int(FREE_SHARE * free)))
