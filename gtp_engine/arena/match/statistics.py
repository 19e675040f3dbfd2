"""The results of a match, from the first engine's point of view: summary, table, sequential test, picture.

The summary has wins by colour, winrate and Elo difference with their intervals, times and faults.  A draw counts as
half a win, and so does a game without result, as in KataGo's gatekeeper; games that were stopped are void and left out.

A *sequential probability ratio test* (SPRT) decides when to end a match, and which hypothesis its games accept.  Two
hypotheses about the Elo difference, H0: `elo0` and H1: `elo1`, are compared by the log-likelihood ratio of the results
so far.  The match ends when the ratio leaves the interval from log(beta / (1 − alpha)) to log((1 − beta) / alpha) (Wald
1945); H1 is then accepted wrongly with probability alpha, H0 with probability beta, approximately.

Its results are *pairs*: two games with the same opening and the colours exchanged, which together give the first engine
0, ½, 1, 1½ or 2 points.  The games of a pair are not independent of each other (an opening may favour Black), so pairs
are counted instead of games: the pentanomial model of Fishtest, Stockfish's testing framework.  A pair counts once both
games are finished, and not at all if one of them is void.

The share of draws and the spread of the results are unknown, so the likelihood under each hypothesis is the largest
over all distributions with its expected score (generalized likelihood ratio; Van den Bergh, "A practical introduction
to the GSPRT", and the exact logistic variant in Fishtest's "LLRcalc").  Elo differences are logistic (`elo`).

The picture needs matplotlib.  Its curve is the share of the points after each game that counts, in the order of the
games' numbers, with its 95% interval; its last point is what the table shows.  Dots at 100, 50 and 0% are the games
that were won, drawn and lost.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from gtp_engine.arena.elo import elo_difference, expected_score, format_elo, wilson_interval
from gtp_engine.arena.match.records import GameRecord
from gtp_engine.arena.match.settings import SIDES, MatchError, MatchSide, Sprt, other_side
from gtp_engine.base.errors import counted, shown
from gtp_engine.base.files import check_writable, writing
from gtp_engine.base.installation import advice_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Verdict = Literal["H0", "H1", "undecided"]

PAIR_SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The possible score rates of a pair of games."""

_UNSEEN: Final = 1e-3
"""Pairs counted for a result that has not occurred yet, as in Fishtest, so that no likelihood is zero."""

_BISECTIONS: Final = 100
"""Halvings of the interval that holds the solution: more than a float has bits."""


