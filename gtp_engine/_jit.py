"""The one compiler decorator, and the cache its results are kept in.

What it is: `kernel` is numba's `njit` with the options that every compiled function of the engine shares.  Kernels
release the GIL, are cached on disk, and divide like numpy (no exception on division by zero).

They are compiled without numba's reference counting, whose atomic increments took nearly half the time of a random
game (measured side by side: 8,300 against 14,200 games/s on 19×19).  Two rules follow.  A kernel cannot allocate:
`np.empty`, a list or the assignment of a slice to a slice fails to compile, so callers bring the work arrays.  And a
kernel must not return an array to Python, whose count of the array's owners would be wrong; it writes into arrays it is
given and returns numbers.

Compiling all of it takes the first start half a minute, and most of that goes into compiling the same code again, as
part of each kernel that calls it.  Three things keep it down.  A kernel is compiled without the code that takes its
arguments apart for Python unless Python calls it.  What is called from one place only is a `spliced_kernel`, compiled
with its caller alone.  And every kernel should be called with one signature: numba compiles it once more for an int32
in place of an int64, and for a literal 0 in place of a variable, hence `wide()`.

Why a cache directory of our own: numba recompiles a function when *its own file* changes, but not when a kernel it
calls changes in another file; the stale caller would go on running the old code.  So the directory is named by a hash
of every source a kernel can depend on, and an edit starts an empty one.  Files that hold kernels import this module;
what their kernels use comes from other such files and from `go/constants.py` only, and those are the files hashed.

`TENGEN_CACHE_DIR` names another place for the caches, and so does `NUMBA_CACHE_DIR`, numba's own variable.
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
"""The two kinds of searches; a start compiles the kernels of the one it is going to use."""

_PACKAGE: Final = Path(__file__).parent
_CACHES_FOLDER: Final = "kernels"
_CACHE_NAME: Final = re.compile(r"[0-9a-f]{16}")
_KEPT_CACHES: Final = 4
"""Caches of this many source versions stay on disk (one takes a few MB); older ones are removed."""


def kernel_sources() -> list[Path]:
    """Return the files whose text decides what the kernels do, sorted by path."""
    sources = [path for path in _PACKAGE.rglob("*.py") if "kernel\ndef " in path.read_text(encoding="utf-8")]
    return sorted([Path(__file__), _PACKAGE / "go" / "constants.py", *sources])


def kernel_hash() -> str:
    """Return 16 hexadecimal digits that are different for every installation and version of the kernel sources."""
    digest = hashlib.sha256(str(_PACKAGE).encode())  # numba's cache is per file, so per installation
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
    """Return the folder that numba reads and writes."""
    return _directory


def wanted_cache_directory() -> Path:
    """Return the folder that numba should use for this version of the sources; it may be impossible to write."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    return (Path(named) if named else cache_root() / _CACHES_FOLDER) / kernel_hash()


def is_cache_filled(searches: str = NETWORK) -> bool:
    """Return whether every kernel for ROLLOUTS or NETWORK searches has been compiled, so that a start only loads."""
    return _filled_mark(searches).exists()


def mark_cache_filled(searches: str) -> None:
    """Remember that every kernel for ROLLOUTS or NETWORK searches has been compiled: a warm-up has come to its end."""
    _filled_mark(searches).touch()


def _filled_mark(searches: str) -> Path:
    """Return the file that says so; numba compiles again for another processor, Python or version of itself."""
    version = ".".join(map(str, sys.version_info[:3]))
    return _directory / f"complete-{searches}-{numba.__version__}-{version}-{llvmlite.binding.get_host_cpu_name()}"


def _prepare_cache() -> Path:
    """Return the cache folder, made and given to numba; one that cannot be written is replaced by a temporary one."""
    directory = wanted_cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        directory.touch()
        writable = os.access(directory, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        replacement = Path(tempfile.mkdtemp(prefix="tengen-"))  # nobody else can write there: the cache holds code
        print(
            f"Tengen: cannot write {directory}; compiled code goes to {replacement} and is compiled anew at every "
            "start. TENGEN_CACHE_DIR can name a folder that lasts.",
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
        return  # another process is cleaning the same folder; what it leaves, the next start removes


_OPTIONS: Final[dict[str, Any]] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


class _Kernel:
    """A function and what numba makes of it: one version that Python calls, one that kernels call.

    Either is compiled when it is first called, or loaded.  The version for kernels comes without the code that takes
    Python's arguments apart, which for a few boards is larger than most kernels; three in four are called by kernels
    only, and leaving it out there saves a third of the first start.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """Take note of the function; nothing is compiled here."""
        functools.update_wrapper(self, function)
        self.py_func: Final = function  # these two by numba's names: it asks them whether to splice (`spliced_kernel`)
        self.targetoptions: Final = options

    def __call__(self, *args: Any) -> Any:
        """Run the version for Python."""
        return self._for_python(*args)

    @property
    def _numba_type_(self) -> types.Dispatcher:
        """Return what numba takes for the callee where a kernel calls this one (numba's protocol for any object)."""
        return types.Dispatcher(self._for_kernels)

    @functools.cached_property
    def _for_python(self) -> Any:
        return numba.njit(**self.targetoptions)(self.py_func)

    @functools.cached_property
    def _for_kernels(self) -> Any:
        function = self.py_func
        twin = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        twin.__qualname__ = f"{function.__qualname__}_for_kernels"  # which names its files in the cache
        return numba.njit(**{**self.targetoptions, "no_cpython_wrapper": True})(twin)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` compiled by numba on its first call: no GIL, cached on disk, no allocation, numpy division."""
    return cast("Callable[P, R]", _Kernel(function, _OPTIONS))


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a kernel that becomes part of each kernel that calls it.

    For what hot loops call: handing over a board means copying the descriptors of its arrays, some 90 words, which
    takes longer than a small kernel does.  Not for large kernels called from many places, which it would multiply.
    """
    return cast("Callable[P, R]", _Kernel(function, {**_OPTIONS, "forceinline": True}))


def spliced_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a kernel whose statements numba puts in the place of the call when it compiles the kernel that calls it.

    For what is called in one place only: it costs no compilation of its own, nor is what it calls compiled once more
    with it.  Each further place would pay for it again.
    """
    return cast("Callable[P, R]", _Kernel(function, {**_OPTIONS, "inline": "always"}))


if TYPE_CHECKING:

    def wide(value: SupportsInt) -> int:
        """Return an array's narrow integer as the 64-bit integer that kernels calculate with."""
        ...

else:
    wide = np.int64

_directory: Final = _prepare_cache()
