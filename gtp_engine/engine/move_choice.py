"""From a request for a move to the engine's choice: search → resign, or confirm the end → pass or play.

MoveChooser  makes a task of the request, has it decided, and waits as a person does; the engine plays the move
Choice       the result
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import ceil, inf
from typing import Final

import numpy as np

from gtp_engine.base.streams import Log
from gtp_engine.config import Config
from gtp_engine.config.sections import PlayConfig
from gtp_engine.engine.book.book import BookPlay
from gtp_engine.engine.decision import Decision
from gtp_engine.engine.ending import Ending
from gtp_engine.engine.game_end import may_be_over
from gtp_engine.engine.level_play import LevelPlay
from gtp_engine.engine.life_reading import PROOF_NODES
from gtp_engine.engine.rehearsal import Kernels
from gtp_engine.engine.searches import DynamicAdvantage, Searches, lowest
from gtp_engine.engine.time_manager import TimeBudget, TimeWatcher, budget, effort, may_stop_when_won
from gtp_engine.engine.variety import Variety
from gtp_engine.go.clock import Clock
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Point
from gtp_engine.go.game import Game, is_continued
from gtp_engine.go.phases import initial_advantage_black
from gtp_engine.search.limits import CancelToken, FirstMove, Limits, SearchRequest
from gtp_engine.search.report import SearchReport, for_color

CONFIRMATION_SHARE: Final = 0.1
"""Share of a move's maximum that the search leaves for confirming the end of the game."""

COMPILING_SECONDS: Final = 4.0
"""Longest search while kernels are being compiled.  The root and the step under way when time is up may come on top,
and gtp2ogs's smallest clock leaves 15 s for the first move."""

_SLOW_EVALUATION: Final = 0.5
"""Seconds of a move from which the log says why it had only one visit."""

COMPILING_VISITS: Final = 64
COMPILING_ROLLOUTS: Final = 16
"""Most visits meanwhile, without and with rollouts.  On an idle core a visit with a network takes 0.03 s on 19×19 and
an interpreted rollout 0.1 s.  Rollouts also come in batches of so many, between which no clock is read."""

_SHAPE: Final = 2.0
_SHARE: Final = 0.5
_LEAST_PROBABILITY: Final = 0.1
"""The distribution of waits, see `delay_before`; KataGo's (`delayMoveScale` in `cpp/command/gtp.cpp`)."""

COMPILING_NODES: Final = 20
"""Positions of one proof meanwhile, a second of an interpreted reader for each dozen chains."""


HANDICAP_ADVANTAGE: Final = 0.9
"""Points that one side is ahead at the start from which a game is a handicap game."""

CATCH_UP_FROM: Final = 0.2
"""Moves of both players for each point of the board before which the weaker side never resigns."""

CATCH_UP_UNTIL: Final = 0.6
"""Moves of both players for each point of the board by which the weaker side should have caught up."""

SCHEDULE_MARGIN: Final = 5.0
"""Points that the weaker side may be behind its schedule, besides `SCHEDULE_SHARE`."""

SCHEDULE_SHARE: Final = 0.15
"""Share of the initial deficit that the weaker side may be behind its schedule.  All five numbers are KataGo's."""


@dataclass(frozen=True)
class MoveTask:
    """A move to be chosen for `color` in `game`; its `budget` counts from `start` (of time.perf_counter)."""

    game: Game
    color: int
    request: SearchRequest
    budget: TimeBudget
    clock: Clock
    start: float
    nodes: int = PROOF_NODES
    """Positions of each proof about a chain."""

    @property
    def cancel(self) -> CancelToken:
        """The token of the request, which ends the decision early."""
        return self.request.limits.cancel or CancelToken()

    @property
    def deadline(self) -> float:
        """When the decision has to be made."""
        return self.start + self.budget.maximum


