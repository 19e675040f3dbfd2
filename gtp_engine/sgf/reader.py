r"""Reads SGF: bytes to `SgfRecord`.

Only the first game of a collection is read, always along its first variation, with the properties in `SgfRecord`.
Everything else (comments, clocks, marks, other variations) is skipped.

Encodings: SGF names the encoding in CA, but in Chinese, Japanese and Korean encodings the second byte of a character
may look like "]" or "\", so the file is decoded first and then parsed.  A byte order mark has precedence, then CA if it
is one of the usual encodings, then UTF-8, then one that words about Go suggest (`guessed_encoding`), and last Latin-1,
SGF's default, in which any bytes are valid.  Games of a collection may each name their own.

Limits against malicious files: `MAX_BYTES`, `MAX_TOKENS`, `MAX_MOVES`, `MAX_LATER_SETUPS`.  A file within them takes a
few seconds and a few hundred megabytes at most.  Nesting needs no limit, because nothing here is recursive.
"""

import codecs
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Final

from sgfmill import sgf_grammar

from gtp_engine.errors import HandicapError, IllegalMoveError, SgfError, problem, shown, shown_path
from gtp_engine.go.constants import BLACK, EMPTY, WHITE, Move
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.go.rules import Rules
from gtp_engine.sgf import values
from gtp_engine.sgf.guessed_encoding import guessed_encoding
from gtp_engine.sgf.record import LaterSetup, SgfRecord, usual_first_player

MAX_BYTES: Final = 4 * 2**20
"""Largest file read; the largest joseki dictionaries have about 3 MiB, a game has 10 KiB."""
MAX_TOKENS: Final = 500_000
"""Greatest number of opening parentheses, semicolons and opening brackets together, also in comments."""
MAX_MOVES: Final = 10_000
"""Longest main line; the longest games on 25x25 have about 2,000 moves."""
MAX_LATER_SETUPS: Final = 1_000
"""Greatest number of changes of the position after the first move; each takes as long as dozens of moves."""

_DEFAULT_SIZE: Final = "19"
_GAME_OF_GO: Final = "1"
_CHARSET: Final = re.compile(rb"[;\]]\s*CA\s*\[\s*([A-Za-z0-9_:.\-]{1,40})\s*\]")
_NEXT_CHARSET: Final = re.compile(
    rb"\)\s*(?=\(\s{0,20};(?:(?!\)\s{0,20}\().){0,400}?(?<=[;\]])\s{0,20}CA\s{0,20}\[)", re.DOTALL
)
"""The end of a game if the next one names its encoding in its first 400 bytes; the limits keep the search linear."""
_CODECS: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "cp950": "cp950",
    "shift_jis": "cp932",
    "cp932": "cp932",
    "euc_jp": "euc_jp",
    "euc_kr": "cp949",
    "cp949": "cp949",
    "koi8-r": "koi8-r",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1252": "cp1252",
    "iso8859-2": "iso8859-2",
    "iso8859-5": "iso8859-5",
    "iso8859-15": "iso8859-15",
}
"""Encodings in CA besides UTF-8 and Latin-1 (Python's canonical names), and the supersets they are read as.

Python's own list also contains codecs that are not text encodings or not supersets of ASCII.
"""

_OTHER_NAMES: Final = {"windows-31j": "cp932"}
"""Registered names of encodings that Python does not know; it knows those with "x-" without that prefix."""

_BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_Node = dict[str, list[bytes]]


def read_sgf_file(path: str) -> bytes:
    """Return the contents of a regular file; raises SgfError when there is none or it is too large."""
    try:
        # Devices and pipes could be endless or block forever.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise SgfError(problem(f"cannot open {shown_path(path)}", expected="a regular file"))
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, SgfError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a file name"
        raise SgfError(f"cannot open {shown_path(path)}: {reason}") from None
    _check_length(data)
    return data


def parse_sgf(data: bytes) -> SgfRecord:
    """Return the main line of the first game in `data`; raises SgfError.

    Stones and moves must be on the board; whether moves are legal is checked by `record_to_game`.
    """
    _check_length(data)
    nodes = _main_line(_decode(data).encode("utf-8", "replace"))
    root = _Root(next(nodes))
    line = _MainLine(*root.size())
    line.add(root.node)
    for node in nodes:
        line.add(node)
    return _record(root, line)


def _check_length(data: bytes) -> None:
    if len(data) > MAX_BYTES:
        raise SgfError(f"the SGF record is too long: expected at most {MAX_BYTES} bytes")


