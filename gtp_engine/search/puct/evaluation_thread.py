"""The threads that call the evaluator, so that the searching thread can continue meanwhile, or stop waiting.

They call the players of rollouts too, which searches are handed.
"""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final, Protocol

from gtp_engine.evaluation.positions import Positions
from gtp_engine.search.puct.expand import Results
from gtp_engine.search.rng import State

IsDropped = Callable[[], bool]
"""Returns whether the result of a job is no longer needed, so that a long one can end early."""

Call = Callable[[IsDropped], None]
"""The work of a job."""


RolloutPlayer = Callable[[Positions, int, Results, IsDropped], None]
"""Writes into the results how the first so many rows of the positions (not changed) end; one thread at a time calls it.

Once it is dropped the results are not read, so the player may return early."""
NewRolloutPlayer = Callable[[int, tuple[int, int], State], RolloutPlayer]
"""Returns a player of up to so many positions at once, on boards of this size, with these random numbers."""


class Job:
    """A call in an evaluation thread; once it is done, `error` holds the exception that it raised, if any."""

    def __init__(self, call: Call) -> None:
        self.call: Final = call
        self.is_done = False
        self.is_dropped = False
        self.error: BaseException | None = None

    def run(self) -> None:
        """Call it, unless it was dropped."""
        try:
            if not self.is_dropped:
                self.call(lambda: self.is_dropped)
        except BaseException as error:  # raised again in the searching thread, by `EvaluationThread.wait`
            self.error = error
        self.is_done = True


class Calls(Protocol):
    """Makes calls of the evaluator for a search: `EvaluationThread`, or `joint_search.JointCalls`."""

    def submit(self, call: Call, at_once: int = 1) -> Job:
        """Return the job that will run `call`, beside others if so many may run at once."""

    def wait(self, job: Job, seconds: float | None = None) -> bool:
        """Return whether a job is done, after waiting for it; raises what it raised."""

    def wake(self) -> None:
        """End the wait of the searching thread, which then checks why."""

    def drain(self) -> None:
        """Drop the jobs that have not begun, and wait for the running one."""

    def close(self) -> None:
        """Free what the calls need."""


class EvaluationThread:
    """Runs jobs in the order in which they come, in threads of its own, which start when there are jobs for them.

    One thread at a time submits jobs and waits for them; any thread may call `wake`.  The queues are SimpleQueues,
    because a handover by a condition or an event takes as long as selecting and backing up a hundred nodes.
    """

    def __init__(self, name: str) -> None:
        self._name: Final = name
        self._jobs: Final[SimpleQueue[Job | None]] = SimpleQueue()
        self._wakeups: Final[SimpleQueue[None]] = SimpleQueue()
        self._unfinished: list[Job] = []
        self._threads: list[threading.Thread] = []

    def submit(self, call: Call, at_once: int = 1) -> Job:
        """Return the job that will run `call`, beside others in up to `at_once` threads."""
        job = Job(call)
        self._unfinished = [*(old for old in self._unfinished if not old.is_done), job]
        if len(self._threads) < min(at_once, len(self._unfinished)):
            self._threads.append(threading.Thread(target=self._run, name=self._name, daemon=True))
            self._threads[-1].start()
        self._jobs.put(job)
        return job

    def wait(self, job: Job, seconds: float | None = None) -> bool:
        """Return whether a job is done, after waiting for it at most this long.

        Returns early upon `wake`, and possibly for no reason: each job and each call of `wake` leaves a wake-up in the
        queue, and an old one may be left there.  So callers wait in a loop.  Raises what the job raised.
        """
        if not job.is_done:
            try:
                self._wakeups.get(timeout=seconds)
            except Empty:
                return job.is_done
        if job.error is not None:
            raise job.error
        return job.is_done

    def wake(self) -> None:
        """End the wait of the searching thread, which then checks why."""
        self._wakeups.put(None)

    def drain(self) -> None:
        """Drop the jobs that have not begun, and wait for those that run; exceptions of either are discarded."""
        for job in self._unfinished:
            job.is_dropped = True
        for job in self._unfinished:
            while not job.is_done:
                self._wakeups.get()
        self._unfinished = []
        while not self._wakeups.empty():
            self._wakeups.get()

    def close(self) -> None:
        """End the threads after the running jobs; a job submitted later starts a new thread."""
        self.drain()
        for _ in self._threads:
            self._jobs.put(None)
        while self._threads:
            self._threads.pop().join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()
            self._wakeups.put(None)
