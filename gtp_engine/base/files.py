"""Files that are written whole or not at all, or line by line; their locks and hashes, and the folder of the user."""

import errno
import hashlib
import io
import json
import os
import secrets
import shutil
import stat
import sys
import threading
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gtp_engine.base.errors import ConfigError, TengenError, shown, shown_path

if TYPE_CHECKING:
    from filelock import FileLock

ZIP_DAMAGE: Final = (
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    RuntimeError,  # a damaged header may ask for a password, or (NotImplementedError) for an unknown method
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading the arrays of a damaged `.npz` file raises, besides OSError."""

_MAKE_ROOM: Final = "make room there, or name another folder"
_ELSEWHERE: Final = "name a file elsewhere"
"""Advice for a file that the user names and that cannot be written."""

_PATIENCE: Final = (0.01, 0.05, 0.2, 0.5, 1.0)
"""Seconds between attempts to replace a file that another program, such as a virus scanner, has open on Windows."""

LOCK: Final = "in-use.lock"
"""The lock file in a folder that one process writes to; others may read."""

_ATTEMPTS: Final = 100
"""Attempts to lock a file that others remove, one after the other, at the moment in which it is opened."""

_NOT_SYNCED: Final = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)
"""What some file systems say to the wish to sync a folder."""

_NOT_REGULAR: Final = "expected a regular file"
"""What is said of a folder, a pipe or a device that is to be read."""

_LEAST, _MOST = -(2**63), 2**63 - 1
_LONGEST_INTEGER: Final = 20
"""Characters of the longest integer of 64 bits."""

_UNFINISHED: Final = ".part"
"""Added to the name of a file that is being written."""

MAX_TEXT_BYTES: Final = 1 << 24
"""Longest file with settings or a table: they have some kB, those with many comments a hundred."""
MAX_LINES_BYTES: Final = 1 << 32
"""Longest file that grows line by line: books of millions of positions, which are kept in memory anyway."""

PRIVATE_FOLDER: Final = 0o700
PRIVATE_FILE: Final = 0o600
"""Modes of what only this user may read, such as the games of people."""

_being_written: Final[dict[Path, int]] = {}
"""Unfinished files, and the threads that write them."""
_ending_threads: Final[set[int]] = set()
"""The threads that end the process: no other one may begin a file."""
_LAST_WRITES: Final = 0.2
"""Seconds that the other threads have at the end of a process for the files that they are writing."""


def expanded(path: str) -> Path:
    """Return a path with `~` replaced by the home directory it stands for; it stays where that is unknown."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def data_folder() -> Path:
    """Return the folder for the user's networks and games, which need not exist: TENGEN_DATA_DIR, or the usual one.

    Raises TengenError if there is no home directory.
    """
    if named := os.environ.get("TENGEN_DATA_DIR"):
        return expanded(named)
    try:
        if sys.platform == "win32":
            usual = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            usual = Path.home() / "Library" / "Application Support"
        else:
            usual = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    except RuntimeError as error:
        advice = "set TENGEN_DATA_DIR to a folder for networks and games"
        raise TengenError("there is no home directory", advice=advice) from error
    return usual / "tengen"


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield the path of a file to write, which replaces `target` at the end of the block; it is on the disk then.

    If the block raises, the unfinished file is removed and an older `target` stays as it was.  Of several processes
    that write one file at the same time each writes its own, and the last one stays.  Raises OSError if the file cannot
    be moved into place, and for a device or a pipe, which the superuser would lose.
    """
    if target.exists() and not (target.is_file() or target.is_dir() or target.is_symlink()):
        raise OSError(errno.EINVAL, _NOT_REGULAR, str(target))
    unfinished = _unfinished_path(target)
    _being_written[unfinished] = threading.get_ident()
    try:
        if _ending_threads and threading.get_ident() not in _ending_threads:
            del _being_written[unfinished]
            threading.Event().wait()  # until the process has ended
        yield unfinished
        with unfinished.open("r+b") as file:
            os.fsync(file.fileno())
        _move(unfinished, target)
        sync_folder(target.parent)
    finally:
        unfinished.unlink(missing_ok=True)
        _being_written.pop(unfinished, None)


def remove_unfinished() -> None:
    """Remove what is being written, before the process ends in the middle of it.

    Other threads finish their files first, if they can do so at once: one might create its file just after this.
    """
    own, until = threading.get_ident(), time.monotonic() + _LAST_WRITES
    _ending_threads.add(own)
    while any(thread != own for thread in tuple(_being_written.values())) and time.monotonic() < until:
        time.sleep(0.001)
    for path in tuple(_being_written):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def make_private(folder: Path) -> None:
    """Create a folder for this user alone, if it is missing, and take others' access to it; raises OSError."""
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) & ~PRIVATE_FOLDER:
        with suppress(PermissionError):  # another user's
            folder.chmod(PRIVATE_FOLDER)


