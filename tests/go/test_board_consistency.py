"""What the board keeps up to date move by move equals what its colours alone say.

After every move of random games, suicides included: chain names and circular lists, sizes, pseudo-liberties with their
sums, the list of empty points and the hash.  Then the same after taking moves back (`undo.undo`), of which every field
must be as it was; the order of the empty points alone has no meaning.
"""

import random

import numpy as np
import pytest
import reference
from board_helpers import CHARACTER, COLOR, board_of, fingerprint, points_of, position_of, to_points

from gtp_engine.go import board as boards
from gtp_engine.go.board import TABLE, Board
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE, size_key
from gtp_engine.go.undo import RECORD_SIZE, play_recorded, undo

SIZES = [(2, 2), (3, 2), (2, 5), (3, 3), (5, 4), (7, 7), (9, 9), (13, 6), (19, 19), (25, 25), (25, 2)]
each_size = pytest.mark.parametrize(("width", "height"), SIZES)


def check(board: Board, width: int, height: int) -> None:
    """Compare every field of `board` with what follows from its colours."""
    position = position_of(board, width, height)
    points = points_of(position)
    check_geometry(board, width, height)
    seen = set()
    for index, point in enumerate(points):
        if position.cells[index] == reference.EMPTY:
            assert board.head[point] == 0
        elif point not in seen:
            stones = to_points(position, reference.chain(position, index))
            seen |= set(stones)
            check_chain(board, stones)
            assert np.flatnonzero(board.head == board.head[point]).tolist() == stones
    check_empties(board, [p for p, cell in zip(points, position.cells, strict=True) if cell == reference.EMPTY])
    hash_of_stones = size_key(width, height)
    for point, cell in zip(points, position.cells, strict=True):
        if cell != reference.EMPTY:
            hash_of_stones ^= TABLE[COLOR[cell], point]
    assert board.hash[0] == hash_of_stones


def check_geometry(board: Board, width: int, height: int) -> None:
    """Check that the wall stands and that width, height and stride are right."""
    stride = width + 1
    assert [board.info[i] for i in (boards.WIDTH, boards.HEIGHT, boards.STRIDE)] == [width, height, stride]
    grid = board.color[: stride * (height + 2)].reshape(height + 2, stride)
    assert np.all(grid[0] == WALL) and np.all(grid[-1] == WALL) and np.all(grid[:, 0] == WALL)
    assert np.all(grid[1:-1, 1:] != WALL) and board.color[-1] == WALL


def check_chain(board: Board, stones: list[int]) -> None:
    """Check name, circular list, size and pseudo-liberties of the chain made of `stones`."""
    head = int(board.head[stones[0]])
    assert head in stones
    assert {int(board.head[p]) for p in stones} == {head}
    circle = [head]
    while len(circle) <= len(stones) and board.next_stone[circle[-1]] != head:
        circle.append(int(board.next_stone[circle[-1]]))
    assert sorted(circle) == stones
    assert board.size[head] == len(stones)
    stride = int(board.info[boards.STRIDE])
    contacts = [p + step for p in stones for step in (-1, 1, -stride, stride) if board.color[p + step] == EMPTY]
    assert board.libs[head] == len(contacts)
    assert board.lib_sum[head] == sum(contacts)
    assert board.lib_squares[head] == sum(p * p for p in contacts)
    assert boards.is_in_atari(board, head) == (len(set(contacts)) == 1)
    if len(set(contacts)) == 1:
        assert boards.atari_liberty(board, head) == contacts[0]


def check_empties(board: Board, empties: list[int]) -> None:
    """Check that the list holds each empty point once and that `empty_at` says where."""
    count = int(board.info[boards.EMPTY_COUNT])
    listed = board.empties[:count].tolist()
    assert sorted(listed) == empties
    assert [int(board.empty_at[p]) for p in listed] == list(range(count))


