"""The words of a command as values, with the draft's error messages, and points as words.

The `parse_` functions raise GtpError, and so do the `read_` functions, which read points of a game's board or moves on
it.  The message starts with the words that GNU Go uses in the same case ("komi not
a float"), followed by the word given and the value expected.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gtp_engine.base.errors import InvalidColorError, problem, shown
from gtp_engine.go.clock import read_number
from gtp_engine.go.constants import PASS, Move
from gtp_engine.go.coords import parse_color, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.protocols.gtp.protocol import GtpError

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Args:
    """The arguments of one command: a sequence of words, and `text`, the arguments as they were written."""

    words: tuple[str, ...] = ()
    text: str = ""

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: int) -> str:
        return self.words[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)


def color_or_none(word: str) -> int | None:
    """Return the color that a word names, None if it names none."""
    try:
        return parse_color(word)
    except InvalidColorError:
        return None


def parse_integer(word: str, *, failure: str, expected: str = "a whole number") -> int:
    """Return the integer in `word` (at most 18 digits); `failure` starts the message when there is none."""
    if not _INTEGER.fullmatch(word):
        raise GtpError(problem(f"{failure}: got {shown(word)}", expected=expected))
    return int(word)


def parse_number(word: str, *, failure: str, expected: str = "a finite number") -> float:
    """Return the finite float in `word`; `failure` starts the message when there is none.

    Komi and times are parsed alike, by `clock.read_number`.
    """
    value = read_number(word)
    if not math.isfinite(value):
        raise GtpError(problem(f"{failure}: got {shown(word)}", expected=expected))
    return value


def read_vertex(game: Game, word: str) -> int:
    """Return the point of the game's board that `word` names, or PASS; raises InvalidVertexError."""
    return parse_vertex(word, width=game.width, height=game.height)


def read_point(game: Game, word: str) -> int:
    """Return the point that `word` names; raises InvalidVertexError for a bad vertex and GtpError for a pass."""
    point = read_vertex(game, word)
    if point == PASS:
        raise GtpError(problem("invalid coordinate 'pass'", expected="a point of the board"))
    return point


def read_stone(game: Game, word: str) -> int:
    """Return the point that `word` names, which must hold a stone; raises GtpError otherwise."""
    point = read_point(game, word)
    if not game.color_at(point):
        raise GtpError(f"vertex must not be empty: {word} has no stone")
    return point


def read_moves(game: Game, words: Sequence[str]) -> list[Move]:
    """Return the moves of a list COLOR VERTEX COLOR VERTEX ...; passes are allowed."""
    if len(words) % 2:
        raise GtpError(f"syntax error: got {len(words)} words, expected pairs of a color and a vertex")
    return [
        Move(parse_color(color), read_vertex(game, vertex))
        for color, vertex in zip(words[::2], words[1::2], strict=True)
    ]


def read_setup(game: Game, words: Sequence[str]) -> list[Move]:
    """Return the stones of a list COLOR VERTEX COLOR VERTEX ...; a pass or a point named twice raises GtpError."""
    stones = read_moves(game, words)
    if any(stone.point == PASS for stone in stones):
        raise GtpError(problem("invalid coordinate 'pass'", expected="a point of the board for every stone"))
    if len({stone.point for stone in stones}) < len(stones):
        raise GtpError("repeated vertex: every point can hold one stone only")
    return stones


def show_vertices(game: Game, points: Iterable[int]) -> str:
    """Return vertices on one line, separated by spaces."""
    return " ".join(map(game.vertex, points))
