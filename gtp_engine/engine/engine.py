"""The engine's face: everything a protocol, the command line or a program asks of it, and no text but SGF.

A genmove: budget from the clock → search → `decision.choose_move` → play.  Moves of the controller and our own go
through the same `Game.play`.  All methods are for one thread, except `stop`.
"""

import random
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from gtp_engine._jit import is_cache_filled, mark_cache_filled
from gtp_engine.clock import Clock, TimeSettings
from gtp_engine.config import Config
from gtp_engine.engine.decision import Choice, Resignation, choose_move
from gtp_engine.engine.estimate import (
    Estimate,
    estimate,
    estimated_score,
    groups_with_status,
    plays_out,
    status_map,
)
from gtp_engine.errors import BoardNotEmptyError, HandicapError, IllegalMoveError, problem
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, Move
from gtp_engine.go.coords import format_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points, free_handicap_points
from gtp_engine.go.rules import Rules
from gtp_engine.go.scoring import Score
from gtp_engine.search.limits import Limits, Progress
from gtp_engine.search.report import SearchReport
from gtp_engine.search.rollouts.search import RolloutSearch
from gtp_engine.sgf import format_sgf, parse_sgf, record_to_game
from gtp_engine.time_manager import TimeBudget, budget, is_settled, should_stop

ESTIMATE_VISITS: Final = 1500
"""Visits of each of the two searches (Black first, White first) that judge which stones are dead."""

FRESH_VISITS: Final = 1000
"""Visits of each search that confirms that a game is over, time permitting."""

CONFIRMATION_SHARE: Final = 0.1
"""Share of a move's maximum that the first search leaves for the searches that confirm the end of the game."""

_WARM_UP_SIZE: Final = 5
"""Board size of the little game that compiles all kernels; they are the same for every size."""

Log = Callable[[str], None]


