"""Filling a folder with labelled samples until there are enough, time is up, or somebody presses Ctrl-C."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gtp_engine.training.core.stopping import never
from gtp_engine.training.distillation.data_folder import DataFolder
from gtp_engine.training.distillation.game_variety import Board
from gtp_engine.training.distillation.labelled_games import Block


@dataclass(frozen=True)
class Goal:
    """When to stop: at so many positions in the folder, or after so many seconds; None: never."""

    positions: int | None = None
    seconds: float | None = None


@dataclass
class Tally:
    """What a run has done so far."""

    began: float | None = None
    """Time of the first block: what comes before, compiling above all, says nothing about the speed."""
    labelled: Counter[Board] = field(default_factory=Counter)
    """Samples on each board, duplicates included."""
    worker_seconds: defaultdict[Board, float] = field(default_factory=lambda: defaultdict(float))
    """How long they took, all workers together."""
    kept: int = 0
    """Samples that were new."""
    stopped: bool = False
    """Somebody asked for the end."""

    @property
    def seconds(self) -> float:
        """Seconds since the first block."""
        return 0.0 if self.began is None else time.monotonic() - self.began

    @property
    def rate(self) -> float:
        """New positions in a second."""
        return self.kept / self.seconds if self.seconds else 0.0


Progress = Callable[[DataFolder, Tally], None]
"""Called after each block."""


def fill(
    folder: DataFolder,
    blocks: Iterable[Block | None],
    goal: Goal,
    *,
    progress: Progress | None = None,
    is_stopped: Callable[[], bool] = never,
) -> Tally:
    """Put blocks into the folder until the goal is reached, they end or `is_stopped` says so; return what was done.

    None in place of a block says that there is none yet.  Whatever ends it, the samples taken so far are written.
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


def _take(folder: DataFolder, block: Block, tally: Tally) -> None:
    if tally.began is None:
        tally.began = time.monotonic()
    tally.labelled[block.board] += block.samples.count
    tally.worker_seconds[block.board] += block.seconds
    tally.kept += folder.add(block)


def _is_reached(goal: Goal, folder: DataFolder, tally: Tally) -> bool:
    enough = goal.positions is not None and folder.positions >= goal.positions
    return enough or (goal.seconds is not None and tally.seconds >= goal.seconds)
