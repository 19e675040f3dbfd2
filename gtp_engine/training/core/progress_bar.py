"""A run on the terminal, on stderr: a bar, and lines of text above it."""

from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_QUIET_SECONDS: Final = 60.0
"""Where stderr is no terminal, a line about progress appears this often at most."""


class RunBar:
    """Shows how far a run is; a context manager."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=1.0)
        self._told = -_QUIET_SECONDS

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, fraction: float, text: str, seconds: float) -> None:
        """Show which part is done, and what is to be said about it; `seconds` is how long the run has taken."""
        self._bar.update(self._task, completed=fraction, description=text)
        if self._bar.disable and seconds - self._told >= _QUIET_SECONDS:
            self._told = seconds
            self.say(f"{fraction:6.1%}  {text}")
