"""Generates GTP lines (valid, broken, hostile) and checks that every reply to them is right.

Used by `test_fuzz.py` in small portions and by `scripts/fuzz_gtp` for long runs.  Checked for every line:

- exactly one reply for a command, none for an empty line or a comment, and the reply is one well-formed block;
- the reply carries the id of the line;
- a rejected command and a command that only reads leave the game as it was;
- no reply is an internal error.

The words of a command are those that its usage in the engine's table names.  The generator never sends `quit`, and
`printsgf` only with names in the current directory.
"""

import random
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gtp_engine.protocols.gtp.server import COMMANDS

Ask = Callable[[bytes, int], list[bytes]]
"""Sends one or more lines (with their ends) and returns the given number of replies."""

LETTERS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
TABLES: Final = tomllib.loads((Path(__file__).parent.parent / "data" / "gtp" / "fuzz.toml").read_text("utf-8"))
ON_EMPTY_BOARDS: Final = ("fixed_handicap", "place_free_handicap", "set_free_handicap", "gogui-setup")
SEARCHING: Final = re.compile("genmove|search|_analyze|-analyze|final")
_ASK_STATE: Final = "".join(f"{name}\n" for name in TABLES["state"]).encode()
WORDS: Final[dict[str, list[str]]] = TABLES["words"]
WORDS["RULES"] += ["[" * 5000, '{"a":' * 3000]
SIZES: Final = ("2", "3", "5", "5", "7", "9", "9", "13", "19", "25")
_PART: Final = re.compile(r"(\[[^]]*\]|[^ .[]+)(\.\.\.)?")
SEARCH_AREA: Final = 49
"""Largest board, in points, on which the generator asks for moves and estimates, which take time."""


@dataclass(frozen=True)
class Line:
    """A line to send: its bytes with the end, its id (None: without) and whether a reply is due."""

    raw: bytes
    id: int | None
    is_command: bool
    name: str


