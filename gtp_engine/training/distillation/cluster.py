"""Workers on a Ray cluster: actors that play and label, on the machines that Ray chooses.

The network's file is sent along, beside what `worker_process` sends.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from gtp_engine.errors import TengenError, WorkerError
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.training.distillation.labelled_games import Block, SelfPlaySettings
from gtp_engine.training.distillation.teacher import Teacher
from gtp_engine.training.distillation.workers import CHECK_INTERVAL, Makers
from gtp_engine.worker_process import connected

_BLOCKS_AHEAD: Final = 2
"""Blocks requested from each actor in advance, so that it does not wait while one is transferred."""


class SentTeacher:
    """A teacher that carries its network file; where it is called, the file exists as long as this object."""

    def __init__(self, teacher: Teacher) -> None:
        self._teacher: Final = teacher
        self._data: Final = teacher.path.read_bytes()
        self._folder: TemporaryDirectory[str] | None = None

    def __call__(self) -> Evaluator:
        """Return the evaluator; raises ModelError."""
        self._folder = TemporaryDirectory(prefix="tengen-")
        path = Path(self._folder.name) / self._teacher.path.name
        path.write_bytes(self._data)
        return replace(self._teacher, path=path)()


class _Worker:
    """The actor: returns one block after the other."""

    def __init__(self, makers: Makers, settings: SelfPlaySettings, number: int) -> None:
        self._makers = makers
        self._settings = settings
        self._number = number
        self._blocks: Iterator[Block] | None = None

    def next_block(self) -> Block | str:
        """Return a block, or the text of an error."""
        try:
            if self._blocks is None:
                self._blocks = self._makers.blocks(self._settings, self._number)
            return next(self._blocks)
        except TengenError as error:
            return str(error)


@contextmanager
def blocks_of_cluster(
    makers: Makers, settings: SelfPlaySettings, workers: int, address: str, *, threads: int
) -> Iterator[Iterator[Block | None]]:
    """Yield the blocks of `workers` actors on the cluster at `address` as they arrive, and None from time to time.

    `threads` is how many cores each of them takes; Ray waits until they are free.  The actors end with the context.
    Raises WorkerError where Ray is missing, cannot be reached, or an actor fails.
    """
    with connected(address) as ray:
        make = ray.put(makers)
        actor = ray.remote(num_cpus=threads)(_Worker)
        yield _receive(ray, [actor.remote(make, settings, number) for number in range(workers)])


def _receive(ray: Any, actors: list[Any]) -> Iterator[Block | None]:
    """Yield blocks as they come, and None after an interval without any."""
    pending = {actor.next_block.remote(): actor for _ in range(_BLOCKS_AHEAD) for actor in actors}
    while True:
        done, _ = ray.wait(list(pending), num_returns=1, timeout=CHECK_INTERVAL)
        if not done:
            yield None
        for reference in done:
            actor = pending.pop(reference)
            pending[actor.next_block.remote()] = actor
            try:
                found: Block | str = ray.get(reference)
            except ray.exceptions.RayError as error:
                reason = str(error).strip().splitlines()[-1]
                raise WorkerError(f"a worker of the cluster failed: {reason}") from error
            if isinstance(found, str):
                raise WorkerError(found)
            yield found
