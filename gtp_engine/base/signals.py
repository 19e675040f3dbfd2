"""Signals that end a command: Ctrl-C (SIGINT), and SIGTERM, which the system and containers send.

    ending_cleanly     a whole command: the first Ctrl-C raises KeyboardInterrupt, SIGTERM ends the process
    stop_on_signals    long work: at the first signal the step under way is finished, and what it leaves is written

The second signal ends the process, whatever runs.  Python calls handlers in the main thread, between two of its
instructions and once for all signals that have come: not while that thread imports or calculates in a library.  So
another thread counts them.
"""

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, Final

from gtp_engine.base.files import remove_unfinished

_NUMBERS: Final = (signal.SIGINT, signal.SIGTERM)

_MAIN_WAIT: Final = 0.3
"""Seconds for the main thread to end the process itself after the second signal: it begins no file meanwhile."""


_LAST_WAIT: Final = 3.0
"""Seconds after which an interrupted command ends in any case: threads of AnyIO may wait for ever then."""


def end_within(seconds: float, status: int) -> None:
    """Let the process end after so many seconds unless it has ended before: its threads cannot be ended.

    What has been acknowledged is on the disk by then.
    """

    def end() -> None:
        remove_unfinished()
        os._exit(status)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def end_at_once(number: int, _: object = None) -> None:
    """End the process by this signal, without an unfinished file; a handler."""
    remove_unfinished()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; the next Ctrl-C ends the process."""
    signal.signal(number, end_at_once)
    signal.default_int_handler(number, frame)


def _not_ignored(before: Callable[["sys.UnraisableHookArgs"], Any], ignored: "sys.UnraisableHookArgs") -> None:
    """End the process by an interrupt in a finalizer or a weak reference's callback, where Python ignores errors.

    All others are for the hook `before`.
    """
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        end_at_once(signal.SIGINT)
    before(ignored)


_counted: Final[set[Any]] = {end_at_once, _interrupt}
"""Handlers of signals that are to end the process: a terminal game takes Ctrl-C for something else."""


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Let signals end the command in the block, and the process after it; for the main thread.

    No unfinished file is left in any case.  In the background, where Ctrl-C is ignored, it stays so.
    """
    atexit.register(remove_unfinished)  # the interrupt may have come just before one was removed
    own = [signal.SIGTERM, *([signal.SIGINT] if signal.getsignal(signal.SIGINT) is signal.default_int_handler else [])]
    for number in own:
        signal.signal(number, _interrupt if number == signal.SIGINT else end_at_once)
    before = sys.unraisablehook
    sys.unraisablehook = partial(_not_ignored, before)
    if sys.platform != "win32":  # there only a socket can be written to by the system
        import fcntl

        ends = os.pipe()  # which may take the places of stdin, stdout and stderr where these are closed
        read, write = fcntl.fcntl(ends[0], fcntl.F_DUPFD_CLOEXEC, 3), fcntl.fcntl(ends[1], fcntl.F_DUPFD_CLOEXEC, 3)
        os.close(ends[0])
        os.close(ends[1])
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        threading.Thread(target=_count_signals, args=(read,), name="signals", daemon=True).start()
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is end_at_once:  # there was an interrupt
            end_within(_LAST_WAIT, 128 + signal.SIGINT)
        for number in own:
            signal.signal(number, signal.SIG_DFL)
        sys.unraisablehook = before


def _count_signals(descriptor: int) -> None:
    """End the process soon after the second signal that is to end it."""
    count = 0
    while count < 2:
        number = os.read(descriptor, 1)[0]
        count += number in _NUMBERS and signal.getsignal(number) in _counted
    time.sleep(_MAIN_WAIT)
    remove_unfinished()
    os._exit(128 + number)


@contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed or SIGTERM came; after that all is as before."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, end_at_once if received and handler is _interrupt else handler)

    _counted.add(note)
    before = {number: signal.signal(number, note) for number in _NUMBERS}
    try:
        yield lambda: bool(received)
    finally:
        restore()
        _counted.discard(note)
