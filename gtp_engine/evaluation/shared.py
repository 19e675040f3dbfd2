"""One evaluator shared by users who search at the same time: what they ask for at once becomes one call.

    a = shared.lend()    for one search after the other, in any threads
    b = shared.lend()

A search alone has few positions under way while its tree is small.  Two that run side by side would take turns, since
the second asks while the first is evaluated and selects its next leaves while the second is.  So a call waits a moment
for those who took part in a call before and are expected to ask again:

    search A    select    evaluate A and B    back up, select    evaluate A and B    back up, select
    search B    select    (waits for it)      back up, select    (waits for it)      ...

They may play under different rules, but on boards of one size.  It never waits long for a user who has stopped
searching, and not at all for one who has not begun (`PATIENCE`).

Requests of one kind are joined: of boards of one size, with the same options.  For a network, few large batches are
less work than many small ones.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple

from gtp_engine.base.errors import EngineDiedError
from gtp_engine.evaluation.evaluator import (
    Evaluator,
    ExclusiveEvaluator,
    ForwardingEvaluator,
    Kind,
    Request,
    evaluated,
    join_rows,
)


def evaluate_joined(requests: Sequence[Request], evaluator: Evaluator) -> None:
    """Write the evaluations of requests of one kind, by one call of `evaluator`."""
    parts = [request.part(0, request.rows) for request in requests]
    found, first = evaluated(evaluator, join_rows(part.positions for part in parts), parts[0].options), 0
    for part in parts:
        for array, values in zip(part.out, found, strict=True):
            array[:] = values[first : first + part.rows]
        first += part.rows


PATIENCE: Final = 0.5
"""How long a user is expected to ask again, as a share of the time that the call took.  With 1 and 2, as many calls are
joined and a search that ends costs the others more; with 0, two searches take turns.  docs/notes has the gain."""


class LentEvaluator(ForwardingEvaluator):
    """A shared evaluator for one user, who searches one position at a time; closing it leaves the evaluator open."""

    def __init__(self, shared: "SharedEvaluator") -> None:
        super().__init__(shared)
        self._shared: Final = shared

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; see `Evaluator`."""
        self._shared.evaluate_for(self, request)

    def close(self) -> None:
        """Do nothing: the owner of the shared evaluator closes it."""


class _Expected(NamedTuple):
    """What a user asked for last, and until when they are expected to ask for as much again (`time.perf_counter`)."""

    kind: Kind
    rows: int
    until: float


@dataclass(eq=False)
class _Call:
    """A request that waits, of a user whose thread waits for `wakeups`."""

    user: object
    request: Request
    kind: Kind
    wakeups: SimpleQueue[None] = field(default_factory=SimpleQueue)
    is_done: bool = False
    error: BaseException | None = None


class EvaluatorWork(NamedTuple):
    """What a shared evaluator has done: rows in calls of `batch` rows at most; and how many requests wait."""

    rows: int
    calls: int
    batch: int
    waiting: int


class SharedEvaluator(ForwardingEvaluator):
    """Lends `evaluator`, which serves one thread at a time, to any number of users; its owner closes it.

    Calls of one kind that wait are joined up to `info.batch` rows, in the order in which they came.  A waiting
    thread makes the call of the evaluator for all of them, so that a user alone depends on no other thread.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(ExclusiveEvaluator(evaluator))
        self._lock: Final = threading.Lock()
        self._waiting: Final[list[_Call]] = []
        self._is_evaluating = self._is_closed = False
        self._rows = self._calls = 0
        self._expected: Final[dict[object, _Expected]] = {}

    def lend(self) -> LentEvaluator:
        """Return the evaluator for another user."""
        return LentEvaluator(self)

    def close(self) -> None:
        """Free what the evaluator holds; users can evaluate nothing afterwards."""
        self._is_closed = True
        super().close()

    def work(self) -> EvaluatorWork:
        """Return what has been done so far."""
        with self._lock:
            return EvaluatorWork(self._rows, self._calls, self.info.batch, len(self._waiting))

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions, for the owner; see `Evaluator`."""
        self.evaluate_for(self, request)

    def evaluate_for(self, user: object, request: Request) -> None:
        """Evaluate a request of a user, possibly together with those of others.

        Raises what the evaluator raises, and EngineDiedError once the owner has closed it.
        """
        if self._is_closed:
            raise EngineDiedError("the networks have been closed, of which this engine uses one")
        call = _Call(user, request, request.kind)
        with self._lock:
            self._waiting.append(call)
            self._expected.pop(user, None)
        while not call.is_done:
            calls, seconds = self._take()
            if calls:
                self._evaluate(calls)
            else:
                with suppress(Empty):
                    call.wakeups.get(timeout=seconds)
        if call.error is not None:
            raise call.error

    def _take(self) -> tuple[list[_Call], float | None]:
        """Return the calls to make now, or else none and how long to wait; None: until woken."""
        with self._lock:
            if self._is_evaluating or not self._waiting:
                return [], None
            kind, rows = self._waiting[0].kind, 0
            calls: list[_Call] = []
            for call in self._waiting:
                if call.kind == kind and (not calls or rows + call.request.rows <= self.info.batch):
                    calls.append(call)
                    rows += call.request.rows
            room = self.info.batch - rows
            fitting = [each for each in self._expected.values() if each.kind == kind and each.rows <= room]
            seconds = max((each.until for each in fitting), default=-inf) - time.perf_counter()
            if seconds > 0.0:
                return [], seconds
            self._is_evaluating = True
            for call in calls:
                self._waiting.remove(call)
            return calls, None

    def _evaluate(self, calls: list[_Call]) -> None:
        """Make calls of one kind together."""
        error: BaseException | None = None
        start = time.perf_counter()
        try:
            if len(calls) == 1:
                self._evaluator.evaluate(calls[0].request)
            else:
                evaluate_joined([call.request for call in calls], self._evaluator)
        except BaseException as raised:  # raised again in the thread of each call
            error = raised
        end = time.perf_counter()
        with self._lock:
            self._is_evaluating = False
            self._rows += sum(call.request.rows for call in calls)
            self._calls += 1
            for user in [user for user, each in self._expected.items() if each.until <= end]:
                del self._expected[user]  # they stopped searching, perhaps for good
            until = end + PATIENCE * (end - start)
            for call in calls:
                self._expected[call.user] = _Expected(call.kind, call.request.rows, until)
                call.error, call.is_done = error, True
                call.wakeups.put(None)
            if self._waiting:
                self._waiting[0].wakeups.put(None)
