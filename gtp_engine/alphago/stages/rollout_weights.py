"""The weights of the linear rollout policy as one vector, and the scores that they sum to.

    S weights of patterns with liberties, Q of plain patterns, FIRST_DIAMOND of moves that save or kill,
    three of distance, DIAMOND_SIZE for each diamond of the list

A pattern is identified by the smallest code of its eight orientations.
"""

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.alphago.linear_policy import REACHES, LinearPolicy, least_places
from gtp_engine.alphago.linear_rollouts import FIRST_DIAMOND, NAKADE, SAVE_BY_CAPTURE, SAVE_BY_ESCAPE
from gtp_engine.alphago.neighborhoods import (
    DIAMOND_SIZE,
    PATTERNS,
    pattern_images,
    plain_patterns,
    playable_patterns,
    swapped_patterns,
)
from gtp_engine.alphago.stages.rollout_gradient import COUNTS, Floats, Gradient, Scores
from gtp_engine.go.board import IntArray

Ints = NDArray[np.int64]

_NEAR: Final = slice(FIRST_DIAMOND, FIRST_DIAMOND + 3)
_HANDCRAFTED: Final = FIRST_DIAMOND + 3
"""The number of weights that belong neither to patterns nor to diamonds."""


def uniform_policy(diamonds: Ints) -> LinearPolicy:
    """Return the policy with these diamonds whose weights are all 0."""
    codes, weights = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
    responses = np.zeros((len(diamonds), DIAMOND_SIZE), dtype=np.float32)
    return LinearPolicy(codes, weights, codes, weights, diamonds, responses, near=np.zeros(3, dtype=np.float32))


class _Numbering(NamedTuple):
    """The indices of patterns."""

    patterns: Ints  # [S] codes of playable patterns, each the smallest of its orientations
    kinds: IntArray  # [2, PATTERNS] index of each code, for Black and for White; 0 for patterns that are not playable
    plains: Ints  # [Q] codes of the plain patterns
    plain_of: Ints  # [S] index of each pattern's plain pattern


@cache
def _numbering() -> _Numbering:
    """Return the indices; computing them takes half a second."""
    codes = np.arange(PATTERNS)
    least, playable = pattern_images(codes).min(axis=0), playable_patterns(codes)
    patterns = np.unique(least[playable])
    kinds = np.where(playable, np.searchsorted(patterns, least), 0)
    plains, plain_of = np.unique(least[plain_patterns(patterns)], return_inverse=True)
    both = np.stack([kinds, kinds[swapped_patterns(codes)]]).astype(np.int32)
    return _Numbering(patterns, both, plains, plain_of)


class WeightSpace:
    """The layout of the weight vector; `diamonds` [R] are those whose responses have weights of their own."""

    def __init__(self, diamonds: Ints) -> None:
        self.diamonds: Final = diamonds
        self.patterns, self.kinds, self.plains, self._plain_of = _numbering()
        known = least_places(diamonds) + DIAMOND_SIZE * np.arange(len(diamonds))[:, None]
        self._response_of: Final = known.ravel()

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.patterns) + len(self.plains) + _HANDCRAFTED + DIAMOND_SIZE * len(self.diamonds)

    def parts(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return views of the weights: patterns, plain patterns, handcrafted, responses [R · DIAMOND_SIZE]."""
        edges = np.cumsum([len(self.patterns), len(self.plains), _HANDCRAFTED])
        patterns, plains, handcrafted, responses = np.split(weights, edges)
        return patterns, plains, handcrafted, responses

    def scores(self, weights: Floats) -> Scores:
        """Return the scores of all features."""
        patterns, plains, handcrafted, responses = self.parts(weights)
        near = handcrafted[_NEAR][REACHES]
        known = responses[self._response_of].reshape(-1, DIAMOND_SIZE) + near
        local = np.concatenate([handcrafted[:FIRST_DIAMOND], near, known.ravel()])
        return Scores(self.kinds, patterns + plains[self._plain_of], local)

    def gradient(self, of_scores: Gradient) -> Floats:
        """Return the gradient with respect to the weights from that with respect to the scores."""
        responses = of_scores.local[FIRST_DIAMOND:].reshape(-1, DIAMOND_SIZE)
        near = np.bincount(REACHES, weights=responses.sum(axis=0))
        known = responses[1:].ravel()
        return np.concatenate(
            [
                of_scores.patterns,
                np.bincount(self._plain_of, weights=of_scores.patterns),
                of_scores.local[:FIRST_DIAMOND],
                near,
                np.bincount(self._response_of, weights=known, minlength=known.size),
            ]
        )

    def empty_gradient(self) -> Gradient:
        """Return a gradient of zeros."""
        local = FIRST_DIAMOND + DIAMOND_SIZE * (len(self.diamonds) + 1)
        return Gradient(np.zeros(len(self.patterns)), np.zeros(local), np.zeros(COUNTS))

    def policy(self, weights: Floats) -> LinearPolicy:
        """Return the policy with these weights; pattern weights of 0 are left out."""
        patterns, plains, handcrafted, responses = (part.astype(np.float32) for part in self.parts(weights))
        return LinearPolicy(
            patterns=self.patterns[patterns != 0],
            pattern_weights=patterns[patterns != 0],
            plain_patterns=self.plains[plains != 0],
            plain_weights=plains[plains != 0],
            diamonds=self.diamonds,
            diamond_weights=responses[self._response_of].reshape(-1, DIAMOND_SIZE),
            near=handcrafted[_NEAR],
            save_by_capture=float(handcrafted[SAVE_BY_CAPTURE]),
            save_by_escape=float(handcrafted[SAVE_BY_ESCAPE]),
            nakade=float(handcrafted[NAKADE]),
        )