class LineGenerator:
    """Generates lines from a seed; `folder` contains the files for `loadsgf` (see `write_files`)."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._random = random.Random(seed)
        self._files = [*sorted(str(path) for path in folder.iterdir()), "/dev/zero", "missing.sgf", str(folder), ""]
        self._queue: list[str] = []
        self._commands = [spec for _, spec in sorted(COMMANDS.items()) if spec.name not in TABLES["unsent"]]
        self._commands += 3 * [spec for spec in self._commands if spec.name in TABLES["changing"]]
        self._last_id = 0
        self.width = self.height = 9

    def line(self) -> Line:
        """Return the next line."""
        kind = self._random.random()
        if kind < 0.03:
            return self._junk()
        if kind < 0.06:
            raw = self._random.choice([b"", b"   ", b"\t", b"# comment", b"  # interrupt", b"# interrupt", b"\x00\x07"])
            return Line(raw + self._end(), None, False, "")
        text = self._queue.pop() if self._queue else self._command()
        if kind < 0.16 and not text.startswith("printsgf"):
            text = self._mutate(text)
        return self._finish(text)

    def _finish(self, text: str) -> Line:
        """Add an id, a comment and a line end to the text of a command."""
        if self._random.random() < 0.8:
            self._last_id = self._last_id + 1 if self._random.random() < 0.98 else self._random.randrange(2**31)
            text = f"{self._last_id} {text}"
        if self._random.random() < 0.05:
            text += " # comment ? = \t"
        raw = text.encode("utf-8", "surrogateescape").replace(b"\n", b"") + self._end()
        return Line(raw, *expected_reply(raw))

    def _end(self) -> bytes:
        return self._random.choice([b"\n", b"\n", b"\n", b"\r\n", b" \n"])

    def _junk(self) -> Line:
        size = self._random.choice([1, 5, 40, 200, 3000])
        raw = self._random.randbytes(size).replace(b"\n", b"") + self._end()
        return Line(raw, *expected_reply(raw))

    def _mutate(self, text: str) -> str:
        """Return `text` with something broken."""
        pick = self._random.randrange(7)
        at = self._random.randrange(len(text) + 1)
        if pick == 0:
            return text[:at]
        if pick == 1:
            return (
                text[:at] + chr(self._random.choice([0, 7, 9, 32, 127, 133, 160, 233, 8232, 65279, 128512])) + text[at:]
            )
        if pick == 2:
            return text + " " + self._random.choice(TABLES["numbers"])
        if pick == 3:
            return text + " extra" * self._random.choice([1, 2, 1000])
        if pick == 4:
            return text.upper() if self._random.random() < 0.5 else text.title()
        if pick == 5:
            words = text.split(" ")
            self._random.shuffle(words)
            return " ".join(word for word in words if not word.startswith("printsgf"))
        return text.replace(" ", self._random.choice(["  ", "\t", "\x00", ",", "/"]))

    def _command(self) -> str:
        """Return the text of a command that is usually valid."""
        if self._random.random() < 0.3:
            return f"play {self._color()} {self._vertex()}"
        spec = self._random.choice(self._commands)
        if SEARCHING.search(spec.name) and self.width * self.height > SEARCH_AREA:
            return self._command()
        text = " ".join(
            [spec.name, *(word for part in _PART.finditer(spec.usage) for word in self._part(*part.groups()))]
        )
        if spec.name in ON_EMPTY_BOARDS and self._random.random() < 0.7:
            self._queue.append(text)
            return "clear_board"
        return text

    def _part(self, part: str, repeated: str | None) -> list[str]:
        """Return words for a part of a command's usage."""
        name, is_optional = part.strip("[]").removesuffix("..."), part.startswith("[")
        if repeated or part.endswith("...]"):
            count = self._random.choice([0, 1, 2, 3, 5, 40])
        else:
            count = int(not is_optional or name == "CENTISECONDS" or self._random.random() < 0.7)
        names = [part] if part in WORDS else [name] if name in WORDS else name.split(" ")
        return [self._word(each) for _ in range(count) for each in names]

    def _word(self, name: str) -> str:
        if name in WORDS:
            return self._random.choice(WORDS[name])
        if name == "FILE":
            return self._random.choice(self._files)
        if name in ("WIDTH", "HEIGHT") and self._random.random() < 0.8:
            return self._random.choice(SIZES)
        return {"COLOR": self._color, "VERTEX": self._vertex}.get(name, self._number)()

    def _number(self) -> str:
        return self._random.choice(TABLES["numbers"])

    def _color(self) -> str:
        colors = ["b", "w", "B", "W", "black", "white", "Black", "WHITE"]
        return self._random.choice(colors if self._random.random() < 0.97 else ["x", "empty", "", "bw", "1", "é"])

    def _vertex(self) -> str:
        if self._random.random() < 0.04:
            return self._random.choice(
                ["I5", "A0", "Z99", "pass", "PASS", "resign", "5A", "A-1", "A1A1", "", "aa1", "\uff21\uff11"]
            )
        if self._random.random() < 0.03:
            return "pass"
        column = LETTERS[self._random.randrange(self.width)]
        vertex = f"{column}{self._random.randrange(self.height) + 1}"
        return vertex.lower() if self._random.random() < 0.3 else vertex


def expected_reply(raw: bytes) -> tuple[int | None, bool, str]:
    """Return (id, whether a reply is due, name of the command), by the rules of the draft for each character."""
    text = ""
    for char in raw.decode("utf-8", "surrogateescape"):
        if char == "#":
            break
        if char == "\t":
            text += " "
        elif ord(char) >= 32 and ord(char) != 127:
            text += char
    while text[:1] in (" ", "\ufeff") and text:
        text = text[1:]
    digits = ""
    while text[len(digits) : len(digits) + 1] in tuple("0123456789"):
        digits += text[len(digits)]
    identifier = int(digits) if 0 < len(digits) <= 18 else None
    if identifier is not None:
        text = text[len(digits) :]
    words = [word for word in text.split(" ") if word]
    return identifier, bool(words), words[0] if words else ""


