"""Searchers in other processes: on this machine, or on a Ray cluster.

Each worker has a network of its own and searches one group at a time, while a thread of this process waits for its
answer.  The next group, of any game, goes to a worker that is idle.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final

from gtp_engine.config import Config
from gtp_engine.errors import TengenError, WorkerError, problem
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.machine import available_cores
from gtp_engine.nn import load_evaluator
from gtp_engine.nn.named_networks import model_path
from gtp_engine.nn.network_files import find_networks
from gtp_engine.nn.plug_ins import ROLLOUT_WEIGHTS
from gtp_engine.review.game_analysis import GROUP, GroupSearch, PositionGroup, seeded
from gtp_engine.review.game_review import Finding
from gtp_engine.worker_process import Connection, connected, end_workers, start_worker

EvaluatorMaker = Callable[[], Evaluator]
"""Returns a worker's evaluator; can be pickled."""

GroupAnswer = list[Finding] | str
"""What was found, or the text of an error."""

THREADS: Final = 2
"""Cores of each worker, unless the number of workers or that of the network's threads is given."""


class LocalNetwork:
    """Loads the network of a configuration, on `threads` cores."""

    def __init__(self, config: Config, *, threads: int) -> None:
        self._config: Final = replace(config.network, network_threads=config.network.network_threads or threads)

    def __call__(self) -> Evaluator:
        """Return the evaluator; raises ModelError."""
        return load_evaluator(self._config, log=lambda text: None)


class SentNetwork:
    """Carries the network's files to a machine that lacks them, and loads them there, on THREADS cores.

    They exist on that machine as long as this object.
    """

    def __init__(self, config: Config) -> None:
        path = model_path(config.network.model)
        self._config: Final = config
        self._name: Final = "" if path.is_dir() else path.name
        files = {file for network in find_networks(path).values() for file in network.paths.values()}
        if (path / ROLLOUT_WEIGHTS).exists():
            files.add(path / ROLLOUT_WEIGHTS)
        self._files: Final = {file.name: file.read_bytes() for file in files}
        self._folder: TemporaryDirectory[str] | None = None

    def __call__(self) -> Evaluator:
        """Return the evaluator; raises ModelError."""
        self._folder = TemporaryDirectory(prefix="tengen-")
        folder = Path(self._folder.name)
        for name, data in self._files.items():
            (folder / name).write_bytes(data)
        config = self._config.with_values({"network.model": str(folder / self._name)})
        return LocalNetwork(config, threads=THREADS)()


class ReviewWorker:
    """Searches groups of up to `size` positions, with a network that is loaded for the first one."""

    def __init__(self, make: EvaluatorMaker, config: Config, size: int) -> None:
        self._make: Final = make
        self._config: Final = config
        self._size: Final = size
        self._search: GroupSearch | None = None

    def search(self, group: PositionGroup) -> GroupAnswer:
        """Return what was found in a group, or the text of an error."""
        try:
            if self._search is None:
                self._search = GroupSearch(self._config, self._make(), self._size)
            positions = tuple(replace(each, game=each.game.copy()) for each in group.positions)  # Ray's are read-only
            return self._search.search_one(group._replace(positions=positions))
        except TengenError as error:
            return str(error)


class WorkerPool:
    """A searcher that distributes groups to workers; each function in `ask` has one worker search a group."""

    def __init__(self, ask: Sequence[Callable[[PositionGroup], GroupAnswer]]) -> None:
        self.workers: Final = len(ask)
        self._idle: Final[SimpleQueue[Callable[[PositionGroup], GroupAnswer]]] = SimpleQueue()
        self._threads: Final = ThreadPoolExecutor(len(ask))
        for each in ask:
            self._idle.put(each)

    def search(self, groups: Iterable[PositionGroup]) -> Iterator[list[Finding]]:
        """Have all groups searched at once; see `GroupSearcher`.  Raises WorkerError if a worker fails."""
        answers = [self._threads.submit(self._search_one, group) for group in groups]
        try:
            for answer in answers:
                yield answer.result()
        finally:
            for answer in answers:
                answer.cancel()

    def close(self) -> None:
        """Drop the groups that are still waiting; to be called after the workers have ended."""
        self._threads.shutdown(cancel_futures=True)

    def _search_one(self, group: PositionGroup) -> list[Finding]:
        ask = self._idle.get()
        try:
            found = ask(group)
        finally:
            self._idle.put(ask)
        if isinstance(found, str):
            raise WorkerError(found)
        return found


