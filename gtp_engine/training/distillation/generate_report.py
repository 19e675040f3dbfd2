"""A run that makes data, on the terminal: a bar with positions, speed and time left on stderr; a table at the end."""

from types import TracebackType
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gtp_engine.training.distillation.data_folder import DataFolder
from gtp_engine.training.distillation.generate import Goal, Tally

_LINE_INTERVAL: Final = 60.0
"""Seconds between two lines where stderr is no terminal."""


class GenerateProgress:
    """A context manager whose `show` is called after each block."""

    def __init__(self, folder: DataFolder, goal: Goal) -> None:
        self._console: Final = Console(stderr=True)
        self._bar: Final = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task: Final = self._bar.add_task("positions", total=goal.positions, completed=folder.positions)
        self._goal: Final = goal
        self._next_line = _LINE_INTERVAL

    def __enter__(self) -> "GenerateProgress":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, folder: DataFolder, tally: Tally) -> None:
        """Show where a run is."""
        self._bar.update(self._task, completed=folder.positions, description=f"{tally.rate:.0f} positions/s")
        if not self._console.is_terminal and tally.seconds >= self._next_line:
            self._next_line += _LINE_INTERVAL
            line = f"{folder.positions:,} positions, {tally.rate:.0f}/s{self._time_left(folder, tally)}"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _time_left(self, folder: DataFolder, tally: Tally) -> str:
        """Return how long it will take, as the end of a line; nothing where that is not known."""
        if self._goal.positions is None or not tally.rate:
            return ""
        return f", {(self._goal.positions - folder.positions) / tally.rate / 60:.0f} minutes left"


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
