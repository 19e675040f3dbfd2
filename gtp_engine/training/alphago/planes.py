"""The feature planes of AlphaGo: 48 for a policy network, and one more for a value network.

Source: Silver et al., "Mastering the game of Go with deep neural networks and tree search", Nature 529 (2016),
extended data table 2 and the paragraph "Features for policy/value network".  Names and counts are the table's; the
order is this package's own, because the paper gives none.  All values are 0 or 1, seen by the side to move.

    first  feature               planes  plane k (from 0) is 1 where …
        0  stone colour               3  the player's stone, the opponent's stone, no stone
        3  ones                       1  everywhere
        4  zeros                      1  nowhere
        5  turns since                8  a stone stands that was played k + 1 turns ago; the last plane: 8 or more
       13  liberties                  8  the stone's chain has k + 1 liberties; the last plane: 8 or more
       21  capture size               8  a move here captures k + 1 stones; the last plane: 8 or more
       29  self-atari size            8  a move here exposes k + 1 own stones to capture; the last plane: 8 or more
       37  liberties after move       8  a move here makes a chain of k + 1 liberties; the last plane: 8 or more
       45  ladder capture             1  a move here captures a chain in a ladder
       46  ladder escape              1  a move here saves a chain from a ladder
       47  sensibleness               1  a move here is legal and does not fill an own eye
       48  player color               1  everywhere if Black is to move (value network)

Where the table leaves a choice, it is made as follows.

- "Each integer feature value is split into multiple planes of binary values", as in "1 liberty, 2 liberties, …, ≥8
  liberties": so every count of eight planes runs from 1 to 8 or more, and a count of 0 sets no plane.
- Passes are turns.  A stone of a handicap or a set-up, and one played before the moves that a row remembers (where a
  game continued after two passes: before the last of them), counts as 8 turns old or more.
- The features of moves are 0 where the side to move may not play: occupied points, ko, superko, suicide unless the
  rules allow it.
- Self-atari: a chain left with one liberty can be captured as a whole, also where the move captures something itself.
  The stones of an allowed suicide are captured at once; no chain is left, so no plane of "liberties after move" is set.
- Ladder capture: the move puts a chain of two liberties in atari and no defence saves it.  Capturing a chain that is in
  atari already is not a ladder.  Ladder escape: after the move, a chain that was in atari is not captured in a ladder,
  whether it was extended or an attacker taken.  Ladders are KataGo's (`go.ladder`).
- An own eye is one that the opponent cannot make false (`go.tactics.is_real_eye`): the point of a false eye, which may
  have to be filled, stays sensible.

B is the number of rows, H and W are the board's sides, n is the padded length of a board.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import FloatArray, Positions, board_of, conditions_of_row
from gtp_engine.go.board import Board, IntArray, is_legal, liberties_into
from gtp_engine.go.constants import BLACK, EMPTY, WALL, padded_length
from gtp_engine.go.ladder import LadderWork, mark_escapes, new_ladder_work, working_attacks_into
from gtp_engine.go.tactics import is_real_eye
from gtp_engine.go.undo import RECORD_SIZE, play_recorded, undo

_STONE: Final = 0
_ONES: Final = 3
_TURNS_SINCE: Final = 5
_LIBERTIES: Final = 13
_CAPTURE_SIZE: Final = 21
_SELF_ATARI_SIZE: Final = 29
LIBERTIES_AFTER: Final = 37
_LADDER_CAPTURE: Final = 45
_LADDER_ESCAPE: Final = 46
SENSIBLE: Final = 47
_COLOR: Final = 48
"""The first plane of each feature, but for the zeros."""

MOST: Final = 8
"""Planes of a count: this and more share the last one."""

POLICY_PLANES: Final = _COLOR
VALUE_PLANES: Final = _COLOR + 1
"""Planes without and with the player's colour."""


class PlanesWork(NamedTuple):
    """Arrays of one encoder: where points are in each symmetry, and scratch."""

    cells: IntArray  # `symmetry.cell_table`
    ladder: LadderWork
    liberties: Annotated[IntArray, MOST]
    record: Annotated[IntArray, RECORD_SIZE]
    marks: Annotated[IntArray, "n"]


def new_planes_work(width: int, height: int, cells: IntArray) -> PlanesWork:
    """Return work arrays for boards of this size; `cells` is `symmetry.cell_table`."""
    return zeros(PlanesWork, n=padded_length(width, height), cells=cells, ladder=new_ladder_work(width, height))


class _Row(NamedTuple):
    """A row that is being encoded."""

    board: Board
    player: int  # to move
    suicide: bool  # whether the rules allow it
    forbidden: NDArray[np.uint8]  # [n] as in `Positions`
    cell_of: IntArray  # [n] the cell of each point in the row's symmetry
    planes: FloatArray  # [planes, H * W]


