"""Single keys of a terminal, without waiting for Enter; on Unix and Windows.  And its signals.

A key is a printable character or one of the names below.  Ctrl-C ends a search instead of the program.  A game outlives
its terminal, and SIGTERM, by which the system ends programs when it shuts down, to be saved first.
"""

import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final

from gtp_engine.search.limits import CancelToken

UP: Final = "<up>"
DOWN: Final = "<down>"
LEFT: Final = "<left>"
RIGHT: Final = "<right>"
PAGE_UP: Final = "<page up>"
PAGE_DOWN: Final = "<page down>"
HOME: Final = "<home>"
LAST: Final = "<last>"
"""The key End."""
ENTER: Final = "<enter>"
BACKSPACE: Final = "<backspace>"
END: Final = "<end>"
"""The end of the input: Ctrl-D, or a terminal that has gone."""
OTHER: Final = "<other>"
"""A key without a meaning here."""

_HANGUP: Final = [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
"""The signal that a closed window sends; Windows has none."""

_ESCAPE_WAIT: Final = 0.05
"""Seconds that the rest of an escape sequence may take: slow connections split it, a lone Esc has none."""

_SEQUENCES: Final = {"A": UP, "B": DOWN, "C": RIGHT, "D": LEFT, "H": HOME, "F": LAST} | {
    f"{number}~": key for number, key in ((1, HOME), (4, LAST), (5, PAGE_UP), (6, PAGE_DOWN), (7, HOME), (8, LAST))
}
"""What follows ESC [ or ESC O (xterm, VT220, rxvt)."""

_KEY: Final = re.compile(r"\x1b[\[O](?P<number>[^@-~]*)(?P<end>[@-~]?)|.", re.DOTALL)
"""ESC [ X or ESC O X, where numbers may stand between, or ESC [ number ~; or else a character."""

_UNFINISHED: Final = re.compile(r"\x1b([\[O][^@-~]*)?")

_WINDOWS_KEYS: Final = dict(zip("HPMKGOIQ", (UP, DOWN, RIGHT, LEFT, HOME, LAST, PAGE_UP, PAGE_DOWN), strict=True))
_CONTROLS: Final = {"\r": ENTER, "\n": ENTER, "\x7f": BACKSPACE, "\b": BACKSPACE, "\x04": END, "\x1a": END}
_WINDOWS_POLL: Final = 0.02
"""Seconds between two looks for a key on Windows, which cannot wait for one with a time limit."""


ReadKey = Callable[[float], str | None]
"""Returns the next key, None if there is none within so many seconds; Ctrl-C raises KeyboardInterrupt as elsewhere."""


@contextmanager
def open_keys() -> Iterator[ReadKey]:
    """Yield what reads the keys of stdin, which must be a terminal; its settings are restored afterwards.

    They are set again when the program goes on after Ctrl-Z: the shell has changed them.
    """
    if sys.platform == "win32":
        yield _windows_key
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def go_on(*_: object) -> None:
        with suppress(termios.error):  # the signal also comes when the terminal has gone
            tty.setcbreak(descriptor)

    tty.setcbreak(descriptor)
    try:
        with handling({signal.SIGCONT: go_on}):
            yield unix_keys(descriptor)
    finally:
        with suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def unix_keys(descriptor: int) -> ReadKey:
    """Return what reads the keys of a terminal in cbreak mode."""
    waiting = ""

    def typed(timeout: float) -> str | None:
        """Return what has been typed, waiting for it: None after `timeout`, "" at the end of the input."""
        ready, _, _ = select.select([descriptor], [], [], timeout)
        if not ready:
            return None
        try:
            return os.read(descriptor, 1024).decode("utf-8", "replace")
        except OSError:  # the terminal has gone
            return ""

    def read(timeout: float) -> str | None:
        nonlocal waiting
        text = waiting or typed(timeout)
        if not text:
            return None if text is None else END
        while _UNFINISHED.fullmatch(text) and (more := typed(_ESCAPE_WAIT)):
            text += more
        found = _KEY.match(text)
        assert found is not None, "any character is a key"
        waiting = text[found.end() :]
        if found["end"] is None:
            return _CONTROLS.get(text[0], text[0] if text[0].isprintable() else OTHER)
        return _SEQUENCES.get(f"{found['number']}~" if found["end"] == "~" else found["end"], OTHER)

    return read


def _windows_key(timeout: float) -> str | None:
    """Return the next key of a Windows console; see `ReadKey`."""
    import msvcrt

    deadline = time.monotonic() + timeout
    while not msvcrt.kbhit():  # type: ignore[attr-defined, unused-ignore]
        if time.monotonic() >= deadline:
            return None
        time.sleep(_WINDOWS_POLL)
    first = msvcrt.getwch()  # type: ignore[attr-defined, unused-ignore]
    if first == "\x03":
        raise KeyboardInterrupt
    if first in ("\x00", "\xe0"):
        return _WINDOWS_KEYS.get(msvcrt.getwch(), OTHER)  # type: ignore[attr-defined, unused-ignore]
    return _CONTROLS.get(first, first if first.isprintable() else OTHER)


class Terminated(SystemExit):
    """SIGTERM: the program is to end; where nothing catches this, with the usual status."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)


def _terminate(*_: object) -> None:
    raise Terminated


def _ignore(*_: object) -> None:
    """Let a signal have no effect here; ignored by the system, it would have none in child processes either."""


@contextmanager
def handling(handlers: Mapping[signal.Signals, Callable[..., object]]) -> Iterator[None]:
    """Call these handlers for signals while the context lasts, in the main thread; elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
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
    received = set[int]()

    def cancel_search(number: int, _: object) -> None:
        received.add(number)
        cancel.cancel()

    try:
        with handling(dict.fromkeys([signal.SIGINT, signal.SIGTERM, *_HANGUP], cancel_search)):
            yield
    finally:
        if signal.SIGTERM in received:
            raise Terminated


def outliving_terminal() -> AbstractContextManager[None]:
    """Let the game find out by reading that its terminal was closed, and be saved, instead of ending at once.

    SIGTERM raises Terminated, and each Ctrl-C KeyboardInterrupt.
    """
    handlers: dict[signal.Signals, Callable[..., object]] = dict.fromkeys(_HANGUP, _ignore)
    return handling(handlers | {signal.SIGTERM: _terminate, signal.SIGINT: signal.default_int_handler})


def ignoring_termination() -> AbstractContextManager[None]:
    """Let no further SIGTERM interrupt what is done before the program ends."""
    return handling({signal.SIGTERM: _ignore})
