"""The engine's face: everything a protocol, the command line or a program asks of it, and no text but SGF.

A genmove: budget from the clock → search → `decision.choose_move` → play.  Moves of the controller and our own go
through the same `Game.play`.  All methods are for one thread, except `stop` and `interrupt`.

What runs in the background (pondering after our own move, `start_analysis`, `start_genmove`) works on a copy of the
game; whatever needs a search ends it first.
"""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from gtp_engine.clock import Clock, TimeSettings
from gtp_engine.config import Config
from gtp_engine.config.option import Value
from gtp_engine.engine.background import PONDER_LIMIT, Background
from gtp_engine.engine.dead_stones import groups_with_status
from gtp_engine.engine.decision import Choice, Resignation, choose_move, describe, may_be_over
from gtp_engine.engine.final_score import Judge
from gtp_engine.engine.starting_board import first_board, playable_board
from gtp_engine.engine.thinker import Request, Thinker, TimeWatcher
from gtp_engine.engine.warm_up import warm_up
from gtp_engine.errors import BoardNotEmptyError, ConfigError, HandicapError, IllegalMoveError, problem
from gtp_engine.evaluation.evaluation import Evaluation
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, Move
from gtp_engine.go.coords import format_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points, free_handicap_points
from gtp_engine.go.rules import Rules
from gtp_engine.go.scoring import Score
from gtp_engine.search.report import SearchReport
from gtp_engine.sgf import format_sgf, parse_sgf, record_to_game
from gtp_engine.time_manager import TimeBudget, budget

CONFIRMATION_SHARE: Final = 0.1
"""Share of a move's maximum that the first search leaves for the searches that confirm the end of the game."""

_FIXED_SECTIONS: Final = {
    "game": "use boardsize, komi and kata-set-rules",
    "network": "start the engine with it",
}
"""Sections of the configuration that `configure` does not change, and what to do instead."""

Log = Callable[[str], None]


