"""Facts about the machine, read from the texts in which Linux gives them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gtp_engine.base.machine import (
    available_cores,
    cpu_quota,
    describe_machine,
    free_memory_mib,
    give_memory_back,
    has_equal_cores,
    is_busy,
    memory_mib,
    own_memory_mib,
    processor_key,
    processor_name,
    simd_by_llvm,
    simd_flags,
    usable_cores,
)

X86 = "processor\t: 0\nmodel name\t: AMD EPYC 9R14\nflags\t\t: fpu sse2 avx2 avx512f avx512_bf16\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd sve bf16 i8mm\n"


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Stand for Linux's files: the test puts their texts in by name; all others are empty."""
    texts: dict[str, str] = {}
    monkeypatch.setattr("gtp_engine.base.machine._read", lambda path: texts.get(path.name, ""))
    return texts


def test_what_kept_the_cores_busy_may_be_over(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    for load, now, expected in ((9, " 3/99", True), (9, " 2/99", False), (9, "", True), (2, " 3/99", False)):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0, 0), raising=False)
        files["loadavg"] = f"{load}.00 0.00 0.00{now} 1234\n"
        assert is_busy() == expected


def test_processor_name(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"machine": "", "processor": ""}
    for name in names:
        monkeypatch.setattr(f"platform.{name}", lambda name=name: names[name])
    for name, expected in (("", "unknown"), ("machine", "a machine"), ("processor", "a processor")):
        names |= {name: f"a {name}"}
        assert processor_name() == expected
    files["cpuinfo"] = X86
    assert processor_name() == "AMD EPYC 9R14"
    key = processor_key.__wrapped__()
    files["cpuinfo"] = X86.replace("avx2 ", "")
    assert processor_key.__wrapped__() != key
    files["status"] = "VmRSS:\t    4095 kB\n"
    assert own_memory_mib() == 3


def test_which_cores_are_known_to_be_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [("linux", "x86_64", "no"), ("linux", "x86_64", ""), ("linux", "aarch64", "no"), ("win32", "x86_64", "no")]
    found = []
    for system, processor, small_cores in places:
        monkeypatch.setattr("sys.platform", system)
        monkeypatch.setattr("platform.machine", lambda processor=processor: processor)
        monkeypatch.setattr("gtp_engine.base.machine._SMALL_CORES", tmp_path / small_cores)
        found.append(has_equal_cores())
    assert found == [True, False, False, False]


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        (X86, ["avx2", "avx512f", "avx512_bf16"]),
        (ARM, ["asimd", "bf16", "i8mm", "sve"]),
        ("flags : fpu sse2", []),
        ("", None),
    ],
)
def test_simd_flags(cpuinfo: str, expected: list[str] | None, files: dict[str, str]) -> None:
    files["cpuinfo"] = cpuinfo
    assert simd_flags() == expected


@pytest.mark.usefixtures("files")
def test_without_linux_files_llvm_knows_the_instruction_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    features = {"avx2": True, "avx512vnni": True, "avxvnni": False, "amx-int8": True, "sse2": True}
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    assert describe_machine()["simd"] == ["avx2", "avx512_vnni", "amx_int8"]
    features = {"neon": True, "dotprod": True, "i8mm": False}
    assert describe_machine()["simd"] == ["asimd", "asimddp"]

    def refuse() -> None:
        raise RuntimeError("LLVM cannot tell")

    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", refuse)
    assert describe_machine()["simd"] is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the instruction sets")
def test_llvm_and_linux_agree() -> None:
    assert simd_by_llvm() == simd_flags()


@pytest.mark.parametrize(
    ("text", "cores"), [("150000 100000\n", 1.5), ("max 100000\n", None), ("", None), ("100000 0", None)]
)
def test_cpu_quota(text: str, cores: float | None, files: dict[str, str]) -> None:
    files["cpu.max"] = text
    assert cpu_quota() == cores


def test_a_containers_limit_counts_when_it_is_lower(files: dict[str, str]) -> None:
    all_memory = memory_mib()
    for limit, memory in ((str(64 << 20), 64), ("max\n", all_memory)):
        files["memory.max"] = limit
        assert memory_mib() == memory
    for quota, cores in (("150000 100000", min(2, usable_cores())), ("50000 100000", 1)):
        files["cpu.max"] = quota
        assert available_cores() == cores


@pytest.mark.parametrize(
    ("meminfo", "limit", "used", "stat", "expected"),
    [
        ("MemTotal: 8000000 kB\nMemAvailable: 4194304 kB\n", "max", "0", "", 4096),
        ("MemAvailable: 4194304 kB\n", str(2048 << 20), str(1024 << 20), "", 1024),
        ("MemAvailable: 4194304 kB\n", str(1024 << 20), str(2048 << 20), "", 0),
        ("", str(2048 << 20), str(2047 << 20), f"anon 1\ninactive_file {1536 << 20}\nactive_file 5\n", 1537),
        ("", str(2048 << 20), "0", "inactive_file 5000000\n", 2048),
        ("", "max", "", "", None),
    ],
    ids=["machine", "container", "container above its limit", "container that has read large files", "idle", "unknown"],
)
def test_free_memory(
    meminfo: str, limit: str, used: str, stat: str, expected: int | None, files: dict[str, str]
) -> None:
    files |= {"meminfo": meminfo, "memory.max": limit, "memory.current": used, "memory.stat": stat}
    assert free_memory_mib() == expected


def test_description_is_complete(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 9999)
    files["cpu.max"] = "150000 100000"
    facts = describe_machine()
    assert (facts["cpu_quota"], facts["cores"]["online"]) == (1.5, 9999)
    assert set(facts) == {"platform", "processor", "simd", "cores", "cpu_quota", "memory_mib", "free_memory_mib"}
    assert 1 <= facts["cores"]["usable"] == usable_cores() <= facts["cores"]["online"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's, and read in /proc")
def test_freed_memory_goes_back() -> None:
    def held() -> int:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    kept = [bytes(10_000) for _ in range(10_000)]
    del kept[:-1]  # the last one keeps what is below it
    before = held()
    give_memory_back()
    assert held() < before - 60


POOLS = """
import ctypes, threading
from concurrent.futures import ThreadPoolExecutor
from gtp_engine.base.machine import keep_few_pools
{first}
barrier = threading.Barrier(8)
[*ThreadPoolExecutor(8).map(lambda _: (bytes(10_000), barrier.wait()), range(8))]
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's")
def test_threads_share_two_pools() -> None:
    few, usual = (
        subprocess.run([sys.executable, "-c", POOLS.format(first=first)], capture_output=True).stderr.count(b"Arena ")
        for first in ("keep_few_pools()", "")
    )
    assert 0 < few <= 2 < usual
