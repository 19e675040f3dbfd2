"""Whole games on a display that follows a script."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_positions import DEAD_STONE, set_up
from knowing_evaluator import KnowingEvaluator
from review.review_support import analysis_of, with_mistakes

from gtp_engine.base import languages
from gtp_engine.base.errors import ModelError, SgfError
from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.engine.rehearsal import Kernels
from gtp_engine.go.clock import TimeLeft, TimeSettings
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.rules import Rules
from gtp_engine.people.play import GameClock, GameSession, GameSettings
from gtp_engine.people.review import completed
from gtp_engine.people.review.lessons import LearningRecord
from gtp_engine.people.terminal.board_picture import Screen
from gtp_engine.people.terminal.displays import Tick
from gtp_engine.people.terminal.key_reader import Terminated, cancelled_by_interrupt
from gtp_engine.people.terminal.terminal_game import LessonGame, TerminalGame, _result_in_words
from gtp_engine.people.terminal.typed_command import save
from gtp_engine.search.limits import CancelToken
from gtp_engine.sgf import parse_sgf


class Script:
    """A display on which lines are typed; an exception among them is raised, as Ctrl-C does."""

    has_keys = True

    def __init__(self, *lines: str | type[BaseException]) -> None:
        self.lines = list(lines)
        self.screens: list[Screen] = []
        self.progress: list[str] = []
        self.prompts_in_progress: set[str] = set()

    def show_progress(self, screen: Screen) -> None:
        self.progress.append(screen.message)
        self.prompts_in_progress.add(screen.prompt)

    def read(self, screen: Screen, tick: Tick) -> str | None:
        self.screens.append(screen)
        if tick() is None:
            return ""
        if not self.lines:
            return None
        line = self.lines.pop(0)
        if not isinstance(line, str):
            raise line
        return line

    @property
    def messages(self) -> list[str]:
        return [screen.message for screen in self.screens]


@pytest.fixture
def engine() -> Iterator[Engine]:
    values = {"game.board_size": "7", "search.visits": "16", "search.seed": "1"}
    made = Engine(Config().with_values(values), evaluator=KnowingEvaluator())
    yield made
    made.close()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def play(engine: Engine, *lines: str | type[BaseException], **settings: object) -> Script:
    """Play by a script that ends with quit and no."""
    script = Script(*lines, "quit", "no")
    TerminalGame(engine, GameSettings(**{"width": 7, **settings}), script).run()  # type: ignore[arg-type]
    return script


def test_moves_of_both_sides(engine: Engine) -> None:
    script = play(engine, "d4")
    assert len(engine.game.moves) == 2
    assert script.messages[1].startswith("Tengen plays ")
    assert script.screens[1].facts[:2] == ("Black (X): you", "  0 captured")
    assert script.progress[0].startswith("Tengen is thinking")
    assert script.prompts_in_progress == {""}


def test_mistakes_are_explained_and_the_game_goes_on(engine: Engine) -> None:
    script = play(engine, "d4", "d4", "z9", "i5", "frobnicate", "now", "load", "new huge", "load no-such-file")
    assert script.messages[2:10] == [
        "D4 is occupied.",
        "Invalid coordinate 'Z9': the board is 7x7 (A1 to G7).",
        "Invalid coordinate 'I5': the board is 7x7 (A1 to G7), and no column is called I.",
        "'frobnicate' is not a command; type help.",
        "No search of the engine has been stopped.",
        "load needs the name of a file.",
        "New 'huge': expected a board size, black or white, as in new 9 white.",
        "Cannot open 'no-such-file.sgf': No such file or directory.",
    ]
    assert len(engine.game.moves) == 2


def test_undo_hint_and_score(engine: Engine) -> None:
    script = play(engine, "d4", "hint", "score", "undo", "help")
    hint, score, undone, help_screen = script.screens[2:6]
    head, best, *_others = hint.message.splitlines()
    assert head.startswith("   move") and best.startswith("a  "), "the head lost its blanks"
    labels = sorted(hint.board.labels.values())
    assert labels and labels == list("abcde")[: len(labels)], "fewer where the time for a hint has run out"
    assert score.message.startswith("Expected: ")
    assert score.board.labels == {} and score.board.owners is not None
    assert undone.message == "Took back 2 moves."
    assert undone.board.owners is None
    assert "take your move back" in help_screen.message


def test_several_moves_are_taken_back_at_once(engine: Engine) -> None:
    script = play(engine, "d4", "c2", "b3", "undo 2", "undo 9", "undo two", "undo 0")
    assert script.messages[-4:] == [
        "Took back 4 moves.",
        "Took back 2 moves.",
        "Undo 'two': expected how many of your moves to take back, as in undo 2.",
        "Undo '0': expected how many of your moves to take back, as in undo 2.",
    ]


def test_the_level_of_the_engine(engine: Engine) -> None:
    script = play(engine, "level 99k", "level 10k", "level")
    assert script.screens[0].facts[2] == "White (O): Tengen, full strength"
    assert script.messages[1].startswith("Level '99k': expected")
    assert script.messages[2] == script.messages[3] == "Tengen plays at level 10k; level 5k or level max changes it."
    assert script.screens[2].facts[2] == "White (O): Tengen, level 10k"
    assert engine.config.play.level == "10k"


def test_the_end_with_a_dispute(engine: Engine) -> None:
    script = Script("pass", "a7", "b7", "a7", "accept", "quit", "no")
    game = TerminalGame(engine, GameSettings(width=7), script)
    set_up(engine, DEAD_STONE)
    assert game.run() == ""
    proposed, alive, empty, dead, ended = script.screens[1:6]
    assert [len(screen.board.dead) for screen in (proposed, alive, dead)] == [1, 0, 1]
    assert ", 1 dead stone. Type accept" in proposed.message
    assert proposed.message == dead.message != alive.message
    assert empty.message == "There is no stone on B7."
    assert ended.message.endswith(f"({game_result(proposed)}).")
    assert ended.prompt.startswith("new, undo")


def game_result(screen: Screen) -> str:
    """Return the result that a message such as "Black by 2.5 points" means."""
    color, _, margin, *_ = screen.message.split()
    return f"{color[0]}+{margin}"


def test_the_prompt_is_translated_with_its_colour(engine: Engine) -> None:
    script = Script("quit", "no")
    languages.use("ja")
    TerminalGame(engine, GameSettings(width=7), script).run()
    assert "黒" in script.screens[0].prompt and "black" not in script.screens[0].prompt


def test_playing_on_after_the_passes(engine: Engine) -> None:
    script = Script("pass", "resume", "hint", "quit", "no")
    game = TerminalGame(engine, GameSettings(width=7), script)
    set_up(engine, DEAD_STONE)
    game.run()
    assert script.messages[2] == "The game continues."
    assert script.screens[2].prompt == "your move (black)>"
    assert "pass " in script.messages[3] and PASS not in script.screens[3].board.labels


def test_resigning_and_another_game(engine: Engine) -> None:
    script = play(engine, "d4", "resign", "new 5 white", "no")
    assert script.messages[2] == "Tengen wins by resignation (W+R)."
    assert engine.game.width == 5
    assert engine.game.moves[0].color == BLACK, "the engine began the new game"


@pytest.fixture
def no_board_of_13(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the network not play on 13x13."""

    def prepare(evaluator: KnowingEvaluator, width: int, height: int) -> None:
        if width == 13:
            raise ModelError("the network does not play 13x13")

    monkeypatch.setattr(KnowingEvaluator, "prepare", prepare)


