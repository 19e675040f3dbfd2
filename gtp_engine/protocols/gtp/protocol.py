"""The text of GTP 2: a line of bytes becomes a Command, its words values; a reply, whole or in pieces, becomes text.

No command is interpreted here.

The rules are those of the draft, sections 2 and 3, strict where a controller depends on them and lenient where
controllers differ:

- tabs are spaces, other control characters are dropped, `#` starts a comment, an empty line gets no reply;
- an id is a leading run of digits, with or without a space after it, and is echoed (`=12 text`);
- a reply is one block, ends with an empty line and contains none.

Beyond the draft: bytes that are not UTF-8 are preserved (a file name may contain any), a byte order mark is dropped
(shells on Windows write one), and a reply is always valid UTF-8.

A reply is sent at once, or as a stream of lines while the engine searches.  A stream begins with `=[id]` on a line of
its own, lines follow, and a blank line ends it:

    kata-analyze 50
    =
    info move D4 visits 12 ...
    info move Q16 visits 31 ...
                                    (any line from the controller ends it)

Lines may come from the searching thread, the end from the thread that reads the next command; the first to end the
reply decides its last line, and everything after that is dropped.

Of the functions for words, the `parse_` functions raise GtpError, and so do the `read_` functions, which read points of
a game's board or moves on it.  The message starts with the words that GNU Go uses in the same case ("komi not a
float"), followed by the word given and the value expected.
"""

import math
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gtp_engine.base.errors import TengenError, shown
from gtp_engine.go.clock import read_number
from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import Move, Point
from gtp_engine.go.game import Game

MAX_ID_DIGITS: Final = 18
"""Longest run of digits taken as an id; the draft stops at 2**31 - 1, but longer ones are echoed too."""

_BYTE_ORDER_MARK: Final = "\ufeff"
_DROPPED_CONTROLS: Final = dict.fromkeys([*range(9), *range(10, 32), 127])
_INPUT_TABLE: Final = {**_DROPPED_CONTROLS, ord("\t"): " "}
_OUTPUT_TABLE: Final = {**_INPUT_TABLE, ord("\n"): "\n", **dict.fromkeys(range(0x80, 0xA0))}
_INTERRUPT: Final = re.compile(rb"[\s\x00]*#\s*interrupt[\s\x00]*")
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_ID: Final = re.compile(rf"([0-9]{{1,{MAX_ID_DIGITS}}})(?![0-9])")


class GtpError(TengenError):
    """A command that fails; its message is the text after `?`."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command line, a sequence of its arguments: the `words`, split at spaces; `text` is as they were written."""

    name: str
    words: tuple[str, ...] = ()
    text: str = ""
    id: int | None = None

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: int) -> str:
        return self.words[index]


def decode_line(raw: bytes) -> str:
    """Return the text of a line as received; bytes that are not UTF-8 become lone surrogates."""
    return raw.decode("utf-8", errors="surrogateescape")


def encode_reply(text: str) -> bytes:
    """Return the bytes to send: always valid UTF-8, lone surrogates as backslash escapes."""
    return text.encode("utf-8", errors="backslashreplace")


def parse_line(line: str) -> Command | None:
    """Return the command in `line`, or None where GTP gives no reply: empty, comment only, or an id alone."""
    text = line.partition("#")[0].translate(_INPUT_TABLE).lstrip(f" {_BYTE_ORDER_MARK}").rstrip(" ")
    identifier: int | None = None
    if match := _ID.match(text):
        identifier = int(match[1])
        text = text[match.end() :].lstrip(" ")
    if not text:
        return None
    name, _, arguments = text.partition(" ")
    arguments = arguments.strip(" ")
    return Command(name, tuple(word for word in arguments.split(" ") if word), arguments, identifier)


def is_interrupt(raw: bytes) -> bool:
    """Return whether a line is GoGui's comment `# interrupt`, which ends the running command early."""
    return _INTERRUPT.fullmatch(raw) is not None


def clean_reply(text: str) -> str:
    """Return `text` fit for a reply: no control characters, no blank lines, no spaces at the end of a line."""
    return "\n".join(line.rstrip() for line in text.translate(_OUTPUT_TABLE).split("\n") if line.strip())


SendPiece = Callable[[str], None]
"""Takes a piece of a reply, complete lines; called by one thread at a time for each reply."""


