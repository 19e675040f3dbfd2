"""From a request for a move to the engine's choice: search → resign, or confirm the end → pass or play.

    MoveChooser  makes a task of the request, has it decided, and waits as a person does; the engine plays the move
    decide       searches, then resigns or chooses a move
    Decision     what is known after the search; its methods are the steps to a move
    Choice       the result
    Resignation  keeps the winrates of the moves of a game
    Delays       how long to wait before a move

A search that follows results alone plays on when nothing is left to win (every move wins, or none does), and may then
fill its own territory.  So the engine passes once it is confirmed that nothing is left (`Decision.agreed_end`), and
never plays a move that cannot change anything (`game_end.is_useless`).
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import ceil, inf
from typing import Final

import numpy as np

from gtp_engine.base.errors import counted
from gtp_engine.config import Config, PlayConfig
from gtp_engine.engine.book.book import BookPlay
from gtp_engine.engine.game_end import (
    Ownership,
    StatusEstimate,
    allows_atari,
    chains_of,
    counts_all_stones,
    estimate_status,
    goes_in_circles,
    goes_round,
    has_dead_enemies,
    is_useless,
    legal_moves,
    liberties_of_dead,
    may_be_over,
    useless_points,
)
from gtp_engine.engine.level_play import LevelPlay
from gtp_engine.engine.life_reading import PROOF_NODES, may_pass_safely, proved_capture, read_out
from gtp_engine.engine.rehearsal import Kernels
from gtp_engine.engine.searches import DynamicAdvantage, Searches, Thresholds, TimeWatcher, lowest
from gtp_engine.engine.time_manager import TimeBudget, budget, effort, may_stop_when_won
from gtp_engine.engine.variety import Variety
from gtp_engine.go.clock import Clock
from gtp_engine.go.constants import BLACK, PASS, WHITE, opponent
from gtp_engine.go.coords import Point
from gtp_engine.go.game import Game, is_continued
from gtp_engine.go.phases import initial_advantage_black, is_late, may_stop
from gtp_engine.go.rules import Scoring
from gtp_engine.go.tactics import would_be_self_atari
from gtp_engine.search.limits import CancelToken, FirstMove, Limits, SearchRequest
from gtp_engine.search.report import MoveReport, SearchReport, best_of, for_color, winrate_of

CONFIRMATION_SHARE: Final = 0.1
"""Share of a move's maximum that the search leaves for confirming the end of the game."""

AGREED_WINRATE: Final = 0.8
"""If the side to play wins by counting, its winrate must be at least this; else the count has missed something."""

CONCEDED_WINRATE: Final = 0.95
"""If the side to play loses by counting, it stops only if the opponent's winrate is at least this."""

NEUTRAL_LOSS: Final = 0.1
"""Difference of results in [−1, 1] that two moves show by chance when neither matters."""

POINT: Final = 1.0
"""Points that a first move is worth from which it is played in a decided game, too.  In settled positions, two searches
of 8 visits, one for each side, differ by up to 0.7 points, two of 400 by up to 0.5."""

LIKELY_PASS: Final = 0.5
"""Least probability that the network gives to a pass that may be the only move which a search tries.  Of 396 searches
of 8 visits that wanted to pass at the end of games, 11 tried nothing else though it was less likely."""

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
"""The distribution of waits, see `Delays`; KataGo's (`delayMoveScale` in `cpp/command/gtp.cpp`)."""

Confirm = Callable[[int], SearchReport | None]
"""Searches the same position with a new tree and this colour to play; None if no time is left for it."""

COMPILING_NODES: Final = 20
"""Positions of one proof meanwhile, a second of an interpreted reader for each dozen chains."""


