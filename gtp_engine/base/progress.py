"""The progress of a long command on stderr: a bar on a terminal, a line now and then elsewhere, log lines above."""

import sys
import time
from typing import Final, Self

LINE_INTERVAL: Final = 10.0
"""Seconds between two lines where stderr is not a terminal; a line that would say the same is left out."""
_SPEED_PERIOD: Final = 600.0
"""Seconds over which speed is averaged to estimate the time left: the games of a match take minutes."""


class ProgressBar:
    """Shows how much of `total` is done; a context manager. Without a total the time left is not shown."""

    def __init__(self, *, total: float | None = 1.0) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        of_total = () if total is None else (TaskProgressColumn(), TimeRemainingColumn())
        self._console: Final = Console(stderr=True)
        self._bar: Final = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            *of_total,
            console=self._console,
            # rich also believes variables such as FORCE_COLOR, which are set for colors
            disable=not self._console.is_terminal or self._console.is_dumb_terminal or not sys.stderr.isatty(),
            speed_estimate_period=_SPEED_PERIOD,
        )
        self._task: Final = self._bar.add_task("", total=total)
        self._next_line = time.monotonic() + LINE_INTERVAL
        self._last_text = ""

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def log(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def update(self, done: float, text: str) -> None:
        """Show that `done` of the total is done, and `text` beside the bar; less than before restarts the bar."""
        task = self._bar.tasks[0]
        if done < task.completed:
            self._bar.reset(self._task)
        self._bar.update(self._task, completed=done, description=text)
        if self._bar.disable and text != self._last_text and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_INTERVAL
            self._last_text = text
            share = "" if task.total is None else f"{done / task.total:6.1%}  "
            left = "" if task.time_remaining is None else f", {_duration(task.time_remaining)} left"
            self.log(f"{share}{text}{left}")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
