"""What is reported about a run: its log, its curves as a picture, the bar on the terminal.

    run_and_report   a run with all of them
    begin_log        a file of JSON lines, which a resumed run continues; add_line, read_log
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
from pathlib import Path
from typing import Any, Final

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.files import complete_lines, write_whole, writing
from gtp_engine.base.installation import advice_for
from gtp_engine.base.progress import ProgressBar
from gtp_engine.training.core.loop import RunProgress, TrainingRun, Validation, format_figures

LOG_FILE: Final = "log.jsonl"
CURVES_FILE: Final = "curves.png"

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


def begin_log(path: Path, *, after: int) -> None:
    """Create the log of a run, or go on with it: lines after that step, of a run that was killed then, are dropped.

    Raises ConfigError where it cannot be written.
    """
    with writing(path, ConfigError, "log"):
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [line for line in read_log(path) if line["steps"] <= after]
        write_whole(path, "".join(json.dumps(line) + "\n" for line in lines))


def add_line(path: Path, line: dict[str, Any]) -> None:
    """Add a line to a log at once; raises ConfigError where it cannot be written."""
    with writing(path, ConfigError, "log"), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log; none if there is no file, and not the last one if it is incomplete.

    What version 1.0.0 called "games" has the name of now, so that the curves of a run that has been resumed go on.
    """
    return [json.loads(line.replace('"games":', '"samples":')) for line in complete_lines(path, cut=False)]


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
    log, can_draw = run.folder / LOG_FILE, True

    def observe(progress: RunProgress, validation: Validation | None) -> None:
        """Write a line about steps and show them on the bar; or about a validation, print that, and draw all curves."""
        nonlocal can_draw
        if validation is None:
            add_line(log, {"kind": "step", **progress._asdict()})
            figures = format_figures(dict(list(progress.figures.items())[:_SHOWN_FIGURES]))
            text = f"{progress.samples:,} {run.unit}, {progress.samples_per_second:.0f}/s, {figures}"
            bar.update(progress.fraction, f"{text}, rate {progress.learning_rate:.2g}")
            return
        place = {name: getattr(progress, name) for name in ("steps", "samples", "seconds")}
        add_line(log, {"kind": "validation", **place, "figures": validation})
        for name, found in validation.items():
            bar.log(f"validation ({name}) after {progress.samples:,} {run.unit}: {format_figures(found)}")
        if can_draw:
            try:
                write_panels(run.folder / CURVES_FILE, panels(read_log(log)))
            except ConfigError as error:  # a run is worth more than its picture, which its log can still give
                bar.log(f"no curves: {error}")
                can_draw = False

    begin_log(log, after=run.steps)
    return run.run(observe, is_stopped)
