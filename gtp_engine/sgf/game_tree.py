"""A game as a tree: main line and variations, with comments, marks and set-up stones, to walk, to edit and to write.

    tree = GameTree(data)                        # what any program has written: SGF, GIB, NGF or UGF
    for node in tree.main_line():
        print(node.vertex, node.comment)
    tree.main_line()[30].add_move("Q16").comment = "Better."
    data = tree.to_bytes()

A record that is not edited is written as it was read, byte for byte.  An edited one keeps all properties, known or not,
with their values in their order, the encoding and what stands around the game; blanks between properties are not kept,
and damage is written as repaired.  Text that the encoding of the record does not have makes it UTF-8.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from numbers import Integral, Real
from pathlib import Path
from threading import Lock
from typing import Final, TypeAlias, final

from sgfmill import sgf

from gtp_engine.base.errors import IllegalMoveError, SgfError, counted, of_kind, shown
from gtp_engine.base.files import write_whole, writing
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import COLORS, Color, Move, Point, format_vertex, to_color, to_point, to_stone
from gtp_engine.go.game import Game, several
from gtp_engine.go.rules import Rules
from gtp_engine.sgf.board import SgfBoard, board_of
from gtp_engine.sgf.collection import Paths, of_each_game
from gtp_engine.sgf.foreign.encodings import as_text, as_utf_8, encoded
from gtp_engine.sgf.reader import GAME_PROPERTIES, GameInfo, first_game, read_sgf_file, record_of, text_of_record
from gtp_engine.sgf.record import SgfRecord, format_sgf, play_record, record_to_game
from gtp_engine.sgf.tree_text import GameText, TextNode, lines_of, main_line_from, property_text
from gtp_engine.sgf.values import escaped, format_komi

MARKS: Final = {"triangle": "TR", "square": "SQ", "circle": "CR", "cross": "MA", "selected": "SL"}
"""The marks of a point, and SGF's properties for them."""

_STONES: Final = {BLACK: "AB", WHITE: "AW", EMPTY: "AE"}
_CLOCKS: Final = {BLACK: ("BL", "OB"), WHITE: ("WL", "OW")}
_LARGEST_CLOCK: Final = 1e9
"""Seconds, moves and periods have nine digits at most."""

Vertex: TypeAlias = int | str
"""A point, PASS, or text such as "Q16"."""


