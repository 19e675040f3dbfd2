"""stdin and stdout of a protocol server: reserved for it, read line by line, written without loss.

Only the server writes to stdout; `claim_streams` redirects all other output, a library's prints too, to stderr.
"""

import contextlib
import errno
import io
import os
import select
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final, TextIO

READ_SIZE: Final = 1 << 16
"""Bytes read from stdin at a time."""

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""Longest line that is read; a game record takes about 10 kB in any protocol."""

HANGUP_INTERVAL: Final = 200
"""Milliseconds between two checks whether the session is over, while waiting for a hang-up."""

Log = Callable[[str], None]
"""Receives lines for the user."""


def claim_streams() -> tuple[BinaryIO, BinaryIO] | None:
    """Return raw (stdin, stdout) and redirect file descriptor 1 to stderr; None if stdin or stdout is closed.

    Both become blocking: some parent processes pass non-blocking pipes, on which a long reply would be cut short.
    """
    if not _is_open(0) or not _is_open(1):
        return None
    if not _is_open(2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    own_stdout = os.dup(1)
    os.dup2(2, 1)
    for descriptor in (0, own_stdout):
        with contextlib.suppress(OSError):
            if hasattr(os, "set_blocking"):  # Windows has it since Python 3.12
                os.set_blocking(descriptor, True)
    return io.FileIO(0, "rb", closefd=False), io.FileIO(own_stdout, "wb")


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of `stream` without their newline until it ends; the last one may lack the newline.

    Of a line longer than MAX_LINE_BYTES only the first MAX_LINE_BYTES + 1 bytes are kept.  A stream that fails ends
    like a complete one.
    """
    read: Callable[[int], bytes | None] = getattr(stream, "read1", stream.read)
    line = bytearray()
    with contextlib.suppress(OSError, ValueError):
        while chunk := read(READ_SIZE):
            *complete, rest = chunk.split(b"\n")
            for piece in complete:
                _extend(line, piece)
                yield bytes(line)
                line.clear()
            _extend(line, rest)
    if line:
        yield bytes(line)


def write_all(stream: BinaryIO, data: bytes) -> None:
    """Write all of `data` and flush; raises OSError or ValueError if the reader is gone."""
    view = memoryview(data)
    while view:
        view = view[stream.write(view) or 0 :]
    stream.flush()


def write_log(text: str) -> None:
    """Write one line to stderr; does nothing if stderr is closed, which must not end a game."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text + "\n")  # in one piece: threads write here too
        sys.stderr.flush()
    except BrokenPipeError:
        discard(sys.stderr)
    except (OSError, ValueError):
        return


def trouble_of(stream: BinaryIO | TextIO, error: Exception) -> str | None:
    """Return a sentence about an output that failed, None if its reader has gone.

    A terminal that has gone says what a broken disk says.
    """
    if not isinstance(error, OSError) or isinstance(error, ConnectionError):
        return None
    is_file = False
    with contextlib.suppress(OSError, ValueError):
        is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    if error.errno == errno.EIO and not is_file:
        return None
    return f"Error: the output: {error.strerror or error}"


def discard(stream: TextIO) -> None:
    """Send what is written to stdout or stderr nowhere: text in its buffer would fail again at exit (status 120)."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def wait_for_hangup(stream: BinaryIO, is_over: threading.Event) -> bool:
    """Return True once the reader of `stream` is gone, False if the session ends before or polling is impossible."""
    if sys.platform == "win32":  # there only sockets can be polled
        return False
    poll = select.poll()
    hangup = select.POLLERR | select.POLLHUP
    try:
        poll.register(stream.fileno(), 0)  # errors and hang-ups are always reported
    except (OSError, ValueError):
        return False
    while not is_over.is_set():
        events = poll.poll(HANGUP_INTERVAL)
        if any(event & hangup for _, event in events):
            return not is_over.is_set()
        if events:  # the descriptor has been closed
            return False
    return False


def receive_from_parent(receive: Callable[[bytes], None]) -> None:
    """Pass the lines of stdin to `receive`, from a thread of its own, and end this process as soon as stdin is closed.

    Then its parent has ended or is done.
    """

    def read() -> None:
        for line in read_lines(io.FileIO(0, "rb", closefd=False)):
            receive(line)
        os._exit(0)

    threading.Thread(target=read, name="parent watcher", daemon=True).start()


def _extend(line: bytearray, piece: bytes) -> None:
    remaining = MAX_LINE_BYTES + 1 - len(line)
    line += piece[:remaining]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