@pytest.mark.usefixtures("no_board_of_13")
def test_a_new_game_that_cannot_be_set_up_is_refused_before_the_question(engine: Engine) -> None:
    """The person was asked whether to save a game that was to go on."""
    script = play(engine, "d4", "new 13", "new 50")
    assert script.messages[2] == "The network does not play 13x13."
    assert script.messages[3].startswith("Board size 50: expected 2 to 25")
    assert {screen.prompt for screen in script.screens[:4]} == {"your move (black)>"}
    assert (engine.game.width, len(engine.game.moves)) == (7, 2)


@pytest.mark.usefixtures("no_board_of_13")
@pytest.mark.parametrize("text", [None, "hello", "(;SZ[77];W[aa])", "(;SZ[13];B[aa])"])
def test_a_record_that_cannot_be_loaded_is_refused_before_the_question(
    engine: Engine, folder: Path, text: str | None
) -> None:
    if text is not None:
        (folder / "game.sgf").write_text(text)
    script = play(engine, "d4", "load game")
    assert [screen.prompt for screen in script.screens[:3]] == ["your move (black)>"] * 3
    assert script.messages[2].startswith(("Cannot open", "Not a readable", "Board size", "The network does not play"))
    assert (engine.game.width, len(engine.game.moves)) == (7, 2)