def _decode(data: bytes) -> str:
    """Return `data` as text, see the module's docstring; bytes that are invalid in the encoding become U+FFFD."""
    return data.decode(encoding_of(data), "replace").removeprefix("\ufeff")


def encoding_of(data: bytes) -> str:
    """Return the encoding of a record's first game, as Python names it; see the module's docstring."""
    if data.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if data.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    data = sections_of(data)[0]
    charset = _CHARSET.search(data)
    name = "" if charset is None else charset[1].decode("ascii").lower().removeprefix("x-")
    try:
        canonical = codecs.lookup(_OTHER_NAMES.get(name, name)).name
    except LookupError:
        canonical = ""
    if data.startswith(codecs.BOM_UTF8) or canonical == "utf-8":
        # In UTF-8 a broken character never hides a bracket, so the rest of the file can still be read.
        return "utf-8"
    for encoding in (_CODECS.get(canonical), "utf-8" if canonical != "iso8859-1" else None):
        if encoding is not None:
            try:
                data.decode(encoding)
            except UnicodeDecodeError:
                continue
            return encoding
    return (guessed_encoding(data) if canonical != "iso8859-1" else None) or "latin-1"


def sections_of(data: bytes) -> list[bytes]:
    """Return the parts of a collection that have one encoding each: games that name none belong to the one before."""
    if data.startswith(_BYTE_ORDER_MARKS):
        return [data]
    cuts = [end.end() for end in _NEXT_CHARSET.finditer(data)]
    return [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]


def _main_line(data: bytes) -> Iterator[_Node]:
    """Return the nodes of the first game's main line, root first; raises SgfError without a well-formed game."""
    if sum(data.count(mark) for mark in (b"(", b";", b"[")) > MAX_TOKENS:
        raise SgfError(f"the SGF record is too large: expected at most {MAX_TOKENS} nodes and values")
    try:
        tree = sgf_grammar.parse_sgf_game(data)
    except ValueError as error:
        raise SgfError(f"not a readable SGF record: {error}") from None
    nodes: Iterator[_Node] = sgf_grammar.main_sequence_iter(tree)
    return nodes


def _texts(node: _Node, name: str) -> list[str]:
    """Return the values of a property, decoded and without escapes; empty when the node does not have it."""
    return [sgf_grammar.simpletext_value(raw).decode("utf-8") for raw in node.get(name, ())]


class _Root:
    """The root node's properties of the whole game; `notes` collects messages about values that were not used."""

    def __init__(self, node: _Node) -> None:
        self.node = node
        self.notes: list[str] = []
        game = self.text("GM")
        if game not in (None, _GAME_OF_GO):
            raise SgfError(problem(f"the record is of another game, GM[{shown(game)[1:-1]}]", expected="GM[1], Go"))

    def text(self, name: str) -> str | None:
        """Return the first value of a property on one line, without blanks around it; None if it is absent or empty.

        Terminals and front ends show names and results, so control characters in them become blanks.
        """
        found = _texts(self.node, name)
        return (values.one_line(found[0]).strip() or None) if found else None

    def size(self) -> tuple[int, int]:
        return values.parse_size(self.text("SZ") or _DEFAULT_SIZE)

    def komi(self) -> float | None:
        text = self.text("KM")
        if text is None:
            return None
        komi = values.parse_komi(text, applications=_texts(self.node, "AP"))
        if komi is None:
            self.notes.append(f"komi {shown(text)} is not a number and was ignored")
        return komi

    def rules(self) -> Rules | None:
        text = self.text("RU")
        if text is None:
            return None
        rules = values.parse_rules(text)
        if rules is None:
            self.notes.append(f"rules {shown(text)} are unknown and were ignored")
        return rules

    def handicap(self) -> int:
        text = self.text("HA")
        if text is None:
            return 0
        handicap = values.parse_handicap(text)
        if handicap is None:
            self.notes.append(f"handicap {shown(text)} is not a number and was ignored")
        return handicap or 0