@contextmanager
def open_pool(
    config: Config, *, games: int, workers: int | None, address: str | None = None
) -> Iterator[WorkerPool | None]:
    """Yield a pool for this many games, with the network of `config`; None if this process should search by itself.

    `workers` None means as many as there are cores and games for.  With the `address` of a Ray cluster the workers run
    there.  Raises ModelError and WorkerError.
    """
    cores, config = available_cores(), seeded(config)
    if address is not None:
        with pool_of_cluster(SentNetwork(config), config, GROUP, workers=workers, address=address) as pool:
            yield pool
        return
    count = workers or max(1, min(games, cores // THREADS))
    if count == 1:
        yield None
        return
    local = LocalNetwork(config, threads=max(1, cores // count))
    with pool_of_processes(local, config, GROUP, workers=count) as pool:
        yield pool


@contextmanager
def pool_of_processes(make: EvaluatorMaker, config: Config, size: int, *, workers: int) -> Iterator[WorkerPool]:
    """Yield a pool of processes on this machine; they end with the context, in the middle of a search if need be."""
    started = [start_worker(_work, make, config, size, duplex=True) for _ in range(workers)]
    pool = WorkerPool([_ProcessCall(worker.pipe) for worker in started])
    try:
        yield pool
    finally:
        end_workers(started)
        pool.close()


@contextmanager
def pool_of_cluster(
    make: EvaluatorMaker, config: Config, size: int, *, workers: int | None, address: str
) -> Iterator[WorkerPool]:
    """Yield a pool of actors on the Ray cluster at `address`, each with its threads' cores; they end with the context.

    `workers` None means as many as the cluster has cores for.  Raises WorkerError where Ray is missing or cannot be
    reached.
    """
    threads = config.network.network_threads or THREADS
    with connected(address) as ray:
        count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
        actor, sent = ray.remote(num_cpus=threads)(ReviewWorker), ray.put(make)
        actors = [actor.remote(sent, config, size) for _ in range(count)]

        def call_of(actor: object) -> Callable[[PositionGroup], GroupAnswer]:
            def ask(group: PositionGroup) -> GroupAnswer:
                try:
                    found: GroupAnswer = ray.get(actor.search.remote(group))  # type: ignore[attr-defined]
                except ray.exceptions.RayError as error:
                    return f"a worker of the cluster failed: {str(error).strip().splitlines()[-1]}"
                return found

            return ask

        pool = WorkerPool([call_of(each) for each in actors])
        try:
            yield pool
        finally:
            for each in actors:
                ray.kill(each)
            pool.close()


class _ProcessCall:
    """Has the process at the other end of a pipe search a group."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe: Final = pipe

    def __call__(self, group: PositionGroup) -> GroupAnswer:
        try:
            self._pipe.send(group)
            found: GroupAnswer = self._pipe.recv()
        except (EOFError, OSError):
            return problem("a worker ended unexpectedly", advice="try fewer workers")
        return found


def _work(make: EvaluatorMaker, config: Config, size: int, pipe: Connection) -> None:
    """GroupAnswer groups until the pipe is closed: the body of a process."""
    worker = ReviewWorker(make, config, size)
    while True:
        try:
            group = pipe.recv()
        except EOFError:
            return
        pipe.send(worker.search(group))
