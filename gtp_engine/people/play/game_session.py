"""A game between a person and an engine: whose turn it is, what either may do now, how the game ends.

    PLAYING    moves in turn; two passes lead to SCORING, or to FINISHED where the rules count every stone
    PLACING    the person, as Black, places free handicap stones
    SCORING    the engine proposes dead stones, the person disputes them chain by chain and then accepts the score
    FINISHED   by score, resignation, time or a long cycle (no result); `resume` and `undo` lead back

Moves of both sides obey all rules, superko included.  The game is a line of a tree: moves that were taken back stay
there, and `go_to` goes on anywhere else.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from enum import StrEnum
from itertools import takewhile
from typing import Final

from gtp_engine.base.errors import CannotUndoError, GameStateError, IllegalMoveError, SgfError, counted
from gtp_engine.engine import Choice, Engine
from gtp_engine.engine.final_score import FinalScore
from gtp_engine.engine.game_end import counts_all_stones
from gtp_engine.go.clock import TimeLeft, TimeSettings, reported_time
from gtp_engine.go.constants import BLACK, PASS, WHITE, opponent
from gtp_engine.go.coords import Move, format_color, parse_color
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.go.scoring import Score
from gtp_engine.people.play.game_clock import GameClock
from gtp_engine.people.play.game_settings import ENGINE_NAME, GameSettings, SessionExtras, settings_of
from gtp_engine.search.limits import CancelToken, Limits, Reporting, SearchRequest
from gtp_engine.search.report import SearchReport
from gtp_engine.sgf import GameNode, GameTree, SgfRecord, format_sgf, play_record
from gtp_engine.sgf.tree_text import main_line_from
from gtp_engine.sgf.values import VOID, parse_result

_NOTHING: Final = SessionExtras()
_LETTERS: Final = {BLACK: "B", WHITE: "W"}
PLAYERS: Final = {BLACK: ("PB", "BR"), WHITE: ("PW", "WR")}
"""The properties of names and ranks."""

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
        node: GameNode | None = None,
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.node = node or _root_of(engine, settings)
        """The node of the tree with the position on the board."""
        self.is_own: Final = extras.is_own or node is None
        """Whether the game began here, not with a record from elsewhere."""
        self._undone: GameNode | None = None
        self.clock: Final = clock or GameClock(settings.time)
        self.placed: tuple[int, ...] = ()
        """The free handicap stones that the person has placed so far."""
        self.notes: Final = extras.notes
        """What of the record that the game was loaded from was left out or guessed."""
        self._dead = None if extras.dead is None else frozenset(map(self.point, extras.dead))
        self._proposed: FinalScore | None = None
        self.result = extras.result
        """The result as SGF writes it: "B+3.5", "W+R", "0", "Void" (see `sgf.values`); "" before the end."""
        self._found: Choice | None = None
        self._resumed_at = extras.resumed_at
        self._may_resign = extras.may_resign
        self._clocks_after: dict[int, Mapping[int, TimeLeft]] = {
            number: {parse_color(color): left for color, left in clocks.items()}
            for number, clocks in extras.clocks.items()
        } or {len(self.game.moves): self.clock.at_last_move()}
        self._set_clocks_back()
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
        game, _ = play_record(GameTree(data).record, rules=engine.game.rules)
        engine.prepare_board(game.width, game.height)

    @staticmethod
    def load(
        engine: Engine,
        data: bytes | str,
        *,
        human: int | str | None = None,
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
        does not play such a board (nothing changes then).
        """
        tree = GameTree(data)
        tree.encoding = extras.encoding or tree.encoding
        record = tree.record
        if defaults is not None:
            GameSession.check_record(engine, data)
            rules = Rules.parse(defaults.rules)
            engine.set_rules(rules)
            engine.set_komi((record.rules or rules).default_komi() if defaults.komi is None else defaults.komi)
        record = engine.load_sgf(record)
        settings = settings_of(record, engine.game, human, clock.settings if clock else time)
        if extras.free_handicap:
            placed = tuple(stone.point for stone in engine.game.setup_stones)
            settings = replace(settings, handicap=extras.free_handicap, has_free_handicap=True)
            session = GameSession.start(engine, settings, clock)
            session.placed = placed
            return session
        if extras.node is None:
            node = _last_played(tree, record)
            extras = replace(extras, result=_result_of(record, engine.game))
        else:
            node = list(tree.nodes())[extras.node]
            engine.set_game(node.game(rules=engine.game.rules, komi=engine.game.komi))
        extras = replace(extras, notes=tuple(dict.fromkeys((*extras.notes, *record.notes))))
        session = GameSession(engine, settings, clock, extras, node)
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
        if self.result:
            return Phase.FINISHED
        if self._has_two_passes(since=self._resumed_at):
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

    def go_on_with(self, engine: Engine) -> None:
        """Let another engine play; the caller closes both.

        Raises ModelError if its network does not play on this board; then the one before goes on.
        """
        engine.prepare_board(self.game.width, self.game.height)
        engine.set_game(self.game)
        engine.set_time_settings(self.settings.time)
        self.engine, self._found = engine, None

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

    # --- the person's moves ---

    def play(self, move: int | str) -> Move:
        """Play the person's move, a point, PASS, or a vertex such as "Q16" or "pass"; return it.

        While stones are placed, it is the next one.  Raises IllegalMoveError, InvalidVertexError.
        """
        point = self.point(move)
        if self.phase is Phase.PLACING:
            return self._place(point)
        self.require(Phase.PLAYING)
        self.check_time()
        self.require(Phase.PLAYING)
        if self.game.to_play != self.settings.human:
            raise GameStateError("it is the engine's move", advice="let it play, or undo")
        played = self.game.play(point, self.settings.human)
        self._after_move()
        return played

    def play_at(self, id: int, move: int | str) -> Move:
        """Play the person's move at another node of the tree, where the game then goes on.

        Raises what `play` raises, such as IllegalMoveError, and SgfError if there is no such node.
        """
        if id == self.node.id or self.phase is Phase.PLACING:
            return self.play(move)
        self.require_legal(id, move)
        self.go_to(id)
        return self.play(move)

    def require_legal(self, id: int, move: int | str) -> None:
        """Raise IllegalMoveError unless the person may play at a node of the tree, SgfError if there is none."""
        reason = self._game_at(self.tree.node(id)).illegal_reason(self.point(move), self.settings.human)
        if reason is not None:
            raise IllegalMoveError(reason, f"illegal move: {self.game.explain(reason, move)}")

    def go_to(self, id: int) -> None:
        """Go on at another node of the tree; raises SgfError if there is none, or its position cannot be reached."""
        if self.phase is Phase.PLACING:
            raise GameStateError("the game has not begun", advice="place the handicap stones first")
        node = self.tree.node(id)
        if node is not self.node:
            self._undone = None
            self._move_to(node)

    def resign(self) -> None:
        """Let the person resign."""
        self.require(Phase.PLAYING, Phase.SCORING)
        self.finish(f"{_LETTERS[self.settings.engine]}+R")

    def undo(self) -> int:
        """Take back the moves from the person's last one on, or the last handicap stone; return how many moves.

        The clocks go back too.  Raises CannotUndoError if the person has not moved.
        """
        if self.phase is Phase.PLACING and self.placed:
            self.placed = self.placed[:-1]
            return 1
        moves, last = self.game.moves, self.last_own_move()
        undone = self._undone if self._undone is not None and self.node in self._undone.path() else self.node
        self.engine.undo(len(moves) - last)
        self.node = _before(self.node, len(moves) - last)
        self._undone = undone
        self._play_on(resumed_at=self._resumed_at if last >= self._resumed_at else 0)
        self._set_clocks_back()
        self._continue()
        return len(moves) - last

    def last_own_move(self) -> int:
        """Return the index of the person's last move; raises CannotUndoError if there is none."""
        moves = self.game.moves
        last = max((number for number, move in enumerate(moves) if move.color == self.settings.human), default=None)
        if last is None:
            raise CannotUndoError("cannot undo: you have not played a move yet")
        return last

    def redo(self) -> int:
        """Play the moves again that were taken back, or those that follow in the tree, until it is the person's turn.

        Returns how many.  Raises CannotUndoError if none follow.
        """
        count = 0
        for node in self.nodes_to_redo():
            count += node.moves
            goal = node
            if node.moves and node.move is not None and node.move.color == self.settings.engine:
                break
        self._move_to(goal)
        return count

    def nodes_to_redo(self) -> list[GameNode]:
        """Return the nodes that were taken back, or that follow in the tree; raises CannotUndoError without a move."""
        line = self._undone.path() if self._undone is not None else []
        if self.node not in line or self._undone not in [*self.tree.nodes()]:  # it may have been deleted since
            line = main_line_from(self.node)
        following = line[line.index(self.node) + 1 :]
        if self.phase is Phase.PLACING or not any(node.moves for node in following):
            raise CannotUndoError("cannot redo: no move follows")
        return following

    # --- the tree ---

    @property
    def tree(self) -> GameTree:
        """The record of the game with all its variations; `edit` changes it."""
        return self.node.tree

    def edit(self, id: int, change: Callable[[GameNode], GameNode | None]) -> GameNode:
        """Change a node of the tree; return the node that `change` returns, or else that node.

        If the node of the game is taken out, the game goes on at the last one that is left of its line.  Raises what
        `change` raises, and SgfError, with nothing changed, if the position of the game could no longer be reached.
        """
        if self.phase is Phase.PLACING:
            raise GameStateError("the game has not begun", advice="place the handicap stones first")
        node = self.tree.node(id)
        raw, path = node.raw, self.node.path()
        found = change(node)
        left = [each for each, before in zip(path[1:], path, strict=False) if each in before.children]
        kept = [path[0], *takewhile(set(left).__contains__, path[1:])]
        try:
            game = self._game_at(kept[-1])
        except SgfError:
            node.raw = raw
            raise
        now, before = ((each.moves, set(each.setup_stones), each.to_play) for each in (game, self.game))
        if kept[-1] is not self.node or now != before:
            self._undone = None
            self._move_to(kept[-1])
        return found or node

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
            request=_request(cancel, report, interval),
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
        self.engine.ponder(after=choice)
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
        """Return a search of the position for the side to play; `analysis_of` gives its best moves.

        `report` is called every `interval` seconds from the searching thread.
        """
        self.require(Phase.PLAYING)
        return self.engine.search(seconds, request=_request(cancel or CancelToken(), report, interval))

    def estimate(self, cancel: CancelToken | None = None) -> FinalScore:
        """Return the expected score, and the status of all points that it is counted by."""
        self.require(Phase.PLAYING, Phase.SCORING, Phase.FINISHED)
        return self.engine.outcome(cancel)

    # --- the end ---

    def propose_dead(self, cancel: CancelToken | None = None) -> frozenset[int]:
        """Let the engine say which stones are dead, and return them; if cancelled, `dead` stays as it is."""
        self.require(Phase.SCORING)
        cancel = cancel or CancelToken()
        found = self.engine.outcome(cancel)
        if not cancel.is_cancelled:
            self._proposed, self._dead = found, found.status.dead
        return self.dead

    def toggle_dead(self, vertex: int | str) -> list[int]:
        """Turn the chain on a point from dead to alive or back; return its points, none for an empty point."""
        self.require(Phase.SCORING)
        chain: list[int] = [] if self.point(vertex) == PASS else [*self.game.chain(vertex)]
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
        result = str(self.score()) if self.phase is Phase.SCORING else self.result
        return bool(result) and self._has_two_passes(since=0) and result == str(self.game.score(self.dead))

    def accept_score(self) -> str:
        """End the game with the score as it stands now; return the result."""
        self.require(Phase.SCORING)
        self.finish(str(self.score()))
        return self.result

    def resume(self) -> None:
        """Play on, from the scoring or after the end.  The engine, if it has resigned, does not do so again.

        After two passes, the engine does not pass again while there are dead stones of the person's on the board.
        """
        self.require(Phase.SCORING, Phase.FINISHED)
        if any(not left.has_time for left in map(self.clock.left, (BLACK, WHITE))):
            raise GameStateError("the time has run out", advice="undo a move, or start a new game")
        self._play_on(resumed_at=self._resumed_at)
        self._continue()

    def finish(self, result: str) -> None:
        """End the game with this result, as SGF writes it; "" changes nothing."""
        if result:
            self.result, self._found = result, None
            self.clock.pause()
            self._write_result()

    def check_time(self) -> bool:
        """End the game if the clock that runs has run out; return whether it has."""
        color = self.clock.running
        if not color or self.clock.left(color).has_time:
            return False
        self.finish(f"{_LETTERS[opponent(color)]}+T")
        return True

    # --- records ---

    def to_sgf(self, *, with_undone: bool = True) -> str:
        """Return the game as SGF, with all its variations, the players' names and its result if it has one.

        Moves that were taken back, and not played again, follow the last one `with_undone`.
        """
        if self.placed:
            game = self.game.copy()
            game.set_handicap(self.placed)
            return _new_record(game, self.settings)
        undone = [] if with_undone or self._undone is None else self._undone.path()
        if self.node not in undone[:-1]:
            return self.tree.to_sgf()
        copied, following = GameTree(self.tree.to_bytes()), undone[undone.index(self.node) + 1]
        list(copied)[list(self.tree).index(following)].delete()
        return copied.to_sgf()

    def to_bytes(self, *, is_main: bool = False) -> bytes:
        """Return the same in the encoding of the record that was loaded; with `is_main` the game is its main line."""
        if self.placed or not is_main or self.node.is_in_main_line:
            return self.to_sgf().encode() if self.placed else self.tree.to_bytes()
        copied = GameTree(self.tree.to_bytes())
        list(copied)[list(self.tree).index(self.node)].make_main_line()
        return copied.to_bytes()

    def extras(self) -> SessionExtras:
        """Return what `load` needs beside the record to go on with the game as it is."""
        played = len(self.game.moves)
        clocks = {
            number: {format_color(color): left for color, left in clocks.items()}
            for number, clocks in self._clocks_after.items()
            if number <= played
        }
        return SessionExtras(
            clocks=clocks if self.clock.is_limited else {},
            resumed_at=self._resumed_at,
            may_resign=self._may_resign,
            is_own=self.is_own,
            node=list(self.tree).index(self.node),
            result=self.result,
            encoding=self.tree.encoding,
            dead=None if self._dead is None else tuple(map(self.game.vertex, sorted(self._dead))),
            free_handicap=self.settings.stones if self.stones_to_place else 0,
            notes=self.notes,
        )

    def point(self, vertex: int | str) -> int:
        """Return the point of a vertex; raises InvalidVertexError."""
        return self.game.point(vertex)

    # --- internals ---

    def _place(self, point: int) -> Move:
        """Place a handicap stone, and set up the game with the last one; raises IllegalMoveError."""
        if point == PASS:
            raise GameStateError(f"{self.stones_to_place} handicap stones are still to be placed")
        if point in self.placed:
            raise IllegalMoveError("occupied", f"illegal move: {self.game.explain('occupied', point)}")
        if self.stones_to_place == 1:
            self.engine.free_handicap((*self.placed, point))
            self.placed = ()
            self.node = _root_of(self.engine, self.settings)
            self._continue()
        else:
            self.placed = (*self.placed, point)
        return self.game.as_move((BLACK, point))

    def _after_choice(self, choice: Choice) -> None:
        """Follow a choice of the engine's that has been played."""
        color = self.settings.engine
        self.settings = replace(self.settings, engine_name=ENGINE_NAME)
        if self.check_time():
            return
        name, rank = PLAYERS[color]
        if (self.is_own or self.node.is_in_main_line) and self.tree.root.texts(name) != [ENGINE_NAME]:
            self.tree.root.set(name, ENGINE_NAME)
            self.tree.root.set(rank)
        if choice.resign:
            self.finish(f"{_LETTERS[opponent(color)]}+R")
        else:
            self._after_move()

    def _after_move(self) -> None:
        """Add the move to the tree, press the clock, and see whether the game has ended."""
        self._found = None
        self.node = self.node.add_played(self.game.moves[-1])
        self._undone = None
        if self.is_own:
            self.node.make_main_line()
        self.clock.end_move()
        self._clocks_after[len(self.game.moves)] = self.clock.at_last_move()
        if self.game.has_no_result:
            self.finish(VOID)
        elif self._has_two_passes(since=self._resumed_at):
            self._dead = None
            self._count_all_stones()
        else:
            self._continue()

    def _count_all_stones(self) -> None:
        """Accept the score after the passes where the rules count every stone: there is nothing to agree on."""
        if self.phase is Phase.SCORING and counts_all_stones(self.game.rules):
            self._dead = None
            self.accept_score()

    def _set_clocks_back(self) -> None:
        """Set the clocks as they stood after the moves on the board, or at the first move for which that is known."""
        known = [number for number in self._clocks_after if number <= len(self.game.moves)]
        self.clock.set_back(self._clocks_after[max(known, default=min(self._clocks_after))])

    def _has_two_passes(self, *, since: int) -> bool:
        """Return whether the last two moves, not counting those before number `since`, were passes that end a game."""
        return min(self.game.consecutive_passes, len(self.game.moves) - since) >= 2

    def _game_at(self, node: GameNode) -> Game:
        return node.game(rules=self.game.rules, komi=self.game.komi)

    def _move_to(self, node: GameNode) -> None:
        """Put the position of a node on the board; raises SgfError if it cannot be reached (nothing changes then)."""
        game = self._game_at(node)
        self.engine.set_game(game)
        self.engine.set_time_settings(self.settings.time)
        self.node = node
        self._reopen(resumed_at=0)
        self._set_clocks_back()
        self._continue()

    def _write_result(self) -> None:
        """Write the result into the record, unless the game is but a variation of one that came from elsewhere."""
        if self.is_own or (self.node.is_in_main_line and not self.node.children):
            self.tree.root.set("RE", *([self.result] if self.result else []))

    def _play_on(self, *, resumed_at: int) -> None:
        """Go back to playing, even after two passes."""
        self._reopen(resumed_at=len(self.game.moves) if self._has_two_passes(since=0) else resumed_at)

    def _reopen(self, *, resumed_at: int) -> None:
        """Forget the result; an engine that has resigned plays to the end then."""
        if self.result == f"{_LETTERS[self.settings.human]}+R":
            self._may_resign = False
        self.result, self._found, self._dead, self._resumed_at = "", None, None, resumed_at
        self._write_result()

    def _continue(self) -> None:
        """Let the person's clock run if it is their move; the engine's runs while it searches."""
        if self.phase is Phase.PLAYING and not self.is_engine_turn:
            self.clock.start(self.settings.human)

    def require(self, *phases: Phase) -> None:
        """Raise GameStateError unless the session is in one of these phases."""
        if self.phase in phases:
            return
        player = format_color(self.settings.human)
        now = {
            Phase.PLACING: f"{player} still has {counted(self.stones_to_place, 'handicap stone')} to place",
            Phase.PLAYING: "the game has not ended",
            Phase.SCORING: "both have passed: dead stones are being marked",
            Phase.FINISHED: f"the game has ended: {self.result}",
        }
        raise GameStateError(now[self.phase])


