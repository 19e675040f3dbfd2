"""Work handed to other processes, here or on the machines of a Ray cluster: one pool, which outlives its workers.

    WorkerJob         what workers do: what makes them, the files and the cores that they need
    open_workers      a pool of processes of this machine, or of actors on a Ray cluster
    WorkerPool        takes tasks and returns futures

Each worker has a number.  It is made where it runs and then does one task after the other.  When it is lost, with its
process or its machine, another one of its number is started, and its tasks go to whichever worker is idle first; a task
that has ended MOST_LOSSES workers gets TaskError instead.  So it is with a worker that hangs, because it is far longer
at a task than others were.  A worker that cannot be started is tried again after a while.  When every one of them has
failed MOST_LOSSES times in a row, the pool has failed, and so have its tasks.

Where a machine has never done such tasks, one of its workers does its first one, and compiles the kernels, before the
others get theirs.

All that a pool knows belongs to one thread, which takes events from a queue: tasks, and what workers tell.
"""

import contextlib
import math
import os
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from gtp_engine.base.errors import ConfigError, TaskError, TengenError, WorkerError, counted, shown
from gtp_engine.base.streams import Log
from gtp_engine.base.worker_process import END_SECONDS, Connection, end_worker, start_worker
from gtp_engine.compiled.kernel_cache import is_cache_filled, note_kernels

MOST_LOSSES: Final = 5
"""How many workers a task may end, and how often in a row each of them may fail.  Machines that are taken away at
random end the same task five times only if they last hardly longer than a task."""

_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
"""Seconds before a worker is started again that failed twice in a row; each time twice as many, up to a minute."""

_GROWTH_INTERVAL: Final = 5.0
"""Seconds between two looks for machines that have joined."""

_STATUS_INTERVAL: Final = 60.0
"""Seconds between two notes of how many workers are at work, and on how many machines."""

_NOTE_INTERVAL: Final = 10.0
"""Seconds within which one note names all workers that are lost on a machine: they go together."""

HANGING: Final = 20.0
"""How many times as long as the median of the tasks a worker may be at one, before it is taken to hang."""

_LEAST_MINUTES: Final = 10.0
"""Minutes that it may be at one in any case, unless TENGEN_WORKER_MINUTES names another number; 0: as long as it likes.
The first task of a machine compiles kernels, which takes minutes where many do so at once.

As long as no task is done, a worker may be HANGING times as long at one, and twice as long after each that is ended so:
tasks may take hours.  While it is being made, it may always take as long as at first."""

_REMEMBERED: Final = 101
"""Durations of tasks, the last ones, of which the median is taken."""

_TICK: Final = 0.2
"""Seconds between two looks at what is due: workers to start, workers that hang, machines that have joined."""

HERE: Final = "this machine"
"""What stands for the name of a machine where there is only this one."""

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class WorkerPlace(NamedTuple):
    """What a worker's maker is told: its number, how many workers of the number were lost, and where files are."""

    number: int = 0
    life: int = 0
    folders: Mapping[Path, Path] = {}
    """The folders with the files of the job on this machine, by those from which they were sent."""

    def path(self, path: Path) -> Path:
        """Return where a file of the job, or the folder that holds some, lies on this machine."""
        for folder in (path, *path.parents):
            if folder in self.folders:
                return self.folders[folder] / path.relative_to(folder)
        return path


FIRST_PLACE: Final = WorkerPlace()
"""That of this process, where it does the work itself."""

WorkerMaker = Callable[[WorkerPlace], Callable[[Any], Any]]
"""Returns a worker, which returns the answer of a task; can be pickled."""


def ignore_note(text: str) -> None:
    """Drop a note."""


@dataclass(frozen=True)
class WorkerJob:
    """What workers do; `title` names them in Ray's dashboard, and the kernels that they call in the cache of kernels.

    Worker number i is made by number i of `makers`, which begin again after the last.
    """

    title: str
    makers: Sequence[WorkerMaker]
    files: Sequence[Path] = ()
    """What the makers need, on machines that lack it: files, and folders with all that is in them."""
    threads: int = 1
    """Cores of a worker."""
    ahead: int = 1
    """Tasks that a worker has at a time, so that it does not wait while answers are transferred."""
    alike: bool = False
    """Whether all tasks are alike, so that no task is to blame for the loss of a worker."""
    calls_kernels: bool = True


