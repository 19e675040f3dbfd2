"""Which position is searched next: a queue by priority, with time slices for long analyses.

One thread does all searches.  If several positions are waiting, it searches them in slices.  An analysis that has had
less than `PATIENCE` seconds is short, any other is long:

- of the short ones, that with the highest priority is searched until it is over or long; of equals, the first to come;
- the long ones take turns;
- slices alternate between short and long, but a short one with a higher priority than all long ones precedes them.

Errands, brief tasks for the searching thread, precede everything.

So a list of short queries is answered in order and without delay, and an endless one (front ends ponder with a query
for ten million visits) neither blocks the others nor starves.  KataGo achieves this with threads.
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
"""Seconds of search after which an analysis is long; most interactive queries take less."""

SLICE: Final = 0.1
"""Least seconds of search for a position while others are waiting; long compared with the cost of switching."""

Errand = Callable[[], None]
"""A brief task that the searching thread does between two slices."""


class Job:
    """One position to analyse, turn `turn` of `query`, and its progress.

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
        """Whether the job has had `PATIENCE` seconds of search."""
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
        """Let the searching thread do an errand soon."""
        with self._changed:
            self._errands.append(errand)
            self._changed.notify()

    def terminate(self, is_meant: Callable[[Job], bool]) -> list[Job]:
        """Cancel the jobs for which `is_meant` holds; return those that had not begun, so that the caller responds."""
        with self._changed:
            removed = [job for job in self._waiting if is_meant(job)]
            self._waiting = [job for job in self._waiting if not is_meant(job)]
            for job in (*removed, *filter(is_meant, self._begun)):
                job.cancel.cancel()
            self._changed.notify()
            return removed

    def next(self) -> Job | Errand | None:
        """Return the next job or errand, waiting for one; None once the schedule is closed and empty."""
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
        """Return whether another job or an errand is due before the next slice of this job."""
        with self._changed:
            return bool(self._errands) or self._choose() is not job

    def finished(self, job: Job) -> None:
        """Take a job off the schedule."""
        with self._changed:
            self._begun.remove(job)

    def close(self) -> None:
        """Note that no more jobs will come; `next` continues until none is left."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _choose(self) -> Job:
        """Return the job to search next, of at least one; terminated ones come first, to free their trees."""
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
