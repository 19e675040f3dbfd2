"""Book: positions with what a search found about their moves, in a file that grows line by line.

    Book      the positions of a file: find a game's, add one, compute the values of all
    BookPlay  the moves of a book in games, as a search would report them
    BookNode  a position
    BookMove  a move of it: what the position's own search found, and the position that it leads to, once that is there

The file is JSON, a line for the book, then one for each position and for each move that leads to another position:

    {"book": 1, "width": 7, "height": 7, "rules": {…}, "komi": 9.0, "network": "…"}
    {"key": "…", "line": "D4 C3", "visits": 200, "score": 9.1, "error": 0.6, "moves": [["D5", 0.71, 120, 9.3], …]}
    {"at": 0, "move": "D5", "to": 1}

Positions are numbered in their order, from 0, the empty board.  `line` leads to the position, and lies as the board in
its key does, as do the vertices of its moves; a move has its prior, its visits and its mean score.  Only whole lines
count, so what a process was writing when it was killed is left out, and is written again.

**Keys.**  The key of a position is the same for all that mirror each other, and text that people can read: the rows of
the board from the top, the side to play with the passes before it, the point where ko forbids a move if there is one,
and a hash of earlier boards where superko may forbid a move: `.../.X./... w0`.  They are part of the key from the first
capture of the last `HISTORY_BOUND` moves on; before that, and without a capture, they are not.  So cycles up to this
length are told apart, as in KataGo's books (`repBound` in its cpp/configs/book); longer ones may share a position
wrongly.

**Values.**  A position without moves that lead on has the score of its search's most visited move.  Otherwise it is the
best, for the side to play, of the positions that its moves lead to and of the most visited other move, if that had
`LEAST_SHARE` of the visits: what a few visits say of a move is no reason to prefer it.  Lower and upper bounds are the
best bounds in the same manner.  A move's error bars are the network's own error for the position, wider the fewer
visits the move had.  Where a line returns to a position that it came from, that move does not count.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from math import sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ConfigError, RulesError, shown, shown_path
from gtp_engine.base.files import append, complete_lines, expanded, json_of, write_whole, writing
from gtp_engine.base.streams import Log
from gtp_engine.go.constants import BLACK, PASS
from gtp_engine.go.coords import board_points, transformed_points
from gtp_engine.go.game import Game, replayed
from gtp_engine.go.rules import Rules
from gtp_engine.nn.symmetry import cell_orders, symmetry_count
from gtp_engine.search.report import MoveReport, RawEvaluation, SearchReport, winrate_of

HISTORY_BOUND: Final = 9
"""Moves within which a capture makes earlier boards part of a key."""

_LETTERS: Final = bytes.maketrans(bytes((0, 1, 2)), b".XO")


class Placed(NamedTuple):
    """Where a book has a position: its key, and the symmetry that takes the board to the one in the key."""

    key: str
    symmetry: int


def place(game: Game) -> Placed:
    """Return the key of a game's position and how its board lies there."""
    boards = _boards_that_matter(game)
    side = "b" if game.to_play == BLACK else "w"
    turn, points = f"{side}{min(2, game.consecutive_passes)}", [*board_points(game.width, game.height)]
    found = []
    for symmetry in range(symmetry_count(game.width, game.height)):
        order = cell_orders(game.width, game.height)[symmetry]
        rows = _rows(boards[-1][0][order], game.width)
        ko = [] if game.ko_point is None else [f"ko{[*order].index(points.index(game.ko_point))}"]
        earlier = sorted({f"{_rows(cells[order], game.width)} {color}" for cells, color in boards[:-1]})
        past = [blake2b("".join(earlier).encode(), digest_size=6).hexdigest()] if earlier else []
        found.append((" ".join([rows, turn, *ko, *past]), symmetry))
    return Placed(*min(found))


def orientation(game: Game) -> int:
    """Return the symmetry that takes the stones on a board, which keeps its size, to one and the same orientation."""
    cells, size = game.board.color[[*board_points(game.width, game.height)]], (game.width, game.height)
    return min(range(symmetry_count(*size)), key=lambda symmetry: cells[cell_orders(*size)[symmetry]].tolist())


