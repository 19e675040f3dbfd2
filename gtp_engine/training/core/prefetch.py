"""Streams of batches, and a thread that prepares batches in advance."""

import queue
import threading
from collections.abc import Iterator
from typing import Any, Final, Generic, Protocol, TypeVar

PREFETCHED: Final = 4
"""Batches prepared in advance."""

Batch = TypeVar("Batch", covariant=True)


class Stream(Protocol[Batch]):
    """An endless stream of batches, whose place is a dictionary of plain values."""

    def __iter__(self) -> Iterator[Batch]: ...

    def state(self) -> dict[str, Any]:
        """Return the place in the stream."""
        ...

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue at a place that `state` returned."""
        ...


class Prefetch(Generic[Batch]):
    """Prepares the batches of a stream on a thread, a few in advance; a context manager.

    Iterating yields each batch together with the state of the stream after it.
    """

    def __init__(self, stream: Stream[Batch], ahead: int = PREFETCHED) -> None:
        self._stream = stream
        self._queue: queue.Queue[tuple[Batch, dict[str, Any]] | BaseException] = queue.Queue(ahead)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="batches", daemon=True)

    def __enter__(self) -> "Prefetch[Batch]":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        while self._thread.is_alive():
            while not self._queue.empty():
                self._queue.get_nowait()
            self._thread.join(timeout=0.01)

    def __iter__(self) -> Iterator[tuple[Batch, dict[str, Any]]]:
        return self

    def __next__(self) -> tuple[Batch, dict[str, Any]]:
        """Return the next batch and the stream's state after it; raises what preparing it raised."""
        found = self._queue.get()
        if isinstance(found, BaseException):
            raise found
        return found

    def _run(self) -> None:
        try:
            for batch in self._stream:
                self._queue.put((batch, self._stream.state()))
                if self._is_over.is_set():
                    return
        except BaseException as error:  # the consumer raises it
            self._queue.put(error)
