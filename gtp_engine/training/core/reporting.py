"""What is reported about a run: its log, its curves as a picture, the bar on the terminal.

    run_and_report   a run with all of them
    RunLog           a file of JSON lines, which a resumed run continues
    write_panels     any curves, side by side
    figure_panels    the figures of a log: in training and on each validation set
    loss_panel       the losses of a log as shares of the first

The lines of a log:

{"kind": "step", "fraction": …, "steps": …, "samples": …, "seconds": …, "learning_rate": …, "gradient": …,
 "figures": {"loss": …, …}, "samples_per_second": …}
{"kind": "validation", "steps": …, "samples": …, "seconds": …, "figures": {"9x9": {"policy_kl": …, …}}}
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.files import replacing, writing
from gtp_engine.base.installation import advice_for
from gtp_engine.base.progress import ProgressBar
from gtp_engine.training.core.loop import Observer, RunProgress, TrainingRun, Validation, format_figures

LOG_FILE: Final = "log.jsonl"
CURVES_FILE: Final = "curves.png"

_OLD_NAMES: Final = {'"win rate":': '"winrate":', '"games":': '"samples":'}
"""What development versions called something in a log, and what it is called now."""

_INCHES: Final = (14 / 3, 4.0)
"""Width and height of a panel."""
_COLUMNS: Final = 3
"""Panels beside each other."""
_DOTS_PER_INCH: Final = 100
_SMOOTHED_POINTS: Final = 200
"""Points of a curve at most: neighbours beyond that are averaged."""

_LEGEND: Final = "center right"
"""Where the names of curves stand: losses end below it, accuracies above it, and looking for a free place is slow."""

_SHOWN_FIGURES: Final = 4
"""Figures beside the bar, the first ones."""

CurvePoints = Sequence[tuple[float, float]]
"""Places and values."""
Panels = Mapping[str, Mapping[str, CurvePoints]]
"""Curves by their labels, for each panel by its title."""
LogLines = Sequence[dict[str, Any]]
"""The lines of a log, as `read_log` returns them."""


class RunLog:
    """Writes JSON lines, each with its "steps"; an observer of a training loop, and a context manager.

    `after` is the step at which a run is resumed: later lines, from a run that was killed after its last checkpoint,
    are dropped.  Raises ConfigError where the log cannot be written.
    """

    def __init__(self, folder: Path, *, after: int = 0) -> None:
        self._path = folder / LOG_FILE
        with writing(self._path, ConfigError, "log"):
            folder.mkdir(parents=True, exist_ok=True)
            lines = [line for line in read_log(self._path) if line["steps"] <= after]
            with replacing(self._path) as unfinished:
                unfinished.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            self._file = self._path.open("a", encoding="utf-8")

    def write(self, line: dict[str, Any]) -> None:
        """Write a line at once."""
        with writing(self._path, ConfigError, "log"):
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()

    def __call__(self, progress: RunProgress, validation: Validation | None) -> None:
        """Write a line about steps, or about a validation."""
        if validation is None:
            self.write({"kind": "step", **progress._asdict()})
        else:
            place = {name: getattr(progress, name) for name in ("steps", "samples", "seconds")}
            self.write({"kind": "validation", **place, "figures": validation})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # of a line that could not be written, about which `write` has complained
            self._file.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log; none if there is no file, and not the last one if it is incomplete.

    Names are those of now, so that the curves of a run that has been resumed go on.
    """
    if not path.exists():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    for old, name in _OLD_NAMES.items():
        whole = whole.replace(old, name)
    return [json.loads(line) for line in whole.splitlines()]


