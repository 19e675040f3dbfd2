"""Which position is searched next: a queue by priority, with time slices for long analyses.

One thread does all searches.  If several positions are waiting, it searches them in slices.  An analysis that has had
less than `PATIENCE` seconds is short, any other is long:

- of the short ones, that with the highest priority is searched until it is over or long; of equals, the first to come;
- the long ones take turns;
- slices alternate between short and long, but a short one with a higher priority than all long ones precedes them.

Errands, brief tasks for the searching thread, precede everything.

So a list of short queries is answered in order and without delay, and an endless one (front ends ponder with a query
for ten million visits) neither blocks the others nor starves.  KataGo achieves this with threads.

A `Schedule` belongs to one client.  The clients share the searching thread: a `SharedSchedule` gives each of them a
slice in turn, whatever their priorities and however much they ask for.
"""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from gtp_engine.protocols.analysis.query import Query
from gtp_engine.search.limits import CancelToken

if TYPE_CHECKING:
    from gtp_engine.engine.shared_engines import SharedEngines

PATIENCE: Final = 1.0
"""Seconds of search after which an analysis is long; most interactive queries take less."""

SLICE: Final = 0.1
"""Least seconds of search for a position while others are waiting; long compared with the cost of switching."""

Errand = Callable[["SharedEngines"], None]
"""A brief task with the engines that the searching thread does between two slices."""

Send = Callable[[dict[str, Any]], None]
"""Receives a response to send; never blocks."""


class Job:
    """One position to analyse, turn `turn` of `query`, and its progress.

    `owner` is the schedule of the client who asked for it; `send` receives the responses.

    `search` goes on by a slice with each step; `cancel` ends it, and `searched` are the seconds that it has taken.
    """

    def __init__(self, query: Query, turn: int, arrival: int, owner: "Schedule") -> None:
        self.query: Final = query
        self.turn: Final = turn
        self.priority: Final = query.turns[turn]
        self.owner: Final = owner
        self.send: Final = owner.send
        self.order: Final = (-self.priority, arrival)
        self.search: Iterator[None] | None = None
        self.cancel: Final = CancelToken()
        self.searched = 0.0

    @property
    def is_terminated(self) -> bool:
        """Whether the controller has ended the job, or the session has."""
        return self.cancel.is_cancelled

    @property
    def is_long(self) -> bool:
        """Whether the job has had `PATIENCE` seconds of search."""
        return self.searched >= PATIENCE


class Schedule:
    """The jobs of a client that are waiting or begun; all methods may be called from any thread.

    `parallel` is the number of jobs begun at once: each of them holds a search tree.  `send` receives the responses to
    the client.  `changed` is the condition of the SharedSchedule that holds this one.
    """

    def __init__(self, parallel: int, send: Send, changed: threading.Condition) -> None:
        self._parallel: Final = parallel
        self.send: Final = send
        self._changed: Final = changed
        self._waiting: list[Job] = []  # sorted by order
        self._begun: Final[list[Job]] = []  # the next long one first
        self._errands: Final[deque[Errand]] = deque()
        self._arrivals: Final = itertools.count()
        self._last: Job | None = None
        self._is_abandoned = False

    def add(self, query: Query) -> None:
        """Put every turn of the query into the queue."""
        with self._changed:
            if self._is_abandoned:
                return
            self._waiting += [Job(query, turn, next(self._arrivals), self) for turn in query.turns]
            self._waiting.sort(key=lambda job: job.order)
            self._changed.notify()

    def call(self, errand: Errand) -> None:
        """Let the searching thread do an errand soon."""
        with self._changed:
            if not self._is_abandoned:
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

    @property
    def has_work(self) -> bool:
        """Whether a job or an errand is due."""
        return bool(self._errands or self._waiting or self._begun)

    @property
    def is_over(self) -> bool:
        """Whether the client has gone and nothing is left."""
        return self._is_abandoned and not self.has_work

    def positions(self) -> int:
        """Return the number of jobs that are waiting or begun."""
        with self._changed:
            return len(self._waiting) + len(self._begun)

    def take(self) -> Job | Errand:
        """Return the next job or errand, of at least one."""
        with self._changed:
            if self._errands:
                return self._errands.popleft()
            job = self._choose()
            (self._begun if job in self._begun else self._waiting).remove(job)
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

    def abandon(self) -> None:
        """Note that the client has gone: drop errands and jobs, also those that still come."""
        with self._changed:
            self._is_abandoned = True
            self._errands.clear()
        self.terminate(lambda job: True)

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
        best = min(short, key=lambda job: job.order)
        is_above = all(best.priority > job.priority for job in long)
        if is_above or self._last is None or self._last.is_long:
            return best
        return long[0]


class SharedSchedule:
    """The schedules of several clients, which take turns; all methods may be called from any thread."""

    def __init__(self) -> None:
        self._changed: Final = threading.Condition()
        self._schedules: list[Schedule] = []  # the next one first
        self._is_closed = False

    def open(self, parallel: int, send: Send) -> Schedule:
        """Return a new schedule for a client, who abandons it at the end."""
        schedule = Schedule(parallel, send, self._changed)
        with self._changed:
            self._schedules.append(schedule)
        return schedule

    def next(self) -> Job | Errand | None:
        """Return the next client's job or errand, waiting for one; None once closed and empty."""
        with self._changed:
            while True:
                self._schedules = [schedule for schedule in self._schedules if not schedule.is_over]
                for schedule in self._schedules:
                    if schedule.has_work:
                        self._schedules.remove(schedule)
                        self._schedules.append(schedule)
                        return schedule.take()
                if self._is_closed:
                    return None
                self._changed.wait()

    def positions(self) -> int:
        """Return the number of jobs that are waiting or begun."""
        with self._changed:
            return sum(schedule.positions() for schedule in self._schedules)

    def has_rivals(self, job: Job) -> bool:
        """Return whether another client waits, or another job or errand of this one is due before this job."""
        with self._changed:
            others = (schedule for schedule in self._schedules if schedule is not job.owner)
            return any(schedule.has_work for schedule in others) or job.owner.has_rivals(job)

    def close(self) -> None:
        """Note that no more clients will come; `next` continues until no job is left."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
