"""The loops of a game and of lessons in the terminal: the person's commands, the engine's moves, the end."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gtp_engine.base.errors import (
    CannotUndoError,
    GameStateError,
    InvalidSizeError,
    SgfError,
    TengenError,
    counted,
    shown,
)
from gtp_engine.base.files import data_folder, newest_first
from gtp_engine.base.languages import _, margin_text, message_text, ngettext, rank_text, rules_text
from gtp_engine.config.sections import MAX_LEVEL
from gtp_engine.engine import Engine
from gtp_engine.go.board import IntArray
from gtp_engine.go.clock import TimeKind, TimeSettings
from gtp_engine.go.constants import EMPTY, PASS, opponent
from gtp_engine.go.coords import BLACK, WHITE, is_color, parse_color
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.go.scoring import Score
from gtp_engine.people.play import GameSession, GameSettings, Phase, analysis_of
from gtp_engine.people.play.game_clock import format_time_left
from gtp_engine.people.play.game_session import PLAYERS
from gtp_engine.people.play.game_settings import ENGINE_NAME
from gtp_engine.people.review.game_line import GameLine, GamePosition
from gtp_engine.people.review.game_review import RIGHT
from gtp_engine.people.review.lessons import LearningRecord
from gtp_engine.people.terminal.board_picture import BoardView, Screen
from gtp_engine.people.terminal.displays import Display
from gtp_engine.people.terminal.key_reader import (
    Terminated,
    cancelled_by_interrupt,
    ignoring_termination,
    outliving_terminal,
)
from gtp_engine.people.terminal.typed_command import (
    POINT,
    help_text,
    parse_typed,
    read_record,
    save,
    sgf_path,
    unused_path,
)
from gtp_engine.search.limits import CancelToken
from gtp_engine.search.report import SearchReport
from gtp_engine.sgf import GameTree, parse_sgf
from gtp_engine.sgf.values import VOID

_HINTS: Final = "abcde"
"""What a hint calls its moves."""

_OWNED: Final = 0.3
"""Ownership from which an estimate marks a point, the same as `engine.game_end.OPEN_AREA`."""

_KEPT: Final = 20
"""Unfinished games that are kept; older ones are deleted."""


class TerminalGame:
    """Plays games of `engine` on `display` until the person quits; loaded games leave the options `given` alone."""

    def __init__(self, engine: Engine, settings: GameSettings, display: Display, given: Iterable[str] = ()) -> None:
        self._engine: Final = engine
        self._display: Final = display
        self._settings = settings  # of the games that new starts
        self._session = GameSession.start(engine, settings)
        self._message = _("Type a move such as D4, help, or quit.")
        self._note = ""  # where the last game was saved, what is odd about a record; shown until the next command
        self._back = 0  # moves before the last one, while the person looks back
        self._copy: Final = _Unfinished()
        self._given: Final = {*given, *(["play.level"] if self._session.level != MAX_LEVEL else [])}
        self._is_kept_nowhere = False
        self._labels: dict[int, str] = {}
        self._owners: IntArray | None = None
        self._is_stopped = False
        self._is_saved = True
        self._farewell: str | None = None  # said at the end, which it brings
        self._commands: Final[dict[str, Callable[[str], None]]] = {
            "": self._nothing,
            POINT: self._point,
            "pass": lambda _argument: self._play("pass"),
            "undo": self._undo,
            "back": lambda argument: self._look(self._back + _steps("back", argument)),
            "forward": lambda argument: self._look(self._back - _steps("forward", argument)),
            "hint": self._hint,
            "score": self._score,
            "resign": self._resign,
            "save": self._save,
            "load": self._load,
            "new": self._new,
            "level": self._level,
            "help": self._help,
            "quit": self._quit,
            "accept": self._accept,
            "resume": self._resume,
            "now": self._now,
            "go": self._go,
        }

    def load(self, data: bytes, human: int | None = None) -> None:
        """Continue the game of a record, with this colour for the person or the one that the record gives them.

        A game that was saved here has the level and the clock (full again) that it had, unless others are given.
        Raises SgfError, and ModelError if the network does not play such a board.
        """
        time, root = self._settings.time, GameTree(data).root
        is_ours = any(root.texts(name) == [ENGINE_NAME] for name, _rank in PLAYERS.values())
        if is_ours and time.kind is TimeKind.NONE and "new_game.time" not in self._given:
            with suppress(ValueError, TengenError):  # no clock, or one without time for the first move
                kind, *numbers = " ".join(root.texts("OT")).split()
                clock = TimeSettings.parse([kind, *root.texts("TM"), *numbers])
                time = replace(self._settings, time=clock).time
        self._session = GameSession.load(self._engine, data, human=human, time=time, defaults=self._settings)
        name, rank = PLAYERS[self._session.settings.engine]
        if "play.level" not in self._given and root.texts(name) == [ENGINE_NAME]:
            with suppress(TengenError):
                self._session.set_level("".join(root.texts(rank)) or MAX_LEVEL)
        self._message = _("Loaded: you play {color}.", color=_title(self._session.settings.human))
        self._note = " ".join(map(_sentence, self._session.notes))
        self._is_saved = True
        self._begin_scoring()

    def run(self) -> str:
        """Play until the person quits, or the terminal or the system ends the game; return a last line, "" for none."""
        if not self._session.game.moves and (moves := self._copy.moves_of_last()):
            self._message = ngettext(
                "A game was interrupted after {count} move: type resume to continue it, or a move to start a new one.",
                "A game was interrupted after {count} moves: type resume to continue it, or a move to start a new one.",
                moves,
            )
        with outliving_terminal():
            self._play_to_end()
        return self._farewell or ""

    def _play_to_end(self) -> None:
        while self._farewell is None:
            try:
                if self._session.is_engine_turn and not self._is_stopped:
                    self._engine_moves()
                else:
                    self._follow(self._display.read(self._screen(), self._tick))
            except KeyboardInterrupt:
                self._message = _("Type quit, or press Ctrl-D, to end.")
            except TengenError as error:
                self._message = _sentence(str(error))
            except OSError:  # the terminal, or the program that read the output, has gone
                self._end_of_input()
            except Terminated:
                with ignoring_termination():
                    self._end_of_input()

    def _record(self) -> str:
        """Return the game as SGF: the engine's rank is its level, TM and OT are the words of `TimeSettings.parse`."""
        session, root = self._session, self._session.tree.root
        name, rank = PLAYERS[session.settings.engine]
        kind, *numbers = session.settings.time.words()
        if root.texts(name) == [ENGINE_NAME]:
            root.set(rank, *([session.level] if session.level != MAX_LEVEL else []))
            root.set("TM", *numbers[:1])
            root.set("OT", *([" ".join([kind, *numbers[1:]])] if numbers else []))
        return session.to_sgf(with_undone=False)

    # --- the screen ---

    def _screen(self) -> Screen:
        session, game = self._session, self._session.game.copy()
        game.undo(self._back)
        if session.placed:
            game.set_handicap(session.placed)
        board = BoardView(game, frozenset() if self._back else session.dead, self._labels, self._owners)
        message = " ".join(filter(None, (self._note, self._message)))
        return Screen(board, self._facts(game), message, self._prompt())

    def _facts(self, game: Game) -> tuple[str, ...]:
        """Return the lines beside the board: players, captures, clocks, rules, the last move that is shown."""
        session = self._session
        lines = []
        for color, stone in ((BLACK, "X"), (WHITE, "O")):
            who = {"color": _title(color), "stone": stone}
            if color == session.settings.human:
                lines.append(_("{color} ({stone}): you", **who))
            else:
                player = f"{ENGINE_NAME}, {_strength(session.level)}"
                lines.append(_("{color} ({stone}): {player}", **who, player=player))
            left = session.clock.left(color)
            clock = f", {format_time_left(session.clock.settings, left)}" if session.clock.is_limited else ""
            lines.append("  " + ngettext("{count} captured", "{count} captured", game.captures[color]) + clock)
        rules, stones = rules_text(game.rules.preset_name() or _("custom")), session.settings.stones
        facts = [_("{rules} rules, komi {komi}", rules=rules, komi=format(game.komi, "g"))]
        lines.append(", ".join([*facts, *([_("handicap {stones}", stones=stones)] if stones else [])]))
        if game.last_move is not None:
            move = {"color": _title(game.last_move.color), "vertex": game.vertex(game.last_move.point)}
            lines.append(_("Move {number}: {color} {vertex}", number=len(game.moves), **move))
        if self._engine.kernels.is_compiling:
            lines.append(_("Compiling: plays weaker."))
        return tuple(lines)

    def _prompt(self) -> str:
        session = self._session
        if self._is_stopped:
            return _("go, now, undo or quit>")
        if session.phase is Phase.PLACING:
            return _("handicap stone, {count} to place>", count=session.stones_to_place)
        if session.phase is Phase.SCORING:
            return _("accept, resume, or a dead stone>")
        if session.phase is Phase.FINISHED:
            return _("new, undo, save FILE or quit>")
        return _("your move ({color})>", color=_title(session.settings.human).lower())

    def _tick(self) -> Screen | None:
        """Return the screen a second later, None if the person's time has run out."""
        if self._session.check_time():
            self._announce_result()
            return None
        return self._screen()

    def _keep(self) -> None:
        """Keep the game on the disk as it is now; if that fails, say so once and play on."""
        try:
            self._copy.write(self._record())
        except (TengenError, OSError) as error:
            if not self._is_kept_nowhere:
                self._note = _("This game is not saved to disk: {reason}.", reason=error)
            self._is_kept_nowhere = True

    # --- the engine ---

    def _engine_moves(self) -> None:
        with self._searching(_("{player} is thinking", player=ENGINE_NAME)) as cancel:
            self._is_stopped = True  # also after an error, so that the person can type
            choice = self._session.engine_move(cancel, self._show_search)
        if choice is None:
            self._message = _stopped()
            return
        self._after_engine()

    def _after_engine(self) -> None:
        sentence, move = "", self._session.game.last_move
        if move is not None:
            sentence = _("{player} passes.") if move.point == PASS else _("{player} plays {vertex}.")
            sentence = sentence.format(player=ENGINE_NAME, vertex=self._session.game.vertex(move.point))
        self._after_move(sentence)

    def _after_move(self, message: str) -> None:
        """Keep the game after a move of either side, and say so, or what it has led to."""
        self._is_stopped = self._is_saved = False
        self._keep()
        self._message = message
        self._begin_scoring()
        if self._session.phase is Phase.FINISHED:
            self._announce_result()

    @contextmanager
    def _searching(self, what: str) -> Iterator[CancelToken]:
        """Show that a search begins, and what it is for; Ctrl-C cancels it while the context lasts."""
        self._back = 0
        self._message = _("{what} … (Ctrl-C stops)", what=what)
        self._display.show_progress(replace(self._screen(), prompt=""))  # nothing can be typed now
        cancel = CancelToken()
        with cancelled_by_interrupt(cancel):
            yield cancel

    def _once_compiled(self) -> str:
        """Return what a search that needs the compiled engine waits for, "" for nothing."""
        return _(", once the engine is compiled") if self._engine.kernels.is_compiling else ""

    def _show_search(self, report: SearchReport) -> None:
        """Show that a search goes on."""
        screen = self._screen()
        self._display.show_progress(replace(screen, message=f"{screen.message} {report.seconds:.0f} s", prompt=""))

    # --- the person's commands ---

    def _follow(self, line: str | None) -> None:
        """Follow a line that was typed; None is the end of the input."""
        if self._session.phase is not Phase.FINISHED and self._session.check_time():
            self._announce_result()
            return
        if line is None:
            self._end_of_input()
            return
        self._note = ""
        command, argument = parse_typed(line)
        if command not in self._commands:
            self._message = _("{command} is not a command; type help.", command=shown(command))
            return
        if self._is_stopped and command in (POINT, "pass"):
            self._message = _stopped()
            return
        if command:
            self._labels, self._owners = {}, None
        if command not in ("", "back", "forward"):
            self._back = 0
        self._commands[command](argument)

    def _nothing(self, _argument: str) -> None:
        if self._back:
            self._look(0)
        elif self._session.phase is Phase.SCORING:
            self._message = self._scoring_message()

    def _point(self, vertex: str) -> None:
        if self._session.phase is not Phase.SCORING:
            self._play(vertex)
            return
        chain = self._session.toggle_dead(vertex)
        self._message = self._scoring_message() if chain else _("There is no stone on {vertex}.", vertex=vertex)

    def _play(self, vertex: str) -> None:
        self._session.play(vertex)
        self._after_move("")

    def _undo(self, times: str) -> None:
        if times and not (times.isdecimal() and int(times) > 0):
            raise CannotUndoError(f"undo {shown(times)}", expected="how many of your moves to take back, as in undo 2")
        taken = self._session.undo()
        self._is_stopped = self._is_saved = False
        with suppress(CannotUndoError):  # there are no more
            for _more in range(int(times or 1) - 1):
                taken += self._session.undo()
        self._keep()
        self._message = ngettext("Took back {count} move.", "Took back {count} moves.", taken)

    def _look(self, back: int) -> None:
        """Show the position that many moves before the last one; nothing is taken back."""
        moves = len(self._session.game.moves)
        self._back = min(max(0, back), moves)
        if self._back:
            shown_now = {"number": moves - self._back, "moves": moves}
            self._message = _("After move {number} of {moves}; forward goes on, Enter returns.", **shown_now)
        else:
            self._message = _("This is the position of the game.")

    def _hint(self, _argument: str) -> None:
        with self._searching(_("Looking for good moves")) as cancel:
            report = self._session.hint(cancel=cancel, report=self._show_search)
        hints = list(zip(_HINTS, analysis_of(report, self._session.game).moves, strict=False))
        points = {self._session.point(hint.vertex): letter for letter, hint in hints}
        self._labels = {point: letter for point, letter in points.items() if point != PASS}
        lines = [
            f"{letter}  {hint.vertex:4} {hint.winrate:4.0%}  {hint.lead:+5.1f}  {' '.join(hint.pv[1:4])}"
            for letter, hint in hints
        ]
        self._message = "\n".join([_("   move  win   lead  then"), *lines])

    def _score(self, _argument: str) -> None:
        with self._searching(_("Estimating the score") + self._once_compiled()) as cancel:
            found = self._session.estimate(cancel)
        if cancel.is_cancelled:
            self._message = _("Stopped: there is no estimate.")
            return
        ownership = found.status.ownership_black
        black, white = ownership >= _OWNED, ownership <= -_OWNED
        self._owners = (black * BLACK + white * WHITE).astype("int32")
        self._message = _("Expected: {score}.", score=_in_words(found.score, self._session.game.rules))

    def _resign(self, _argument: str) -> None:
        self._session.resign()
        self._is_stopped = False
        self._announce_result()

    def _save(self, name: str) -> None:
        if self._session.phase is Phase.PLACING:
            missing = counted(self._session.stones_to_place, "handicap stone")
            raise GameStateError("the game has not begun", advice=f"place {missing} more, then save")
        path = sgf_path(name) if name else unused_path(Path.cwd())
        question = _("{path} exists. Replace it? (yes, no)", path=path)
        if os.path.exists(path) and (self._ask(question) or "").lower() not in ("y", "yes"):
            self._message = _("Not saved.")
            return
        save(self._record(), path)
        self._is_saved = True
        self._message = _("Saved as {path}.", path=path)

    def _load(self, name: str) -> None:
        if not name:
            self._message = _("load needs the name of a file.")
            return
        data = read_record(name)
        GameSession.check_record(self._engine, data)
        left = self._leave_game()
        if left is not None:
            self.load(data)
            self._is_stopped = False
            self._note = f"{left} {self._note}".strip()

    def _new(self, words: str) -> None:
        settings = _changed(self._settings, words.split())
        GameSession.check(self._engine, settings)
        left = self._leave_game()
        if left is not None:
            self._settings, self._session = settings, GameSession.start(self._engine, settings)
            self._is_stopped, self._is_saved = False, True
            self._message = _("A new game: you play {color}.", color=_title(settings.human))
            self._note = left

    def _level(self, level: str) -> None:
        if level:
            self._session.set_level(level)
            self._given.add("play.level")
        self._message = _(
            "{player} plays at {strength}; level 5k or level max changes it.",
            player=ENGINE_NAME,
            strength=_strength(self._session.level),
        )

    def _help(self, _argument: str) -> None:
        self._message = help_text(has_keys=self._display.has_keys)

    def _quit(self, _argument: str) -> None:
        left = self._leave_game()
        if left is not None:
            self._farewell = left

    def _go(self, _argument: str) -> None:
        self._require_stopped()
        self._is_stopped = False

    def _now(self, _argument: str) -> None:
        self._require_stopped()
        self._session.move_now()
        self._after_engine()

    def _require_stopped(self) -> None:
        if not self._is_stopped:
            raise GameStateError("no search has been stopped", advice="Ctrl-C stops one")

    # --- the end ---

    def _begin_scoring(self) -> None:
        """Let the engine mark the dead stones, if the game has come to that."""
        if self._session.phase is not Phase.SCORING:
            return
        with self._searching(_("Both passed. Finding the dead stones") + self._once_compiled()) as cancel:
            self._session.propose_dead(cancel)
        stopped = [_("Stopped: no stone is marked as dead.")] if cancel.is_cancelled else []
        self._message = " ".join([*stopped, self._scoring_message()])

    def _scoring_message(self) -> str:
        score, count = _in_words(self._session.score(), self._session.game.rules), len(self._session.dead)
        dead = ngettext("{count} dead stone", "{count} dead stones", count) if count else _("no dead stones")
        advice = _("Type accept to end, a point to change its stones, or resume.")
        return f"{score}, {dead}. {advice}"

    def _accept(self, _argument: str) -> None:
        self._session.accept_score()
        self._announce_result()

    def _resume(self, _argument: str) -> None:
        last = self._copy.last
        if last is not None and not self._session.game.moves:
            self.load(read_record(str(last)))
            self._copy.path = last  # which the copies that follow replace
            self._is_saved = False  # but for the copy, which goes when the game is left
            return
        self._session.resume()
        self._message = _("The game continues.")

    def _announce_result(self) -> None:
        """Say how the game has ended, which is not saved yet."""
        self._is_saved = False
        self._keep()
        session = self._session
        self._message = _result_in_words(session.result, session.game.rules, session.settings.human)

    def _leave_game(self) -> str | None:
        """Leave the game; return where it was saved, "" if it was not; None if it is not left.

        At the end of the input it is saved, and the program ends.
        """
        left = ""
        if not self._is_saved and self._session.game.moves:
            answer = self._ask(_("Save the game? (yes, no)"))
            if answer is None:
                self._end_of_input()
                return None
            if answer.lower() in ("", "y", "yes"):
                self._save("")
                left = self._message
            elif answer.lower() not in ("n", "no"):
                self._message = _("The game continues; nothing was saved.")
                return None
        self._copy.delete()
        return left

    def _ask(self, question: str) -> str | None:
        """Return the answer to a question, None at the end of the input."""

        def screen() -> Screen:
            return replace(self._screen(), prompt=f"{question}>", message="", takes_points=False)

        return self._display.read(screen(), screen)

    def _end_of_input(self) -> None:
        """Save an unsaved game, as there is no way to ask, and end."""
        farewell = ""
        if self._session.game.moves and not self._is_saved:
            path = unused_path(Path.cwd())
            try:
                save(self._record(), path)
            except TengenError as error:
                self._farewell = _("The game is not saved: {reason}", reason=error)
                return
            names = {"path": path, "name": path.name}
            farewell = _("The game is saved as {path}; gtp-engine play --load {name} continues it.", **names)
        self._copy.delete()
        self._farewell = farewell


