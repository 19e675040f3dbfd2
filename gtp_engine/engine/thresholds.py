"""How many visits and samples a conclusion needs: a single rollout proves little, a single network evaluation a lot."""

from dataclasses import dataclass
from typing import Final

from gtp_engine.search.report import FEW_VISITS
from gtp_engine.time_manager import SETTLED_MIN_VISITS


@dataclass(frozen=True)
class Thresholds:
    """Numbers of visits and samples for one kind of search."""

    status_visits: int
    """Visits of each of the two searches (Black first, White first) that estimate which stones are dead."""
    confirm_visits: int
    """Visits of each search that confirms that a game is over, time permitting."""
    reading_visits: int
    """Visits for each move that reads out whether a group lives."""
    reads_at_once: bool
    """Whether groups in doubt are read out as soon as the game may be over, not only before a pass."""
    ownership_samples: int
    """Fewest samples of an ownership from which the status of stones is estimated."""
    tried_visits: int
    """Fewest visits of a root move for its result to count."""
    settled_visits: int
    """Fewest visits of the best move for an extreme winrate to end the search."""


ROLLOUT_THRESHOLDS: Final = Thresholds(
    status_visits=1500,
    confirm_visits=1000,
    reading_visits=1000,
    reads_at_once=True,  # a move takes 0.1 s
    ownership_samples=32,  # a batch; a finished position has few, as most playouts pass twice
    tried_visits=FEW_VISITS,
    settled_visits=SETTLED_MIN_VISITS,
)
"""A rollout is either won or lost; the mean of n of them has a standard error of about 1/√n."""

NETWORK_THRESHOLDS: Final = Thresholds(
    status_visits=8,
    confirm_visits=8,
    reading_visits=200,  # with 64 the shipped network misses a sacrifice of four stones that kills by a nakade
    reads_at_once=False,  # a reading takes seconds, and one that runs out of time is repeated move after move
    ownership_samples=1,
    tried_visits=1,
    settled_visits=50,
)
"""An evaluation already is an expectation: the search only has to check that the next moves change nothing.

Chosen for networks with 7 to 60 evaluations a second: an estimate takes one or two seconds at most, and a settled move
one.  KataGo spends 8 visits or more on the same questions (`maybeFriendlyPass`).
"""