def mirrored(point: int, symmetry: int, board: tuple[int, int], *, back: bool = False) -> int:
    """Return the point of a board, width and height, to which a symmetry takes a point, or with `back` from where."""
    points = transformed_points(symmetry, *board)
    return next(old for old, new in points.items() if new == point) if back else points[point]


def to_play_of(key: str) -> str:
    """Return the side to play in a position, "b" or "w"."""
    return key.split()[1][0]


def _rows(cells: NDArray[np.uint8], width: int) -> str:
    """Return the colours of all cells as text, row by row."""
    text = cells.tobytes().translate(_LETTERS).decode()
    return "/".join(text[start : start + width] for start in range(0, len(text), width))


def _boards_that_matter(game: Game) -> list[tuple[NDArray[np.uint8], int]]:
    """Return the colours of the cells, and the side to play, from the first capture that matters to the position."""
    points, moves = list(board_points(game.width, game.height)), game.moves
    boards = [
        (past.board.color[points].astype(np.uint8), int(color))
        for past, color in zip(replayed(game), [*(move.color for move in moves), game.to_play], strict=True)
    ]
    counts = [np.count_nonzero(cells) for cells, _ in boards]
    recent = range(max(0, len(moves) - HISTORY_BOUND), len(moves))
    captures = (number for number in recent if moves[number].point != PASS and counts[number + 1] <= counts[number])
    return boards[next(captures, len(moves)) :]


FORMAT: Final = 1
"""The number of this format in a book's first line."""

SMALLEST: Final = 5
LARGEST: Final = 9
"""Sides of the boards for which there are books."""

LEAST_SHARE: Final = 0.1
"""Share of a position's visits with which a move counts that leads to no position of the book."""

DECIMALS: Final = 4
"""Decimals of the numbers of a book, which are rounded before they are used: a book is the same when it is read."""

_EXACT: Final = 1e-6
"""Width, in points, of the error bars of a value that is exact."""

MOST_SPREAD: Final = 4.0
"""How many times as wide the error bars of a move with few visits are at most."""


class Interval(NamedTuple):
    """A value with its error bars; points on the board for Black."""

    value: float
    lower: float
    upper: float


_NOTHING: Final = Interval(0.0, 0.0, 0.0)


@dataclass
class BookMove:
    """A move of a position: what the search of the position found, and the number of the position it leads to."""

    vertex: str
    prior: float
    visits: int
    score: float
    """Points on the board for Black."""
    to: int | None = None
    is_cycle: bool = False
    """Whether it leads back to a position before this one, so that it does not count."""


@dataclass
class BookNode:
    """A position; `line` leads to it from the empty board, `score` and `error` are its search's, in points.

    `found` is its value by minimax, see the module.
    """

    key: str
    line: tuple[str, ...]
    visits: int
    score: float
    error: float
    moves: list[BookMove] = field(default_factory=list)
    found: Interval = _NOTHING

    @property
    def sign(self) -> float:
        """1 where Black is to play, else −1."""
        return 1.0 if to_play_of(self.key) == "b" else -1.0

    @property
    def linked(self) -> list[BookMove]:
        """The moves that lead to positions of the book."""
        return [move for move in self.moves if move.to is not None]

    def to_json(self) -> dict[str, Any]:
        """Return what the file has of the position."""
        moves = [[move.vertex, move.prior, move.visits, move.score] for move in self.moves]
        return {
            "key": self.key,
            "line": " ".join(self.line),
            "visits": self.visits,
            "score": self.score,
            "error": self.error,
            "moves": moves,
        }


class BookReply(NamedTuple):
    """A move of the book in a game: the point of the game's board, and the move with its value."""

    point: int
    move: BookMove
    found: Interval


