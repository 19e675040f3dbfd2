"""The nodes of a game in the text of a record: read by sgfmill's grammar (https://mjw.woodcraft.me.uk/sgfmill/).

Of text that is strictly valid, nodes that are just a move are known by their text, and others go to the grammar as they
are; `sgf.repair` finds the nodes of anything else.  Bytes here are UTF-8, whatever the record is in.
"""

import itertools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Generic, Self, TypeVar

from gtp_engine.base.errors import SgfError
from gtp_engine.sgf.foreign.encodings import as_text
from gtp_engine.sgf.repair import FIRST, MOVE_FOLLOWS, WORDS, LookAhead, Part, Properties, Repair, check_empty_nodes

with warnings.catch_warnings():  # of "\ " in a text of sgfmill 1.1.1, where uv has installed it without compiling it
    warnings.simplefilter("ignore")
    from sgfmill import sgf_grammar

_START: Final = re.compile(
    rb"\(\s*;(?![^\[()]*\))|\(\s*(?=%s)|(?=;\s*%s)|\A\s*(?=%s)" % (FIRST, FIRST, FIRST), re.IGNORECASE
)
"""How a game begins: as it should, without `;` as the Nihon Ki-in, Sina and Cyberoro write, or without parenthesis.

Without both, it begins with the text.  A tree that is closed before its first value, as a smiley in a letter, is none.
"""
_EMPTY: Final = re.compile(rb"\(\s*;")
"""How a game begins that has no values at all."""
_FIRST_PROPERTY: Final = re.compile(rb"\(\s*;\s*[A-Za-z]{1,20}\s*\[")

# (?>…) and not (?:…)*+: CPython 3.11.2, Debian 12's, repeats groups wrongly in possessive quantifiers (gh-101955).
_VALUE: Final = rb"\[(?>(?:[^\\\[\]]|\\.|\[[^\\\[\]]*+\\\]|(?<![A-Za-z])\[)*)\]\s*+"
"""A value whose brackets have a backslash, but for opening ones before such a one, or behind no letter as in ":["."""
_PROPERTY: Final = rb"(?![BW]\s*+\[)(?:[A-Z]{1,2}|(?!(?:%s)\s*+\[)[A-Z]{3,64}+)\s*+(?>(?:%s)+)" % (
    b"|".join(WORDS),
    _VALUE,
)
_NODE: Final = rb";\s*+(?>(?:%s)*)(?>(?:[BW]\s*+\[[A-Za-z]{0,2}\]\s*+(?>(?:%s)*))?)" % (_PROPERTY, _PROPERTY)
_PART: Final = re.compile(rb"(\()\s*+(?=;)|(\))\s*+|;([BW]\[[a-y]{2}\])\s*+(?=[;()])|%s" % _NODE, re.DOTALL)
"""A parenthesis, a node that is just a move, or another one without anything that `repair` knows."""

_VALID_LINE: Final = re.compile(rb"(?P<root>\(\s*+%s)(?>(?:%s)*)\)" % (_NODE, _NODE), re.DOTALL)
"""Such text of a game without variations."""

_ENDS: Final = re.compile(rb"(?!%s)[ \t]*(?:[();\r\n]|\Z)" % MOVE_FOLLOWS.pattern)
"""What follows the end of a game, and not a parenthesis too many or a bracket of a text."""

_MOST_INVALID: Final = 20
"""Games of a file after which each is repaired at once: only at its end does one show that it is not valid."""

_MOVES: Final = {
    b"%s[%s]" % (name, bytes(point)): {name.decode(): [bytes(point).decode()]}
    for name in (b"B", b"W")
    for point in itertools.product(b"abcdefghijklmnopqrstuvwxy", repeat=2)
}
"""The properties of nodes that have nothing but a move, by their text: all such nodes share them."""

_ON_BOARDS: Final = re.compile(r"\s*(?!(?:tt|zz)\s*\Z)[a-z]{2}\s*")
"""Values of moves other than passes."""
_IS_MOVE: Final = re.compile(r"[\s\[();]*(?:[A-Za-z`]{2}|[A-Za-z][0-9]{1,2}|pass)?[\s\[();]*", re.IGNORECASE)
"""Values of moves that are not those of a name that has lost a letter, as `B[Ann]`."""
_ESCAPE: Final = re.compile(r"\\(\n\r|\r\n|.)|\n\r|\r\n|[\n\r\t\f\v]", re.DOTALL)
_LINE_LENGTH: Final = 79
"""Bytes of a line that is written, as sgfmill and GNU Go write them."""


