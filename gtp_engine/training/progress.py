"""A run on the terminal, on stderr: a bar with speed and loss, and a line for each judging."""

from types import TracebackType
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from gtp_engine.training.batches import Board
from gtp_engine.training.loop import Progress
from gtp_engine.training.metrics import Verdict

_QUIET_SECONDS: Final = 60.0
"""Where stderr is no terminal, a line about losses appears this often at most."""


class ProgressBar:
    """Shows how a run goes; a context manager."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("training", total=1.0)
        self._told = -_QUIET_SECONDS

    def __enter__(self) -> "ProgressBar":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def stepped(self, progress: Progress) -> None:
        """Show where the run is."""
        text = _format_progress(progress)
        self._bar.update(self._task, completed=progress.fraction, description=text)
        if self._bar.disable and progress.seconds - self._told >= _QUIET_SECONDS:
            self._told = progress.seconds
            self.say(f"{progress.fraction:6.1%}  {text}")

    def judged(self, progress: Progress, verdicts: dict[Board, Verdict]) -> None:
        """Print a line for each board size."""
        for (width, height), verdict in verdicts.items():
            self.say(
                f"held-out {width}x{height} after {progress.samples:,} samples: policy KL {verdict.policy_kl:.3f}, "
                f"first move {verdict.same_first_move:.1%}, win rate ±{verdict.winrate_error:.3f}, "
                f"lead ±{verdict.lead_error:.2f}, ownership ±{verdict.ownership_error:.3f}"
            )


def _format_progress(progress: Progress) -> str:
    losses = progress.losses
    return (
        f"{progress.samples:,} samples, {progress.samples_per_second:.0f}/s, loss {progress.loss:.3f} "
        f"(policy {losses['policy']:.3f}, value {losses['value']:.3f}, ownership {losses['ownership']:.3f}), "
        f"rate {progress.learning_rate:.2g}"
    )
