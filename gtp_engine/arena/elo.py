"""Elo ratings: what the results of games tell about the strength of players.

The model is that of Bradley and Terry (1952), on which Elo ratings are based: a player who is d points stronger is
expected to score 1 / (1 + 10^(−d / 400)) of the points.  A draw counts as half a win.

Strengths are *fitted* in nats, units of the logarithm of the odds: G groups of games tell about K strengths.  P is the
number of players; `points[i, j]` are the points of player i against player j, so that points[i, j] + points[j, i] games
were played.
"""

import math
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import TengenError

RatingArray = NDArray[np.float64]

ELO_SCALE: Final = 400.0
"""Rating points for a tenfold change of the odds, by the definition of Elo ratings."""

ELO_PER_NAT: Final = ELO_SCALE / math.log(10)
"""Rating points for odds that change by the factor e."""

Z_95: Final = 1.959963984540054
"""The normal distribution's two-sided 95% quantile."""

PRIOR_GAMES: Final = 1.0
"""Drawn games added for each pair of players that have met, so that a player who won every game has a rating too.
BayesElo adds two by default.  They move ratings together, noticeably only where games are few."""

_LONGEST_STEP: Final = 1.0
"""Largest change of a strength in a step of Newton's method, in nats; far from the solution it would overshoot."""
_STEPS: Final = 200
_PRECISION: Final = 1e-10
"""Iteration stops at a step shorter than this, in nats."""


class RatingError(TengenError):
    """The games do not determine ratings."""


def expected_score(elo: float) -> float:
    """Return the expected score of a game at a rating difference."""
    return 1 / (1 + 10 ** (-elo / ELO_SCALE))


def elo_difference(rate: float) -> float:
    """Return the rating difference whose expected score is `rate`: 400·log10(p / (1 − p)); ±inf at 1 and 0."""
    if rate <= 0:
        return -math.inf
    if rate >= 1:
        return math.inf
    return ELO_SCALE * math.log10(rate / (1 - rate))


def format_elo(value: float) -> str:
    """Return an Elo difference as text; it may be infinite."""
    return f"{value:+.0f}" if math.isfinite(value) else ("+∞" if value > 0 else "−∞")


def wilson_interval(wins: float, games: int) -> tuple[float, float]:
    """Return the lower and upper end of the score interval for a proportion (Wilson 1927), each in [0, 1].

    `wins` may include halves for draws; the interval is then slightly too wide, never too narrow.  Without games it is
    (0, 1).
    """
    if games == 0:
        return 0.0, 1.0
    rate = wins / games
    z, denominator = Z_95, 1 + Z_95 * Z_95 / games
    centre = (rate + z * z / (2 * games)) / denominator
    half_width = z * math.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games)) / denominator
    # Rounding must not move an end past the rate itself, which at 0 and 1 is an end.
    return max(0.0, min(rate, centre - half_width)), min(1.0, max(rate, centre + half_width))


def fit_strengths(
    differences: RatingArray,
    games: RatingArray,
    points: RatingArray,
    prior: tuple[RatingArray, RatingArray] | None = None,
    *,
    least: float = -math.inf,
) -> tuple[RatingArray, RatingArray]:
    """Return the most likely strengths in nats [K], none below `least`, and the covariance of their errors [K, K].

    Each group has its number of `games` [G] and the first player's `points` [G]; `differences` [G, K] is how often each
    strength counts for the first player minus how often for the second.  The `prior` is a normal distribution of
    strengths: the expected ones in nats [K], and the inverse of its covariance [K, K].

    Without a prior, a direction in which the results tell nothing gets 0.  By Newton's method; raises RatingError if
    there is no maximum.
    """
    nothing = np.zeros(differences.shape[1])
    expected, precision = prior or (nothing, np.diag(nothing))
    strengths = expected.copy()
    for _ in range(_STEPS):
        odds = np.exp(differences @ strengths)
        won, lost = odds / (1.0 + odds), 1.0 / (1.0 + odds)  # both, as 1 − p would be 0 for a p near 1
        information = (differences.T * (games * won * lost)) @ differences + precision
        covariance = np.asarray(np.linalg.pinv(information, hermitian=True), dtype=np.float64)
        step = covariance @ (
            differences.T @ (points * lost - (games - points) * won) + precision @ (expected - strengths)
        )
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), _LONGEST_STEP))
        moved = np.maximum(strengths + step, least)
        length = float(np.abs(moved - strengths).max())
        strengths = moved
        if length < _PRECISION:
            return strengths, covariance
    raise RatingError(
        "no most likely ratings: a player or group won every game against the rest", expected="prior games"
    )


class Ratings(NamedTuple):
    """Ratings with mean 0, and half the widths of their 95% intervals, in Elo points, float64[P] each."""

    elo: RatingArray
    margin: RatingArray


def rate_players(points: RatingArray, *, prior_games: float = PRIOR_GAMES) -> Ratings:
    """Return the most likely ratings for the results `points` [P, P], with their 95% intervals.

    Only differences are meaningful, so the ratings are shifted to a mean of 0.  The intervals use the normal
    approximation, from the Fisher information of the games, about the mean of all players.  `prior_games` may be 0 if
    no player, and no group of players against the rest, has won or lost every game.  Raises RatingError unless the
    games connect all players.
    """
    games = points + points.T
    connected = np.linalg.matrix_power((games > 0) | np.eye(len(games), dtype=bool), len(games))  # by chains of games
    if not connected.all():
        raise RatingError("some players are not connected by games", expected="a round robin")
    met = [pair for pair in combinations(range(len(points)), 2) if games[pair] > 0]
    signs = np.eye(len(points))
    strengths, covariance = fit_strengths(
        np.array([signs[first] - signs[second] for first, second in met]).reshape(len(met), len(points)),
        np.array([games[pair] + prior_games for pair in met]),
        np.array([points[pair] + prior_games / 2 for pair in met]),
    )
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Ratings(ELO_PER_NAT * (strengths - strengths.mean()), Z_95 * ELO_PER_NAT * deviations)
