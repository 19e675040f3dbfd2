"""Facts about the machine: processor, cores, memory, instruction sets; and how a process shares out its memory.

They come from the standard library, from Linux's files, and from LLVM where there are none; unknown ones are None.
"""

import functools
import math
import os
import platform
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

_X86_FLAGS: Final = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
_ARM_FLAGS: Final = ("asimd", "asimddp", "bf16", "i8mm", "sve")
SIMD_FLAGS: Final = _X86_FLAGS + _ARM_FLAGS
"""The instruction sets that matter to numba and to network evaluation, by their names in Linux."""

_CPUINFO: Final = Path("/proc/cpuinfo")
_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")
_MIB: Final = 1 << 20

BUDGET_SHARE: Final = 1 / 4
"""Share of the free memory that all trees and caches of a process take together: while a tree grows or is pruned there
are two copies of it, and other programs want to live too."""

UNKNOWN_BUDGET: Final = 1024
"""MiB that they take where the free memory is not known."""


def describe_machine() -> dict[str, Any]:
    """Return the facts under stable keys, ready for JSON.

    Keys: platform, processor, simd (names from `SIMD_FLAGS`, or None), cores (online, usable), cpu_quota (cores that a
    container may use, or None), memory_mib (or None), free_memory_mib (or None).
    """
    cpuinfo = _read(_CPUINFO)
    return {
        "platform": platform.platform(),
        "processor": processor_name(cpuinfo),
        "simd": simd_flags(cpuinfo) or simd_by_llvm(),
        "cores": {"online": os.cpu_count(), "usable": usable_cores()},
        "cpu_quota": cpu_quota(_read(_CGROUP / "cpu.max")),
        "memory_mib": memory_mib(_read(_CGROUP / "memory.max")),
        "free_memory_mib": free_memory_mib(),
    }


@functools.cache
def processor_key() -> str:
    """Return what tells processors apart that run different code: name and instruction sets."""
    cpuinfo = _read(_CPUINFO)
    return f"{processor_name(cpuinfo)} {simd_flags(cpuinfo)} {platform.machine()}"


def usable_cores() -> int:
    """Return the number of cores this process may run on (affinity respected), at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_cores() -> int:
    """Return how many threads are worth starting: one for each usable core, or a container's quota if lower."""
    quota = cpu_quota(_read(_CGROUP / "cpu.max"))
    return usable_cores() if quota is None else max(1, min(usable_cores(), math.ceil(quota)))


def processor_name(cpuinfo: str) -> str:
    """Return the processor's name from the text of /proc/cpuinfo, or Python's name for it if that has none."""
    return _field(cpuinfo, "model name") or platform.processor() or platform.machine() or "unknown"


def simd_flags(cpuinfo: str) -> list[str] | None:
    """Return those of `SIMD_FLAGS` in the text of /proc/cpuinfo, or None if it lists no flags."""
    flags = (_field(cpuinfo, "flags") or _field(cpuinfo, "Features")).split()
    return [flag for flag in SIMD_FLAGS if flag in flags] if flags else None


def simd_by_llvm() -> list[str] | None:
    """Return the instruction sets that LLVM finds, by their names in Linux; None if it cannot tell."""
    try:
        import llvmlite.binding  # here: Linux's files are quicker to read

        features = llvmlite.binding.get_host_cpu_features()
    except (ImportError, OSError, RuntimeError):  # it is missing or broken, or cannot ask this processor
        return None
    names = {"neon": "asimd", "dotprod": "asimddp"}
    flags = {names.get(name, name).replace("-", "").replace("_", "") for name, has in features.items() if has}
    return [flag for flag in SIMD_FLAGS if flag.replace("_", "") in flags] if flags else None


def cpu_quota(cpu_max: str) -> float | None:
    """Return the cores a container's quota allows, from the text of cgroup's cpu.max; None without a quota."""
    quota, _, period = cpu_max.strip().partition(" ")
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None
    return int(quota) / int(period)


def memory_mib(memory_max: str) -> int | None:
    """Return the machine's memory in MiB, or a container's limit if it is lower; None if neither is known."""
    sizes = [int(memory_max)] if memory_max.strip().isdigit() else []
    if sys.platform != "win32" and {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= os.sysconf_names.keys():
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(sizes) // _MIB if sizes else None


def free_memory_mib() -> int | None:
    """Return the memory in MiB that new data can take without swapping; None where Linux's files do not give it."""
    container = (_read(_CGROUP / f"memory.{name}") for name in ("max", "current", "stat"))
    return available_memory_mib(_read(_MEMINFO), *container)


def available_memory_mib(
    meminfo: str, memory_max: str = "", memory_current: str = "", memory_stat: str = ""
) -> int | None:
    """Return the same from the texts of /proc/meminfo and of a cgroup's memory.max, memory.current and memory.stat.

    Copies of files that were not used lately count as free, as in `docker stats`: the kernel drops them for new data.
    """
    words = _field(meminfo, "MemAvailable").split()
    sizes = [int(words[0]) * 1024] if words else []
    if memory_max.strip().isdigit() and memory_current.strip().isdigit():
        stat = dict(line.split() for line in memory_stat.splitlines() if len(line.split()) == 2)
        used = int(memory_current) - int(stat.get("inactive_file", 0))
        sizes.append(max(0, int(memory_max) - max(0, used)))
    return min(sizes) // _MIB if sizes else None


class Holder(Protocol):
    """What holds memory that it can do without: a tree."""

    @property
    def memory(self) -> float:
        """The memory in use, MiB."""
        ...

    def clear(self) -> None:
        """Give it back."""
        ...


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


def _field(text: str, name: str) -> str:
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _read(path: Path) -> str:
    """Return a file's text, or "" if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


BUDGET: Final = MemoryBudget(BUDGET_SHARE, UNKNOWN_BUDGET)
"""That of this process."""
