"""How much time a move gets, and when to stop within it: pure functions of clock, game and configuration.

`budget` is computed before the search: a target, and a maximum that the search never exceeds.  `should_stop` is called
during the search, by its `TimeWatcher`.  Neither reads the system's clock nor has any state, so whole games can be
tested in a second.

The engine never loses on time because `maximum` plus the lag held back (`TimeBudget.lag`) never exceeds what the clock
has left, and under Canadian overtime leaves enough for the remaining stones.  The rest is pacing:

    main time    divided by our own moves still to come (`moves_to_spread_over`), fewest in the middle game
    fischer      the increment and a share of the rest; time that would exceed a cap is spent first
    overtime     in main time, one and a half to e times what a move gets in overtime (`_main_before_overtime`)
    byo-yomi     the whole period each time, and for hard moves one of the spare periods
    canadian     the period divided by the stones left
    no clock     time.time_per_move and max_time; else search.visits and search.playouts alone; else five seconds

Sources: Huang, Coulom and Lin, "Time Management for Monte-Carlo Tree Search Applied to the Game of Go", TAAI 2010
(the main time formula; more time when the most visited move is not the best valued one); Baier and Winands, "Time
Management for Monte Carlo Tree Search", 2015 (stopping when the leader cannot be overtaken); KataGo's
`cpp/search/timecontrols.cpp` (main time before overtime).
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from math import e, exp, inf
from typing import Final

from gtp_engine.config import Config, TimeConfig
from gtp_engine.config.sections import DEFAULT_LAG, DEFAULT_TIME_PER_MOVE
from gtp_engine.go.clock import Clock, TimeKind
from gtp_engine.search.limits import Progress

# --- Constants of pacing -----------------------------------------------------------------------------------------

SPREAD_PER_POINT: Final = 80 / 361
"""Own moves, per point of the board, over which main time is always spread.

Huang et al. divide by C + max(MaxPly - ply, 0); C = 80 and MaxPly = 80 are the 19x19 values of Orego, which follows
them, and smaller boards have proportionally shorter games.  Three quarters of the time are then used by move 250 (there
is a test for it), and it never runs out.
"""

PEAK_PER_POINT: Final = 80 / 361
"""MaxPly of the same formula: moves of both players, per point of the board, until a move gets its largest share."""

MIN_SPREAD: Final = 10.0
"""Fewest own moves to spread over: on the smallest boards, games are longer than their area suggests."""

INCREMENT_SPREAD: Final = 0.5
"""Factor on the spread where increments follow: the game goes on without main time (KataGo: about 0.8)."""

INCREMENT_SHARE: Final = 2.0
"""Most that the factor above may add to a move, in increments: tiny ones change little (as in KataGo)."""

BEST_MULTIPLE: Final = e
"""Time for a move before overtime, as a multiple of what a move gets in overtime, that uses main time best.

If playing strength grows with the logarithm of the time, a move that takes m overtimes gains log(m), and main time
lasts for 1/m as many moves as it holds overtimes: the sum, log(m)/m for each of them, is largest at m = e (KataGo).
"""

LARGEST_STRETCH: Final = 1.75
"""Most that main time is stretched beyond that, so that it lasts into the middle game: e / 1.75 is 1.55 (KataGo)."""

OPENING_SPREAD: Final = 0.25
"""Own moves, for each point of the board, for which main time before overtime should last if it can (KataGo: half the
area, for both players)."""

LAST_MAIN_TIME: Final = 1.5
"""Main time below so many overtimes of a move is spent on one move, together with the first overtime (KataGo)."""

RESERVED_PERIODS: Final = 3
"""Byo-yomi periods never spent on hard moves: one to play in, and two in case of a bad connection."""

LAST_PERIOD_LAG: Final = 2.0
"""Factor on the lag where a single late move loses the game: the last byo-yomi period, the last Canadian stone."""

SURE_LAG: Final = 0.1
"""Seconds held back at least: two programs on one machine lose 17 ms a move on average, 100 ms at worst (lc0, pull
request 268)."""

SURE_SHARE: Final = 0.125
"""Share of a period that is held back where moves were on time: of 1 s, little more than the worst of that."""

ONLINE_PERIOD: Final = 5.0
"""The shortest period that gtp2ogs accepts by default.  From there on as much is held back as if nothing were known:
what is lost on the way to a server cannot be seen.  And clear moves are played at once, for the sake of people."""

CANADIAN_EVENNESS: Final = 0.75
"""With k stones left a move takes at most the period / (0.75 k + 0.25), as in KataGo: all of it for the last
stone, 57% with two left, a third more than the even share with many."""

# --- Constants of stopping ---------------------------------------------------------------------------------------

NARROW_LEAD: Final = 0.9
"""A lead is narrow if the second move has at least this share of the leader's visits; chosen, not measured."""

