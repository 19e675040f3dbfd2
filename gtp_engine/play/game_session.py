"""A game between a person and an engine: whose turn it is, what either may do now, how the game ends.

    PLAYING    moves in turn; two passes lead to SCORING, or to FINISHED where the rules count every stone
    PLACING    the person, as Black, places free handicap stones
    SCORING    the engine proposes dead stones, the person disputes them chain by chain and then accepts the score
    FINISHED   by score, resignation, time or a long cycle (no result); `resume` and `undo` lead back

Moves of both sides obey all rules, superko included.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from enum import StrEnum
from typing import Final

from gtp_engine.arguments import checked
from gtp_engine.clock import TimeSettings, reported_time
from gtp_engine.engine import Choice, Engine
from gtp_engine.engine.final_score import FinalScore
from gtp_engine.engine.game_end import counts_all_stones
from gtp_engine.errors import CannotUndoError, GameStateError, IllegalMoveError, counted, problem
from gtp_engine.go.constants import BLACK, PASS, WHITE, Move, opponent
from gtp_engine.go.coords import format_color, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.go.scoring import Score
from gtp_engine.play.game_clock import GameClock
from gtp_engine.play.game_settings import ENGINE_NAME, GameSettings, SessionExtras, settings_of
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits, Reporting
from gtp_engine.search.report import SearchReport
from gtp_engine.sgf import SgfRecord, format_sgf, parse_sgf, play_record
from gtp_engine.sgf.values import VOID, parse_result

_NOTHING: Final = SessionExtras()
_LETTERS: Final = {BLACK: "B", WHITE: "W"}

HINT_SECONDS: Final = 2.0
"""Time for a hint: enough for a few hundred visits with the network that ships, on one core."""

REPORT_INTERVAL: Final = 0.5
"""Seconds between two reports of a search: as often as an eye can follow."""


class Phase(StrEnum):
    """What a session waits for; see the module docstring."""

    PLACING = "placing"
    PLAYING = "playing"
    SCORING = "scoring"
    FINISHED = "finished"


@checked
class GameSession:
    """One game on the board of `engine`, which `start` or `load` has set up; the caller closes the engine.

    A method that is not possible now raises GameStateError and changes nothing.
    """

    def __init__(
        self,
        engine: Engine,
        settings: GameSettings,
        clock: GameClock | None = None,
        extras: SessionExtras = _NOTHING,
    ) -> None:
        self.engine: Final = engine
        self.settings = settings
        self.clock: Final = clock or GameClock(settings.time)
        self.placed: tuple[int, ...] = ()
        """The free handicap stones that the person has placed so far."""
        self.notes: tuple[str, ...] = ()
        """What of the record that the game was loaded from was left out or guessed."""
        self._dead = extras.dead
        self._proposed: FinalScore | None = None
        self._result = ""
        self._found: Choice | None = None
        self._resumed_at = extras.resumed_at
        self._may_resign = extras.may_resign
        self._is_scoring = self._has_two_passes(since=self._resumed_at)
        self._clocks_after = dict(extras.clocks)
        if self._clocks_after:
            self._set_clocks_back()
        else:
            self._clocks_after[len(self.game.moves)] = self.clock.at_last_move()
        engine.set_time_settings(settings.time)
        self._continue()

    @staticmethod
    def start(engine: Engine, settings: GameSettings, clock: GameClock | None = None) -> "GameSession":
        """Set up a new game and return it; `clock` is for tests.

        Raises KomiError, and what `check` raises.
        """
        GameSession.check(engine, settings)
        rules, komi = Rules.parse(settings.rules), settings.first_komi()
        engine.set_board_size(settings.width, settings.height)
        engine.set_rules(rules)
        engine.set_komi(komi)
        if settings.stones and not settings.has_free_handicap:
            engine.fixed_handicap(settings.stones)
        elif settings.stones and settings.engine == BLACK:
            engine.free_handicap(settings.stones)
        return GameSession(engine, settings, clock)

    @staticmethod
    def check(engine: Engine, settings: GameSettings) -> None:
        """Find out whether `start` can set up such a game, and change nothing.

        Raises RulesError, InvalidSizeError, HandicapError, and ModelError if the network does not play such a board.
        """
        Rules.parse(settings.rules)
        settings.check_handicap()
        engine.prepare_board(settings.width, settings.height)

    @staticmethod
    def check_record(engine: Engine, data: bytes | str) -> None:
        """Find out whether `load` can continue a record, and change nothing.

        Raises SgfError, and ModelError if the network does not play such a board.
        """
        raw = data.encode(errors="replace") if isinstance(data, str) else data
        game, _ = play_record(parse_sgf(raw), rules=engine.rules)
        engine.prepare_board(game.width, game.height)

    @staticmethod
    def load(
        engine: Engine,
        data: bytes | str,
        *,
        human: int | None = None,
        time: TimeSettings | None = None,
        clock: GameClock | None = None,
        extras: SessionExtras = _NOTHING,
        defaults: GameSettings | None = None,
    ) -> "GameSession":
        """Continue a game from SGF and return it, with this `clock` (for tests), or with clocks under `time`.

        A record that names no rules or komi has those of `defaults`, or else of the engine.  The clocks are full, and
        no stone is dead, unless `extras` says otherwise.  Without `human` the person has the colour that the record
        does not give to the engine, or else the side to move.  A record with a result is finished, unless it is "?",
        or "Void" before the rules end the game, or moves follow that cannot be played; so is one that ends with two
        passes where the rules count every stone.  `resume` plays on.  Raises SgfError, and ModelError if the network
        does not play such a board (nothing changes
        then).
        """
        raw = data.encode(errors="replace") if isinstance(data, str) else data
        record = parse_sgf(raw)
        if defaults is not None:
            GameSession.check_record(engine, raw)
            rules = Rules.parse(defaults.rules)
            engine.set_rules(rules)
            engine.set_komi((record.rules or rules).default_komi() if defaults.komi is None else defaults.komi)
        record = engine.load_sgf(raw)
        settings = settings_of(record, engine.game, human, clock.settings if clock else time)
        if extras.free_handicap:
            placed = tuple(stone.point for stone in engine.game.setup_stones)
            settings = replace(settings, handicap=extras.free_handicap, has_free_handicap=True)
            session = GameSession.start(engine, settings, clock)
            session.placed = placed
            return session
        session = GameSession(engine, settings, clock, extras)
        session.notes = (*extras.notes, *record.notes)
        session.finish(_result_of(record, engine.game))
        session._count_all_stones()
        return session

    # --- state ---

    @property
    def game(self) -> Game:
        """The board and its history; only the session changes it."""
        return self.engine.game

    @property
    def phase(self) -> Phase:
        """What the session waits for."""
        if self._result:
            return Phase.FINISHED
        if self._is_scoring:
            return Phase.SCORING
        return Phase.PLACING if self.stones_to_place else Phase.PLAYING

    @property
    def is_engine_turn(self) -> bool:
        """Whether the engine is to move, by `engine_move`."""
        return self.phase is Phase.PLAYING and self.game.to_play == self.settings.engine

    @property
    def level(self) -> str:
        """The engine's level: a rank from "20k" to "9d", or "max"; hints and estimates are always at full strength."""
        return self.engine.config.play.level

    def set_level(self, level: str) -> None:
        """Set the engine's level from its next move on; raises ConfigError."""
        self.engine.configure({"play.level": level})

    @property
    def result(self) -> str:
        """The result as SGF writes it: "B+3.5", "W+R", "0", "Void" (see `sgf.values`); "" before the end."""
        return self._result

    @property
    def stones_to_place(self) -> int:
        """How many handicap stones the person still has to place."""
        settings = self.settings
        if not settings.has_free_handicap or settings.human == WHITE or self.game.setup_stones or self.game.moves:
            return 0
        return settings.stones - len(self.placed)

    @property
    def dead(self) -> frozenset[int]:
        """The stones that count as dead while the game is scored."""
        return self._dead or frozenset()

    @property
    def has_marked_dead(self) -> bool:
        """Whether dead stones have been proposed or marked, even if none are left."""
        return self._dead is not None

    @property
    def can_move_now(self) -> bool:
        """Whether a cancelled search has found a move that `move_now` plays."""
        return self._found is not None

    # --- the person's moves ---

    def play(self, move: int | str) -> Move:
        """Play the person's move, a point, PASS, or a vertex such as "Q16" or "pass"; return it.

        While stones are placed, it is the next one.  Raises IllegalMoveError, InvalidVertexError.
        """
        point = self.point(move)
        if self.phase is Phase.PLACING:
            return self._place(point)
        self._require(Phase.PLAYING)
        self.check_time()
        self._require(Phase.PLAYING)
        if self.game.to_play != self.settings.human:
            raise GameStateError(problem("it is the engine's move", advice="let it play, or undo"))
        played = self.game.play(Move(self.settings.human, point))
        self._after_move()
        return played

    def resign(self) -> None:
        """Let the person resign."""
        self._require(Phase.PLAYING, Phase.SCORING)
        self.finish(f"{_LETTERS[self.settings.engine]}+R")

    def undo(self) -> int:
        """Take back the moves from the person's last one on, or the last handicap stone; return how many moves.

        The clocks go back too.  Raises CannotUndoError if the person has not moved.
        """
        if self.phase is Phase.PLACING and self.placed:
            self.placed = self.placed[:-1]
            return 1
        moves = self.game.moves
        last = max((number for number, move in enumerate(moves) if move.color == self.settings.human), default=None)
        if last is None:
            raise CannotUndoError("cannot undo: you have not played a move yet")
        self.engine.undo(len(moves) - last)
        self._reopen(resumed_at=self._resumed_at if last >= self._resumed_at else 0)
        self._set_clocks_back()
        self._continue()
        return len(moves) - last

    # --- the engine's moves ---

    def engine_move(
        self,
        cancel: CancelToken | None = None,
        report: Callable[[SearchReport], None] | None = None,
        interval: float = REPORT_INTERVAL,
    ) -> Choice | None:
        """Let the engine choose and play a move, or resign; return its choice, None if `cancel` ended the search.

        Nothing is played then, the engine's clock stands still, and `move_now` plays the best move found so far.
        `report` is called every `interval` seconds from the searching thread.
        """
        if not self.is_engine_turn:
            raise GameStateError("it is not the engine's move")
        cancel, color, played = cancel or CancelToken(), self.settings.engine, len(self.game.moves)
        self._found = None
        self.clock.start(color)
        if self.clock.is_limited:
            self.engine.set_time_left(color, *reported_time(self.clock.settings, self.clock.left(color)))
        choice = self.engine.genmove(
            color,
            play_if_cancelled=False,
            cleanup=self._resumed_at > 0,
            resign=self._may_resign,
            limits=_limits(cancel, report, interval),
        )
        if cancel.is_cancelled and len(self.game.moves) == played:
            self._found = choice
            self.clock.pause()
            return None
        self._after_choice(choice)
        return choice

    def move_now(self) -> Choice:
        """Play the best move that the cancelled search has found, and return it."""
        choice = self._found
        if choice is None or not self.is_engine_turn:
            raise GameStateError("no search for a move has been cancelled")
        self.engine.play_choice(self.settings.engine, choice, 0.0)
        self.engine.ponder_after(choice)
        self._after_choice(choice)
        return choice

    # --- help for the person ---

    def hint(
        self,
        seconds: float = HINT_SECONDS,
        cancel: CancelToken | None = None,
        report: Callable[[SearchReport], None] | None = None,
        interval: float = REPORT_INTERVAL,
    ) -> SearchReport:
        """Return a search of the position for the side to play; `hints_of` gives its best moves.

        `report` is called every `interval` seconds from the searching thread.
        """
        self._require(Phase.PLAYING)
        return self.engine.timed_search(seconds, limits=_limits(cancel or CancelToken(), report, interval))

    def estimate(self, cancel: CancelToken | None = None) -> FinalScore:
        """Return the expected score, and the status of all points that it is counted by."""
        self._require(Phase.PLAYING, Phase.SCORING, Phase.FINISHED)
        return self.engine.outcome(cancel)

    # --- the end ---

    def propose_dead(self, cancel: CancelToken | None = None) -> frozenset[int]:
        """Let the engine say which stones are dead, and return them; if cancelled, `dead` stays as it is."""
        self._require(Phase.SCORING)
        cancel = cancel or CancelToken()
        found = self.engine.outcome(cancel)
        if not cancel.is_cancelled:
            self._proposed, self._dead = found, found.status.dead
        return self.dead

    def toggle_dead(self, vertex: int | str) -> list[int]:
        """Turn the chain on a point from dead to alive or back; return its points, none for an empty point."""
        self._require(Phase.SCORING)
        chain = self.game.chain(self.point(vertex)) if self.point(vertex) != PASS else []
        if chain:
            self._dead = self.dead.symmetric_difference(chain)
        return chain

    def score(self) -> Score:
        """Return the score with the stones in `dead` taken off the board; if the engine proposed these, its score."""
        found = self._proposed
        if found is not None and found.status.dead == self._dead and found.game.moves == self.game.moves:
            return found.score
        return self.game.score(self.dead)

    @property
    def is_counted(self) -> bool:
        """Whether the score, or the result, is what counting gives with the stones in `dead` taken off the board.

        In a position that is not settled it is the lead that searches expect.
        """
        result = str(self.score()) if self.phase is Phase.SCORING else self._result
        return bool(result) and self._has_two_passes(since=0) and result == str(self.game.score(self.dead))

    def accept_score(self) -> str:
        """End the game with the score as it stands now; return the result."""
        self._require(Phase.SCORING)
        self.finish(str(self.score()))
        return self._result

    def resume(self) -> None:
        """Play on, from the scoring or after the end.  The engine, if it has resigned, does not do so again.

        After two passes, the engine does not pass again while there are dead stones of the person's on the board.
        """
        self._require(Phase.SCORING, Phase.FINISHED)
        if any(not left.has_time for left in map(self.clock.left, (BLACK, WHITE))):
            raise GameStateError(problem("the time has run out", advice="undo a move, or start a new game"))
        self._reopen(resumed_at=len(self.game.moves) if self._has_two_passes(since=0) else self._resumed_at)
        self._continue()

    def finish(self, result: str) -> None:
        """End the game with this result, as SGF writes it; "" changes nothing."""
        if result:
            self._result = result
            self._found = None
            self.clock.pause()

    def check_time(self) -> bool:
        """End the game if the clock that runs has run out; return whether it has."""
        color = self.clock.running
        if not color or self.clock.left(color).has_time:
            return False
        self.finish(f"{_LETTERS[opponent(color)]}+T")
        return True

    # --- records ---

    def to_sgf(self) -> str:
        """Return the game as SGF, with the players' names and its result if it has one."""
        game = self.game
        if self.placed:
            game = game.copy()
            game.set_handicap(self.placed)
        names = self.settings.names()
        return format_sgf(
            game,
            black_name=names[BLACK],
            white_name=names[WHITE],
            result=self._result,
            date=date.today().isoformat(),
        )

    def extras(self) -> SessionExtras:
        """Return what `load` needs beside the record to go on with the game as it is."""
        played = len(self.game.moves)
        clocks = {number: clocks for number, clocks in self._clocks_after.items() if number <= played}
        return SessionExtras(
            clocks=clocks if self.clock.is_limited else {},
            resumed_at=self._resumed_at,
            may_resign=self._may_resign,
            dead=self._dead,
            free_handicap=self.settings.stones if self.stones_to_place else 0,
            notes=self.notes,
        )

    def point(self, vertex: int | str) -> int:
        """Return the point of a vertex; raises InvalidVertexError."""
        if isinstance(vertex, int):
            self.game.vertex(vertex)
            return vertex
        return parse_vertex(vertex, width=self.game.width, height=self.game.height)

    # --- internals ---

    def _place(self, point: int) -> Move:
        """Place a handicap stone, and set up the game with the last one; raises IllegalMoveError."""
        if point == PASS:
            raise GameStateError(f"{self.stones_to_place} handicap stones are still to be placed")
        if point in self.placed:
            raise IllegalMoveError("occupied", f"illegal move: {self.game.vertex(point)} is occupied")
        if self.stones_to_place == 1:
            self.engine.set_free_handicap((*self.placed, point))
            self.placed = ()
            self._continue()
        else:
            self.placed = (*self.placed, point)
        return Move(BLACK, point)

    def _after_choice(self, choice: Choice) -> None:
        """Follow a choice of the engine's that has been played."""
        color = self.settings.engine
        self.settings = replace(self.settings, engine_name=ENGINE_NAME)
        if self.check_time():
            return
        if choice.resign:
            self.finish(f"{_LETTERS[opponent(color)]}+R")
        else:
            self._after_move()

    def _after_move(self) -> None:
        """Press the clock, and see whether the game has ended."""
        self._found = None
        self.clock.end_move()
        self._clocks_after[len(self.game.moves)] = self.clock.at_last_move()
        if self.game.has_no_result:
            self.finish(VOID)
        elif self._has_two_passes(since=self._resumed_at):
            self._is_scoring, self._dead = True, None
            self._count_all_stones()
        else:
            self._continue()

    def _count_all_stones(self) -> None:
        """Accept the score after the passes where the rules count every stone: there is nothing to agree on."""
        if self.phase is Phase.SCORING and counts_all_stones(self.game):
            self._dead = None
            self.accept_score()

    def _set_clocks_back(self) -> None:
        """Set the clocks as they stood after the moves on the board, or at the first move for which that is known."""
        known = [number for number in self._clocks_after if number <= len(self.game.moves)]
        self.clock.set_back(self._clocks_after[max(known, default=min(self._clocks_after))])

    def _has_two_passes(self, *, since: int) -> bool:
        """Return whether the last two moves, not counting those before number `since`, were passes that end a game."""
        return min(self.game.consecutive_passes, len(self.game.moves) - since) >= 2

    def _reopen(self, *, resumed_at: int) -> None:
        """Go back to playing; an engine that has resigned plays to the end then."""
        if self._result == f"{_LETTERS[self.settings.human]}+R":
            self._may_resign = False
        self._result, self._is_scoring, self._found = "", False, None
        self._dead, self._resumed_at = None, resumed_at

    def _continue(self) -> None:
        """Let the person's clock run if it is their move; the engine's runs while it searches."""
        if self.phase is Phase.PLAYING and not self.is_engine_turn:
            self.clock.start(self.settings.human)

    def _require(self, *phases: Phase) -> None:
        """Raise GameStateError unless the session is in one of these phases."""
        if self.phase in phases:
            return
        player = format_color(self.settings.human)
        now = {
            Phase.PLACING: f"{player} still has {counted(self.stones_to_place, 'handicap stone')} to place",
            Phase.PLAYING: "the game has not ended",
            Phase.SCORING: "both have passed: dead stones are being marked",
            Phase.FINISHED: f"the game has ended: {self._result}",
        }
        raise GameStateError(now[self.phase])


def _result_of(record: SgfRecord, game: Game) -> str:
    """Return the result with which a record ends its game, "" for none; `game` is at the end of the record."""
    if record.is_cut:
        return ""
    if record.result == VOID and game.has_no_result:
        return VOID
    return parse_result(record.result or "") or ""


def _limits(cancel: CancelToken, report: Callable[[SearchReport], None] | None, interval: float) -> Limits:
    """Return the limits of a search that may report every `interval` seconds."""
    return Limits(reporting=None if report is None else Reporting(interval, report), cancel=cancel)