@dataclass(frozen=True)
class Choice:
    """The engine's move, a point or PASS, or its resignation (`point` is PASS then), and the report of the search.

    For example:

        choice = engine.genmove()
        print(choice.point, choice.report.visits)
    """

    point: Point
    report: SearchReport
    resign: bool = False

    def __repr__(self) -> str:
        return f"<Choice {'resign' if self.resign else self.point}, {self.report!r}>"


class MoveChooser:
    """Chooses moves with the `searches` of an engine and their `kernels`, at its `level`; `seed` is that of the delays.

    `log` receives a line about each choice.
    """

    def __init__(self, searches: Searches, kernels: Kernels, level: LevelPlay, seed: int, log: Log) -> None:
        config = searches.config
        self._searches: Final = searches
        self._kernels: Final = kernels
        self._level: Final = level
        self._log: Final = log
        self.resignation: Final = Resignation(config.play)
        self._dynamic_advantage: Final = DynamicAdvantage(config.puct.dynamic_advantage)
        self._random = np.random.default_rng(seed)
        self._book: Final = None if config.play.book is None else BookPlay(config.play.book, log)
        self._variety = Variety(config.variety, log)

    def configure(self, config: Config) -> None:
        """Use another configuration, which the searches have already."""
        self.resignation.config = config.play
        if config.variety != self._variety.config:
            self._variety = Variety(config.variety, self._log)
        self._dynamic_advantage.per_point = config.puct.dynamic_advantage

    def set_seed(self, seed: int) -> None:
        """Restart the random numbers of the delays and of the level's draws at `seed`."""
        self._random = np.random.default_rng(seed)
        self._level.set_seed(seed)

    def prepare(self, game: Game, color: int, request: SearchRequest, clock: Clock, start: float) -> MoveTask:
        """Return the task of choosing the move, which began at `start`.

        Until the limits' cancel token, kernels are awaited that need no compiler.  So are the others where the search
        is to repeat exactly: with a seed and a number of visits, and without a limit of time.
        """
        config, nodes = self._searches.config, PROOF_NODES
        bonus = self._variety.bonus_black(game, color) if self._variety.is_on and not self._level.is_on else None
        limits, area = request.limits, game.width * game.height
        time_for_move = budget(clock, moves_played=len(game.moves), area=area, config=config)
        share = effort(config.time, passes=_passes_of_opponent(game), winrates=self.resignation.winrates(game, color))
        if share < 1.0:
            limits, time_for_move = with_less_effort(limits, config, share), time_for_move.times(share)
        if self._kernels.is_compiling and not self.repeats_exactly(time_for_move):
            self._log(f"Still compiling ({self._kernels.progress}): this move is chosen by a small search.")
            visits = COMPILING_ROLLOUTS if self._searches.resources.plays_out(config) else COMPILING_VISITS
            limits = replace(limits, visits=min(visits, limits.visits or visits))
            time_for_move, nodes = time_for_move.at_most(COMPILING_SECONDS), COMPILING_NODES
        else:
            self._kernels.wait(limits.cancel or CancelToken())
        request = replace(request, limits=limits, advantage_black=self.advantage_black(game), bonus_black=bonus)
        return MoveTask(game, color, request, time_for_move, clock, start, nodes)

    def repeats_exactly(self, budget: TimeBudget) -> bool:
        """Return whether the same search is expected every time: nothing but visits ends it, and its seed was given."""
        is_seeded = self._searches.seed is not None
        return is_seeded and self._searches.config.search.is_limited and budget.target == inf

    def choose(self, task: MoveTask, *, may_resign: bool = False, cleanup: bool = False) -> Choice:
        """Return the move, and note at the clock how late it is; with `may_resign` it counts for resigning.

        With `cleanup` (after a dispute about dead stones) there is no pass while dead enemy stones are on the board.
        """
        choice = None if self._book is None or self._level.is_on or cleanup else self._choice_from(self._book, task)
        if choice is None:
            report = self._search(task)
            is_over = may_resign and self.resignation.is_due(task.game, report)
            is_over = is_over and (not self._level.is_on or self._level.gives_up(task.game, report))
            move = PASS if is_over else self._move(task, report, cleanup=cleanup)
            choice = Choice(task.game.point(move), report, resign=is_over)
        self._log(describe(task, choice))
        passed = time.perf_counter() - task.start
        if choice.report.visits == 1 and passed >= _SLOW_EVALUATION:
            self._log(
                f"It had one visit: the first evaluation took {passed:.1f} s, as the network is prepared once for each "
                "board size."
            )
        delay = min(delay_before(choice, self._searches.config.play, self._random), task.deadline - time.perf_counter())
        if delay > 0.0:
            ended = threading.Event()
            with task.cancel.calling(ended.set):
                ended.wait(delay)
        if task.deadline < inf:
            task.clock.note_lateness(time.perf_counter() - task.deadline)
        return choice

    def _search(self, task: MoveTask) -> SearchReport:
        """Search for the move; where the game may be over, some of its time is left to confirm that."""
        game, config, time_for_move = task.game, self._searches.config, task.budget
        if may_be_over(game):
            time_for_move = time_for_move.at_most(time_for_move.maximum * (1.0 - CONFIRMATION_SHARE))
        area = game.width * game.height
        watcher = TimeWatcher(
            time_for_move,
            config,
            self._searches.thresholds.settled_visits,
            late=time.perf_counter() - task.start,
            may_stop_when_won=may_stop_when_won(moves_played=len(game.moves), area=area, config=config),
            may_stop_when_forced=not task.request.restrictions,  # who asks about one move wants to know about it
        )
        if self._level.is_on:
            return self._level.search(game, task.color, task.request, watcher)
        return self._searches.search_move(game, task.color, task.request, watcher, FirstMove.DRAWN)

    def _move(self, task: MoveTask, report: SearchReport, *, cleanup: bool) -> int:
        """Return the point to play after a search, or PASS."""
        thresholds = self._searches.thresholds
        search_again = partial(self._searches.confirm, task.game, deadline=task.deadline, cancel=task.cancel)
        decision = Decision(
            Ending(
                task.game,
                report,
                thresholds,
                confirm=cache(search_again),
                look_again=cache(partial(search_again, visits=thresholds.pass_visits)),
                nodes=task.nodes,
            ),
            self._level if self._level.is_on else None,
            frozenset[int]().union(*(each.points for each in task.request.restrictions if each.color == task.color)),
            fill_dame=self._searches.uses_network and self._searches.config.puct.fill_dame,
        )
        return decision.cleanup_move() if cleanup else decision.move()

    def _choice_from(self, book: BookPlay, task: MoveTask) -> Choice | None:
        """Return the move that the book has, None without one, out of turn, and where moves are left out."""
        is_free = task.color == task.game.to_play and not task.request.restrictions
        report = book.report(task.game) if is_free else None
        if report is None:
            return None
        if task.request.reporting is not None:
            task.request.reporting.receive(report)
        return Choice(task.game.point(report.best_point), report)

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
        if self._variety.is_on and not choice.resign:
            self._variety.record(game, game.as_move((choice.report.to_play, choice.point)))