LATE_MOVES: Final = 0.5
"""Moves of both players for each point of the board from which a won game may be played fast; chosen, not measured."""

SETTLED_MIN_VISITS: Final = 1000
"""Visits from which an extreme winrate counts where each is one rollout: its standard error at 98% is then 0.4%."""

RECENT_STEPS: Final = 4
"""Steps of a search (from one call of its watcher to the next) whose longest predicts the next one."""

KNOWN_RATE: Final = 16
"""Playouts after which their rate is known: the first ones of a search come one at a time."""

_WON_MOVES: Final = 3
"""Moves of our own that have to be won before the next one gets less time (KataGo's)."""


@dataclass(frozen=True)
class TimeBudget:
    """Seconds for one move: `target` to aim for, `maximum` never to exceed; 0 means to play at once.

    Both are infinite where only visits limit the search.  `lag` was held back: the clock survives a move of `maximum +
    lag` seconds.  Without a clock no move is late: where `is_average`, moves should take `maximum` on average.  What a
    move leaves of its time is lost unless `is_saved`.
    """

    target: float
    maximum: float
    lag: float = 0.0
    is_average: bool = False
    is_saved: bool = True

    def at_most(self, seconds: float) -> "TimeBudget":
        """Return the same with no more than so many seconds."""
        return replace(self, target=min(self.target, seconds), maximum=min(self.maximum, seconds))

    def times(self, share: float) -> "TimeBudget":
        """Return this share of the seconds, which may be infinite."""
        target, maximum = (share * seconds if share > 0.0 else 0.0 for seconds in (self.target, self.maximum))
        return replace(self, target=target, maximum=maximum)


def budget(clock: Clock, *, moves_played: int, area: int, config: Config) -> TimeBudget:
    """Return the time for the next move of the player with this clock, no more than time.max_per_move and max_time.

    `moves_played` counts the moves of both players so far, `area` the points of the board.
    """
    kind, spread = clock.settings.kind, moves_to_spread_over(moves_played, area)
    if kind is TimeKind.NONE:
        return _unlimited(config)
    if kind not in (TimeKind.BYOYOMI, TimeKind.CANADIAN):
        allowed = _sudden_death(clock, spread, config.time)
    elif not clock.in_overtime:
        allowed = _main_before_overtime(clock, spread, moves_before_overtime(moves_played, area), config.time)
    else:
        allowed = (_byoyomi if kind is TimeKind.BYOYOMI else _canadian)(clock, config.time)
    longest = min(config.time.max_per_move, inf if config.time.max_time is None else config.time.max_time)
    target = allowed.target * config.time.stretch * _midgame_factor(moves_played, area, config.time)
    return replace(allowed, target=target).at_most(min(allowed.maximum, longest))


