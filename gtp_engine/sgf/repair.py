r"""The nodes in damaged text of a game, as the grammar of SGF allows them, with notes on what was passed over.

    bytes --_scan--> names, values and marks --_parts_of--> nodes and parentheses --_nodes_of--> nodes with one move

Programs write much that the grammar does not allow, and files get damaged.  The scan finds where values end, in spite
of brackets in texts without a backslash, and of brackets that are missing.  Then every value gets a name, every node
its semicolon and every tree its parentheses, and a node no more than one move.  Text is UTF-8.
"""

import re
from typing import Final, TypeAlias

from gtp_engine.base.errors import SgfError
from gtp_engine.sgf.foreign.encodings import as_text

_ROOT_NAMES: Final = rb"FF|GM|SZ|CA|AP|KM|HA|RU|PB|PW|BR|WR|RE|DT|EV|GN|RO|PC|SO|US|AB|AW|PL|KO|TE|RD|TM"
FIRST: Final = rb"(?:(?:%s)\s*\[|[BW]\s*\[(?:[a-z]{2})?\]\s*(?:[;()]|[a-z]+\s*\[|\Z))" % _ROOT_NAMES
"""What the first node of a game begins with."""

_TOKEN: Final = re.compile(rb"\s*(?:(?P<open>\[)|(?P<name>[A-Za-z][A-Za-z0-9_]{0,63})|(?P<mark>[;()]))")
_STRAY: Final = re.compile(rb"\s*[^\s;()\[A-Za-z][^;()\[A-Za-z]*")
_VALUE: Final = re.compile(rb"[^\\\]]*(?:\\.[^\\\]]*)*", re.DOTALL)
"""The text of a value; where no bracket follows, the value is cut off."""

_NAME: Final = rb"[a-z]*[A-Z][A-Za-z0-9_]*\s*\["
_FOLLOWS: Final = re.compile(
    rb"\s*(?:\[|\Z|%s|;\s*(?:[;()]|\Z|[a-z]+\[|%s)|\(\s*(?:[;(]|%s)|\)[ \t]*(?:[();\r\n]|\Z))"
    rb"|[\r\n]*(?i:%s|B|W|C|N)\[" % (_NAME, _NAME, _NAME, _ROOT_NAMES)
)
"""What can follow a value; before anything else a bracket belongs to the text."""

_NAME_FOLLOWS: Final = re.compile(rb"\s*(?:[;()]\s*)*(?:%s|(?i:%s|B|W|C|N)\[)" % (_NAME, _ROOT_NAMES))
_ESCAPED_OR_OPEN: Final = re.compile(rb"\\.|\[", re.DOTALL)
_BRACKET: Final = re.compile(rb"[\[\]]")
_NEW_NODE: Final = re.compile(rb";\s*%s" % _NAME)
_POINT_NAMES: Final = b"AB AW AE AR B CR DD LN MA OB OW SL SQ TB TR TW VW W"
_NUMBER_NAMES: Final = b"BL BM CA DO FF FG GM HA IT MN PL PM ST SZ TE TM WL"
_PLAIN: Final = frozenset([*_POINT_NAMES.split(), *_NUMBER_NAMES.split()])
"""Properties whose values have no brackets."""

_LOST_BRACKET: Final = re.compile(rb"\[?[^\[\];()]{0,30}?(?=\s{0,100}(?:[;()]|(?<![A-Z])[A-Z]{1,2}\s*\[))")
"""A value without brackets whose end is missing: `B[ee;W[cc]`."""
_MOVE_AT_END: Final = re.compile(rb"\s*;\s{0,20}[BW]\[[A-Za-z]{0,2}\Z")
_INFO_AT_END: Final = re.compile(rb"(?<=\S)\s{1,20}(?:SZ|KM|HA|RU|PB|PW|BR|WR|RE|DT)\[[^\[]{0,200}\Z")
"""What a text ends with whose own end is missing: a move, or a property of the game."""
_INFO_NAMES: Final = frozenset(b"AP BR DT EV GN PB PC PW RE RO RU SO US WR".split())
_LOST_MARK: Final = re.compile(rb"\s*\)(?=\s*;)")
"""A parenthesis in place of the bracket."""

MOVE_FOLLOWS: Final = re.compile(rb"\s*;\s*[BW]\s*\[|[A-Z]{0,2}\[")
"""What follows a parenthesis that cannot be the end of the game: a move, or the rest of a property at once."""

_LOOK_AHEAD: Final = 20_000
"""Bytes of a text in which its end is sought behind brackets."""
_MOST_BRACKETS: Final = 200
"""Closing brackets of a text behind which its end is sought."""
_MOST_FAILURES: Final = 8
"""How often it may be sought in vain at the start of a file, and once more for each _LOOK_AHEAD bytes behind it."""