def write_files(folder: Path) -> None:
    """Write game records, good and hostile, for `loadsgf`."""
    deep = "(;B[aa]" * 3000 + ")" * 3000
    files: dict[str, bytes] = {
        "good 1.sgf": b"(;GM[1]FF[4]SZ[9]KM[6.5]HA[2]AB[cc][gg]RU[Japanese];W[ee];B[dd];W[tt])",
        "setup.sgf": b"(;SZ[7]AB[aa][bb]AW[cc]PL[W];W[dd];B[];W[ee](;B[ff])(;B[aa]))",
        "rectangle.sgf": b"(;SZ[5:4];B[aa];W[bb];B[ed])",
        "illegal.sgf": b"(;SZ[5];B[aa];W[aa])",
        "outside.sgf": b"(;SZ[5];B[zz])",
        "size.sgf": b"(;SZ[1000];B[aa])",
        "size2.sgf": b"(;SZ[-3:x];B[aa])",
        "komi.sgf": b"(;SZ[5]KM[nan]HA[99999999999];B[aa])",
        "latin.sgf": b"(;CA[ISO-8859-1]SZ[5]PB[Andr\xe9];B[aa])",
        "encoding.sgf": b"(;CA[no-such-thing]SZ[5]C[\xff\xfe];B[aa])",
        "junk.sgf": bytes(range(256)) * 20,
        "empty.sgf": b"",
        "open.sgf": b"(;SZ[5];B[aa",
        "deep.sgf": deep.encode(),
        "long.sgf": b"(;SZ[19]" + b";B[aa];W[]" * 150 + b")",
        "comment.sgf": b"(;SZ[5]C[" + b"x\n\n" * 30_000 + b"];B[aa])",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)


_REPLY: Final = re.compile(rb"([=?])([0-9]*)( [^\n]*(?:\n[^\n]+)*|(?<!\?)(?:\n[^\n]+)*)\n\n", re.ASCII)
"""A plain reply, or a stream of lines below a "=" that stands alone."""


@dataclass
class Checker:
    """Sends lines through `ask` and raises AssertionError, with the line, for the first reply that is wrong."""

    ask: Ask
    accepted: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    _state: tuple[bytes, ...] | None = None

    def check(self, line: Line) -> bool:
        """Send one line and check its reply and what it did; return whether it was accepted."""
        before = self._state or tuple(self.ask(_ASK_STATE, len(TABLES["state"])))
        replies = self.ask(line.raw + _ASK_STATE, line.is_command + len(TABLES["state"]))
        self._state = tuple(replies[-len(TABLES["state"]) :])
        assert all(_REPLY.fullmatch(state) for state in self._state), (line.raw[:300], self._state)
        if not line.is_command:
            assert self._state == before, (line.raw, before, self._state)
            return False
        match = _REPLY.fullmatch(replies[0])
        assert match, (line.raw[:300], replies)
        assert match[2] == (b"" if line.id is None else str(line.id).encode()), (line.raw[:300], replies)
        assert b"internal error" not in match[3], (line.raw[:300], replies)
        is_accepted = match[1] == b"="
        counts = self.accepted if is_accepted else self.rejected
        counts[line.name] = counts.get(line.name, 0) + 1
        if not is_accepted or line.name.lower() not in TABLES["changing"]:
            assert self._state == before, (line.raw[:300], replies, before)
        return is_accepted

    def board_size(self) -> tuple[int, int]:
        """Return (width, height) of the board, as it was after the last line."""
        if self._state is None:
            return 19, 19
        sizes = self._state[TABLES["state"].index("query_boardsize")].split()[1:]
        return int(sizes[0]), int(sizes[-1])


def run(
    ask: Ask, *, seed: int, lines: int, folder: Path, progress: Callable[[int], None] = lambda done: None
) -> Checker:
    """Send `lines` generated lines and check all replies; return the checker with its counts."""
    generator = LineGenerator(seed, folder)
    checker = Checker(ask)
    for number in range(lines):
        generator.width, generator.height = checker.board_size()
        checker.check(generator.line())
        progress(number + 1)
    return checker