def _new_record(game: Game, settings: GameSettings) -> str:
    """Return the record of a game that begins now."""
    names = settings.names()
    return format_sgf(game, black_name=names[BLACK], white_name=names[WHITE], date=date.today().isoformat())


def _root_of(engine: Engine, settings: GameSettings) -> GameNode:
    """Return the last node of a new tree with the game on the board."""
    return GameTree(_new_record(engine.game, settings)).main_line()[-1]


def _last_played(tree: GameTree, record: SgfRecord) -> GameNode:
    """Return the last node of the main line that `record`, which may end earlier, has."""
    if not record.is_cut:
        return tree.main_line()[-1]
    played = [node for moves, node in tree.nodes_by_moves().items() if moves <= len(record.moves)]
    return played[-1] if played else tree.root


def _before(node: GameNode, moves: int) -> GameNode:
    """Return the last node without this many of the moves before it."""
    while moves > 0 and node.parent is not None:
        moves -= node.moves
        node = node.parent
    return node


def _result_of(record: SgfRecord, game: Game) -> str:
    """Return the result with which a record ends its game, "" for none; `game` is at the end of the record."""
    if record.is_cut:
        return ""
    if record.result == VOID and game.has_no_result:
        return VOID
    return parse_result(record.result or "") or ""


def _request(cancel: CancelToken, report: Callable[[SearchReport], None] | None, interval: float) -> SearchRequest:
    """Return the request of a search that may report every `interval` seconds."""
    return SearchRequest(Limits(cancel=cancel), reporting=None if report is None else Reporting(interval, report))