def open_regular(path: str | PathLike[str]) -> io.BufferedReader:
    """Open a regular file to read; raises OSError for anything else, and ValueError for what is not a file name.

    A pipe would be waited for, and a device may have no end.
    """
    try:
        at_once = getattr(os, "O_NONBLOCK", 0)
        file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | at_once))  # noqa: SIM115
    except (IsADirectoryError, PermissionError) as error:  # Windows raises the second for a folder
        if not os.path.isdir(path):
            raise
        raise OSError(errno.EINVAL, _NOT_REGULAR, str(path)) from error
    try:
        is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        if is_regular and hasattr(os, "pread"):  # streams of /proc, such as kmsg, call themselves regular files
            is_regular = not os.pread(file.fileno(), 1, 1 << 40)  # and have something to read at any place
    except BlockingIOError:
        is_regular = False
    except OSError:
        file.close()
        raise
    if not is_regular:
        file.close()
        raise OSError(errno.EINVAL, _NOT_REGULAR, str(path))
    return file


def is_special(path: str | PathLike[str]) -> bool:
    """Return whether there is a pipe, a device or a socket at a path."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_regular(path: str | PathLike[str], most: int) -> bytes:
    """Return what a regular file holds; raises OSError for more than `most` bytes, and as `open_regular` does."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size <= most and len(data := file.read(most + 1)) <= most:
            return data
    raise OSError(errno.EFBIG, f"longer than {most:,} bytes", str(path))


def newest_first(files: Iterable[Path]) -> list[tuple[Path, float]]:
    """Return files with the times at which they were written last, the newest first, without those that have gone."""
    found = []
    for file in files:
        with suppress(OSError):
            found.append((file, file.stat().st_mtime))
    return sorted(found, key=lambda each: (each[1], str(each[0])), reverse=True)


def sync_folder(folder: Path) -> None:
    """Write the names of the files in a folder to the disk, where the system can do that; raises OSError."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_SYNCED:
            raise
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, a text as UTF-8, whole or not at all; raises OSError."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode())


def copy_whole(source: Path, target: Path) -> None:
    """Copy a file with its permissions, whole or not at all; raises OSError."""
    with replacing(target) as unfinished:
        shutil.copy2(source, unfinished)


def append(path: Path, text: str) -> None:
    """Add text to the end of a file, which is created if need be; it is on the disk then.  Raises OSError."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        sync_folder(path.parent)


def _move(unfinished: Path, target: Path) -> None:
    """Replace `target`; raises OSError."""
    for seconds in _PATIENCE if sys.platform == "win32" else ():
        try:
            os.replace(unfinished, target)
            return
        except PermissionError:
            time.sleep(seconds)
    os.replace(unfinished, target)


def _unfinished_path(target: Path) -> Path:
    """Return the path beside `target` of a file that will replace it, another one each time; raises OSError."""
    try:
        unfinished = target.with_name(f"{target.name}.{secrets.token_hex(4)}{_UNFINISHED}")
        os.access(unfinished, os.F_OK)
    except ValueError as error:  # no name, or characters that no name has
        raise OSError(errno.EINVAL, "not a file name") from error
    return unfinished


@contextmanager
def writing(path: Path, kind: type[TengenError], what: str = "", *, advice: str = _MAKE_ROOM) -> Iterator[None]:
    """Raise an error of `kind` where the block, which writes `path`, raises OSError; `what` says what the path is."""
    try:
        yield
    except OSError as error:
        given = f"cannot write {f'{what} ' if what else ''}{shown_path(path)}: {error.strerror or error}"
        raise kind(given, advice=advice) from error


