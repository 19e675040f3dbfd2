"""A sequential probability ratio test (SPRT): when to end a match, and which hypothesis its games accept.

Two hypotheses about the Elo difference, H0: `elo0` and H1: `elo1`, are compared by the log-likelihood ratio of the
results so far.  The match ends when the ratio leaves the interval from log(beta / (1 − alpha)) to log((1 − beta) /
alpha) (Wald 1945); H1 is then accepted wrongly with probability alpha, H0 with probability beta, approximately.

The results are *pairs*: two games with the same opening and the colours exchanged, which together give the first engine
0, ½, 1, 1½ or 2 points.  The games of a pair are not independent of each other (an opening may favour Black), so pairs
are counted instead of games: the pentanomial model of Fishtest, Stockfish's testing framework.  A pair counts once both
games are finished, and not at all if one of them is void.

The share of draws and the spread of the results are unknown, so the likelihood under each hypothesis is the largest
over all distributions with its expected score (generalized likelihood ratio; Van den Bergh, "A practical introduction
to the GSPRT", and the exact logistic variant in Fishtest's "LLRcalc").  Elo differences are logistic: an expected score
of 1 / (1 + 10^(−elo / 400)).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from gtp_engine.match.records import GameRecord
from gtp_engine.match.settings import Sprt

Verdict = Literal["H0", "H1", "undecided"]

PAIR_SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The possible score rates of a pair of games."""

ELO_SCALE: Final = 400.0
"""Rating points for a tenfold change of the odds, by the definition of Elo ratings."""

_UNSEEN: Final = 1e-3
"""Pairs counted for a result that has not occurred yet, as in Fishtest, so that no likelihood is zero."""

_BISECTIONS: Final = 100
"""Halvings of the interval that holds the solution: more than a float has bits."""


@dataclass(frozen=True)
class SprtResult:
    """The state of a test: `llr` between `lower`, where H0 is accepted, and `upper`, where H1 is.

    `pairs` counts the pairs with each of `PAIR_SCORES`.
    """

    test: Sprt
    pairs: tuple[int, ...]
    llr: float

    @property
    def lower(self) -> float:
        """Return the log-likelihood ratio at which H0 is accepted."""
        return math.log(self.test.beta / (1 - self.test.alpha))

    @property
    def upper(self) -> float:
        """Return the log-likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.test.beta) / self.test.alpha)

    @property
    def verdict(self) -> Verdict:
        """Return which hypothesis the results accept, if any."""
        if self.llr <= self.lower:
            return "H0"
        return "H1" if self.llr >= self.upper else "undecided"

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            **vars(self.test),
            "pairs": list(self.pairs),
            "llr": self.llr,
            "bounds": [self.lower, self.upper],
            "verdict": self.verdict,
        }

    def describe(self) -> str:
        """Return the result as a line of text."""
        accepted = {"H0": self.test.elo0, "H1": self.test.elo1}.get(self.verdict)
        end = "undecided" if accepted is None else f"{self.verdict} accepted (Elo {accepted:+g})"
        return (
            f"LLR {self.llr:+.2f} of {self.lower:.2f} … {self.upper:+.2f} after {sum(self.pairs)} pairs, "
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


def expected_score(elo: float) -> float:
    """Return the expected score of a game at a rating difference."""
    return 1 / (1 + 10 ** (-elo / ELO_SCALE))


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
