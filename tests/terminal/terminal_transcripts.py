"""Replays transcripts of games in the terminal: files with what a person types and what the screens show.

    ; what this is about                        a comment
    ;game {"rules":"japanese"}                  a game on 7x7 with these settings begins, in an empty folder
    ;file game.sgf (;SZ[7];B[aa])               a file in the folder
    > d4                                        a line that is typed; ^C and ^D are keys
    < Took back 2 moves.                        the message of the screen that follows, whole
    ? your move (black)>                        its prompt
    | chinese rules, komi 7.5                   one of the lines beside the board
    # 2 A7                                      how many stones the board has, and those that are drawn as dead
    = Saved as <any>.                           what is said when the game has been left
    ;has game.sgf HA[2]                         the file has this text now
    ;files game.sgf other.sgf                   so are the records in the folder named now

In texts `<any>` stands for any text.  After its lines each game is left without saving.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from knowing_evaluator import KnowingEvaluator

from gtp_engine.base.errors import ModelError
from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.people.play import GameSettings
from gtp_engine.people.terminal.board_picture import BoardView, Screen
from gtp_engine.people.terminal.displays import Tick
from gtp_engine.people.terminal.terminal_game import TerminalGame

FOLDER: Final = Path(__file__).parent.parent / "data" / "terminal"

KEYS: Final[dict[str, type[BaseException] | None]] = {"^C": KeyboardInterrupt, "^D": None}


class Script:
    """A display on which lines are typed; an exception among them is raised, as Ctrl-C does; None ends the input."""

    has_keys = True

    def __init__(self, *lines: str | type[BaseException] | None) -> None:
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
        line = self.lines.pop(0) if self.lines else None
        if line is None or isinstance(line, str):
            return line
        raise line

    @property
    def messages(self) -> list[str]:
        return [screen.message for screen in self.screens]


class SmallBoards(KnowingEvaluator):
    """Does not play on 13x13."""

    def prepare(self, width: int, height: int) -> None:
        if width == 13:
            raise ModelError("the network does not play 13x13")


def small_engine() -> Engine:
    values = {"game.board_size": "7", "search.visits": "16", "search.seed": "1"}
    return Engine(Config().with_values(values), evaluator=SmallBoards())


@dataclass
class Story:
    """One game of a transcript: each typed line, and what is expected of the screen that follows ("" before any)."""

    settings: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    steps: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=lambda: [("", [])])
    ends: list[tuple[str, str]] = field(default_factory=list)


def read_stories(path: Path) -> Iterator[Story]:
    """Yield the games of a transcript."""
    story = Story({})
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, _, text = line.partition(" ")
        if kind == ";game":
            if story.steps != [("", [])]:
                yield story
            story = Story(json.loads(text or "{}"))
        elif kind == ";file":
            name, _, content = text.partition(" ")
            story.files[name] = content
        elif kind == ">":
            story.steps.append((text, []))
        elif kind in ("<", "?", "|", "#"):
            story.steps[-1][1].append((kind, text))
        elif kind in ("=", ";has", ";files"):
            story.ends.append((kind, text))
        else:
            assert not line or kind == ";", line
    yield story


def replay(story: Story, folder: Path) -> None:
    """Play a game in the current folder; AssertionError says what was typed before the screen that differs."""
    for name, content in story.files.items():
        (folder / name).write_text(content)
    lines = [KEYS.get(typed, typed) for typed, _ in story.steps[1:]]
    script = Script(*lines, *(["quit", "no"] if None not in lines else []))
    with small_engine() as engine:
        farewell = TerminalGame(engine, GameSettings(**{"width": 7, **story.settings}), script).run()
    for (typed, expected), screen in zip(story.steps, script.screens, strict=False):
        assert screen.takes_points != screen.prompt.endswith("(yes, no)>"), typed
        for kind, text in expected:
            shown = _shown(screen, kind)
            assert any(_is_like(each, text) for each in shown), f"{typed}\nexpected: {kind} {text}\ngot:      {shown}"
    assert len(script.screens) >= len(story.steps) - bool(story.ends), "the game was left before"
    for kind, text in story.ends:
        _check_end(kind, text, folder, farewell)


def _shown(screen: Screen, kind: str) -> list[str]:
    """Return what may be expected of a screen by that kind of line: each fact, or one text."""
    if kind == "|":
        return list(screen.facts)
    return [{"<": screen.message, "?": screen.prompt, "#": _stones(screen.board)}[kind]]


def _stones(board: BoardView) -> str:
    return " ".join([str(len(board.game.stones)), *map(board.game.vertex, sorted(board.dead))])


def _check_end(kind: str, text: str, folder: Path, farewell: str) -> None:
    name, _, content = text.partition(" ")
    if kind == "=":
        assert _is_like(farewell, text), farewell
    elif kind == ";has":
        assert content in (folder / name).read_text()
    else:
        found = sorted(path.name for path in folder.glob("*.sgf"))
        assert len(found) == len(text.split()) and all(map(_is_like, found, text.split())), found


def _is_like(got: str, expected: str) -> bool:
    return re.fullmatch(re.escape(expected).replace("<any>", ".*"), got, re.DOTALL) is not None
