"""The folders on disk for compiled code: where they are, whether those of kernels are complete, who fills them.

One folder holds the code of one version of the sources.  numba recompiles a function when *its own file* changes, but
not when a kernel that it calls changes in another file; the stale caller would keep running the old code.  So the
folder is named by a hash of every source that a kernel can depend on, and an edit starts an empty one; installations of
equal sources share one.  Files with kernels import `jit`; beside other such files they use only `go/constants.py` and
`compiled/arrays.py`, and those are the files hashed.  The kernels of training and of AlphaGo, which no others call,
have a hash of their own: an edit of these files leaves the other kernels in the cache.

Beside numba's files a folder has a list of the kernels compiled so far, and for each kind of start (`engine.kernels`)
a file with the kernels that it loads.  One process compiles at a time (`lock`); others follow the list.

`TENGEN_CACHE_DIR` sets another place for the folders, and so does `NUMBA_CACHE_DIR`, numba's own variable.  Where the
place cannot be written, a folder of this user in the temporary directory replaces it.

Networks that OpenVINO has compiled are kept in a folder beside these, if it can be written (`kept_network`).
"""

import atexit
import contextlib
import functools
import hashlib
import math
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from filelock import FileLock

NETWORK: Final = "network"
"""The usual kind of start (`note_kernels`), with a network like KataGo's."""

PACKAGE: Final = Path(__file__).parents[1]
CACHES_FOLDER: Final = "kernels"
CACHE_NAME: Final = re.compile(r"[0-9a-f]{16}")
"""The folder with all versions' compiled code, and the names of theirs in it (`cache_root`, `kernel_hash`)."""

_KEPT_CACHES: Final = 4
"""Caches of this many source versions stay on disk (a few MB each); older ones are removed."""


# --- which folder ---


_WINGS: Final = ("training",)
"""The rooms whose kernels no kernel outside of them calls."""


def kernel_sources() -> tuple[list[Path], list[Path]]:
    """Return the files that the kernels' code depends on, sorted by path, and those of `_WINGS`, for theirs alone."""
    found = [path for path in PACKAGE.rglob("*.py") if "kernel\ndef " in path.read_text(encoding="utf-8")]
    wings = sorted(path for path in found if is_in_wing(path.relative_to(PACKAGE)))
    helpers = ("compiled/arrays.py", "compiled/jit.py", "compiled/jit_linking.py", "go/constants.py")
    return sorted({*(PACKAGE / name for name in helpers), *found} - {*wings}), wings


def is_in_wing(source: Path) -> bool:
    """Return whether a source, given by its path in the package, belongs to one of `_WINGS`."""
    return source.parts[0] in _WINGS


@functools.cache
def kernel_hash() -> str:
    """Return 16 hexadecimal digits that differ for every version of numba and of the sources outside `_WINGS`."""
    return _hash_of(kernel_sources()[0], metadata.version("numba"))  # numba overwrites the code of another version


@functools.cache
def wing_hash() -> str:
    """Return as many digits that differ for every version of the kernel sources in `_WINGS`."""
    return _hash_of(kernel_sources()[1], "")


