"""Games as the inputs of networks, for work with data and for training of one's own."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from gtp_engine.base.errors import ArgumentError, InvalidSizeError, shown
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.game import Game, listed_games
from gtp_engine.nn.encoders import Inputs, new_encoder, new_inputs
from gtp_engine.nn.metadata import KATAGO_ENCODER
from gtp_engine.nn.plug_ins import PLUGGED_IN_ENCODERS
from gtp_engine.nn.symmetry import symmetry_count

_AT_ONCE: Final = 256
"""Positions that are prepared together; each takes 90 KB."""


def encode(games: Iterable[Game], encoder: str = KATAGO_ENCODER, *, symmetry: int = 0) -> Inputs:
    """Return the positions at the end of games, with their history and rules, as a network reads them.

    `encoder` is "katago-v7" (what KataGo's networks read: float32[n, 22, H, W] and float32[n, 19]), "alphago-48" or
    "alphago-49" (48 or 49 planes, no values); planes are shown to the side to move, in the orientation `symmetry`
    (`Game.transformed`), the last four on square boards alone.  Games have boards of one size, else InvalidSizeError is
    raised, and ArgumentError for no games, or another encoder or symmetry.

    >>> encode([Game(9)]).spatial.shape
    (1, 22, 9, 9)
    """
    shown_games = listed_games(games)
    if not shown_games:
        raise ArgumentError("no games to encode", expected="one or more")
    sizes = {(game.width, game.height) for game in shown_games}
    if len(sizes) > 1:
        raise InvalidSizeError(f"boards of {len(sizes)} sizes in one call", expected="one size")
    width, height = sizes.pop()
    if symmetry not in range(symmetry_count(width, height)):
        expected = f"a number from 0 to {symmetry_count(width, height) - 1}"
        raise ArgumentError(f"symmetry {shown(symmetry)} of a board of {width}x{height}", expected=expected)
    known = (KATAGO_ENCODER, *PLUGGED_IN_ENCODERS)
    if encoder not in known:
        raise ArgumentError(f"encoder {shown(encoder)}", expected=f"one of {', '.join(known)}")
    made = new_encoder(encoder, width, height)
    found = new_inputs(made, len(shown_games), width, height)
    positions = new_positions(min(_AT_ONCE, len(shown_games)), width, height)
    symmetries = np.full(_AT_ONCE, symmetry, dtype=np.int32)
    for first in range(0, len(shown_games), _AT_ONCE):
        some = shown_games[first : first + _AT_ONCE]
        for row, game in enumerate(some):
            write_game(positions, row, game)
        part = slice(first, first + len(some))
        found.spatial[part], found.globals_[part] = made.encode(positions, range(len(some)), symmetries)
    return found