@dataclass(frozen=True)
class BookHeader:
    """What a book is for and how its positions are searched."""

    width: int
    height: int
    rules: Rules
    komi: float
    network: str = ""

    def game(self, line: Sequence[str] = ()) -> Game:
        """Return the game after moves on the empty board; raises IllegalMoveError and InvalidVertexError."""
        game = Game(self.width, self.height, self.rules, self.komi)
        for vertex in line:
            game.play(vertex)
        return game

    def to_json(self) -> dict[str, Any]:
        """Return the first line of the file."""
        return {"book": FORMAT} | vars(self) | {"rules": json.loads(self.rules.to_json())}

    def misfit(self, game: Game) -> str | None:
        """Return why the book is not for a game, None if it is."""
        if (game.width, game.height) != (self.width, self.height):
            return f"it is for {self.width}x{self.height}, the game is on {game.width}x{game.height}"
        if game.rules != self.rules:
            return f"it is for the rules {self.rules.to_json()}, the game has {game.rules.to_json()}"
        return None


class Book:
    """The positions of a book, with values; `Book.load` reads a file, `create` begins one."""

    def __init__(self, path: Path, header: BookHeader) -> None:
        self.path: Final = path
        self.header: Final = header
        self.nodes: Final[list[BookNode]] = []
        self._numbers: Final[dict[str, int]] = {}

    @staticmethod
    def create(path: Path, header: BookHeader) -> "Book":
        """Return a new book without positions, whose file is written; raises ConfigError."""
        if not SMALLEST <= header.width <= LARGEST or not SMALLEST <= header.height <= LARGEST:
            given = f"a book for {header.width}x{header.height}"
            raise ConfigError(given, expected=f"sides from {SMALLEST} to {LARGEST}")
        with writing(path, ConfigError, "book"):
            write_whole(path, _line(header.to_json()))
        return Book(path, header)

    @staticmethod
    def load(path: Path, *, cut: bool = False) -> "Book":
        """Return the book in a file, with values; raises ConfigError, which names the line that is wrong.

        `cut`, for the process that is going to add positions, cuts off a last line that is not whole.
        """
        try:
            path.stat()  # an error where there is none
            lines = complete_lines(path, cut=cut)
        except OSError as error:
            advice = "`gtp-engine book make` makes one"
            given = f"cannot read book {shown_path(path)}: {error.strerror or error}"
            raise ConfigError(given, advice=advice) from error
        book = Book(path, _header_of(path, lines))
        for number, line in enumerate(lines[1:], start=2):
            try:
                book._take(json_of(line))
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                given = f"book {shown_path(path)}, line {number}: {shown(line)}"
                raise ConfigError(given, expected="a position, or a move between two") from error
        book.compute()
        return book

    def _take(self, data: dict[str, Any]) -> None:
        """Take over a line of the file; raises ValueError, LookupError, TypeError for what is none."""
        if "at" in data:
            numbers = range(len(self.nodes))  # whose `index` refuses everything else
            node, to = self.nodes[numbers.index(data["at"])], numbers.index(data["to"])
            {move.vertex: move for move in node.moves}[data["move"]].to = to
            return
        moves = [BookMove(str(v), float(p), int(n), float(s)) for v, p, n, s in data["moves"]]
        line = tuple(str(data["line"]).split())
        key, visits, score, error = str(data["key"]), int(data["visits"]), float(data["score"]), float(data["error"])
        to_play_of(key)
        if key in self._numbers:
            raise ValueError(f"position {key} a second time")
        self._add_node(BookNode(key, line, visits, score, error, moves))

    def _add_node(self, node: BookNode) -> None:
        self._numbers[node.key] = len(self.nodes)
        self.nodes.append(node)

    # --- growing ---

    def extend(self, found: Sequence[tuple[BookNode, BookMove | None, BookNode | None]]) -> None:
        """Add positions, each with the position and the move that lead to it, None for the empty board.

        Those that are there already are only led to.  All are on the disk afterwards, and values are computed again.
        Raises ConfigError if they cannot be written; what has been written counts the next time that the file is read.
        """
        lines = []
        for before, move, after in found:
            node = before if after is None else after
            if node.key not in self._numbers:
                self._add_node(node)
                lines.append(_line(node.to_json()))
            if move is not None:
                move.to = self._numbers[node.key]
                lines.append(_line({"at": self._numbers[before.key], "move": move.vertex, "to": move.to}))
        with writing(self.path, ConfigError, "book"):
            append(self.path, "".join(lines))
        self.compute()

    # --- reading ---

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.nodes)

    def node(self, key: str) -> BookNode | None:
        """Return the position with a key, None if it is not in the book."""
        number = self._numbers.get(key)
        return None if number is None else self.nodes[number]

    def find(self, game: Game) -> list[BookReply]:
        """Return the moves that the book has for a game's position, the best first; none if it has nothing to say.

        It has for positions from which it leads on; whether it is for such games is for the caller to ask
        (`BookHeader.misfit`).  Of moves that mirror each other one is named.
        """
        key, symmetry = place(game)
        node = self.node(key)
        if node is None or not node.linked:
            return []
        replies = []
        for move, found in self.options(node):
            point = mirrored(game.point(move.vertex), symmetry, (game.width, game.height), back=True)
            if game.is_legal(point):
                replies.append(BookReply(point, move, found))
        return replies

    def options(self, node: BookNode) -> list[tuple[BookMove, Interval]]:
        """Return the moves of a position that count, with their values, the best first; see the module."""
        counted = [(move, self.interval(node, move)) for move in node.linked if not move.is_cycle]
        rest = max((move for move in node.moves if move.to is None), key=lambda move: move.visits, default=None)
        if rest is not None and (not counted or rest.visits >= LEAST_SHARE * node.visits):
            counted.append((rest, self.interval(node, rest)))
        return sorted(counted, key=lambda option: (-node.sign * option[1].value, -option[0].visits))

    def interval(self, node: BookNode, move: BookMove) -> Interval:
        """Return the value of a move: of the position that it leads to, else by the search of its own position."""
        if move.to is not None:
            return self.nodes[move.to].found
        error = node.error * min(MOST_SPREAD, sqrt(node.visits / max(1, move.visits)))
        return Interval(move.score, move.score - error, move.score + error)

    def minimax(self, node: BookNode) -> Interval:
        """Return the value of a position by those of its moves."""
        found = [interval for _, interval in self.options(node)]
        if not found:
            return Interval(node.score, node.score - node.error, node.score + node.error)
        best: Callable[..., float] = max if node.sign > 0.0 else min
        return Interval(*(best(values) for values in zip(*found, strict=True)))

    # --- values ---

    def compute(self) -> None:
        """Compute the value of every position from those of the positions that its moves lead to."""
        state = bytearray(len(self.nodes))  # 1: on the line that is followed, 2: computed
        for start in range(len(self.nodes)):
            line = [] if state[start] else [(start, iter(self.nodes[start].linked))]
            while line:  # without recursion, as lines may be long
                number, moves = line[-1]
                state[number] = 1
                move = next(moves, None)
                if move is None:
                    line.pop()
                    state[number] = 2
                    self.nodes[number].found = self.minimax(self.nodes[number])
                    continue
                assert move.to is not None, "linked moves lead somewhere"
                move.is_cycle = state[move.to] == 1
                if state[move.to] == 0:
                    line.append((move.to, iter(self.nodes[move.to].linked)))

    def best_line(self, node: BookNode | None = None) -> list[tuple[BookMove, BookNode]]:
        """Return the best moves from a position (default: the empty board) on, each with the position before it."""
        line: list[tuple[BookMove, BookNode]] = []
        node = node or (self.nodes[0] if self.nodes else None)
        while node is not None and len(line) < len(self.nodes):
            options = self.options(node)
            if not options:
                break
            line.append((options[0][0], node))
            to = options[0][0].to
            node = None if to is None else self.nodes[to]
        return line


