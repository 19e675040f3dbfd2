"""TreeText: the text of a record, in which properties and variations are inserted without changing the rest.

Other readers turn a record into values and lose how it was written.  This one finds where the nodes of the first game's
main line lie in the text, so that everything else stays byte for byte as it was: unknown properties, line breaks, other
variations, other games.  Inserted text is ASCII, and therefore the same in every encoding.

A variation needs parentheses around what follows in the main line: `;a;b` becomes `;a(;b)(;c)`.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from gtp_engine.errors import SgfError, counted, problem
from gtp_engine.sgf.reader import encoding_of, sections_of

_START: Final = re.compile(r"\(\s*;")
_TOKEN: Final = re.compile(
    r"\s*(?:\[(?P<value>[^\\\]]*(?:\\.[^\\\]]*)*)\]|(?P<name>[A-Za-z]{1,64})|(?P<mark>[;()]))", re.DOTALL
)
"""The tokens of sgfmill's grammar, with which records are read."""

_LOWER_CASE: Final = str.maketrans("", "", "abcdefghijklmnopqrstuvwxyz")
"""Old records write names such as AddBlack; the capitals count."""


@dataclass
class Node:
    """A node: where it begins and ends in the text, and its properties.

    `properties` maps each property's name to the place in the text where its last value ends, before the bracket;
    `moves` is the number of moves in the node.
    """

    start: int
    end: int
    tree: int
    """Depth of the game tree that holds the node; 0 is the outermost."""
    parent: int | None
    """The number of the node before it in `TreeText.all_nodes`, None for the root."""
    properties: dict[str, int] = field(default_factory=dict)
    moves: int = 0


class TreeText:
    """The first game of a record, as text; `nodes` are those of its main line, `all_nodes` have the variations too.

    Raises SgfError if the record has no well-formed game, or its bytes would not survive being decoded and encoded.
    """

    def __init__(self, data: bytes) -> None:
        self._text, self._encoding = _decoded(data)
        self.nodes: Final[list[Node]] = []
        self.all_nodes: Final[list[Node]] = []
        self._closings: Final[dict[int, int]] = {}
        self._find_nodes()
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
        texts = "".join(self._text[node.start : node.end] for node in nodes)
        return _encoded(f"{byte_order_mark}({texts})", self._encoding)

    def add_property(self, node: Node, name: str, value: str) -> bool:
        """Add a property to a node unless it has the property already; return whether it was added."""
        return self.add_values(node, name, [value])

    def add_values(self, node: Node, name: str, values: list[str]) -> bool:
        """Add a property with these values unless the node has it or there are none; return whether it was added."""
        if name in node.properties or not values:
            return False
        self._insert(node.end, name + "".join(f"[{escaped(value)}]" for value in values))
        return True

    def remove_properties(self, node: Node, names: Collection[str]) -> None:
        """Remove the properties of these names from a node, as far as it has them."""
        place, is_removed = node.start + 1, False
        while place < node.end:
            token = _TOKEN.match(self._text, place)
            assert token is not None, "these tokens were read before"
            if token["name"] is not None:
                is_removed = token["name"].translate(_LOWER_CASE) in names
            if is_removed:
                self._removed[place] = token.end()
            place = token.end()
        for name in names:
            node.properties.pop(name, None)

    def add_comment(self, node: Node, text: str) -> None:
        """Add a comment to a node, below the one that it has."""
        if "C" in node.properties:
            self._insert(node.properties["C"], "\n\n" + escaped(text))
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

    def _find_nodes(self) -> None:
        """Find all nodes, and where each of the trees that hold those of the main line is closed."""
        start = _START.search(self._text)
        if start is None:
            raise SgfError("not a readable SGF record: no game found")
        place, depth, branch, name = start.start(), 0, 0, ""
        last: int | None = None
        branches: list[int | None] = []
        # `branch` is the depth of the innermost tree of the main line; deeper trees that come later are variations.
        is_main, has_ended = True, False
        while not has_ended:
            token = _TOKEN.match(self._text, place)
            if token is None:
                raise SgfError("not a readable SGF record: the game is not closed")
            place, mark = token.end(), token["mark"]
            if mark == "(":
                depth += 1
                branches.append(last)
                is_main = is_main and depth == branch + 1
                branch = depth if is_main else branch
            elif mark == ")":
                if depth <= branch and depth - 1 not in self._closings:
                    self._closings[depth - 1] = place - 1
                is_main = False
                depth -= 1
                last = branches.pop()
                has_ended = depth == 0
            elif mark == ";":
                self.all_nodes.append(Node(place - 1, place, depth - 1, last))
                last = len(self.all_nodes) - 1
                if is_main:
                    self.nodes.append(self.all_nodes[last])
            elif token["name"] is not None:
                name = token["name"].translate(_LOWER_CASE)
            elif token["value"] is not None and last is not None:
                node = self.all_nodes[last]
                node.end = place
                node.properties[name] = place - 1
                node.moves += name in ("B", "W")


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
    games, place = [], 0
    while (start := _START.search(text, place)) is not None:
        place, depth = start.start(), 0
        while (token := _TOKEN.match(text, place)) is not None:
            place = token.end()
            depth += (token["mark"] == "(") - (token["mark"] == ")")
            if depth == 0:
                break
        place = max(place, start.end())
        games.append(_encoded(byte_order_mark + text[start.start() : place], encoding))
    return games


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
