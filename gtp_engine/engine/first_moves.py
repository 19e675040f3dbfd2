"""The limits of searches at a first start, while kernels that are not compiled yet have to be interpreted."""

from dataclasses import replace
from typing import Final

from gtp_engine.engine.request import Request
from gtp_engine.kernel_cache import NETWORK, ROLLOUTS
from gtp_engine.time_manager import TimeBudget

SECONDS: Final = 4.0
"""Longest search.  The root and the step under way when time is up may come on top, and gtp2ogs's smallest clock leaves
15 s for the first move."""

VISITS: Final = {NETWORK: 64, ROLLOUTS: 16}
"""Most visits, by kind of search.  On an idle core a visit with a network takes 0.03 s on 19×19 and an interpreted
rollout 0.1 s.  Rollouts also come in batches of so many, between which no clock is read."""


def first_budget(budget: TimeBudget) -> TimeBudget:
    """Return the part of a budget that a search with interpreted kernels gets."""
    return replace(budget, target=min(budget.target, SECONDS), maximum=min(budget.maximum, SECONDS))


def first_request(request: Request, searches: str) -> Request:
    """Return a request limited to the visits of a search with interpreted kernels."""
    return replace(request, visits=VISITS[searches])
