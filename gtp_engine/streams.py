"""stdin and stdout of a protocol server: taken away from everybody else, read in lines, written whole.

Servers speak on stdout and everything else on stderr.  `claim_streams` sees to it, whatever a library prints.
"""

import contextlib
import io
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

READ_SIZE: Final = 1 << 16
"""Bytes asked of stdin at a time."""

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""Longest line that is read; a game record in any protocol needs about 10 kB, so only junk is longer."""

HANGUP_INTERVAL: Final = 200
"""Milliseconds between two looks whether the session is over while waiting for a hang-up."""


def claim_streams() -> tuple[BinaryIO, BinaryIO] | None:
    """Return raw (stdin, stdout) and point file descriptor 1 to stderr; None when stdin or stdout is closed.

    Both are made blocking: some parents hand over pipes that are not, and a reply must not be cut short.
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
        with contextlib.suppress(OSError, AttributeError):
            os.set_blocking(descriptor, True)
    return io.FileIO(0, "rb", closefd=False), io.FileIO(own_stdout, "wb")


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of `stream` without their newline until it ends; the last one may lack the newline.

    Of a line longer than MAX_LINE_BYTES only the beginning is kept, one byte more than allowed.  A stream that
    fails ends like one that is finished.
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
    """Write `data` whole and flush; raises OSError or ValueError when nobody reads any more."""
    view = memoryview(data)
    while view:
        view = view[stream.write(view) or 0 :]
    stream.flush()


def write_log(text: str) -> None:
    """Write one line to stderr; a closed stderr is no reason to end a game."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text + "\n")  # in one piece: threads write here too
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def wait_for_hangup(stream: BinaryIO, is_over: threading.Event) -> bool:
    """Return True when nobody reads `stream` any more, False at the end of the session or where this cannot be seen."""
    try:
        poll = select.poll()
        hangup = select.POLLERR | select.POLLHUP
        poll.register(stream.fileno(), 0)  # errors and hang-ups are reported whatever is asked for
    except (AttributeError, OSError, ValueError):
        return False
    while not is_over.is_set():
        events = poll.poll(HANGUP_INTERVAL)
        if any(event & hangup for _, event in events):
            return not is_over.is_set()
        if events:  # a descriptor that is no longer open: nothing to see
            return False
    return False


def _extend(line: bytearray, piece: bytes) -> None:
    room = MAX_LINE_BYTES + 1 - len(line)
    line += piece[:room]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
