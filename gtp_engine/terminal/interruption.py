"""Signals during a game: Ctrl-C ends a search instead of the program, and a game outlives its terminal to be saved."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from gtp_engine.search.cancellation import CancelToken

_HANGUP: Final = [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
"""The signal that a closed window sends; Windows has none."""


@contextmanager
def handling(numbers: list[signal.Signals], handler: Callable[[], None]) -> Iterator[None]:
    """Call `handler` for signals while the context lasts, in the main thread; elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: handler()) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextmanager
def cancelled_by_interrupt(cancel: CancelToken) -> Iterator[None]:
    """Let Ctrl-C, and a terminal that is closed, cancel `cancel` while the context lasts.

    An exception in the middle of a search would leave its tree half updated.
    """
    with handling([signal.SIGINT, *_HANGUP], cancel.cancel):
        yield


@contextmanager
def outliving_terminal() -> Iterator[None]:
    """Let the game find out by reading that its terminal was closed, and be saved, instead of ending at once."""
    with handling(_HANGUP, lambda: None):
        yield