# At the worker's end


class _Placed(NamedTuple):
    pass


class _Ready(NamedTuple):
    node: str
    is_warm: bool


class _Answered(NamedTuple):
    task: int
    answer: Any
    error: TengenError | None = None  # in place of an answer


class Lost(NamedTuple):
    """A worker is gone, or cannot be made on a node because of an error."""

    reason: str
    node: str | None = None
    error: TengenError | None = None


PLACED: Final = _Placed()

WorkerMessage = _Placed | _Ready | _Answered | Lost
"""What a worker reports: that there is a process which becomes it, and that it is ready; then answers.
The last is sent when it is gone, or cannot be made."""


class TaskRunner:
    """A worker where it runs: makes it, and turns all that it raises into messages."""

    def __init__(self, title: str | None) -> None:
        self._title = title  # None if its tasks call no kernels, or once these have been noted
        self._work: Callable[[Any], Any] | None = None

    def begin(self, make: Callable[[], Callable[[Any], Any]], node: str) -> WorkerMessage:
        """Make the worker."""
        try:
            self._work = make()
        except Exception as error:
            return Lost(str(_known(error)), node, _known(error))
        return _Ready(node, self._title is None or is_cache_filled(self._title))

    def do(self, number: int, task: Any) -> WorkerMessage:
        """Do a task."""
        assert self._work is not None, "it has begun"
        try:
            answer = self._work(task)
        except Exception as error:
            return _Answered(number, None, _known(error))
        if self._title is not None:
            note_kernels(self._title)
            self._title = None
        return _Answered(number, answer)


def _known(error: Exception) -> TengenError:
    """Return an error of ours as it is, and in place of another one a TaskError."""
    return error if isinstance(error, TengenError) else TaskError(" ".join(f"{type(error).__name__}: {error}".split()))


# The pool

TellMessage = Callable[[WorkerMessage], None]


class WorkerStation(Protocol):
    """A worker seen from here.  Nothing is raised: whatever goes wrong is told as the loss of the worker."""

    def send(self, number: int, task: Any) -> None:
        """Have it do a task after those that it has."""

    def end(self) -> None:
        """End it, in the middle of its work if need be."""


StartWorker = Callable[[int, int, TellMessage], WorkerStation]
"""Starts a worker, here or on another machine, by its number and how many of this number were lost.

It reports what becomes of it, from any thread.
"""


@dataclass
class _Entry(Generic[Task, Answer]):
    """A task, and who waits for its answer."""

    task: Task
    future: "Future[Answer]"
    losses: int = 0

    def fail(self, error: BaseException) -> None:
        with contextlib.suppress(InvalidStateError):
            self.future.set_exception(error)


@dataclass(eq=False)
class _Worker:
    """A worker until it is lost; another one gets its number then."""

    number: int
    life: int = 0  # how many of this number were ready and are lost
    failures: int = 0  # of this number, in a row
    start_at: float = 0.0  # the time, infinite once it has been started
    station: WorkerStation | None = None
    node: str | None = None  # None until it is ready
    entries: dict[int, _Entry[Any, Any]] = field(default_factory=dict)
    since: float = math.inf  # when it began with the first of them, or to be made


@dataclass
class NodeTally:
    """What a machine has done: the workers that it has lost, its answers."""

    lost: int = 0
    answers: int = 0
    is_warm: bool = False
    """Whether it has the compiled kernels; else only one of its workers gets a task."""


