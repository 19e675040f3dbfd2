"""The rollout policy of AlphaGo as a value: the weights of its features (Silver et al. 2016, extended data table 4).

A move's odds are the exponential of the sum of its features' weights.  The features are defined where they are
computed (`search.rollouts.neighborhoods`, `search.rollouts.linear`); this value passes from a file to a search.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

FEATURES: Final = "linear-1"
"""The set of features; weights of another set mean something else."""

DIAMOND_SIZE: Final = 12
"""Points of a response pattern: those within two steps of the last move."""


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """Weights by feature; patterns that are not listed have weight 0.  P, Q and R count the patterns of each kind.

    Patterns and diamonds are seen by Black, the side to move, in the one of eight orientations with the smallest code.
    """

    patterns: NDArray[np.int64]  # [P] patterns with liberties around the move
    pattern_weights: NDArray[np.float32]  # [P]
    plain_patterns: NDArray[np.int64]  # [Q] the same without liberties
    plain_weights: NDArray[np.float32]  # [Q]
    diamonds: NDArray[np.int64]  # [R] diamonds around the opponent's last move
    diamond_weights: NDArray[np.float32]  # [R, DIAMOND_SIZE] of a move on each of their points
    near: NDArray[np.float32]  # [3] of a move beside, diagonal to and two steps from the last one
    save_by_capture: float = 0.0
    save_by_escape: float = 0.0
    nakade: float = 0.0
    name: str = ""
    origin: str = ""
    license: str = ""