def _changed(settings: GameSettings, words: list[str]) -> GameSettings:
    """Return settings with the board size and colour of `new 9 white`; raises InvalidSizeError."""
    for word in words:
        if word.isdecimal():
            settings = replace(settings, width=int(word), height=None)
        elif is_color(word):
            settings = replace(settings, human=parse_color(word))
        else:
            raise InvalidSizeError(f"new {shown(word)}", expected="a board size, black or white, as in new 9 white")
    return settings


def solve_lessons(line: GameLine, result: Mapping[str, Any], record: LearningRecord, display: Display) -> str:
    """Ask on `display` for better moves than a player's mistakes, until the person quits; return what was learned.

    `result` is the JSON of the review of `line`; what was solved is counted in `record`.
    """
    color = result["person"] or "B"
    player, key = result["players"][color], f"{result['key']}{color}"
    name = player["name"] or _title(parse_color(color))
    solved = {number for number, how in record.of(key).items() if how != "shown"}
    known = {lesson["number"]: lesson for lesson in result["lessons"]}
    numbers = [number for number in player["mistakes"] if number in known]
    if not numbers:
        return _("{name} made no big mistake.", name=name)
    numbers.sort(key=lambda number: (number in solved, not known[number]["is_next"]))
    found = list[str]()
    with suppress(KeyboardInterrupt):
        for place, number in enumerate(numbers, start=1):
            head = _("Position {number} of {count}", number=place, count=len(numbers))
            facts = (_("Mistakes of {name}", name=name), head, _("Move {number}", number=number))
            move, answers = result["moves"][number - 1], known[number]["answers"]
            how = _Lesson(line.positions[number - 1], move, answers, facts, display).solve()
            if how is None:
                break
            record.add(key, number, how)
            found.append(how)
    values = {"solved": sum(how != "shown" for how in found), "first": found.count("first")}
    now = _("{solved} of {count} solved, {first} on the first try.", count=len(numbers), **values)
    counts = record.counts()
    over = ngettext(
        "Over {count} game: {solved} of {positions} positions solved, {first} on the first try.",
        "Over {count} games: {solved} of {positions} positions solved, {first} on the first try.",
        counts["games"],
        positions=counts["lessons"],
        **counts,
    )
    return f"{now} {over}"


