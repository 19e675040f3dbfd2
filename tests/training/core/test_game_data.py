"""Rotated and mirrored samples equal what the encoder writes in that orientation."""

import numpy as np
import pytest

from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.nn.encoders import KatagoV7Encoder, new_inputs
from gtp_engine.nn.symmetry import cell_table, symmetry_count
from gtp_engine.training.core.game_data import turned_boards


@pytest.mark.parametrize(("width", "height"), [(7, 7), (6, 4)])
def test_planes_and_points_turn_as_the_encoder_turns_them(width: int, height: int) -> None:
    game = Game(width, height)
    for vertex in ("A1", "C2", "B1", "D4", "A2", "B3", "E2"):
        game.play(vertex)
    encoder, positions = KatagoV7Encoder(width, height), new_positions(1, width, height)
    write_game(positions, 0, game)

    def encoded(symmetry: int) -> np.ndarray:
        inputs = new_inputs(encoder, 1, width, height)
        encoder.encode(positions, range(1), np.array([symmetry], np.int32), inputs)
        return inputs.spatial

    actions = np.arange(width * height).reshape(height, width)
    for symmetry in range(symmetry_count(width, height)):
        np.testing.assert_array_equal(turned_boards(encoded(0), symmetry), encoded(symmetry))
        turned = turned_boards(actions, symmetry).ravel()
        for action, point in enumerate(board_points(width, height)):
            assert turned[cell_table(width, height)[symmetry, point]] == action