def shown_interval(found: Interval) -> str:
    """Return a value with its bounds: "B+9.1 (from B+8.4 to B+9.9)", points on the board."""
    return f"{_shown(found.value)} (from {_shown(found.lower)} to {_shown(found.upper)})"


def _shown(points: float) -> str:
    return f"{'B' if points >= 0.0 else 'W'}+{abs(points):.1f}"


class BookPlay:
    """Finds the moves of a book in games; `log` is told once of each kind of game that it is not for.

    Raises ConfigError if the file of the book cannot be read.
    """

    def __init__(self, path: str, log: Log) -> None:
        file = expanded(path)
        self._book: Final = _book_at(file, file.stat().st_mtime if file.exists() else 0.0)
        self._log: Final = log
        self._told: Final[set[str]] = set()

    def report(self, game: Game) -> SearchReport | None:
        """Return the moves of the book for a game's position, the best first; None where it has none, or says to pass.

        Whether to pass is for the engine to decide.
        """
        if misfit := self._book.header.misfit(game):
            if misfit not in self._told:
                self._told.add(misfit)
                self._log(f"The book {shown_path(self._book.path)} is not played from: {misfit}.")
            return None
        replies = self._book.find(game)
        if not replies or replies[0].point == PASS:
            return None
        self._log(f"{game.vertex(replies[0].point)} from the book: {shown_interval(replies[0].found)}")
        return _report(game, replies)