def has_game(data: bytes, place: int = 0) -> bool:
    """Return whether a game as SGF has it begins after a place: parenthesis, semicolon and a property."""
    return _FIRST_PROPERTY.search(data, place) is not None


class TextNode:
    """A node: its properties in their order, with values as they are written, and its place in the tree.

    `raw` is never changed but replaced, so that whether a node has been edited shows by it.
    """

    __slots__ = ("children", "parent", "raw")

    def __init__(self, parent: Self | None) -> None:
        self.parent: Self | None = parent
        self.children: list[Self] = []
        self.raw: dict[str, list[str]] = {}
        """Values with their escapes, by the names of their properties."""

    @property
    def names(self) -> list[str]:
        """The names of its properties, each once, in their order."""
        return list(self.raw)

    @property
    def moves(self) -> int:
        """The number of moves in it: no more than one, unless it has been edited so."""
        return len(self.raw.get("B", ())) + len(self.raw.get("W", ()))

    def move_texts(self) -> list[tuple[str, str]]:
        """Return the names, "B" or "W", and values of its moves in their order, each on one line."""
        return [(name, text) for name in self.raw if name in ("B", "W") for text in self.texts(name)]

    def texts(self, name: str) -> list[str]:
        """Return the values of a property without escapes, each on one line; empty if the node has none."""
        return [_ESCAPE.sub(_on_one_line, value) for value in self.raw.get(name, ())]

    def get(self, name: str) -> list[str]:
        """Return the values of a property without escapes, with their line breaks; [] if the node has none."""
        return [_ESCAPE.sub(_on_its_lines, value) for value in self.raw.get(name, ())]

    def path(self) -> list[Self]:
        """Return the nodes from the root to this one."""
        line, node = [self], self.parent
        while node is not None:
            line.append(node)
            node = node.parent
        return line[::-1]


N = TypeVar("N", bound=TextNode)


def main_line_from(node: N) -> list[N]:
    """Return a node and what follows it along the first variations."""
    line = [node]
    while line[-1].children:
        line.append(line[-1].children[0])
    return line


@dataclass(frozen=True)
class GameText(Generic[N]):
    """A game in text: where it begins and ends, and its nodes in the order of the text.

    `notes` are messages about what was passed over; `cut` is the node in which the text ends early, within a value.
    """

    start: int
    end: int
    nodes: list[N]
    notes: list[str]
    cut: N | None = None
    has_end: bool = True


def parse_game(
    data: bytes, make: Callable[[N | None], N], place: int = 0, ahead: LookAhead | None = None
) -> GameText[N]:
    """Return the first game from a place on, with nodes made by `make` from their parents.

    `ahead` is for all games of a file.  Raises SgfError if there is none, or nothing is left of it.
    """
    ahead = ahead or LookAhead(data)
    found = _START.search(data, place) or (None if place else _EMPTY.search(data))
    if found is None:
        hint = "; read the file first, as GameTree.load does" if data[-4:].lower() == b".sgf" else ""
        raise SgfError(f"not a readable SGF record: no SGF data found{hint}")
    start = found.start()
    if ahead.invalid < _MOST_INVALID and (valid := _valid_parts(data, start)):
        parts, end = valid
        nodes, notes = _nodes(parts, make)
        return GameText(start, end, nodes, notes)
    ahead.invalid += 1
    repair = Repair(data, start, ahead)
    if not repair.has_values and (repair.notes or not repair.has_end):
        what = "no property has a value" if repair.has_end else "unexpected end of SGF data"
        raise SgfError(f"not a readable SGF record: {what}")
    nodes, notes = _nodes(repair.parts, make)
    cut = nodes[-1] if repair.is_cut else None
    return GameText(start, repair.end, nodes, [*repair.notes, *notes], cut, repair.has_end)


def _valid_parts(data: bytes, start: int) -> tuple[list[Part], int] | None:
    """Return the parts of a game that is valid, and where it ends."""
    parts, place, depth = list[Part](), start, 0
    for found in _PART.finditer(data, start):
        opening, closing, move = found.groups()
        if found.start() != place or not (depth or opening):
            break
        place = found.end()
        if move:
            parts.append(_MOVES[move])
        elif not (opening or closing):
            parts.append(_properties(found[0]))
        else:
            parts.append(opening or closing)
            depth += 1 if opening else -1
            if depth == 0:
                end = found.start() + 1
                return (parts, end) if _ENDS.match(data, end) else None
    return None


