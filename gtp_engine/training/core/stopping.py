"""Ending a run in an orderly way: on Ctrl-C or SIGTERM the current step is finished and the checkpoint written."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


def never() -> bool:
    """Return False: nothing stops the run."""
    return False


@contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed or SIGTERM came; a second one ends the program."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(received)
    finally:
        restore()
