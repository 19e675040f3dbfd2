"""The choice of a move as people play: a human-like policy mixed with the weights of the search.

A move that is worse than the best becomes less likely by e for each `human_pikl_lambda` of utility; the name is that of
the method, piKL (Jacob et al. 2022), search regularised towards an imitation of people.  Formulas from KataGo 1.17
(`getPlaySelectionValues` in cpp/search/searchresults.cpp).
"""

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import HumanConfig
from gtp_engine.go.constants import PASS

Floats = NDArray[np.float64]


def human_weights(
    weights: Floats, utilities: Floats, human: Floats, points: NDArray[np.int64], config: HumanConfig
) -> Floats:
    """Return the weights [k] that moves are chosen by: those of the search with the configured share of people's.

    `weights` [k] are in visits, `utilities` [k] those for the side to play, `human` [k] probabilities of the human-like
    policy, 0 where a move must not be chosen by it; `points` [k] are the moves.
    """
    total = float(weights.sum())
    shares = _tilted(human, utilities, config.human_pikl_lambda)
    if shares is None:
        return weights
    if config.human_ignore_pass and total > 0.0:
        shares = _without_pass(shares, weights / total, points == PASS)
    return weights + config.human_move_share * (total * shares - weights)


def _tilted(human: Floats, utilities: Floats, scale: float) -> Floats | None:
    """Return the policy tilted towards moves of high utility, its sum 1; None if it has no move."""
    is_played = human > 0.0
    if not is_played.any():
        return None
    behind = np.minimum(0.0, utilities - utilities[is_played].max())
    factors = np.exp(behind / scale) if scale > 0.0 else (behind >= 0.0).astype(np.float64)
    shares = human * factors
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def _without_pass(shares: Floats, of_search: Floats, is_pass: NDArray[np.bool_]) -> Floats:
    """Return the shares with the search's own for passing, if people would play anything else."""
    others = float(shares[~is_pass].sum())
    if others <= 0.0:
        return shares
    passing = float(of_search[is_pass].sum())
    return np.where(is_pass, of_search, shares * (1.0 - passing) / others)
