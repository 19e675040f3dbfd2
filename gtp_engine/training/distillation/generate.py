"""Filling a folder with labelled samples until there are enough, time is up, or the user presses Ctrl-C.

generate   a whole run: teacher, workers, folder, progress
fill       puts blocks of samples into a folder until the goal is reached
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from gtp_engine.machine import available_cores
from gtp_engine.progress import ProgressBar
from gtp_engine.selfplay.varied_plans import planner_for
from gtp_engine.training.core.runs import never
from gtp_engine.training.distillation.data_folder import DataFolder, FolderSettings
from gtp_engine.training.distillation.distillation_settings import GenerateSettings
from gtp_engine.training.distillation.labelled_games import (
    TEMPERATURES,
    LabelledBlock,
    SelfPlaySettings,
    blocks_of_records,
    parse_sizes,
)
from gtp_engine.training.distillation.shards import BoardSides
from gtp_engine.training.distillation.workers import (
    Makers,
    NetworkPlayer,
    OnnxTeacher,
    SentTeacher,
    Teacher,
    TeacherMaker,
    blocks_of_cluster,
    blocks_of_workers,
)


class Goal(NamedTuple):
    """When to stop: at so many positions in the folder, or after so many seconds; None: never."""

    positions: int | None = None
    seconds: float | None = None


@dataclass
class Tally:
    """What a run has done so far."""

    began: float | None = None
    """Time of the first block: what comes before it, mostly compiling, does not count for the speed."""
    labelled: Counter[BoardSides] = field(default_factory=Counter)
    """Samples on each board, duplicates included."""
    worker_seconds: defaultdict[BoardSides, float] = field(default_factory=lambda: defaultdict(float))
    """How long they took, all workers together."""
    kept: int = 0
    """Samples that were new."""
    stopped: bool = False
    """Whether the run was interrupted."""

    @property
    def seconds(self) -> float:
        """Seconds since the first block."""
        return 0.0 if self.began is None else time.monotonic() - self.began

    @property
    def rate(self) -> float:
        """New positions in a second."""
        return self.kept / self.seconds if self.seconds else 0.0


BlockTaken = Callable[[DataFolder, Tally], None]
"""Called after each block."""


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
    cores = available_cores() // (1 if records else settings.workers)
    settings = replace(settings, threads=settings.threads or max(1, cores))
    shares, teacher = parse_sizes(settings.sizes), _teacher(net, settings, looks=settings.looks)
    data = DataFolder(
        folder, teacher.info(), least_seed=settings.seed, settings=FolderSettings(held_out=settings.held_out)
    )
    goal = Goal(settings.positions, None if settings.minutes is None else 60 * settings.minutes)

    def progress(data: DataFolder, tally: Tally) -> None:
        bar.update(data.positions, f"{data.positions:,} positions, {tally.rate:.0f}/s")

    with _blocks(teacher, settings, shares, data.seed, records, bar.log) as blocks:
        tally = fill(data, blocks, goal, progress=progress, is_stopped=is_stopped)
    return format_tally(data, tally)


def fill(
    folder: DataFolder,
    blocks: Iterable[LabelledBlock | None],
    goal: Goal,
    *,
    progress: BlockTaken | None = None,
    is_stopped: Callable[[], bool] = never,
) -> Tally:
    """Put blocks into the folder until the goal is reached, they end or `is_stopped`; return what was done.

    None in place of a block means that there is none yet.  The samples taken so far are always written, also after an
    error.
    """
    tally, waiting = Tally(), iter(blocks)
    try:
        while not _is_reached(goal, folder, tally):
            tally.stopped = is_stopped()
            if tally.stopped:
                break
            try:
                block = next(waiting)
            except StopIteration:
                break
            if block is not None:
                _take(folder, block, tally)
                if progress is not None:
                    progress(folder, tally)
    finally:
        folder.close()
    return tally


def format_tally(folder: DataFolder, tally: Tally) -> str:
    """Return what a run has done as lines of text: a line for each board, speed, duplicates.

    The speeds of the boards are those of one worker at work, duplicates included.
    """
    total = max(tally.labelled.total(), 1)
    lines = [f"{'board':<8}{'labelled':>12}{'share':>8}{'a worker, /s':>14}{'in the folder':>16}"]
    for board in sorted(folder.kept, key=lambda board: board[0] * board[1]):
        count, seconds = tally.labelled[board], tally.worker_seconds[board]
        speed = f"{count / seconds:.0f}" if seconds else "–"
        name = f"{board[0]}x{board[1]}"
        lines.append(f"{name:<8}{count:>12,}{count / total:>8.1%}{speed:>14}{folder.kept[board]:>16,}")
    lines.append(
        f"{tally.kept:,} new positions in {tally.seconds:.0f} s ({tally.rate:.0f}/s), "
        f"{folder.duplicates:,} duplicates left out{', stopped' if tally.stopped else ''}"
    )
    return "\n".join(lines)


def _teacher(net: Path, settings: GenerateSettings, *, looks: int) -> Teacher:
    """Return the network file as a teacher, run by torch or by ONNX Runtime."""
    if not settings.torch:
        return OnnxTeacher(net, settings.batch, settings.threads, settings.provider, settings.precision, looks)
    from gtp_engine.training.core.learning import check_torch

    check_torch()
    from gtp_engine.training.distillation.torch_evaluator import TorchTeacher

    return TorchTeacher(net, precision=settings.precision, threads=settings.threads, looks=looks)


@contextmanager
def _blocks(
    teacher: Teacher,
    settings: GenerateSettings,
    shares: Mapping[BoardSides, float],
    seed: int,
    records: Path | None,
    log: Callable[[str], None],
) -> Iterator[Iterator[LabelledBlock | None]]:
    """Yield the blocks of the records, of a Ray cluster, or of processes on this machine."""
    if records is not None:
        yield blocks_of_records(teacher(), records, batch=settings.batch, log=log)
        return
    temperatures = TEMPERATURES._replace(rest=settings.temperature, hot_share=settings.hot_share)
    planner = planner_for(knows_advantage=teacher.info().knows_advantage)
    games = SelfPlaySettings(shares, seed, settings.batch, temperatures, planner, settings.player_share)
    player = None if settings.player is None else _teacher(Path(settings.player), settings, looks=1)
    if settings.ray is not None:
        makers = _makers(SentTeacher(teacher), None if player is None else SentTeacher(player), settings)
        with blocks_of_cluster(makers, games, settings.workers, settings.ray, threads=settings.threads) as blocks:
            yield blocks
    else:
        with blocks_of_workers(_makers(teacher, player, settings), games, settings.workers) as blocks:
            yield blocks


def _makers(teacher: TeacherMaker, player: TeacherMaker | None, settings: GenerateSettings) -> Makers:
    return Makers(teacher, None if player is None else NetworkPlayer(player, settings.visits, settings.seed))


def _take(folder: DataFolder, block: LabelledBlock, tally: Tally) -> None:
    if tally.began is None:
        tally.began = time.monotonic()
    tally.labelled[block.board] += block.samples.count
    tally.worker_seconds[block.board] += block.seconds
    tally.kept += folder.add(block)


def _is_reached(goal: Goal, folder: DataFolder, tally: Tally) -> bool:
    enough = goal.positions is not None and folder.positions >= goal.positions
    return enough or (goal.seconds is not None and tally.seconds >= goal.seconds)
