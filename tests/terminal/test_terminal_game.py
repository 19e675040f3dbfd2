"""Whole games on a display that follows a script."""

import json
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_positions import DEAD_STONE, set_up
from review.review_support import analysis_of, with_mistakes
from terminal.terminal_transcripts import FOLDER, Script, Story, read_stories, replay, small_engine

from gtp_engine.base import languages
from gtp_engine.base.errors import ModelError
from gtp_engine.engine import Engine
from gtp_engine.engine.rehearsal import Kernels
from gtp_engine.go.clock import TimeLeft, TimeSettings
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.rules import Rules
from gtp_engine.people.play import GameClock, GameSession, GameSettings
from gtp_engine.people.review import completed
from gtp_engine.people.review.lessons import LearningRecord
from gtp_engine.people.terminal.board_picture import Screen
from gtp_engine.people.terminal.key_reader import Terminated, cancelled_by_interrupt
from gtp_engine.people.terminal.terminal_game import TerminalGame, _result_in_words, solve_lessons
from gtp_engine.people.terminal.typed_command import read_record, save
from gtp_engine.search.limits import CancelToken
from gtp_engine.sgf import parse_sgf


@pytest.fixture
def engine() -> Iterator[Engine]:
    with small_engine() as made:
        yield made


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


STORIES = {
    f"{path.stem} {number}": story
    for path in FOLDER.glob("*.txt")
    for number, story in enumerate(read_stories(path), 1)
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_transcript(story: Story, folder: Path) -> None:
    replay(story, folder)


def play(engine: Engine, *lines: str | type[BaseException], diagram: str = "") -> Script:
    """Play by a script that ends with quit and no, from a position if there is a diagram."""
    script = Script(*lines, "quit", "no")
    game = TerminalGame(engine, GameSettings(width=7), script)
    if diagram:
        set_up(engine, diagram)
    game.run()
    return script


def test_undo_hint_and_score(engine: Engine) -> None:
    script = play(engine, "d4", "hint", "score", "undo", "help")
    assert script.progress[0].startswith("Tengen is thinking") and script.prompts_in_progress == {""}
    hint, score, undone, help_screen = script.screens[2:6]
    head, best, *_others = hint.message.splitlines()
    assert head.startswith("   move") and best.startswith("a  "), "the head lost its blanks"
    labels = sorted(hint.board.labels.values())
    assert labels and labels == list("abcde")[: len(labels)], "fewer where the time for a hint has run out"
    assert score.message.startswith("Expected: ")
    assert score.board.labels == {} and np.count_nonzero(score.board.owners) == 2, "of the stones"
    assert (undone.message, undone.board.owners) == ("Took back 2 moves.", None)
    assert "take your move back" in help_screen.message


def test_the_prompt_is_translated_with_its_colour(engine: Engine) -> None:
    script = Script("quit", "no")
    languages.use("ja")
    TerminalGame(engine, GameSettings(width=7), script).run()
    assert "黒" in script.screens[0].prompt and "black" not in script.screens[0].prompt


def test_playing_on_after_the_passes(engine: Engine) -> None:
    script = play(engine, "pass", "resume", "score", "hint", diagram=DEAD_STONE)
    assert (script.messages[2], script.screens[2].prompt) == ("The game continues.", "your move (black)>")
    assert [script.screens[3].board.owners[engine.game.point(each)] for each in ("A1", "G1")] == [BLACK, WHITE]
    assert re.search(r"pass +[0-4]%   -2\.5  [A-G][1-7]", script.messages[4]), "Black loses, and White goes on"
    assert PASS not in script.screens[4].board.labels


def test_results_in_words() -> None:
    ways = {"R": " by resignation", "T": " on time", "F": " by forfeit", "3.5": " by 3.5 points", "": ""}
    for way, words in ways.items():
        for result, winner, loser in ((f"B+{way}", BLACK, WHITE), (f"W+{way}", WHITE, BLACK)):
            assert _result_in_words(result, Rules(), winner) == f"You win{words} ({result})."
            assert _result_in_words(result, Rules(), loser) == f"Tengen wins{words} ({result})."
    repeated = "The game has no result: the position has occurred for the third time."
    without = {"0": "The game is a draw (0).", "Void": repeated}
    for color in (BLACK, WHITE):
        assert {result: _result_in_words(result, Rules(), color) for result in without} == without


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
    script = InterruptedScript("resign", "quit", "no")
    TerminalGame(engine, GameSettings(width=7, human=WHITE), script).run()
    assert script.screens[1].prompt == "new, undo, save FILE or quit>"


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
    interrupted(monkeypatch, "propose_dead")
    script = play(engine, "pass", diagram=DEAD_STONE)
    assert script.messages[1].startswith("Stopped: no stone is marked as dead. ")
    assert ", no dead stones. Type accept" in script.messages[1]


def test_what_waits_for_the_compiler_says_so(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    script, compiling = play(engine, "score", "hint"), "Compiling: plays weaker."
    assert script.progress[0] == "Estimating the score … (Ctrl-C stops)" and compiling not in script.screens[0].facts
    monkeypatch.setattr(Kernels, "is_compiling", True)
    script = play(engine, "score", "hint")
    assert script.progress[0] == "Estimating the score, once the engine is compiled … (Ctrl-C stops)"
    assert script.progress[1] == "Looking for good moves … (Ctrl-C stops)" and script.screens[0].facts[-1] == compiling


class TestFiles:
    def test_a_record_that_is_cut_off_is_said_to_be_also_where_the_engine_moves_first(
        self, engine: Engine, folder: Path
    ) -> None:
        """The engine's move hid it."""
        (folder / "game.sgf").write_text("(;SZ[7];B[dd];W[bb];B[c")
        script = Script("quit", "no")
        game = TerminalGame(engine, GameSettings(width=7), script)
        game.load(read_record("game"), human=WHITE)
        game.run()
        assert script.messages[0].startswith("The record is cut off in a value"), script.messages
        assert "plays" in script.messages[0]

    @pytest.mark.parametrize("lines", [("d4",), ("d4", BrokenPipeError), ("d4", "new 5 white")])
    def test_the_end_of_the_input_saves(self, engine: Engine, folder: Path, lines: tuple[Any, ...]) -> None:
        """So does that of the terminal; at a question, it begins no other game."""
        farewell = TerminalGame(engine, GameSettings(width=7), Script(*lines)).run()
        (saved,) = folder.glob("tengen-*.sgf")
        assert str(saved) in farewell and "SZ[7]" in saved.read_text() and engine.game.width == 7
        assert TerminalGame(engine, GameSettings(width=7), Script()).run() == "", "nothing was played"
        assert [path.name for path in folder.rglob("*.sgf")] == [saved.name], "and no copy is left"

    def test_full_strength_and_no_clock_come_first_if_given(self, engine: Engine, folder: Path) -> None:
        save("(;SZ[7]PW[Tengen]WR[15k]TM[300]OT[fischer 10];B[dd];W[cc])", folder / "a.sgf")
        script = Script("load a.sgf", "quit", "no")
        TerminalGame(engine, GameSettings(width=7), script, ["play.level", "new_game.time"]).run()
        assert script.screens[1].facts[1:3] == ("  0 captured", "White (O): Tengen, full strength")
        engine.configure({"play.level": "2k"})
        script = Script("load a.sgf", "quit", "no")
        TerminalGame(engine, GameSettings(width=7), script).run()
        assert script.screens[1].facts[2] == "White (O): Tengen, level 2k", "with which it began"


class Killed(BaseException):
    """The end of the process, at which nothing is done any more."""


def kill(engine: Engine, *lines: str) -> None:
    """Play by a script at whose end the process is killed."""
    with pytest.raises(Killed):
        TerminalGame(engine, GameSettings(width=7), Script(*lines, Killed)).run()


class TestKeptOnDisk:
    def test_a_game_that_was_killed_goes_on(self, engine: Engine, folder: Path) -> None:
        kill(engine, "d4", "c2", "g7", "undo")
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

    def test_nothing_else_is_left_of_a_game_that_was_taken_back_or_saved(self, engine: Engine, folder: Path) -> None:
        TerminalGame(engine, GameSettings(width=7), Script("d4", "undo", None)).run()
        assert not list(folder.rglob("*.sgf"))
        TerminalGame(engine, GameSettings(width=7), Script("d4", "save a.sgf", None)).run()
        assert list(folder.rglob("*.sgf")) == [folder / "a.sgf"]

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
        assert "This game is not saved to disk:" in script.messages[1]
        assert "not saved" not in script.messages[2]
        assert len(engine.game.moves) == 4


def lessons(tmp_path: Path, *lines: str, person: str = "B", mistakes: Sequence[int] = (1,)) -> tuple[str, Script]:
    """Return what was learned from a review in which both first moves lost eight points, given these lines."""
    review = completed(with_mistakes(), analysis_of())
    result = json.loads(json.dumps(review.to_json())) | {"person": person, "key": "game"}
    result["players"]["B"]["mistakes"] = [*mistakes]
    result["lessons"][0]["answers"].append({"vertex": "D4", "points_lost": 0.9, "line": ["D4"]})
    result["lessons"] = [lesson | {"is_next": lesson["number"] == 3} for lesson in result["lessons"]]
    script = Script(*lines)
    return solve_lessons(review.line, result, LearningRecord(tmp_path / "lessons.json"), script), script


def test_mistakes_are_solved_in_the_terminal(tmp_path: Path) -> None:
    best = str(with_mistakes().moves[0].best)
    learned, script = lessons(tmp_path, "C3", "", "", best, "", "", "", "", "", "", "", "", "", "", "", "")
    assert script.screens[0].message.startswith("Black to play. C3 was played here and lost 8.0 points.")
    assert script.screens[1].message.startswith("C3 loses 8.0 points. C3")
    assert script.screens[2].message.startswith("C3 loses 8.0 points. C3 "), "the answer to it"
    assert sorted(script.screens[2].board.game.stones.values()) == [BLACK, WHITE]
    assert any(message.startswith(f"Right: {best} is the best move.") for message in script.messages)
    assert learned == ("1 of 1 solved, 0 on the first try. Over 1 game: 1 of 1 positions solved, 0 on the first try.")
    learned, _ = lessons(tmp_path, best, *[""] * 12)
    assert "1 of 1 solved, 1 on the first try. Over 1 game: 1 of 1 positions solved, 0 on the first" in learned
    _, script = lessons(tmp_path, "D4")
    assert script.messages[1].startswith(f"Right: D4 loses 0.9 points; the best move is {best}.")


def test_an_answer_can_be_shown_and_lessons_left(tmp_path: Path) -> None:
    learned, script = lessons(tmp_path, "answer", *[""] * 12)
    assert script.screens[1].message.startswith("The best move is ") and learned.startswith("0 of 1 solved")
    learned, script = lessons(tmp_path, "resign", "a", *[""] * 12, person="W")
    assert len(script.screens) > 2 and "Mistakes of Bob" in script.screens[0].facts
    assert "Over 2 games: 0 of 2 positions solved, " in learned, "one of each player"


def test_what_is_not_solved_and_worth_studying_comes_first(tmp_path: Path) -> None:
    for number, line in ((3, "answer"), (3, str(with_mistakes().moves[2].best)), (1, "quit")):
        _, script = lessons(tmp_path, line, *[""] * 12, "quit", mistakes=(1, 3))
        assert script.screens[0].facts[1:] == ("Position 1 of 2", f"Move {number}")
