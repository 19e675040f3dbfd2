"""How much a search must have seen to be believed: one rollout says little, one evaluation by a network a lot."""

from dataclasses import dataclass
from typing import Final

from gtp_engine.search.report import FEW_VISITS
from gtp_engine.time_manager import SETTLED_MIN_VISITS


@dataclass(frozen=True)
class Effort:
    """Numbers of visits and samples for one kind of search."""

    estimate_visits: int
    """Visits of each of the two searches (Black first, White first) that judge which stones are dead."""
    confirm_visits: int
    """Visits of each search that confirms that a game is over, time permitting."""
    judged_samples: int
    """Samples from which an ownership is judged."""
    tried_visits: int
    """Visits from which the result of a move at the root means something."""
    settled_visits: int
    """Visits of the best move from which an extreme winrate ends the search."""


ROLLOUTS: Final = Effort(
    estimate_visits=1500,
    confirm_visits=1000,
    judged_samples=32,  # a batch; a finished position has few, as most playouts pass twice
    tried_visits=FEW_VISITS,
    settled_visits=SETTLED_MIN_VISITS,
)
"""A result is won or lost by chance; its mean over n of them has an error of about 1/√n."""

NETWORK: Final = Effort(
    estimate_visits=8,
    confirm_visits=8,
    judged_samples=1,
    tried_visits=1,
    settled_visits=50,
)
"""Every evaluation is a mean already: the search only has to see that nothing happens in the next moves.

Chosen for networks that make 7 to 60 evaluations a second: an estimate takes one or two seconds at most, and a settled
move one.  KataGo spends 8 visits and more on the same questions (`maybeFriendlyPass`).
"""