def _midgame_factor(moves_played: int, area: int, config: TimeConfig) -> float:
    """Return the factor on the time of a move by its number (KataGo, `recomputeSearchTimeLimit`)."""
    peak, decay = config.midgame_peak * area / 361, config.endgame_decay * area / 361
    if moves_played < peak:
        weight = moves_played / peak
    else:
        weight = exp(-(moves_played - peak) / decay) if decay > 0 else float(moves_played == peak)
    return 1.0 + weight * (config.midgame_stretch - 1.0)


def obvious_factor(config: TimeConfig, *, entropy: float, surprise: float) -> float:
    """Return the factor on the time of a move by how obvious it is; KataGo's formula.

    `entropy` is that of the network's policy, `surprise` the divergence of the search's choice from it, both in nats.
    """
    weight = exp(-max(entropy / config.obvious_entropy, surprise / config.obvious_surprise))
    return 1.0 + weight * (config.obvious_share - 1.0)


def moves_to_spread_over(moves_played: int, area: int) -> float:
    """Return the number of own moves that the main time is divided by: falls until the middle game, then constant."""
    return max(MIN_SPREAD, SPREAD_PER_POINT * area) + max(0.0, PEAK_PER_POINT * area - moves_played)


def moves_before_overtime(moves_played: int, area: int) -> float:
    """Return the number of own moves for which main time should last where overtime follows: the opening, at least 1.

    Source: KataGo, which plans for half the area less the stones on the board, and a few moves later on.
    """
    return max(1.0, OPENING_SPREAD * area + 5 - moves_played / 2, 0.01 * area + 2)


def _unlimited(config: Config) -> TimeBudget:
    """Return the time for a move without a clock; no game can be lost on time."""
    seconds = config.time.without_clock
    if seconds is None:
        seconds = inf if config.search.is_limited else DEFAULT_TIME_PER_MOVE
    return TimeBudget(seconds, seconds, is_average=True)


def _sudden_death(clock: Clock, spread: float, config: TimeConfig) -> TimeBudget:
    """Return the time for a move under absolute or Fischer settings, capped or not."""
    settings, left = clock.settings, clock.left.main
    most = _most_lag(config)
    lag = min(_held_back(left, most), _held_back(settings.move_time_limit, most))
    usable = left - lag
    # Where the clock is too short to hold back the whole lag, a part of each increment goes into the reserve.
    reserve = _held_back(left, most) / most if most > 0 else 1.0
    income = min(settings.increment * reserve, usable)
    spare = usable - income
    ceiling = min(usable, income + spare * config.max_share)
    share = spare / spread
    if settings.increment > 0:  # more of it, as increments follow
        share = min(share / INCREMENT_SPREAD, share + INCREMENT_SHARE * settings.increment)
    target = min(ceiling, income + share)
    # What the next increment would push over the cap is lost unless it is spent now.
    overflow = max(0.0, left - target + settings.increment - settings.main_time_limit)
    ceiling = max(ceiling, min(usable, target + overflow))
    target = min(ceiling, target + overflow)
    maximum = min(ceiling, target * config.hard_move_factor, settings.move_time_limit - lag)
    return TimeBudget(min(target, maximum), maximum, lag)


def _byoyomi(clock: Clock, config: TimeConfig) -> TimeBudget:
    """Return the time for a move in a byo-yomi period."""
    left, length = clock.left, clock.settings.overtime
    period, periods = left.period, left.periods
    lag = _period_lag(clock, period, periods, config)
    if periods > 1 and period < min(2 * _most_lag(config), length / 2):
        # This period is nearly used up and as good as lost, so the move gets the next one as well.
        period, periods = period + length, periods - 1
        lag = _period_lag(clock, period, periods, config)
    target = period - lag
    spare = length if periods > RESERVED_PERIODS else 0.0
    maximum = min(target + spare, target * config.hard_move_factor)
    return TimeBudget(target, maximum, lag, is_saved=length >= ONLINE_PERIOD)


