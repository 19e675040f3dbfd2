"""The winrate over the games of a match as a picture, PNG or SVG; needs matplotlib.

The curve is the first engine's share of the points after each game that counts, in the order of the games' numbers,
with its 95 % interval; its last point is what the match's table shows.  Dots at 100, 50 and 0 % are the games it won,
drew and lost.
"""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gtp_engine.errors import problem, shown
from gtp_engine.files import check_writable
from gtp_engine.match.records import GameRecord
from gtp_engine.match.settings import MatchError
from gtp_engine.match.statistics import elo_difference, format_elo, wilson_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS: Final = (".svg", ".png")

_INCHES: Final = (8.0, 4.5)
_DOTS_PER_INCH: Final = 150
"""Size of the picture: 1200 by 675 dots as PNG."""
_FEW: Final = 40
"""Games up to which the points of the curve are marked; more would hide the curve."""


def check_plot(path: Path) -> None:
    """Raise MatchError if a plot cannot be written to `path`, to be called before hours of games.

    Its folder is created if need be.
    """
    if path.suffix.lower() not in FORMATS:
        raise MatchError(problem(f"plot {shown(str(path))}", expected=f"a file name ending in {' or '.join(FORMATS)}"))
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        advice = "install it with: pip install 'gtp-engine[plot]'"
        raise MatchError(problem("plots", expected="matplotlib, which is not installed", advice=advice)) from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)
    except OSError as error:
        raise _not_written(path, error) from error


def write_plot(path: Path, records: Sequence[GameRecord], *, first: str, second: str) -> None:
    """Write the picture of finished games, sorted by number, under the engines' names; raises MatchError."""
    check_plot(path)
    from matplotlib.figure import Figure  # not pyplot, which would need a display and keep the figure

    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.add_subplot()
    draw_curve(records, axes)
    axes.set_title(f"{first}  against  {second}", parse_math=False)
    try:
        figure.savefig(path, dpi=_DOTS_PER_INCH)
    except OSError as error:
        raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError) -> MatchError:
    return MatchError(f"cannot write the plot {path}: {error.strerror}")


def draw_curve(records: Sequence[GameRecord], axes: "Axes") -> None:
    """Draw the winrate over the games that count, its interval and the line of even strength."""
    from matplotlib.ticker import MaxNLocator

    results = [record.points for record in records if record.winner != "none"]
    points = list(accumulate(results))
    games = range(1, len(points) + 1)
    axes.axhline(50, color="0.5", linewidth=0.8, linestyle="--")
    if points:
        label = "games won, drawn or lost"
        axes.plot(games, [100 * each for each in results], "o", color="0.4", markersize=4, clip_on=False, label=label)
        rates = [score / count for score, count in zip(points, games, strict=True)]
        ends = [wilson_interval(score, count) for score, count in zip(points, games, strict=True)]
        low, high = (format_elo(elo_difference(end)) for end in ends[-1])
        label = f"95 % interval, at last Elo {low} to {high}"
        axes.fill_between(games, [100 * end[0] for end in ends], [100 * end[1] for end in ends], alpha=0.2, label=label)
        label = f"winrate, at last {rates[-1]:.1%}, Elo {format_elo(elo_difference(rates[-1]))}"
        axes.plot(games, [100 * rate for rate in rates], label=label, marker="." if len(games) <= _FEW else "")
        axes.legend(loc="lower right")
    axes.set(xlabel="games", ylabel="winrate of the first engine, %", ylim=(0, 100))
    axes.set_xlim(0.5, max(1, len(points)) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
