r"""The grammar of SGF (FF[4], https://www.red-bean.com/sgf/): the nodes of a game in the text of a record.

Programs write much that the grammar does not allow.  `GameText` reads as much as can be read and notes what it passed
over: a missing `;` before the first node, brackets in texts without a backslash, a missing end, a value that is cut
off, text between properties, names without values and values without names.

Every node keeps the text in which it was written, with the parentheses around it, so that a tree can be written as it
was read, character for character, and a change touches nothing else.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final, Generic, NamedTuple, Self, TypeVar

from gtp_engine.errors import SgfError, counted, problem
from gtp_engine.sgf.foreign.encodings import encoding_of, sections_of
from gtp_engine.sgf.foreign.formats import sgf_of

_ROOT_NAMES: Final = "FF|GM|SZ|CA|AP|KM|HA|RU|PB|PW|BR|WR|RE|DT|EV|GN|RO|PC|SO|US|AB|AW|PL|KO|TE|RD|TM"
_FIRST: Final = rf"(?:(?:{_ROOT_NAMES})\s*\[|[BW]\s*\[(?:[a-z]{{2}})?\]\s*(?:[;()]|[a-z]+\s*\[|\Z))"
_START: Final = re.compile(rf"\(\s*;(?![^\[()]*\))|\(\s*(?={_FIRST})|(?=;\s*{_FIRST})|\A\s*(?={_FIRST})", re.IGNORECASE)
"""How a game begins: as it should, without `;` as the Nihon Ki-in, Sina and Cyberoro write, or without parenthesis.