def _hash_of(sources: Iterable[Path], version: str) -> str:
    digest = hashlib.sha256(version.encode())
    for path in sources:
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Return the folder for the caches: the user's on this platform; raises RuntimeError if there is no home."""
    named = os.environ.get("TENGEN_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "tengen"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tengen"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tengen"


def fallback_root() -> Path:
    """Return the folder that replaces a `cache_root` that cannot be written: the user's in the temporary directory."""
    return Path(tempfile.gettempdir()) / f"tengen-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"


def wanted_directory() -> Path | None:
    """Return the folder that this version of the sources should use; it may not be writable.  None without a home."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    try:
        return (Path(named) if named else cache_root() / CACHES_FOLDER) / kernel_hash()
    except RuntimeError:
        return None


_APART: Final = "cluster"
"""The folder in `cache_root` for what is kept for programs that were sent to this machine."""


def keep_apart() -> Path:
    """Have this process, which runs what another machine has sent, use a folder of its own; return that folder.

    The caches of installations stay as they are: where one has the kernels of the same sources, they are used.
    """
    wanted = wanted_directory()
    root: Path | None = None
    with contextlib.suppress(RuntimeError):
        root = cache_root()
    if root is None or not (os.environ.get("TENGEN_CACHE_DIR") or can_be_written(root)):
        root = _private_root(fallback_root())
    apart = root if root.name == _APART else root / _APART
    if wanted is not None and wanted.exists():
        os.environ["NUMBA_CACHE_DIR"] = str(wanted.parent)
    os.environ["TENGEN_CACHE_DIR"] = str(apart)
    return apart


def can_be_written(folder: Path) -> bool:
    """Return whether files can be created in a folder, which may have to be created first; changes nothing."""
    with contextlib.suppress(OSError):
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    return False


def find_directory() -> Path:
    """Return the folder that `cache_directory` uses or would use, without creating anything."""
    if cache_directory.cache_info().currsize:
        return cache_directory()
    wanted = wanted_directory()
    if wanted is not None and can_be_written(wanted):
        return wanted
    return fallback_root() / CACHES_FOLDER / kernel_hash()


@functools.cache
def cache_directory() -> Path:
    """Return the folder for compiled code, which has been created; removes caches of old versions beside it.

    The cache holds code that will be run, so a replacement in the temporary directory is used only if no other user
    can write there: else one for this process alone, which is removed at its end.
    """
    wanted = wanted_directory()
    if wanted is not None and _create(wanted):
        directory = wanted
    else:
        directory = _private_root(fallback_root()) / CACHES_FOLDER / kernel_hash()
        directory.mkdir(parents=True, exist_ok=True)
        reason = "there is no home directory" if wanted is None else f"cannot write {wanted}"
        print(
            f"Tengen: {reason}; compiled code goes to {directory}. Set TENGEN_CACHE_DIR to a permanent folder.",
            file=sys.stderr,
        )
    if directory.parent.name == CACHES_FOLDER:
        _remove_old_caches(directory)
    return directory


def environment() -> dict[str, str]:
    """Return this process's environment, changed so that a child process uses the same `cache_directory`."""
    directory = cache_directory()
    if directory == wanted_directory():
        return dict(os.environ)
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return {**kept, "TENGEN_CACHE_DIR": str(directory.parent.parent)}


def package_environment(variables: dict[str, str]) -> dict[str, str]:
    """Return environment variables with which a child process (`python -P`) imports this very package."""
    paths = [str(PACKAGE.parent), *filter(None, [variables.get("PYTHONPATH")])]
    return {**variables, "PYTHONPATH": os.pathsep.join(paths)}


def _create(directory: Path) -> bool:
    """Return whether a folder could be created, if it was missing, and can be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        directory.touch()  # the time shows the next version which caches are in use
    except OSError:
        return False
    return os.access(directory, os.W_OK)


def _private_root(folder: Path) -> Path:
    """Return `folder` if it is this user's alone, and is created if missing; else a new folder for this process."""
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
    if is_private(folder):
        return folder
    temporary = Path(tempfile.mkdtemp(prefix="tengen-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return temporary


def is_private(folder: Path) -> bool:
    """Return whether a folder exists, is no link, and belongs to this user, with access for no other."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):  # Windows: the temporary directory is the user's own
        return stat.S_ISDIR(status.st_mode) and os.access(folder, os.W_OK)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700


def _remove_old_caches(current: Path) -> None:
    """Remove all but the most recently used caches beside `current`."""
    with contextlib.suppress(OSError):  # another process is cleaning the same folder; the next start removes the rest
        caches = [path for path in current.parent.iterdir() if path.is_dir() and CACHE_NAME.fullmatch(path.name)]
        remove_unused(caches, _KEPT_CACHES, lambda _: 1)


def remove_unused(
    paths: Iterable[Path], most: int, size: Callable[[Path], int], *, used_before: float = math.inf
) -> None:
    """Remove the files and folders used least recently until the sizes of those left are at most `most` together.

    Those used at the time `used_before` or later stay.  Raises OSError.
    """
    found = sorted((path.stat().st_mtime, size(path), path) for path in paths)
    too_many = sum(own for _, own, _ in found) - most
    for used, own, path in found:
        if too_many <= 0 or used >= used_before:
            return
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        too_many -= own


# --- what is in it ---


def noted_kernels(kind: str) -> list[str] | None:
    """Return what `note_kernels` has noted of a kind of start, None if there is nothing or it is damaged."""
    try:
        *lines, end = _notes_path(find_directory(), kind).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return None if end != _NOTES_END else lines


def is_cache_filled(kind: str = NETWORK) -> bool:
    """Return whether `note_kernels` was called for a kind of start, so that the next one only loads."""
    return noted_kernels(kind) is not None


def note_kernels(kind: str, lines: Iterable[str] = ()) -> None:
    """Record that all kernels of a kind of start have been compiled, with a line of text for each.

    Nothing is recorded if some code was not written: the next start compiles what is missing, and tries again.
    """
    if not _unsaved.is_set():
        with contextlib.suppress(OSError):  # the next start tries again
            _write_whole(_notes_path(cache_directory(), kind), "\n".join([*lines, _NOTES_END]).encode())


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; raises OSError."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def forget_kernels(kind: str) -> None:
    """Let the next start of a kind be as if it were the first; what was compiled stays in the cache."""
    with contextlib.suppress(OSError):
        _notes_path(cache_directory(), kind).unlink(missing_ok=True)


_NOTES_END: Final = "complete"
"""The last line of notes, without which they are damaged."""


def _notes_path(directory: Path, kind: str) -> Path:
    return directory / f"complete-{_file_tag(kind)}"


def compiled_so_far() -> list[str]:
    """Return the names of the kernels that have been compiled, by any process."""
    try:
        text = (find_directory() / f"compiled-{_file_tag()}").read_text(encoding="utf-8")
    except OSError:
        return []
    return text.split("\n")[:-1]  # the last line may be incomplete


def record_compiled(name: str) -> None:
    """Add a kernel to those that `compiled_so_far` returns."""
    path = cache_directory() / f"compiled-{_file_tag()}"
    with contextlib.suppress(OSError), path.open("a", encoding="utf-8") as file:  # others load the kernel later
        file.write(name + "\n")


_unsaved: Final = threading.Event()
"""Set once code of this process could not be written."""
_must_save: Final = threading.Event()


def require_saving() -> None:
    """Let compilations raise OSError from now on where their code cannot be written."""
    _must_save.set()


def note_unsaved(error: OSError) -> None:
    """Remember that compiled code could not be written, and tell the user the first time."""
    if _must_save.is_set():
        raise error
    if not _unsaved.is_set():
        print(
            f"Tengen: compiled code cannot be written to {cache_directory()} ({error.strerror}), so every start "
            "compiles it again. Make room, or set TENGEN_CACHE_DIR to a folder on another disk.",
            file=sys.stderr,
        )
    _unsaved.set()


@functools.cache
def note_damaged() -> None:
    """Tell the user, the first time, why kernels that were compiled before are compiled again."""
    place = cache_directory()
    print(f"Tengen: compiled code in {place} is damaged and is compiled again, up to a minute in all.", file=sys.stderr)


_PATIENCE: Final = 3.0
"""Seconds of compiling kernels that are called, and not loaded before, after which the user is told."""

_COMPILING: Final = (
    "Tengen: compiling the engine for this processor, each part when it is first used, up to a minute in all; later "
    "starts take a second. `gtp-engine warmup` does it in advance."
)


_seconds_compiling = 0.0
"""Those of this process so far."""
_said: Final = threading.Lock()
"""Held for good by the one that has told the user."""


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Let the block compile kernels for a call, and tell the user if that takes long together with earlier ones."""
    global _seconds_compiling
    timer = threading.Timer(_PATIENCE - _seconds_compiling, _note_compiling)
    timer.daemon = True
    timer.start()
    start = time.monotonic()
    try:
        yield
    finally:
        timer.cancel()
        _seconds_compiling = min(_PATIENCE, _seconds_compiling + time.monotonic() - start)


def _note_compiling() -> None:
    """Say once why a call takes long, also if several threads wait for the compiler at the same time."""
    if _said.acquire(blocking=False):
        print(_COMPILING, file=sys.stderr)


@contextlib.contextmanager
def lock(part: str) -> Iterator[None]:
    """Hold the right to compile a part of the kernels, which one process has at a time, once the others let go of it.

    If the file system has no locks, several processes may compile at once: a waste, and harmless.
    """
    guard = FileLock(cache_directory() / f"compiling-{part}.lock")
    with contextlib.suppress(OSError, NotImplementedError):  # filelock raises the second where there are no file locks
        guard.acquire()
    try:
        yield
    finally:
        guard.release()


# --- compiled networks ---

NETWORKS_FOLDER: Final = "compiled-networks"
_MOST_NETWORK_BYTES: Final = 512 << 20
"""Size of all compiled networks that are kept; those used least recently are removed.  The network that ships takes
4 MB for each board and number of positions."""
_NETWORK_ENDING: Final = ".network"


def kept_network(key: str) -> bytes | None:
    """Return what `keep_network` has kept for a key, None if there is nothing or it is damaged."""
    with contextlib.suppress(OSError, RuntimeError):
        path = _network_path(key)
        data = path.read_bytes()
        digest, content = data[: hashlib.sha256().digest_size], data[hashlib.sha256().digest_size :]
        if hashlib.sha256(content).digest() == digest:
            path.touch()  # the time shows which are in use
            return content
        path.unlink()
    return None


def keep_network(key: str, content: bytes) -> None:
    """Keep a compiled network, or what was measured of one, for other processes, if there is a place for it."""
    with contextlib.suppress(OSError, RuntimeError):
        path = _network_path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(path, hashlib.sha256(content).digest() + content)
        networks = path.parent.glob(f"*{_NETWORK_ENDING}")
        remove_unused(networks, _MOST_NETWORK_BYTES, lambda each: each.stat().st_size)


def _network_path(key: str) -> Path:
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    return cache_root() / NETWORKS_FOLDER / f"{name}{_NETWORK_ENDING}"


def _file_tag(name: str = "") -> str:
    """Return a name with all that makes numba compile again in a folder: processor, Python, numba's version, wings."""
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{name}-{metadata.version('numba')}-{version}-{_processor()}-{wing_hash()}"


@functools.cache
def _processor() -> str:
    """Return the processor's name, and a hash of its features, some of which virtual machines leave out."""
    import llvmlite.binding  # here: commands that compile nothing start faster without it

    try:
        features = llvmlite.binding.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM cannot list those of every processor; numba then goes by the name
        features = ""
    return f"{llvmlite.binding.get_host_cpu_name()}-{hashlib.sha256(features.encode()).hexdigest()[:8]}"
