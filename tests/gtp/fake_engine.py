"""A stand-in for the engine: enough for tests of the session, which must not care what an engine is."""

import threading


class FakeEngine:
    """Counts what is asked of it; `clear_cache` fails, `set_random_seed` blocks until `stop`."""

    def __init__(self) -> None:
        self.komi = 7.5
        self.stopped = threading.Event()
        self.searching = threading.Event()
        self.closed = False

    def set_komi(self, komi: float) -> None:
        self.komi = komi

    def set_seed(self, seed: int) -> None:
        """Play the part of a long search: only `stop` ends it."""
        self.searching.set()
        assert self.stopped.wait(10), "nobody stopped the search"

    def get_seed(self) -> int:
        return int(self.stopped.is_set())

    def clear_cache(self) -> None:
        raise ZeroDivisionError("a bug\nin two lines")

    def stop(self) -> None:
        if self.searching.is_set():
            self.stopped.set()

    def close(self) -> None:
        self.closed = True
