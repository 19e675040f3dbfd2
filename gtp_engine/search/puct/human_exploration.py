"""Exploration by a human-like policy: which moves of a walk are selected by it, and whether they count.  Kernels.

At each node of a walk a random number decides how the move is selected: as usual, or by the policy of people, which
then may be without weight.  A move selected by that policy has the largest

    u + (a + b sqrt(W)) sqrt(W + ε) h / (1 + w)

with h the human-like policy and the rest as in `select`; b keeps moves explored however bad they turn out to be.  A
selection without weight evaluates the move without expecting it: the playout counts at the nodes below, and neither for
the edge nor at any node above.  There w and W are the weights of the nodes instead of the edges.  Later playouts that
select such an edge as usual end at its node until the visits of the edge have caught up.

Formulas from KataGo 1.17 (`selectBestChildToDescend` in cpp/search/searchexplorehelpers.cpp).
"""

from math import sqrt
from typing import Final, NamedTuple

from gtp_engine._jit import inlined_kernel, spliced_kernel
from gtp_engine.search.puct.tree import ROOT
from gtp_engine.search.rng import State, random_below

USUAL: Final = 0
"""A move is selected by the policy of the network that searches."""
BY_PEOPLE: Final = 1
"""A move is selected by the human-like policy, and counts."""
WITHOUT_WEIGHT: Final = 2
"""A move is selected by the human-like policy, and does not count."""

_RANDOM_STEPS: Final = 1 << 24
"""Number of values that a uniform random number in [0, 1) can have."""


class HumanExploration(NamedTuple):
    """How a search explores by a human-like policy, as scalars for kernels: options of `HumanConfig`.

    Not among `Params`, which are copied for each call of kernels that do not need these.
    """

    human_c_puct: float  # a
    human_c_puct_permanent: float  # b
    human_root_weightless: float
    human_root_weightful: float
    human_own_weightless: float
    human_own_weightful: float
    human_opponent_weightless: float
    human_opponent_weightful: float


@spliced_kernel
def draw_selection(node: int, is_own: bool, people: HumanExploration, rng: State) -> int:
    """Return how to select the move at a node: USUAL, BY_PEOPLE or WITHOUT_WEIGHT.

    `is_own`: the side to play at the root is to play.
    """
    weightless, weightful = people.human_opponent_weightless, people.human_opponent_weightful
    if node == ROOT:
        weightless, weightful = people.human_root_weightless, people.human_root_weightful
    elif is_own:
        weightless, weightful = people.human_own_weightless, people.human_own_weightful
    if weightless + weightful <= 0.0:
        return USUAL
    chance = random_below(rng, _RANDOM_STEPS) / _RANDOM_STEPS
    if chance < weightless:
        return WITHOUT_WEIGHT
    return BY_PEOPLE if chance < weightless + weightful else USUAL


@inlined_kernel
def human_scaling(total: float, first_weight: float, people: HumanExploration) -> float:
    """Return the factor of h / (1 + w) in the module's docstring; `total` is W, `first_weight` ε."""
    return (people.human_c_puct + people.human_c_puct_permanent * sqrt(total)) * sqrt(total + first_weight)