def _canadian(clock: Clock, config: TimeConfig) -> TimeBudget:
    """Return the time for a move in Canadian overtime (with one stone: seconds per move, in GTP's words)."""
    left, settings = clock.left, clock.settings
    per_stone = left.period / left.stones
    if not clock.is_confirmed and settings.stones > 1:
        # Our own count may have begun the overtime a stone or two before the controller's, and so end a period in
        # the middle of the real one.  Even shares fit into any period, wherever it begins.
        even = min(per_stone, settings.overtime / settings.stones)
        lag = _held_back(even, _most_lag(config))
        return TimeBudget(even - lag, even - lag, lag)
    lag = _period_lag(clock, per_stone, left.stones, config)
    target = per_stone - lag
    ceiling = left.period / (CANADIAN_EVENNESS * left.stones + 1 - CANADIAN_EVENNESS) - lag
    is_saved = left.stones > 1 or settings.overtime >= ONLINE_PERIOD
    return TimeBudget(target, min(ceiling, target * config.hard_move_factor), lag, is_saved=is_saved)


def _main_before_overtime(clock: Clock, spread: float, opening: float, config: TimeConfig) -> TimeBudget:
    """Return the time for a move in main time when overtime follows, whatever is spent now.

    Main time is spent at `BEST_MULTIPLE` of the overtime for a move, or more slowly if it would not last for the
    `opening` (own moves) then; never more slowly than sudden death would have it, over `spread` own moves.
    """
    main, settings = clock.left.main, clock.settings
    chances = settings.stones or clock.left.periods
    per_move = settings.overtime / (settings.stones or 1)
    lag = _period_lag(clock, per_move, chances, config)
    sure = per_move - lag
    best = main / (BEST_MULTIPLE * per_move) if per_move > 0 else inf  # the tiniest overtime over several stones is 0
    moves = min(max(best, min(opening, LARGEST_STRETCH * best)), spread)
    target = max(sure, main / max(1.0, moves))
    if target > main or main < LAST_MAIN_TIME * per_move:
        # The rest of the main time and then the guaranteed overtime; neither is of any other use.
        return TimeBudget(main + sure, main + sure, lag)
    maximum = min(target * config.hard_move_factor, main * config.max_share + sure)
    return TimeBudget(target, max(target, maximum), lag)


def _held_back(time: float, lag: float) -> float:
    """Return the lag to hold back from `time`: all of `lag`, but at most half of the time."""
    return min(lag, time / 2)


def _most_lag(config: TimeConfig) -> float:
    return DEFAULT_LAG if config.lag is None else config.lag


def _period_lag(clock: Clock, time: float, chances: int, config: TimeConfig) -> float:
    """Return the lag to hold back from `time` in an overtime with `chances` periods or stones left.

    Once it is known that moves are on time, less is held back from a short one, and as much more as they were late.
    """
    lag = _held_back(time, _most_lag(config) * (LAST_PERIOD_LAG if chances <= 1 else 1.0))
    if config.lag is not None or clock.lateness is None:
        return lag
    # From the share of 2 s it rises evenly to the whole lag of the shortest period on a server.
    rising = LAST_PERIOD_LAG * DEFAULT_LAG * (time - 1) / (ONLINE_PERIOD - 1)
    return min(lag, max(SURE_LAG, SURE_SHARE * time, rising) + clock.lateness)


def effort(config: TimeConfig, *, passes: int, winrates: Sequence[float]) -> float:
    """Return the share of its time, visits and playouts that the next move gets, up to 1; all three where it is less.

    `passes` counts the opponent's last moves that were passes; `winrates` are those of our own moves so far.  Source:
    KataGo (`runWholeSearch` in cpp/search/search.cpp, `getSearchFactor` in cpp/program/playutils.cpp).
    """
    share = (1.0, config.effort_after_pass, config.effort_after_passes)[min(passes, 2)]
    recent, least = winrates[-_WON_MOVES:], config.effort_winrate
    if len(recent) == _WON_MOVES and min(recent) > least:
        share *= 1.0 + (min(recent) - least) / (1.0 - least) * (config.effort_when_winning - 1.0)
    return share


