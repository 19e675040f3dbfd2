"""The engine's interface for protocols, the command line and programs; no text except SGF.

A genmove: `MoveChooser` chooses, `play_choice` plays.  The controller's moves and our own go through the same
`Game.play`.

One thread at a time may use an engine; another one gets EngineBusyError.  A method that searches takes a cancel token,
by which any thread ends its searches early; they return what they have found.  Background jobs (pondering after our own
move, `start_analysis`) work on a copy of the game; the next method that searches ends them first.
"""

import random
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import inf
from numbers import Integral, Real
from types import EllipsisType
from typing import Final

from gtp_engine.base.errors import (
    BoardNotEmptyError,
    ConfigError,
    HandicapError,
    LimitError,
    TimeSettingsError,
    of_kind,
    refuse_copy,
    shown,
)
from gtp_engine.base.former_names import former_name
from gtp_engine.base.streams import Log
from gtp_engine.config import Config
from gtp_engine.config.config import find_option
from gtp_engine.config.option import Value
from gtp_engine.config.sections import MAX_LEVEL
from gtp_engine.engine.answers import Analysis, Limit, PositionEvaluation, analysis_of, position_evaluation_of, question
from gtp_engine.engine.final_score import ALIVE, DEAD, SEKI, FinalScore, Scorer, groups_with_status
from gtp_engine.engine.level_play import LevelPlay, check_level
from gtp_engine.engine.move_choice import Choice, MoveChooser
from gtp_engine.engine.rehearsal import Kernels, warm_up
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.searches import Searches, impartial_config
from gtp_engine.engine.threads import Background, Use, exclusive
from gtp_engine.engine.time_manager import TimeBudget, TimeWatcher, budget
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, Evaluator
from gtp_engine.evaluation.positions import Evaluation
from gtp_engine.go.clock import Clock, TimeKind, TimeSettings
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import AnyMove, Color, Move, Point, is_color, to_color
from gtp_engine.go.game import Game, listed_games, several
from gtp_engine.go.handicap import fixed_handicap_points, free_handicap_points
from gtp_engine.go.rules import Rules
from gtp_engine.go.scoring import Score
from gtp_engine.nn.evaluators import LoadShipped, networks_of
from gtp_engine.search.limits import CancelToken, Limits, Reporting, SearchRequest
from gtp_engine.search.report import SearchReport
from gtp_engine.sgf import SgfRecord, format_sgf, parse_sgf, play_record

_FIXED_SECTIONS: Final = {"game": "use boardsize, komi and kata-set-rules", "network": "start the engine with it"}
"""Sections of the configuration that `configure` does not change, and what to do instead."""

_FIXED_OPTIONS: Final = ("play.book", "variety.avoid_repeats", "variety.avoid_sgf")
"""Options that it does not change either: they name files, which are not for those who only send commands."""


