r"""The grammar of SGF (FF[4], https://www.red-bean.com/sgf/): where the nodes of a game lie in its text.

Programs write much that the grammar does not allow.  `GameTree` reads as much as can be read and notes what it passed
over: a missing `;` before the first node, brackets in texts without a backslash, a missing end, a value that is cut
off, text between properties, names without values and values without names.

`TreeText` inserts properties and variations without changing the rest.  Readers turn a record into values and lose how
it was written; here everything else stays byte for byte as it was: unknown properties, line breaks, other variations,
other games.  Inserted text is ASCII, and therefore the same in every encoding.  A variation needs parentheses around
what follows in the main line: `;a;b` becomes `;a(;b)(;c)`.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gtp_engine.errors import SgfError, counted, problem
from gtp_engine.sgf.text_encoding import encoding_of, sections_of

_ROOT_NAMES: Final = "FF|GM|SZ|CA|AP|KM|HA|RU|PB|PW|BR|WR|RE|DT|EV|GN|RO|PC|SO|US|AB|AW|PL|KO|TE|RD|TM"
_START: Final = re.compile(rf"\(\s*;|\(\s*(?=(?:{_ROOT_NAMES})\s*\[)|(?=;\s*(?:{_ROOT_NAMES})\s*\[)", re.IGNORECASE)
"""How a game begins: as it should, without `;` as the Nihon Ki-in, Sina and Cyberoro write, or without parenthesis."""

_TOKEN: Final = re.compile(r"\s*(?:(?P<open>\[)|(?P<name>[A-Za-z][A-Za-z0-9_]{0,63})|(?P<mark>[;()]))")
_STRAY: Final = re.compile(r"\s*[^\s;()\[A-Za-z][^;()\[A-Za-z]*")
_VALUE: Final = re.compile(r"[^\\\]]*(?:\\.[^\\\]]*)*", re.DOTALL)
"""The text of a value; where no bracket follows, the value is cut off."""

_NAME: Final = r"[a-z]*[A-Z][A-Za-z0-9_]*\s*\["
_FOLLOWS: Final = re.compile(
    rf"\s*(?:\[|\Z|{_NAME}|;\s*(?:[;()]|\Z|[a-z]+\[|{_NAME})|\(\s*(?:[;(]|{_NAME})|\)[ \t]*(?:[();\r\n]|\Z))"
    rf"|[\r\n]*(?i:{_ROOT_NAMES}|B|W|C|N)\["
)
"""What can follow a value; before anything else a bracket belongs to the text."""

_NEW_NODE: Final = re.compile(rf";\s*{_NAME}")
_POINT_NAMES: Final = "AB AW AE AR B CR DD LN MA OB OW SL SQ TB TR TW VW W"
_NUMBER_NAMES: Final = "BL BM CA DO FF FG GM HA IT MN PL PM ST SZ TE TM WL"
_PLAIN: Final = frozenset(f"{_POINT_NAMES} {_NUMBER_NAMES}".split())
"""Properties whose values have no brackets."""

_LOOK_AHEAD: Final = 20_000
"""Characters of a text in which its end is sought behind brackets."""

_MOST_FAILURES: Final = 100
"""How often it may be sought in vain in a record, which takes time."""

_LOWER_CASE: Final = str.maketrans("", "", "abcdefghijklmnopqrstuvwxyz")
"""Old records write names such as AddBlack; the capitals count."""

_ESCAPE: Final = re.compile(r"\\(\n\r|\r\n|.)|\n\r|\r\n|[\n\r\t\f\v]", re.DOTALL)


_FIRST_PROPERTY: Final = re.compile(r"\(\s*;\s*[A-Za-z]{1,20}\s*\[")


def has_game(text: str, place: int = 0) -> bool:
    """Return whether a game as SGF has it begins after a place: parenthesis, semicolon and a property."""
    return _FIRST_PROPERTY.search(text, place) is not None


class Span(NamedTuple):
    """Where a value lies in a text: from `start` to `end` without brackets; `begin` is the end of what comes before."""

    begin: int
    start: int
    end: int


@dataclass(slots=True)
class Node:
    """A node: where it begins and ends in the text, its properties, and the number of moves in it."""

    start: int
    end: int
    tree: int
    """The number of the game tree that holds the node, in `GameTree.closings`."""
    parent: int | None
    """The number of the node before it in `GameTree.nodes`, None for the root."""
    values: dict[str, list[Span]] = field(default_factory=dict)
    moves: int = 0


class GameTree:
    """The first game in `text` from a place on; raises SgfError if there is none, or nothing is left of it.

    `nodes` are those of the whole tree in the order of the text, `closings` the places of the parentheses that close
    its trees; trees that lack one end with the game.  `notes` are messages about what was passed over; `is_cut` is
    whether the text ends within a value.
    """

    def __init__(self, text: str, place: int = 0) -> None:
        start = _START.search(text, place)
        if start is None:
            raise SgfError("not a readable SGF record: no SGF data found")
        self.text: Final = text
        self.start: Final = start.start()
        self.nodes: Final[list[Node]] = []
        self.closings: Final[list[int]] = []
        self.notes: Final[list[str]] = []
        self.is_cut = False
        self._open: Final[list[tuple[int, int | None]]] = []  # the trees that are open, with the nodes before them
        self._last: int | None = None  # the node before the next one
        self._has_begun = False  # the innermost tree
        self._takes_properties = False
        self._name = ""
        self._name_begin = 0
        self._has_value = False  # the property of this name
        self._is_lower_case: bool | None = None  # known from the first name on
        self._failures = 0
        self.end: Final = self._read()
        self.has_end: Final = not self._open
        if self._open and not any(node.values for node in self.nodes):
            raise SgfError("not a readable SGF record: unexpected end of SGF data")

    def main_line(self) -> list[Node]:
        """Return the nodes of the main line, the root first."""
        line = [0]
        for number, node in enumerate(self.nodes):
            if node.parent == line[-1]:
                line.append(number)
        return [self.nodes[number] for number in line]

    def texts(self, node: Node, name: str) -> list[str]:
        """Return the values of a property without escapes, each on one line; empty if the node has none."""
        return [_ESCAPE.sub(_unescaped, self.text[span.start : span.end]) for span in node.values.get(name, ())]

    def closed_text(self) -> str:
        """Return the text with the parentheses that the game lacks."""
        opening = "" if self.text[self.start] == "(" else "("
        game = self.text[self.start : self.end]
        return f"{self.text[: self.start]}{opening}{game}{')' * len(self._open)}{self.text[self.end :]}"

    def _read(self) -> int:
        """Find all nodes; return where the game ends."""
        place = self.start
        if self.text[place] == ";":
            self._note("the first parenthesis is missing")
            self._open_tree()
        while token := _TOKEN.match(self.text, place) or _STRAY.match(self.text, place):
            if token.re is _STRAY:
                self._end_property()
                self._note("text that belongs to no property was left out")
                place = token.end()
            elif token["name"]:
                self._end_property()
                self._name, self._name_begin = self._property_name(token["name"]), place
                place = token.end()
            elif token["open"]:
                end = self._value_end(token.end())
                if end is None:
                    self._note("the record is cut off in a value")
                    self.is_cut = True
                    place = self._name_begin if self._name and not self._has_value else place
                    self._name = ""
                    break
                self._add_value(Span(place, token.end(), end))
                place = end + 1
            else:
                self._end_property()
                place = token.end()
                self._follow(token["mark"], place - 1)
                if not self._open:
                    return place
        self._end_property()
        self._note("the record has no end")
        for tree, _ in self._open:
            self.closings[tree] = place
        return place

    def _follow(self, mark: str, place: int) -> None:
        """Open or close a tree, or begin a node."""
        self._takes_properties = mark == ";"
        self._has_begun = mark != "("
        if mark == "(":
            self._open_tree()
        elif mark == ";":
            self._add_node(place)
        else:
            tree, self._last = self._open.pop()
            self.closings[tree] = place

    def _open_tree(self) -> None:
        self._open.append((len(self.closings), self._last))
        self.closings.append(len(self.text))

    def _add_node(self, place: int) -> None:
        self.nodes.append(Node(place, place + 1, self._open[-1][0], self._last))
        self._last = len(self.nodes) - 1

    def _property_name(self, written: str) -> str:
        """Return the name of a property; small letters count only if the first name of the record has no others."""
        if self._is_lower_case is None:
            self._is_lower_case = written.islower()
        if not written.islower():
            return written.translate(_LOWER_CASE)
        return written.upper() if self._is_lower_case else written

    def _end_property(self) -> None:
        if self._name and not self._has_value:
            self._note("a property without a value was left out")
        self._name, self._has_value = "", False

    def _add_value(self, span: Span) -> None:
        """Add a value to the property that was named last."""
        if not self._name or (self._has_begun and not self._takes_properties):
            self._note("a value that belongs to no property was left out")
            return
        if not self._takes_properties:
            self._note("the semicolon before a node is missing")
            self._add_node(self._name_begin)
            self._has_begun = self._takes_properties = True
        node = self.nodes[-1]
        begin = span.begin if self._has_value else self._name_begin
        node.values.setdefault(self._name, []).append(span._replace(begin=begin))
        node.end = span.end + 1
        node.moves += self._name in ("B", "W")
        self._has_value = True

    def _value_end(self, start: int) -> int | None:
        """Return where the value that begins there ends, None if the text ends before.

        A bracket without a backslash is one of the text if nothing that can follow a value follows it.
        """
        text, end = self.text, self._bracket(start)
        if end is None or self._name in _PLAIN or self._failures > _MOST_FAILURES:
            return end
        later: int | None = end
        while later is not None and later < start + _LOOK_AHEAD:
            if _FOLLOWS.match(text, later + 1):
                if _NEW_NODE.search(text, end, later):
                    break
                if later > end:
                    self._note("brackets in a text lack a backslash")
                return later
            later = self._bracket(later + 1)
        self._failures += 1
        return end

    def _bracket(self, place: int) -> int | None:
        """Return the place of the next closing bracket without a backslash, None if there is none."""
        found = _VALUE.match(self.text, place)
        assert found is not None, "it may be empty"
        return found.end() if self.text[found.end() : found.end() + 1] == "]" else None

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


class TreeText:
    """The first game of a record, as text; `nodes` are those of its main line, `all_nodes` have the variations too.

    Parentheses that the game lacks are added.  Raises SgfError if there is no game, or its bytes would not survive
    being decoded and encoded.
    """

    def __init__(self, data: bytes) -> None:
        text, self._encoding = _decoded(data)
        tree = GameTree(text)
        if (closed := tree.closed_text()) != text:
            tree = GameTree(closed)
        self._text: Final = tree.text
        self._closings: Final = tree.closings
        self.nodes: Final = tree.main_line()
        self.all_nodes: Final = tree.nodes
        self._insertions: Final[dict[int, list[str]]] = {}
        self._removed: Final[dict[int, int]] = {}

    def nodes_by_moves(self) -> dict[int, int]:
        """Return for each number of moves the number (in `nodes`) of the last node after that many moves.

        A number of moves that is reached only within a node has no entry.
        """
        found, moves = {}, 0
        for number, node in enumerate(self.nodes):
            moves += node.moves
            found[moves] = number
        return found

    def paths(self) -> Iterator[list[int]]:
        """Yield the numbers (in `all_nodes`) of the nodes from the root to each end of the tree, main line first."""
        parents = {node.parent for node in self.all_nodes}
        for number in range(len(self.all_nodes)):
            if number not in parents:
                path: list[int] = []
                node: int | None = number
                while node is not None:
                    path.append(node)
                    node = self.all_nodes[node].parent
                yield path[::-1]

    def line(self, path: list[int]) -> bytes:
        """Return a record of these nodes alone, as they are in the original."""
        byte_order_mark = self._text[:1] if self._text.startswith("\ufeff") else ""
        nodes = (self.all_nodes[number] for number in path)
        texts = "".join(f";{self._text[node.start : node.end].removeprefix(';')}" for node in nodes)
        return _encoded(f"{byte_order_mark}({texts})", self._encoding)

    def add_property(self, node: Node, name: str, value: str) -> bool:
        """Add a property to a node unless it has the property already; return whether it was added."""
        return self.add_values(node, name, [value])

    def add_values(self, node: Node, name: str, values: list[str]) -> bool:
        """Add a property with these values unless the node has it or there are none; return whether it was added."""
        if name in node.values or not values:
            return False
        self._insert(node.end, name + "".join(f"[{escaped(value)}]" for value in values))
        return True

    def remove_properties(self, node: Node, names: Collection[str]) -> None:
        """Remove the properties of these names from a node, as far as it has them."""
        for name in names:
            self._removed.update((span.begin, span.end + 1) for span in node.values.pop(name, ()))

    def add_comment(self, node: Node, text: str) -> None:
        """Add a comment to a node, below the one that it has."""
        if "C" in node.values:
            self._insert(node.values["C"][-1].end, "\n\n" + escaped(text))
        else:
            self._insert(node.end, f"C[{escaped(text)}]")

    def add_variations(self, variations: dict[int, list[str]]) -> None:
        """Add variations, each as the text of its nodes, by the number of the node (in `nodes`) after which they begin.

        May be called only once.  The last node gets none, because a variation there would continue the main line.
        """
        for number in sorted(variations, reverse=True):
            if number >= len(self.nodes) - 1:
                continue
            node, following = self.nodes[number], self.nodes[number + 1]
            texts = "".join(f"\n({text})" for text in variations[number])
            closing = self._closings[node.tree]
            if following.tree == node.tree:
                self._insert(following.start, "\n(")
                self._insert(closing, ")" + texts)
            else:
                self._insert(closing, texts)

    def to_bytes(self) -> bytes:
        """Return the record with everything inserted and removed, in its own encoding."""
        pieces, last = [], 0
        for place in sorted(self._insertions.keys() | self._removed.keys()):
            pieces += [self._text[last:place], *self._insertions.get(place, ())]
            last = self._removed.get(place, place)
        return _encoded("".join([*pieces, self._text[last:]]), self._encoding)

    def _insert(self, place: int, text: str) -> None:
        self._insertions.setdefault(place, []).append(text)


def games_in(data: bytes) -> list[bytes]:
    """Return the games of an SGF collection, each with its original bytes; text between games is left out.

    A game that is not closed ends with the file.  Raises SgfError for bytes that cannot be decoded and encoded again.
    """
    return [game for section in sections_of(data) for game in _games_in_section(section)]


def game_in(data: bytes, number: int | None) -> bytes:
    """Return a game of a collection by its number, from 1; None is for a file of one game, which stays as it is.

    A file that `games_in` refuses counts as one game.  Raises SgfError for None and several games, and for a number
    that is too large.
    """
    try:
        games = games_in(data)
    except SgfError:
        games = [data]
    if number is None and len(games) > 1:
        advice = "name one with --game N, or split the file"
        raise SgfError(problem(f"{counted(len(games), 'game')} in one file", expected="one", advice=advice))
    if number is not None and number > len(games):
        raise SgfError(problem(f"game {number} of {len(games)}", expected=f"1 to {len(games)}"))
    return data if len(games) < 2 else games[(number or 1) - 1]


def _games_in_section(data: bytes) -> list[bytes]:
    """Return the games of a part of a collection that has one encoding."""
    text, encoding = _decoded(data)
    byte_order_mark = text[:1] if text.startswith("\ufeff") else ""
    games: list[bytes] = []
    place = 0
    while True:
        try:
            tree = GameTree(text, place)
        except SgfError:
            return games
        place = tree.end if tree.has_end else len(text)
        games.append(_encoded(byte_order_mark + text[tree.start : place], encoding))


def _decoded(data: bytes) -> tuple[str, str]:
    """Return a record as text, and its encoding; raises SgfError if `_encoded` would not give the same bytes."""
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding, "surrogateescape")
        if _encoded(text, encoding) == data:
            return text, encoding
    except UnicodeError:
        pass
    raise SgfError(problem(f"SGF record whose bytes in {encoding} cannot be kept", advice="save it in UTF-8"))


def _encoded(text: str, encoding: str) -> bytes:
    """Return text as the bytes of a record; bytes that could not be decoded are restored."""
    return text.encode(encoding, "surrogateescape")


def escaped(text: str) -> str:
    """Return text as an SGF value: in ASCII, "?" for other characters, and with SGF's escapes."""
    plain = text.encode("ascii", "replace").decode("ascii")
    return re.sub(r"([\\\]])", r"\\\1", plain)


def _unescaped(found: re.Match[str]) -> str:
    """Return what an escape or white space stands for: a character, a blank, or nothing for an escaped line break."""
    character: str | None = found[1]
    if character is None or character in "\t\f\v":
        return " "
    return "" if character.startswith(("\n", "\r")) else character
