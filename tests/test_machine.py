"""Facts about the machine, read from the texts in which Linux gives them."""

import sys
from pathlib import Path

import pytest

from gtp_engine import machine
from gtp_engine.machine import (
    MemoryBudget,
    available_memory_mib,
    cpu_quota,
    describe_machine,
    memory_mib,
    processor_name,
    simd_by_llvm,
    simd_flags,
    usable_cores,
)

X86 = "processor\t: 0\nmodel name\t: AMD EPYC 9R14\nflags\t\t: fpu sse2 avx2 avx512f avx512_bf16\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd sve bf16 i8mm\n"


def test_processor_name() -> None:
    assert processor_name(X86) == "AMD EPYC 9R14"
    assert processor_name("") != ""


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        (X86, ["avx2", "avx512f", "avx512_bf16"]),
        (ARM, ["asimd", "bf16", "i8mm", "sve"]),
        ("flags : fpu sse2", []),
        ("", None),
    ],
)
def test_simd_flags(cpuinfo: str, expected: list[str] | None) -> None:
    assert simd_flags(cpuinfo) == expected


def test_without_linux_files_llvm_knows_the_instruction_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows and macOS none was known, so networks were never run in 8 bits or bfloat16."""
    features = {"avx2": True, "avx512vnni": True, "avxvnni": False, "amx-int8": True, "sse2": True}
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    monkeypatch.setattr("gtp_engine.machine._read", lambda path: "")
    assert describe_machine()["simd"] == ["avx2", "avx512_vnni", "amx_int8"]
    features = {"neon": True, "dotprod": True, "i8mm": False}
    assert describe_machine()["simd"] == ["asimd", "asimddp"]

    def refuse() -> None:
        raise RuntimeError("LLVM cannot tell")

    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", refuse)
    assert describe_machine()["simd"] is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the instruction sets")
def test_llvm_and_linux_agree() -> None:
    assert simd_by_llvm() == simd_flags(Path("/proc/cpuinfo").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "cores"), [("150000 100000\n", 1.5), ("max 100000\n", None), ("", None), ("100000 0", None)]
)
def test_cpu_quota(text: str, cores: float | None) -> None:
    assert cpu_quota(text) == cores


def test_a_containers_limit_counts_when_it_is_lower() -> None:
    assert memory_mib(str(64 << 20)) == 64
    assert memory_mib("max\n") == memory_mib("")


@pytest.mark.parametrize(
    ("meminfo", "limit", "used", "stat", "expected"),
    [
        ("MemTotal: 8000000 kB\nMemAvailable: 4194304 kB\n", "max", "0", "", 4096),
        ("MemAvailable: 4194304 kB\n", str(2048 << 20), str(1024 << 20), "", 1024),
        ("MemAvailable: 4194304 kB\n", str(1024 << 20), str(2048 << 20), "", 0),
        ("", str(2048 << 20), str(2047 << 20), f"anon 1\ninactive_file {1536 << 20}\nactive_file 5\n", 1537),
        ("", "max", "", "", None),
    ],
    ids=["machine", "container", "container above its limit", "container that has read large files", "unknown"],
)
def test_free_memory(meminfo: str, limit: str, used: str, stat: str, expected: int | None) -> None:
    assert available_memory_mib(meminfo, limit, used, stat) == expected


def test_description_is_complete() -> None:
    facts = describe_machine()
    assert set(facts) == {"platform", "processor", "simd", "cores", "cpu_quota", "memory_mib", "free_memory_mib"}
    assert 1 <= facts["cores"]["usable"] == usable_cores() <= facts["cores"]["online"]


class Held:
    """A tree that holds so many MiB."""

    def __init__(self, memory: float) -> None:
        self.memory = memory

    def clear(self) -> None:
        self.memory = 0.0


def budget_of(mib: float, monkeypatch: pytest.MonkeyPatch) -> MemoryBudget:
    monkeypatch.setattr(machine, "free_memory_mib", lambda: None)
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
    budget.keep(cache, 30.0)
    with budget.using(other):
        assert budget.allowed(tree, 90.0, most=10.0) == 10.0
        assert budget.allowed(tree, 90.0, most=70.0) == 35.0
    del other
    assert budget.allowed(tree, 90.0, most=70.0) == 70.0
    del cache
    assert budget.allowed(tree, 90.0, most=90.0) == 90.0


def test_what_is_free_counts_when_a_tree_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    free = 400.0
    monkeypatch.setattr(machine, "free_memory_mib", lambda: free)
    budget, first, second = MemoryBudget(0.25, 1.0), Held(0.0), Held(0.0)
    budget.join(first)
    assert budget.allowed(first, 500.0, most=90.0) == 90.0
    first.memory = 80.0
    free = 40.0
    budget.join(second)
    with budget.using(first):
        assert budget.allowed(second, 500.0, most=29.0) == 15.0
