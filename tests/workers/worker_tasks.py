"""Workers for tests: what they do is told by their tasks."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gtp_engine.base.errors import ConfigError, ModelError
from gtp_engine.base.workers.worker_pool import WorkerJob, WorkerPlace


@dataclass(frozen=True)
class Doer:
    """Makes workers; a task is a word, a number of times it ends its worker first, counted in files in a folder."""

    folder: Path

    def __call__(self, place: WorkerPlace) -> Callable[[tuple[str, int]], str]:
        """Return a worker."""

        def do(task: tuple[str, int]) -> str:
            word, deaths = task
            if word == "bad":
                raise ConfigError("a bad task")
            if word == "bug":
                raise KeyError("a bug")
            done = len(list(self.folder.glob(f"{word}-*")))
            (self.folder / f"{word}-{done}-{place.number}-{place.life}").touch()
            if done < deaths:
                os.kill(os.getpid(), signal.SIGKILL)
            return f"{word} done"

        return do


def refuse(place: WorkerPlace) -> Callable[[object], object]:
    """Refuse to be any worker at all."""
    raise ModelError("no such network")


def fail_at_first(folder: Path, place: WorkerPlace) -> Callable[[int], int]:
    """Die at the first start of every worker."""
    mark = folder / f"{place.number}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return lambda number: number * number


def stop_at_first(folder: Path, turn: int, place: WorkerPlace) -> Callable[[int], int]:
    """Return a worker that squares; the first one of all stops in the middle of a task, for 0 while it is made."""
    done = 0

    def stop_in_turn() -> None:
        mark = folder / "stopped"
        if done == turn and not mark.exists():
            mark.write_text(f"{os.getpid()}")
            os.kill(os.getpid(), signal.SIGSTOP)

    def square(number: int) -> int:
        nonlocal done
        done += 1
        stop_in_turn()
        return number * number

    stop_in_turn()
    return square


def fail_always(place: WorkerPlace) -> Callable[[object], object]:
    """Die at every start."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def number_and_wait(place: WorkerPlace) -> Callable[[float], int]:
    """Return a worker that waits for a task's seconds, and returns its number."""

    def do(seconds: float) -> int:
        time.sleep(seconds)
        return place.number

    return do


def job(*makers: Callable[[WorkerPlace], Callable[..., object]], **values: object) -> WorkerJob:
    """Return a job without kernels."""
    return WorkerJob("test", makers, calls_kernels=False, **values)  # type: ignore[arg-type]
