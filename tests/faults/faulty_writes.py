"""Every write of this process, counted, and one of them hindered; nothing in the package knows of it.

A write is what changes a file or a folder below `Writes.box`, or what goes to stdout: files are opened for writing,
written to, synced, moved, removed.  Files that the process has opened elsewhere, such as the compiled kernels, do not
count.
"""

import builtins
import errno
import io
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

STDOUT: Final = "stdout"

_OPENS: Final = ("open", "create")
_FILLS: Final = ("create", "write", "mkdir", "fsync")

SUITS: Final = {
    errno.ENOSPC: lambda what, place: what in _FILLS,
    errno.EIO: lambda what, place: True,
    errno.EMFILE: lambda what, place: what in _OPENS,
    errno.EPIPE: lambda what, place: place == STDOUT,
}
"""Which writes the system refuses for which reasons: no file is a pipe, only opening takes a descriptor."""

_LASTING: Final = (errno.ENOSPC, errno.EPIPE)
"""A full disk stays full, and a reader that has gone does not come back; nor does a broken output."""

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Writes:
    """Counts writes below `box` and calls `before` ahead of each, with what is done and where.

    The write number `at`, the first being 0, is refused with `error`; None refuses nothing.
    """

    def __init__(self, box: Path, *, at: int | None = None, error: int = 0) -> None:
        self.box: Final = os.path.realpath(box)
        self.at: Final = at
        self.error: Final = error
        self.count = 0
        self.elsewhere: Final[list[str]] = []
        """Files outside the box that were opened for writing."""
        self.before: Callable[[str, str], None] = lambda what, place: None
        self._lock: Final = threading.RLock()

    def event(self, what: str, path: Any) -> None:
        """Count a write; raises OSError for the one that is refused, and for those that a full disk refuses too."""
        place = self._place(path)
        if place is None:
            return
        with self._lock:
            number, self.count = self.count, self.count + 1
            self.before(what, place)
            if self.at is None or number < self.at:
                return
            lasts = self.error in _LASTING or (self.error == errno.EIO and place == STDOUT)
            if number == self.at or (lasts and SUITS[self.error](what, place)):
                raise OSError(
                    self.error, os.strerror(self.error), *([] if isinstance(path, int) else [os.fspath(path)])
                )

    def half(self, path: Any) -> None:
        """Say that half of the data of a write has been written."""
        place = self._place(path)
        if place is not None:
            with self._lock:
                self.before("half a write", place)

    def _place(self, path: Any) -> str | None:
        """Return where in the box something is; None for what is elsewhere."""
        if isinstance(path, int):
            try:
                path = os.readlink(f"/proc/self/fd/{path}")
            except OSError:
                return None
            if path == self.stdout:
                return STDOUT
        found = os.path.realpath(os.path.dirname(os.path.abspath(path))) + "/" + os.path.basename(os.fspath(path))
        if found.startswith(self.box + "/"):
            return found[len(self.box) + 1 :]
        if not found.startswith(("/proc/", "/dev/", os.path.dirname(self.box), self.ignored)) and "/pipe:" not in found:
            self.elsewhere.append(found)
        return None

    stdout = ""
    """The file behind stdout."""
    ignored = "/proc/"
    """Where writes do not count: the folder of compiled kernels and networks."""

    def install(self) -> None:
        """Let this process write through here."""
        self.stdout = os.readlink("/proc/self/fd/1")
        builtins.open = io.open = self._opened(io.open)  # type: ignore[assignment]
        io.FileIO = type("FileIO", (_faulty(self),), {})  # type: ignore[misc]
        shutil._USE_CP_SENDFILE = False  # type: ignore[attr-defined]
        for name in ("replace", "rename", "remove", "unlink", "rmdir", "mkdir", "truncate", "symlink", "link"):
            setattr(os, name, self._counted(getattr(os, name), name))
        os.fsync = self._counted(lambda descriptor: None, "fsync")  # a kill loses nothing that the system has
        os.write = self._counted(os.write, "write")
        os.ftruncate = self._counted(os.ftruncate, "truncate")
        os.open = self._os_open(os.open)  # type: ignore[assignment]

    def _counted(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **named: Any) -> Any:
            self.event(what, path)
            return function(path, *arguments, **named)

        return call

    def _os_open(self, function: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
            if flags & _WRITES:
                self.event("open" if os.path.exists(path) else "create", path)
            return function(path, flags, *arguments, **named)

        return call

    def _opened(self, real: Callable[..., Any]) -> Callable[..., Any]:
        file_of = _faulty(self)

        def call(
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
            closefd: bool = True,
            opener: Any = None,
        ) -> Any:
            if not set("wxa+") & set(mode):
                return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
            raw = file_of(file, mode.replace("b", "").replace("t", ""), closefd, opener)
            if buffering == 0:
                return raw
            size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
            buffer = io.BufferedRandom(raw, size) if "+" in mode else io.BufferedWriter(raw, size)
            if "b" in mode:
                return buffer
            text = io.TextIOWrapper(buffer, encoding, errors, newline, line_buffering=buffering == 1)
            text.mode = mode
            return text

        return call


def _faulty(writes: Writes) -> type[io.FileIO]:
    """Return a raw file whose writes are counted."""

    class FaultyFile(io.FileIO):
        def __init__(self, file: Any, mode: str = "r", closefd: bool = True, opener: Any = None) -> None:
            if set("wxa+") & set(mode) and not isinstance(file, int):
                writes.event("open" if os.path.exists(file) else "create", file)
            super().__init__(file, mode, closefd, opener)

        def write(self, data: Any, /) -> int:
            writes.event("write", self.fileno())
            view = memoryview(data).cast("B")
            if len(view) < 2:
                return super().write(view) or 0
            done = super().write(view[: len(view) // 2]) or 0
            writes.half(self.fileno())
            return done + (super().write(view[done:]) or 0)

        def truncate(self, size: int | None = None, /) -> int:
            writes.event("truncate", self.fileno())
            return super().truncate(size)

    return FaultyFile
