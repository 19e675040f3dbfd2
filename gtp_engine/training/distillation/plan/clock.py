"""How much time a part of a plan has, and how it is divided.  Pure arithmetic on seconds.

|<- startup ->|<--------- generate, train --------->|<- finish ->|<- reserve ->|
begin                                                                      end of part
"""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

RESERVE: Final = 0.02
"""Share of a part that is left for what nothing else accounts for."""
_USABLE: Final = 0.97
"""Share of the time for training that its steps get: the rest goes into checkpoints and reports."""


@dataclass(frozen=True)
class PlanClock:
    """The time of a part that began at `began` (of `now`, in seconds), of a plan of which `used` seconds are over."""

    began: float
    part: float
    """Seconds of this part, and of each part after it."""
    total: float
    """Seconds of the plan."""
    used: float
    finish: float
    """Seconds that the end of a part takes: export, tables, files."""
    now: Callable[[], float] = time.monotonic

    @property
    def elapsed(self) -> float:
        """Seconds since the part began."""
        return self.now() - self.began

    @property
    def length(self) -> float:
        """Seconds of this part: the last one may be shorter."""
        return max(0.0, min(self.part, self.total - self.used))

    @property
    def left(self) -> float:
        """Seconds that this part has left for work, before it has to finish."""
        return max(0.0, self.length * (1 - RESERVE) - self.finish - self.elapsed)

    @property
    def is_over(self) -> bool:
        """Whether it is time to finish the part."""
        return self.left <= 0

    def next_left(self, startup: float) -> float:
        """Return the seconds that the next part will have for work once it has begun, which takes it `startup`."""
        following = min(self.part, self.total - self.used - self.length)
        return max(0.0, following * (1 - RESERVE) - self.finish - startup)

    def training_left(self, startup: float) -> float:
        """Return the seconds of training in this part and those to come, each of which needs `startup` to begin."""
        following = max(0.0, self.total - self.used - self.length)
        parts = math.ceil(following / self.part - 1e-9)
        of_each = startup + self.finish + RESERVE * self.part
        return _USABLE * (self.left + max(0.0, following - parts * of_each))


def most_samples(runs: Iterable[tuple[int, float]], seconds: float) -> float:
    """Return how many samples the longest of some runs sees, which share `seconds` in their order.

    A run is its wanted samples, 0 for as many as there is time for, and its speed in samples per second.
    """
    most = 0.0
    for wanted, speed in runs:
        samples = min(wanted, speed * seconds) if wanted else speed * seconds
        seconds -= samples / speed
        most = max(most, samples)
    return most