@final
class GameNode(TextNode):
    """A node of a `GameTree`: at most one move, or set-up stones, with everything that is said about the position.

    `parent` is the node before it, None for the root; `children` are the nodes after it, the main one first.  `tree`
    is the tree, `id` a number that no other node of the tree has or gets.  Points and colours are given as those of
    `Game`, and methods raise InvalidVertexError and InvalidColorError as its methods do.

    >>> GameTree("(;SZ[9];B[ee]C[Good.])").root.children[0].comment
    'Good.'
    """

    __slots__ = ("id", "tree")
    parent: "GameNode | None"
    children: "list[GameNode]"

    def __init__(self, tree: "GameTree", parent: "GameNode | None") -> None:
        self.parent, self.children, self.raw = parent, [], {}  # what `super` would do in twice the time
        self.tree: Final = tree
        self.id: Final = tree._count
        tree._count += 1

    def __repr__(self) -> str:
        return f"<GameNode {self.id}: {self.text}>"

    def __reduce__(self) -> tuple[Callable[..., "GameNode"], tuple["GameTree", int]]:
        nodes = [*self.tree]
        if self not in nodes:
            raise SgfError("cannot copy a node that has been deleted", expected="one of the tree")
        return GameTree._nth, (self.tree, nodes.index(self))

    def _repr_svg_(self) -> str:
        return self.game().svg(marks={**self.marks, **self.labels}, arrows=self.arrows)

    # --- the place in the tree ---

    @property
    def next(self) -> "GameNode | None":
        """The node after it in the main line; None at the end of a line."""
        return self.children[0] if self.children else None

    @property
    def is_in_main_line(self) -> bool:
        """Whether it and all nodes before it are the first child of their parents."""
        return all(node.parent is None or node.parent.children[0] is node for node in self.path())

    @property
    def move_number(self) -> int:
        """The number of moves from the root up to this node, passes included."""
        return sum(node.moves for node in self.path())

    def walk(self) -> "Iterator[GameNode]":
        """Yield this node and all below it, each before its children and these in their order."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    # --- what it holds ---

    @property
    def text(self) -> str:
        """Its properties as SGF writes them, such as "B[pd]C[A good start.]"."""
        return "".join(property_text(name, values) for name, values in self.raw.items())

    @property
    def properties(self) -> dict[str, list[str]]:
        """All properties: their values by name, without escapes."""
        return {name: self.get(name) for name in self.raw}

    def set(self, name: str, *values: str) -> None:
        """Give a property these values in place of those it has; without values it is removed.

        Values are text without escapes.  Raises SgfError for a name that is not of capital letters.
        """
        if not (of_kind(name, str, "property").isascii() and name.isalpha() and name.isupper()):
            raise SgfError(f"property {shown(name)}", expected="a name of capital letters, such as C")
        self._put(name, [escaped(value) for value in values])

    @property
    def move(self) -> Move | None:
        """The move, None if the node has none, or one off the board."""
        raw = self.raw
        for name in raw:
            if name in ("B", "W"):
                board = self.tree._board
                if usual := board.usual_moves[name].get(raw[name][0]):
                    return usual
                with contextlib.suppress(SgfError):
                    return board.move(name, self.texts(name)[0])
                return None
        return None

    @property
    def vertex(self) -> str | None:
        """The move as text, "Q16" or "pass"; None if the node has none."""
        move = self.move
        return None if move is None else move.point.vertex

    @property
    def comment(self) -> str:
        """The comment, with its line breaks; "" for none."""
        return "\n".join(self.get("C"))

    @comment.setter
    def comment(self, text: str) -> None:
        self.set("C", *([text] if text else []))

    def add_comment(self, text: str) -> None:
        """Add a paragraph below the comment that the node has."""
        values = self.raw.get("C", [])
        new = escaped(text)
        self._put("C", [*values[:-1], f"{values[-1]}\n\n{new}"] if values else [new])

    def vertices(self, name: str) -> list[str]:
        """Return the points of a property such as TB or DD as text, as far as they are on the board."""
        return [point.vertex for point in self._points(name)]

    @property
    def marks(self) -> dict[str, str]:
        """The marks by vertex: "triangle", "square", "circle", "cross" or "selected"."""
        return {vertex: mark for mark, name in MARKS.items() for vertex in self.vertices(name)}

    @property
    def labels(self) -> dict[str, str]:
        """The labels by vertex: letters, numbers or other short text."""
        found = map(self.tree._board.label, self.get("LB"))
        return {label[0].vertex: label[1] for label in found if label is not None}

    def set_mark(self, vertex: Vertex, mark: str | None) -> None:
        """Mark a point, in place of the mark or label it has; None removes it.  Raises SgfError for another mark."""
        if mark is not None and mark not in MARKS:
            raise SgfError(f"mark {shown(mark)}", expected=f"one of {', '.join(MARKS)}")
        point = self.tree.point(vertex)
        self._take_marks(point)
        if mark is not None:
            self._set_points(MARKS[mark], [*self._points(MARKS[mark]), point])

    @property
    def arrows(self) -> list[tuple[str, str]]:
        """The arrows (AR) by the vertices where they begin and end."""
        found = [self.tree._board.points(value.partition(":")[::2]) for value in self.texts("AR")]
        return [(pair[0].vertex, pair[1].vertex) for pair in found if len(pair) == 2]

    @property
    def clocks(self) -> dict[Color, tuple[float, int | None]]:
        """The clocks that the node shows: seconds left (BL, WL), and in overtime the moves or periods left (OB, OW).

        Text that is not a time is passed over.
        """
        found: dict[Color, tuple[float, int | None]] = {}
        for color in (Color.BLACK, Color.WHITE):
            seconds, stones = ("".join(self.texts(name)[:1]) for name in _CLOCKS[color])
            if re.fullmatch(r"\s*[0-9]{1,9}(?:\.[0-9]*)?\s*", seconds):
                found[color] = float(seconds), int(stones) if re.fullmatch("[0-9]{1,9}", stones.strip()) else None
        return found

    def set_clock(self, color: int | str, seconds: float, stones: int | None = None) -> None:
        """Let the node show a clock: seconds left, in overtime with the moves or periods left; raises SgfError."""
        for number, kind in ((seconds, Real), (stones or 0, Integral)):
            if not isinstance(number, kind) or not 0 <= number < _LARGEST_CLOCK:
                raise SgfError(f"clock {shown(number)}", expected="seconds, moves or periods, 0 or more")
        left, overtime = _CLOCKS[to_color(color)]
        self.set(left, format_komi(float(seconds)))
        self.set(overtime, *([] if stones is None else [str(stones)]))

    def set_label(self, vertex: Vertex, text: str | None) -> None:
        """Write a short text on a point, in place of the mark or label it has; None or "" removes it."""
        point = self.tree.point(vertex)
        self._take_marks(point)
        if text:
            label = escaped(text).replace("\n", " ").replace(":", "\\:")
            self._put("LB", [*self.raw.get("LB", []), f"{point.sgf}:{label}"])

    @property
    def setup(self) -> tuple[Move, ...]:
        """The stones that the node puts on the board, and the points that it empties, with the colour EMPTY."""
        return tuple(Move(COLORS[color], point) for color, name in _STONES.items() for point in self._points(name))

    def set_stone(self, vertex: Vertex, color: int | str) -> None:
        """Let the node put a stone of this colour on a point, or take one off (EMPTY, "empty").

        Raises SgfError if the node has a move: SGF does not mix the two, so add a node for the stones.
        """
        wanted = EMPTY if color in (EMPTY, "empty") else to_color(color)
        point = self.tree.point(vertex)
        if self.moves:
            raise SgfError(f"a stone set up in the node of move {self.vertex}", advice="add a node for it")
        for name in _STONES.values():
            self._set_points(name, [each for each in self._points(name) if each != point])
        if self.game().color_at(point) != wanted:
            self._set_points(_STONES[wanted], [*self._points(_STONES[wanted]), point])

    def game(self, *, rules: Rules | str | None = None, komi: float | None = None) -> Game:
        """Return a new game at this node, with the moves up to here, and the colour of the next move to play.

        `rules` and `komi` are for records that name none; they default to those of `Game`.  Where the record changes
        the position between moves, the game begins there.  Raises SgfError if a move up to here cannot be played.
        """
        if rules is None and komi is None:
            with self.tree._lock:
                game = self.tree._game_at(self).copy()
        else:
            game, _ = self.tree._played(self, None if rules is None else Rules.of(rules), komi)
        if (color := self._next_color()) not in (None, game.to_play):
            game.to_play = color
        return game

    # --- edits ---

    def add_move(self, move: Move | Vertex, color: int | str | None = None, *, comment: str = "") -> "GameNode":
        """Return the child with this move, a new last variation unless there is one already.

        `color` defaults to the side to play; a `comment` is added to the one that the child has.  Raises
        IllegalMoveError (a repetition that superko forbids is accepted, since records have it), InvalidVertexError, and
        SgfError if the position cannot be reached.
        """
        of_kind(comment, str, "comment")
        game = self.tree._game_at(self)
        if isinstance(move, Move):
            wanted = game.as_move(move)
        else:
            point = to_point(move, width=game.width, height=game.height)
            wanted = game.as_move(((self._next_color() or game.to_play) if color is None else to_color(color), point))
        child = next((child for child in self.children if child.move == wanted), None)
        if child is None:
            is_kept = self.tree._last_game is not None and bool(game.moves)
            game.play(wanted, tolerant=game.illegal_reason(wanted.point, wanted.color) == "superko")
            child = self._new_child(wanted)
            self.tree._last_game = (child, game) if is_kept else None
        if comment:
            child.add_comment(comment)
        return child

    def add_played(self, move: Move) -> "GameNode":
        """Return the child with a move that has been played on a board: it is added if need be, legal or not."""
        width, height = self.tree.size
        color, point = of_kind(move, Move, "move")
        move = Move(to_color(color), to_point(point, width=width, height=height))
        return next((child for child in self.children if child.move == move), None) or self._new_child(move)

    def add_variation(self, moves: Sequence[Move | Vertex], color: int | str | None = None) -> "GameNode":
        """Add moves in turn, `color` (default: the side to play) first, as a new last variation; return the first node.

        Raises what `add_move` raises, and SgfError for no moves; nothing is added then.
        """
        game = self.game()
        if color is not None:
            game.to_play = to_color(color)
        played = [game.play(each, tolerant=True) for each in several(moves)]
        if not played:
            raise SgfError("a variation without moves", expected="one move or more")
        first = node = self._new_child(played[0])
        for move in played[1:]:
            node = node._new_child(move)
        return first

    def add_node(self) -> "GameNode":
        """Return a new last child without a move, for set-up stones or a comment."""
        return self._new_child(None)

    def delete(self) -> None:
        """Take the node with everything below it out of the tree; raises SgfError for the root."""
        self._parent("delete").children.remove(self)

    def promote(self) -> None:
        """Make the node's variation the main one of its parent; raises SgfError for the root."""
        children = self._parent("promote").children
        children.remove(self)
        children.insert(0, self)

    def demote(self) -> None:
        """Move the node's variation one place back among those of its parent; raises SgfError for the root."""
        children = self._parent("demote").children
        place = children.index(self)
        children.insert(place + 1, children.pop(place))

    def make_main_line(self) -> None:
        """Make the line from the root through this node the main line."""
        for node in self.path()[1:]:
            node.promote()

    # --- internals ---

    def _parent(self, what: str) -> "GameNode":
        if self.parent is None:
            raise SgfError(f"cannot {what} the root", expected="another node")
        if self not in self.parent.children:
            raise SgfError(f"cannot {what} a node that has been deleted", expected="one of the tree")
        self.tree._edit()
        return self.parent

    def _new_child(self, move: Move | None) -> "GameNode":
        """Return a new last child."""
        self.tree._edit()
        child = GameNode(self.tree, self)
        self.children.append(child)
        if move is not None:
            child.raw = {move.color.letter: [move.point.sgf]}
        return child

    def _next_color(self) -> Color | None:
        """Return the colour of the move that follows in the line, None for the end."""
        node = self.next
        while node is not None and not node.moves:
            node = node.next
        move = None if node is None else node.move
        return None if move is None else COLORS[move.color]

    @property
    def _is_just_a_move(self) -> bool:
        """Whether it has one move, and nothing else that matters to the game."""
        return self.moves == 1 and self.move is not None and GAME_PROPERTIES.isdisjoint(self.raw)

    def _put(self, name: str, values: list[str]) -> None:
        """Give a property these values, which have their escapes."""
        self.tree._edit()
        if values:
            self.raw = self.raw | {name: values}
        else:
            self.raw = {each: kept for each, kept in self.raw.items() if each != name}
        if name in GAME_PROPERTIES or name in ("B", "W"):
            self.tree._last_game = None
        if name == "SZ":
            self.tree._known_board = None

    def _points(self, name: str) -> list[Point]:
        """Return the points of a list such as AB's, as far as they are on the board."""
        return [*self.tree._board.points(self.texts(name))]

    def _set_points(self, name: str, points: list[Point]) -> None:
        if points != self._points(name):
            self._put(name, [point.sgf for point in points])

    def _take_marks(self, point: Point) -> None:
        """Remove the marks and labels of a point."""
        for name in MARKS.values():
            self._set_points(name, [each for each in self._points(name) if each != point])
        values = self.raw.get("LB", [])
        labels = map(self.tree._board.label, self.get("LB"))
        kept = [value for value, label in zip(values, labels, strict=True) if label is None or label[0] != point]
        if len(kept) < len(values):
            self._put("LB", kept)


