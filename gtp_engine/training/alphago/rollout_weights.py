"""The weights of the linear rollout policy as one vector, and what scores they add up to.

    S weights of patterns with liberties, Q of plain patterns, FIRST_DIAMOND of moves that save or kill,
    three of nearness, DIAMOND_SIZE for each diamond of the list

Patterns are numbered by the least of their eight orientations.
"""

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.go.board import IntArray
from gtp_engine.search.rollouts.linear import FIRST_DIAMOND, NAKADE, SAVE_BY_CAPTURE, SAVE_BY_ESCAPE
from gtp_engine.search.rollouts.linear_tables import REACHES, least_places
from gtp_engine.search.rollouts.neighborhoods import (
    DIAMOND_SIZE,
    PATTERNS,
    pattern_images,
    plain_patterns,
    playable_patterns,
    swapped_patterns,
)
from gtp_engine.training.alphago.rollout_gradient import COUNTS, Floats, Gradient, Scores

Ints = NDArray[np.int64]

_NEAR: Final = slice(FIRST_DIAMOND, FIRST_DIAMOND + 3)
_HANDCRAFTED: Final = FIRST_DIAMOND + 3
"""How many weights are neither of patterns nor of diamonds."""


def indifferent_policy(diamonds: Ints) -> LinearPolicy:
    """Return the policy that knows these diamonds and likes all moves alike."""
    codes, weights = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
    answers = np.zeros((len(diamonds), DIAMOND_SIZE), dtype=np.float32)
    return LinearPolicy(codes, weights, codes, weights, diamonds, answers, near=np.zeros(3, dtype=np.float32))


class _Numbering(NamedTuple):
    """The numbers of patterns."""

    patterns: Ints  # [S] codes of those on which a stone may be put, each the least of its orientations
    kinds: IntArray  # [2, PATTERNS] number of each code as seen by Black, by White; 0 where no stone may be put
    plains: Ints  # [Q] codes of the plain ones
    plain_of: Ints  # [S] number of the plain one


@cache
def _numbering() -> _Numbering:
    """Return the numbers; takes half a second."""
    codes = np.arange(PATTERNS)
    least, playable = pattern_images(codes).min(axis=0), playable_patterns(codes)
    patterns = np.unique(least[playable])
    kinds = np.where(playable, np.searchsorted(patterns, least), 0)
    plains, plain_of = np.unique(least[plain_patterns(patterns)], return_inverse=True)
    both = np.stack([kinds, kinds[swapped_patterns(codes)]]).astype(np.int32)
    return _Numbering(patterns, both, plains, plain_of)


class WeightSpace:
    """What each weight is for; `diamonds` [R] are those whose answers have weights of their own."""

    def __init__(self, diamonds: Ints) -> None:
        self.diamonds: Final = diamonds
        self.patterns, self.kinds, self.plains, self._plain_of = _numbering()
        known = least_places(diamonds) + DIAMOND_SIZE * np.arange(len(diamonds))[:, None]
        self._answer_of: Final = known.ravel()

    @property
    def size(self) -> int:
        """How many weights there are."""
        return len(self.patterns) + len(self.plains) + _HANDCRAFTED + DIAMOND_SIZE * len(self.diamonds)

    def parts(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return views: of patterns, of plain patterns, handcrafted, of answers [R · DIAMOND_SIZE]."""
        edges = np.cumsum([len(self.patterns), len(self.plains), _HANDCRAFTED])
        patterns, plains, handcrafted, answers = np.split(weights, edges)
        return patterns, plains, handcrafted, answers

    def scores(self, weights: Floats) -> Scores:
        """Return the sums that moves are chosen by."""
        patterns, plains, handcrafted, answers = self.parts(weights)
        near = handcrafted[_NEAR][REACHES]
        known = answers[self._answer_of].reshape(-1, DIAMOND_SIZE) + near
        local = np.concatenate([handcrafted[:FIRST_DIAMOND], near, known.ravel()])
        return Scores(self.kinds, patterns + plains[self._plain_of], local)

    def gradient(self, of_scores: Gradient) -> Floats:
        """Return the gradient with regard to the weights from that with regard to the scores."""
        answers = of_scores.local[FIRST_DIAMOND:].reshape(-1, DIAMOND_SIZE)
        near = np.bincount(REACHES, weights=answers.sum(axis=0))
        known = answers[1:].ravel()
        return np.concatenate(
            [
                of_scores.patterns,
                np.bincount(self._plain_of, weights=of_scores.patterns),
                of_scores.local[:FIRST_DIAMOND],
                near,
                np.bincount(self._answer_of, weights=known, minlength=known.size),
            ]
        )

    def empty_gradient(self) -> Gradient:
        """Return a gradient of nothing."""
        local = FIRST_DIAMOND + DIAMOND_SIZE * (len(self.diamonds) + 1)
        return Gradient(np.zeros(len(self.patterns)), np.zeros(local), np.zeros(COUNTS))

    def policy(self, weights: Floats) -> LinearPolicy:
        """Return the policy with these weights, less those that are 0."""
        patterns, plains, handcrafted, answers = (part.astype(np.float32) for part in self.parts(weights))
        return LinearPolicy(
            patterns=self.patterns[patterns != 0],
            pattern_weights=patterns[patterns != 0],
            plain_patterns=self.plains[plains != 0],
            plain_weights=plains[plains != 0],
            diamonds=self.diamonds,
            diamond_weights=answers[self._answer_of].reshape(-1, DIAMOND_SIZE),
            near=handcrafted[_NEAR],
            save_by_capture=float(handcrafted[SAVE_BY_CAPTURE]),
            save_by_escape=float(handcrafted[SAVE_BY_ESCAPE]),
            nakade=float(handcrafted[NAKADE]),
        )
