"""Bridges between the oracle's positions (`reference`) and the engine's boards, for tests that compare the two.

The oracle numbers points row by row, the engine by their place in a padded array; `points_of` is the one place
where the tests translate.  Boards are made by adding stones, which captures nothing, so that illegal positions can
be shown to the kernels as well.
"""

import random
from collections.abc import Iterable

import reference
from gtp_engine.go.board import Board, add_stone, merge, new_board
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import board_points

COLOR = {reference.BLACK: BLACK, reference.WHITE: WHITE}
CHARACTER = {BLACK: reference.BLACK, WHITE: reference.WHITE, EMPTY: reference.EMPTY}


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
                merge(board, board.head[neighbor], board.head[point])
    return board


def position_of(board: Board, width: int, height: int) -> reference.Position:
    """Return the oracle's view of the stones on the engine's board."""
    cells = "".join(CHARACTER[int(board.color[p])] for p in board_points(width, height))
    return reference.Position(width, height, cells)


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
