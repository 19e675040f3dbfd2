"""The learning rate over a run."""

import math
from typing import Final

_FIRST_SHARE: Final = 0.01
"""Share of the highest rate that the first step has."""


def cosine_rate(fraction: float, *, highest: float, warm_up: float, final: float) -> float:
    """Return the learning rate when `fraction` of the run is done: a straight rise, then half a cosine wave down.

    `warm_up` is the part of the run in which it rises, `final` the share of `highest` that is left at the end.
    """
    if fraction < warm_up:
        return highest * max(_FIRST_SHARE, fraction / warm_up)
    wave = (1 + math.cos(math.pi * (fraction - warm_up) / (1 - warm_up))) / 2
    return highest * (final + (1 - final) * wave)