class WorkerPool(Generic[Task, Answer]):
    """Hands tasks to as many workers as `room` returns, which are more when machines join.

    `note` receives a sentence when a machine joins or workers are lost, from another thread.
    """

    def __init__(self, start: StartWorker, job: WorkerJob, room: Callable[[], int], note: Log) -> None:
        self.note = note
        self.nodes: Final[dict[str, NodeTally]] = {}
        self._start_worker: Final = start
        self._job: Final = job
        self._room: Final = room
        self._workers: Final[list[_Worker]] = []
        self._waiting: Final[deque[_Entry[Task, Answer]]] = deque()
        self._noted: Final[dict[str, float]] = {}
        self._tasks = 0
        self._least_seconds: Final = 60 * least_minutes() or math.inf
        self._first_seconds = HANGING * self._least_seconds
        self._durations: Final[deque[float]] = deque(maxlen=_REMEMBERED)
        self._error: TengenError | None = None
        self._is_over = False
        self._events: Final[SimpleQueue[_Entry[Task, Answer] | tuple[_Worker, WorkerMessage] | None]] = SimpleQueue()
        self._look_again = time.monotonic()
        self._tell_again = time.monotonic() + _STATUS_INTERVAL
        self._look_for_room()
        self._start_due()
        self._thread: Final = threading.Thread(target=self._run, name="worker-pool", daemon=True)
        self._thread.start()

    @property
    def workers(self) -> int:
        """The number of workers, those included that are still being started."""
        return len(self._workers)

    def submit(self, task: Task) -> "Future[Answer]":
        """Return the future answer of a task.

        It raises what the worker has raised, TaskError for what ought not to be raised and for a task that ends its
        workers, and WorkerError if the pool has failed or is closed.
        """
        entry: _Entry[Task, Answer] = _Entry(task, Future())
        self._events.put(entry)
        if self._is_over:
            entry.fail(_ended())
        return entry.future

    def close(self) -> None:
        """End all workers; tasks that are not done get WorkerError."""
        self._events.put(None)
        self._thread.join()

    def report(self) -> list[str]:
        """Return a line for each machine: what it has done, and how many workers it has lost."""
        return [
            f"{node}: {counted(tally.answers, 'answer')}, {counted(tally.lost, 'worker')} lost"
            for node, tally in sorted(self.nodes.items())
        ]

    def _run(self) -> None:
        """Take events until the pool is closed."""
        try:
            while True:
                with contextlib.suppress(Empty):
                    event = self._events.get(timeout=_TICK)
                    if event is None:
                        return
                    self._take(event)
                self._end_hanging()
                self._look_for_room()
                self._start_due()
                self._tell_status()
                self._dispatch()
        finally:
            self._is_over = True
            self._fail(_ended())
            while not self._events.empty():
                if isinstance(event := self._events.get(), _Entry):
                    event.fail(_ended())
            for worker in self._workers:
                if worker.station is not None:
                    worker.station.end()

    def _take(self, event: _Entry[Task, Answer] | tuple[_Worker, WorkerMessage]) -> None:
        if isinstance(event, _Entry):
            if self._error is not None:
                event.fail(self._error)
            else:
                self._waiting.append(event)
            return
        worker, message = event
        match message:
            case _ if worker is not self._workers[worker.number]:
                return  # it is lost, and its tasks have been given to others
            case _Answered():
                self._answer(worker, message)
            case _Placed():
                if worker.node is None:  # else Ray has told this later than that it is ready
                    worker.since = time.monotonic()
            case _Ready(node, is_warm):
                if node not in self.nodes:
                    self.nodes[node] = NodeTally(is_warm=is_warm)
                    if node != HERE:
                        self.note(f"node {node} has joined")
                worker.node, worker.since = node, math.inf
            case Lost(reason, node, error):
                if error is not None and not isinstance(error, WorkerError | TaskError):  # it cannot be made anywhere
                    self._fail(error)
                self._lose(worker, reason, node or worker.node)

    def _tell_status(self) -> None:
        """Say now and then how many workers of a cluster are at work, on how many machines, and what they have done."""
        if time.monotonic() >= self._tell_again and any(node != HERE for node in self.nodes):
            nodes = [worker.node for worker in self._workers if worker.node is not None]
            answers = counted(sum(tally.answers for tally in self.nodes.values()), "answer")
            self.note(f"{counted(len(nodes), 'worker')} on {counted(len({*nodes}), 'node')}, {answers}")
            self._tell_again = time.monotonic() + _STATUS_INTERVAL

    # workers

    def _look_for_room(self) -> None:
        if time.monotonic() >= self._look_again:
            self._workers.extend(map(_Worker, range(len(self._workers), max(1, self._room()))))
            self._look_again = time.monotonic() + _GROWTH_INTERVAL

    def _start_due(self) -> None:
        """Start the workers whose time has come, unless the pool has failed."""
        for worker in self._workers:
            if worker.start_at <= time.monotonic():
                worker.start_at = math.inf
                if self._error is None:
                    self._start(worker)

    def _start(self, worker: _Worker) -> None:
        def tell(message: WorkerMessage) -> None:
            self._events.put((worker, message))

        try:
            worker.station = self._start_worker(worker.number, worker.life, tell)
        except OSError as error:  # too many processes, or no memory for another
            tell(Lost(f"could not be started ({error.strerror})"))

    def _patience(self, worker: _Worker) -> float:
        """Return the seconds that a worker may be at a task, or at being made."""
        if worker.node is None:
            return HANGING * self._least_seconds
        return max(self._least_seconds, HANGING * self._usual()) if self._durations else self._first_seconds

    def _end_hanging(self) -> None:
        """End workers that are far longer at a task than others were, or at becoming one."""
        for worker in self._workers:
            taken = time.monotonic() - worker.since
            if taken < self._patience(worker):
                continue
            reason = "has been starting" if worker.node is None else "has been at a task"
            usual = f" (usual: {_seconds(self._usual())})" if self._durations and worker.node is not None else ""
            if worker.node is not None and not self._durations:
                self._first_seconds *= 2
            self._lose(worker, f"{reason} for {_seconds(taken)}{usual} and is ended", worker.node)

    def _usual(self) -> float:
        return statistics.median(self._durations)

    def _lose(self, worker: _Worker, reason: str, node: str | None) -> None:
        """Give a lost worker's tasks to others, and start another one of its number, at once or later."""
        if worker.station is not None:
            worker.station.end()
        failures = 0 if self._gives_up_task(worker, reason) else worker.failures + 1
        pause = 0.0 if failures < 2 else min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (failures - 2))
        life = worker.life + (worker.node is not None)
        self._workers[worker.number] = _Worker(worker.number, life, failures, time.monotonic() + pause)
        if worker.node is not None:
            self.nodes[worker.node].lost += 1
        self._note_failure(reason, node)
        if all(each.failures >= MOST_LOSSES for each in self._workers):
            self._fail(WorkerError(f"all workers failed {MOST_LOSSES} times in a row; the last one: {reason}"))

    def _gives_up_task(self, worker: _Worker, reason: str) -> bool:
        """Put the tasks of a lost worker before all others; return whether its first one has ended too many workers."""
        entries = list(worker.entries.values())
        is_to_blame = False
        if entries and not self._job.alike:
            entries[0].losses += 1
            is_to_blame = entries[0].losses >= MOST_LOSSES
        if is_to_blame:
            text = f"{counted(MOST_LOSSES, 'worker')} ended while doing it; the last: {reason}"
            entries.pop(0).fail(TaskError(text))
        self._waiting.extendleft(reversed(entries))
        return is_to_blame

    def _note_failure(self, reason: str, node: str | None) -> None:
        worker = "a worker" if node in (None, HERE) else f"a worker on {node}"
        now, text = time.monotonic(), f"{worker} {reason}; its tasks go to others, and another one replaces it"
        if now >= self._noted.get(text, 0.0):
            self._noted[text] = now + _NOTE_INTERVAL
            self.note(text)

    # tasks

    def _dispatch(self) -> None:
        """Send tasks to workers that have room."""
        while self._waiting and (worker := self._next_worker()) is not None:
            entry, future = self._waiting[0], self._waiting.popleft().future
            if future.done() or not (future.running() or future.set_running_or_notify_cancel()):
                continue
            self._tasks += 1
            if not worker.entries:
                worker.since = time.monotonic()
            worker.entries[self._tasks] = entry
            assert worker.station is not None, "it is ready"
            worker.station.send(self._tasks, entry.task)

    def _next_worker(self) -> _Worker | None:
        """Return a worker that has room for a task, one with as few as any; None if there is none."""
        busy = {worker.node for worker in self._workers if worker.entries}
        ready = [
            worker
            for worker in self._workers
            if worker.node is not None
            and len(worker.entries) < self._job.ahead
            and (self.nodes[worker.node].is_warm or worker.node not in busy)
        ]
        return min(ready, key=lambda worker: len(worker.entries), default=None)

    def _answer(self, worker: _Worker, message: _Answered) -> None:
        entry = worker.entries.pop(message.task)
        worker.failures = 0
        now = time.monotonic()
        self._durations.append(now - worker.since)
        worker.since = now if worker.entries else math.inf
        assert worker.node is not None, "it is ready"
        tally = self.nodes[worker.node]
        tally.answers += 1
        tally.is_warm = True
        if message.error is not None:
            entry.fail(message.error)
        else:
            with contextlib.suppress(InvalidStateError):  # it is not wanted any more
                entry.future.set_result(message.answer)

    def _fail(self, error: TengenError) -> None:
        """Fail all tasks, and those to come."""
        self._error = self._error or error
        for entry in [*self._waiting, *(entry for worker in self._workers for entry in worker.entries.values())]:
            entry.fail(self._error)
        self._waiting.clear()


