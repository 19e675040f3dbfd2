"""Questions about single moves: self-atari, captures, escapes, against the oracle on random positions."""

import random
from typing import Any

import pytest
import reference
from board_helpers import CHARACTER, board_of, fingerprint, points_of, random_position

from gtp_engine.go.board import is_legal
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.ladder import new_ladder_work
from gtp_engine.go.tactics import count_captures, is_escape, would_be_self_atari


def escapes(position: reference.Position, point: int) -> bool:
    """Return whether the chain on `point` has three liberties, or two and no ladder takes it."""
    count = len(reference.liberties(position, point))
    return count >= 3 or (count == 2 and not reference.ladder_attacks(position, point))


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (2, 7), (5, 4), (7, 7), (9, 9)])
def test_random_positions_agree_with_the_oracle(size: tuple[int, int]):
    rng = random.Random(f"tactics {size}")
    seen = {"self-atari": 0, "capture": 0, "escape": 0}
    work = new_ladder_work(*size)
    kernel: Any = is_escape  # interpreted: on its own it takes seconds to compile
    for _ in range(500 // (size[0] * size[1]) + 15):
        position = random_position(rng, *size, rng.randint(1, 3 * size[0] * size[1]))
        board, points = board_of(position), points_of(position)
        before = fingerprint(board)
        for index, point in enumerate(points):
            for color in (BLACK, WHITE):
                if not is_legal(board, point, color, False):
                    continue
                after, captured, _ = reference.place(position, index, CHARACTER[color])
                self_atari = not captured and len(reference.liberties(after, index)) == 1
                assert bool(would_be_self_atari(board, point, color)) == self_atari, reference.draw(position, [index])
                assert count_captures(board, point, color) == len(captured)
                assert bool(kernel.interpreted(board, point, color, work)) == escapes(after, index)
                seen["self-atari"] += self_atari
                seen["capture"] += bool(captured)
                seen["escape"] += escapes(after, index)
        assert fingerprint(board) == before
    assert min(seen["self-atari"], seen["capture"]) > 20
    assert seen["escape"] > 20 or size == (2, 2)
