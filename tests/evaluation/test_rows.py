"""Rows copied, moved on and finished; `training/selfplay/test_game_rows.py` compares rows that follow games."""

import numpy as np
import pytest

from gtp_engine.evaluation.from_game import write_conditions, write_game
from gtp_engine.evaluation.positions import (
    Conditions,
    Positions,
    board_size,
    copy_row,
    new_positions,
    put_row,
    take_rows,
    view_board,
)
from gtp_engine.go.game import Game

FIELDS = Positions._fields


def filled_rows(batch: int) -> Positions:
    """Return rows in which no field is like that of another row or zero."""
    positions = new_positions(batch, 5, 4)
    game = Game(5, 4)
    for row in range(batch):
        game.play(game.legal_points()[row])
        write_game(positions, row, game)
        for name in ("forbidden", "pass_ends", "button", "phase", "no_retake", "start", "placed"):
            getattr(positions, name)[row] = row + 1
        write_conditions(positions, row, Conditions(*(row + 1,) * len(Conditions._fields)))
    return positions


@pytest.mark.parametrize("field", FIELDS)
def test_copies_have_every_field(field: str) -> None:
    source = filled_rows(3)
    assert board_size(source) == (5, 4) and np.shares_memory(view_board(source, 1, 2).color, source.storage[1, 2])
    by_kernel, by_python = new_positions(2, 5, 4), new_positions(2, 5, 4)
    for target in (by_kernel, by_python):
        write_game(target, 0, Game(5, 4))
        write_game(target, 1, Game(5, 4))
    copy_row(by_kernel, 1, source, 2)
    put_row(by_python, 1, source, 2)
    expected = getattr(source, field)[2]
    for target in (by_kernel, by_python):
        assert np.array_equal(getattr(target, field)[1], expected)
        assert not np.array_equal(getattr(target, field)[0], expected)
    assert np.array_equal(getattr(take_rows(source, [2, 0]), field)[0], expected)
