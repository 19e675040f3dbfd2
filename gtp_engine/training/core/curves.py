"""The curves of a run as a picture.

write_panels   any curves, side by side
panels_of      those of a run that logs figures by name
write_curves   those of a run of `loop`: loss by head, and what held-out positions say, over the samples trained on
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gtp_engine.errors import ConfigError, problem

FILE_NAME: Final = "curves.png"

_INCHES: Final = (14 / 3, 4.0)
"""Width and height of a panel."""
_COLUMNS: Final = 3
"""Panels beside each other."""
_DOTS_PER_INCH: Final = 100
_SMOOTHED_POINTS: Final = 200
"""Points of a curve of losses at most: neighbours beyond that are averaged."""

_HELD_OUT: Final = (
    ("policy_kl", "policy, KL from the teacher, nats"),
    ("same_first_move", "first move as the teacher's, share"),
    ("winrate_error", "win rate, mean error"),
    ("lead_error", "lead, mean error in points"),
    ("ownership_error", "ownership, mean error"),
)
"""Figures of a `Verdict` that are drawn, and their titles."""


Curve = Sequence[tuple[float, float]]
"""Places and values."""


class Panel(NamedTuple):
    """Curves that share their axes, by the names that tell them apart."""

    title: str
    place: str  # what the places are
    curves: Mapping[str, Curve]


def write_panels(path: Path, panels: Sequence[Panel]) -> None:
    """Write a picture of all panels; raises ConfigError where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure  # no pyplot: it would look for a screen and keep the figure
    except ImportError as error:
        raise ConfigError(problem("matplotlib is missing", advice='pip install "gtp-engine[train]"')) from error
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(columns * _INCHES[0], rows * _INCHES[1]), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for place, panel in zip(axes, panels, strict=False):
        for name, curve in panel.curves.items():
            place.plot(*zip(*curve, strict=True), marker="." if len(curve) < _SMOOTHED_POINTS / 4 else "", label=name)
        place.set_title(panel.title)
        place.set_xlabel(panel.place)
        place.grid(alpha=0.3)
        if panel.curves:
            place.legend()
    for place in axes[len(panels) :]:
        place.set_axis_off()
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def smoothed(curve: Curve) -> Curve:
    """Return a curve of not too many points: neighbours beyond that are averaged, and stand at the last one's place."""
    together = -(-len(curve) // _SMOOTHED_POINTS) or 1
    groups = [curve[i : i + together] for i in range(0, len(curve), together)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


_SAMPLES: Final = "samples, millions"


def write_curves(path: Path, log: Sequence[dict[str, Any]]) -> None:
    """Write the picture of a log (`log.read_log`); raises ConfigError where matplotlib is missing."""
    losses = _loss_curves([line for line in log if line["kind"] == "step"])
    judged = [line for line in log if line["kind"] == "judged"]
    panels = [Panel("training loss by head, as a share of the first", _SAMPLES, losses)]
    panels += [Panel(title, _SAMPLES, _held_out_curves(judged, name)) for name, title in _HELD_OUT]
    write_panels(path, panels)


def _loss_curves(lines: Sequence[dict[str, Any]]) -> dict[str, Curve]:
    curves: dict[str, Curve] = {}
    for name in lines[0]["losses"] if lines else ():
        curve = smoothed([(line["samples"] / 1e6, line["losses"][name]) for line in lines])
        first = curve[0][1] or 1.0
        curves[name] = [(place, value / first) for place, value in curve]
    return curves


def _held_out_curves(lines: Sequence[dict[str, Any]], name: str) -> dict[str, Curve]:
    """Return a figure of each board."""
    boards = dict.fromkeys(board for line in lines for board in line["boards"])
    return {
        board: [(line["samples"] / 1e6, line["boards"][board][name]) for line in lines if board in line["boards"]]
        for board in boards
    }


def panels_of(log: list[dict[str, Any]], *, place: str = "samples") -> list[Panel]:
    """Return the curves of a log over the thousands of `place`: each figure in training and in tests."""
    names = dict.fromkeys(name for line in log for name in line["figures"])
    panels = []
    for name in names:
        curves = {}
        for kind, title in (("step", "training"), ("judged", "test")):
            curve = [(line[place] / 1e3, line["figures"][name]) for line in log if _has(line, kind, name)]
            if curve:
                curves[title] = smoothed(curve)
        panels.append(Panel(name, f"{place}, thousands", curves))
    return panels


def _has(line: dict[str, Any], kind: str, name: str) -> bool:
    return line["kind"] == kind and name in line["figures"]
