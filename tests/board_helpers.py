"""Bridges between the oracle's positions (`reference`) and the engine's boards, for tests that compare the two.

The oracle numbers points row by row, the engine by their place in a padded array; `points_of` is the one place
where the tests translate.  Boards are made by adding stones, which captures nothing, so that illegal positions can
be shown to the kernels as well.
"""

import random
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import reference

from gtp_engine.go.board import STRIDE, Board, add_stone, merge, new_board
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import COLUMN_LETTERS, Move, board_points, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules, Scoring
from gtp_engine.go.scoring import tally_position

SEKI = """
    . X . O . O X
    X X O O O O X
    O O X X X X X
    . O X . . . .
    O O X . . . .
    . O X . . . ."""
"""The groups in the upper row share the point between them, each with one eye: Black 13 stones, 12 points and 1 in
seki, White 12 stones, 2 points and 1 in seki."""

COLOR = {reference.BLACK: BLACK, reference.WHITE: WHITE}
KO = """
    . X O .
    X . X O
    . X O .
    . . . ."""
"""White takes a ko at B3 (capturing C3), Black would retake at C3."""

CHARACTER = {BLACK: reference.BLACK, WHITE: reference.WHITE, EMPTY: reference.EMPTY}


class Diagram(NamedTuple):
    """A position that is drawn; points are those of a board of `width` by `height`."""

    width: int
    height: int
    stones: dict[int, int]
    """The colour of every stone by its point."""
    marks: dict[str, int]
    """The points with small letters, which are empty."""
    marked_stones: tuple[int, ...]
    """The stones drawn as # (black) or @ (white)."""


def parse_diagram(text: str) -> Diagram:
    """Return a position drawn as `go.diagram` draws it; blanks, coordinates and parentheses do not matter."""
    rows = [re.sub(r"[\s0-9()]", "", line) for line in text.splitlines()]
    rows = [row for row in rows if row and not COLUMN_LETTERS.startswith(row)]
    width, height = len(rows[0]), len(rows)
    cells = dict(zip(board_points(width, height), "".join(rows), strict=True))
    assert {len(row) for row in rows} == {width} and set(cells.values()) <= set(".+,XO#@abcdefghijklmnpqrstuvwyz"), text
    return Diagram(
        width,
        height,
        {point: BLACK if cell in "X#" else WHITE for point, cell in cells.items() if cell in "XO#@"},
        {cell: point for point, cell in cells.items() if cell.isalpha() and cell.islower()},
        tuple(point for point, cell in cells.items() if cell in "#@"),
    )


def points_of(position: reference.Position) -> tuple[int, ...]:
    """Return the engine's point for every index of the oracle."""
    return board_points(position.width, position.height)


def to_points(position: reference.Position, indices: Iterable[int]) -> list[int]:
    """Return the engine's points for some indices of the oracle, ascending."""
    points = points_of(position)
    return sorted(points[i] for i in indices)


def board_of(position: reference.Position) -> Board:
    """Return the engine's board with these stones, whether the position is legal or not."""
    board = new_board(position.width, position.height)
    stride = position.width + 1
    for point, character in zip(points_of(position), position.cells, strict=True):
        if character == reference.EMPTY:
            continue
        add_stone(board, point, COLOR[character])
        for neighbor in (point - 1, point + 1, point - stride, point + stride):
            if board.color[neighbor] == COLOR[character] and board.head[neighbor] != board.head[point]:
                merge(board, int(board.head[neighbor]), int(board.head[point]))
    return board


def fingerprint(board: Board) -> tuple[bytes, ...]:
    """Return all that has meaning on a board except the order of its empty points."""
    heads = np.unique(board.head[board.head > 0])
    per_chain = [getattr(board, name)[heads].tobytes() for name in ("size", "libs", "lib_sum", "lib_squares")]
    chains = [board.color.tobytes(), board.head.tobytes(), board.next_stone[board.head > 0].tobytes()]
    return *chains, *per_chain, board.info.tobytes(), board.hash.tobytes()


def position_of(board: Board, width: int, height: int) -> reference.Position:
    """Return the oracle's view of the stones on the engine's board."""
    cells = "".join(CHARACTER[int(board.color[p])] for p in board_points(width, height))
    return reference.Position(width, height, cells)


