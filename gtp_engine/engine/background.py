"""A thread for jobs that run while the engine waits for its next command: pondering and analysis."""

import threading
import traceback
from collections.abc import Callable
from typing import Final

from gtp_engine.errors import TengenError

PONDER_LIMIT: Final = 600.0
"""Longest pondering in seconds, so that an engine left alone does not run all night (KataGo suggests 60)."""


class Background:
    """Runs one job at a time in the background; `log` takes lines about jobs that fail.

    A job ends soon after `cancelled` is set, which it has to look at.  `cancel` may be called by any thread, the other
    methods by the engine's own.
    """

    def __init__(self, log: Callable[[str], None]) -> None:
        self.cancelled: Final = threading.Event()
        self._log: Final = log
        self._thread: threading.Thread | None = None

    def start(self, job: Callable[[], object]) -> None:
        """Run `job` in the background; whatever runs there is ended first."""
        self.end()
        self._thread = threading.Thread(target=self._run, args=(job,), name="background search", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Tell the running job to end, without waiting for it."""
        self.cancelled.set()

    def end(self) -> None:
        """End the running job and wait until it has ended; from here on nothing is cancelled."""
        if self._thread is not None:
            self.cancel()
            self._thread.join()
            self._thread = None
        self.cancelled.clear()

    def _run(self, job: Callable[[], object]) -> None:
        try:
            job()
        except TengenError as error:
            self._log(f"the search in the background has ended: {error}")
        except Exception:  # a bug; the engine lives on, as it does when a command fails
            self._log(f"the search in the background has failed:\n{traceback.format_exc().rstrip()}")
