"""Generating data: a growing folder of shards is filled with labelled samples.

    generate           a whole run: teacher, workers, folder, progress
    DataFolder         splits samples by game, drops duplicates, shuffles and writes them, until there are enough
    BlockWorkerMaker   a worker, which plays and labels games of its own with its `Teacher`, perhaps another player
    pooled_blocks      the blocks of workers side by side: processes of this machine, or actors on a Ray cluster

    <folder>/train/<W>x<H>-<seed>-<number>.npz      layout: `shards`
    <folder>/held-out/…

Nothing is ever overwritten, but only one run at a time may write into a folder.  A later run can continue it: the used
seeds and the inputs are read from its shards.

A block is what a worker returns for a task (`base.workers`), and tasks are all alike.  A block is counted once: when
its worker is lost before it has arrived, its games are, too.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import WorkerError
from gtp_engine.base.files import sha256_of
from gtp_engine.base.machine import available_cores
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.steps import never
from gtp_engine.base.streams import Log
from gtp_engine.base.workers import open_workers
from gtp_engine.base.workers.worker_pool import FIRST_PLACE, WorkerJob, WorkerPlace, WorkerPool, ignore_note
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.nn.metadata import NetworkInfo, read_metadata
from gtp_engine.nn.named_networks import model_path
from gtp_engine.nn.network_evaluator import uncached_evaluator
from gtp_engine.nn.onnx_model import OnnxModel, runtimes_here
from gtp_engine.training.core.game_data import is_held_out
from gtp_engine.training.core.learning import check_torch
from gtp_engine.training.distillation.distillation_settings import MOST_WORKERS, GenerateSettings
from gtp_engine.training.distillation.evaluation_server import EvaluationServer, remote_evaluator
from gtp_engine.training.distillation.labelled_games import (
    MOST_LIVES,
    LabelledBlock,
    blocks_of_records,
    parse_sizes,
    play_blocks,
)
from gtp_engine.training.distillation.shards import (
    HELD_OUT,
    TRAIN,
    BoardSides,
    Samples,
    ShardMeta,
    ShardWriter,
    read_shard,
    shard_paths,
    unused_seed,
)
from gtp_engine.training.selfplay.plans import Planner, plan_with_advantages, varied_plan
from gtp_engine.training.selfplay.policy_games import SEARCH_BATCH, network_moves, search_moves

TeacherMaker = Callable[[], Evaluator]
"""Returns a worker's teacher; can be pickled."""

_KEY_BYTES: Final = 8
_RECENT_KEYS: Final = 1 << 17
"""Keys collected in a set before they are sorted into the array, so that sorting takes little of the time."""

CHECK_INTERVAL: Final = 1.0
"""Seconds of waiting for a block between two checks for an interruption."""
_BLOCKS_AHEAD: Final = 2
"""Blocks requested from each worker in advance, so that it does not wait while one is transferred."""


