"""Statistics of finished games: wins by colour, winrate and Elo difference with their intervals, times, faults.

All results are the first engine's.  A draw counts as half a win, and so does a game without result, as in
KataGo's gatekeeper; games that were stopped are void and left out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gtp_engine.errors import counted
from gtp_engine.match.records import GameRecord
from gtp_engine.match.settings import SIDES, Side, Sprt, other_side
from gtp_engine.match.sprt import ELO_SCALE, SprtResult, run_sprt

Z_95: Final = 1.959963984540054
"""The normal distribution's two-sided 95 % quantile."""


def wilson_interval(wins: float, games: int, z: float = Z_95) -> tuple[float, float]:
    """Return the lower and upper end of the score interval for a proportion (Wilson 1927), each in [0, 1].

    `wins` may include halves for draws; the interval is then slightly too wide, never too narrow.  Without games it is
    (0, 1).
    """
    if games == 0:
        return 0.0, 1.0
    rate = wins / games
    denominator = 1 + z * z / games
    centre = (rate + z * z / (2 * games)) / denominator
    half_width = z * math.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games)) / denominator
    # Rounding must not move an end past the rate itself, which at 0 and 1 is an end.
    return max(0.0, min(rate, centre - half_width)), min(1.0, max(rate, centre + half_width))


def elo_difference(rate: float) -> float:
    """Return the rating difference whose expected score is `rate`: 400·log10(p / (1 − p)); ±inf at 1 and 0."""
    if rate <= 0:
        return -math.inf
    if rate >= 1:
        return math.inf
    return ELO_SCALE * math.log10(rate / (1 - rate))


@dataclass(frozen=True)
class ColorResults:
    """Results of the first engine with one colour."""

    wins: int
    losses: int
    draws: int


@dataclass(frozen=True)
class SideFaults:
    """One engine's faults: games lost by them, and moves over time, forgiven or not."""

    time_losses: int
    illegal_moves: int
    failures: int
    overruns: int


@dataclass(frozen=True)
class SideTimes:
    """Seconds an engine took for its moves; zero if it played none."""

    mean: float
    maximum: float


@dataclass(frozen=True)
class Summary:
    """The result of a match, from the first engine's point of view.

    `void` counts games that do not count; `rate` is the winrate, with its 95 % interval.  `score_disagreements` and
    `winner_disagreements` are the numbers of games whose recorded scores, or the winners by them, differ.
    """

    as_black: ColorResults
    as_white: ColorResults
    void: int
    rate: float
    rate_interval: tuple[float, float]
    times: dict[Side, SideTimes]
    faults: dict[Side, SideFaults]
    mean_moves: float
    score_disagreements: tuple[int, ...]
    winner_disagreements: tuple[int, ...]
    repeated: tuple[int, ...]
    """Games that repeat an earlier one with the same colours: they tell nothing new, and intervals are too narrow."""
    sprt: SprtResult | None = None

    @property
    def games(self) -> int:
        """Return the number of games that count: all but the void ones."""
        colors = (self.as_black, self.as_white)
        return sum(color.wins + color.losses + color.draws for color in colors)

    @property
    def elo(self) -> float:
        """Return the Elo difference of the winrate."""
        return elo_difference(self.rate)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """Return the ends of the winrate's interval as Elo differences."""
        return elo_difference(self.rate_interval[0]), elo_difference(self.rate_interval[1])

    def to_json(self) -> dict[str, Any]:
        """Return the summary as a JSON object; an infinite Elo difference is null."""

        def finite(value: float) -> float | None:
            return round(value, 1) if math.isfinite(value) else None

        return {
            "games": self.games,
            "void": self.void,
            "first_as_black": vars(self.as_black),
            "first_as_white": vars(self.as_white),
            "win_rate": self.rate,
            "win_rate_interval": list(self.rate_interval),
            "elo": finite(self.elo),
            "elo_interval": [finite(value) for value in self.elo_interval],
            "think_time": {side: vars(self.times[side]) for side in SIDES},
            "faults": {side: vars(self.faults[side]) for side in SIDES},
            "mean_moves": self.mean_moves,
            "score_disagreements": list(self.score_disagreements),
            "winner_disagreements": list(self.winner_disagreements),
            "repeated": list(self.repeated),
            "sprt": self.sprt.to_json() if self.sprt is not None else None,
        }


