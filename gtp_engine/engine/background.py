"""A thread for jobs that run while the engine waits for its next command: pondering and analysis."""

import threading
import traceback
from collections.abc import Callable
from typing import Final

from gtp_engine.errors import TengenError
from gtp_engine.search.cancellation import CancelToken

PONDER_LIMIT: Final = 600.0
"""Longest pondering in seconds, so that an engine left alone does not run all night (KataGo suggests 60)."""


class Background:
    """Runs one job at a time in a thread of its own; `log` receives lines about jobs that fail.

    All methods are for the engine's thread.
    """

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log: Final = log
        self._thread: threading.Thread | None = None
        self._cancel = CancelToken()

    def start(self, job: Callable[[CancelToken], object], cancel: CancelToken) -> None:
        """End the running job, then run `job(cancel)`, which must end soon after `cancel` is cancelled."""
        self.end()
        self._cancel = cancel
        self._thread = threading.Thread(target=self._run, args=(job, cancel), name="background search", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Cancel the running job, if any, and wait until it has ended."""
        if self._thread is not None:
            self._cancel.cancel()
            self._thread.join()
            self._thread = None

    def _run(self, job: Callable[[CancelToken], object], cancel: CancelToken) -> None:
        try:
            job(cancel)
        except TengenError as error:
            self._log(f"the background search has ended: {error}")
        except Exception:  # a bug; the engine continues, as it does when a command fails
            self._log(f"the background search has failed:\n{traceback.format_exc().rstrip()}")