WORDS: Final = {
    b"GAME": b"GM",
    b"SIZE": b"SZ",
    b"KOMI": b"KM",
    b"HANDICAP": b"HA",
    b"RULES": b"RU",
    b"RESULT": b"RE",
    b"DATE": b"DT",
    b"BLACK": b"B",
    b"WHITE": b"W",
    b"COMMENT": b"C",
}
"""Names that some programs write as plain words."""

_SMALL_NAMES: Final = frozenset(b"ab aw ae pl sz km ha ru re pb pw".split())
"""Names in small letters that count in any record; nothing else is named so."""
_CAPITALIZED: Final = re.compile(rb"(?=[A-Z][a-z]\Z)(?i:%s)" % _ROOT_NAMES)
"""Names of the first node of which only the first letter is a capital."""
_LOWER_CASE: Final = b"abcdefghijklmnopqrstuvwxyz"
"""Old records write names such as AddBlack; the capitals count."""

_SHORT: Final = re.compile(rb"\s*(?:[A-Za-z]{2}\s*)?")
"""Values of moves with small names, and of those that stand behind another in one node."""
_RESIGNS: Final = re.compile(r"\s*(?:resign(?:s|ed|ation)?|投了|认输|認輸)\s*", re.IGNORECASE)
_RESULTS: Final = {b"B": b"W+R", b"W": b"B+R"}
"""The results that such a value in place of a move means: Little Golem writes it."""
_UNESCAPED: Final = re.compile(rb"(\\.)|\]|\\\Z", re.DOTALL)
"""A bracket, or a backslash at the end, that needs one before it; and pairs that need none."""

Properties: TypeAlias = dict[str, list[str]]
"""The properties of a node in their order: values with their escapes by name."""
Part: TypeAlias = bytes | Properties
"""A parenthesis, or a node."""

_Token: TypeAlias = tuple[str, bytes]
"""A token with sgfmill's kinds, "I" for names, "V" for values and "D" for `;()`."""
_Node: TypeAlias = list[tuple[bytes, bytes]]
"""The names and values of a node in their order, a name for each value."""


_MOST_EMPTY_NODES: Final = 2_000
"""Nodes without any property, of which a program writes one for each move at most; each takes as long as four bytes."""


def check_empty_nodes(count: int) -> None:
    """Raise SgfError for too many nodes that have no property."""
    if count > _MOST_EMPTY_NODES:
        raise SgfError("too many nodes of the SGF record have no property", expected=f"at most {_MOST_EMPTY_NODES}")


class LookAhead:
    """What is known of the text ahead, and how often something was sought in vain; the games of a file share it.

    So no part of a file is searched again and again, and the time it takes is linear in its length.
    """

    def __init__(self, data: bytes) -> None:
        self._data: Final = data
        self._known = (0, -1)  # between these places there is no bracket
        self.invalid = 0
        """Games that were not valid."""
        self.failures = 0
        self.unpaired = 0  # texts whose brackets do not pair, which is right where they lack a closing one

    def may_fail(self, count: int, place: int) -> bool:
        """Return whether a search may be in vain once more at a place, after this number of times."""
        return count <= _MOST_FAILURES + place // _LOOK_AHEAD

    def bracket(self, place: int) -> int | None:
        """Return the next closing bracket without a backslash from a place behind a bracket on, None for none."""
        first, last = self._known
        if not first <= place <= last:
            found = _VALUE.match(self._data, place)
            assert found is not None, "it may be empty"
            last = found.end()
            self._known = place, last
        return last if self._data[last : last + 1] == b"]" else None