def with_less_effort(limits: Limits, config: Config, share: float) -> Limits:
    """Return the limits with this share of their visits and playouts, or of those configured if these are fewer."""
    visits, playouts = (
        None if number is None else max(1, ceil(share * number))
        for number in (lowest(config.search.visits, limits.visits), lowest(config.search.playouts, limits.playouts))
    )
    return replace(limits, visits=visits, playouts=playouts)


def _passes_of_opponent(game: Game) -> int:
    """Return how many moves of the opponent's, counted back from the last one, were passes: 0, 1, or 2 for more."""
    last = game.moves[-1:-4:-2]
    return next((number for number, move in enumerate(last) if move.point != PASS), len(last))


def describe(task: MoveTask, choice: Choice) -> str:
    """Return one line about a choice and its search, for the log."""
    game, report, advantage_black = task.game, choice.report, task.request.advantage_black
    line = next((found.pv for found in report.moves if found.point == choice.point), ())
    lead = "" if not report.has_score else f"lead {for_color(report.lead_black, report.to_play):+.1f}, "
    if advantage_black:
        lead += f"advantage {for_color(advantage_black, report.to_play):+g} doublings, "
    rate = report.playouts / max(report.seconds, 1e-6)
    return (
        f"{'resign' if choice.resign else game.vertex(choice.point)}: winrate {100 * report.winrate:.1f}%, {lead}"
        f"visits {report.visits}, {rate:.0f} playouts/s, {report.seconds:.2f} s, "
        f"pv {' '.join(map(game.vertex, line)) or 'none'}"
    )


