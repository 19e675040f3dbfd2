"""The decorators that compile kernels, and the cache on disk for the compiled code.

`kernel` is numba's `njit` with the options that every compiled function of the engine shares.  Kernels release the
GIL, are cached on disk, and divide like numpy (no exception on division by zero).

They are compiled without numba's reference counting, whose atomic increments took nearly half the time of a random
game (measured side by side: 8,300 against 14,200 games/s on 19×19).  Two rules follow.  A kernel cannot allocate:
`np.empty`, a list or the assignment of a slice to a slice fails to compile, so callers pass work arrays.  And a kernel
must not return an array to Python, which would get the array's reference count wrong; it writes into arrays it is
given and returns numbers.

Compiling all kernels takes the first start half a minute.  Most of that goes into compiling the same code again as
part of each kernel that calls it.  Three rules keep it short.  A kernel is compiled without the wrapper that unpacks
Python arguments unless Python calls it.  A kernel that is called from one place only is a `spliced_kernel`, compiled
only with its caller.  And every kernel should be called with one signature: numba compiles it once more for an int32
instead of an int64, and for a literal 0 instead of a variable, hence `wide()`.

Why a cache directory of our own: numba recompiles a function when *its own file* changes, but not when a kernel that it
calls changes in another file; the stale caller would keep running the old code.  So the directory is named by a hash
of every source that a kernel can depend on, and an edit starts an empty one.  Files with kernels import this module;
their kernels use only other such files and `go/constants.py`, and those are the files hashed.

`TENGEN_CACHE_DIR` sets another folder for the caches, and so does `NUMBA_CACHE_DIR`, numba's own variable.
"""

import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, SupportsInt, TypeVar, cast

import llvmlite.binding
import numba
import numpy as np
from numba import types

P = ParamSpec("P")
R = TypeVar("R")

ROLLOUTS: Final = "rollouts"
NETWORK: Final = "network"
"""The two kinds of searches; a start compiles only the kernels of the one it will use."""

_PACKAGE: Final = Path(__file__).parent
_CACHES_FOLDER: Final = "kernels"
_CACHE_NAME: Final = re.compile(r"[0-9a-f]{16}")
_KEPT_CACHES: Final = 4
"""Caches of this many source versions stay on disk (a few MB each); older ones are removed."""


def kernel_sources() -> list[Path]:
    """Return the files that the kernels' code depends on, sorted by path."""
    sources = [path for path in _PACKAGE.rglob("*.py") if "kernel\ndef " in path.read_text(encoding="utf-8")]
    return sorted([Path(__file__), _PACKAGE / "go" / "constants.py", *sources])


def kernel_hash() -> str:
    """Return 16 hexadecimal digits that differ for every installation and version of the kernel sources."""
    digest = hashlib.sha256(str(_PACKAGE).encode())  # numba's cache is per source path, so per installation
    for path in kernel_sources():
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Return the folder that holds one cache per source version: the user's cache folder of this platform."""
    named = os.environ.get("TENGEN_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))) / "tengen"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tengen"
    return Path(os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")) / "tengen"


def cache_directory() -> Path:
    """Return the folder that numba uses."""
    return _directory


def wanted_cache_directory() -> Path:
    """Return the folder that numba should use for this version of the sources; it may not be writable."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    return (Path(named) if named else cache_root() / _CACHES_FOLDER) / kernel_hash()


def is_cache_filled(searches: str = NETWORK) -> bool:
    """Return whether every kernel for ROLLOUTS or NETWORK searches is in the cache, so that a start only loads."""
    return _filled_mark(searches).exists()


def mark_cache_filled(searches: str) -> None:
    """Record that a warm-up has compiled every kernel for ROLLOUTS or NETWORK searches."""
    _filled_mark(searches).touch()


def _filled_mark(searches: str) -> Path:
    """Return the marker file; its name holds what makes numba compile again: processor, Python, numba version."""
    version = ".".join(map(str, sys.version_info[:3]))
    return _directory / f"complete-{searches}-{numba.__version__}-{version}-{llvmlite.binding.get_host_cpu_name()}"


def _prepare_cache() -> Path:
    """Create the cache folder, set it in numba and return it; a temporary one replaces one that cannot be written."""
    directory = wanted_cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        directory.touch()
        writable = os.access(directory, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        replacement = Path(tempfile.mkdtemp(prefix="tengen-"))  # private to this user: the cache holds code
        print(
            f"Tengen: cannot write {directory}; compiled code goes to {replacement} and is compiled again at every "
            "start. Set TENGEN_CACHE_DIR to a permanent folder.",
            file=sys.stderr,
        )
        directory = replacement
    numba.config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    if directory.parent.name == _CACHES_FOLDER:
        _remove_old_caches(directory)
    return directory


def _remove_old_caches(current: Path) -> None:
    """Remove all but the most recently used caches beside `current`."""
    try:
        caches = [path for path in current.parent.iterdir() if path.is_dir() and _CACHE_NAME.fullmatch(path.name)]
        for path in sorted(caches, key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT_CACHES:]:
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return  # another process is cleaning the same folder; the next start removes the rest


_OPTIONS: Final[dict[str, Any]] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


class _Kernel:
    """A function and its two compiled versions: one that Python calls, one that kernels call.

    Each is compiled, or loaded from the cache, on its first call.  The version for kernels lacks the wrapper that
    unpacks Python's arguments, which for a few boards is larger than most kernels.  Three in four kernels are called
    by kernels only, and leaving the wrapper out saves a third of the first start.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """Store the function; nothing is compiled yet."""
        functools.update_wrapper(self, function)
        # Both attributes have numba's names: numba reads them to decide whether to splice (`spliced_kernel`).
        self.py_func: Final = function
        self.targetoptions: Final = options

    def __call__(self, *args: Any) -> Any:
        """Run the version for Python."""
        return self._for_python(*args)

    @property
    def _numba_type_(self) -> types.Dispatcher:
        """Return the type of the callee where a kernel calls this one (numba's protocol for any object)."""
        return types.Dispatcher(self._for_kernels)

    @functools.cached_property
    def _for_python(self) -> Any:
        return numba.njit(**self.targetoptions)(self.py_func)

    @functools.cached_property
    def _for_kernels(self) -> Any:
        function = self.py_func
        twin = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        # The cache names its files by this; without a name of its own the twin would overwrite the Python version.
        twin.__qualname__ = f"{function.__qualname__}_for_kernels"
        return numba.njit(**{**self.targetoptions, "no_cpython_wrapper": True})(twin)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` compiled by numba on its first call: no GIL, cached on disk, no allocation, numpy division."""
    return cast("Callable[P, R]", _Kernel(function, _OPTIONS))


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a kernel that LLVM inlines into each kernel that calls it.

    For small kernels in hot loops: passing a board copies the descriptors of its arrays, some 90 words, which takes
    longer than such a kernel runs.  Not for large kernels called from many places, whose code it would multiply.
    """
    return cast("Callable[P, R]", _Kernel(function, {**_OPTIONS, "forceinline": True}))


def spliced_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a kernel whose statements numba substitutes for the call when it compiles the calling kernel.

    For a kernel that is called from one place only: it needs no compilation of its own, and the kernels it calls are
    not compiled once more with it.  Each further place would compile it again.
    """
    return cast("Callable[P, R]", _Kernel(function, {**_OPTIONS, "inline": "always"}))


if TYPE_CHECKING:

    def wide(value: SupportsInt) -> int:
        """Return an integer as int64, in which kernels calculate; array elements and literals have other types."""
        ...

else:
    wide = np.int64

_directory: Final = _prepare_cache()
