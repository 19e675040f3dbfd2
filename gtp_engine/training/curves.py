"""The curves of a run as a picture: loss by head, and what held-out positions say, over the samples trained on."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gtp_engine.errors import ConfigError, problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE_NAME: Final = "curves.png"

_INCHES: Final = (14.0, 8.0)
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


def write_curves(path: Path, log: Sequence[dict[str, Any]]) -> None:
    """Write the picture of a log (`log.read_log`); raises ConfigError where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure  # no pyplot: it would look for a screen and keep the figure
    except ImportError as error:
        raise ConfigError(problem("matplotlib is missing", advice='pip install "gtp-engine[train]"')) from error
    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    _draw_losses(axes[0], [line for line in log if line["kind"] == "step"])
    judged = [line for line in log if line["kind"] == "judged"]
    for place, (name, title) in zip(axes[1:], _HELD_OUT, strict=True):
        _draw_held_out(place, judged, name)
        place.set_title(title)
    for place in axes:
        place.set_xlabel("samples, millions")
        place.grid(alpha=0.3)
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def _draw_losses(axes: "Axes", lines: Sequence[dict[str, Any]]) -> None:
    axes.set_title("training loss by head, as a share of the first")
    together = -(-len(lines) // _SMOOTHED_POINTS) or 1
    groups = [lines[i : i + together] for i in range(0, len(lines), together)]
    if not groups:
        return
    samples = [group[-1]["samples"] / 1e6 for group in groups]
    for name in lines[0]["losses"]:
        values = [sum(line["losses"][name] for line in group) / len(group) for group in groups]
        axes.plot(samples, [value / (values[0] or 1.0) for value in values], label=name)
    axes.legend()


def _draw_held_out(axes: "Axes", lines: Sequence[dict[str, Any]], name: str) -> None:
    boards = dict.fromkeys(board for line in lines for board in line["boards"])
    for board in boards:
        found = [(line["samples"] / 1e6, line["boards"][board][name]) for line in lines if board in line["boards"]]
        axes.plot(*zip(*found, strict=True), marker=".", label=board)
    if boards:
        axes.legend()