def random_legal_move(rng: random.Random, board: Board, suicide: bool) -> tuple[int, int] | None:
    """Return a legal (point, color), or None if a few tries find none."""
    for _ in range(30):
        point = int(board.empties[rng.randrange(int(board.info[boards.EMPTY_COUNT]))])
        color = rng.choice((BLACK, WHITE))
        if boards.is_legal(board, point, color, suicide):
            return point, color
    return None


@each_size
@pytest.mark.parametrize("suicide", [False, True])
def test_every_field_after_every_move(width: int, height: int, suicide: bool):
    rng = random.Random(f"{width} {height} {suicide}")
    board = boards.new_board(width, height)
    check(board, width, height)
    for _ in range(min(120, 40 + 2 * width * height)):
        move = random_legal_move(rng, board, suicide)
        if move is None:
            board = boards.new_board(width, height)
            continue
        boards.play_assume_legal(board, *move)
        check(board, width, height)


@each_size
def test_moves_taken_back_leave_no_trace(width: int, height: int):
    rng = random.Random(f"undo {width} {height}")
    board = boards.new_board(width, height)
    for _ in range(60 if width * height < 100 else 15):
        depth = rng.randint(1, 12)
        records = np.zeros((depth, RECORD_SIZE), dtype=np.int32)
        before = []
        for ply in range(depth):
            move = random_legal_move(rng, board, True)
            if move is None:
                break
            before.append(boards.clone(board))
            expected = boards.play_assume_legal(twin := boards.clone(board), *move)
            assert play_recorded(board, *move, records[ply]) == expected
            check(board, width, height)
            assert fingerprint(board) == fingerprint(twin)
        for ply in reversed(range(rng.randint(0, len(before)), len(before))):
            undo(board, records[ply])
            check(board, width, height)
            assert fingerprint(board) == fingerprint(before[ply])


@each_size
def test_copies_are_equal_and_independent(width: int, height: int):
    rng = random.Random(f"copy {width} {height}")
    source, target = boards.new_board(width, height), boards.new_board(width, height)
    for _ in range(width * height // 2):
        if (move := random_legal_move(rng, source, False)) is not None:
            boards.play_assume_legal(source, *move)
    boards.copy_board(target, source)
    copy = boards.clone(source)
    before = source.storage.tobytes(), source.hash.tobytes()
    for other in (target, copy):
        assert (other.storage.tobytes(), other.hash.tobytes()) == before
        move = random_legal_move(rng, other, True)
        assert move is not None
        boards.play_assume_legal(other, *move)
        check(other, width, height)
        assert (source.storage.tobytes(), source.hash.tobytes()) == before


def test_liberties_are_listed_once_and_up_to_the_limit():
    position = reference.parse("""
        . . . . . .
        . X X . O .
        . . X . O .
        . . . . . .""")
    board = board_of(position)
    points = points_of(position)
    for index, cell in enumerate(position.cells):
        if cell == reference.EMPTY:
            continue
        expected = to_points(position, reference.liberties(position, index))
        for limit in range(1, len(expected) + 2):
            out = np.zeros(limit, dtype=np.int32)
            count = boards.liberties_into(board, points[index], out)
            assert count == min(limit, len(expected))
            found = out[:count].tolist()
            assert len(set(found)) == count and set(found) <= set(expected)


@pytest.mark.parametrize("point", [0, 1, 2])
def test_reserved_points_and_walls_are_not_legal_moves(point: int):
    board = boards.new_board(5, 5)
    assert not boards.is_legal(board, point, BLACK, True)


def test_largest_board_full_of_one_colour_overflows_nothing():
    """The sum of squared liberties is largest for a chain with many liberties far down the array."""
    board = boards.new_board(25, 25)
    points = points_of(reference.empty_position(25, 25))
    for index, point in enumerate(points):
        x, y = index % 25, index // 25
        if y % 2 == 0 or x == 12:
            boards.play_assume_legal(board, point, BLACK)
    check(board, 25, 25)
    assert CHARACTER[int(board.color[points[12]])] == reference.BLACK