def least_minutes() -> float:
    """Return the minutes that any task may take, by the environment; raises ConfigError."""
    text = os.environ.get("TENGEN_WORKER_MINUTES", "")
    try:
        minutes = float(text or _LEAST_MINUTES)
        if 0.0 <= minutes < float("inf"):
            return minutes
    except ValueError:
        pass
    raise ConfigError(f"TENGEN_WORKER_MINUTES {shown(text)}", expected="minutes, or 0 for as long as it takes")


def _seconds(seconds: float) -> str:
    return f"{seconds:.{int(seconds < 10)}f} s"


def _ended() -> WorkerError:
    return WorkerError("the workers have been ended")


# Processes of this machine


class ProcessStation:
    """A process of this machine, at the other end of a pipe; it is started as `StartWorker` does."""

    def __init__(self, job: WorkerJob, number: int, life: int, tell: TellMessage) -> None:
        make, kernels = job.makers[number % len(job.makers)], job.title if job.calls_kernels else None
        self._worker: Final = start_worker(_serve, make, WorkerPlace(number, life), kernels)
        tell(PLACED)
        self._listener: Final = threading.Thread(target=self._listen, args=(tell,), name="worker", daemon=True)
        self._listener.start()

    def _listen(self, tell: TellMessage) -> None:
        """Pass on what the worker reports, to its end."""
        reason = "ended unexpectedly"
        try:
            while True:
                tell(self._worker.pipe.recv())
        except (EOFError, OSError):
            self._worker.process.join(END_SECONDS)
        except Exception as error:  # an answer that cannot be unpickled
            reason = str(_known(error))
        code = self._worker.process.exitcode
        tell(Lost(f"{reason} (signal {-code})" if code is not None and code < 0 else reason))

    def send(self, number: int, task: Any) -> None:
        """Have it do a task after those that it has."""
        with contextlib.suppress(OSError):  # the listener reports that it has ended
            self._worker.pipe.send((number, task))

    def end(self) -> None:
        """End it, in the middle of its work if need be."""
        self._worker.process.kill()
        self._listener.join(END_SECONDS)
        end_worker(self._worker)


def _serve(make: WorkerMaker, place: WorkerPlace, kernels: str | None, pipe: Connection) -> None:
    """Do tasks until the pipe is closed: the body of a process."""
    runner = TaskRunner(kernels)
    with contextlib.suppress(EOFError, OSError):
        pipe.send(runner.begin(partial(make, place), HERE))
        while True:
            pipe.send(runner.do(*pipe.recv()))
