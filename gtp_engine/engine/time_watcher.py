"""Stops a running search in time: applies the rules of `time_manager` between batches, one step ahead."""

from collections import deque
from dataclasses import replace
from typing import Final

from gtp_engine.config import Config
from gtp_engine.engine.thresholds import Thresholds
from gtp_engine.search.limits import Progress
from gtp_engine.time_manager import TimeBudget, is_settled, should_stop

RECENT_STEPS: Final = 4
"""Steps of a search (from one call of its watcher to the next) whose longest predicts the next one."""

KNOWN_RATE: Final = 16
"""Playouts after which their rate is known: the first ones of a search wait for its root, and come one at a time."""


class TimeWatcher:
    """The watcher of one search (see `Limits`); `late` seconds of the budget had passed when the search began.

    With `may_stop_when_won` a very high winrate ends the search (`time_manager.may_stop_when_won`).

    A search calls its watcher between two batches, and a batch of a slow network takes half a second.  So the watcher
    stops the search before the step that would exceed the maximum.  If the maximum is an average, it stops before a
    step of which more than half would exceed it.
    """

    def __init__(
        self,
        budget: TimeBudget,
        config: Config,
        thresholds: Thresholds,
        *,
        late: float = 0.0,
        may_stop_when_won: bool = False,
    ) -> None:
        self._budget: Final = budget
        self._config: Final = config
        self._thresholds: Final = thresholds
        self._late: Final = late
        self._may_stop_when_won: Final = may_stop_when_won
        self._steps: Final[deque[float]] = deque(maxlen=RECENT_STEPS)
        self._last_call = 0.0

    def __call__(self, progress: Progress) -> bool:
        """Return whether to stop now."""
        self._steps.append(progress.seconds - self._last_call)
        self._last_call = progress.seconds
        next_step = max(self._steps)
        maximum = self._budget.maximum - self._late - (next_step / 2 if self._budget.is_average else next_step)
        target = min(self._budget.target - self._late, maximum)
        config, rate = self._config.time, progress.playouts / max(progress.seconds, 1e-6)
        settled = is_settled(
            candidates=progress.choices,
            visits=progress.leader_visits,
            winrate=progress.winrate,
            config=config,
            may_stop_when_won=self._may_stop_when_won,
            enough_visits=self._thresholds.settled_visits,
        )
        return should_stop(
            progress.seconds,
            replace(self._budget, target=target, maximum=maximum),
            leader_visits=progress.leader_visits,
            runner_up_visits=progress.runner_up_visits,
            visits_per_second=rate if progress.playouts >= KNOWN_RATE else 0.0,
            leader_has_best_value=progress.leader_is_best_value,
            settled=settled,
            early_stop=config.early_stop,
        )