@dataclass(frozen=True)
class _Lesson:
    """The position before a mistake, `move`, to be solved: the `answers`, the best first, and the `facts` beside it."""

    before: GamePosition
    move: Mapping[str, Any]
    answers: Sequence[Mapping[str, Any]]
    facts: tuple[str, ...]
    display: Display

    def solve(self) -> str | None:
        """Return how the person solved it: "first", "later" or "shown"; None if they quit."""
        known, best = {each["vertex"]: each for each in self.answers}, self.answers[0]
        ask = _(
            "{player} to play. {move} was played here and lost {points} points. Find a better move.",
            player=_title(parse_color(self.move["color"])),
            move=self.move["vertex"],
            points=format(self.move["points_lost"], ".1f"),
        )
        tries, typed = 0, self._ask([], ask)
        while typed is not None and (entered := parse_typed(typed)).command != "quit":
            if typed.strip().lower() in ("answer", "a"):
                self._play_out(best, _("The best move is {best}.", best=best["vertex"]))
                return "shown"
            vertex = entered.argument if entered.command == POINT else ""
            answer = known.get(vertex)
            if answer is None:
                missing = _("The review did not look at {move}. Try another move.", move=vertex)
                typed = self._ask([], missing if vertex else ask)
                continue
            values = {"move": vertex, "points": f"{answer['points_lost']:.1f}", "best": best["vertex"]}
            if answer["points_lost"] < RIGHT:
                text = _("Right: {move} is the best move.", **values)
                if answer is not best:
                    text = _("Right: {move} loses {points} points; the best move is {best}.", **values)
                self._play_out(answer, text)
                return "later" if tries else "first"
            tries += 1
            text = _("{move} loses {points} points.", **values)
            typed = self._play_out(answer, text) or self._ask([], ask)
        return None

    def _play_out(self, answer: Mapping[str, Any], text: str) -> str | None:
        """Play a continuation out, a move for each Enter; return what is typed instead, if anything."""
        line = answer["line"]
        for count in range(1, len(line) + 1):
            typed = self._ask(line[:count], f"{text} {' '.join(line[:count])}", goes_on=True)
            if typed is None or typed.strip():
                return typed
        return None

    def _ask(self, line: Sequence[str], message: str, *, goes_on: bool = False) -> str | None:
        """Show the position after `line`, and return what the person types; None at the end of the input."""
        game, color = self.before.game.copy(), self.before.to_play
        for vertex in line:
            game.play(vertex, color, tolerant=True)
            color = opponent(color)
        prompt = _("Enter goes on>") if goes_on else _("a point, answer or quit>")
        screen = Screen(BoardView(game), self.facts, message, prompt, takes_points=not goes_on)
        return self.display.read(screen, lambda: screen)


