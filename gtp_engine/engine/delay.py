"""Waiting before a move as a person does: longer for moves that the policy finds surprising.

The mean is ½ s / (p + 0.1) seconds for the configured scale s and the policy's probability p of the move; waits follow
a gamma distribution of shape 2 around it.  KataGo's formula (`delayMoveScale` in cpp/command/gtp.cpp), with the
human-like network's policy where there is one.
"""

import threading
from typing import Final

import numpy as np

from gtp_engine.config import PlayConfig
from gtp_engine.engine.choice import Choice
from gtp_engine.search.cancellation import CancelToken

_SHAPE: Final = 2.0
_SHARE: Final = 0.5
_LEAST_PROBABILITY: Final = 0.1


class Delays:
    """Draws how long to wait before moves."""

    def __init__(self, seed: int) -> None:
        self._random: Final = np.random.default_rng(seed)

    def seconds(self, choice: Choice, config: PlayConfig) -> float:
        """Return how long to wait before a move; 0 without a policy, and for a resignation."""
        policy = choice.report.human or choice.report.raw
        if config.delay <= 0.0 or choice.resign or policy is None:
            return 0.0
        probability = max(0.0, float(policy.policy[choice.point]))
        mean = _SHARE * config.delay / (probability + _LEAST_PROBABILITY)
        return min(float(self._random.gamma(_SHAPE)) * mean / _SHAPE, config.delay_max)


def wait(seconds: float, cancel: CancelToken) -> None:
    """Wait, but not beyond a cancellation; not at all for 0 or less."""
    if seconds > 0.0:
        ended = threading.Event()
        with cancel.calling(ended.set):
            ended.wait(seconds)
