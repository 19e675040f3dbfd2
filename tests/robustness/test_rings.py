"""What is drawn as a ring is one."""

import random

import pytest
from robustness.rings import draw_ring

from gtp_engine import Game
from gtp_engine.engine.game_end import reach
from gtp_engine.go.constants import EMPTY, WALL, opponent
from gtp_engine.go.coords import neighbors
from gtp_engine.go.scoring import pass_alive_owners


def enclosed(game: Game, point: int) -> set[int]:
    """Return stones of the other side that only the chain on `point` separates from the edge of the board."""
    ring, board, found = set(game.chain(point)), game.board.color, set[int]()
    free = board != WALL
    free[list(ring)] = False
    for start in {near for each in ring for near in neighbors(each, width=game.width)}:
        if board[start] == opponent(board[point]):
            area = reach(game, [start], free)
            if all(board[near] != WALL for each in area for near in neighbors(each, width=game.width)):
                found.add(start)
    return found


@pytest.mark.parametrize("size", [9, 13, 19])
@pytest.mark.parametrize("seed", range(8))
def test_a_ring_encloses_stones_and_may_be_captured(size: int, seed: int) -> None:
    game, point = draw_ring(size, random.Random(seed))
    assert enclosed(game, point)
    assert pass_alive_owners(game.board, suicide=False)[point] == EMPTY


def test_a_seed_repeats_a_drawing() -> None:
    first, second = (draw_ring(13, random.Random(5)) for _ in range(2))
    assert (str(first[0]), first[1]) == (str(second[0]), second[1])
    assert str(first[0]) != str(draw_ring(13, random.Random(6))[0])