@dataclass(frozen=True)
class SprtResult:
    """The state of a test: `llr` between the `bounds` at which H0 and H1 are accepted.

    `pairs` counts the pairs with each of `PAIR_SCORES`.
    """

    test: Sprt
    pairs: tuple[int, ...]
    llr: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the log-likelihood ratios at which H0 and H1 are accepted."""
        alpha, beta = self.test.alpha, self.test.beta
        return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)

    @property
    def verdict(self) -> Verdict:
        """Return which hypothesis the results accept, if any."""
        lower, upper = self.bounds
        return "H0" if self.llr <= lower else "H1" if self.llr >= upper else "undecided"

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            **vars(self.test),
            "pairs": list(self.pairs),
            "llr": self.llr,
            "bounds": list(self.bounds),
            "verdict": self.verdict,
        }

    def describe(self) -> str:
        """Return the result as a line of text."""
        accepted = {"H0": self.test.elo0, "H1": self.test.elo1}.get(self.verdict)
        end = "undecided" if accepted is None else f"{self.verdict} accepted (Elo {accepted:+g})"
        lower, upper = self.bounds
        return (
            f"LLR {self.llr:+.2f} of {lower:.2f} … {upper:+.2f} after {sum(self.pairs)} pairs, "
            f"Elo {self.test.elo0:+g} against {self.test.elo1:+g}: {end}"
        )


def run_sprt(test: Sprt, records: Sequence[GameRecord]) -> SprtResult:
    """Return the state of the test after the finished games of a match; their order does not matter."""
    pairs = count_pairs(records)
    return SprtResult(test, pairs, log_likelihood_ratio(pairs, elo0=test.elo0, elo1=test.elo1))


def count_pairs(records: Sequence[GameRecord]) -> tuple[int, ...]:
    """Return how many complete pairs (games 1 and 2, 3 and 4, …) have each of `PAIR_SCORES`."""
    points = {record.game: record.points for record in records if record.winner != "none"}
    pairs = ((points[game] + points[game + 1]) / 2 for game in points if game % 2 == 1 and game + 1 in points)
    counts = Counter(pairs)
    return tuple(counts[score] for score in PAIR_SCORES)


def log_likelihood_ratio(pairs: Sequence[int], *, elo0: float, elo1: float) -> float:
    """Return log(likelihood under `elo1` / likelihood under `elo0`) of pairs counted by `PAIR_SCORES`."""
    if not any(pairs):
        return 0.0
    weights = [max(count, _UNSEEN) for count in pairs]
    score0, score1 = expected_score(elo0), expected_score(elo1)
    tilt0, tilt1 = _tilt(weights, score0), _tilt(weights, score1)
    return sum(
        weight * (math.log1p(tilt0 * (score - score0)) - math.log1p(tilt1 * (score - score1)))
        for weight, score in zip(weights, PAIR_SCORES, strict=True)
    )


def _tilt(weights: Sequence[float], mean: float) -> float:
    """Return t such that the most likely distribution with this mean has the probabilities w / (1 + t·(score − mean)).

    The w are the weights divided by their sum.  Setting the mean of that distribution to `mean` gives an equation
    whose left side decreases with t, so it has one solution in the interval where all probabilities are positive.
    """
    low, high = -1 / (PAIR_SCORES[-1] - mean), 1 / (mean - PAIR_SCORES[0])
    for _ in range(_BISECTIONS):
        tilt = (low + high) / 2
        excess = sum(
            weight * (score - mean) / (1 + tilt * (score - mean))
            for weight, score in zip(weights, PAIR_SCORES, strict=True)
        )
        low, high = (tilt, high) if excess > 0 else (low, tilt)
    return (low + high) / 2


@dataclass(frozen=True)
class Summary:
    """The result of a match, from the first engine's point of view, by the keys of the JSON.

    `games` are those that count, `void` the others; winrate and Elo difference have 95% intervals.  The first engine
    has `wins`, `losses` and `draws` with each colour.  `think_time` is the `mean` and the `maximum` of the seconds that
    an engine took for its moves, zero if it played none.  Its `faults` are games lost by `time_losses`, `illegal_moves`
    and `failures`, and moves over time, forgiven or not, as `overruns`.  `score_disagreements` and
    `winner_disagreements` are the numbers of games whose recorded scores, or the winners by them, differ.
    """

    games: int
    void: int
    first_as_black: dict[str, int]
    first_as_white: dict[str, int]
    win_rate: float
    win_rate_interval: tuple[float, float]
    elo: float
    elo_interval: tuple[float, float]
    think_time: dict[MatchSide, dict[str, float]]
    faults: dict[MatchSide, dict[str, int]]
    mean_moves: float
    score_disagreements: tuple[int, ...]
    winner_disagreements: tuple[int, ...]
    repeated: tuple[int, ...]
    """Games that repeat an earlier one with the same colours: they tell nothing new, and intervals are too narrow."""
    sprt: SprtResult | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the summary as a JSON object; an infinite Elo difference is null."""

        def finite(value: float) -> float | None:
            return round(value, 1) if math.isfinite(value) else None

        sprt = None if self.sprt is None else self.sprt.to_json()
        interval = [finite(value) for value in self.elo_interval]
        return asdict(self) | {"elo": finite(self.elo), "elo_interval": interval, "sprt": sprt}


def summarize(records: Sequence[GameRecord], test: Sprt | None = None) -> Summary:
    """Return the summary of finished games, with the state of the sequential test if there is one."""
    counting = [record for record in records if record.winner != "none"]
    points = sum(record.points for record in counting)
    rate, (low, high) = points / len(counting) if counting else 0.5, wilson_interval(points, len(counting))
    return Summary(
        games=len(counting),
        void=len(records) - len(counting),
        first_as_black=_color_results([record for record in counting if record.black == "first"]),
        first_as_white=_color_results([record for record in counting if record.black == "second"]),
        win_rate=rate,
        win_rate_interval=(low, high),
        elo=elo_difference(rate),
        elo_interval=(elo_difference(low), elo_difference(high)),
        think_time={side: _side_times(records, side) for side in SIDES},
        faults={side: _side_faults(records, side) for side in SIDES},
        mean_moves=sum(record.moves for record in records) / len(records) if records else 0.0,
        score_disagreements=tuple(record.game for record in records if len(set(record.scores.values())) > 1),
        winner_disagreements=tuple(
            record.game for record in records if len({score[:1] for score in record.scores.values()}) > 1
        ),
        repeated=repeated_games(counting),
        sprt=run_sprt(test, records) if test is not None else None,
    )


def repeated_games(records: Sequence[GameRecord]) -> tuple[int, ...]:
    """Return the numbers of the games that have the moves and colours of an earlier one in the list."""
    seen: set[tuple[str, str]] = set()
    found = []
    for record in records:
        game = (record.black, record.digest)
        if game in seen:
            found.append(record.game)
        seen.add(game)
    return tuple(found)