class SeenKeys:
    """The keys of all samples so far: eight bytes each, the latest ones more."""

    def __init__(self) -> None:
        self._sorted = np.zeros(0, dtype=np.uint64)
        self._recent: set[int] = set()

    def add(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add keys; return for each of them whether it was new."""
        known = np.searchsorted(self._sorted, keys, side="right") > np.searchsorted(self._sorted, keys)
        for i, key in enumerate(keys.tolist()):
            known[i] |= key in self._recent
            self._recent.add(key)
        if len(self._recent) >= _RECENT_KEYS:
            recent = np.fromiter(self._recent, dtype=np.uint64, count=len(self._recent))
            self._sorted = np.union1d(self._sorted, recent)
            self._recent = set()
        return ~known


def input_keys(samples: Samples) -> NDArray[np.uint64]:
    """Return a key of the network's inputs for each sample: board, last moves, rules and komi."""
    digests = [
        blake2b(planes.tobytes() + values.tobytes(), digest_size=_KEY_BYTES).digest()
        for planes, values in zip(samples.planes, samples.globals, strict=True)
    ]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


class DataFolder:
    """A folder that is filled with samples, as `settings` say, and what a run has done for it.

    `seed` is the first unused one from that of the settings on.  `kept` counts the positions of each board, those found
    at the beginning included, `labelled` the samples of this run, and `duplicates` those of them that were left out.
    Raises ShardError for shards that cannot be read or written.
    """

    def __init__(self, folder: Path, teacher: NetworkInfo, settings: GenerateSettings) -> None:
        self.kept: Final[Counter[BoardSides]] = Counter()
        self.labelled: Final[Counter[BoardSides]] = Counter()
        self.duplicates = 0
        self._settings: Final = settings
        self._worker_seconds: Final[defaultdict[BoardSides, float]] = defaultdict(float)
        self._began: float | None = None
        self._seen: Final = SeenKeys()
        self.seed: Final = unused_seed(folder, settings.seed)
        self._writer: Final = ShardWriter(
            folder,
            np.random.default_rng(self.seed),
            lambda board: ShardMeta(*board, teacher.name, teacher.source_sha256, teacher.license, self.seed),
            compressed=settings.compressed,
        )
        for path in [*shard_paths(folder / TRAIN), *shard_paths(folder / HELD_OUT)]:
            samples, meta = read_shard(path)
            self._seen.add(input_keys(samples))
            self.kept[meta.width, meta.height] += samples.count

    @property
    def new(self) -> int:
        """The number of samples of this run that were kept."""
        return self.labelled.total() - self.duplicates

    @property
    def seconds(self) -> float:
        """Seconds since the first block: what comes before it, mostly compiling, does not count for the speed."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    @property
    def speed(self) -> str:
        """How many positions were new in a second, for people."""
        return f"{self.new / self.seconds if self.seconds else 0.0:.0f}/s"

    def fill(
        self,
        blocks: Iterable[LabelledBlock | None],
        progress: Callable[[int, str], None] = lambda *_: None,
        is_stopped: Callable[[], bool] = never,
    ) -> str:
        """Take blocks until they end, the goals of the settings are reached, or `is_stopped`; return `_table`.

        None in place of a block means that there is none yet.  `progress` receives the number of positions in the
        folder, and a line about it.  The samples taken so far are always written, also after an error.
        """
        most, minutes = self._settings.positions or math.inf, self._settings.minutes or math.inf
        stopped = False
        try:
            for block in chain([None], blocks):  # there may be enough before the first one
                if block is not None:
                    self._began = self._began or time.monotonic()
                    self.add(block)
                    progress(self.kept.total(), f"{self.kept.total():,} positions, {self.speed}")
                if self.kept.total() >= most or self.seconds >= 60 * minutes:
                    break
                stopped = is_stopped()
                if stopped:
                    break
        finally:
            self._writer.close()
        return self._table() + (", stopped" if stopped else "")

    def add(self, block: LabelledBlock) -> None:
        """Add the samples of a block, and write shards when there are enough."""
        samples = block.samples.take(self._seen.add(input_keys(block.samples)))
        self.labelled[block.board] += block.samples.count
        self.duplicates += block.samples.count - samples.count
        self.kept[block.board] += samples.count
        self._worker_seconds[block.board] += block.seconds
        held_out = is_held_out(samples.game, self._settings.held_out)
        for split, chosen in ((TRAIN, samples.take(~held_out)), (HELD_OUT, samples.take(held_out))):
            if chosen.count:
                self._writer.add(split, block.board, chosen)

    def _table(self) -> str:
        """Return what the run has done as lines of text: a line for each board, speed, duplicates.

        The speeds of the boards are those of one worker at work, duplicates included.
        """
        total = max(self.labelled.total(), 1)
        lines = [f"{'board':<8}{'labelled':>12}{'share':>8}{'a worker, /s':>14}{'in the folder':>16}"]
        for board in sorted(self.kept, key=lambda board: board[0] * board[1]):
            count, seconds = self.labelled[board], self._worker_seconds[board]
            speed = f"{count / seconds:.0f}" if seconds else "–"
            name = f"{board[0]}x{board[1]}"
            lines.append(f"{name:<8}{count:>12,}{count / total:>8.1%}{speed:>14}{self.kept[board]:>16,}")
        done = f"{self.new:,} new positions in {self.seconds:.0f} s ({self.speed})"
        return "\n".join([*lines, f"{done}, {self.duplicates:,} duplicates left out"])


# Workers


@dataclass(frozen=True)
class Teacher:
    """A network file, run by ONNX Runtime or, by the settings, by torch; called, it returns the evaluator.

    It is pickled for workers.  `looks` is as in `uncached_evaluator`.
    """

    path: Path
    settings: GenerateSettings
    looks: int = 1

    def __call__(self) -> Evaluator:
        """Return an evaluator of this network, for one thread; raises ModelError or ConfigError."""
        settings = self.settings
        if settings.torch:
            from gtp_engine.training.distillation.module_files import TorchModel

            return uncached_evaluator(TorchModel(self.path, settings), looks=self.looks)
        runtime, *_ = runtimes_here(settings.provider, settings.precision, [read_metadata(self.path).precision])
        model = OnnxModel(self.path, runtime, threads=settings.threads, batch=settings.batch)
        return uncached_evaluator(model, looks=self.looks)

    def info(self) -> NetworkInfo:
        """Return the metadata of the file; the hash is that of the file it was converted from, if that is recorded."""
        if self.settings.torch:
            from gtp_engine.training.distillation.module_files import info_of_file, module_of_file

            return info_of_file(self.path, module_of_file(self.path))
        info = read_metadata(self.path)
        return replace(info, source_sha256=info.source_sha256 or sha256_of(self.path))


@dataclass(frozen=True)
class BlockWorkerMaker:
    """Makes a worker that returns one block after the other; all its tasks are None.

    Its teacher labels the games, and its player, if there is one, plays some of them: by its policy or, with more than
    one of the settings' visits, by a search.
    """

    settings: GenerateSettings
    teacher: TeacherMaker
    player: TeacherMaker | None = None
    planner: Planner = field(default=varied_plan, kw_only=True)

    def __call__(self, place: WorkerPlace) -> Callable[[None], LabelledBlock]:
        """Return the worker.  One that replaces another begins other games, since those under way are lost."""
        if place.number >= MOST_WORKERS or place.life >= MOST_LIVES:
            limits = f"at most {MOST_WORKERS:,} workers, each replaced {MOST_LIVES - 1} times"
            raise WorkerError(f"worker {place.number + 1:,}, the {place.life + 1}th of it", expected=limits)
        blocks = self.blocks(place)
        return lambda _: next(blocks)

    def blocks(self, place: WorkerPlace = FIRST_PLACE) -> Iterator[LabelledBlock]:
        """Return the blocks of the worker, in this process."""
        settings, teacher, moves = self.settings, _at(self.teacher, place)(), None
        if self.player is not None:
            player, visits = _at(self.player, place)(), settings.visits
            moves = network_moves(player) if visits == 1 else search_moves(player, visits, seed=settings.seed)
        return play_blocks(teacher, settings, place.number, moves, planner=self.planner, life=place.life)


def _at(maker: TeacherMaker, place: WorkerPlace) -> TeacherMaker:
    """Return what makes the evaluator at a place, where its file may have another path."""
    return replace(maker, path=place.path(maker.path)) if isinstance(maker, Teacher) else maker


@contextmanager
def pooled_blocks(
    makers: Sequence[BlockWorkerMaker],
    workers: int | None,
    address: str | None = None,
    note: Log = ignore_note,
    *,
    files: Sequence[Path] = (),
    threads: int = 1,
) -> Iterator[Iterator[LabelledBlock | None]]:
    """Yield the blocks of a pool's workers as they arrive, and None from time to time.

    For the parameters see `open_workers` and `WorkerJob`.  The iterator raises what a worker has raised.
    """
    job = WorkerJob("generate", makers, files, threads, ahead=_BLOCKS_AHEAD, alike=True)
    with open_workers(job, workers, address, note=note) as pool:
        yield _from_pool(pool)


def _from_pool(pool: WorkerPool[None, LabelledBlock]) -> Iterator[LabelledBlock | None]:
    """Yield blocks as they come, and None after an interval without any."""
    done: SimpleQueue[Future[LabelledBlock]] = SimpleQueue()
    asked = 0
    while True:
        while asked < _BLOCKS_AHEAD * pool.workers:  # of which there may be more
            pool.submit(None).add_done_callback(done.put)
            asked += 1
        try:
            block = done.get(timeout=CHECK_INTERVAL)
        except Empty:
            yield None
            continue
        asked -= 1
        yield block.result()


# The run


def generate(
    net: Path,
    folder: Path,
    settings: GenerateSettings,
    bar: ProgressBar,
    is_stopped: Callable[[], bool] = never,
    *,
    records: Path | None = None,
) -> str:
    """Fill `folder` with positions of games of the network file `net`, or of the SGF files in the folder `records`.

    Returns a table of what was done.  Raises TengenError for files and settings that cannot be used, and for workers
    that fail.
    """
    if settings.torch:
        check_torch()
    processes = 1 if records is not None or _is_served(settings) else settings.workers or 1
    cores = 1 if settings.ray else available_cores() // processes
    settings = replace(settings, threads=settings.threads or max(1, cores))
    teacher = Teacher(net, settings, settings.looks)
    info = teacher.info()
    data = DataFolder(folder, info, settings)
    games = replace(settings, seed=data.seed)
    with _blocks(teacher, info, games, records, bar.log) as blocks:
        return data.fill(blocks, bar.update, is_stopped)


def _is_served(settings: GenerateSettings) -> bool:
    """Return whether this process runs the networks for its workers: a GPU is for one process."""
    return settings.torch and settings.ray is None and (settings.workers or 1) > 1


@contextmanager
def _blocks(
    teacher: Teacher, info: NetworkInfo, settings: GenerateSettings, records: Path | None, log: Log
) -> Iterator[Iterator[LabelledBlock | None]]:
    """Yield the blocks of the records, of this process, of processes on this machine, or of a Ray cluster."""
    if records is not None:
        yield blocks_of_records(teacher(), records, batch=settings.batch, log=log)
        return
    area = max(width * height for width, height in parse_sizes(settings.sizes))
    networks = [teacher]
    if settings.player is not None:
        networks.append(Teacher(model_path(settings.player), settings))
    planner = plan_with_advantages if info.advantages else varied_plan
    maker = partial(BlockWorkerMaker, settings, planner=planner)
    makers, server = [maker(*networks)], None
    if settings.ray is None and (settings.workers or 1) == 1:
        yield makers[0].blocks()
        return
    if _is_served(settings):
        from gtp_engine.training.distillation.module_files import TorchModel

        server = EvaluationServer([TorchModel(each.path, settings) for each in networks])
        makers, rows = [], max(settings.batch, SEARCH_BATCH)
        for _ in range(settings.workers or 1):
            ports = [server.port(number, rows=rows, area=area) for number in range(len(networks))]
            first, *rest = (partial(remote_evaluator, port) for port in ports)
            makers.append(maker(partial(first, looks=settings.looks), *rest))
    files = [each.path for each in networks]
    pool = pooled_blocks(makers, settings.workers, settings.ray, log, files=files, threads=settings.threads)
    with server or nullcontext(), pool as blocks:
        yield blocks
