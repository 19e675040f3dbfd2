"""A search tree takes what is configured, else a share of what is free."""

import pytest

from gtp_engine.config import SearchConfig
from gtp_engine.search import tree_memory as module
from gtp_engine.search.tree_memory import LEAST_MEMORY, MOST_MEMORY, UNKNOWN_MEMORY, tree_memory


@pytest.mark.parametrize(
    ("configured", "free", "expected"),
    [
        (64, 8000, 64),
        (None, 8000, 1000),
        (None, 100, LEAST_MEMORY),
        (None, None, UNKNOWN_MEMORY),
        (None, 10**6, MOST_MEMORY),
    ],
)
def test_tree_memory(configured: int | None, free: int | None, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "free_memory_mib", lambda: free)
    assert tree_memory(SearchConfig(max_memory=configured)) == expected