Without both, it begins with the text.  A tree that is closed before its first value, as a smiley in a letter, is none.
"""
_EMPTY: Final = re.compile(r"\(\s*;")
"""How a game begins that has no values at all."""

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

_NAME_FOLLOWS: Final = re.compile(rf"\s*(?:[;()]\s*)*(?:{_NAME}|(?i:{_ROOT_NAMES}|B|W|C|N)\[)")
_ESCAPED_OR_OPEN: Final = re.compile(r"\\.|\[", re.DOTALL)
_BRACKET: Final = re.compile(r"[\[\]]")
_NEW_NODE: Final = re.compile(rf";\s*{_NAME}")
_POINT_NAMES: Final = "AB AW AE AR B CR DD LN MA OB OW SL SQ TB TR TW VW W"
_NUMBER_NAMES: Final = "BL BM CA DO FF FG GM HA IT MN PL PM ST SZ TE TM WL"
_PLAIN: Final = frozenset(f"{_POINT_NAMES} {_NUMBER_NAMES}".split())
"""Properties whose values have no brackets."""

_LOST_BRACKET: Final = re.compile(r"\[?[^\[\];()]{0,30}?(?=\s{0,100}(?:[;()]|(?<![A-Za-z])[A-Z]{1,2}\s*\[))")
"""A value without brackets whose end is missing: `B[ee;W[cc]`."""
_MOVE_AT_END: Final = re.compile(r"\s*;\s{0,20}[BW]\[[A-Za-z]{0,2}\Z")
_INFO_AT_END: Final = re.compile(r"(?<=\S)\s{1,20}(?:SZ|KM|HA|RU|PB|PW|BR|WR|RE|DT)\[[^\[]{0,200}\Z")
"""What a text ends with whose own end is missing: a move, or a property of the game."""
_INFO_NAMES: Final = frozenset(["AP", "BR", "DT", "EV", "GN", "PB", "PC", "PW", "RE", "RO", "RU", "SO", "US", "WR"])

_MOVE_FOLLOWS: Final = re.compile(r"\s*;\s*[BW]\s*\[")
"""What follows a parenthesis that cannot be the end of the game."""

_LOOK_AHEAD: Final = 20_000
"""Characters of a text in which its end is sought behind brackets."""

_MOST_FAILURES: Final = 100
"""How often it may be sought in vain in a record, which takes time."""

_WORDS: Final = {
    "GAME": "GM",
    "SIZE": "SZ",
    "KOMI": "KM",
    "HANDICAP": "HA",
    "RULES": "RU",
    "RESULT": "RE",
    "DATE": "DT",
    "BLACK": "B",
    "WHITE": "W",
    "COMMENT": "C",
}
"""Names that some programs write as plain words."""

_SMALL_NAMES: Final = frozenset(["ab", "aw", "ae", "pl", "sz", "km", "ha", "ru", "re", "pb", "pw"])
"""Names in small letters that count in any record; nothing else is named so."""

RESIGNATIONS: Final = {"B resigns": "W+R", "W resigns": "B+R"}
"""Names of values that are no moves, though written as B or W, and the results that they mean."""
_SHORT: Final = re.compile(r"\s*(?:[A-Za-z]{2}\s*)?")
_ON_BOARDS: Final = re.compile(r"\s*(?!(?:tt|zz)\s*\Z)[a-z]{2}\s*")
"""Values of moves: of those with small names, and of those that are no passes."""
_RESIGNS: Final = re.compile(r"\s*(?:resign(?:s|ed|ation)?|投了|认输|認輸)\s*", re.IGNORECASE)

_CAPITALIZED: Final = re.compile(rf"(?=[A-Z][a-z]\Z)(?i:{_ROOT_NAMES})")
"""Names of the first node of which only the first letter is a capital."""

_LOWER_CASE: Final = str.maketrans("", "", "abcdefghijklmnopqrstuvwxyz")
"""Old records write names such as AddBlack; the capitals count."""

_ESCAPE: Final = re.compile(r"\\(\n\r|\r\n|.)|\n\r|\r\n|[\n\r\t\f\v]", re.DOTALL)


_FIRST_PROPERTY: Final = re.compile(r"\(\s*;\s*[A-Za-z]{1,20}\s*\[")


def has_game(text: str, place: int = 0) -> bool:
    """Return whether a game as SGF has it begins after a place: parenthesis, semicolon and a property."""
    return _FIRST_PROPERTY.search(text, place) is not None


class Chunk(NamedTuple):
    """A value in the text of a node: its property, the text from the end of what comes before, and the value in it.

    The name is in the text of a property's first value; the value still has its escapes.
    """

    name: str
    text: str
    value: str


class TextNode:
    """A node as it is written: `opening`, which ends with its semicolon, its values, what follows it, and `closing`.

    `opening` and `closing` have the parentheses of the trees that begin with the node.
    """

    __slots__ = ("children", "chunks", "closing", "end", "opening", "parent")

    def __init__(self, parent: Self | None) -> None:
        self.parent: Self | None = parent
        self.children: list[Self] = []
        self.chunks: list[Chunk] = []
        self.opening = ";"
        self.closing = ""
        self.end = 0
        """Where its last value ends in the text that it was read from."""

    @property
    def names(self) -> list[str]:
        """The names of its properties, each once, in their order."""
        return list(dict.fromkeys(chunk.name for chunk in self.chunks))

    @property
    def moves(self) -> int:
        """The number of moves in it; programs write more than one."""
        return sum(chunk.name in ("B", "W") for chunk in self.chunks)

    def move_texts(self) -> list[tuple[str, str]]:
        """Return the names, "B" or "W", and values of its moves in their order, each on one line."""
        moves = (chunk for chunk in self.chunks if chunk.name in ("B", "W"))
        return [(chunk.name, _ESCAPE.sub(_on_one_line, chunk.value)) for chunk in moves]

    def texts(self, name: str) -> list[str]:
        """Return the values of a property without escapes, each on one line; empty if the node has none."""
        return [_ESCAPE.sub(_on_one_line, chunk.value) for chunk in self.chunks if chunk.name == name]

    def long_texts(self, name: str) -> list[str]:
        """Return the values of a property without escapes, with their line breaks; empty if the node has none."""
        return [_ESCAPE.sub(_on_its_lines, chunk.value) for chunk in self.chunks if chunk.name == name]

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


def text_of_nodes(roots: Iterable[TextNode]) -> str:
    """Return trees as their text."""
    pieces: list[str] = []
    waiting: list[TextNode | str] = []  # texts are closings
    waiting += reversed([*roots])
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        pieces.append(node.opening)
        pieces += [chunk.text for chunk in node.chunks]
        if node.closing:
            waiting.append(node.closing)
        waiting += reversed(node.children)
    return "".join(pieces)


class _OpenTree(Generic[N]):
    """A tree that is not closed yet: the node before it, and its first one."""

    def __init__(self, before: N | None) -> None:
        self.before: Final = before
        self.first: N | None = None


class GameText(Generic[N]):
    """The first game in `text` from a place on; raises SgfError if there is none, or nothing is left of it.

    `nodes` are those of the whole tree in the order of the text, made by `make` from their parents.  Trees that lack a
    parenthesis end with the game.  `notes` are messages about what was passed over; `is_cut` is whether the text ends
    within a value.
    """

    def __init__(self, text: str, make: Callable[[N | None], N], place: int = 0) -> None:
        start = _START.search(text, place) or _EMPTY.search(text, place)
        if start is None:
            raise SgfError("not a readable SGF record: no SGF data found")
        self.text: Final = text
        self.start: Final = start.start()
        self.nodes: Final[list[N]] = []
        self.roots: Final[list[N]] = []
        """Nodes without one before them: the first one, and others where the record breaks the grammar."""
        self.notes: Final[list[str]] = []
        self.is_cut = False
        self._make: Final = make
        self._open: Final[list[_OpenTree[N]]] = []
        self._written = self.start  # what lies before belongs to nodes
        self._last: N | None = None  # the node before the next one
        self._has_begun = False  # the innermost tree
        self._takes_properties = False
        self._name = ""
        self._name_begin = 0
        self._has_value = False  # the property of this name
        self._is_lower_case: bool | None = None  # known from the first name on
        self._failures = 0
        self._unpaired = 0  # texts whose brackets are no pairs, which is right where they lack a closing one
        self.end: Final = self._read()
        self._take_moves_in_small_letters()
        self._leave_out_moves_written_twice()
        self.has_end: Final = not self._open
        if not any(node.chunks for node in self.nodes) and (self._open or self.notes):
            what = "unexpected end of SGF data" if self._open else "no property has a value"
            raise SgfError(f"not a readable SGF record: {what}")
        if self.text[self.start] != "(":
            self.nodes[0].opening = f"({self.nodes[0].opening}"
        for tree in reversed(self._open):
            self._close(tree, f"{self._taken(self.end)})")

    @property
    def cut_node(self) -> N | None:
        """The node in which the text ends within a value."""
        return self.nodes[-1] if self.is_cut else None

    def main_line(self) -> list[N]:
        """Return the nodes of the main line, the root first."""
        return main_line_from(self.nodes[0])

    def _read(self) -> int:
        """Find all nodes; return where the game ends."""
        place = self.start
        if self.text[place] != "(":
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
                lost_end = self._lost_end(token.end(), end)
                place = end + 1 if lost_end is None else self._behind_lost_end(lost_end)
                self._add_value(token.end(), end if lost_end is None else lost_end, place)
            else:
                self._end_property()
                place = token.end()
                if token["mark"] == ")" and len(self._open) == 1 and _MOVE_FOLLOWS.match(self.text, place):
                    self._note("a parenthesis before the end of the game was left out")
                    self._written = place  # it is not written again, since what is added to the tree brings its own
                    continue
                self._follow(token["mark"], place - 1)
                if not self._open:
                    return place
        self._end_property()
        self._note("the record has no end")
        return place

    def _follow(self, mark: str, place: int) -> None:
        """Open or close a tree, or begin a node."""
        self._takes_properties = mark == ";"
        self._has_begun = mark != "("
        if mark == "(":
            self._open_tree()
        elif mark == ";":
            self._add_node(place + 1)
        else:
            tree = self._open.pop()
            self._last = tree.before
            if tree.first is not None:
                self._close(tree, self._taken(place + 1))

    def _open_tree(self) -> None:
        self._open.append(_OpenTree(self._last))

    def _close(self, tree: "_OpenTree[N]", text: str) -> None:
        """Let the parenthesis that closes a tree follow what is below its first node, or below the last root."""
        first = tree.first
        owner = first if first is not None and first.parent is not None else self.roots[-1]
        owner.closing += text

    def _taken(self, end: int) -> str:
        """Return the text up to there that belongs to nothing yet."""
        begin, self._written = self._written, max(end, self._written)
        return self.text[begin:end]

    def _add_node(self, end: int) -> None:
        """Add a node whose semicolon ends there."""
        node = self._make(self._last)
        node.opening = self._taken(end)
        node.end = end
        if self._last is None:
            self.roots.append(node)
        else:
            self._last.children.append(node)
        for tree in reversed(self._open):
            if tree.first is not None:
                break
            tree.first = node
        self.nodes.append(node)
        self._last = node

    def _property_name(self, written: str) -> str:
        """Return the name of a property; small letters count only if the first name of the record has no others."""
        if written.upper() in _WORDS:
            return _WORDS[written.upper()]
        if self._is_lower_case is None:
            self._is_lower_case = written.islower()
        if not written.islower():
            return written.upper() if _CAPITALIZED.fullmatch(written) else written.translate(_LOWER_CASE)
        return written.upper() if self._is_lower_case or written in _SMALL_NAMES else written

    def _take_moves_in_small_letters(self) -> None:
        """Let `b` and `w` be moves in a record that begins with them, and in nodes that have no other move."""
        names = (chunk.name for node in self.nodes for chunk in node.chunks if chunk.name in ("B", "W", "b", "w"))
        are_usual = next(names, "B").islower()
        for node in self.nodes:
            small = [chunk for chunk in node.chunks if chunk.name in ("b", "w")]
            if small and (are_usual or (not node.moves and _SHORT.fullmatch(small[0].value))):
                self._note("moves have small letters as names")
                node.chunks = [
                    chunk._replace(name=chunk.name.upper()) if chunk.name in ("b", "w") else chunk
                    for chunk in node.chunks
                ]

    def _leave_out_moves_written_twice(self) -> None:
        """Let a move count once that is written twice, one after the other: it could not be played."""
        lasts: dict[N, tuple[str, str]] = {}
        for node in self.nodes:
            last = ("", "") if node.parent is None else lasts[node.parent]
            chunks = []
            for chunk in node.chunks:
                if chunk.name in ("B", "W"):
                    before, last = last, (chunk.name, chunk.value.strip())
                    if before == last and _ON_BOARDS.fullmatch(chunk.value):
                        self._note("a move that is written twice counts once")
                        chunk = chunk._replace(name=f"{chunk.name} again")
                elif chunk.name in ("AB", "AW", "AE"):
                    last = ("", "")
                chunks.append(chunk)
            node.chunks, lasts[node] = chunks, last

    def _end_property(self) -> None:
        if self._name and not self._has_value:
            self._note("a property without a value was left out")
        self._name, self._has_value = "", False

    def _add_value(self, start: int, end: int, behind: int) -> None:
        """Add the value between two places to the property that was named last; its node goes on `behind` it."""
        if not self._name or (self._has_begun and not self._takes_properties):
            self._note("a value that belongs to no property was left out")
            return
        if not self._takes_properties:
            self._note("the semicolon before a node is missing")
            self._add_node(self._name_begin)
            self._has_begun = self._takes_properties = True
        node = self.nodes[-1]
        name, value = self._name, self.text[start:end]
        if name in ("B", "W") and _RESIGNS.fullmatch(value):
            self._note("a resignation in the place of a move is none")
            name = f"{name} resigns"
        node.chunks.append(Chunk(name, self._taken(behind), value))
        node.end = behind
        self._has_value = True

    def _value_end(self, start: int) -> int | None:
        """Return where the value that begins there ends, None if the text ends before.

        A bracket without a backslash is one of the text if nothing that can follow a value follows it.
        """
        text, end = self.text, self._bracket(start)
        if self._name in _PLAIN or self._failures > _MOST_FAILURES:
            return end
        backslash_end = self._end_behind_backslash(start, end)
        if backslash_end is not None:
            self._failures += 1
            self._note("a text ends with a backslash, as a Windows path: the bracket behind it was taken for its end")
            return backslash_end
        if end is None:
            return None
        balanced_end = self._balanced_end(start, end)
        if balanced_end is not None:
            self._note("brackets in a text lack a backslash")
            return balanced_end
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

    def _balanced_end(self, start: int, end: int) -> int | None:
        """Return the bracket that closes the value if those in the text, none of which has a backslash, are pairs.

        None for other texts: those without such brackets, and those whose brackets are no pairs or which nothing
        follows that can follow a value.  So a variation that is quoted in a comment stays there.
        """
        text = self.text
        if text.find("[", start, end) < 0 or text.find("\\", start, end) >= 0 or self._unpaired > _MOST_FAILURES:
            return None
        depth = 1
        for found in _BRACKET.finditer(text, start, start + _LOOK_AHEAD):
            depth += 1 if found[0] == "[" else -1
            if depth == 0:
                return found.start() if _FOLLOWS.match(text, found.end()) else None
        self._unpaired += 1
        return None

    def _lost_end(self, start: int, end: int) -> int | None:
        """Return where a value ends that has lost its bracket, so that `end` is that of a later value; else None."""
        text = self.text
        if self._name in _PLAIN:
            found = _LOST_BRACKET.match(text, start, end) if text.find("[", start + 1, end) >= 0 else None
            place = None if found is None or found.end() == start else found.end()
        else:
            found = _MOVE_AT_END.search(text, max(start, end - 60), end)
            if found is None and self._name in _INFO_NAMES:
                found = _INFO_AT_END.search(text, start, min(end, start + 500))
            place = None if found is None else found.start()
        if place is not None:
            self._note("the bracket that ends a value is missing")
        return place

    def _behind_lost_end(self, place: int) -> int:
        """Return where the text goes on: behind a parenthesis that stands for the bracket."""
        found = re.compile(r"\s*\)(?=\s*;)").match(self.text, place)
        return place if found is None else found.end()

    def _end_behind_backslash(self, start: int, end: int | None) -> int | None:
        """Return the first bracket with a backslash that closes none in the text, but ends a value by what follows it.

        That is a name with a value, whose end is then that of the text; or anything that can follow if the text has no
        other end.
        """
        follows, depth, found_end = _FOLLOWS if end is None else _NAME_FOLLOWS, 0, None
        last = min(start + _LOOK_AHEAD, len(self.text) if end is None else end)
        for found in _ESCAPED_OR_OPEN.finditer(self.text, start, last):
            if found[0] in ("[", "\\["):
                depth += 1
            elif found[0] == "\\]" and depth > 0:
                depth -= 1
            elif found[0] == "\\]" and found_end is None and follows.match(self.text, found.end()):
                found_end = found.end() - 1
        return found_end if end is None or depth > 0 else None

    def _bracket(self, place: int) -> int | None:
        """Return the place of the next closing bracket without a backslash, None if there is none."""
        found = _VALUE.match(self.text, place)
        assert found is not None, "it may be empty"
        return found.end() if self.text[found.end() : found.end() + 1] == "]" else None

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def games_in(data: bytes) -> list[bytes]:
    """Return the games of an SGF collection, each with its original bytes; text between games is left out.

    A game that is not closed ends with the file.  Raises SgfError for bytes that cannot be decoded and encoded again.
    """
    return [game for section in sections_of(sgf_of(data)) for game in _games_in_section(section)]


def each_game(data: bytes) -> list[bytes]:
    """Return what `games_in` does; a file that it refuses, or in which it finds none, counts as one game."""
    try:
        return games_in(data) or [data]
    except SgfError:
        return [data]


def game_in(data: bytes, number: int | None) -> bytes:
    """Return a game of a collection by its number, from 1; None is for a file of one game, which stays as it is.

    Raises SgfError for None and several games, and for a number that is too large.
    """
    games = each_game(data)
    if number is None and len(games) > 1:
        advice = "name one with --game N, or split the file"
        raise SgfError(problem(f"{counted(len(games), 'game')} in one file", expected="one", advice=advice))
    if number is not None and number > len(games):
        raise SgfError(problem(f"game {number} of {len(games)}", expected=f"1 to {len(games)}"))
    return data if len(games) < 2 else games[(number or 1) - 1]


def _games_in_section(data: bytes) -> list[bytes]:
    """Return the games of a part of a collection that has one encoding."""
    text, encoding = decoded(data)
    byte_order_mark = text[:1] if text.startswith("\ufeff") else ""
    games: list[bytes] = []
    place = 0
    while True:
        try:
            tree = GameText(text, TextNode, place)
        except SgfError:
            return games
        place = tree.end if tree.has_end else len(text)
        if not any(node.chunks for node in tree.nodes):
            continue
        games.append(encoded(byte_order_mark + text[tree.start : place], encoding))


def decoded(data: bytes) -> tuple[str, str]:
    """Return a record as text, and its encoding; raises SgfError if `encoded` would not give the same bytes."""
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding, "surrogateescape")
        if encoded(text, encoding) == data:
            return text, encoding
    except UnicodeError:
        pass
    raise SgfError(problem(f"SGF record whose bytes in {encoding} cannot be kept", advice="save it in UTF-8"))


def encoded(text: str, encoding: str) -> bytes:
    """Return text as the bytes of a record; bytes that could not be decoded are restored."""
    return text.encode(encoding, "surrogateescape")


def _on_one_line(found: re.Match[str]) -> str:
    """Return what an escape or white space stands for: a character, a blank, or nothing for an escaped line break."""
    character: str | None = found[1]
    if character is None or character in "\t\f\v":
        return " "
    return "" if character.startswith(("\n", "\r")) else character


def _on_its_lines(found: re.Match[str]) -> str:
    """Return the same where line breaks count."""
    return "\n" if found[1] is None and found[0][0] in "\r\n" else _on_one_line(found)