class Repair:
    """The `parts` of the game that begins at `start` and ends at `end`, with notes.

    Names are those of the text, also such as the grammar does not have (V1).  `is_cut` is whether the text ends within
    a value, `has_end` whether the last parenthesis is there, `has_values` whether anything is left.  Raises SgfError
    where too many nodes are empty.
    """

    def __init__(self, data: bytes, start: int, ahead: LookAhead) -> None:
        self.notes: Final = dict[str, None]()
        self.is_cut = False
        self.has_end = False
        self._data: Final = data
        self._tokens: Final = list[_Token]()
        self._is_lower_case: bool | None = None  # known from the first name on
        self._ahead: Final = ahead
        self.end: Final = self._scan(start)
        parts = _parts_of(self._tokens, self.notes)
        nodes = [part for part in parts if isinstance(part, list)]
        _name_moves_in_small_letters(nodes, self.notes)
        self.parts = list[Part]()
        for part in parts:
            self.parts += _nodes_of(part, self.notes) if isinstance(part, list) else [part]
        self.has_values: Final = any(nodes)

    def _scan(self, place: int) -> int:
        """Find all tokens of the text; return where the game ends.

        An empty name stands for text that belongs to nothing.  Names are as they are meant, but for `b` and `w`.
        """
        data, name, depth = self._data, b"", 0
        if data[place : place + 1] != b"(":
            self.notes["the first parenthesis is missing"] = None
            self._tokens.append(("D", b"("))
            depth = 1
        while token := _TOKEN.match(data, place) or _STRAY.match(data, place):
            place = token.end()
            if token.re is _STRAY:
                name = b""
                self._tokens.append(("I", name))
                if token[0].decode("utf-8", "replace").strip():  # wide blanks are none of our bytes
                    self.notes["text that belongs to no property was left out"] = None
            elif token["name"]:
                name = self._property_name(token["name"])
                self._tokens.append(("I", name))
            elif token["open"]:
                end = self._value_end(name, place)
                if end is None:
                    self.notes["the record is cut off in a value"] = None
                    self.is_cut = True
                    if self._tokens[-1][0] == "I":
                        self._tokens.pop()
                    break
                place = self._add_value(name, place, end)
            elif token["mark"] == b")" and depth == 1 and MOVE_FOLLOWS.match(data, place):
                name = b""
                self.notes["a parenthesis before the end of the game was left out"] = None
            else:
                name = b""
                self._tokens.append(("D", token["mark"]))
                depth += {b"(": 1, b")": -1}.get(token["mark"], 0)
                if depth == 0:
                    self.has_end = True
                    return place
        self.notes["the record has no end"] = None
        return place

    def _add_value(self, name: bytes, start: int, end: int) -> int:
        """Add the value that ends there, or before it where its bracket is missing; return where the text goes on."""
        lost_end = self._lost_end(name, start, end)
        self._tokens.append(("V", self._data[start : end if lost_end is None else lost_end]))
        if lost_end is None:
            return end + 1
        mark = _LOST_MARK.match(self._data, lost_end)
        return lost_end if mark is None else mark.end()

    def _property_name(self, written: bytes) -> bytes:
        """Return the name of a property; small letters count only if the first name of the record has no others."""
        if written.upper() in WORDS:
            return WORDS[written.upper()]
        if self._is_lower_case is None:
            self._is_lower_case = written.islower()
        if not written.islower():
            return written.upper() if _CAPITALIZED.fullmatch(written) else written.translate(None, _LOWER_CASE)
        return written.upper() if self._is_lower_case or written in _SMALL_NAMES else written

    def _value_end(self, name: bytes, start: int) -> int | None:
        """Return where the value that begins there ends, None if the text ends before.

        A bracket without a backslash is one of the text if nothing that can follow a value follows it.
        """
        data, ahead, end = self._data, self._ahead, self._ahead.bracket(start)
        if name in _PLAIN or not ahead.may_fail(ahead.failures, start):
            return end
        backslash_end = self._end_behind_backslash(start, end)
        if backslash_end is not None:
            ahead.failures += end is not None
            note = "a text ends with a backslash, as a Windows path: the bracket behind it was taken for its end"
            self.notes[note] = None
            return backslash_end
        if end is None:
            return None
        later: int | None = self._balanced_end(start, end)
        if later is not None:
            self.notes["brackets in a text lack a backslash"] = None
            return later
        later = end
        for _ in range(_MOST_BRACKETS):
            if later is None or later >= start + _LOOK_AHEAD:
                break
            if _FOLLOWS.match(data, later + 1):
                if _NEW_NODE.search(data, end, later):
                    break
                if later > end:
                    self.notes["brackets in a text lack a backslash"] = None
                return later
            later = ahead.bracket(later + 1)
        ahead.failures += 1
        return end

    def _balanced_end(self, start: int, end: int) -> int | None:
        """Return the bracket that closes the value if those in the text, none of which has a backslash, are pairs.

        None for other texts: those without such brackets, and those whose brackets do not pair or which nothing
        follows that can follow a value.  So a variation that is quoted in a comment stays there.
        """
        data, ahead = self._data, self._ahead
        if data.find(b"[", start, end) < 0 or data.find(b"\\", start, end) >= 0:
            return None
        if not ahead.may_fail(ahead.unpaired, start):
            return None
        depth = 1
        for found in _BRACKET.finditer(data, start, start + _LOOK_AHEAD):
            depth += 1 if found[0] == b"[" else -1
            if depth == 0:
                return found.start() if _FOLLOWS.match(data, found.end()) else None
        ahead.unpaired += 1
        return None

    def _lost_end(self, name: bytes, start: int, end: int) -> int | None:
        """Return where a value ends that has lost its bracket, so that `end` is that of a later value; else None."""
        data = self._data
        if name in _PLAIN:
            found = _LOST_BRACKET.match(data, start, end) if data.find(b"[", start + 1, end) >= 0 else None
            place = None if found is None or found.end() == start else found.end()
        else:
            found = _MOVE_AT_END.search(data, max(start, end - 60), end)
            if found is None and name in _INFO_NAMES:
                found = _INFO_AT_END.search(data, start, min(end, start + 500))
            place = None if found is None else found.start()
        if place is not None:
            self.notes["the bracket that ends a value is missing"] = None
        return place

    def _end_behind_backslash(self, start: int, end: int | None) -> int | None:
        """Return the first bracket with a backslash that closes none in the text, but ends a value by what follows it.

        That is a name with a value, whose end is then that of the text; or anything that can follow if the text has no
        other end.
        """
        follows, depth, found_end = _FOLLOWS if end is None else _NAME_FOLLOWS, 0, None
        last = min(start + _LOOK_AHEAD, len(self._data) if end is None else end)
        for found in _ESCAPED_OR_OPEN.finditer(self._data, start, last):
            if found[0] in (b"[", b"\\["):
                depth += 1
            elif found[0] == b"\\]" and depth > 0:
                depth -= 1
            elif found[0] == b"\\]" and found_end is None and follows.match(self._data, found.end()):
                found_end = found.end() - 1
                if end is None:
                    break
        return found_end if end is None or depth > 0 else None


