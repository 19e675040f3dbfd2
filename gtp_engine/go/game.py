"""A game of Go: a board with its rules, moves, passes, handicap, end and score; `superko` keeps its positions.

Not here: search, evaluation, protocols.  Moves may come in any order of colours, because game records and front ends
contain such games; the side to play follows from the last move, unless it has been set after that.

The state of a game is its set-up, its list of moves, and the side to play if that was set.  Everything else is derived
from these by playing the moves in order; `undo` takes back what each of them changed.  All of it is plain Python: the
arrays that kernels read are made of the moves when they are asked for (`Game.board`).
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from itertools import chain, takewhile
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gtp_engine.base.errors import (
    ArgumentError,
    CannotUndoError,
    IllegalMoveError,
    InvalidColorError,
    InvalidVertexError,
    KomiError,
    counted,
    shown,
)
from gtp_engine.go.constants import (
    BLACK,
    BUTTON_POINTS,
    EMPTY,
    KEYS,
    NULL_POINT,
    OCCURRENCES_WITHOUT_RESULT,
    PASS,
    WHITE,
    opponent,
    size_key,
)
from gtp_engine.go.coords import (
    COLORS,
    TRANSPOSE,
    AnyMove,
    Color,
    Move,
    Point,
    board_points,
    check_size,
    points_by_number,
    to_color,
    to_point,
    to_stone,
    transformed_points,
)
from gtp_engine.go.diagram import draw_svg, format_board, parse_board
from gtp_engine.go.rules import Ko, Rules, Scoring
from gtp_engine.go.scoring import Score, SideCount, tally_position, territory_of
from gtp_engine.go.stones import Played, Stones
from gtp_engine.go.superko import History

if TYPE_CHECKING:
    from datetime import date

    import numpy as np
    from numpy.typing import NDArray

    from gtp_engine.go.board import Board

T = TypeVar("T")

_REASONS: Final = {
    "occupied": "{vertex} is occupied",
    "ko": "{vertex} retakes a ko",
    "superko": "{vertex} repeats an earlier position",
    "suicide": "{vertex} is suicide",
}
_RECORDS: Final = "gtp_engine.sgf"
"""The package for records, which stands above this one and is imported on demand."""


class Game:
    """A game on a board of `width` by `height` (default 19; the height defaults to the width).

    `rules`, or the text that `Rules.parse` reads, default to Chinese rules, `komi` (any finite number, points for
    White) to the usual one under the rules.  Methods take colours and points also as text ("black", "Q16"), and return
    `Color`s and `Point`s, numbers that print as words and vertices.  `game["E5"]` is the colour there.  Games are equal
    that have the same size, rules, komi, set-up, moves and side to play.  Raises InvalidSizeError, RulesError and
    KomiError; methods raise InvalidVertexError for what is not a point of the board, InvalidColorError for no colour.

    >>> game = Game(9, rules="japanese")
    >>> game.play("E5"), game.to_play, game["E5"], game.komi
    (Move(color=BLACK, point=E5), WHITE, BLACK, 6.5)
    """

    __hash__ = None  # type: ignore[assignment]
    __iter__ = None  # by `__getitem__` it would go through points from 0 on

    def __init__(
        self, width: int = 19, height: int | None = None, rules: Rules | str | None = None, komi: float | None = None
    ) -> None:
        self.width: Final = width
        self.height: Final = width if height is None else height
        check_size(self.width, self.height)
        self._rules = Rules.of("chinese" if rules is None else rules)
        self._komi = self._rules.default_komi() if komi is None else _checked_komi(komi)
        self._setup_stones: tuple[Move, ...] = ()
        self._first_player = BLACK
        self._all_points = points_by_number(self.width, self.height)
        self.handicap_by_moves = True
        """Whether Black's moves in a row at the start count as handicap."""
        self._stones = Stones(self.width, self.height)
        self._moves: list[Move] = []
        self._next_player: int | None = None
        self._played: list[Played | int] = []  # what undoing each move needs: for a pass, the ko before it
        self._history = History()
        """The positions before any move, or since the button was taken."""
        # The arrays for kernels, if they have been asked for, after this number of moves; −1 is before the set-up.
        self._board: Board | None = None
        self._moves_on_board = -1
        self._restart(self._stones)

    @staticmethod
    def from_sgf(data: bytes | str, move_number: int | None = None) -> "Game":
        """Return the game of a record in SGF, GIB, NGF or UGF, along its main line; text is taken for SGF.

        With `move_number` N (from 1) it is the position before move N.  A record is played as far as it can be read and
        played; `GameTree` says what was left out.  Raises SgfError for what is not a record of Go.
        """
        game: Game = import_module(_RECORDS).game_of(data, move_number)
        return game

    def to_sgf(
        self, *, black_name: str = "", white_name: str = "", result: "str | Score" = "", date: "str | date" = ""
    ) -> str:
        """Return the game as SGF; names, `result` ("B+3.5", "W+R", "0") and `date` (ISO) are left out if empty.

        `from_sgf` turns it into an equal game.
        """
        names = {"black_name": black_name, "white_name": white_name}
        text: str = import_module(_RECORDS).format_sgf(self, **names, result=result, date=date)
        return text

    # --- state ---

    @property
    def rules(self) -> Rules:
        """The rules; setting them keeps board and moves, and superko then covers the whole game."""
        return self._rules

    @rules.setter
    def rules(self, rules: Rules | str) -> None:
        rules = Rules.of(rules)
        is_button_new = rules.has_button != self._rules.has_button
        self._rules = rules
        if is_button_new:
            next_player = self._next_player
            self._replay(self._moves)
            self._next_player = next_player

    @property
    def komi(self) -> float:
        """Points White receives; any finite number, else KomiError."""
        return self._komi

    @komi.setter
    def komi(self, komi: float) -> None:
        self._komi = _checked_komi(komi)

    @property
    def board(self) -> "Board":
        """The board's arrays, for kernels that only read; `board.clone` copies them."""
        from gtp_engine.go.board import new_board, play_moves  # here: it imports numpy

        if self._board is None:
            self._board, self._moves_on_board = new_board(self.width, self.height), -1
        if self._moves_on_board < len(self._moves):
            stones = self._setup_stones if self._moves_on_board < 0 else ()
            play_moves(self._board, stones, self._moves[max(self._moves_on_board, 0) :])
            self._moves_on_board = len(self._moves)
        return self._board

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves and passes so far, without set-up and handicap stones."""
        return tuple(self._moves)

    @property
    def setup_stones(self) -> tuple[Move, ...]:
        """The stones, handicap stones among them, that were on the board before the first move."""
        return self._setup_stones

    @property
    def to_play(self) -> Color:
        """The colour whose turn it is: the opponent of the last move, or of the handicap.

        Setting it gives the turn to that colour until a move is played or taken back.
        """
        if self._next_player is not None:
            return COLORS[self._next_player]
        return COLORS[opponent(self._moves[-1].color) if self._moves else self._first_player]

    @to_play.setter
    def to_play(self, color: int | str) -> None:
        color = to_color(color)
        if self._moves:
            self._next_player = color
        else:
            self._first_player = color
            self._restart(self._stones)

    @property
    def first_player(self) -> Color:
        """The colour that moves first after set-up and handicap."""
        return COLORS[self._first_player]

    @property
    def last_move(self) -> Move | None:
        """The last move or pass, or None."""
        return self._moves[-1] if self._moves else None

    @property
    def ko_point(self) -> Point | None:
        """The point where a simple ko may not be retaken now, or None."""
        return self._all_points.get(self._stones.ko_point)

    @property
    def captures(self) -> dict[Color, int]:
        """The number of stones captured by each colour."""
        return {color: self._stones.captured[color.opponent] for color in (Color.BLACK, Color.WHITE)}

    @property
    def stones(self) -> dict[Point, Color]:
        """The colours of the stones on the board by point, row by row from the top left."""
        colors, points = self._stones.color, self._all_points.values()
        return {point: COLORS[colors[point]] for point in points if point != PASS and colors[point] != EMPTY}

    @property
    def hash(self) -> int:
        """The Zobrist hash of stones and size, 64 bits; it does not depend on the side to play."""
        return self._stones.hash

    @property
    def consecutive_passes(self) -> int:
        """The number of passes at the end of the game so far; a pass that took the button does not count."""
        counted_moves = range(len(self._moves) - 1, -1 if (button := self._button_move()) is None else button, -1)
        return sum(1 for _ in takewhile(lambda number: self._moves[number].point == PASS, counted_moves))

    @property
    def is_over(self) -> bool:
        """Whether the last two moves were passes (the one that took the button not counted); play may go on."""
        return self.consecutive_passes >= 2

    @property
    def has_no_result(self) -> bool:
        """Whether the last move ended the game without result, by a long cycle such as a triple ko; play may go on.

        Under simple ko, the position on the board has then occurred `OCCURRENCES_WITHOUT_RESULT` times since the last
        pass, with the same side to play.
        """
        if self._rules.ko is not Ko.SIMPLE:
            return False
        return self._since_pass().count(self._history.keys[-1]) >= OCCURRENCES_WITHOUT_RESULT

    @property
    def handicap(self) -> int:
        """The number of handicap stones.

        They are the black stones set up on a board without white ones, and the moves Black made in a row at the start
        (White may have passed between them) if `handicap_by_moves`; a single one is an ordinary first move.  KataGo
        counts in the same way.
        """
        if any(stone.color == WHITE for stone in self._setup_stones):
            return 0
        stones = len(self._setup_stones)
        if self.handicap_by_moves:
            stones += self._black_moves_at_start()
        return stones if stones >= 2 else 0

    @property
    def button_black(self) -> float:
        """Points Black has from the button: 0.5, −0.5, or 0 while it is free or where there is none."""
        number = self._button_move()
        if number is None:
            return 0.0
        return BUTTON_POINTS if self._moves[number].color == BLACK else -BUTTON_POINTS

    @property
    def has_free_button(self) -> bool:
        """Whether the rules have a button and neither side has taken it."""
        return self._rules.has_button and self._button_move() is None

    @property
    def area_komi(self) -> float:
        """Points White gets beside the area of both sides, so that Black wins by area margin − this.

        These are komi, the handicap bonus and, under area rules, the button.  Under territory rules the area margin is
        larger than the territory margin by the stones Black has placed more than White, set-up and handicap stones
        included.
        """
        komi = self._komi + self._rules.handicap_points(self.handicap)
        if self._rules.scoring is Scoring.AREA:
            return komi - self.button_black
        placed = Counter[int](move.color for move in (*self._setup_stones, *self._moves) if move.point != PASS)
        return komi + placed[BLACK] - placed[WHITE]

    def color_at(self, point: int | str) -> Color:
        """Return EMPTY, BLACK or WHITE."""
        return COLORS[self._stones.color[self._on_board(point)]]

    __getitem__ = color_at

    def point(self, vertex: int | str) -> Point:
        """Return a point of the board, or the pass, from a vertex or a number."""
        if type(vertex) is Point and self._all_points.get(vertex) is vertex:
            return vertex
        return to_point(vertex, width=self.width, height=self.height)

    def vertex(self, point: int | str) -> str:
        """Return a point as text, such as "Q16", or "pass"."""
        return self.point(point).vertex

    def chain(self, point: int | str) -> list[Point]:
        """Return the points of the chain on `point`, sorted; empty for an empty point."""
        return self._points(sorted(self._stones.chain(self._on_board(point))))

    def liberties(self, point: int | str) -> list[Point]:
        """Return the liberties of the chain on `point`, sorted; none for an empty point."""
        return self._points(sorted(self._stones.liberties(self._on_board(point))))

    def is_in_ladder(self, point: int | str) -> bool:
        """Return whether a ladder captures the chain on `point`; no empty point is in one.

        That is a chain in atari that cannot escape though it moves first, or one of two liberties that an unbroken
        series of ataris captures if the opponent moves first.
        """
        from gtp_engine.go.ladder import stones_in_ladders  # here, as in what follows: it imports numpy

        return bool(stones_in_ladders(self.board)[self._on_board(point)])

    def ladder_moves(self, point: int | str) -> list[Point]:
        """Return the opponent's first moves that capture the chain on `point`, at once or in a ladder.

        Empty for a chain that no ladder captures, and for an empty point.
        """
        from gtp_engine.go.ladder import working_attacks

        number = self._on_board(point)
        return self._points(working_attacks(self.board, number)) if self._stones.color[number] != EMPTY else []

    def eyes(self, color: int | str) -> list[Point]:
        """Return the empty points that are eyes of `color` and cannot become false; single points only."""
        from gtp_engine.go.tactics import real_eyes

        return self._points(real_eyes(self.board, to_color(color)))

    def pass_alive(self, color: int | str) -> list[Point]:
        """Return the points of `color` that are safe though it passes for ever: living stones and their territory.

        By Benson's algorithm, under the suicide rule of the game.
        """
        from gtp_engine.go.benson import pass_alive_owners

        owners, color = pass_alive_owners(self.board, suicide=self._rules.suicide).tolist(), to_color(color)
        return self._points(point for point in board_points(self.width, self.height) if owners[point] == color)

    def territory(self, color: int | str, dead: Collection[int | str] = ()) -> list[Point]:
        """Return the empty points that reach only stones of `color`, once the chains on `dead` are taken off."""
        color, colors = to_color(color), self._stones.color.copy()
        for point in self._chains_on(dead):
            colors[point] = EMPTY
        owners = territory_of(colors, self.width + 1)
        return self._points(point for point in board_points(self.width, self.height) if owners[point] == color)

    def as_move(self, move: object) -> Move:
        """Return a Move, or another pair of colour and point, either perhaps as text, as a Move on this board."""
        if not isinstance(move, tuple) or len(move) != 2:
            raise InvalidVertexError(f"move {shown(move)}", expected="a Move of color and point")
        return Move(to_color(move[0]), self.point(move[1]))

    def resolve(self, move: AnyMove | int | str, color: int | str | None) -> Move:
        """Return the move that arguments of `play` describe."""
        if isinstance(move, tuple):
            if isinstance(move, Move) and type(move[0]) is Color and self._all_points.get(move[1]) is move[1]:
                found = move
            else:
                found = self.as_move(move)
            if color is not None and to_color(color) != found.color:
                raise InvalidColorError(f"move {found} as one of {to_color(color)}", expected="one color")
            return found
        return Move(self.to_play if color is None else to_color(color), self.point(move))

    # --- legality ---

    def illegal_reason(self, point: int | str, color: int | str | None = None) -> str | None:
        """Return None if `color` (default: the side to play) may play on `point`, else the reason as one word.

        The reasons are "occupied", "ko", "suicide" and "superko".  A pass is always legal.
        """
        color = self.to_play if color is None else to_color(color)
        return self._why_illegal(int(self.point(point)), int(color))

    def repeating_points(self, color: int | str) -> list[Point]:
        """Return the points where a ko or superko forbids `color` to play."""
        color, points = int(to_color(color)), board_points(self.width, self.height)
        if self._rules.ko is Ko.SIMPLE:
            points = () if self.ko_point is None else (self.ko_point,)
        return self._points(point for point in points if self._why_illegal(point, color) in ("ko", "superko"))

    def _why_illegal(self, point: int, color: int) -> str | None:
        """Return what `illegal_reason` does."""
        if point == PASS:
            return None
        stones = self._stones
        if stones.color[point] != EMPTY:
            return "occupied"
        if point == stones.ko_point and color == stones.ko_color:
            return "ko"
        key, suicide = stones.hash_after(point, color)
        if suicide and (suicide == 1 or not self._rules.suicide):
            return "suicide"
        return "superko" if self._history.forbids(self._rules.ko, key, 3 - color) else None

    def is_legal(self, move: AnyMove | int | str, color: int | str | None = None) -> bool:
        """Return whether a move (a Move, a point or a vertex such as "Q16") is legal under the rules."""
        color, point = self.resolve(move, color)
        return self._why_illegal(int(point), int(color)) is None

    def legal_points(self, color: int | str | None = None) -> list[Point]:
        """Return the points where `color` (default: the side to play) may play; the pass is not among them."""
        color = int(self.to_play if color is None else to_color(color))
        legal = [p for p in board_points(self.width, self.height) if self._why_illegal(p, color) is None]
        return self._points(legal)

    def superko_keys(self) -> "NDArray[np.uint64]":
        """Return the keys of all positions that may not occur again, uint64[positions], none under simple ko.

        A key is the position's `hash`, under situational superko with the side to play (`constants.KEYS`).
        """
        import numpy as np

        history = self._history
        keys = {Ko.SIMPLE: [], Ko.POSITIONAL: history.hashes, Ko.SITUATIONAL: history.keys}[self._rules.ko]
        return np.array(list(dict.fromkeys(keys)), dtype=np.uint64)

    def keys_since_pass(self) -> "NDArray[np.uint64]":
        """Return the keys of the positions since the last pass with their side to play, uint64[positions].

        Each stands there as often as it occurred.  They decide whether a game under simple ko `has_no_result`.
        """
        import numpy as np

        return np.array(self._since_pass(), dtype=np.uint64)

    # --- playing ---

    def play(self, move: AnyMove | int | str, color: int | str | None = None, *, tolerant: bool = False) -> Move:
        """Play a move (a Move, a point, PASS, or a vertex such as "Q16" or "pass") and return it.

        `color` defaults to the side to play; either side may move at any time.  `tolerant` permits what records contain
        though the rules of the game forbid it: repetitions, the retaking of a ko and suicide of several stones.
        Raises IllegalMoveError; the game is unchanged then.
        """
        played = self.resolve(move, color)
        reason = self._try(int(played.point), int(played.color), tolerant)
        if reason is not None:
            raise IllegalMoveError(reason, f"illegal move: {self.explain(reason, played.point)}")
        self._moves.append(played)
        return played

    def undo(self, count: int = 1) -> None:
        """Take back the last `count` moves; raises CannotUndoError (and does nothing) if there are fewer."""
        if not (isinstance(count, Integral) and 0 <= count <= len(self._moves)):
            played = len(self._moves)
            raise CannotUndoError(f"cannot undo: {shown(count)} asked for, {played or 'none'} to take back")
        for _ in range(count):
            last = len(self._moves) - 1
            if self._moves[last].point == PASS and self._button_move() == last:  # the positions before it count again
                self._replay(self._moves[:last])
                continue
            self._next_player = None
            self._history.remove_last()
            self._moves.pop()
            played = self._played.pop()
            if isinstance(played, int):
                self._stones.ko_point = played
            else:
                self._stones.undo(played)
        if self._moves_on_board > len(self._moves):
            self._board = None

    def set_up(self, stones: Iterable[AnyMove], first_player: int | str = BLACK) -> None:
        """Replace the position by `stones`, in which every chain must have a liberty; history starts there.

        Raises IllegalMoveError (the game is unchanged) for two stones on one point or a chain without liberties.
        """
        first_player = to_color(first_player)
        placed = tuple(map(self.as_move, several(stones)))
        position = self._stones_of(placed)
        self._setup_stones = placed
        self._first_player = first_player
        self._restart(position)

    def set_handicap(self, points: Iterable[int | str]) -> None:
        """Replace the position by black handicap stones; White moves first.  Raises as `set_up` does."""
        self.set_up([(BLACK, point) for point in self.all_on_board(points)], WHITE)

    # --- results ---

    def score(self, dead: Collection[int | str] = ()) -> Score:
        """Return the score after removing the chains on the points `dead`."""
        tally = self.tally(dead)
        return Score(float(tally[Color.BLACK].total), tally[Color.WHITE].total)

    def tally(self, dead: Collection[int | str] = ()) -> dict[Color, SideCount]:
        """Return what the points of each colour are made of without the chains on `dead`."""
        button = self.button_black
        if self.has_free_button:
            button = BUTTON_POINTS if self.to_play == BLACK else -BUTTON_POINTS
        komi = self._komi + self._rules.handicap_points(self.handicap) - button
        stones, points = self._stones, self._chains_on(dead)
        return tally_position(
            stones.color, self.width + 1, self._rules, captured=stones.captured, komi=komi, dead=points
        )

    # --- as pictures and arrays ---

    @staticmethod
    def from_diagram(text: str, *, to_play: int | str | None = None, rules: Rules | str | None = None) -> "Game":
        """Return a game that begins with the stones of a diagram, as `diagram` draws it, or without its borders.

        X and # are black, O and @ white, "." and "+" empty points.  `to_play` defaults to the side that the text
        names, else to Black.  Raises ArgumentError for a line that is not one of a diagram, InvalidSizeError, and
        IllegalMoveError for a chain without a liberty.
        """
        colors, named = parse_board(text)
        game = Game(len(colors[0]), len(colors), rules)
        points = board_points(game.width, game.height)
        placed = zip(chain(*colors), points, strict=True)
        stones = [Move(COLORS[color], game._all_points[point]) for color, point in placed if color != EMPTY]
        game.set_up(stones, named if to_play is None else to_play)
        return game

    def to_numpy(self) -> "NDArray[np.int8]":
        """Return the colours of the points, int8[H, W], the top row first: 0 empty, 1 black, 2 white."""
        import numpy as np

        colors = [self._stones.color[point] for point in board_points(self.width, self.height)]
        return np.array(colors, dtype=np.int8).reshape(self.height, self.width)

    def transformed(self, symmetry: int) -> "Game":
        """Return the game in another orientation, 0 to 7 as KataGo numbers them.

        Of its bits 1 mirrors top and bottom, 2 left and right, and 4 exchanges x and y after that.  Raises
        ArgumentError for another number.
        """
        points = transformed_points(symmetry, self.width, self.height)
        width, height = (self.height, self.width) if symmetry & TRANSPOSE else (self.width, self.height)
        game = Game(width, height, self._rules, self._komi)
        game.handicap_by_moves = self.handicap_by_moves
        game.set_up([Move(color, points[point]) for color, point in self._setup_stones], self._first_player)
        for color, point in self._moves:
            game.play(Move(color, points[point]), tolerant=True)
        game._next_player = self._next_player
        return game

    def symmetries(self) -> "list[Game]":
        """Return the game in its eight orientations, itself first; four of them exchange width and height."""
        return [self.transformed(symmetry) for symmetry in range(8)]

    @property
    def canonical_hash(self) -> int:
        """The least `hash` of the position in its eight orientations: equal for positions that symmetries exchange."""
        hashes = []
        for symmetry in range(8):
            points = transformed_points(symmetry, self.width, self.height)
            key = size_key(self.height, self.width) if symmetry & TRANSPOSE else size_key(self.width, self.height)
            for point, color in self.stones.items():
                key ^= KEYS[color][points[point]]
            hashes.append(key)
        return min(hashes)

    diagram = format_board
    svg = draw_svg

    def png(self, **drawing: Any) -> bytes:
        """Return the picture that `svg` draws with these arguments as PNG; raises ArgumentError without `cairosvg`."""
        try:
            convert = import_module("cairosvg").svg2png
        except (ImportError, OSError) as error:  # the package, or the library that it wraps
            advice = "pip install cairosvg, or take svg"
            raise ArgumentError(f"PNG: {error}", expected="cairosvg and Cairo", advice=advice) from None
        found: bytes = convert(bytestring=self.svg(**drawing).encode())
        return found

    def _repr_svg_(self) -> str:
        return self.svg()

    def copy(self) -> "Game":
        """Return an independent copy."""
        other = Game.__new__(Game)
        vars(other).update(vars(self))
        other._stones = self._stones.copy()
        other._moves, other._played = self._moves.copy(), self._played.copy()
        other._history = self._history.copy()
        if self._board is not None:
            from gtp_engine.go.board import clone

            other._board = clone(self._board)
        return other

    __str__ = diagram

    def __repr__(self) -> str:
        last = self.last_move
        played = f"{counted(len(self._moves), 'move')}, last {last.color} {last.point!r}" if last else "no moves"
        size = f"{self.width}x{self.height}"
        return f"<Game {size}, {self._rules} rules, komi {self._komi:g}, {played}, {self.to_play} to play>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self._state() == other._state()

    # --- internals ---

    def _state(self) -> tuple[object, ...]:
        """Return what makes this game: equal games have equal states."""
        conditions = (self.width, self.height, self._rules, self._komi, self.handicap_by_moves)
        return *conditions, sorted(self._setup_stones), self._moves, self._first_player, self.to_play

    def _points(self, numbers: Iterable[int]) -> list[Point]:
        return [self._all_points[number] for number in numbers]

    def all_on_board(self, points: Iterable[int | str]) -> list[Point]:
        """Return several points of the board; raises ArgumentError for a single one."""
        return [self._on_board(point) for point in several(points)]

    def _on_board(self, vertex: int | str) -> Point:
        return to_stone(vertex, width=self.width, height=self.height)

    def _chains_on(self, points: Iterable[int | str]) -> dict[int, None]:
        """Return the stones of the chains on these points."""
        found = dict[int, None]()
        for point in self.all_on_board(points):
            if point not in found:
                found.update(dict.fromkeys(self._stones.chain(point)))
        return found

    def explain(self, reason: str, point: int | str) -> str:
        """Return a reason of `illegal_reason` as text about the move on `point`."""
        return _REASONS[reason].format(vertex=self.vertex(point))

    def _restart(self, stones: Stones) -> None:
        """Start the game at `stones`, the set-up: no moves, and a history that starts with this position."""
        self._stones = stones
        self._next_player = None
        self._moves, self._played = [], []
        self._history = History()
        self._board, self._moves_on_board = None, -1
        self._history.add(stones.hash, self._first_player)

    def _replay(self, moves: list[Move]) -> None:
        """Start the game again with these of its moves."""
        self._restart(self._stones_of(self._setup_stones))
        for move in moves:
            self.play(move, tolerant=True)

    def _stones_of(self, placed: tuple[Move, ...]) -> Stones:
        """Return these stones set up; raises IllegalMoveError and InvalidVertexError."""
        stones = Stones(self.width, self.height)
        for color, point in placed:
            if stones.color[self._on_board(point)] != EMPTY:
                raise IllegalMoveError("occupied", f"cannot set up a stone: {point} is occupied")
            stones.place(int(point), int(color))
        for _, point in placed:
            if not stones.liberties(point):
                raise IllegalMoveError("suicide", f"cannot set up a stone: {point} would have no liberty")
        return stones

    def _try(self, point: int, color: int, tolerant: bool) -> str | None:
        """Play on the stones and add the position to the history; or else return why not, as `illegal_reason` does.

        Whether a move is suicide or repeats a position shows once it has been made, in half the time.
        """
        stones = self._stones
        if point == PASS:
            self._played.append(stones.ko_point)
            stones.ko_point = NULL_POINT
            if self.has_free_button:  # from here on, earlier positions may recur
                self._history = History()
        elif stones.color[point] != EMPTY:
            return "occupied"
        elif not tolerant and point == stones.ko_point and color == stones.ko_color:
            return "ko"
        else:
            played = stones.play(point, color)
            suicide = played[-1]
            is_suicide = suicide == 1 or (suicide and not (tolerant or self._rules.suicide))
            if is_suicide or (not tolerant and self._history.forbids(self._rules.ko, stones.hash, 3 - color)):
                stones.undo(played)
                return "suicide" if is_suicide else "superko"
            self._played.append(played)
        self._next_player = None
        self._history.add(stones.hash, 3 - color)
        return None

    def _since_pass(self) -> list[int]:
        """Return the keys of the positions since the last pass, that after it included."""
        count = next((i for i, move in enumerate(reversed(self._moves)) if move.point == PASS), len(self._moves))
        return self._history.keys[-1 - count :]

    def _button_move(self) -> int | None:
        """Return the number (from 0) of the pass that took the button, or None."""
        if not self._rules.has_button:
            return None
        return next((number for number, move in enumerate(self._moves) if move.point == PASS), None)

    def _black_moves_at_start(self) -> int:
        """Return how many stones Black played before White's first; 0 if White also moved twice in a row."""
        count = 0
        for number, move in enumerate(self._moves):
            if move.color == BLACK:
                count += move.point != PASS
                continue
            if number + 1 < len(self._moves) and self._moves[number + 1].color == WHITE:
                return 0
            if move.point != PASS:
                break
        return count


