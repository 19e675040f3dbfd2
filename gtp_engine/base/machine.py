"""Facts about the machine: processor, cores, memory, instruction sets.

They come from the standard library, from Linux's files, and from LLVM where there are none; unknown ones are None.
"""

import functools
import math
import os
import platform
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_X86_FLAGS: Final = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
_ARM_FLAGS: Final = ("asimd", "asimddp", "bf16", "i8mm", "sve")
SIMD_FLAGS: Final = _X86_FLAGS + _ARM_FLAGS
"""The instruction sets that matter to numba and to network evaluation, by their names in Linux."""

_CPUINFO: Final = Path("/proc/cpuinfo")
_MEMINFO: Final = Path("/proc/meminfo")
_LOADAVG: Final = Path("/proc/loadavg")
_LOOKS: Final = 5
_LOOK_SECONDS: Final = 0.02
"""How often it is read how many threads are running, and the time between: others think for tenths of a second."""
_M_ARENA_MAX: Final = -8  # of malloc.h
_CGROUP: Final = Path("/sys/fs/cgroup")
_SMALL_CORES: Final = Path("/sys/devices/cpu_atom")
"""What Linux has on processors of Intel with cores of two kinds."""
_MIB: Final = 1 << 20


def describe_machine() -> dict[str, Any]:
    """Return the facts under stable keys, ready for JSON.

    Keys: platform, processor, simd (names from `SIMD_FLAGS`, or None), cores (online, usable), cpu_quota (cores that a
    container may use, or None), memory_mib (or None), free_memory_mib (or None).
    """
    return {
        "platform": platform.platform(),
        "processor": processor_name(),
        "simd": simd_flags() or simd_by_llvm(),
        "cores": {"online": os.cpu_count(), "usable": usable_cores()},
        "cpu_quota": cpu_quota(),
        "memory_mib": memory_mib(),
        "free_memory_mib": free_memory_mib(),
    }


@functools.cache
def processor_key() -> str:
    """Return what distinguishes processors that run different code: name and instruction sets."""
    return f"{processor_name()} {simd_flags()} {platform.machine()}"


def usable_cores() -> int:
    """Return the number of cores this process may run on (affinity respected), at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_cores() -> int:
    """Return how many threads are worth starting: one for each usable core, or a container's quota if that is lower."""
    quota = cpu_quota()
    return usable_cores() if quota is None else max(1, min(usable_cores(), math.ceil(quota)))


def is_busy() -> bool:
    """Return whether more threads want to run than there are cores; Windows does not say.

    They do if they did in the last minute, and on Linux still do: what kept the cores busy may be over.
    """
    cores, running = os.cpu_count() or 1, 0
    if sys.platform == "win32" or os.getloadavg()[0] <= cores:
        return False
    for _ in range(_LOOKS):
        time.sleep(_LOOK_SECONDS)
        found = re.search(r" (\d+)/", _read(_LOADAVG))
        running += cores + 1 if found is None else int(found[1])
    return running > _LOOKS * cores


def has_equal_cores() -> bool:
    """Return whether all cores are known to be equally fast; only Linux on x86-64 says."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and not _SMALL_CORES.exists()


def processor_name() -> str:
    """Return the processor's name from Linux's files, or Python's name for it if they have none."""
    return _field(_CPUINFO, "model name") or platform.processor() or platform.machine() or "unknown"


def simd_flags() -> list[str] | None:
    """Return those of `SIMD_FLAGS` in Linux's files, or None if they list no flags."""
    flags = (_field(_CPUINFO, "flags") or _field(_CPUINFO, "Features")).split()
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


def cpu_quota() -> float | None:
    """Return the cores a container's quota allows; None without a quota."""
    quota, _, period = _read(_CGROUP / "cpu.max").strip().partition(" ")
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None
    return int(quota) / int(period)


def memory_mib() -> int | None:
    """Return the machine's memory in MiB, or a container's limit if it is lower; None if neither is known."""
    most = _read(_CGROUP / "memory.max").strip()
    sizes = [int(most)] if most.isdigit() else []
    if sys.platform != "win32" and {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= os.sysconf_names.keys():
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(sizes) // _MIB if sizes else None


def free_memory_mib() -> int | None:
    """Return the memory in MiB that new data can take without swapping; None where Linux's files do not give it.

    Copies of files that were not used lately count as free, as in `docker stats`: the kernel drops them for new data.
    """
    words = _field(_MEMINFO, "MemAvailable").split()
    sizes = [int(words[0]) * 1024] if words else []
    most, current, stat = (_read(_CGROUP / f"memory.{name}").strip() for name in ("max", "current", "stat"))
    if most.isdigit() and current.isdigit():
        used = dict(line.split() for line in stat.splitlines() if len(line.split()) == 2)
        kept = int(current) - int(used.get("inactive_file", 0))
        sizes.append(max(0, int(most) - max(0, kept)))
    return min(sizes) // _MIB if sizes else None


def own_memory_mib() -> int | None:
    """Return the memory in MiB that this process has in use; None where Linux's files do not give it."""
    words = _field(Path("/proc/self/status"), "VmRSS").split()
    return int(words[0]) // 1024 if words else None


def keep_few_pools() -> None:
    """Let threads that begin share two of glibc's pools (`mallopt(3)`): each keeps what lies between pieces in use.

    With eight for each processor, its usual number, a server held 100 MiB that were free after an hour.
    """
    _call_glibc("mallopt", _M_ARENA_MAX, 2)


def give_memory_back() -> None:
    """Give the system what has been freed and was kept for later, where the C library is glibc (its `malloc_trim(3)`).

    Its pools keep what a burst of work leaves: hundreds of MiB, for ever.
    """
    _call_glibc("malloc_trim", 0)


def _call_glibc(name: str, *arguments: int) -> None:
    if sys.platform == "linux":
        import ctypes  # here, as few commands need it

        with suppress(AttributeError):
            getattr(ctypes.CDLL(None), name)(*arguments)


def _field(path: Path, name: str) -> str:
    """Return what follows a name and a colon in a file, "" if nothing does."""
    for line in _read(path).splitlines():
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