def game_of(position: reference.Position, rules: Rules | None = None, komi: float | None = None) -> Game:
    """Return a game that starts with these stones set up, Black to move."""
    game = Game(position.width, position.height, rules or Rules(), komi)
    game.set_up(stones_of(position))
    return game


def stones_of(position: reference.Position) -> list[Move]:
    """Return the stones as the engine's moves, row by row."""
    cells = zip(points_of(position), position.cells, strict=True)
    return [Move(COLOR[cell], point) for point, cell in cells if cell != reference.EMPTY]


def game_from(diagram: str, rules: Rules | None = None, first_player: int = BLACK) -> Game:
    """Return a game that starts with the stones of a diagram set up."""
    return Game.from_diagram(diagram, to_play=first_player, rules=rules or Rules())


def shape(text: str) -> Game:
    """Return a game on 7x7 that begins with stones in the uppermost rows, " / " between them."""
    return game_from("\n".join([*text.split(" / "), *[". . . . . . ."] * 7][:7]))


def play_moves(game: Game, moves: str | Iterable[Move | int | str], *, tolerant: bool = False) -> Game:
    """Play moves, in a text vertices with blanks between them, and return the game."""
    for move in moves.split() if isinstance(moves, str) else moves:
        game.play(move, tolerant=tolerant)
    return game


def vertex(game: Game, text: str) -> int:
    """Return the point that the vertex names on the game's board."""
    return parse_vertex(text, width=game.width, height=game.height)


def state(game: Game) -> tuple[object, ...]:
    """Return everything a game says about itself, to compare games with."""
    points = board_points(game.width, game.height)
    verdicts = [game.illegal_reason(point, color) for point in points for color in (BLACK, WHITE)]
    return (
        position_of(game.board, game.width, game.height), game.moves, game.to_play, game.ko_point, game.captures,
        game.hash, game.consecutive_passes, game.is_over, game.handicap, game.setup_stones, game.komi, game.rules,
        sorted(game.superko_keys().tolist()), game.keys_since_pass().tolist(), verdicts, str(game.score()),
        game.diagram(),
    )  # fmt: skip


def random_moves(rng: random.Random, game: Game, count: int) -> list[Move]:
    """Play up to `count` random legal moves and passes, colours at random, and return the game's moves."""
    points = board_points(game.width, game.height)
    for _ in range(count):
        point, color = (PASS if rng.random() < 0.05 else rng.choice(points)), rng.choice((BLACK, WHITE))
        if game.illegal_reason(point, color) is None:
            game.play(point, color)
    return list(game.moves)


def score_area(board: Board, rules: Rules) -> dict[int, float]:
    """Return the points of each colour by area rules: stones and surrounded points, less the tax."""
    rules = replace(rules, scoring=Scoring.AREA)
    tally = tally_position(board.color.tolist(), int(board.info[STRIDE]), rules, captured=(0, 0, 0), komi=0.0)
    return {color: side.total for color, side in tally.items()}


def map_of(position: reference.Position, values: Iterable[int]) -> str:
    """Return the values of a whole-board map (indexed by the engine's points) as rows of digits."""
    lookup = list(values)
    digits = "".join(str(int(lookup[p])) for p in points_of(position))
    return rows(digits, position.width)


def rows(text: str, width: int) -> str:
    """Return text cut into lines of `width` characters."""
    return "\n".join(text[i : i + width] for i in range(0, len(text), width))


def random_position(rng: random.Random, width: int, height: int, moves: int) -> reference.Position:
    """Return the legal position after up to `moves` random stones, colours at random, simple ko, no suicide."""
    game = reference.ReferenceGame(reference.empty_position(width, height), ko="simple", suicide=False)
    for _ in range(moves):
        point, color = rng.randrange(width * height), rng.choice("XO")
        if game.illegal_reason(point, color) is None:
            game.play(point, color)
    return game.position


def point_to_action(point: int, *, width: int, height: int) -> int:
    """Return the policy index of a point of the board or PASS."""
    return width * height if point == PASS else board_points(width, height).index(point)


def action_to_point(action: int, *, width: int, height: int) -> int:
    """Return the point of a policy index, PASS for width * height."""
    return (*board_points(width, height), PASS)[action]