def check_writable(path: Path) -> None:
    """Raise OSError if `replacing` or appending could not write a file, before work is done for it; leaves no trace."""
    unfinished = _unfinished_path(path)
    unfinished.touch()
    unfinished.unlink()
    if path.exists():
        with path.open("ab"):
            pass


def complete_lines(path: Path, *, cut: bool = True) -> list[str]:
    """Return the lines of a file that grows line by line, none if it does not exist, without a last line without end.

    Such a line was being written when a process ended, so `cut` cuts it off: what is appended later must not continue
    it.  Without `cut` the file stays as it is, because another process may be writing the line.  Bytes that are not
    UTF-8 become U+FFFD.  Raises OSError.
    """
    if not path.exists():
        return []
    data = read_regular(path, MAX_LINES_BYTES)
    whole = data[: data.rfind(b"\n") + 1]
    if cut and len(whole) < len(data):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return [line.removesuffix("\r") for line in whole.decode("utf-8", errors="replace").split("\n")[:-1]]


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Yield whether this block alone holds the lock file `path`, created if need be, with its folder; it stays.

    False while another process, thread or block holds it, which may remove it.  True where the file system has no
    locks.  A process that is killed lets go of it.
    """
    from filelock import FileLock, Timeout  # here: most commands lock nothing

    guard, is_mine = FileLock(path), True
    try:
        for _ in range(_ATTEMPTS):
            if _has_locked(guard, path):
                break
    except Timeout:
        is_mine = False
    except (OSError, NotImplementedError):  # filelock raises the second where the system has no file locks
        pass
    try:
        yield is_mine
    finally:
        guard.release()


def _has_locked(guard: "FileLock", path: Path) -> bool:
    """Acquire the lock of the file that is at `path` then: who held it may have removed the one that was there before.

    The next one would find another file, and lock that.  Raises Timeout while another one holds the lock, and OSError.
    """
    with suppress(FileNotFoundError, FileExistsError):  # mkdir raises both where others remove the folder
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:  # no other file has its number while it is open
            guard.acquire(timeout=0)
            if sys.platform == "win32" or os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return True
    guard.release()
    return False


@contextmanager
def owning(
    folder: Path,
    kind: type[TengenError] = ConfigError,
    *,
    file: str | None = None,
    advice: str = "wait for its end, or name another place",
) -> Iterator[None]:
    """Hold the right to write to a folder, which is created if need be, or only to the `file` in it.

    One process has it at a time.  Raises an error of `kind` while another one has it, or if the folder cannot be used.
    A block that raises leaves no lock and no empty folder that were not there before.
    """
    with writing(folder, kind, "to"):
        made = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    lock = folder / (LOCK if file is None else f"{file}.lock")
    is_new = not lock.exists()
    with locked(lock) as is_mine:
        if not is_mine:
            given = f"another process writes to {shown_path(folder if file is None else folder / file)}"
            raise kind(given, advice=advice)
        try:
            yield
        except BaseException:
            with suppress(OSError):  # such as a folder in which something has been written
                for remove in (lock.unlink, *(each.rmdir for each in made)) if is_new else ():
                    remove()
            raise


def json_of(text: str | bytes) -> Any:
    """Return the value of JSON that others may have written.

    Raises ValueError for anything else, also for numbers that are not finite or integers beyond 64 bits, which Python's
    parser takes, and for what is nested too deeply.
    """
    try:
        return json.loads(text, parse_int=_small, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _small(text: str) -> int:
    if len(text) > _LONGEST_INTEGER or not _LEAST <= int(text) <= _MOST:
        raise ValueError(f"integer {shown(text)} beyond 64 bits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{shown(text)} is not a finite number")
    return number


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; raises OSError."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_result(path: Path, *inputs: Path, advice: str = _ELSEWHERE) -> None:
    """Raise ConfigError if a file cannot be written or is one of the inputs; to be called before work of minutes."""
    if path.exists() and any(each.exists() and path.samefile(each) for each in inputs):
        raise ConfigError(f"cannot write {shown_path(path)}: this command reads it", advice="name another file")
    with writing(path, ConfigError, advice=advice):
        check_writable(path)


def write_result(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; raises ConfigError where that is impossible."""
    with writing(path, ConfigError, advice=_ELSEWHERE):
        write_whole(path, content)