class Engine:
    """A game that the engine can play: `config` with the defaults of `Config`; `log` takes lines for the user.

    With an evaluator, which the engine closes at its end, it searches by its network unless the configuration says
    otherwise.  Raises RulesError if the configuration names unknown rules, ConfigError if it wants a network and there
    is none.
    """

    def __init__(
        self, config: Config | None = None, log: Log | None = None, evaluator: Evaluator | None = None
    ) -> None:
        self.config = config or Config()
        self._log: Final[Log] = log or (lambda line: None)
        seed = self.config.search.seed
        self._seed = random.getrandbits(32) if seed is None else seed
        self._background: Final = Background(self._log)
        self.evaluator: Final = evaluator
        """The network that judges positions, or None."""
        self._thinker: Final = Thinker(self.config, evaluator, self._background.cancelled)
        self._resignation: Final = Resignation(self.config.play)
        self._resigned = EMPTY
        self._judge: Final = Judge(self._thinker)
        self.set_seed(self._seed)
        rules = Rules.parse(self.config.game.rules)
        self._komi_is_given = self.config.game.komi is not None
        self.game = Game(*first_board(self.config, evaluator), rules, self.config.game.komi)
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
        """Start a new game on an empty board of this size.

        Raises InvalidSizeError, and ModelError if the network does not play it (nothing changes then).
        """
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
            vertex = format_vertex(point, width=self.game.width, height=self.game.height)
            self._log(f"warning: {vertex} repeats an earlier position; the controller may, so it is played")
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

    def genmove(
        self, color: int, *, play: bool = True, cleanup: bool = False, request: Request | None = None
    ) -> Choice:
        """Choose a move for `color`, play it unless told not to, and book its time.

        `cleanup` is KGS's second phase after a dispute: no pass while dead enemy stones are left.  With time.ponder the
        engine goes on thinking after a move that it has played.
        """
        start = time.perf_counter()
        self._background.end()
        choice = self._choose(self.game, color, start, request or Request(), may_resign=play, cleanup=cleanup)
        if play:
            self._resigned = color if choice.resign else EMPTY
            if not choice.resign:
                self.game.play(Move(color, choice.point))
            self._clocks[color].spend(time.perf_counter() - start)
            if self.config.time.ponder and not choice.resign and not self.game.is_over:
                self.ponder()
        return choice

    def start_genmove(self, color: int, request: Request, done: Callable[[Choice], None]) -> None:
        """Choose a move for `color` in the background without playing it, and call `done`, unless stopped before."""
        start, game = time.perf_counter(), self.game.copy()

        def choose() -> None:
            choice = self._choose(game, color, start, request)
            if not self._background.cancelled.is_set():
                done(choice)

        self._background.start(choose)

    def stop(self) -> None:
        """End running searches at once, from any thread, those in the background too.

        They answer with what they have; this does not wait for them.
        """
        self._background.cancel()
        self._thinker.stop()

    # --- looking at the position ---

    def analyze(self, color: int | None = None, request: Request | None = None) -> SearchReport:
        """Search the position for `color` (default: whose turn it is) until `stop`; reports go where requested."""
        self._background.end()
        return self._thinker.analyze(self.game.copy(), self._color(color), request or Request())

    def start_analysis(self, color: int | None, request: Request) -> None:
        """Do the same in the background, until `stop` or anything else that needs a search; reports come from there."""
        game, to_play = self.game.copy(), self._color(color)
        self._background.start(lambda: self._thinker.analyze(game, to_play, request))

    def ponder(self) -> None:
        """Search the position in the background, until anything needs a search, for what it leaves in the tree."""
        self._background.start(partial(self._thinker.ponder, self.game.copy(), PONDER_LIMIT))

    def look(self, seconds: float, color: int | None = None) -> SearchReport:
        """Search the position for so long and return what was found."""
        self._background.end()
        watcher = TimeWatcher(TimeBudget(seconds, seconds), self.config, self._thinker.effort)
        return self._thinker.search_move(self.game, self._color(color), watcher, Request())

    def raw_evaluation(
        self, color: int | None = None, symmetries: Iterable[int] = (0,), optimism: float | None = None
    ) -> Evaluation:
        """Return what the network says of the position, nothing searched, a row for each of `symmetries`.

        If it is not the turn of `color`, the position counts as set up, without moves before it.  `optimism` in [0, 1]
        is the share of the optimistic policy, None what is configured for the root.  Raises ConfigError without a
        network.
        """
        self._background.end()
        return self._thinker.evaluate(self.game, self._color(color), tuple(symmetries), optimism)

    # --- time ---

    def set_time_settings(self, settings: TimeSettings) -> None:
        """Set the time settings of both players and reset their clocks."""
        self._set_clocks(settings)

    def set_time_left(self, color: int, seconds: float, stones: int) -> None:
        """Set a clock as GTP's time_left says; see `Clock.set_time_left`."""
        self._clocks[color].set_time_left(seconds, stones)

    # --- results ---

    def score(self) -> Score:
        """Return the score of the position; dead stones and open areas, or all of an open position, are estimated."""
        self._background.end()
        return self._judge.score(self.game)

    def final_status(self) -> dict[int, str]:
        """Return the status of every point: alive, dead, seki, black_territory, white_territory or dame."""
        self._background.end()
        return self._judge.statuses(self.game)

    def chains_by_status(self, status: str) -> list[list[int]]:
        """Return the groups of stones that are "alive", "dead" or in "seki", each as its sorted points."""
        return groups_with_status(self.game, self.final_status(), status)

    # --- records ---

    def load_sgf(self, data: bytes | str, move_number: int | None = None) -> int:
        """Replace the game by a record, up to the position before that move; return the colour to move.

        Raises SgfError, and ModelError if the network does not play on such a board (nothing changes then).
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

    def configure(self, values: Mapping[str, Value]) -> None:
        """Set options by full name, {"search.visits": 100, "time.ponder": "true"}, as `Config.with_values` takes them.

        What a search knows of the game is kept unless an option of the search itself changes.  Raises ConfigError, also
        for what cannot be changed any more; nothing is set then.
        """
        for key in values:
            section = key.partition(".")[0]
            if section in _FIXED_SECTIONS:
                raise ConfigError(problem(f"option {key} of a running engine", advice=_FIXED_SECTIONS[section]))
        config = self.config.with_values(values)
        self._background.end()
        self._thinker.configure(config)
        self._resignation.config = config.play
        self.config = config

    def clear_cache(self) -> None:
        """Forget the search tree, remembered evaluations and all estimates."""
        self._background.end()
        self._thinker.clear()
        self._judge.forget()

    def set_seed(self, seed: int) -> None:
        """Set the seed of the random numbers; implies that trees and estimates are forgotten."""
        self._seed = seed
        self._background.end()
        self._thinker.set_seed(abs(seed))
        self._judge.forget()

    def get_seed(self) -> int:
        """Return the seed of the random numbers."""
        return self._seed

    def warm_up(self, progress: Log | None = None) -> None:
        """Compile or load every kernel that play needs; `progress` is told how far it is."""
        asked = (self.game.width, self.game.height)
        board = playable_board(self.evaluator, *asked)
        if board != asked:  # no reason to fail: controllers often name another board before the first move
            self._log("The network plays no {}x{}; it gets ready for {}x{}.".format(*asked, *board))
        warm_up(self.config, self._thinker.evaluator, board, progress or (lambda line: None))

    def close(self) -> None:
        """End the threads and free the network; the engine cannot search afterwards."""
        self._background.end()
        self._thinker.close()

    # --- inside ---

    def _start(self, game: Game) -> None:
        """Make `game` the running game; clocks and whatever was remembered of the last one are reset.

        Raises ModelError (nothing changes then) if the network does not play on such a board.
        """
        if (game.width, game.height) != (self.game.width, self.game.height):
            self._thinker.prepare(game.width, game.height)  # now, as no clock is running
        self.game = game
        self._resignation.reset()
        self._resigned = EMPTY
        self._judge.forget()
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
        played, area = len(self.game.moves), self.game.width * self.game.height
        return budget(self._clocks[color], moves_played=played, area=area, config=self.config)

    def _choose(
        self,
        game: Game,
        color: int,
        start: float,
        request: Request,
        *,
        may_resign: bool = False,
        cleanup: bool = False,
    ) -> Choice:
        """Search for a move of `color` within the time that its clock gives it from `start`, and choose it."""
        whole = self._budget(color)
        # Where the game may be over, the search leaves time to confirm it.
        maximum = whole.maximum * (1.0 - CONFIRMATION_SHARE) if may_be_over(game) else whole.maximum
        limits = TimeBudget(min(whole.target, maximum), maximum, whole.lag)
        effort = self._thinker.effort
        watcher = TimeWatcher(limits, self.config, effort, late=time.perf_counter() - start)
        report = self._thinker.search_move(game, color, watcher, request)
        if may_resign and not cleanup and self._resignation.is_due(game, report):
            choice = Choice(PASS, report, resign=True)
        else:
            fresh = partial(self._thinker.search_in_time, game, deadline=start + whole.maximum)
            choice = Choice(choose_move(game, report, fresh, effort, cleanup=cleanup), report)
        self._log(describe(game, choice))
        return choice

    def _color(self, color: int | None) -> int:
        return self.game.to_play if color is None else color