class Engine:
    """A game and everything needed to play it; `log` receives lines for the user.

    With an evaluator the engine searches with its network unless the configuration says otherwise; `human` is a
    human-like network beside it.  `load_shipped` loads the networks that levels need besides these, by name; without it
    those that ship are loaded.  Without `evaluator` the networks that the configuration names are loaded, as on the
    command line, or the one that ships; with None there is no network.  `close`, or the end of a `with` block, closes
    the networks too.

    Raises RulesError if the configuration names unknown rules, ConfigError if it requires a network and there is none,
    ModelError if a network cannot be loaded.  Methods take points and colours as those of `Game`, and raise
    InvalidVertexError and InvalidColorError as these do; EngineBusyError while another thread calls one, and
    EngineDiedError once the engine is closed, or in a process that was forked from its own.

        with Engine(Config().with_values({"search.visits": 100})) as engine:
            print(engine.genmove().point, engine.analyse(Game(9), Limit(time=1)).winrate)
    """

    def __init__(
        self,
        config: Config | None = None,
        log: Log | None = None,
        evaluator: Evaluator | EllipsisType | None = ...,
        human: Evaluator | None = None,
        load_shipped: LoadShipped | None = None,
    ) -> None:
        self._log: Final[Log] = log or (lambda line: None)
        self._use: Final = Use()
        config = config or Config()
        evaluator, human, load = networks_of(config, self._log, evaluator, human, load_shipped)
        self.config = Resources(evaluator, human).config_at_start(config, self._log)
        self.seed = _seed_of(self.config)
        """The seed of the random numbers, which `set_seed` sets."""
        self._background: Final = Background(self._log)
        self.evaluator: Final = evaluator
        """Evaluates positions by a network; None without one."""
        self.human: Final = human
        """The human-like network; None without one."""
        check_level(self.config, evaluator)
        self._searches: Final = Searches(self.config, evaluator, human)
        self._resources: Final = self._searches.resources
        self.kernels: Final = Kernels(self._resources, self._log)
        """The kernels that searches call, which `load_kernels` loads or another object shares."""
        self._level: Final = LevelPlay(self._searches, self.seed, load)
        self._chooser: Final = MoveChooser(self._searches, self.kernels, self._level, self.seed, self._log)
        self._resigned = EMPTY
        self._scorer: Final = Scorer(self._searches)
        self._seed_searches()
        options = self.config.game
        rules = Rules.parse(options.rules)
        komi = options.komi if options.forced_komi is None else options.forced_komi
        self._users_rules, self._users_komi = rules, komi
        """Those of the options and commands: records that name none have them; None: the usual komi."""
        self._komi_is_given, self._komi_is_logged = komi is not None, False
        width, height = self._resources.first_board(self.config)
        self.game = Game(width, height, rules, rules.fair_komi(width, height) if komi is None else komi)
        self.game.handicap_by_moves = self.config.game.handicap_by_moves
        self._clocks = self._new_clocks(TimeSettings.none())
        if self._level.is_on:
            self._level.prepare(self.game.width, self.game.height)
            self._log(self._level.describe(self.game.width, self.game.height))

    # --- setting up ---

    @exclusive
    def prepare_board(self, width: int, height: int | None = None) -> None:
        """Get the networks ready for a board of this size, which may take seconds; the game stays as it is.

        Raises InvalidSizeError, and ModelError if a network does not play it.
        """
        game = Game(width, height)
        self._resources.prepare(game.width, game.height)
        if self._level.is_on:
            self._level.prepare(game.width, game.height)

    @exclusive
    def set_board_size(self, width: int, height: int | None = None) -> None:
        """Start a new game on an empty board of this size; the komi is the board's usual one unless it has been set.

        Raises InvalidSizeError, and ModelError if the network does not play it (nothing changes then).
        """
        usual = self.game.rules.fair_komi(width, width if height is None else height)
        self._start(Game(width, height, self.game.rules, self.game.komi if self._komi_is_given else usual))

    @exclusive
    def clear_board(self) -> None:
        """Start a new game on a board of the same size, with the same rules, komi and time settings."""
        self._start(self._empty_game())

    @exclusive
    def set_komi(self, komi: float) -> None:
        """Set the komi, any finite number, unless the configuration forces another; raises KomiError."""
        self.game.komi = komi
        if (forced := self.config.game.forced_komi) is not None:
            self.game.komi = forced
            self._log(f"komi {komi:g} is ignored: game.forced_komi is {forced:g}")
        self._komi_is_given, self._users_komi = True, self.game.komi

    @exclusive
    def set_rules(self, rules: Rules | str) -> None:
        """Set the rules, also during a game; the komi becomes their usual one unless it has been set.

        They may be text that `Rules.parse` reads; raises RulesError.
        """
        rules = Rules.of(rules)
        self.game.rules = self._users_rules = rules
        if not self._komi_is_given:
            self.game.komi = rules.fair_komi(self.game.width, self.game.height)

    @exclusive
    def set_up(self, stones: Iterable[AnyMove], first_player: int | str = BLACK) -> None:
        """Start a new game from a set-up position; raises IllegalMoveError (nothing changes then)."""
        game = self._empty_game()
        game.set_up(stones, first_player)
        self._start(game)

    set_position = former_name("Engine.set_position", set_up, gone="3.0")

    @exclusive
    def set_game(self, game: Game) -> None:
        """Go on with another game; raises ModelError if the network does not play on its board (nothing changes then).

        The game becomes the engine's own.
        """
        self._start(game)

    @exclusive
    def fixed_handicap(self, count: int) -> list[Point]:
        """Place 2 to 9 handicap stones on the traditional points and return these.

        Raises HandicapError, BoardNotEmptyError.
        """
        self._require_empty_board()
        return self._place_handicap(fixed_handicap_points(count, self.game.width, self.game.height))

    @exclusive
    def free_handicap(self, stones: int | Iterable[int | str]) -> list[Point]:
        """Place handicap stones on these points, or on as many that the engine chooses, and return them.

        Raises HandicapError, IllegalMoveError, BoardNotEmptyError.
        """
        self._require_empty_board()
        width, height = self.game.width, self.game.height
        if not isinstance(stones, Iterable):
            return self._place_handicap(free_handicap_points(stones, width, height))
        chosen = self.game.all_on_board(stones)
        if not 2 <= len(chosen) < width * height:
            raise HandicapError(f"invalid handicap {len(chosen)}", expected=f"2 to {width * height - 1} stones")
        return self._place_handicap(chosen)

    # --- playing ---

    @exclusive
    def play(self, move: AnyMove | int | str, color: int | str | None = None) -> Move:
        """Play a move as `Game.play` does, and return it; raises what that raises.

        What records contain though the rules forbid it is played with a warning, unless the configuration is strict.
        The order of version 1, `play(color, point)`, goes with version 3.0 and warns.
        """
        if color is not None and (isinstance(move, Color) or (isinstance(move, str) and is_color(move))):
            message = "Engine.play(color, point) is now play(point, color); the former order goes with version 3.0"
            warnings.warn(message, DeprecationWarning, stacklevel=3)
            move, color = color, move
        played = self.game.resolve(move, color)
        reason = self.game.illegal_reason(played.point, played.color)
        self.game.play(played, tolerant=not self.config.game.strict)
        if reason is not None:
            text = self.game.explain(reason, played.point)
            self._log(f"warning: {text}; it is played because the controller sent it")
        self._resigned = EMPTY
        return played

    @exclusive
    def play_sequence(self, moves: Iterable[AnyMove]) -> None:
        """Play several moves, or none if one of them is illegal; raises what `play` raises."""
        trial, played = self.game.copy(), [self.game.as_move(move) for move in several(moves)]
        for move in played:
            trial.play(move, tolerant=not self.config.game.strict)
        for move in played:
            self.play(move)

    @exclusive
    def undo(self, count: int = 1) -> None:
        """Take back moves; raises CannotUndoError (and does nothing) if there are fewer."""
        self.game.undo(count)
        self._chooser.resignation.reset()
        self._resigned = EMPTY

    @exclusive
    def genmove(
        self,
        color: int | str | None = None,
        *,
        play: bool = True,
        play_if_cancelled: bool = True,
        cleanup: bool = False,
        resign: bool = True,
        ponder: bool = True,
        cancel: CancelToken | None = None,
        request: SearchRequest | Limits | None = None,
    ) -> Choice:
        """Return the engine's move for `color`, by default the side to play; with `play` it is also played.

        Its time is then taken off the clock.  Without `play_if_cancelled` nothing is played once `cancel` is cancelled;
        `play_choice` plays the choice later.  `cleanup` is KGS's second phase after a dispute: no pass while dead enemy
        stones are left.  Without `resign` the engine does not resign, whatever play.resign says.  With time.ponder the
        engine ponders after a move that it has played, until `cancel` or the next search; without `ponder` the caller
        passes the move on first and then calls `ponder`.  `request` is given instead of `cancel` for a search
        that is limited further, or reports: moves that are left out, fewer visits than configured.
        """
        start, color = time.perf_counter(), self._color(color)
        self._background.end()
        self._log_unusual_komi()
        task = self._chooser.prepare(self.game, color, _request(request, cancel), self._clocks[color], start)
        may_resign = play and resign and not cleanup
        choice = self._chooser.choose(task, may_resign=may_resign, cleanup=cleanup)
        if play and (play_if_cancelled or not task.cancel.is_cancelled):
            self.play_choice(color, choice, time.perf_counter() - start)
            if ponder:
                self.ponder(task.cancel, after=choice)
        elif play:
            self._chooser.resignation.reset()  # the next search for this move must not count as another lost move
        return choice

    @exclusive
    def play_choice(self, color: int | str, choice: Choice, seconds: float) -> None:
        """Play a choice made by `genmove` for the position on the board, or resign, as `genmove` itself does.

        `seconds` are taken off the clock.
        """
        color = to_color(color)
        self._resigned = color if of_kind(choice, Choice, "choice").resign else EMPTY
        self._chooser.record(self.game, choice)
        if not choice.resign:
            self.game.play(choice.point, color)
        self._clocks[color].spend(seconds)

    # --- searching and evaluating the position ---

    @exclusive
    def analyse(self, game: Game, limit: Limit | None = None, cancel: CancelToken | None = None) -> Analysis:
        """Return what a search finds in the position of any game, from the view of the side to play.

        The game and the engine's own one stay as they are, and so does its tree.  Without a limit the search has the
        visits or the time per move that are configured.  With a seed and a limit of visits it finds the same every
        time.  Raises ModelError if the network does not play on such a board.
        """
        game, limit = question(game, limit)
        self._background.end()
        if (game.width, game.height) != (self.game.width, self.game.height):
            self.prepare_board(game.width, game.height)
        visits, seconds = limit.visits, limit.time
        if limit == Limit():
            visits = self.config.search.visits or None
            seconds = self.config.time.without_clock if visits is None else None
        watcher = None
        if seconds is not None:
            watcher = TimeWatcher(TimeBudget(seconds, seconds), self.config, self._searches.thresholds.settled_visits)
        limits = Limits(visits, watcher, playouts=limit.playouts, cancel=_token(cancel))
        game = game.copy()
        return analysis_of(self._searches.search_other(game, limits), game)

    @exclusive
    def search(
        self,
        seconds: float | None = None,
        color: int | str | None = None,
        cancel: CancelToken | None = None,
        request: SearchRequest | Limits | None = None,
    ) -> SearchReport:
        """Search the engine's own position for `color` (default: the side to play); return the report.

        With `seconds` it is a search as for a move, which lasts so long at most; the moves of its report are sorted,
        the best first, also where `genmove` draws its moves at random or as people play.  Without, it is an analysis,
        until `cancel` or as `request` says.  Raises TimeSettingsError for a negative time, LimitError without an end.
        """
        if seconds is None and cancel is None and request is None:
            raise LimitError("a search without an end", expected="seconds, or a token to cancel it")
        self._background.end()
        asked, color = _request(request, cancel), self._color(color)
        if seconds is None:
            return self._searches.analyze(self.game.copy(), color, asked)
        if not (isinstance(seconds, Real) and seconds >= 0):
            raise TimeSettingsError(f"{shown(seconds)} seconds for a search", expected="0 or more")
        watcher = TimeWatcher(TimeBudget(seconds, seconds), self.config, self._searches.thresholds.settled_visits)
        return self._searches.search_move(self.game, color, asked, watcher)

    timed_search = former_name("Engine.timed_search", search, gone="3.0")

    def _search_until(
        self, cancel: CancelToken, color: int | str | None = None, reporting: Reporting | None = None
    ) -> SearchReport:
        return self.search(color=color, request=SearchRequest(Limits(cancel=cancel), reporting=reporting))

    search_until = former_name("Engine.search_until", _search_until, now="Engine.search", gone="3.0")

    @exclusive
    def start_analysis(
        self, color: int | str | None, request: SearchRequest | Limits, done: Callable[[Choice], None] | None = None
    ) -> None:
        """Analyse the position in the background, until the next search; reports come from the background thread.

        With `done` a move is chosen as by `genmove`, but not played; `done` receives it unless cancelled.
        """
        request, game, color = _request(request), self.game.copy(), self._color(color)
        cancel = request.limits.cancel or CancelToken()
        if done is None:
            self._background.start(partial(self._searches.analyze, game, color, request), cancel)
            return
        task = self._chooser.prepare(game, color, request, self._clocks[color], time.perf_counter())

        def choose() -> None:
            choice = self._chooser.choose(task)
            if not cancel.is_cancelled:
                done(choice)

        self._background.start(choose, cancel)

    @exclusive
    def ponder(self, cancel: CancelToken | None = None, *, after: Choice | None = None) -> None:
        """Search the position in the background, until `cancel` or the next search, which reuses the tree.

        With `after`, a choice that was played, only where time.ponder is on and the game goes on; at no level, and not
        while kernels are compiled: an interpreted search would hold up the next move.
        """
        if after is not None:
            goes_on = not after.resign and not self.game.is_over and not self._level.is_on
            if not (self.config.time.ponder and goes_on) or self.kernels.is_compiling:
                return
        advantage = self._chooser.advantage_black(self.game)
        cancel = _token(cancel)
        ponder = partial(self._searches.ponder, self.game.copy(), advantage, cancel)
        self._background.start(ponder, cancel)

    @exclusive
    def known(self, game: Game) -> SearchReport | None:
        """Return what the last search of this engine's game holds about a position of it, None if nothing."""
        self._background.end()
        return self._searches.known(of_kind(game, Game, "game"), game.to_play)

    @exclusive
    def raw_evaluation(
        self,
        color: int | str | None = None,
        symmetries: Iterable[int] = (0,),
        optimism: float | None = None,
        *,
        game: Game | None = None,
        by_people: bool = False,
    ) -> Evaluation:
        """Return the network's evaluation of the position, one row for each of `symmetries`; no search.

        If it is not the turn of `color`, the position counts as set up, without moves before it.  `optimism` in [0, 1]
        is the share of the optimistic policy; None is the one configured for the root.  The position is that of `game`,
        if one is given, the network the human-like one with `by_people`.  Raises ConfigError without the network, and
        for other values.
        """
        self._background.end()
        game = of_kind(game or self.game, Game, "game")
        color = to_color(game.to_play if color is None else color)
        chosen = tuple(symmetries) if isinstance(symmetries, Iterable) else ()
        if not chosen or any(symmetry not in (*range(8), ALL_SYMMETRIES) for symmetry in chosen):
            raise ConfigError(f"symmetries {shown(symmetries)}", expected="numbers from 0 to 7")
        return self._searches.evaluate(game, color, chosen, optimism, by_people=by_people)

    @exclusive
    def evaluate(self, games: Iterable[Game], *, all_orientations: bool = False) -> list[PositionEvaluation]:
        """Return what the network says about the positions of many games, in their order, without a search.

        The positions are evaluated in batches, on boards of any sizes and under any rules; a game of which the position
        one move earlier was evaluated last costs least.  With `all_orientations` it is the mean over the orientations
        of the board, which takes as many times as long.  The policy is the network's own.  Raises ConfigError without a
        network, ModelError for a board that it does not play, ArgumentError for what is not a Game.
        """
        self._background.end()
        games = listed_games(games)
        found: dict[int, PositionEvaluation] = {}
        for number, evaluation, row in self._searches.evaluate_many(games, all_orientations=all_orientations):
            assert self.evaluator is not None, "without one nothing is evaluated"
            found[number] = position_evaluation_of(games[number], evaluation, row, self.evaluator.info)
        return [found[number] for number in range(len(games))]

    # --- time ---

    @exclusive
    def set_time_settings(self, settings: TimeSettings) -> None:
        """Set the time settings of both players and reset their clocks.

        Kernels that are being loaded from the cache, which takes a second, are awaited now, as no clock is running.
        """
        of_kind(settings, TimeSettings, "time settings")
        if settings.kind is not TimeKind.NONE and not self.kernels.is_compiling:
            self.kernels.wait(CancelToken())
        self._clocks = self._new_clocks(settings)

    @exclusive
    def set_time_left(self, color: int | str, seconds: float, stones: int) -> None:
        """Set a clock as GTP's time_left does: seconds left, and moves or periods left in overtime, 0 before it.

        Raises TimeSettingsError.
        """
        self._clocks[to_color(color)].set_time_left(seconds, stones)

    def time_for_move(self, color: int | str) -> tuple[Clock, TimeBudget]:
        """Return the clock of a colour, which must not be changed, and the time that its next move would get."""
        game, clock = self.game, self._clocks[to_color(color)]
        area = game.width * game.height
        return clock, budget(clock, moves_played=len(game.moves), area=area, config=self.config)

    # --- results ---

    def score(self, cancel: CancelToken | None = None) -> Score:
        """Return the score of the position, which may be an estimate in part or as a whole; see `outcome`."""
        return self.outcome(cancel).score

    @exclusive
    def outcome(self, cancel: CancelToken | None = None) -> FinalScore:
        """Return the score with the dead stones and the owner of each point, and whether it is counted.

        Kernels that are being compiled are not awaited, as that takes minutes on a busy machine, unless the score is to
        repeat exactly, or comes from rollouts, of which the interpreter plays too few.
        """
        cancel = _token(cancel)
        self._background.end()
        exactly = self._chooser.repeats_exactly(TimeBudget(inf, inf))
        plays_out = self._resources.plays_out(impartial_config(self._resources, self.config))
        if exactly or plays_out or not self.kernels.is_compiling:
            self.kernels.wait(cancel)
        else:
            self._log(f"Still compiling ({self.kernels.progress}): the score takes longer than usual.")
        return self._scorer.outcome(self.game, cancel)

    def _final_status(self, cancel: CancelToken | None = None) -> dict[Point, str]:
        return self.outcome(cancel).statuses

    final_status = former_name("Engine.final_status", _final_status, now="Engine.outcome", gone="3.0")

    def groups_by_status(self, status: str, cancel: CancelToken | None = None) -> list[list[Point]]:
        """Return the groups of stones that are "alive", "dead" or in "seki", each as its sorted points.

        Raises ConfigError for another status.
        """
        if status not in (ALIVE, DEAD, SEKI):
            raise ConfigError(f"status {shown(status)}", expected=f"one of {ALIVE}, {DEAD}, {SEKI}")
        groups, points = groups_with_status(self.game, self.outcome(cancel).statuses, status), self.game.point
        return [[points(number) for number in group] for group in groups]

    # --- records ---

    @exclusive
    def load_sgf(self, data: bytes | str | SgfRecord, move_number: int | None = None) -> SgfRecord:
        """Replace the game by a record, up to the position before that move; return what of it was used.

        Its notes, on what was left out or guessed, are logged.  A record that names no rules or komi has those that
        were configured or set, not those of a record before; where no komi was, the usual one.
        Raises SgfError, and ModelError if the network does not play on such a board (nothing changes then).
        """
        if not isinstance(data, SgfRecord):
            data = parse_sgf(data.encode(errors="replace") if isinstance(data, str) else data)
        game, record = play_record(data, move_number=move_number, rules=self._users_rules, komi=self._users_komi)
        self._start(game)
        self._komi_is_given = record.komi is not None or self._users_komi is not None
        for note in record.notes:
            self._log(f"the record: {note}")
        return record

    load_record = former_name("Engine.load_record", load_sgf, gone="3.0")

    def to_sgf(self, cancel: CancelToken | None = None) -> str:
        """Return the game as SGF, with its result once it has ended or the engine has resigned."""
        if self._resigned != EMPTY:
            return format_sgf(self.game, result="W+R" if self._resigned == BLACK else "B+R")
        return format_sgf(self.game, result=str(self.score(cancel)) if self.game.is_over else "")

    # --- settings and resources ---

    @exclusive
    def configure(self, values: Mapping[str, Value]) -> None:
        """Set options by full name, {"search.visits": 100, "time.ponder": "true"}, as `Config.with_values` takes them.

        Trees are kept unless an option that shapes them changes.  Nothing is set if it raises: ConfigError for a bad
        value or an option that a running engine cannot change, ModelError if the network for a level cannot be loaded.
        """
        for key in of_kind(values, Mapping, "options"):
            section = find_option(key).section
            if key in _FIXED_OPTIONS and self.config.with_values({key: values[key]}) != self.config:
                raise ConfigError(f"option {key} of a running engine", advice="start the engine with it")
            if section in _FIXED_SECTIONS:
                raise ConfigError(f"option {key} of a running engine", advice=_FIXED_SECTIONS[section])
        config = self._resources.with_profile_of_level(self.config, self.config.with_values(values))
        check_level(config, self.evaluator)
        self._background.end()
        if config.play.level != MAX_LEVEL:
            self._level.prepare(self.game.width, self.game.height)
        self._searches.configure(config)
        self._chooser.configure(config)
        for clock in self._clocks.values():
            clock.drift = config.time.drift
        self.config = config
        if self.kernels.lack(config):
            self.load_kernels()
        if "search.seed" in values:
            self.set_seed(_seed_of(config))
            self._seed_searches()
        if "play.level" in values and self._level.is_on:
            self._log(self._level.describe(self.game.width, self.game.height))

    @exclusive
    def clear_cache(self) -> None:
        """Forget the search tree, cached evaluations and the estimated score."""
        self._background.end()
        self._searches.clear()
        self._scorer.clear()

    def _seed_searches(self) -> None:
        """Let searches repeat if the configuration has a seed, and only then: they are slower for it."""
        self._searches.set_seed(None if self.config.search.seed is None else abs(self.seed))

    @exclusive
    def set_seed(self, seed: int) -> None:
        """Set the seed of the random numbers, an integer; forgets trees and the estimated score."""
        self.seed = seed = int(of_kind(seed, Integral, "seed"))
        self._background.end()
        self._searches.set_seed(abs(seed))
        self._chooser.set_seed(abs(seed))
        self._scorer.clear()

    @exclusive
    def warm_up(self, progress: Log | None = None) -> None:
        """Compile or load every kernel that play needs; `progress` receives a few lines meanwhile."""
        warm_up(self._resources, self.config, progress or (lambda line: None))
        self._resources.prepare(*self._prepared_board())

    @exclusive
    def load_kernels(self) -> None:
        """Load or compile every kernel in the background, and return as soon as the network is ready.

        Until then the engine answers at once, by interpreting kernels.  While they are being compiled, the log says so,
        and a move is chosen by a small search; but with a seed and a number of visits, and no clock, moves and scores
        wait for the kernels, so that they are the same every time.  So do scores by rollouts, of which the interpreter
        plays too few.
        Once the kernels are loaded, garbage collections leave out all objects that live then (`gc.freeze`).
        """
        self.kernels.load(self.config, self._prepared_board())

    def close(self) -> None:
        """End all threads and free the network; afterwards methods raise EngineDiedError.  It may be called twice."""
        if self._use.end():
            self._background.end()
            self.kernels.close()
            self._level.close()
            self._searches.close()

    __reduce__ = refuse_copy

    def __repr__(self) -> str:
        board = self.game.width, self.game.height
        network = self.evaluator.info.on(*board).name if self.evaluator else "no network"
        return f"<Engine, {network}, {self.game!r}>"

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- helpers ---

    def _start(self, game: Game) -> None:
        """Replace the game; resets clocks and everything that belongs to the last game.

        Raises ModelError (nothing changes then) if the network does not play on such a board.
        """
        of_kind(game, Game, "game")
        if (game.width, game.height) != (self.game.width, self.game.height):  # now, as no clock is running
            others = self._level.own_evaluators() if self._level.is_on else []
            self._resources.begin_to_prepare(game.width, game.height, others)
        game.handicap_by_moves = self.config.game.handicap_by_moves
        game.komi = game.komi if self.config.game.forced_komi is None else self.config.game.forced_komi
        self.game = game
        self._resigned = EMPTY
        self._scorer.clear()
        for clock in self._clocks.values():
            clock.reset()

    def _new_clocks(self, settings: TimeSettings) -> dict[int, Clock]:
        """Return full clocks for both players."""
        return {color: Clock(settings, drift=self.config.time.drift) for color in (BLACK, WHITE)}

    def _empty_game(self) -> Game:
        """Return a new game on a board of the same size, with the same rules and komi."""
        return Game(self.game.width, self.game.height, self.game.rules, self.game.komi)

    def _log_unusual_komi(self) -> None:
        """Log once that nothing has set the komi, where it is another than the rules' usual one."""
        game, usual = self.game, self.game.rules.default_komi()
        is_known = self._komi_is_given or self._komi_is_logged
        if not is_known and game.komi == game.rules.fair_komi(game.width, game.height) != usual:
            self._komi_is_logged = True
            board = f"{game.width}x{game.height}, where White wins with {usual:g}"
            self._log(f"Komi is {game.komi:g} on {board}; --komi and GTP's komi set another.")

    def _require_empty_board(self) -> None:
        if self.game.moves or self.game.setup_stones:
            raise BoardNotEmptyError("board not empty: send clear_board before placing handicap stones")

    def _place_handicap(self, points: Iterable[int]) -> list[Point]:
        self.game.set_handicap(points)
        return [stone.point for stone in self.game.setup_stones]

    def _prepared_board(self) -> tuple[int, int]:
        """Return the board to get ready for: that of the game, else one that the network plays."""
        current = (self.game.width, self.game.height)
        board = self._resources.playable_board(*current)
        if board != current:  # no reason to fail: controllers often set another board before the first move
            self._log("The network does not play {}x{}; preparing it for {}x{}.".format(*current, *board))
        return board

    def _color(self, color: int | str | None) -> Color:
        return self.game.to_play if color is None else to_color(color)


def _request(asked: SearchRequest | Limits | None, cancel: CancelToken | None = None) -> SearchRequest:
    """Return what is asked, if anything, or else a search that `cancel` ends; with a cancel token in any case."""
    request = SearchRequest.of(asked or Limits(cancel=_token(cancel)))
    return replace(request, limits=replace(request.limits, cancel=_token(request.limits.cancel)))


def _token(cancel: CancelToken | None) -> CancelToken:
    return of_kind(cancel or CancelToken(), CancelToken, "cancel")


def _seed_of(config: Config) -> int:
    """Return the seed that is configured, or else a random one."""
    return random.getrandbits(32) if config.search.seed is None else config.search.seed
