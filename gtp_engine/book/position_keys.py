"""Which positions of games are the same one in a book: the key of a position, the same for all that mirror each other.

A key is text that people can read: the rows of the board from the top, the side to play with the passes before it, the
point where ko forbids a move if there is one, and a hash of earlier boards where they may matter:

    .../.X./... w0

Earlier boards matter where superko may forbid a move.  They are part of the key, from the first capture of the last
`HISTORY_BOUND` moves on; before that, and without a capture, they are not.  So cycles up to this length are told apart,
as in KataGo's books (`repBound` in its cpp/configs/book); longer ones may share a position wrongly.
"""

from functools import cache
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import BLACK, NULL_POINT, PASS
from gtp_engine.go.coords import board_points, point_to_xy, xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.nn.symmetry import symmetry_count, transform

HISTORY_BOUND: Final = 9
"""Moves within which a capture makes earlier boards part of a key."""

_INVERSE: Final = {5: 6, 6: 5}
"""The symmetries that are not their own inverse: the quarter turns."""

_LETTERS: Final = bytes.maketrans(bytes((0, 1, 2)), b".XO")


class Placed(NamedTuple):
    """Where a book has a position: its key, and the symmetry that takes the board to the one in the key."""

    key: str
    symmetry: int


def place(game: Game) -> Placed:
    """Return the key of a game's position and how its board lies there."""
    boards = _boards_that_matter(game)
    side = "b" if game.to_play == BLACK else "w"
    turn = f"{side}{min(2, game.consecutive_passes)}"
    found = []
    for symmetry in range(symmetry_count(game.width, game.height)):
        order = _order(game.width, game.height, symmetry)
        rows = _rows(boards[-1][0][order], game.width)
        ko = [] if game.ko_point == NULL_POINT else [f"ko{_cell(game, game.ko_point, symmetry)}"]
        earlier = sorted({f"{_rows(cells[order], game.width)} {color}" for cells, color in boards[:-1]})
        past = [blake2b("".join(earlier).encode(), digest_size=6).hexdigest()] if earlier else []
        found.append((" ".join([rows, turn, *ko, *past]), symmetry))
    return Placed(*min(found))


def mirrored(point: int, symmetry: int, board: tuple[int, int], *, back: bool = False) -> int:
    """Return the point of a board, width and height, to which a symmetry takes a point, PASS to itself.

    `back`: the point that it takes there.
    """
    if point == PASS:
        return PASS
    width, height = board
    number = _INVERSE.get(symmetry, symmetry) if back else symmetry
    x, y = point_to_xy(point, width=width)
    return xy_to_point(*transform(x, y, number, width=width, height=height), width=width)


def to_play_of(key: str) -> str:
    """Return the side to play in a position, "b" or "w"."""
    return key.split()[1][0]


def _cell(game: Game, point: int, symmetry: int) -> int:
    """Return the number of a point's cell in the key, counted along the rows."""
    x, y = point_to_xy(mirrored(point, symmetry, (game.width, game.height)), width=game.width)
    return y * game.width + x


def _rows(cells: NDArray[np.uint8], width: int) -> str:
    """Return the colours of all cells as text, row by row."""
    text = cells.tobytes().translate(_LETTERS).decode()
    return "/".join(text[start : start + width] for start in range(0, len(text), width))


@cache
def _order(width: int, height: int, symmetry: int) -> NDArray[np.intp]:
    """Return, for each cell of the board in a key, the cell of the board that the symmetry takes there."""
    order = np.zeros(width * height, dtype=np.intp)
    for cell in range(width * height):
        x, y = transform(cell % width, cell // width, symmetry, width=width, height=height)
        order[y * width + x] = cell
    return order


def _boards_that_matter(game: Game) -> list[tuple[NDArray[np.uint8], int]]:
    """Return the colours of the cells, and the side to play, from the first capture that matters to the position."""
    points = list(board_points(game.width, game.height))
    replay = Game(game.width, game.height, game.rules, game.komi)
    replay.set_up(game.setup_stones, game.first_player)
    boards, captures = [], []
    for number, move in enumerate(game.moves):
        boards.append((replay.board.color[points].astype(np.uint8), int(move.color)))
        before = np.count_nonzero(boards[-1][0])
        replay.play(move, allow_superko=True)
        if move.point != PASS and np.count_nonzero(replay.board.color[points]) <= before:
            captures.append(number)
    boards.append((replay.board.color[points].astype(np.uint8), int(game.to_play)))
    recent = [number for number in captures if number >= len(game.moves) - HISTORY_BOUND]
    return boards[recent[0] :] if recent else boards[-1:]
