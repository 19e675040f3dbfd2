"""The memory that trees and caches take."""

import pytest

from gtp_engine.config import SearchConfig
from gtp_engine.evaluation import memory_budget
from gtp_engine.evaluation.memory_budget import LEAST_MEMORY, MOST_MEMORY, UNKNOWN_MEMORY, MemoryBudget, tree_memory


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
def test_a_tree_takes_what_is_configured_else_a_share_of_what_is_free(
    configured: int | None, free: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_budget, "free_memory_mib", lambda: free)
    assert tree_memory(SearchConfig(max_memory=configured)) == expected


class Held:
    """A tree that holds so many MiB."""

    def __init__(self, memory: float) -> None:
        self.memory = memory

    def clear(self) -> None:
        self.memory = 0.0


def budget_of(mib: float, monkeypatch: pytest.MonkeyPatch) -> MemoryBudget:
    monkeypatch.setattr(memory_budget, "free_memory_mib", lambda: None)
    return MemoryBudget(0.25, mib)


def grown(budget: MemoryBudget, tree: Held, most: float = 1000.0) -> float:
    """Let a tree that is being searched grow as far as it may, and give back what it may not hold."""
    with budget.using(tree):
        while (allowed := budget.allowed(tree, tree.memory + 1, most)) >= tree.memory + 1:
            tree.memory += 1
        tree.memory = min(tree.memory, allowed)
    return tree.memory


def test_all_trees_of_a_process_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight clients could each take all that was free."""
    budget, trees = budget_of(800.0, monkeypatch), [Held(0.0) for _ in range(8)]
    budget.join(trees[0])
    assert grown(budget, trees[0], most=800.0) == 800.0, "one alone has all"
    for tree in trees[1:]:
        budget.join(tree)
        grown(budget, tree, most=800.0)
        assert sum(each.memory for each in trees) <= 800.0
    assert trees[0].memory == 0.0, "it was not searched for the longest time"
    for _ in range(3):
        for tree in trees:
            assert grown(budget, tree, most=800.0) >= 99.0
            assert sum(each.memory for each in trees) <= 800.0


def test_a_tree_that_is_being_searched_gives_back_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    budget, large, small = budget_of(100.0, monkeypatch), Held(90.0), Held(0.0)
    budget.join(large)
    budget.join(small)
    with budget.using(large):
        small.memory = grown(budget, small, most=100.0)
        assert (large.memory, small.memory) == (90.0, 50.0), "its memory is not taken from under it"
        assert budget.allowed(large, 91.0, most=100.0) == 50.0


def test_caches_and_trees_that_have_gone_leave_room(monkeypatch: pytest.MonkeyPatch) -> None:
    budget, tree, cache = budget_of(100.0, monkeypatch), Held(0.0), Held(0.0)
    other: Held | None = Held(60.0)
    assert other is not None
    budget.join(tree)
    budget.join(other)
    for size in (20.0, 10.0):
        budget.keep(cache, size)
    with budget.using(other):
        assert budget.allowed(tree, 90.0, most=10.0) == 10.0
        assert budget.allowed(tree, 90.0, most=70.0) == 35.0
    del other
    assert budget.allowed(tree, 90.0, most=70.0) == 70.0
    del cache
    assert budget.allowed(tree, 90.0, most=90.0) == 90.0
    third = Held(60.0)
    budget.join(third)
    with budget.using(third):
        assert budget.allowed(tree, 90.0, most=80.0) == 50.0, "half of all that there is"
    older, newer = Held(40.0), Held(40.0)
    budget.join(older)
    budget.join(newer)
    assert budget.allowed(tree, 30.0, most=90.0) == 60.0
    assert (third.memory, older.memory, newer.memory) == (0.0, 0.0, 40.0), "the one that was searched last"
    budget.keep(tree, 80.0)
    with budget.using(newer):
        assert budget.allowed(tree, 90.0, most=40.0) == 12.5, "a quarter of the half that caches leave"


def test_what_is_free_counts_when_a_tree_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    free = 400.0
    monkeypatch.setattr(memory_budget, "free_memory_mib", lambda: free)
    budget, first, second = MemoryBudget(0.25, 1.0), Held(0.0), Held(0.0)
    budget.join(first)
    assert budget.allowed(first, 500.0, most=90.0) == 90.0
    first.memory = 80.0
    free = 40.0
    budget.join(second)
    with budget.using(first):
        assert budget.allowed(second, 500.0, most=29.0) == 15.0