class GameTree:
    """The tree of a record in SGF, GIB, NGF or UGF, as bytes or text, or of a `Game`; without one, an empty 19x19.

    A record is read as far as possible, `notes` say what was passed over or guessed.  Of a file with several games it
    is the first one; the others are written with it unchanged.  Raises SgfError for what is not a record of Go.

    Iterating gives the nodes, each before its children.  Trees are equal whose nodes have the same properties in the
    same order.  `copy.copy` and `pickle` make a tree of the text, with nodes of its own and the same notes; a copied
    node is one of a copied tree.  Any threads may read a tree that none edits.

    >>> [node.vertex for node in GameTree("(;SZ[9];B[ee];W[cc])")]
    [None, 'E5', 'C7']
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, record: bytes | str | Game | None = None) -> None:
        if record is None or isinstance(record, Game):
            record = format_sgf(record or Game())
        text, self.encoding = (record, "utf-8") if isinstance(record, str) else text_of_record(record)
        """`encoding` is that of `to_bytes`, as Python names it."""
        self._count = 0
        data = as_utf_8(text)
        game: GameText[GameNode] = first_game(data, partial(GameNode, self))
        self.root: Final[GameNode] = game.nodes[0]
        self._game_text: Final = game
        info = GameInfo(self.main_line(), ())
        self._known_board: SgfBoard | None = board_of(*info.size())  # refuses boards that no game has
        self._notes: tuple[str, ...] | None = None
        self._text: Final = text
        self._before, self._after = as_text(data[: game.start]), as_text(data[game.end :])
        self._is_edited = False
        self._last_game: tuple[GameNode, Game] | None = None  # so that its neighbours need not be played from the start
        self._lock: Final = Lock()  # of that: any threads may read a tree
        if info.may_be_refused:
            self._notes = self.record.notes

    def __iter__(self) -> Iterator[GameNode]:
        return self.nodes()

    def __repr__(self) -> str:
        width, height = self.size
        return f"<GameTree {width}x{height}, {counted(sum(1 for _ in self), 'node')}: {shown(self.root.text)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GameTree) and all(
            one == another for one, another in zip_longest(lines_of(self.root), lines_of(other.root))
        )

    def __reduce__(self) -> tuple[Callable[..., "GameTree"], tuple[str, str, tuple[str, ...] | None]]:
        return GameTree._in_collection, (self.to_sgf(), self.encoding, self._notes)

    @staticmethod
    def load(path: str | Path) -> "GameTree":
        """Return the tree of a file; raises SgfError."""
        return GameTree(read_sgf_file(str(path)))

    @staticmethod
    def load_all(paths: Paths, pass_over: Callable[[SgfError], None] | None = None) -> "Iterator[GameTree]":
        """Yield the trees of all games in files, one after the other; see `read_headers` for the arguments.

        A tree is made when it is asked for and not kept, so that files may have hundreds of thousands of games.
        """
        return of_each_game(paths, GameTree._in_collection, pass_over)

    @staticmethod
    def _in_collection(text: str, encoding: str, notes: tuple[str, ...] | None = None) -> "GameTree":
        tree = GameTree(text)
        tree.encoding = encoding
        tree._notes = tree._notes if notes is None else notes
        return tree

    def _nth(self, place: int) -> GameNode:
        return list(self.nodes())[place]

    @staticmethod
    def from_sgfmill(game: sgf.Sgf_game) -> "GameTree":
        """Return the tree of a game of sgfmill; raises SgfError."""
        return GameTree(of_kind(game, sgf.Sgf_game, "game").serialise())

    def to_sgfmill(self) -> sgf.Sgf_game:
        """Return the tree as a game of sgfmill, in UTF-8; raises SgfError for a board that is not square."""
        text = "".join(lines_of(self.root)).encode("utf-8", "replace")
        try:
            return sgf.Sgf_game.from_bytes(text, override_encoding="utf-8")
        except ValueError as error:
            raise SgfError(f"no game for sgfmill: {error}") from None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was passed over or guessed when the record was read."""
        if self._notes is None:
            self._notes = self.record.notes
        return self._notes

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the board in points."""
        return self._board.width, self._board.height

    @property
    def _board(self) -> SgfBoard:
        if self._known_board is None:
            self._known_board = board_of(*GameInfo(self.main_line(), ()).size())
        return self._known_board

    @property
    def record(self) -> SgfRecord:
        """The main line as a plain value, with players, komi, rules and result."""
        return record_of(self.main_line(), self._game_text.notes, self._game_text.cut)

    def game(self, move_number: int | None = None) -> Game:
        """Return the game of the main line as far as it can be played, or as it is before a move, counted from 1.

        Raises SgfError for a number below 1.
        """
        return play_record(self.record, move_number=move_number)[0]

    def main_line(self) -> list[GameNode]:
        """Return the nodes of the main line, the root first."""
        return main_line_from(self.root)

    def nodes_by_moves(self) -> dict[int, GameNode]:
        """Return for each number of moves of the main line the last node after that many moves.

        A number of moves that is reached only within a node has no entry.
        """
        found, moves = {}, 0
        for node in self.main_line():
            moves += node.moves
            found[moves] = node
        return found

    def nodes(self) -> Iterator[GameNode]:
        """Yield all nodes, each before its children: in the order in which SGF writes them."""
        return self.root.walk()

    def node(self, id: int) -> GameNode:
        """Return the node with this `id`; raises SgfError if there is none."""
        found = next((node for node in self.nodes() if node.id == id), None)
        if found is None:
            raise SgfError(f"the game has no node {shown(id)}")
        return found

    def point(self, vertex: Vertex) -> Point:
        """Return the point of a vertex; raises InvalidVertexError for a pass and what is not on the board."""
        width, height = self.size
        return to_stone(vertex, width=width, height=height)

    def vertex(self, point: int) -> str:
        """Return a point as text, such as "Q16", or "pass"."""
        width, height = self.size
        return format_vertex(point, width=width, height=height)

    def _played(self, node: GameNode, rules: Rules | None, komi: float | None) -> tuple[Game, bool]:
        """Return the game at a node, and whether a move more or less leaves all before it as it is.

        It does not where the record leaves open whether there are handicap stones: that depends on the moves.  The line
        that goes on from the node shows who moves first, and where handicap stones stand that the record omits.
        """
        path = node.path()
        nodes = [*path, *main_line_from(node)[1:]]
        part, line = record_of(path), record_of(nodes)
        if len(part.moves) < sum(each.moves for each in path):
            raise SgfError(part.notes[-1])
        is_settled = bool(part.setup_stones) or not any("HA" in each.raw for each in nodes)
        if line.handicap and not part.setup_stones and len(line.moves) >= len(part.moves):
            part = replace(part, handicap=line.handicap, setup_stones=line.setup_stones)
        if not part.moves:
            part = replace(part, first_player=line.first_player)
        return record_to_game(part, rules=rules, komi=komi), is_settled

    def _game_at(self, node: GameNode) -> Game:
        """Return the game at a node, not to be changed; the colour to play is not that of the move that follows.

        It is kept, so that the game at a neighbour takes one move or one undo; but not for the first move, since it may
        change the side that begins.
        """
        if self._last_game is not None:
            last, game = self._last_game
            if node is last:
                return game
            move = node.move if node._is_just_a_move else None
            if move is not None and node.parent is last and game.moves:
                with contextlib.suppress(IllegalMoveError):
                    game.play(move, tolerant=True)
                    self._last_game = node, game
                    return game
            if move is not None and last.parent is node and last._is_just_a_move:
                game.undo()
                self._last_game = node, game
                return game
        game, is_settled = self._played(node, None, None)
        self._last_game = (node, game) if is_settled else None
        return game

    def to_sgf(self) -> str:
        """Return the tree as SGF, as it was read unless it has been edited."""
        if not self._is_edited:
            return self._text
        lines = "\n".join(lines_of(self.root))
        return f"{self._before}{lines}{self._after}"

    def to_bytes(self) -> bytes:
        """Return what `to_sgf` returns, in the record's own encoding, or in UTF-8 if that lacks a character."""
        text = self.to_sgf()
        if self.encoding == "utf-8" and self._text.isascii() and not text.isascii() and not self.root.texts("CA"):
            self.root.set("CA", "UTF-8")  # without it, SGF is Latin-1
            text = self.to_sgf()
        try:
            return encoded(text, self.encoding)
        except UnicodeEncodeError:
            self.root.set("CA", "UTF-8")
            self.encoding = "utf-8"
            return self.to_sgf().encode("utf-8", "replace")

    def save(self, path: str | Path) -> None:
        """Write the tree to a file, whole or not at all; raises SgfError if it cannot be written."""
        with writing(Path(path), SgfError, "record"):
            write_whole(Path(path), self.to_bytes())

    def _edit(self) -> None:
        """Note that the tree is about to be edited."""
        if not self._is_edited:
            self._notes, self._is_edited = self.notes, True