def _parts_of(tokens: list[_Token], notes: dict[str, None]) -> list[_Node | bytes]:
    """Return nodes and parentheses in the order of the text; every value stands in a node.

    A node behind a variation is the first of another one.  Raises SgfError where too many nodes are empty.
    """
    parts: list[_Node | bytes] = []
    last: _Node | None = None
    befores: list[_Node | None] = []  # the nodes before the trees that are open
    name, has_value, empty = b"", True, 0
    can_stand, is_new = False, False  # whether a property can stand here, and whether a tree has just been opened
    for kind, token in [*tokens, ("D", b"")]:
        if kind == "V" and (not name or not (can_stand or is_new)):
            notes["a value that belongs to no property was left out"] = None
            continue
        if kind == "V" and is_new:
            notes["the semicolon before a node is missing"] = None
        elif kind != "V" and name and not has_value:
            notes["a property without a value was left out"] = None
        if (kind, token) == ("D", b";") or (kind == "V" and is_new):
            empty += last == []
            check_empty_nodes(empty)
            last, can_stand, is_new = [], True, False
            parts.append(last)
        elif kind == "D" and token:
            can_stand, is_new = False, token == b"("
            parts.append(token)
            if is_new:
                befores.append(last)
            else:
                last = befores.pop()
        if kind == "V" and last is not None:
            last.append((name, token))
        name, has_value = (name, True) if kind == "V" else (token if kind == "I" else b"", False)
    return parts


def _name_moves_in_small_letters(nodes: list[_Node], notes: dict[str, None]) -> None:
    """Let `b` and `w` be moves in a record that begins with them, and in nodes that have no other move."""
    names = (name for node in nodes for name, _ in node if name in (b"B", b"W", b"b", b"w"))
    are_usual = next(names, b"B").islower()
    for node in nodes:
        values = [value for name, value in node if name in (b"b", b"w")]
        has_moves = any(name in (b"B", b"W") and not _is_resignation(value) for name, value in node)
        if values and (are_usual or (not has_moves and _SHORT.fullmatch(values[0]))):
            notes["moves have small letters as names"] = None
            node[:] = [(name.upper() if name in (b"b", b"w") else name, value) for name, value in node]


def _is_resignation(value: bytes) -> bool:
    return _RESIGNS.fullmatch(value.decode("utf-8", "replace")) is not None


def _nodes_of(node: _Node, notes: dict[str, None]) -> list[Properties]:
    """Return the properties of a node, and of a node for each further move in it."""
    found: list[Properties] = [{}]
    move: tuple[bytes, bytes] | None = None
    for name, value in node:
        if name in _RESULTS and _is_resignation(value):
            notes["a resignation written as a move was taken for the result"] = None
            name, value = b"RE", _RESULTS[name]
        elif name in _RESULTS and move is not None:
            if move == (name, value.strip()) and value.strip():
                notes["a move that is written twice counts once"] = None
            elif _SHORT.fullmatch(value) and (value.strip() or name != move[0]):
                notes["several moves are in one node: each of them counts"] = None
                move = name, value.strip()
                found.append({name.decode(): [as_text(move[1])]})
            else:
                notes["a second value of a move, which is not a point, was left out"] = None
            continue
        if name in _RESULTS:
            move = name, value.strip()
        if b"]" in value or b"\\" in value:
            value = _UNESCAPED.sub(lambda bare: bare[0] if bare[1] else b"\\" + bare[0], value)
        found[0].setdefault(name.decode(), []).append(as_text(value))
    return found