def _checked_komi(komi: float) -> float:
    """Return komi as a float; raises KomiError unless it is a finite number."""
    try:
        if math.isfinite(komi):
            return float(komi)
    except (OverflowError, TypeError):  # an integer of hundreds of digits; a text
        pass
    raise KomiError(f"komi {shown(komi)}", expected="a finite number")


def several(points: Iterable[T]) -> Iterable[T]:
    """Return several points or moves; raises ArgumentError for a single one."""
    if isinstance(points, str) or not isinstance(points, Iterable):
        raise ArgumentError(f"points {shown(points)}", expected="a list of points")
    return points


def listed_games(games: object) -> list[Game]:
    """Return several games as a list; raises ArgumentError for anything else."""
    found: list[Any] = list(games) if isinstance(games, Iterable) else [None]
    if not all(isinstance(game, Game) for game in found):
        raise ArgumentError(f"games {shown(games)}", expected="a list of Games")
    return found


def after_move(game: Game, point: int, color: int | None = None) -> Game:
    """Return the game after a move, by default of the side to play; raises IllegalMoveError."""
    after = game.copy()
    after.play(point, color)
    return after


def replayed(game: Game) -> Iterator[Game]:
    """Yield a game before each of its moves and at the end, always the same one."""
    past = game.copy()
    past.undo(len(game.moves))
    yield past
    for move in game.moves:
        past.play(move, tolerant=True)
        yield past


def is_continued(root: Game, game: Game) -> bool:
    """Return whether `game` is the game of `root`, played on under the same conditions."""
    return (
        (root.width, root.height, root.rules, root.setup_stones)
        == (game.width, game.height, game.rules, game.setup_stones)
        and (root.komi, root.handicap) == (game.komi, game.handicap)
        and game.moves[: len(root.moves)] == root.moves
    )
