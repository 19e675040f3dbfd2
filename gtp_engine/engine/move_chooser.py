"""From a request for a move to the engine's choice; the engine plays it.

    prepare   returns the task: the time from the clock, the advantage of a handicap game, small limits at a first start
    choose    decides (`decision`), logs the choice and waits as a person does

What is remembered from move to move is here: how many were lost in a row, and the advantage.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gtp_engine.clock import Clock
from gtp_engine.config import Config
from gtp_engine.engine.choice import Choice, describe
from gtp_engine.engine.decision import decide
from gtp_engine.engine.delay import Delays, wait
from gtp_engine.engine.dynamic_advantage import DynamicAdvantage
from gtp_engine.engine.first_moves import first_budget, first_request
from gtp_engine.engine.level_play import LevelPlay
from gtp_engine.engine.request import Request
from gtp_engine.engine.resignation import Resignation
from gtp_engine.engine.searches import Searches
from gtp_engine.go.game import Game
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.time_manager import TimeBudget, budget


@dataclass(frozen=True)
class MoveTask:
    """A move to be chosen for `color` in `game`; `budget` counts from `start` (of time.perf_counter)."""

    game: Game
    color: int
    request: Request
    budget: TimeBudget
    start: float


class MoveChooser:
    """Chooses moves with the `searches` of an engine, at its `level`; `seed` is that of the delays.

    `log` receives a line about each choice.
    """

    def __init__(self, searches: Searches, level: LevelPlay, seed: int, log: Callable[[str], None]) -> None:
        config = searches.config
        self._searches: Final = searches
        self._level: Final = level
        self._log: Final = log
        self._resignation: Final = Resignation(config.play)
        self._dynamic_advantage: Final = DynamicAdvantage(config.puct.dynamic_advantage)
        self._delays = Delays(seed)

    def configure(self, config: Config) -> None:
        """Use another configuration, which the searches have already."""
        self._resignation.config = config.play
        self._dynamic_advantage.per_point = config.puct.dynamic_advantage

    def set_seed(self, seed: int) -> None:
        """Restart the random numbers of the delays at `seed`."""
        self._delays = Delays(seed)

    def prepare(self, game: Game, color: int, request: Request, *, clock: Clock, start: float) -> MoveTask:
        """Return the task of choosing the move, which began at `start`."""
        kernels = self._searches.resources.kernels
        request = replace(request, advantage_black=self.advantage_black(game))
        time_for_move = budget(
            clock, moves_played=len(game.moves), area=game.width * game.height, config=self._searches.config
        )
        if kernels is not None and kernels.is_compiling:
            ready = f"{kernels.loaded} of {kernels.total} kernels are ready"
            self._log(f"Still compiling ({ready}): this move is chosen by a small search.")
            kind = self._searches.resources.kind(self._searches.config)
            return MoveTask(game, color, first_request(request, kind), first_budget(time_for_move), start)
        if kernels is not None:
            kernels.wait(CancelToken())
        return MoveTask(game, color, request, time_for_move, start)

    def choose(self, task: MoveTask, cancel: CancelToken, *, may_resign: bool = False, cleanup: bool = False) -> Choice:
        """Return the move; with `may_resign` it counts for resigning.  For `cleanup` see `decision.choose_move`."""
        choice = decide(
            task.game,
            task.color,
            searches=self._searches,
            budget=task.budget,
            start=task.start,
            request=task.request,
            cancel=cancel,
            resignation=self._resignation if may_resign else None,
            cleanup=cleanup,
            level=self._level if self._level.is_on else None,
        )
        self._log(describe(task.game, choice, task.request))
        deadline = task.start + task.budget.maximum
        delay = self._delays.seconds(choice, self._searches.config.play)
        wait(min(delay, deadline - time.perf_counter()), cancel)
        return choice

    def advantage_black(self, game: Game) -> float | None:
        """Return Black's playout doubling advantage in a handicap game; None where the configured one holds.

        Levels are measured without: handicap stones make up for ranks.
        """
        is_configured = self._searches.config.puct.playout_doubling_advantage != 0.0
        if self._level.is_on or is_configured or not self._searches.knows_advantage:
            return None
        return self._dynamic_advantage.black(game)

    def record(self, game: Game, choice: Choice) -> None:
        """Note a choice that is about to be played in `game`."""
        self._dynamic_advantage.record(game, choice.report)

    def forget_lost_moves(self) -> None:
        """Reset the count of lost moves, after a move was taken back or not played."""
        self._resignation.reset()