@dataclass(frozen=True)
class MoveTask:
    """A move to be chosen for `color` in `game`; `budget` counts from `start` (of time.perf_counter)."""

    game: Game
    color: int
    request: SearchRequest
    budget: TimeBudget
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

    def __init__(
        self, searches: Searches, kernels: Kernels, level: LevelPlay, seed: int, log: Callable[[str], None]
    ) -> None:
        config = searches.config
        self._searches: Final = searches
        self._kernels: Final = kernels
        self._level: Final = level
        self._log: Final = log
        self._resignation: Final = Resignation(config.play)
        self._dynamic_advantage: Final = DynamicAdvantage(config.puct.dynamic_advantage)
        self._delays = Delays(seed)
        self._book: Final = BookPlay(config.play.book, log)
        self._variety = Variety(config.variety, log)
        self.is_seeded = config.search.seed is not None
        """Whether the seed was given, so that searches of a given number of visits are to repeat exactly."""

    def configure(self, config: Config) -> None:
        """Use another configuration, which the searches have already."""
        self._resignation.config = config.play
        if config.variety != self._variety.config:
            self._variety = Variety(config.variety, self._log)
        self._dynamic_advantage.per_point = config.puct.dynamic_advantage

    def set_seed(self, seed: int) -> None:
        """Restart the random numbers of the delays and of the level's draws at `seed`."""
        self._delays = Delays(seed)
        self._level.set_seed(seed)

    def prepare(self, game: Game, color: int, request: SearchRequest, clock: Clock, start: float) -> MoveTask:
        """Return the task of choosing the move, which began at `start`.

        Until the limits' cancel token, kernels are awaited that need no compiler.  So are the others where the search
        is to repeat exactly: with a seed and a number of visits, and without a limit of time.
        """
        config, nodes = self._searches.config, PROOF_NODES
        bonus = None if self._level.is_on else self._variety.bonus_black(game, color)
        limits, area = request.limits, game.width * game.height
        time_for_move = budget(clock, moves_played=len(game.moves), area=area, config=config)
        share = effort(config.time, passes=_passes_of_opponent(game), winrates=self._resignation.winrates(game, color))
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
        return MoveTask(game, color, request, time_for_move, start, nodes)

    def repeats_exactly(self, budget: TimeBudget) -> bool:
        """Return whether the same search is expected every time: nothing but visits ends it, and its seed was given."""
        return self.is_seeded and self._searches.config.search.is_limited and budget.target == inf

    def choose(self, task: MoveTask, *, may_resign: bool = False, cleanup: bool = False) -> Choice:
        """Return the move; with `may_resign` it counts for resigning.  For `cleanup` see `decide`."""
        level, resignation = self._level if self._level.is_on else None, self._resignation if may_resign else None
        choice = None if level is not None or cleanup else self._choice_from_book(task)
        if choice is None:
            choice = decide(task, self._searches, level, resignation=resignation, cleanup=cleanup)
        self._log(describe(task, choice))
        passed = time.perf_counter() - task.start
        if choice.report.visits == 1 and passed >= _SLOW_EVALUATION:
            self._log(
                f"It had one visit: the first evaluation took {passed:.1f} s, as the network is prepared once for each "
                "board size."
            )
        delay = self._delays.seconds(choice, self._searches.config.play)
        wait(min(delay, task.deadline - time.perf_counter()), task.cancel)
        return choice

    def _choice_from_book(self, task: MoveTask) -> Choice | None:
        """Return the move that the book has, None without one, out of turn, and where moves are left out."""
        is_free = task.color == task.game.to_play and not task.request.restrictions
        report = self._book.report(task.game) if is_free else None
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
        if not choice.resign:
            self._variety.record(game, game.as_move((choice.report.to_play, choice.point)))

    def forget_lost_moves(self) -> None:
        """Reset the count of lost moves, after a move was taken back or not played."""
        self._resignation.reset()


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


def decide(
    task: MoveTask,
    searches: Searches,
    level: LevelPlay | None = None,
    *,
    resignation: "Resignation | None" = None,
    cleanup: bool = False,
) -> Choice:
    """Return the move for a task, or a resignation unless `resignation` is None; at a `level` if there is one.

    With `cleanup` (after a dispute about dead stones) there is no pass while dead enemy stones are on the board.
    """
    game, config, thresholds = task.game, searches.config, searches.thresholds
    watcher = TimeWatcher(
        _search_budget(game, task.budget),
        config,
        thresholds,
        late=time.perf_counter() - task.start,
        may_stop_when_won=may_stop_when_won(moves_played=len(game.moves), area=game.width * game.height, config=config),
        may_stop_when_forced=not task.request.restrictions,  # who asks about one move wants to know about it
    )
    if level is None:
        report = searches.search_move(game, task.color, task.request, watcher, FirstMove.DRAWN)
    else:
        report = level.search(game, task.color, task.request, watcher)
    if resignation is not None and resignation.is_due(game, report) and (level is None or level.gives_up(game, report)):
        return Choice(game.point(PASS), report, resign=True)
    search_again = partial(searches.confirm, game, deadline=task.deadline, cancel=task.cancel)
    decision = Decision(
        game,
        report,
        thresholds,
        confirm=cache(search_again),
        look_again=cache(partial(search_again, visits=thresholds.pass_visits)),
        nodes=task.nodes,
        level=level,
        left_out=frozenset[int]().union(
            *(each.points for each in task.request.restrictions if each.color == task.color)
        ),
        fill_dame=searches.uses_network and config.puct.fill_dame,
    )
    return Choice(game.point(decision.cleanup_move() if cleanup else decision.move()), report)