class Reply:
    """The reply to the command with this id.

    `interrupted` is its last line if the next command interrupts it; None if it is over when the command is.
    """

    def __init__(self, send: SendPiece, id: int | None = None) -> None:
        self.interrupted: str | None = None
        self._send: Final = send
        self._id: Final = "" if id is None else str(id)
        self._lock: Final = threading.RLock()
        self.is_open = False
        """Whether the stream has begun; from then on the command cannot fail any more."""
        self.is_ended = False
        """Whether everything has been sent."""
        self._has_line: Final = threading.Event()

    def open(self) -> None:
        """Begin a stream of lines."""
        with self._lock:
            if not self.is_open and not self.is_ended:
                self.is_open = True
                self._send(f"={self._id}\n")

    def line(self, text: str) -> None:
        """Send a line of the stream, which begins with the first; an empty line is left out."""
        with self._lock:
            if not self.is_ended:
                self.open()
                if cleaned := clean_reply(text):
                    self._send(f"{cleaned}\n")
                    self._has_line.set()

    def end(self, text: str = "", *, ok: bool = True) -> None:
        """Send the last line of the stream, or the whole response if there is no stream; later calls do nothing.

        The protocol has no errors within a stream: after lines were sent, an error only ends it.  The text of a whole
        response follows a space (GoGui cuts there) even if it is empty, as in GNU Go, KataGo and Leela Zero.
        """
        with self._lock:
            if self.is_ended:
                return
            self.is_ended = True
            cleaned = clean_reply(text)
            if self.is_open:
                self._send(f"{cleaned}\n\n" if cleaned and ok else "\n")
            else:
                self._send(f"{'=' if ok else '?'}{self._id} {cleaned}\n\n")
            self._has_line.set()

    def interrupt(self) -> None:
        """End the reply because the controller has sent another line."""
        self.end(self.interrupted or "")

    def wait_for_line(self, timeout: float) -> None:
        """Wait until a line of a stream, or everything, has been sent."""
        self._has_line.wait(timeout)


def parse_integer(word: str, *, failure: str, expected: str = "a whole number") -> int:
    """Return the integer in `word` (at most 18 digits); `failure` starts the message when there is none."""
    if not _INTEGER.fullmatch(word):
        raise GtpError(f"{failure}: got {shown(word)}", expected=expected)
    return int(word)


def parse_number(word: str, *, failure: str) -> float:
    """Return the finite float in `word`; `failure` starts the message when there is none.

    Komi and times are parsed alike, by `clock.read_number`.
    """
    value = read_number(word)
    if not math.isfinite(value):
        raise GtpError(f"{failure}: got {shown(word)}", expected="a finite number")
    return value


def read_point(game: Game, word: str) -> Point:
    """Return the point that `word` names; raises InvalidVertexError for a bad vertex and GtpError for a pass."""
    point = game.point(word)
    if point == PASS:
        raise GtpError("invalid coordinate 'pass'", expected="a point of the board")
    return point


def read_stone(game: Game, word: str) -> Point:
    """Return the point that `word` names, which must hold a stone; raises GtpError otherwise."""
    point = read_point(game, word)
    if not game.color_at(point):
        raise GtpError(f"vertex must not be empty: {word} has no stone")
    return point


def read_moves(game: Game, words: Sequence[str]) -> list[Move]:
    """Return the moves of a list COLOR VERTEX COLOR VERTEX ...; passes are allowed."""
    if len(words) % 2:
        raise GtpError(f"syntax error: got {len(words)} words, expected pairs of a color and a vertex")
    return [game.as_move(pair) for pair in zip(words[::2], words[1::2], strict=True)]


def read_setup(game: Game, words: Sequence[str]) -> list[Move]:
    """Return the stones of a list COLOR VERTEX COLOR VERTEX ...; a pass or a point named twice raises GtpError."""
    stones = read_moves(game, words)
    if any(stone.point == PASS for stone in stones):
        raise GtpError("invalid coordinate 'pass'", expected="a point of the board for every stone")
    if len({stone.point for stone in stones}) < len(stones):
        raise GtpError("repeated vertex: every point can hold one stone only")
    return stones


def show_vertices(game: Game, points: Iterable[int]) -> str:
    """Return vertices on one line, separated by spaces."""
    return " ".join(map(game.vertex, points))
