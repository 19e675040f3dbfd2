"""A training loop with everything that reports about it: the log, the bar on the terminal, the curves."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from gtp_engine.errors import ConfigError
from gtp_engine.progress import ProgressBar
from gtp_engine.training.core.curves import FILE_NAME as CURVES
from gtp_engine.training.core.curves import Log, Panel, figure_panels, write_panels
from gtp_engine.training.core.loop import TrainingLoop
from gtp_engine.training.core.observers import Progress, Validation, format_figures
from gtp_engine.training.core.run_log import FILE_NAME as LOG
from gtp_engine.training.core.run_log import RunLog, read_log

_SHOWN_FIGURES: Final = 4
"""Figures beside the bar, the first ones."""


def run_and_report(
    loop: TrainingLoop[Any, Any],
    bar: ProgressBar,
    is_stopped: Callable[[], bool],
    *,
    panels: Callable[[Log], list[Panel]] = figure_panels,
    tensorboard: bool = False,
) -> bool:
    """Run a training loop, see `TrainingLoop.run`; `panels` returns the curves of its log."""
    with RunLog(loop.folder, after=loop.steps, tensorboard=tensorboard) as log:
        return loop.run((log, _BarObserver(bar), _CurvesObserver(loop.folder, panels, bar.log)), is_stopped)


class _BarObserver:
    """Shows progress on the bar, and prints a line for each validation set."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar

    def stepped(self, progress: Progress) -> None:
        figures = format_figures(dict(list(progress.figures.items())[:_SHOWN_FIGURES]))
        text = f"{progress.samples:,} samples, {progress.samples_per_second:.0f}/s, {figures}"
        self._bar.update(progress.fraction, f"{text}, rate {progress.learning_rate:.2g}")

    def validated(self, progress: Progress, validation: Validation) -> None:
        for name, figures in validation.items():
            self._bar.log(f"validation ({name}) after {progress.samples:,} samples: {format_figures(figures)}")


class Curves:
    """The picture in the file `path`, redrawn while a run goes on; `warn` receives once why there is none."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._warn = warn
        self._can_draw = True

    def draw(self, panels: Sequence[Panel]) -> None:
        """Write the picture, if that is possible."""
        if not self._can_draw:
            return
        try:
            write_panels(self._path, panels)
        except ConfigError as error:  # a run is worth more than its picture, which its log can still give
            self._warn(f"no curves: {error}")
            self._can_draw = False


class _CurvesObserver:
    """Draws the curves after each validation, which the log has by then."""

    def __init__(self, folder: Path, panels: Callable[[Log], list[Panel]], warn: Callable[[str], None]) -> None:
        self._log = folder / LOG
        self._panels = panels
        self._curves = Curves(folder / CURVES, warn)

    def stepped(self, progress: Progress) -> None:
        """Do nothing: curves are drawn after validations."""

    def validated(self, progress: Progress, validation: Validation) -> None:
        self._curves.draw(self._panels(read_log(self._log)))
