"""Ctrl-C ends a search instead of the program."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gtp_engine.search.cancellation import CancelToken


@contextmanager
def cancelled_by_interrupt(cancel: CancelToken) -> Iterator[None]:
    """Let Ctrl-C cancel `cancel` while the context lasts, in the main thread; elsewhere nothing changes.

    An exception in the middle of a search would leave its tree half updated.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: cancel.cancel())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