def summarize(records: Sequence[GameRecord], test: Sprt | None = None) -> Summary:
    """Return the summary of finished games, with the state of the sequential test if there is one."""
    as_black = _color_results([record for record in records if record.black == "first"])
    as_white = _color_results([record for record in records if record.black == "second"])
    games = sum(color.wins + color.losses + color.draws for color in (as_black, as_white))
    points = as_black.wins + as_white.wins + (as_black.draws + as_white.draws) / 2
    return Summary(
        as_black=as_black,
        as_white=as_white,
        void=sum(record.winner == "none" for record in records),
        rate=points / games if games else 0.5,
        rate_interval=wilson_interval(points, games),
        times={side: _side_times(records, side) for side in SIDES},
        faults={side: _side_faults(records, side) for side in SIDES},
        mean_moves=sum(record.moves for record in records) / len(records) if records else 0.0,
        score_disagreements=tuple(record.game for record in records if len(set(record.scores.values())) > 1),
        winner_disagreements=tuple(
            record.game for record in records if len({score[:1] for score in record.scores.values()}) > 1
        ),
        repeated=repeated_games([record for record in records if record.winner != "none"]),
        sprt=run_sprt(test, records) if test is not None else None,
    )


def repeated_games(records: Sequence[GameRecord]) -> tuple[int, ...]:
    """Return the numbers of the games that have the moves and colours of an earlier one in the list."""
    seen: set[tuple[str, str]] = set()
    found = []
    for record in records:
        game = (record.black, record.digest)
        if record.digest and game in seen:
            found.append(record.game)
        seen.add(game)
    return tuple(found)


def _color_results(records: Sequence[GameRecord]) -> ColorResults:
    winners = [record.winner for record in records]
    return ColorResults(wins=winners.count("first"), losses=winners.count("second"), draws=winners.count("draw"))


def _side_times(records: Sequence[GameRecord], side: Side) -> SideTimes:
    times = [seconds for record in records for seconds in record.think_times[side]]
    return SideTimes(mean=sum(times) / len(times), maximum=max(times)) if times else SideTimes(mean=0.0, maximum=0.0)


def _side_faults(records: Sequence[GameRecord], side: Side) -> SideFaults:
    lost = [record.reason for record in records if record.winner == other_side(side)]
    return SideFaults(
        time_losses=lost.count("time"),
        illegal_moves=lost.count("illegal"),
        failures=lost.count("failure") + lost.count("refused"),
        overruns=sum(record.overruns[side] for record in records),
    )


def format_table(summary: Summary, *, first: str, second: str) -> str:
    """Return the summary as lines of text; `first` and `second` are the engines' names."""
    low, high = summary.rate_interval
    lines = [
        f"{first}  against  {second}",
        f"games          {summary.games}" + (f", and {summary.void} void" if summary.void else ""),
        f"winrate        {summary.rate:.1%}   (95 % interval {low:.1%} to {high:.1%})",
        f"Elo            {format_elo(summary.elo)}   (95 % interval {format_elo(summary.elo_interval[0])}"
        f" to {format_elo(summary.elo_interval[1])})",
        *([f"SPRT           {summary.sprt.describe()}"] if summary.sprt is not None else []),
        _color_line("as Black", summary.as_black),
        _color_line("as White", summary.as_white),
        f"moves a game   {summary.mean_moves:.0f}",
        *(_side_line(side, name, summary) for side, name in zip(SIDES, (first, second), strict=True)),
    ]
    if summary.score_disagreements:
        listed = ", ".join(map(str, summary.score_disagreements))
        lines.append(f"final scores differ in game {listed}")
    if summary.winner_disagreements:
        listed = ", ".join(map(str, summary.winner_disagreements))
        lines.append(f"even the winner is disputed in game {listed}")
    if remark := repetition_remark(len(summary.repeated)):
        lines.append(remark)
    return "\n".join(lines)


def repetition_remark(count: int) -> str:
    """Return a sentence about so many games that repeat an earlier one, "" if there are none."""
    if not count:
        return ""
    games = f"{counted(count, 'game')} {'repeats' if count == 1 else 'repeat'}"
    return f"{games} an earlier one move by move, so the intervals are too narrow; random plies vary them"


def format_elo(value: float) -> str:
    """Return an Elo difference as text; it may be infinite."""
    return f"{value:+.0f}" if math.isfinite(value) else ("+∞" if value > 0 else "−∞")


def _color_line(label: str, results: ColorResults) -> str:
    draws = f", {results.draws} drawn" if results.draws else ""
    return f"{label:<14} {results.wins} won, {results.losses} lost{draws}"


def _side_line(side: Side, name: str, summary: Summary) -> str:
    times, faults = summary.times[side], summary.faults[side]
    return (
        f"{side:<14} {name}: {times.mean:.2f} s a move, at most {times.maximum:.2f} s; "
        f"{faults.time_losses} lost on time ({counted(faults.overruns, 'move')} over time), "
        f"{faults.illegal_moves} by illegal moves, {faults.failures} by failures"
    )