@lru_cache(maxsize=4)
def _book_at(path: Path, changed: float) -> Book:
    """Return the book of a file that was changed last at this time; several engines share it."""
    return Book.load(path)


def _report(game: Game, replies: Sequence[BookReply]) -> SearchReport:
    """Return moves of a book as a search's report: points with the game's komi, winrates by the error bars."""
    policy = np.zeros(game.board.color.size, dtype=np.float32)
    moves: list[MoveReport] = []
    for reply in replies:
        policy[reply.point] = reply.move.prior
        score, value = reply.found.value - game.area_komi, _value_black(reply.found, game.area_komi)
        sign = 1.0 if game.to_play == BLACK else -1.0
        moves.append(
            MoveReport(
                reply.point,
                reply.move.visits,
                value_black=value,
                expected_black=value,
                pv=(reply.point,),
                pv_visits=(reply.move.visits,),
                prior=reply.move.prior,
                lcb=winrate_of(value, game.to_play),
                utility_black=value,
                utility_lcb=sign * value,
                score_black=score,
                lead_black=score,
                score_stdev=(reply.found.upper - reply.found.lower) / 2.0,
                weight=float(reply.move.visits),
                selection_weight=float(len(replies) - len(moves)),
            )
        )
    best, visits = moves[0], sum(move.visits for move in moves)
    nothing = np.zeros(game.board.color.size)
    raw = RawEvaluation(
        winrate_of(best.value_black, BLACK),
        best.lead_black,
        best.score_black,
        best.score_stdev,
        no_result=0.0,
        winloss_error=-1.0,
        score_error=best.score_stdev,
        time_left=0.0,
        policy=policy,
        ownership_black=nothing.astype(np.float32),
    )
    return SearchReport(
        int(game.to_play),
        visits,
        0,
        0.0,
        tuple(moves),
        0,
        nothing,
        value_black=best.value_black,
        utility_black=best.value_black,
        score_black=best.score_black,
        score_stdev=best.score_stdev,
        lead_black=best.lead_black,
        weight=float(visits),
        raw=raw,
    )


def _value_black(found: Interval, komi: float) -> float:
    """Return Black's result in [−1, 1]: what of the error bars is more than komi, less what is not."""
    if found.upper - found.lower < _EXACT:
        return float(np.sign(found.value - komi))
    return 2.0 * min(1.0, max(0.0, (found.upper - komi) / (found.upper - found.lower))) - 1.0


def _header_of(path: Path, lines: Sequence[str]) -> BookHeader:
    """Return what the first line of a file says; raises ConfigError."""
    try:
        data = json_of(lines[0])
        if data["book"] != FORMAT:
            raise ValueError(data["book"])
        rules = Rules.parse(json.dumps(data["rules"]))
        header = BookHeader(int(data["width"]), int(data["height"]), rules, float(data["komi"]), str(data["network"]))
        header.game()
    except (ValueError, LookupError, TypeError, RulesError) as error:
        given = f"{shown_path(path)}, which begins with {shown(lines[0] if lines else '')}"
        raise ConfigError(given, expected=f"a book of format {FORMAT}") from error
    return header


def _line(data: dict[str, Any]) -> str:
    """Return a line of the file."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n"