@dataclass
class _MainLine:
    """The stones and moves of the nodes added so far."""

    width: int
    height: int
    stones: dict[int, int] = field(default_factory=dict)
    """Colour by point of the position before the first move."""
    first_player: int | None = None
    moves: list[Move] = field(default_factory=list)
    later_setups: list[LaterSetup] = field(default_factory=list)

    def add(self, node: _Node) -> None:
        """Add a node: first its set-up, then its moves (SGF forbids both in one node, programs do it)."""
        if not node.keys().isdisjoint(("AB", "AW", "AE", "PL")):
            self._add_setup(node)
        # In the order of the node, for the rare one that has moves of both colours.
        for name in node:
            if name in ("B", "W"):
                self._add_moves(BLACK if name == "B" else WHITE, _texts(node, name))

    def _add_moves(self, color: int, points: list[str]) -> None:
        for text in points:
            if len(self.moves) >= MAX_MOVES:
                raise SgfError(f"the SGF record has too many moves: expected at most {MAX_MOVES}")
            try:
                point = values.parse_move_point(text, width=self.width, height=self.height)
            except SgfError as error:
                raise SgfError(f"move {len(self.moves) + 1}: {error}") from None
            self.moves.append(Move(color, point))

    def _add_setup(self, node: _Node) -> None:
        black, white, emptied = (
            values.parse_points(_texts(node, name), width=self.width, height=self.height) for name in ("AB", "AW", "AE")
        )
        named = [*black, *white, *emptied]
        if len(set(named)) < len(named):
            point = values.format_point(next(p for p in named if named.count(p) > 1), width=self.width)
            raise SgfError(problem(f"point {shown(point)} in two of AB, AW and AE", expected="one of them in a node"))
        player = _parse_player(_texts(node, "PL"))
        if not self.moves:
            self.stones.update(dict.fromkeys(black, BLACK) | dict.fromkeys(white, WHITE))
            self.stones.update(dict.fromkeys(emptied, EMPTY))
            self.first_player = player or self.first_player
        elif named or player:
            if len(self.later_setups) >= MAX_LATER_SETUPS:
                raise SgfError(f"the SGF record has too many set-up nodes: expected at most {MAX_LATER_SETUPS}")
            stones = *(Move(BLACK, point) for point in black), *(Move(WHITE, point) for point in white)
            self.later_setups.append(LaterSetup(len(self.moves), stones, emptied, player))


def _parse_player(texts: list[str]) -> int | None:
    """Return the colour of a PL value ("B", "black", in any case); None if it is absent or invalid."""
    return {"b": BLACK, "w": WHITE}.get(texts[0].strip().lower()[:1]) if texts else None


def _record(root: _Root, line: _MainLine) -> SgfRecord:
    handicap, rules = root.handicap(), root.rules()
    stones = tuple(Move(color, point) for point, color in line.stones.items() if color != EMPTY)
    if handicap and not stones:
        handicap, stones = _handicap_without_stones(handicap, line, rules, root.notes)
    elif handicap and len(stones) != handicap:
        root.notes.append(f"handicap {handicap} does not fit the {len(stones)} stones set up; the stones count")
    if handicap and stones:
        handicap = len(stones) if all(stone.color == BLACK for stone in stones) else 0
    return SgfRecord(
        width=line.width,
        height=line.height,
        komi=root.komi(),
        rules=rules,
        handicap=handicap,
        setup_stones=stones,
        first_player=line.first_player or usual_first_player(stones, line.moves),
        moves=tuple(line.moves),
        later_setups=tuple(line.later_setups),
        black_name=root.text("PB"),
        white_name=root.text("PW"),
        result=root.text("RE"),
        black_rank=root.text("BR"),
        white_rank=root.text("WR"),
        date=root.text("DT"),
        notes=tuple(root.notes),
    )


def _handicap_without_stones(
    handicap: int, line: _MainLine, rules: Rules | None, notes: list[str]
) -> tuple[int, tuple[Move, ...]]:
    """Return the handicap of a record that has HA without AB, 0 if it is ignored, and its stones.

    Some programs record them as Black's first moves: then they stay moves.  Others (the Fox server, at times) omit the
    stones if they are on the fixed points; this is assumed if White moves first, and the moves can be played then.
    """
    leading = sum(1 for _ in takewhile(lambda move: move.color == BLACK, line.moves))
    if leading >= handicap:
        return handicap, ()
    if not line.moves or line.moves[0].color == WHITE:
        try:
            points = fixed_handicap_points(handicap, line.width, line.height)
        except HandicapError:
            points = ()
        stones = tuple(Move(BLACK, point) for point in points)
        if stones and _can_be_played(line, stones, rules):
            notes.append(f"handicap {handicap} without stones: the fixed places were assumed")
            return handicap, stones
    notes.append(f"handicap {handicap} without stones was ignored")
    return 0, ()


def _can_be_played(line: _MainLine, stones: tuple[Move, ...], rules: Rules | None) -> bool:
    """Return whether the moves, up to a change of the position, can be played after handicap `stones`."""
    game = Game(line.width, line.height, rules)
    game.set_up(stones, WHITE)
    end = line.later_setups[0].move_index if line.later_setups else len(line.moves)
    try:
        for move in line.moves[:end]:
            game.play(move, allow_superko=True)
    except IllegalMoveError:
        return False
    return True