@kernel
def write_planes(
    positions: Positions, rows: IntArray, symmetries: IntArray, work: PlanesWork, spatial: FloatArray
) -> None:
    """Write the planes of some rows, int32[K], in their `symmetries` [K] into `spatial` [K, planes, H * W]."""
    for k in range(rows.size):
        row, planes = wide(rows[k]), spatial[k]
        board, player = board_of(positions, row, wide(0)), wide(positions.to_play[row])
        for plane in range(planes.shape[0]):
            is_one = plane == _ONES or (plane == _COLOR and player == BLACK)
            for cell in range(planes.shape[1]):
                planes[plane, cell] = 1.0 if is_one else 0.0
        suicide = conditions_of_row(positions, row).suicide
        encoded = _Row(board, player, suicide, positions.forbidden[row], work.cells[symmetries[k]], planes)
        _write_stones(encoded, positions.points[row])
        _write_liberties(encoded, work.liberties)
        _write_moves(encoded, work)
        _write_ladders(encoded, work)


@inlined_kernel
def _set_count(planes: FloatArray, first: int, count: int, cell: int) -> None:
    """Set the plane of `first` … first + 7 that stands for `count`, none for 0."""
    if count > 0:
        planes[first + min(count, MOST) - 1, cell] = 1.0


@spliced_kernel
def _write_stones(row: _Row, points: IntArray) -> None:
    """Write both sides' stones and how many turns ago each was played; `points` are the last moves, latest first."""
    board, player, cell_of, planes = row.board, row.player, row.cell_of, row.planes
    for point in range(board.color.size):
        stone, cell = board.color[point], cell_of[point]
        if stone == EMPTY:
            planes[_STONE + 2, cell] = 1.0
        elif stone != WALL:
            planes[_STONE + wide(stone != player), cell] = 1.0
            turns = 1
            while turns < MOST and points[turns - 1] != point:
                turns += 1
            _set_count(planes, _TURNS_SINCE, turns, cell)


@spliced_kernel
def _write_liberties(row: _Row, liberties: IntArray) -> None:
    """Write the number of liberties of each chain on all of its stones; `liberties` is a work array, int32[8]."""
    board, cell_of, planes = row.board, row.cell_of, row.planes
    for point in range(board.color.size):
        if board.head[point] == point and point != 0:  # 0 is the head of walls and empty points
            count = liberties_into(board, point, liberties)
            stone = wide(point)
            while True:
                _set_count(planes, _LIBERTIES, count, cell_of[stone])
                stone = board.next_stone[stone]
                if stone == point:
                    break


@spliced_kernel
def _write_moves(row: _Row, work: PlanesWork) -> None:
    """Write what each legal move captures, exposes and leaves, and whether it is sensible."""
    board, player, planes = row.board, row.player, row.planes
    for point in range(board.color.size):
        if row.forbidden[point] != 0 or not is_legal(board, point, player, row.suicide):
            continue
        cell = wide(row.cell_of[point])
        if not is_real_eye(board, point, player):
            planes[SENSIBLE, cell] = 1.0
        captured = play_recorded(board, point, player, work.record)
        if captured < 0:
            _set_count(planes, _SELF_ATARI_SIZE, -captured, cell)
        else:
            _set_count(planes, _CAPTURE_SIZE, captured, cell)
            count = liberties_into(board, point, work.liberties)
            _set_count(planes, LIBERTIES_AFTER, count, cell)
            if count == 1:
                _set_count(planes, _SELF_ATARI_SIZE, wide(board.size[board.head[point]]), cell)
        undo(board, work.record)


@spliced_kernel
def _write_ladders(row: _Row, work: PlanesWork) -> None:
    """Write which legal moves capture an opponent's chain in a ladder, and which save an own chain from one."""
    board, player, forbidden = row.board, row.player, row.forbidden
    for point in range(board.color.size):
        work.marks[point] = 0
    for point in range(board.color.size):
        if board.head[point] != point or point == 0:
            continue
        count = liberties_into(board, point, work.liberties)
        if board.color[point] == player and count == 1:
            mark_escapes(board, point, work.ladder, work.marks)
        elif board.color[point] != player and count == 2:
            for i in range(working_attacks_into(board, point, work.ladder, work.liberties)):
                move = work.liberties[i]
                if forbidden[move] == 0:
                    row.planes[_LADDER_CAPTURE, row.cell_of[move]] = 1.0
    for point in range(board.color.size):
        if work.marks[point] != 0 and forbidden[point] == 0:
            row.planes[_LADDER_ESCAPE, row.cell_of[point]] = 1.0