def _properties(node: bytes) -> Properties:
    """Return the properties in the text of a valid node."""
    found: Properties = {}
    values: list[str] = []
    for kind, token in sgf_grammar.tokenise(b"(" + node)[0][2:]:  # behind parenthesis and semicolon
        if kind == "I":
            values = found.setdefault(token.decode(), [])
        else:
            values.append(as_text(token))
    return found


def valid_line(data: bytes, place: int, ahead: LookAhead) -> re.Match[bytes] | None:
    """Return the first game from a place on if it is valid and has no variations, with its first node as `root`."""
    found = _START.search(data, place) if ahead.invalid < _MOST_INVALID else None
    line = None if found is None else _VALID_LINE.match(data, found.start())
    return line if line and _ENDS.match(data, line.end()) else None


def _nodes(parts: list[Part], make: Callable[[N | None], N]) -> tuple[list[N], list[str]]:
    """Return the nodes of a game in their order, and notes on them; raises SgfError where too many are empty."""
    nodes: list[N] = []
    before: list[N | None] = []  # the nodes before the trees that are open
    last: N | None = None
    mover, may_repeat, empty = "", False, 0
    for part in parts:
        if part == b"(":
            before.append(last)
        elif isinstance(part, bytes):
            last = before.pop()
        else:
            node = make(last)
            node.raw = part
            nodes.append(node)
            if last is not None:
                last.children.append(node)
                if not last.raw:
                    empty += 1
                    check_empty_nodes(empty)
            last = node
            if name := "B" if "B" in part else "W" if "W" in part else "":
                may_repeat = may_repeat or name == mover
                mover = name
    notes = _without_repetitions(nodes) if may_repeat else []
    root = {name: of for name, of in nodes[0].raw.items() if name not in ("B", "W") or _IS_MOVE.fullmatch(of[0])}
    if 0 < len(root) < len(nodes[0].raw):
        nodes[0].raw = root
        notes.append("a value that belongs to no property was left out")
    return nodes, notes


def _without_repetitions(nodes: Iterable[TextNode]) -> list[str]:
    """Take out moves that are written twice, one after the other, which could not be played; return a note on that."""
    lasts: dict[TextNode | None, tuple[str, list[str]] | None] = {None: None}
    notes = []
    for node in nodes:
        raw, last = node.raw, lasts[node.parent]
        if "AB" in raw or "AW" in raw or "AE" in raw:
            last = None
        name = "B" if "B" in raw else "W"
        if name in raw:
            if last == (name, raw[name]) and _ON_BOARDS.fullmatch(raw[name][0]):
                notes = ["a move that is written twice counts once"]
                node.raw = {each: kept for each, kept in raw.items() if each != name}
            else:
                last = name, raw[name]
        lasts[node] = last
    return notes


def lines_of(root: TextNode) -> Iterator[str]:
    """Yield the text of a tree in lines of at most _LINE_LENGTH bytes, unless a property is longer."""
    line, length = "", 0
    for piece in _pieces(root):
        size = len(piece.encode("utf-8", "surrogatepass"))
        if length + size > _LINE_LENGTH or (piece == "(" and line):
            yield line
            line, length = "", 0
        line, length = line + piece, length + size
    yield line


def _pieces(root: TextNode) -> Iterator[str]:
    """Yield what is not broken between two lines: marks and properties."""
    waiting: list[TextNode | str] = [")", root, "("]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
            continue
        yield ";"
        yield from (property_text(name, values) for name, values in node.raw.items())
        for child in reversed(node.children):
            waiting += [")", child, "("] if len(node.children) > 1 else [child]


def property_text(name: str, values: list[str]) -> str:
    """Return a property as SGF writes it."""
    return name + "".join(f"[{value}]" for value in values)


def _on_one_line(found: re.Match[str]) -> str:
    """Return what an escape or white space stands for: a character, a blank, or nothing for an escaped line break."""
    character: str | None = found[1]
    if character is None or character in "\t\f\v":
        return " "
    return "" if character.startswith(("\n", "\r")) else character


def _on_its_lines(found: re.Match[str]) -> str:
    """Return the same where line breaks count."""
    return "\n" if found[1] is None and found[0][0] in "\r\n" else _on_one_line(found)