class _Unfinished:
    """A copy of the game on the disk, written after every move and deleted when the person leaves the game."""

    def __init__(self) -> None:
        self.path: Path | None = None
        self.last: Path | None = None
        """The copy of the last game that was interrupted, None without one."""
        with suppress(TengenError):  # no home directory: `write` says so
            self.last = next((path for path, _time in newest_first(_unfinished_folder().glob("*.sgf"))), None)

    def moves_of_last(self) -> int:
        """Return how many moves the interrupted game has, 0 if there is none or its copy cannot be read."""
        try:
            return 0 if self.last is None else len(parse_sgf(read_record(str(self.last))).moves)
        except SgfError:
            return 0

    def write(self, record: str) -> None:
        """Write the game as it is now; raises SgfError, and TengenError if there is no home directory."""
        if self.path is None:
            folder = _unfinished_folder()
            folder.mkdir(parents=True, exist_ok=True)
            self.path = unused_path(folder)
            for old, _time in newest_first(folder.glob("*.sgf"))[_KEPT:]:
                old.unlink(missing_ok=True)
        save(record, self.path)

    def delete(self) -> None:
        """Delete the copy, as the game is at an end or somewhere else."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path = None


def _unfinished_folder() -> Path:
    """Return the folder of interrupted games, which need not exist; raises TengenError without a home directory."""
    return data_folder() / "unfinished"


def _steps(command: str, argument: str) -> int:
    """Return how many moves to look back or forward."""
    if argument and not argument.isdecimal():
        raise CannotUndoError(f"{command} {shown(argument)}", expected=f"how many moves, as in {command} 5")
    return int(argument or 1)


def _title(color: int) -> str:
    return _("Black") if color == BLACK else _("White")


def _stopped() -> str:
    return _("Stopped. Type go to think on, now to play the best move found, undo or quit.")


def _strength(level: str) -> str:
    """Return the engine's level in words."""
    return _("full strength") if level == MAX_LEVEL else _("level {level}", level=rank_text(level))