class Engine:
    """A game that the engine can play: `config` with the defaults of `Config`; `log` takes lines for the user.

    Raises RulesError if the configuration names unknown rules.
    """

    def __init__(self, config: Config | None = None, log: Log | None = None) -> None:
        self.config: Final = config or Config()
        self._log: Final[Log] = log or (lambda line: None)
        seed = self.config.search.seed
        self._seed = random.getrandbits(32) if seed is None else seed
        self._search: Final = RolloutSearch(self.config.search)
        self._second_search: Final = RolloutSearch(self.config.search)
        self._resignation: Final = Resignation(self.config.play)
        self._resigned = EMPTY
        self._estimate: tuple[object, Estimate] | None = None
        self.set_seed(self._seed)
        rules = Rules.parse(self.config.game.rules)
        self._komi_is_given = self.config.game.komi is not None
        self.game = Game(self.config.game.board_size, None, rules, self.config.game.komi)
        self._set_clocks(TimeSettings.none())

    # --- setting up ---

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.game.rules

    @property
    def komi(self) -> float:
        """The komi of the game."""
        return self.game.komi

    def set_board_size(self, width: int, height: int | None = None) -> None:
        """Start a new game on an empty board of this size; raises InvalidSizeError (nothing changes then)."""
        self._start(Game(width, height, self.rules, self.komi))

    def clear_board(self) -> None:
        """Start a new game on a board of the same size, with the same rules, komi and time settings."""
        self._start(Game(self.game.width, self.game.height, self.rules, self.komi))

    def set_komi(self, komi: float) -> None:
        """Set the komi, any finite number; raises KomiError."""
        self.game.komi = komi
        self._komi_is_given = True

    def set_rules(self, rules: Rules) -> None:
        """Set the rules in the middle of a game too; the komi follows them unless it was ever set."""
        self.game.rules = rules
        if not self._komi_is_given:
            self.game.komi = rules.default_komi()

    def set_position(self, stones: Iterable[Move], first_player: int = BLACK) -> None:
        """Start a new game from a set-up position; raises IllegalMoveError (nothing changes then)."""
        game = Game(self.game.width, self.game.height, self.rules, self.komi)
        game.set_up(stones, first_player)
        self._start(game)

    def set_to_play(self, color: int) -> None:
        """Set who moves first in the position set up; moves already played are taken back."""
        self.set_position(self.game.setup_stones, color)

    def fixed_handicap(self, count: int) -> list[int]:
        """Place 2 to 9 handicap stones as tradition has them and return their points; raises HandicapError."""
        self._require_empty_board()
        return self._place_handicap(fixed_handicap_points(count, self.game.width, self.game.height))

    def free_handicap(self, count: int) -> list[int]:
        """Place exactly `count` handicap stones where we like and return their points; raises HandicapError."""
        self._require_empty_board()
        return self._place_handicap(free_handicap_points(count, self.game.width, self.game.height))

    def set_free_handicap(self, points: Iterable[int]) -> list[int]:
        """Place handicap stones on these points; raises HandicapError, IllegalMoveError, BoardNotEmptyError."""
        self._require_empty_board()
        chosen = list(points)
        most = self.game.width * self.game.height - 1
        if not 2 <= len(chosen) <= most:
            raise HandicapError(problem(f"invalid handicap {len(chosen)}", expected=f"2 to {most} stones"))
        return self._place_handicap(chosen)

    # --- playing ---

    def play(self, color: int, point: int) -> None:
        """Play a move of either colour; raises IllegalMoveError.

        A repetition that superko forbids is played with a warning, unless the configuration is strict.
        """
        reason = self.game.illegal_reason(point, color)
        if reason == "superko" and not self.config.game.strict:
            self._log(f"warning: {self._show(point)} repeats an earlier position; the controller may, so it is played")
        self.game.play(Move(color, point), allow_superko=not self.config.game.strict)
        self._resigned = EMPTY

    def play_sequence(self, moves: Iterable[Move]) -> None:
        """Play several moves, or none if one of them is illegal; raises IllegalMoveError."""
        played = 0
        try:
            for move in moves:
                self.play(move.color, move.point)
                played += 1
        except IllegalMoveError:
            self.game.undo(played)
            raise

    def undo(self, count: int = 1) -> None:
        """Take back moves; raises CannotUndoError."""
        self.game.undo(count)
        self._resignation.reset()
        self._resigned = EMPTY

    def genmove(self, color: int, *, play: bool = True, cleanup: bool = False) -> Choice:
        """Choose a move for `color`, play it unless told not to, and book its time.

        `cleanup` is KGS's second phase after a dispute: no pass while dead enemy stones are left.
        """
        start = time.perf_counter()
        limits = self._budget(color)
        report = self._think(color, limits)
        if play and not cleanup and self._resignation.is_due(self.game, report):
            choice = Choice(PASS, report, resign=True)
        else:
            fresh = partial(self._search_in_time, deadline=start + limits.maximum)
            choice = Choice(choose_move(self.game, report, fresh, cleanup=cleanup), report)
        self._log_choice(choice)
        if play:
            self._resigned = color if choice.resign else EMPTY
            if not choice.resign:
                self.game.play(Move(color, choice.point))
            self._clocks[color].spend(time.perf_counter() - start)
        return choice

    def stop(self) -> None:
        """End running searches at once, from any thread; they answer with what they have."""
        self._search.stop()
        self._second_search.stop()

    # --- time ---

    def set_time_settings(self, settings: TimeSettings) -> None:
        """Set the time settings of both players and reset their clocks."""
        self._set_clocks(settings)

    def set_time_left(self, color: int, seconds: float, stones: int) -> None:
        """Set a clock as GTP's time_left says; see `Clock.set_time_left`."""
        self._clocks[color].set_time_left(seconds, stones)

    # --- results ---

    def score(self) -> Score:
        """Return the score of the position; dead stones and open areas are estimated."""
        return estimated_score(self.game, self._estimated())

    def final_status(self) -> dict[int, str]:
        """Return the status of every point: alive, dead, seki, black_territory, white_territory or dame."""
        return status_map(self.game, self._dead_stones())

    def chains_by_status(self, status: str) -> list[list[int]]:
        """Return the groups of stones that are "alive", "dead" or in "seki", each as its sorted points."""
        return groups_with_status(self.game, self.final_status(), status)

    # --- records ---

    def load_sgf(self, data: bytes | str, move_number: int | None = None) -> int:
        """Replace the game by a record, up to the position before that move; return the colour to move.

        Raises SgfError (nothing changes then).
        """
        record = parse_sgf(data.encode() if isinstance(data, str) else data)
        game, color = record_to_game(record, move_number=move_number, rules=self.rules, komi=self.komi)
        self._start(game)
        self._komi_is_given |= record.komi is not None
        return color

    def to_sgf(self) -> str:
        """Return the game as SGF, with its result once it has ended or the engine has resigned."""
        if self._resigned != EMPTY:
            return format_sgf(self.game, result="W+R" if self._resigned == BLACK else "B+R")
        return format_sgf(self.game, result=str(self.score()) if self.game.is_over else "")

    # --- housekeeping ---

    def clear_cache(self) -> None:
        """Forget the search tree and all estimates."""
        self._search.clear()
        self._estimate = None

    def set_seed(self, seed: int) -> None:
        """Set the seed of the random numbers; implies `clear_cache`."""
        self._seed = seed
        for search in (self._search, self._second_search):
            search.set_seed(abs(seed))
        self._estimate = None

    def get_seed(self) -> int:
        """Return the seed of the random numbers."""
        return self._seed

    def warm_up(self, progress: Log | None = None) -> None:
        """Compile or load every kernel that play and scoring need, by a few moves on a small board.

        Where there is something to compile, `progress` is told in a few lines how far it is.  The maps of the analysis
        menu (ladders, eyes) are compiled when they are first asked for.
        """
        say: Log = progress if progress and not is_cache_filled() else (lambda line: None)
        start = time.perf_counter()
        say("First start: compiling the engine for this processor, about a minute; later starts take a second.")
        game = Game(_WARM_UP_SIZE, None, Rules.parse("tromp-taylor"))
        game.play("C3")
        game.legal_points()
        say(f"Compiled 1 of 3: rules ({time.perf_counter() - start:.0f} s)")
        search = RolloutSearch(self.config.search)
        report = search.run(game, Limits(visits=64))
        game.play(report.best_point)
        search.run(game, Limits(visits=128))
        search.close()
        say(f"Compiled 2 of 3: search ({time.perf_counter() - start:.0f} s)")
        estimate(game, report.ownership_black)
        game.score()
        mark_cache_filled()
        say(f"Compiled 3 of 3: life and scoring ({time.perf_counter() - start:.0f} s). Ready.")

    def close(self) -> None:
        """End the search's threads; the engine cannot search afterwards."""
        self._search.close()
        self._second_search.close()

    # --- inside ---

    def _start(self, game: Game) -> None:
        """Make `game` the running game; clocks and whatever was remembered of the last one are reset."""
        self.game = game
        self._resignation.reset()
        self._resigned = EMPTY
        self._estimate = None
        for clock in self._clocks.values():
            clock.reset()

    def _set_clocks(self, settings: TimeSettings) -> None:
        drift = self.config.time.drift
        self._clocks = {color: Clock(settings, drift=drift) for color in (BLACK, WHITE)}

    def _require_empty_board(self) -> None:
        if self.game.moves or self.game.setup_stones:
            raise BoardNotEmptyError("board not empty: send clear_board before placing handicap stones")

    def _place_handicap(self, points: Iterable[int]) -> list[int]:
        placed = list(points)
        self.game.set_handicap(placed)
        return placed

    def _budget(self, color: int) -> TimeBudget:
        """Return the time for the next move of `color`."""
        game = self.game
        area = game.width * game.height
        return budget(self._clocks[color], moves_played=len(game.moves), area=area, config=self.config)

    def _think(self, color: int, whole: TimeBudget) -> SearchReport:
        """Search for a move of `color` within its time budget, less the time to confirm the end of the game."""
        config = self.config
        maximum = whole.maximum * (1.0 - CONFIRMATION_SHARE)
        limits = TimeBudget(min(whole.target, maximum), maximum, whole.lag)

        def watch(progress: Progress) -> bool:
            settled = is_settled(
                candidates=progress.choices,
                visits=progress.leader_visits,
                winrate=progress.winrate,
                config=config.time,
            )
            return should_stop(
                progress.seconds,
                limits,
                leader_visits=progress.leader_visits,
                runner_up_visits=progress.runner_up_visits,
                visits_per_second=progress.playouts / max(progress.seconds, 1e-6),
                leader_has_best_value=progress.leader_is_best_value,
                settled=settled,
                early_stop=config.time.early_stop,
            )

        return self._search.run(self.game, Limits(config.search.visits or None, watch), to_play=color)

    def _estimated(self) -> Estimate:
        """Return the fate of the stones of the position, searched for both sides and remembered."""
        key = (self.game.hash, self.game.to_play, self.game.rules, self.game.komi, len(self.game.moves))
        if self._estimate is None or self._estimate[0] != key:
            black, white = (self._search_apart(color, Limits(ESTIMATE_VISITS)) for color in (BLACK, WHITE))
            self._estimate = key, estimate(self.game, (black.ownership_black + white.ownership_black) / 2)
        return self._estimate[1]

    def _search_apart(self, to_play: int, limits: Limits) -> SearchReport:
        """Search the position afresh for either side, without touching the tree of the game."""
        self._second_search.clear()
        return self._second_search.run(self.game, limits, to_play=to_play)

    def _search_in_time(self, to_play: int, *, deadline: float) -> SearchReport | None:
        """Return a short fresh search that ends by `deadline` (of time.perf_counter), or None if that has passed."""
        seconds = deadline - time.perf_counter()
        if seconds <= 0:
            return None
        return self._search_apart(to_play, Limits(FRESH_VISITS, lambda progress: progress.seconds >= seconds))

    def _dead_stones(self) -> frozenset[int]:
        """Return the stones to be taken off at the end of the game, none where the rules count what is left."""
        if self.game.is_over and plays_out(self.game):
            return frozenset()
        return self._estimated().dead

    def _show(self, point: int) -> str:
        return format_vertex(point, width=self.game.width, height=self.game.height)

    def _log_choice(self, choice: Choice) -> None:
        """Log what a search found, in one line."""
        report = choice.report
        move = "resign" if choice.resign else self._show(choice.point)
        line = next((found.pv for found in report.moves if found.point == choice.point), ())
        pv = " ".join(map(self._show, line)) or "none"
        rate = report.playouts / max(report.seconds, 1e-6)
        self._log(
            f"{move}: winrate {100 * report.winrate:.1f} %, {report.visits} visits, {rate:.0f} playouts/s, "
            f"{report.seconds:.2f} s, pv {pv}"
        )
