"""Ratings of several players from the games they played with each other: Elo's scale, by maximum likelihood.

The model is that of Bradley and Terry (1952), on which Elo ratings are based: a player whose rating is d points higher
is expected to score 1 / (1 + 10^(−d / 400)) of the points.  Only differences are meaningful, so the ratings are shifted
to a mean of 0.  A draw counts as half a win.

P is the number of players; `points[i, j]` are the points of player i against player j, so that points[i, j] +
points[j, i] games were played.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.errors import problem
from gtp_engine.match.settings import MatchError
from gtp_engine.match.sprt import ELO_SCALE
from gtp_engine.match.statistics import Z_95

Floats = NDArray[np.float64]

PRIOR_GAMES: Final = 1.0
"""Drawn games added for each pair of players that have met, so that a player who won every game has a rating too.
BayesElo adds two by default.  They move ratings together, noticeably only where games are few."""

_ELO_PER_NAT: Final = ELO_SCALE / math.log(10)
"""Rating points for odds that change by the factor e."""
_LONGEST_STEP: Final = 1.0
"""Largest change of a rating in a step of Newton's method, in nats; far from the solution it would overshoot."""
_STEPS: Final = 1000
_PRECISION: Final = 1e-10
"""Iteration stops at a step shorter than this, in nats."""


class Ratings(NamedTuple):
    """Ratings with mean 0, and half the widths of their 95 % intervals, in Elo points, float64[P] each."""

    elo: Floats
    margin: Floats


def rate_players(points: Floats, *, prior_games: float = PRIOR_GAMES) -> Ratings:
    """Return the most likely ratings for the results `points` [P, P], with their 95 % intervals.

    The intervals use the normal approximation, from the Fisher information of the games, about the mean of all players.
    `prior_games` may be 0 if no player, and no group of players against the rest, has won or lost every game.  Raises
    MatchError unless the games connect all players.
    """
    games = points + points.T
    _check_connected(games)
    games = games + np.where(games > 0, prior_games, 0.0)
    won = points.sum(axis=1) + np.where(points + points.T > 0, prior_games / 2, 0.0).sum(axis=1)
    ratings = np.zeros(len(points))
    for _ in range(_STEPS):
        expected = 1.0 / (1.0 + np.exp(ratings[None, :] - ratings[:, None]))
        covariance = np.linalg.pinv(_information(games * expected * (1.0 - expected)), hermitian=True)
        step = covariance @ (won - (games * expected).sum(axis=1))
        longest = float(np.abs(step).max())
        ratings += step * min(1.0, _LONGEST_STEP / max(longest, _LONGEST_STEP))
        if longest < _PRECISION:
            deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
            return Ratings(_ELO_PER_NAT * (ratings - ratings.mean()), Z_95 * _ELO_PER_NAT * deviations)
    raise MatchError(
        problem("no most likely ratings: a player or group won every game against the rest", expected="prior games")
    )


def _information(weights: Floats) -> Floats:
    """Return the Fisher information of the ratings for symmetric `weights` [P, P] of the games between two players."""
    return np.diag(weights.sum(axis=1)) - weights


def _check_connected(games: Floats) -> None:
    """Raise MatchError unless a chain of games connects every two players."""
    reached = np.zeros(len(games), dtype=bool)
    reached[0] = True
    for _ in games:
        reached |= (games[reached] > 0).any(axis=0)
    if not reached.all():
        raise MatchError(problem("some players are not connected by games", expected="a round robin"))


def format_standings(names: Sequence[str], points: Floats, columns: Mapping[str, Sequence[str]]) -> str:
    """Return a Markdown table of players, the best first: rating, games, share of the points, and that by opponent.

    `columns` holds further columns by their titles, a text for each player.
    """
    ratings, games = rate_players(points), points + points.T
    order = np.argsort(-ratings.elo, kind="stable")
    titles = ["#", "player", "Elo", "games", "points", *(str(place) for place in range(1, len(names) + 1)), *columns]
    lines = [_row(titles), _row(["---:", "---", *["---:"] * (len(titles) - 2)])]
    for place, player in enumerate(order, start=1):
        shares = [_share(points[player, other], games[player, other]) for other in order]
        rating = f"{ratings.elo[player]:+.0f} ± {ratings.margin[player]:.0f}"
        whole = _share(points[player].sum(), games[player].sum())
        further = (texts[player] for texts in columns.values())
        lines.append(_row([str(place), names[player], rating, f"{games[player].sum():.0f}", whole, *shares, *further]))
    return "\n".join(lines)


def _share(points: float, games: float) -> str:
    return f"{points / games:.0%}" if games else "–"


def _row(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
