"""Signals during a game: Ctrl-C ends a search instead of the program, and a game outlives its terminal to be saved.

It also outlives SIGTERM, by which the system ends programs when it shuts down.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from gtp_engine.search.cancellation import CancelToken

_HANGUP: Final = [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
"""The signal that a closed window sends; Windows has none."""


class Terminated(SystemExit):
    """SIGTERM: the program is to end; where nothing catches this, with the usual status."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)


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

    SIGTERM does so too, and raises Terminated afterwards, also where the search fails: an exception in the middle of a
    search would leave its tree half updated.
    """
    is_terminated = False

    def terminate() -> None:
        nonlocal is_terminated
        is_terminated = True
        cancel.cancel()

    try:
        with handling([signal.SIGINT, *_HANGUP], cancel.cancel), handling([signal.SIGTERM], terminate):
            yield
    finally:
        if is_terminated:
            raise Terminated


@contextmanager
def outliving_terminal() -> Iterator[None]:
    """Let the game find out by reading that its terminal was closed, and be saved, instead of ending at once.

    SIGTERM raises Terminated.
    """
    with handling(_HANGUP, _ignore), handling([signal.SIGTERM], _terminate):
        yield


@contextmanager
def ignoring_termination() -> Iterator[None]:
    """Let no further SIGTERM interrupt what is done before the program ends."""
    with handling([signal.SIGTERM], _ignore):
        yield


def _ignore() -> None:
    return


def _terminate() -> None:
    raise Terminated
