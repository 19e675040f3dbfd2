"""Work handed to other processes, of this machine or of a Ray cluster; whatever dies is replaced.

Modules:

    worker_pool    tasks and who does them, retries and replacement, processes of this machine; start reading here
    ray_cluster    the same on other machines: actors, and the package, files and kernels that they need

Self-play and labelling (`training.distillation`), reviews and matches hand out their work here.
"""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from gtp_engine.base.streams import Log
from gtp_engine.base.workers.worker_pool import ProcessStation, StartWorker, WorkerJob, WorkerPool, ignore_note


@contextmanager
def open_workers(
    job: WorkerJob, workers: int | None, address: str | None = None, *, note: Log = ignore_note
) -> Iterator[WorkerPool[Any, Any]]:
    """Yield a pool of `workers` processes of this machine, or of actors on the Ray cluster at `address`.

    None workers are as many as the cluster has room for.  All end with the context, in the middle of a task if need be.
    Raises WorkerError where Ray is missing or cannot be reached.
    """
    with contextlib.ExitStack() as stack:
        cluster = None
        if address is not None:
            from gtp_engine.base.workers.ray_cluster import RayHost, connected

            cluster = RayHost(stack.enter_context(connected(address)), job)

        def room() -> int:
            return workers or (1 if cluster is None else cluster.capacity())

        start: StartWorker = partial(ProcessStation, job) if cluster is None else cluster.start
        pool: WorkerPool[Any, Any] = WorkerPool(start, job, room, note)
        stack.callback(pool.close)
        yield pool
    if address is not None:
        for line in pool.report():
            pool.note(line)