def delay_before(choice: Choice, config: PlayConfig, random: np.random.Generator) -> float:
    """Return how long to wait before a move, as a person does: longer for one that the policy finds surprising.

    The mean is ½ s / (p + 0.1) seconds for the configured scale s and the policy's probability p of the move; waits
    follow a gamma distribution of shape 2 around it.  0 without a policy, and for a resignation.
    """
    policy = choice.report.human or choice.report.raw
    if config.delay <= 0.0 or choice.resign or policy is None:
        return 0.0
    probability = max(0.0, float(policy.policy[choice.point]))
    mean = _SHARE * config.delay / (probability + _LEAST_PROBABILITY)
    return min(float(random.gamma(_SHAPE)) * mean / _SHAPE, config.delay_max)


class Resignation:
    """Keeps, for each colour, the winrates of its moves: it resigns when several in a row were lost.

    Some controllers (gtp2ogs with a pool of engines) set up the whole game before each move, so a game is recognised by
    its moves: they are kept while those of the last call continue, and forgotten with any others.

    The weaker side of a handicap game starts far behind and catches up over many moves.  It resigns only when it is
    clearly behind the schedule of such a game, as KataGo does (`shouldResign` in `cpp/command/gtp.cpp`).
    """

    def __init__(self, config: PlayConfig) -> None:
        self.config = config
        self._winrates: dict[int, list[float]] = {BLACK: [], WHITE: []}
        self._last_game: Game | None = None

    def reset(self) -> None:
        """Count from the next move on, after a move was taken back or not played."""
        self._winrates = {BLACK: [], WHITE: []}

    def winrates(self, game: Game, color: int) -> Sequence[float]:
        """Return the winrates of the moves that count for resigning, of one colour in this game."""
        is_known = self._last_game is not None and is_continued(self._last_game, game)
        return self._winrates[color] if is_known else ()

    def is_due(self, game: Game, report: SearchReport) -> bool:
        """Return whether the side to play should resign after this search; counts the move."""
        if self._last_game is None or not is_continued(self._last_game, game):
            self.reset()
        self._last_game = game.copy()
        config, color = self.config, report.to_play
        self._winrates[color].append(report.winrate)
        recent = self._winrates[color][-config.resign_turns :]
        if not (
            config.resign
            and len(recent) == config.resign_turns
            and max(recent) < config.resign_winrate
            and len(game.moves) >= int(config.resign_min_moves * game.width * game.height)
        ):
            return False
        lead = for_color(report.lead_black, color)
        is_close = config.resign_min_points is not None and lead > -config.resign_min_points
        return not is_close and not is_on_schedule(game, color, lead)


def is_on_schedule(game: Game, color: int, lead: float) -> bool:
    """Return whether a handicap explains that `color` is behind by −`lead` points; False in an even game.

    The deficit that a handicap explains shrinks from all of it to none between `CATCH_UP_FROM` and `CATCH_UP_UNTIL`.
    """
    deficit = -for_color(initial_advantage_black(game), color)
    if deficit <= HANDICAP_ADVANTAGE:
        return False
    area, played = game.width * game.height, len(game.moves)
    first = 1 + int(CATCH_UP_FROM * area)
    if played < first:
        return True
    length = max(1.0, CATCH_UP_UNTIL * area - first)
    still_expected = deficit * max(0.0, 1.0 - (played - first) / length)
    return lead > -(still_expected + SCHEDULE_MARGIN + SCHEDULE_SHARE * deficit)