def write_panels(path: Path, panels: Panels) -> None:
    """Write a picture of all panels; raises ConfigError if it cannot be written, or where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure  # not pyplot, which wants a screen and keeps the figure
    except ImportError as error:
        raise ConfigError("matplotlib is missing", advice=advice_for("train")) from error
    columns = max(1, min(_COLUMNS, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    figure = Figure(figsize=(columns * _INCHES[0], rows * _INCHES[1]), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for place, (title, curves) in zip(axes, panels.items(), strict=False):
        for name, curve in curves.items():
            place.plot(*zip(*curve, strict=True), marker="." if len(curve) < _SMOOTHED_POINTS / 4 else "", label=name)
        place.set_title(title)
        place.set_xlabel("samples, thousands")
        place.grid(alpha=0.3)
        if curves:
            place.legend(loc=_LEGEND)
    for place in axes[len(panels) :]:
        place.set_axis_off()
    with writing(path, ConfigError, "picture"):
        figure.savefig(path, dpi=_DOTS_PER_INCH)


def smoothed(curve: CurvePoints) -> CurvePoints:
    """Return a curve of not too many points: neighbours beyond that are averaged at the last one's place."""
    together = -(-len(curve) // _SMOOTHED_POINTS) or 1
    groups = [curve[i : i + together] for i in range(0, len(curve), together)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def figure_panels(log: LogLines, *, titles: Mapping[str, str] | None = None) -> Panels:
    """Return a panel for each figure of a log, over the thousands of samples.

    `titles` selects figures, in its order, and names their panels.
    """
    curves: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for line in log:
        sets = {"training": line["figures"]} if line["kind"] == "step" else line["figures"]
        for label, figures in sets.items():
            for name, value in figures.items():
                curves.setdefault(name, {}).setdefault(label, []).append((line["samples"] / 1e3, value))
    titles = {name: name for name in curves} if titles is None else titles
    return {
        title: {label: smoothed(each) for label, each in curves.get(name, {}).items()} for name, title in titles.items()
    }


def loss_panel(log: LogLines) -> Panels:
    """Return the figures of a log's steps as shares of the first, over the thousands of samples."""
    lines = [line for line in log if line["kind"] == "step"]
    curves: dict[str, CurvePoints] = {}
    for name in lines[0]["figures"] if lines else ():
        curve = smoothed([(line["samples"] / 1e3, line["figures"][name]) for line in lines])
        first = curve[0][1] or 1.0
        curves[name] = [(place, value / first) for place, value in curve]
    return {"training losses as shares of the first": curves}


def run_and_report(
    run: TrainingRun,
    bar: ProgressBar,
    is_stopped: Callable[[], bool],
    *,
    panels: Callable[[LogLines], Panels] = figure_panels,
) -> bool:
    """Do the steps of a run, see `TrainingRun.run`; `panels` returns the curves of its log."""
    with RunLog(run.folder, after=run.steps) as log:
        return run.run((log, _on_bar(bar, run.unit), _drawing(run.folder, panels, bar.log)), is_stopped)


def _on_bar(bar: ProgressBar, unit: str) -> Observer:
    """Return what shows progress on the bar, and prints a line for each validation set."""

    def show(progress: RunProgress, validation: Validation | None) -> None:
        if validation is None:
            figures = format_figures(dict(list(progress.figures.items())[:_SHOWN_FIGURES]))
            text = f"{progress.samples:,} {unit}, {progress.samples_per_second:.0f}/s, {figures}"
            bar.update(progress.fraction, f"{text}, rate {progress.learning_rate:.2g}")
        for name, found in (validation or {}).items():
            bar.log(f"validation ({name}) after {progress.samples:,} {unit}: {format_figures(found)}")

    return show


def _drawing(folder: Path, panels: Callable[[LogLines], Panels], warn: Callable[[str], None]) -> Observer:
    """Return what draws the curves after each validation, which the log has by then; `warn` receives once why not."""
    can_draw = True

    def draw(progress: RunProgress, validation: Validation | None) -> None:
        nonlocal can_draw
        if validation is None or not can_draw:
            return
        try:
            write_panels(folder / CURVES_FILE, panels(read_log(folder / LOG_FILE)))
        except ConfigError as error:  # a run is worth more than its picture, which its log can still give
            warn(f"no curves: {error}")
            can_draw = False

    return draw
