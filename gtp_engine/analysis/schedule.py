"""Which position is searched next: a queue by priority, and the processor shared fairly by long analyses.

There is one thread that searches.  A position has it until its analysis is over, unless others have a claim: then it
is lent in slices.  Whatever has had less than `PATIENCE` seconds is short, the rest long:

- of short analyses the one with the highest priority, then the one that came first, is served until it is over or long;
- long ones take turns;
- slices alternate between short and long, but a short one above the priority of all long ones goes before them.

Errands, things of a moment that only the searching thread may do, go before everything.

So a list of quick queries is answered in order and each as soon as can be, and one that never ends (front ends ponder
with a query for ten million visits) neither keeps others waiting nor starves.  KataGo reaches this with threads.
"""

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from gtp_engine.analysis.query import Query, Turn
from gtp_engine.search.cancellation import CancelToken

PATIENCE: Final = 1.0
"""Seconds of search after which an analysis is long: what people look at most of is answered within it."""

SLICE: Final = 0.1
"""Seconds a position is searched at least when others have a claim too: what switching costs is small beside it."""


Errand = Callable[[], None]
"""Something the searching thread does between two slices."""


class Job:
    """One position to analyse: turn `turn` of `query`, with what has come of it so far.

    `cancel` ends its searches; `searched` are the seconds of search it has had, `started` is the time (of
    `time.monotonic`) of its first slice.
    """

    def __init__(self, query: Query, turn: Turn, arrival: int) -> None:
        self.query: Final = query
        self.turn: Final = turn
        self.order: Final = (-turn.priority, arrival)
        self.cancel: Final = CancelToken()
        self.searched = 0.0
        self.started: float | None = None

    @property
    def is_terminated(self) -> bool:
        """Whether the controller has ended the job, or the session has."""
        return self.cancel.is_cancelled

    @property
    def is_long(self) -> bool:
        """Whether the job has had so much that others may go before it."""
        return self.searched >= PATIENCE


class Schedule:
    """The jobs that are waiting or begun; all methods may be called from any thread.

    `parallel` is the number of jobs begun at once: each of them holds a search tree.
    """

    def __init__(self, parallel: int) -> None:
        self._parallel: Final = parallel
        self._changed: Final = threading.Condition()
        self._waiting: list[Job] = []  # sorted by order
        self._begun: Final[list[Job]] = []  # the next long one first
        self._errands: Final[deque[Errand]] = deque()
        self._arrivals: Final = itertools.count()
        self._last: Job | None = None
        self._is_closed = False

    def add(self, query: Query) -> None:
        """Put every turn of the query into the queue."""
        with self._changed:
            self._waiting += [Job(query, turn, next(self._arrivals)) for turn in query.turns]
            self._waiting.sort(key=lambda job: job.order)
            self._changed.notify()

    def call(self, errand: Errand) -> None:
        """Have the searching thread do something soon."""
        with self._changed:
            self._errands.append(errand)
            self._changed.notify()

    def terminate(self, is_meant: Callable[[Job], bool]) -> list[Job]:
        """End the jobs that are meant; return those that had not begun, which nobody else will answer."""
        with self._changed:
            removed = [job for job in self._waiting if is_meant(job)]
            self._waiting = [job for job in self._waiting if not is_meant(job)]
            for job in (*removed, *filter(is_meant, self._begun)):
                job.cancel.cancel()
            self._changed.notify()
            return removed

    def next(self) -> Job | Errand | None:
        """Return what to do now, waiting for something; None once the schedule is closed and empty."""
        with self._changed:
            while not (self._errands or self._waiting or self._begun):
                if self._is_closed:
                    return None
                self._changed.wait()
            if self._errands:
                return self._errands.popleft()
            job = self._choose()
            if job in self._begun:
                self._begun.remove(job)
            else:
                self._waiting.remove(job)
                job.started = time.monotonic()
            self._begun.append(job)
            self._last = job
            return job

    def has_rivals(self, job: Job) -> bool:
        """Return whether something other than this job, which is being searched, would be done next."""
        with self._changed:
            return bool(self._errands) or self._choose() is not job

    def finished(self, job: Job) -> None:
        """Take a job off the schedule."""
        with self._changed:
            self._begun.remove(job)

    def close(self) -> None:
        """Accept that nothing more will come; `next` goes on until nothing is left."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _choose(self) -> Job:
        """Return the best candidate; there is at least one, and a terminated one goes first, to be done with it."""
        for job in self._begun:
            if job.is_terminated:
                return job
        long = [job for job in self._begun if job.is_long]
        short = [job for job in self._begun if not job.is_long]
        if self._waiting and len(self._begun) < self._parallel:
            short.append(self._waiting[0])
        if not short:
            return long[0]
        best = min(short, key=_order)
        is_above = all(best.turn.priority > job.turn.priority for job in long)
        if is_above or self._last is None or self._last.is_long:
            return best
        return long[0]


def _order(job: Job) -> tuple[int, int]:
    return job.order