def _color_results(records: Sequence[GameRecord]) -> dict[str, int]:
    winners = [record.winner for record in records]
    return {"wins": winners.count("first"), "losses": winners.count("second"), "draws": winners.count("draw")}


def _side_times(records: Sequence[GameRecord], side: MatchSide) -> dict[str, float]:
    times = [seconds for record in records for seconds in record.think_times[side]]
    return {"mean": sum(times) / len(times) if times else 0.0, "maximum": max(times, default=0.0)}


def _side_faults(records: Sequence[GameRecord], side: MatchSide) -> dict[str, int]:
    lost = [record.reason for record in records if record.winner == other_side(side)]
    return {
        "time_losses": lost.count("time"),
        "illegal_moves": lost.count("illegal"),
        "failures": lost.count("failure") + lost.count("refused"),
        "overruns": sum(record.overruns[side] for record in records),
    }


def format_table(summary: Summary, *, first: str, second: str) -> str:
    """Return the summary as lines of text; `first` and `second` are the engines' names."""
    low, high = summary.win_rate_interval
    lines = [
        f"{first}  against  {second}",
        f"games          {summary.games}" + (f", and {summary.void} void" if summary.void else ""),
        f"winrate        {summary.win_rate:.1%}   (95% interval {low:.1%} to {high:.1%})",
        f"Elo            {format_elo(summary.elo)}   (95% interval {format_elo(summary.elo_interval[0])}"
        f" to {format_elo(summary.elo_interval[1])})",
        *([f"SPRT           {summary.sprt.describe()}"] if summary.sprt is not None else []),
        _color_line("as Black", summary.first_as_black),
        _color_line("as White", summary.first_as_white),
        f"moves a game   {summary.mean_moves:.0f}",
        *(_side_line(side, name, summary) for side, name in zip(SIDES, (first, second), strict=True)),
    ]
    scores, winners = summary.score_disagreements, summary.winner_disagreements
    for games, remark in ((scores, "final scores differ"), (winners, "even the winner is disputed")):
        if games:
            lines.append(f"{remark} in game {', '.join(map(str, games))}")
    if remark := repetition_remark(len(summary.repeated)):
        lines.append(remark)
    return "\n".join(lines)


def repetition_remark(count: int) -> str:
    """Return a sentence about so many games that repeat an earlier one, "" if there are none."""
    if not count:
        return ""
    games = f"{counted(count, 'game')} {'repeats' if count == 1 else 'repeat'}"
    return f"{games} an earlier one move by move, so the intervals are too narrow; random plies vary them"


def _color_line(label: str, results: Mapping[str, int]) -> str:
    draws = f", {results['draws']} drawn" if results["draws"] else ""
    return f"{label:<14} {results['wins']} won, {results['losses']} lost{draws}"


def _side_line(side: MatchSide, name: str, summary: Summary) -> str:
    times, faults = summary.think_time[side], summary.faults[side]
    return (
        f"{side:<14} {name}: {times['mean']:.2f} s a move, at most {times['maximum']:.2f} s; "
        f"{faults['time_losses']} lost on time ({counted(faults['overruns'], 'move')} over time), "
        f"{faults['illegal_moves']} by illegal moves, {faults['failures']} by failures"
    )


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
        raise MatchError(f"plot {shown(str(path))}", expected=f"a file name ending in {' or '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MatchError("plots need matplotlib", advice=advice_for("plot")) from error
    with writing(path, MatchError, "plot"):
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)


def write_plot(path: Path, records: Sequence[GameRecord], *, first: str, second: str) -> None:
    """Write the picture of finished games, sorted by number, under the engines' names; raises MatchError."""
    check_plot(path)
    from matplotlib.figure import Figure  # not pyplot, which would need a display and keep the figure

    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.add_subplot()
    draw_curve(records, axes)
    axes.set_title(f"{first}  against  {second}", parse_math=False)
    with writing(path, MatchError, "plot"):
        figure.savefig(path, dpi=_DOTS_PER_INCH)


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
        label = f"95% interval, at last Elo {low} to {high}"
        axes.fill_between(games, [100 * end[0] for end in ends], [100 * end[1] for end in ends], alpha=0.2, label=label)
        label = f"winrate, at last {rates[-1]:.1%}, Elo {format_elo(elo_difference(rates[-1]))}"
        axes.plot(games, [100 * rate for rate in rates], label=label, marker="." if len(games) <= _FEW else "")
        axes.legend(loc="lower right")
    axes.set(xlabel="games", ylabel="winrate of the first engine, %", ylim=(0, 100))
    axes.set_xlim(0.5, max(1, len(points)) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
