"""Helpers of the tests of KataGo's inputs: one game encoded, planes drawn."""

from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from board_helpers import fingerprint
from numpy.typing import NDArray

from gtp_engine import Game, parse_vertex
from gtp_engine.evaluation.from_game import conditions_of, write_conditions, write_game
from gtp_engine.evaluation.positions import BOARDS, Positions, new_positions, view_board
from gtp_engine.go.constants import PASS
from gtp_engine.nn.encoders import Encoder, KatagoV7Encoder, new_inputs
from gtp_engine.nn.encoders import Inputs as NetworkInputs


class Inputs(NamedTuple):
    """A network's inputs for one position."""

    planes: NDArray[np.float32]  # [22, H, W]
    values: NDArray[np.float32]  # [19]


def row_of(game: Game, to_play: int | None = None) -> Positions:
    """Return a batch of one row, the position of the game."""
    positions = new_positions(1, game.width, game.height)
    write_game(positions, 0, game, to_play)
    return positions


def encode(
    game: Game,
    to_play: int | None = None,
    symmetry: int = 0,
    *,
    encoder: Encoder | None = None,
    positions: Positions | None = None,
    **conditions: Any,
) -> Inputs:
    """Return the inputs for a game's position (or a row given as `positions`); missing values would be NaN."""
    encoder = encoder or KatagoV7Encoder(game.width, game.height)
    positions = positions or row_of(game, to_play)
    symmetries = np.array([symmetry], dtype=np.int32)
    before = _fingerprints(positions)
    write_conditions(positions, 0, conditions_of(game)._replace(**conditions))
    with patch("gtp_engine.nn.encoders.new_inputs", inputs_of_nan):
        spatial, values = encoder.encode(positions, range(1), symmetries)
    assert _fingerprints(positions) == before, "the boards are restored"
    return Inputs(spatial[0], values[0])


def inputs_of_nan(encoder: Encoder, count: int, width: int, height: int) -> NetworkInputs:
    """Return arrays for an encoder in which values that it does not write can be seen."""
    return NetworkInputs(*(np.full_like(array, np.nan) for array in new_inputs(encoder, count, width, height)))


def _fingerprints(positions: Positions) -> list[tuple[bytes, ...]]:
    return [fingerprint(view_board(positions, 0, ago)) for ago in range(BOARDS)]


def draw(planes: NDArray[np.float32], characters: dict[int, str]) -> str:
    """Return a grid with the character of the plane that is 1 at each point, "." for none; two are an error."""
    part = planes[list(characters)]
    assert set(np.unique(part)) <= {0.0, 1.0}
    assert part.sum(axis=0).max() <= 1
    letters = np.array([".", *characters.values()])
    numbers = (part * np.arange(1, len(part) + 1)[:, None, None]).sum(axis=0).astype(int)
    return "\n".join("".join(row) for row in letters[numbers])


def tidy(diagram: str) -> str:
    """Return a diagram as `draw` draws."""
    return "\n".join(line.replace(" ", "") for line in diagram.strip().splitlines())


def play(game: Game, *moves: str) -> Game:
    """Play moves by turns, vertices or "pass" ("W D4" for a certain colour), and return the game."""
    for text in moves:
        color = {"B": 1, "W": 2}[text.split()[0]] if " " in text else game.to_play
        vertex = text.split()[-1]
        point = PASS if vertex == "pass" else parse_vertex(vertex, width=game.width, height=game.height)
        game.play(point, color)
    return game
