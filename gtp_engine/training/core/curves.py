"""The curves of a run as a picture.

write_panels    any curves, side by side
figure_panels   the figures of a log: in training and on each validation set
loss_panel      the losses of a log as shares of the first
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gtp_engine.errors import ConfigError, problem
from gtp_engine.training.core.writing import writing

FILE_NAME: Final = "curves.png"

_INCHES: Final = (14 / 3, 4.0)
"""Width and height of a panel."""
_COLUMNS: Final = 3
"""Panels beside each other."""
_DOTS_PER_INCH: Final = 100
_SMOOTHED_POINTS: Final = 200
"""Points of a curve at most: neighbours beyond that are averaged."""

_LEGEND: Final = "center right"
"""Where the names of curves stand: losses end below it, accuracies above it, and looking for a free place is slow."""

Curve = Sequence[tuple[float, float]]
"""Places and values."""
Log = Sequence[dict[str, Any]]
"""The lines of a log, as `run_log.read_log` returns them."""


class Panel(NamedTuple):
    """Curves that share their axes, by their labels."""

    title: str
    place: str  # label of the horizontal axis
    curves: Mapping[str, Curve]


def write_panels(path: Path, panels: Sequence[Panel]) -> None:
    """Write a picture of all panels; raises ConfigError if it cannot be written, or where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure  # not pyplot, which wants a screen and keeps the figure
    except ImportError as error:
        raise ConfigError(problem("matplotlib is missing", advice='pip install "gtp-engine[train]"')) from error
    columns = max(1, min(_COLUMNS, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    figure = Figure(figsize=(columns * _INCHES[0], rows * _INCHES[1]), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for place, panel in zip(axes, panels, strict=False):
        for name, curve in panel.curves.items():
            place.plot(*zip(*curve, strict=True), marker="." if len(curve) < _SMOOTHED_POINTS / 4 else "", label=name)
        place.set_title(panel.title)
        place.set_xlabel(panel.place)
        place.grid(alpha=0.3)
        if panel.curves:
            place.legend(loc=_LEGEND)
    for place in axes[len(panels) :]:
        place.set_axis_off()
    with writing(path, ConfigError, "picture"):
        figure.savefig(path, dpi=_DOTS_PER_INCH)


def smoothed(curve: Curve) -> Curve:
    """Return a curve of not too many points: neighbours beyond that are averaged at the last one's place."""
    together = -(-len(curve) // _SMOOTHED_POINTS) or 1
    groups = [curve[i : i + together] for i in range(0, len(curve), together)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def figure_panels(log: Log, *, place: str = "samples", titles: Mapping[str, str] | None = None) -> list[Panel]:
    """Return a panel for each figure of a log, over the thousands of `place`.

    `titles` selects figures, in its order, and names their panels.
    """
    curves: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for line in log:
        sets = {"training": line["figures"]} if line["kind"] == "step" else line["figures"]
        for label, figures in sets.items():
            for name, value in figures.items():
                curves.setdefault(name, {}).setdefault(label, []).append((line[place] / 1e3, value))
    titles = {name: name for name in curves} if titles is None else titles
    return [
        Panel(title, f"{place}, thousands", {label: smoothed(each) for label, each in curves.get(name, {}).items()})
        for name, title in titles.items()
    ]


def loss_panel(log: Log) -> Panel:
    """Return the figures of a log's steps as shares of the first, over the thousands of samples."""
    lines = [line for line in log if line["kind"] == "step"]
    curves: dict[str, Curve] = {}
    for name in lines[0]["figures"] if lines else ():
        curve = smoothed([(line["samples"] / 1e3, line["figures"][name]) for line in lines])
        first = curve[0][1] or 1.0
        curves[name] = [(place, value / first) for place, value in curve]
    return Panel("training losses as shares of the first", "samples, thousands", curves)