def may_stop_when_won(*, moves_played: int, area: int, config: Config) -> bool:
    """Return whether a won game may end a search: late in the game, and where no number of visits is asked for.

    Early in a handicap game the stronger side's moves still matter, however high its winrate.
    """
    return not config.search.is_limited and moves_played >= LATE_MOVES * area


def should_stop(
    progress: Progress,
    limits: TimeBudget,
    *,
    rate: float,
    settled: bool = False,
    early_stop: bool = True,
    enough_share: float = 1.0,
) -> bool:
    """Return whether a search should end; `rate` is its playouts a second, `settled` whether more cannot matter.

    The caller must have a move to play even if the first call returns True.

    It ends at the maximum; at the target, unless the move is hard and the runner-up could still overtake by the
    maximum; and with `early_stop` before the target, if the move is settled, or if time is saved by that and the
    runner-up could not get `enough_share` of the leader's visits even with every visit until then.  Where no time is
    saved the visits serve the next move, whose search goes on with a part of the tree.
    """
    elapsed = progress.seconds
    if elapsed >= limits.maximum or (settled and early_stop):
        return True
    is_narrow = progress.runner_up_visits >= NARROW_LEAD * progress.leader_visits
    deadline = limits.maximum if is_narrow or not progress.leader_is_best_value else limits.target
    if elapsed >= deadline:
        return True
    if elapsed < limits.target and not (early_stop and limits.is_saved):
        return False
    return progress.runner_up_visits + rate * (deadline - elapsed) < enough_share * progress.leader_visits


@dataclass(eq=False)
class TimeWatcher:
    """The watcher of one search (see `Limits`).

    A search calls its watcher between two batches, and a batch of a slow network takes half a second.  So the watcher
    stops the search before the step that would exceed the maximum.  If the maximum is an average, it stops before a
    step of which more than half would exceed it.
    """

    budget: TimeBudget
    config: Config
    enough_visits: int
    """Visits of the leader from which a very high winrate ends the search, with `may_stop_when_won`."""
    _: KW_ONLY
    late: float = 0.0
    """Seconds of the budget that had passed when the search began."""
    may_stop_when_won: bool = False
    may_stop_when_forced: bool = True
    """Whether a single move to choose from ends the search, once it has been tried."""
    _steps: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS), init=False)
    _last_call: float = field(default=0.0, init=False)
    _first: Progress | None = field(default=None, init=False)

    def __call__(self, progress: Progress) -> bool:
        """Return whether to stop now."""
        first = self._first = self._first or progress
        playouts = progress.playouts - first.playouts
        # What came before the first call is left out: the root, whose evaluation takes as long as a whole batch's.
        rate = inf if playouts < KNOWN_RATE else playouts / max(progress.seconds - first.seconds, 1e-6)
        self._steps.append(progress.seconds - self._last_call)
        self._last_call = progress.seconds
        next_step = max(self._steps)
        maximum = self.budget.maximum - self.late - (next_step / 2 if self.budget.is_average else next_step)
        target = min(self.budget.target - self.late, maximum)
        if progress.entropy is not None and not self.budget.is_average:
            target *= obvious_factor(self.config.time, entropy=progress.entropy, surprise=progress.surprise)
        return should_stop(
            progress,
            replace(self.budget, target=target, maximum=maximum),
            rate=rate,
            settled=self._is_settled(progress),
            early_stop=self.config.time.early_stop,
            enough_share=self.config.puct.futile_visits or 1.0,
        )

    def _is_settled(self, progress: Progress) -> bool:
        """Return whether more search cannot matter; the losing side keeps thinking."""
        if self.may_stop_when_forced and progress.choices <= 1 and progress.leader_visits > 0:
            return True
        is_won = progress.winrate >= self.config.time.settled_winrate and progress.leader_visits >= self.enough_visits
        return self.may_stop_when_won and is_won
