"""From a request for a move to the engine's choice; the engine plays it.

    prepare   returns the task: the time from the clock, the advantage of a handicap game, small limits at a first start
    choose    decides (`decision`), logs the choice and waits as a person does

What is remembered from move to move is here: how many were lost in a row, and the advantage with which the engine plays
a handicap game.  The side that starts behind has to expect that it outplays the other one, or all moves look equally
lost; the side that starts ahead should expect the opposite and play safely.  The advantage begins at a cap that grows
with the handicap.  Then it follows the winrate of the side that started behind: it grows while that is below 5 %, and
shrinks while it is above 25 %.  So it vanishes as the game becomes even.

That rule and its numbers are KataGo's (`updateDynamicPDAHelper` in `cpp/command/gtp.cpp`).  So is how long the engine
waits before a move (`delayMoveScale` there), with the human-like network's policy where there is one.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from gtp_engine.clock import Clock
from gtp_engine.config import Config, PlayConfig
from gtp_engine.engine.decision import Choice, MoveTask, Resignation, decide
from gtp_engine.engine.level_play import LevelPlay
from gtp_engine.engine.searches import Searches
from gtp_engine.errors import counted
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.phases import initial_advantage_black
from gtp_engine.kernel_cache import NETWORK, ROLLOUTS
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport, for_color
from gtp_engine.search.tree_reuse import is_continued
from gtp_engine.time_manager import TimeBudget, budget

COMPILING_SECONDS: Final = 4.0
"""Longest search while kernels are being compiled.  The root and the step under way when time is up may come on top,
and gtp2ogs's smallest clock leaves 15 s for the first move."""

COMPILING_VISITS: Final = {NETWORK: 64, ROLLOUTS: 16}
"""Most visits meanwhile, by kind of search.  On an idle core a visit with a network takes 0.03 s on 19×19 and an
interpreted rollout 0.1 s.  Rollouts also come in batches of so many, between which no clock is read."""

LARGEST: Final = 2.75
"""Doublings; KataGo's networks have seen few games with more."""

STEP: Final = 0.125
"""Doublings by which the advantage changes from one of the engine's moves to the next."""

LOW_VALUE: Final = -0.9
HIGH_VALUE: Final = -0.5
"""Results in [−1, 1] between which the side that started behind is kept."""

LARGEST_SMALL_BOARD: Final = 7
"""Width or height up to which a game is never a handicap game."""

_AREA_19: Final = 19 * 19

_SHAPE: Final = 2.0
_SHARE: Final = 0.5
_LEAST_PROBABILITY: Final = 0.1
"""The distribution of waits, see `Delays`."""


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

    def prepare(self, game: Game, color: int, limits: Limits, clock: Clock, start: float) -> MoveTask:
        """Return the task of choosing the move, which began at `start`; kernels that need no compiler are awaited."""
        config, resources = self._searches.config, self._searches.resources
        limits = replace(limits, advantage_black=self.advantage_black(game))
        area, kernels = game.width * game.height, resources.kernels
        time_for_move = budget(clock, moves_played=len(game.moves), area=area, config=config)
        if kernels is not None and kernels.is_compiling:
            ready = f"{kernels.loaded} of {kernels.total} kernels are ready"
            self._log(f"Still compiling ({ready}): this move is chosen by a small search.")
            limits = replace(limits, visits=COMPILING_VISITS[resources.kind(config)])
            time_for_move = while_compiling(time_for_move)
        elif kernels is not None:
            kernels.wait(CancelToken())
        return MoveTask(game, color, limits, time_for_move, start)

    def choose(self, task: MoveTask, *, may_resign: bool = False, cleanup: bool = False) -> Choice:
        """Return the move; with `may_resign` it counts for resigning.  For `cleanup` see `decide`."""
        level, resignation = self._level if self._level.is_on else None, self._resignation if may_resign else None
        choice = decide(task, self._searches, level, resignation=resignation, cleanup=cleanup)
        self._log(describe(task, choice))
        delay = self._delays.seconds(choice, self._searches.config.play)
        wait(min(delay, task.deadline - time.perf_counter()), task.cancel)
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


def while_compiling(budget: TimeBudget) -> TimeBudget:
    """Return the part of a budget that a search with interpreted kernels gets."""
    return replace(budget, target=min(budget.target, COMPILING_SECONDS), maximum=min(budget.maximum, COMPILING_SECONDS))


def describe(task: MoveTask, choice: Choice) -> str:
    """Return one line about a choice and its search, for the log."""
    game, report, advantage_black = task.game, choice.report, task.limits.advantage_black
    line = next((found.pv for found in report.moves if found.point == choice.point), ())
    lead = "" if not report.has_score else f"lead {for_color(report.lead_black, report.to_play):+.1f}, "
    if advantage_black:
        lead += f"advantage {for_color(advantage_black, report.to_play):+g} doublings, "
    rate = report.playouts / max(report.seconds, 1e-6)
    return (
        f"{'resign' if choice.resign else game.vertex(choice.point)}: winrate {100 * report.winrate:.1f} %, {lead}"
        f"{counted(report.visits, 'visit')}, {rate:.0f} playouts/s, {report.seconds:.2f} s, "
        f"pv {' '.join(map(game.vertex, line)) or 'none'}"
    )


class Delays:
    """Draws how long to wait before moves, as a person does: longer for moves that the policy finds surprising.

    The mean is ½ s / (p + 0.1) seconds for the configured scale s and the policy's probability p of the move; waits
    follow a gamma distribution of shape 2 around it.
    """

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


class DynamicAdvantage:
    """The advantage from move to move; `per_point` is the configured `puct.dynamic_advantage`.

    Some controllers set up the whole game before each move, so a game is recognised by its moves: it is the same game
    as long as they continue those of the last call.
    """

    def __init__(self, per_point: float) -> None:
        self.per_point = per_point
        self._last_game: Game | None = None
        self._last_black = 0.0
        self._last_value_black = 0.0

    def black(self, game: Game) -> float:
        """Return Black's advantage, doublings, for the next move of either colour; negative if White has it."""
        ahead_black = initial_advantage_black(game)
        behind = WHITE if ahead_black >= 0.0 else BLACK
        advantage = cap = largest_advantage(abs(ahead_black), game.width, game.height, per_point=self.per_point)
        has_begun = self._last_game is not None and is_continued(self._last_game, game)
        if has_begun and np.any(game.board.color == WHITE):
            last = for_color(self._last_black, behind)
            advantage = min(max(0.0, last + _change(for_color(self._last_value_black, behind))), cap)
        return for_color(advantage, behind) if advantage > 0.0 else 0.0

    def record(self, game: Game, report: SearchReport) -> None:
        """Note the search for a move that is about to be played in `game`; its advantage was `black(game)`."""
        self._last_black = self.black(game)
        self._last_value_black = report.value_black
        self._last_game = game.copy()


def largest_advantage(points: float, width: int, height: int, *, per_point: float) -> float:
    """Return the cap, doublings, for a side that started `points` behind; 0 where that is too little for a handicap.

    On small boards a point counts for more.
    """
    scaling = float(_AREA_19 / (width * height)) ** 0.75
    threshold = max(4.0 / scaling, 2.0)
    if points < threshold or min(width, height) <= LARGEST_SMALL_BOARD:
        return 0.0
    cap = min(LARGEST, per_point * (points - threshold) * scaling)
    return float(np.floor(cap / STEP + 0.5)) * STEP


def _change(value: float) -> float:
    """Return by how much the advantage of a side with this result in [−1, 1] changes."""
    if value < LOW_VALUE:
        return STEP
    return -STEP if value > HIGH_VALUE else 0.0