@pytest.mark.parametrize(
    ("result", "won", "lost"),
    [
        ("B+R", "You win by resignation (B+R).", "Tengen wins by resignation (B+R)."),
        ("B+T", "You win on time (B+T).", "Tengen wins on time (B+T)."),
        ("B+F", "You win by forfeit (B+F).", "Tengen wins by forfeit (B+F)."),
        ("B+3.5", "You win by 3.5 points (B+3.5).", "Tengen wins by 3.5 points (B+3.5)."),
        ("B+", "You win (B+).", "Tengen wins (B+)."),
        *(
            (result, sentence, sentence)
            for result, sentence in (
                ("0", "The game is a draw (0)."),
                ("Void", "The game has no result: the position has occurred for the third time."),
            )
        ),
    ],
)
def test_results_in_words(result: str, won: str, lost: str) -> None:
    other = result.replace("B+", "W+")
    for ending, winner, loser in ((result, BLACK, WHITE), (other, WHITE, BLACK)):
        assert _result_in_words(ending, Rules(), winner) == won.replace(result, ending)
        assert _result_in_words(ending, Rules(), loser) == lost.replace(result, ending)


def test_a_result_on_time_is_offered_to_be_saved(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that had been saved before was left with a record that went on."""
    script = Script("d4", "save game", "", "quit", "no")
    game = TerminalGame(engine, GameSettings(width=7, time=TimeSettings.absolute(600)), script)
    left = GameClock.left

    def run_out(clock: GameClock, color: int) -> TimeLeft:
        return left(clock, color)._replace(has_time=len(script.screens) < 4)

    monkeypatch.setattr(GameClock, "left", run_out)
    game.run()
    assert "Tengen wins on time (W+T)." in script.messages
    assert script.screens[-1].prompt == "Save the game? (yes, no)>"


def test_ctrl_c_while_typing_says_how_to_end(engine: Engine) -> None:
    script = play(engine, KeyboardInterrupt)
    assert script.messages[1] == "Type quit, or press Ctrl-D, to end."


def test_a_second_sigterm_does_not_interrupt_the_saving(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def terminated_save(text: str, path: Path) -> None:
        signal.raise_signal(signal.SIGTERM)
        save(text, path)

    monkeypatch.setattr("gtp_engine.people.terminal.terminal_game.save", terminated_save)
    play(engine, "c3", Terminated)
    (saved,) = folder.glob("*.sgf")
    assert "B[ce]" in saved.read_text()


def test_sigterm_counts_where_the_search_fails() -> None:
    cancel = CancelToken()
    with pytest.raises(Terminated), cancelled_by_interrupt(cancel):
        signal.raise_signal(signal.SIGTERM)
        raise ModelError("no output")
    assert cancel.is_cancelled


class InterruptedScript(Script):
    """Presses Ctrl-C as soon as the engine thinks, but once."""

    def show_progress(self, screen: Screen) -> None:
        super().show_progress(screen)
        if len(self.progress) == 2:
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_stops_the_search_and_asks(engine: Engine) -> None:
    engine.configure({"search.visits": 0, "time.time_per_move": 60})
    script = InterruptedScript("d4", "load no-such-file", "now", "quit", "no")
    TerminalGame(engine, GameSettings(width=7, human=WHITE), script).run()
    assert script.messages[0].startswith("Stopped.")
    assert script.screens[0].prompt == "go, now, undo or quit>"
    assert script.messages[1].startswith("Stopped."), "no move out of turn"
    assert script.screens[2].prompt == "go, now, undo or quit>", "nothing was loaded"
    assert script.messages[3].startswith("Tengen plays ")


def test_an_engine_that_cannot_move_is_not_asked_forever(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop went on without end, and nothing could be typed."""
    calls: list[object] = []

    def fail(session: GameSession, *_: object) -> None:
        calls.append(session)
        assert len(calls) <= 2, "asked without end"
        raise ModelError("the network returned NaN")

    monkeypatch.setattr(GameSession, "engine_move", fail)
    script = play(engine, "d4", "go", "undo")
    assert script.messages[1:3] == ["The network returned NaN."] * 2
    assert script.screens[1].prompt == "go, now, undo or quit>"
    assert script.messages[3] == "Took back 1 move."
    assert len(calls) == 2


def interrupted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let Ctrl-C be pressed as soon as this method of the session searches."""
    method = getattr(GameSession, name)

    def search(session: GameSession, cancel: CancelToken) -> object:
        signal.raise_signal(signal.SIGINT)
        return method(session, cancel)

    monkeypatch.setattr(GameSession, name, search)


def test_an_estimate_that_was_stopped_is_not_shown(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The score of a search that had hardly begun was shown as the expected one."""
    interrupted(monkeypatch, "estimate")
    script = play(engine, "d4", "score")
    assert script.messages[2] == "Stopped: there is no estimate."
    assert script.screens[2].board.owners is None


def test_dead_stones_that_were_not_looked_for_to_the_end(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The score was shown as if there were none."""
    interrupted(monkeypatch, "propose_dead")
    script = Script("pass", "quit", "no")
    game = TerminalGame(engine, GameSettings(width=7), script)
    set_up(engine, DEAD_STONE)
    game.run()
    assert script.messages[1].startswith("Stopped: no stone is marked as dead. ")
    assert ", no dead stones. Type accept" in script.messages[1]


def test_what_waits_for_the_compiler_says_so(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An estimate took a minute at a first start, without a word about the reason, or about Ctrl-C."""
    script = play(engine, "score", "hint")
    assert script.progress[0] == "Estimating the score … (Ctrl-C stops)"
    monkeypatch.setattr(Kernels, "is_compiling", True)
    script = play(engine, "score", "hint")
    assert script.progress[0] == "Estimating the score, once the engine is compiled … (Ctrl-C stops)"
    assert script.progress[1] == "Looking for good moves … (Ctrl-C stops)"


class TestFiles:
    def test_save_and_load(self, engine: Engine, folder: Path) -> None:
        script = play(engine, "d4", "save game", "undo", "load game")
        assert script.messages[2] == "Saved as game.sgf."
        assert len(parse_sgf((folder / "game.sgf").read_bytes()).moves) == 2
        assert len(engine.game.moves) == 2

    def test_what_of_a_record_was_left_out_is_said(self, engine: Engine, folder: Path) -> None:
        (folder / "game.sgf").write_text("(;SZ[7];B[aa];W[aa];B[bb])")
        note = "Move 2 (white): illegal move: A7 is occupied; what follows was left out."
        assert play(engine, "load game").messages[1] == f"{note} Loaded: you play White."
        assert len(engine.game.moves) == 1

    def test_a_record_that_is_cut_off_is_said_to_be_also_where_the_engine_moves_first(
        self, engine: Engine, folder: Path
    ) -> None:
        """The engine's move hid it."""
        (folder / "game.sgf").write_text("(;SZ[7];B[dd];W[bb];B[c")
        script = Script("quit", "no")
        game = TerminalGame(engine, GameSettings(width=7), script)
        game.load("game", human=WHITE)
        game.run()
        assert script.messages[0].startswith("The record is cut off in a value"), script.messages
        assert "plays" in script.messages[0]

    def test_a_record_may_have_no_suffix(self, engine: Engine, folder: Path) -> None:
        (folder / "game").write_text("(;SZ[7];B[aa])")
        assert play(engine, "load game").messages[1].startswith("Loaded")
        (folder / "game.sgf").write_text("(;SZ[7];B[aa];W[bb])")
        play(engine, "load game")
        assert len(engine.game.moves) == 2, "what save game has written comes first"

    def test_another_file_is_not_replaced_unasked(self, engine: Engine, folder: Path) -> None:
        (folder / "other.sgf").write_text("precious")
        script = play(engine, "d4", "save other.sgf", "no")
        assert script.screens[2].prompt == "other.sgf exists. Replace it? (yes, no)>"
        assert [screen.takes_points for screen in script.screens[:3]] == [True, True, False]
        assert (folder / "other.sgf").read_text() == "precious"
        play(engine, "d4", "save other.sgf", "yes")
        assert "GM[1]" in (folder / "other.sgf").read_text()

    def test_quitting_offers_to_save(self, engine: Engine, folder: Path) -> None:
        script = Script("d4", "quit", "maybe", "quit", "yes")
        farewell = TerminalGame(engine, GameSettings(width=7), script).run()
        assert script.messages[3] == "The game continues; nothing was saved."
        (saved,) = folder.glob("tengen-*.sgf")
        assert farewell == f"Saved as {saved}."

    @pytest.mark.parametrize(
        ("command", "then"),
        [("new 5", "A new game: you"), ("new 5 white", "Tengen plays"), ("load other", "Loaded: you play White.")],
    )
    def test_a_game_that_gives_way_is_saved_and_says_where(
        self, engine: Engine, folder: Path, command: str, then: str
    ) -> None:
        """The name of the file was shown when the next game had been left, even unsaved."""
        (folder / "other.sgf").write_text("(;SZ[7];B[dd])")
        script = Script("d4", command, "yes", "help", "quit", "no")
        assert TerminalGame(engine, GameSettings(width=7), script).run() == ""
        (saved,) = folder.glob("tengen-*.sgf")
        assert "Saved" not in script.messages[4]
        assert f"Saved as {saved}. {then}" in script.messages[3]

    def test_what_a_record_leaves_out_is_not_that_of_the_game_before(self, engine: Engine, folder: Path) -> None:
        """A game without komi was scored with 0.5 after one with a handicap, and one by Japanese rules with 7.5."""
        (folder / "handicap.sgf").write_text("(;SZ[7]RU[Japanese]KM[0.5]HA[2]AB[cc][ee];W[dd])")
        (folder / "plain.sgf").write_text("(;SZ[7];B[dd];W[cc])")
        (folder / "japanese.sgf").write_text("(;SZ[7]RU[Japanese];B[dd];W[cc])")
        script = play(engine, "load handicap", "load plain", "load japanese", "load handicap", "new 5 black")
        assert [screen.facts[4] for screen in script.screens] == [
            "chinese rules, komi 7.5",
            "japanese rules, komi 0.5, handicap 2",
            "chinese rules, komi 7.5",
            "japanese rules, komi 6.5",
            "japanese rules, komi 0.5, handicap 2",
            "chinese rules, komi 7.5",
        ]

    def test_rules_and_komi_that_are_given_count_where_a_record_names_none(self, engine: Engine, folder: Path) -> None:
        (folder / "plain.sgf").write_text("(;SZ[7];B[dd];W[cc])")
        assert play(engine, "load plain", rules="japanese").screens[1].facts[4] == "japanese rules, komi 6.5"
        assert play(engine, "load plain", komi=3.5).screens[1].facts[4] == "chinese rules, komi 3.5"

    def test_a_new_game_has_no_names_of_a_record(self, engine: Engine, folder: Path) -> None:
        (folder / "other.sgf").write_text("(;SZ[7]PB[Lee Sedol]PW[Gu Li];B[dd];W[cc])")
        play(engine, "load other", "new 5 black", "save game")
        record = parse_sgf((folder / "game.sgf").read_bytes())
        assert (record.black_name, record.white_name) == ("Human", "Tengen")

    @pytest.mark.parametrize("lines", [("d4",), ("d4", BrokenPipeError), ("d4", "new 5 white")])
    def test_the_end_of_the_input_saves(self, engine: Engine, folder: Path, lines: tuple[Any, ...]) -> None:
        """So does that of the terminal; at a question, it begins no other game."""
        farewell = TerminalGame(engine, GameSettings(width=7), Script(*lines)).run()
        (saved,) = folder.glob("tengen-*.sgf")
        assert str(saved) in farewell and "SZ[7]" in saved.read_text() and engine.game.width == 7
        assert TerminalGame(engine, GameSettings(width=7), Script()).run() == "", "nothing was played"
        assert [path.name for path in folder.rglob("*.sgf")] == [saved.name], "and no copy is left"

    def test_a_bad_file_to_begin_with(self, engine: Engine, folder: Path) -> None:
        (folder / "bad.sgf").write_text("hello")
        with pytest.raises(SgfError):
            TerminalGame(engine, GameSettings(width=7), Script()).load("bad.sgf")


def test_a_pass_at_the_start_is_not_shown_as_a_handicap(engine: Engine) -> None:
    script = play(engine, "pass", human=WHITE)
    assert engine.game.handicap == 2, "as KataGo counts"
    assert "chinese rules, komi 7.5" in script.screens[1].facts


def test_free_handicap_stones_are_placed_first(engine: Engine) -> None:
    script = play(engine, "c3", "undo", "c3", "e5", handicap=2, has_free_handicap=True)
    assert [screen.prompt for screen in script.screens[:2]] == [
        "handicap stone, 2 to place>",
        "handicap stone, 1 to place>",
    ]
    assert script.screens[1].board.colors[engine.game.setup_stones[0].point] == BLACK
    assert (engine.game.handicap, len(engine.game.moves)) == (2, 1)


def test_nothing_is_saved_or_estimated_before_all_handicap_stones_are_placed(engine: Engine, folder: Path) -> None:
    """The file had a game without handicap or with fewer stones, and the estimate was that of an empty board."""
    script = play(engine, "c3", "save game", "score", "e5", "save game", handicap=2, has_free_handicap=True)
    assert script.messages[2:4] == [
        "The game has not begun; place 1 handicap stone more, then save.",
        "Black still has 1 handicap stone to place.",
    ]
    assert script.messages[5] == "Saved as game.sgf."
    assert "HA[2]" in (folder / "game.sgf").read_text()


@pytest.mark.parametrize("name", ["..", "/", '"', "~no-such-person/game", "x" * 300, "no/such/folder/x"])
def test_names_that_no_file_can_have_do_not_end_the_game(engine: Engine, name: str) -> None:
    script = play(engine, "D4", f"save {name}", f"load {name}")
    saving, loading = script.messages[2:4]
    assert saving.startswith(("Cannot write", "File")), saving
    assert loading.startswith(("Cannot", "File")), loading


def test_the_screen_says_that_the_engine_is_compiled(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(engine).screens[0].facts[-1] != "Compiling: plays weaker."
    monkeypatch.setattr(Kernels, "is_compiling", True)
    assert play(engine).screens[0].facts[-1] == "Compiling: plays weaker."


def test_looking_back_changes_nothing(engine: Engine) -> None:
    script = play(engine, "d4", "c2", "back", "back 9", "forward 2", "forward 99", "back 3", "undo", "back x")
    back, start, second, now, again, undone = script.screens[3:9]
    assert back.message == "After move 3 of 4; forward goes on, Enter returns."
    assert back.facts[-1].startswith("Move 3: Black")
    assert not {BLACK, WHITE} & set(start.board.colors.tolist())
    assert second.message.startswith("After move 2 of 4")
    assert now.message == "This is the position of the game."
    assert again.message.startswith("After move 1 of 4")
    assert undone.message == "Took back 2 moves." and undone.facts[-1].startswith("Move 2")
    assert script.messages[9] == "Back 'x': expected how many moves, as in back 5."


def test_enter_ends_looking_back_and_says_so(engine: Engine) -> None:
    """The board was that of the game again, the message that of the position before."""
    script = play(engine, "d4", "c2", "back 3", "")
    assert script.messages[-2] == "This is the position of the game."
    assert script.screens[-2].facts[-1].startswith("Move 4")


class Killed(BaseException):
    """The end of the process, at which nothing is done any more."""


def kill(engine: Engine, *lines: str) -> None:
    """Play by a script at whose end the process is killed."""
    with pytest.raises(Killed):
        TerminalGame(engine, GameSettings(width=7), Script(*lines, Killed)).run()


class TestKeptOnDisk:
    def test_a_game_that_was_killed_goes_on(self, engine: Engine, folder: Path) -> None:
        kill(engine, "d4", "c2")
        moves = [(move.color, move.point) for move in engine.game.moves]
        script = play(engine, "resume", "b3")
        assert script.messages[0].startswith("A game was interrupted after 4 moves: type resume")
        assert script.messages[1].startswith("Loaded: you play Black.")
        assert [(move.color, move.point) for move in engine.game.moves[:4]] == moves
        assert len(engine.game.moves) == 6
        assert not list((folder / "data").rglob("*.sgf")), "it was left by quit"

    def test_a_game_that_goes_on_is_saved_again_when_it_is_left(self, engine: Engine, folder: Path) -> None:
        """Quitting deleted it unasked: nothing had been played since."""
        kill(engine, "d4", "c2")
        script = Script("resume", "quit", "yes")
        farewell = TerminalGame(engine, GameSettings(width=7), script).run()
        assert script.screens[-1].prompt == "Save the game? (yes, no)>"
        (saved,) = folder.glob("*.sgf")
        assert saved.name in farewell and len(parse_sgf(saved.read_bytes()).moves) == 4

    def test_a_new_game_leaves_the_interrupted_one_alone(self, engine: Engine, folder: Path) -> None:
        kill(engine, "d4")
        (copy,) = (folder / "data").rglob("*.sgf")
        for number in range(20):
            copy.with_name(f"{number}.sgf").write_bytes(copy.read_bytes())
        kill(engine, "d4")
        assert len(list(copy.parent.glob("*.sgf"))) == 21, "twenty and the new one"

    @pytest.mark.parametrize("has_home", [True, False])
    def test_a_folder_that_cannot_be_written_is_no_reason_to_end(
        self, engine: Engine, folder: Path, has_home: bool, request: pytest.FixtureRequest
    ) -> None:
        """Without a home directory the game did not begin, a minute after the command."""
        if has_home:
            (folder / "file").write_text("")
            request.getfixturevalue("monkeypatch").setenv("TENGEN_DATA_DIR", str(folder / "file"))
        else:
            request.getfixturevalue("no_home")
        script = play(engine, "d4", "c2")
        assert "This game is not kept on the disk:" in script.messages[1]
        assert "not kept" not in script.messages[2]
        assert len(engine.game.moves) == 4


def lessons(tmp_path: Path, *lines: str, person: str = "B") -> tuple[str, Script]:
    """Return what was learned from a review in which both first moves lost eight points, given these lines."""
    review = completed(with_mistakes(), analysis_of())
    result = json.loads(json.dumps(review.to_json())) | {"person": person, "key": "game"}
    result["players"]["B"]["mistakes"] = [1]
    script = Script(*lines)
    return LessonGame(review.line, result, LearningRecord(tmp_path / "lessons.json"), script).run(), script


def test_mistakes_are_solved_in_the_terminal(tmp_path: Path) -> None:
    best = str(with_mistakes().moves[0].best)
    learned, script = lessons(tmp_path, "C3", "", "", best, "", "", "", "", "", "", "", "", "", "", "", "")
    assert script.screens[0].message.startswith("Black to play. C3 was played here and lost 8.0 points.")
    assert script.screens[1].message.startswith("C3 loses 8.0 points. C3")
    assert script.screens[2].message.startswith("C3 loses 8.0 points. C3 "), "the answer to it"
    assert any(message.startswith(f"Right: {best} is the best move.") for message in script.messages)
    assert learned == ("1 of 1 solved, 0 at the first try. Over 1 game: 1 of 1 positions solved, 0 at the first try.")
    learned, _ = lessons(tmp_path, best, *[""] * 12)
    assert "1 of 1 solved, 1 at the first try. Over 1 game: 1 of 1 positions solved, 0 at the first" in learned


def test_an_answer_can_be_shown_and_lessons_left(tmp_path: Path) -> None:
    learned, script = lessons(tmp_path, "answer", *[""] * 12)
    assert script.screens[1].message.startswith("The best move is ") and learned.startswith("0 of 1 solved")
    learned, script = lessons(tmp_path, "resign", "quit", person="W")
    assert len(script.screens) == 2 and "Mistakes of Bob" in script.screens[0].facts
