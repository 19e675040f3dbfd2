"""The thread that calls the evaluator, so that the searching thread can go on meanwhile, or stop waiting."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

Call = Callable[[Callable[[], bool]], None]
"""What a job does; see `Job`."""


class Job:
    """A call of the evaluator; once it is done, `error` holds what it raised, if anything.

    `call` is given a function that tells whether the job has been dropped meanwhile, so that a long one can end early.
    """

    def __init__(self, call: Call) -> None:
        self.call: Final = call
        self.is_done = False
        self.is_dropped = False
        self.error: BaseException | None = None

    def run(self) -> None:
        """Do it, unless it was dropped."""
        try:
            if not self.is_dropped:
                self.call(lambda: self.is_dropped)
        except BaseException as error:  # the searching thread raises it
            self.error = error
        self.is_done = True


class EvaluationThread:
    """Runs jobs one after the other in a thread of its own, which starts with the first job.

    One thread at a time submits jobs and waits for them; any thread may call `wake`.  Simple queues, because a handover
    by conditions or events takes as long as a hundred nodes of the tree.
    """

    def __init__(self, name: str) -> None:
        self._name: Final = name
        self._jobs: Final[SimpleQueue[Job | None]] = SimpleQueue()
        self._wakeups: Final[SimpleQueue[None]] = SimpleQueue()
        self._unfinished: list[Job] = []
        self._thread: threading.Thread | None = None

    def submit(self, call: Call) -> Job:
        """Return the job that will run `call`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        job = Job(call)
        self._unfinished = [*(old for old in self._unfinished if not old.is_done), job]
        self._jobs.put(job)
        return job

    def wait(self, job: Job, seconds: float | None = None) -> bool:
        """Return whether a job is done, after waiting for it or for `wake`, so long at most; may return early.

        Raises what the job raised.
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
        """Have the waiting thread look again."""
        self._wakeups.put(None)

    def drain(self) -> None:
        """Drop the jobs that have not begun, and wait for the one that has; what they raise is forgotten."""
        for job in self._unfinished:
            job.is_dropped = True
        for job in self._unfinished:
            while not job.is_done:
                self._wakeups.get()
        self._unfinished = []
        while not self._wakeups.empty():
            self._wakeups.get()

    def close(self) -> None:
        """End the thread after the job that is running; there may be more after that, in a new thread."""
        self.drain()
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()
            self._wakeups.put(None)