def _in_words(score: Score, rules: Rules) -> str:
    """Return a score as words."""
    if score.winner == EMPTY:
        return _("a draw")
    margin = margin_text(float(str(score)[2:]), rules.preset_name() or "")
    return _("{winner} by {margin}", winner=_title(score.winner), margin=margin)


def _result_in_words(result: str, rules: Rules, human: int) -> str:
    """Return a result of SGF as a sentence."""
    if result == VOID:
        return _("The game has no result: the position has occurred for the third time.")
    if result[:2] not in ("B+", "W+"):
        return _("The game is a draw ({result}).", result=result)
    sentences = {
        "R": (_("You win by resignation ({result})."), _("{player} wins by resignation ({result}).")),
        "T": (_("You win on time ({result})."), _("{player} wins on time ({result}).")),
        "F": (_("You win by forfeit ({result})."), _("{player} wins by forfeit ({result}).")),
        "": (_("You win ({result})."), _("{player} wins ({result}).")),
    }
    by_margin = _("You win by {margin} ({result})."), _("{player} wins by {margin} ({result}).")
    won, lost = sentences.get(result[2:], by_margin)
    margin = "" if result[2:] in sentences else margin_text(float(result[2:]), rules.preset_name() or "")
    has_won = human == (BLACK if result[0] == "B" else WHITE)
    return (won if has_won else lost).format(player=ENGINE_NAME, margin=margin, result=result)


def _sentence(text: str) -> str:
    """Return a message with a capital letter and a full stop."""
    text = message_text(text.removeprefix("illegal move: "))
    is_spaced = text[-1:].isascii() or "가" <= text[-1:] <= "힣"
    stop = "" if text.endswith(".") else "." if is_spaced else "。"
    return f"{text[:1].upper()}{text[1:]}{stop}"
