"""The threads of an engine: one at a time may use it, and one job runs in the background."""

import os
import threading
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from gtp_engine.base.errors import EngineBusyError, EngineDiedError, TengenError
from gtp_engine.base.streams import Log
from gtp_engine.search.limits import CancelToken

_CLOSE_SECONDS: Final = 5.0
"""Longest wait of `close` for the method of another thread, whose search has been cancelled."""


class Use:
    """The use of an engine by one thread at a time, of the process that made it, until it is closed.

    Entering it raises EngineBusyError while another thread is in it, EngineDiedError once it is closed, and in a
    process that was forked, in which the engine's threads do not run.
    """

    def __init__(self) -> None:
        self._lock: Final = threading.RLock()
        self._process: Final = os.getpid()
        self._is_closed = False

    def __enter__(self) -> None:
        if self._process != os.getpid():
            advice = 'make one in each process, or start processes by multiprocessing.get_context("spawn")'
            raise EngineDiedError("the engine stayed in the process that this one was forked from", advice=advice)
        if not self._lock.acquire(blocking=False):
            advice = "call it from one thread at a time, end its search by a CancelToken, or give each thread an engine"
            raise EngineBusyError("the engine is in use by another thread", advice=advice)
        if self._is_closed:
            self._lock.release()
            raise EngineDiedError("the engine has been closed")

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def end(self) -> bool:
        """Return whether this call closes it; raises EngineBusyError if another thread does not leave it in time."""
        if self._is_closed or self._process != os.getpid():
            return False
        if not self._lock.acquire(timeout=_CLOSE_SECONDS):
            raise EngineBusyError("the engine searches in another thread", advice="cancel that, then close it")
        with self._lock:
            self._lock.release()
            was_open, self._is_closed = not self._is_closed, True
            return was_open


P = ParamSpec("P")
R = TypeVar("R")


def exclusive(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method run only while no other thread is in one of the same object, which has a `Use` as `_use`."""

    @wraps(method)
    def call(*args: P.args, **named: P.kwargs) -> R:
        used: Any = args[0]
        with used._use:
            return method(*args, **named)

    return call


class Background:
    """Runs one job at a time in a thread of its own: pondering, an analysis, a choice that is not played.

    `log` receives lines about jobs that fail.  All methods are for the engine's thread.
    """

    def __init__(self, log: Log) -> None:
        self._log: Final = log
        self._thread: threading.Thread | None = None
        self._cancel = CancelToken()

    def start(self, job: Callable[[], object], cancel: CancelToken) -> None:
        """End the running job, then run `job`, which must end soon after `cancel` is cancelled."""
        self.end()
        self._cancel = cancel
        self._thread = threading.Thread(target=self._run, args=(job,), name="background search", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Cancel the running job, if any, and wait until it has ended."""
        if self._thread is not None:
            self._cancel.cancel()
            self._thread.join()
            self._thread = None

    def _run(self, job: Callable[[], object]) -> None:
        try:
            job()
        except TengenError as error:
            self._log(f"the background search has ended: {error}")
        except Exception:  # a bug; the engine continues, as it does when a command fails
            self._log(f"the background search has failed:\n{traceback.format_exc().rstrip()}")