def _search_budget(game: Game, budget: TimeBudget) -> TimeBudget:
    """Return the part of a budget for the search itself; where the game may be over, some is left to confirm it."""
    return budget.at_most(budget.maximum * (1.0 - CONFIRMATION_SHARE)) if may_be_over(game) else budget


@dataclass(frozen=True)
class Decision:
    """A decision about a move after the search that found `report`, for the side that it is about."""

    game: Game
    report: SearchReport
    thresholds: Thresholds
    confirm: Confirm
    nodes: int = PROOF_NODES
    """Positions of each proof about a chain."""
    level: LevelPlay | None = None
    """Draws the move where the game goes on."""
    left_out: frozenset[int] = frozenset()
    """Points not to be played, perhaps PASS, which the search has left out already."""
    fill_dame: bool = False
    """Whether to fill neutral points under territory rules, too."""
    look_again: Confirm = lambda color: None
    """Confirms as `confirm` does, with the visits that a pass is worth where it may lose something."""

    @property
    def color(self) -> int:
        """The side whose move it is."""
        return self.report.to_play

    @property
    def may_pass(self) -> bool:
        """Whether a pass is not left out."""
        return PASS not in self.left_out

    # --- the steps ---

    def move(self) -> int:
        """Return the point to play, or PASS."""
        point = self._first_choice()
        if self.may_pass and self.level is None and self._ends_play(point):
            better = self._instead_of_pass()
            better = self._move_worth_points() if better == PASS else better
            better = self._capture_that_counts() if better == PASS == point else better
            point = point if better == PASS else better
        return PASS if self.may_pass and goes_round(self.game, self.game.as_move((self.color, point))) else point

    def _ends_play(self, point: int) -> bool:
        """Return whether a move is a pass, or fills a neutral point at the end though a chain may be in danger."""
        if point == PASS:
            return True
        status = estimate_status(self.game, self.report.ownership_black)
        return status.is_decided and point in status.neutral and not self._is_safe

    def _first_choice(self) -> int:
        """Return the point to play: it may lose something if it is a pass or a neutral point."""
        moves = legal_moves(self.game, self.report)
        if not moves:
            return PASS  # the search found only moves that repeat a position
        status = estimate_status(self.game, self.report.ownership_black)
        if self._is_pass_certain(status):
            return PASS
        end = self.agreed_end(status) if self.may_pass else None
        if end is not None:
            return self._last_move(end)
        if self.may_pass and self.is_won_repetition():
            return PASS
        point = self.useful_move(status) if self.level is None else self._level_move(self.level, status)
        return moves[0].point if point == PASS and not self.may_pass else point

    def _instead_of_pass(self) -> int:
        """Return the best move if a pass is clearly worse, else PASS.

        Where a few visits may not have found the move that a half point depends on, the search is repeated: if
        something is undecided, neutral points are left that count, counting or a move that was tried promises more than
        the pass is worth, a point decides and a chain could be put in atari, or nothing but the pass was tried though
        the network expects another move.
        """
        game, report = self.game, self.report
        status = estimate_status(game, report.ownership_black)
        point = self._if_better_than_pass(report, status)
        counts_neutral = bool(status.neutral) and game.rules.scoring is Scoring.AREA
        passing = next((move for move in report.moves if move.point == PASS), None)
        counted_value = for_color(float(np.sign(status.margin_black(game))), self.color)
        expected = counted_value if passing is None else for_color(passing.value_black, self.color)
        differs = counted_value - expected > NEUTRAL_LOSS and not game.has_free_button
        is_settled = status.is_decided and not counts_neutral and not differs
        may_turn = abs(status.margin_black(game)) <= POINT and allows_atari(game, status)
        is_risky = may_turn or self._is_pass_unproved() or not self._is_safe
        is_clear = is_settled and not is_risky and not self._has_better_move(expected, status)
        if point != PASS or is_clear or report.visits >= self.thresholds.pass_visits:
            return point
        again = None if self._loses_nothing(self.report) and not is_risky else self.look_again(self.color)
        if again is None or again.visits <= self.report.visits:
            return PASS
        return self._if_better_than_pass(again, estimate_status(self.game, again.ownership_black))

    def _move_worth_points(self) -> int:
        """Return the best move of a longer search if a pass would cost a point, also where that decides nothing.

        What a pass is worth is what a search expects in which the opponent moves first.  PASS if no move is worth more,
        or if there was no time to find out; where a chain is in danger, the best move that is known then.
        """
        game, report = self.game, self.report
        if not report.has_score or game.has_free_button or not may_be_over(game):
            return PASS
        if self._is_safe and not self._may_cost_a_point():
            return PASS
        again = report if report.visits >= self.thresholds.pass_visits else self.look_again(self.color)
        if again is None or again.visits < report.visits:
            if self._is_safe:
                return PASS
            again = report
        best = best_of(legal_moves(game, again))
        if best is None or best.point == PASS:
            return PASS
        passed, gain = self.look_again(opponent(self.color)), self._gain_by_move(again, best)
        if passed is not None and self._gain(again, passed) < POINT:
            return PASS
        if self._is_safe and (passed is None or (gain is not None and gain < POINT)):
            return PASS
        status = estimate_status(game, again.ownership_black)
        return PASS if is_useless(game, best.point, status, self.color) else best.point

    @cached_property
    def _is_safe(self) -> bool:
        """Whether each living chain that the opponent could put in atari survives, by proof, though it moves first."""
        status = estimate_status(self.game, self.report.ownership_black)
        return may_pass_safely(self.game, status, self.color, nodes=self.nodes)

    def _capture_that_counts(self) -> int:
        """Return a move against dead stones where all stones count, PASS if there are none.

        It is a proved capture.  Where the game is lost without one, as an opponent who is behind passes and hopes for a
        pass, it may also be one that is only expected.
        """
        game, status = self.game, estimate_status(self.game, self.report.ownership_black)
        if not counts_all_stones(game):
            return PASS
        enemy = opponent(self.color)
        dead = [chain for chain in chains_of(game) if chain[0] in status.dead and game.board.color[chain[0]] == enemy]
        point = proved_capture(game, dead, self.color, nodes=self.nodes)
        if point is not None and point not in self.left_out:
            return point
        wins_by_captures = for_color(status.margin_black(game), self.color) > 0.0
        is_needed = wins_by_captures and game.score().winner != self.color
        return self.capture_of_dead(self.report, status) if is_needed else PASS

    def _may_cost_a_point(self) -> bool:
        """Return whether a pass may cost a point: by a move that was tried, or by a search for the opponent."""
        tried = [move for move in legal_moves(self.game, self.report) if move.visits >= self.thresholds.tried_visits]
        gains = [self._gain_by_move(self.report, move) for move in tried]
        if any(gain is not None and gain >= POINT for gain in gains):
            return True
        passed = self.confirm(opponent(self.color))
        return passed is not None and self._gain(self.report, passed) >= POINT

    def _gain_by_move(self, report: SearchReport, move: MoveReport) -> float | None:
        """Return the points by which a move is better than a pass, None if that was not tried."""
        passing = next((each for each in report.moves if each.point == PASS and each.visits > 0), None)
        return None if passing is None else for_color(move.lead_black - passing.lead_black, self.color)

    def _gain(self, report: SearchReport, passed: SearchReport) -> float:
        """Return the points that the side to play gains by moving first, from a search for each side."""
        return for_color(report.lead_black - passed.lead_black, self.color)

    def _is_pass_unproved(self) -> bool:
        """Return whether nothing but the pass was tried, though the network expects another move."""
        raw, tried = self.report.raw, [move.point for move in self.report.moves if move.visits > 0]
        return raw is not None and tried == [PASS] and float(raw.policy[PASS]) < LIKELY_PASS

    def _has_better_move(self, expected: float, status: StatusEstimate) -> bool:
        """Return whether a useful move that was tried, perhaps with fewer visits, is clearly better than `expected`."""
        return any(
            move.point != PASS
            and move.visits >= self.thresholds.tried_visits
            and for_color(move.value_black, self.color) - expected > NEUTRAL_LOSS
            and not is_useless(self.game, move.point, status, self.color)
            for move in legal_moves(self.game, self.report)
        )

    def _if_better_than_pass(self, report: SearchReport, status: StatusEstimate) -> int:
        """Return the best move of a report if it is useful and clearly better than a pass that was tried, else PASS."""
        moves = legal_moves(self.game, report)
        best, passing = best_of(moves), next((move for move in moves if move.point == PASS), None)
        if self._loses_nothing(report) or best is None or passing is None:
            return PASS
        is_tried = passing.visits >= self.thresholds.tried_visits
        is_worse = is_tried and for_color(best.value_black - passing.value_black, self.color) > NEUTRAL_LOSS
        return best.point if is_worse and not is_useless(self.game, best.point, status, self.color) else PASS

    def _loses_nothing(self, report: SearchReport) -> bool:
        """Return whether the game is lost in any case, or as good as won by passing, according to a search."""
        best = best_of(report.moves)
        passing = next((move for move in report.moves if move.point == PASS), None)
        if best is None or report.winrate <= 1.0 - CONCEDED_WINRATE:
            return True
        return passing is not None and winrate_of(passing.value_black, self.color) >= CONCEDED_WINRATE

    def cleanup_move(self) -> int:
        """Return the point to play, or PASS if no dead enemy stones are on the board."""
        if not legal_moves(self.game, self.report):
            return PASS
        point = self._capture()
        return self.move() if point == PASS else point

    def _is_pass_certain(self, status: StatusEstimate) -> bool:
        """Return whether a pass is the network's best move and will be played whatever the end is agreed to be."""
        return (
            self.report.best_point == PASS
            and self.may_pass
            and may_be_over(self.game)
            and self.level is None
            and self.report.raw is not None
            and self.neutral_point(legal_moves(self.game, self.report), status) == PASS
        )

    def _last_move(self, end: StatusEstimate) -> int:
        """Return a neutral point to fill before the game ends, or PASS."""
        report = self.report
        if self.level is not None:  # its search may have tried no neutral point
            report = self.confirm(self.color) or report
        moves = legal_moves(self.game, report)
        if self.level is not None:
            moves = [move for move in moves if move.point not in self.left_out]
        return self.neutral_point(moves, end)

    def _level_move(self, level: LevelPlay, status: StatusEstimate) -> int:
        """Return the move that a level draws, or PASS.

        Where the rules count dead stones, these are captured before a pass: a level's own search is too small to see
        them.
        """
        point = level.draw(self.game, self.report, self.left_out | useless_points(self.game, status, self.color))
        if point != PASS or not counts_all_stones(self.game):
            return point
        report = self.confirm(self.color) or self.report
        return self.capture_of_dead(report, estimate_status(self.game, report.ownership_black))

    def _capture(self) -> int:
        """Return a move that takes a liberty of a dead enemy stone after a dispute, PASS if there is none."""
        other_report = self.confirm(opponent(self.color))
        reports = [self.report] if other_report is None else [self.report, other_report]
        ownerships = read_out(self.game, [each.ownership_black for each in reports], nodes=self.nodes)
        return self.capture_of_dead(self.report, estimate_status(self.game, np.mean(ownerships, axis=0)))

    # --- whether the game can end ---

    def agreed_end(self, status: StatusEstimate) -> StatusEstimate | None:
        """Return the status of all stones if the players could stop here, else None; `status` is that after the search.

        They could if the same stones are dead and the same points neutral whichever side moves first, and both searches
        expect the winner that counting gives.  If the first move changes something, it has to be played, however clear
        the position looks.  What is proved of doubtful chains replaces what the searches expect.
        """
        game, report = self.game, self.report
        if not may_be_over(game):
            return None
        if not self._has_samples(report):
            confirmed = self.confirm(report.to_play)
            if confirmed is None:
                return None
            report, status = confirmed, estimate_status(game, confirmed.ownership_black)
        is_pass_near = game.consecutive_passes > 0 or report.best_point == PASS
        if not self._is_agreed(report, status) and (status.is_open or not is_pass_near):
            return None
        other_report = self.confirm(opponent(report.to_play))
        if other_report is None:
            return None
        reports = (report, other_report)
        expected = read_out(game, [each.ownership_black for each in reports], nodes=self.nodes)
        return self._agreed_status(reports, expected)

    def is_won_repetition(self) -> bool:
        """Return whether the opponent has passed, the game goes in circles, and a pass now is certain to win.

        Otherwise a side this far ahead could keep making threats against living stones: without superko no repetition
        ends the game, and where the rules count area, useless stones cost nothing.
        """
        game = self.game
        return (
            may_be_over(game)
            and game.consecutive_passes > 0
            and goes_in_circles(game)
            and game.rules.scoring is not Scoring.TERRITORY
            and self.report.winrate >= CONCEDED_WINRATE
            and all(map(self._wins_by_passing, (self.color, opponent(self.color))))
        )

    def _wins_by_passing(self, first: int) -> bool:
        """Return whether a search with `first` to play shows a win even if every undecided point is the opponent's."""
        report = self.confirm(first)
        if report is None or not self._has_samples(report):
            return False
        return estimate_status(self.game, report.ownership_black).is_certain_win(self.game, self.color)

    def _agreed_status(self, reports: Sequence[SearchReport], ownerships: Sequence[Ownership]) -> StatusEstimate | None:
        """Return the status of all stones if both searches, with these ownerships, agree on it and on the winner.

        Where the last neutral point decides, each expects the side that moves first to win.
        """
        first, second = (estimate_status(self.game, ownership) for ownership in ownerships)
        if (first.dead, first.neutral) != (second.dead, second.neutral):
            return None
        if np.sign(first.margin_black(self.game)) != np.sign(second.margin_black(self.game)):
            return None
        return first if all(map(self._is_agreed, reports, (first, second))) else None

    def _is_agreed(self, report: SearchReport, status: StatusEstimate) -> bool:
        """Return whether everything is decided and counting gives the result that a search expects."""
        if not self._has_samples(report) or not status.is_decided:
            return False
        margin = status.margin_black(self.game)
        if margin == 0:
            return abs(report.winrate - 0.5) <= 1.0 - AGREED_WINRATE
        if (margin > 0) == (report.to_play == BLACK):
            return report.winrate >= AGREED_WINRATE
        return report.winrate <= 1.0 - CONCEDED_WINRATE

    def _has_samples(self, report: SearchReport) -> bool:
        """Return whether the ownership of a report has enough samples to estimate status from it."""
        return report.ownership_samples >= self.thresholds.ownership_samples

    # --- moves by their purpose ---

    def useful_move(self, status: StatusEstimate) -> int:
        """Return the best move that changes something; PASS if there is none.

        Early in the game that is not a pass: in a lost position a pass looks as good as any move, and a search of few
        visits may try nothing else.  Then it is the move to which the network gives the largest probability.
        """
        game, color = self.game, self.color
        may_pass = is_late(game) or (status.is_decided and may_stop(game))
        for move in legal_moves(game, self.report):
            if not is_useless(game, move.point, status, color) and (may_pass or move.point != PASS):
                return move.point
        if may_pass or self.report.raw is None:
            return PASS
        policy = self.report.raw.policy
        excluded = self.left_out | useless_points(game, status, color)
        points = [point for point in game.legal_points(color) if point not in excluded]
        return max(points, key=lambda point: float(policy[point]), default=PASS)

    def neutral_point(self, moves: Sequence[MoveReport], status: StatusEstimate) -> int:
        """Return a neutral point to fill, which is worth a point by area, among `moves`; PASS if there is none.

        It must have been searched enough, must not be self-atari, and must not be worse than the best move by
        `NEUTRAL_LOSS`.  Under territory rules it must also be the best move itself, and only with `fill_dame`.
        """
        best = best_of(moves)
        if best is None:
            return PASS
        if self.game.rules.scoring is Scoring.TERRITORY:
            moves = [best] if self.fill_dame else []
        for move in moves:
            loss = abs(best.value_black - move.value_black)
            if (
                move.point in status.neutral
                and move.visits >= self.thresholds.tried_visits
                and loss < NEUTRAL_LOSS
                and not would_be_self_atari(self.game.board, move.point, self.color)
            ):
                return move.point
        return PASS

    def capture_of_dead(self, report: SearchReport, status: StatusEstimate) -> int:
        """Return the best move that takes a liberty of a dead enemy stone, without self-atari if possible.

        Where every one of them is self-atari, the best move other than a pass; PASS if there is none, or no dead enemy
        stone.  No target is left out.
        """
        if not has_dead_enemies(self.game, status, self.color):
            return PASS
        targets = liberties_of_dead(self.game, status, self.color) - self.left_out
        order = [move.point for move in legal_moves(self.game, report)]
        order += sorted(point for point in targets if point not in order and self.game.is_legal(point, self.color))
        for point in order:
            if point in targets and not would_be_self_atari(self.game.board, point, self.color):
                return point
        return next((point for point in order if point != PASS), PASS)


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
        """Count from the next move on, after a move was taken back."""
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
