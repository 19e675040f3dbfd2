"""The positions of tests/data/robustness.txt, in which programs with a network go wrong, and their right moves."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from board_helpers import parse_diagram

from gtp_engine import Game, Move
from gtp_engine.go.constants import PASS, opponent
from gtp_engine.go.coords import format_color, parse_color

FILE: Final = Path(__file__).parent.parent / "data" / "robustness.txt"

ANY_BUT_PASS: Final = "any"
"""What stands for the right moves where every move but a pass will do."""

PASS_PROBLEMS: Final = ("first pass", "second pass")
"""The kinds in which a pass loses; before the second, the opponent has passed."""


@dataclass(frozen=True)
class Problem:
    """A position, the side to play in it, and its right moves; without them (`right` is empty) all but a pass.

    The game is won by them and lost by all others.
    """

    name: str
    kind: str
    color: int
    komi: float
    group: str
    """A stone of the group that decides the game; empty where a pass would lose it."""
    right: frozenset[str]
    diagram: str

    @classmethod
    def parse(cls, text: str) -> "Problem":
        """Return the problem that a paragraph of the file describes."""
        head, _, diagram = text.partition("\n")
        kind, color, komi, group, right = (each.strip() for each in head.split(";"))
        size = len(diagram.splitlines())
        moves = frozenset(() if right == ANY_BUT_PASS else right.split())
        name = f"{size}x{size} {kind}, {group or right}, {format_color(parse_color(color))}"
        return cls(name, kind, parse_color(color), float(komi), group, moves, diagram)

    def game(self) -> Game:
        """Return the game with the position, in which `color` is to play."""
        parsed, passed = parse_diagram(self.diagram), self.kind == PASS_PROBLEMS[1]
        is_pass = self.kind in PASS_PROBLEMS
        game = Game(parsed.width, parsed.height, "tromp-taylor" if is_pass else "chinese", self.komi)
        first = opponent(self.color) if passed else self.color
        game.set_up([Move(color, point) for point, color in parsed.stones.items()], first)
        if passed:
            game.play(PASS)
        return game

    def is_right(self, vertex: str) -> bool:
        """Return whether a move, such as "D4" or "pass", wins; "resign" does not."""
        return vertex in self.right if self.right else vertex not in ("pass", "resign")


def problems(file: Path = FILE) -> Iterator[Problem]:
    """Yield the problems of a file; its first paragraph describes it."""
    for text in file.read_text("utf-8").strip().split("\n\n")[1:]:
        yield Problem.parse(text)
