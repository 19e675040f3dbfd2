"""How far a side was ahead before the first move: handicap stones, or a komi far from the fair one.

Source: KataGo's `initialBlackAdvantage` (`cpp/command/gtp.cpp`), whose values these are.
"""

from typing import Final

from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring

FAIR_KOMI: Final = 7.0
"""Komi of an even game, points."""

STONE_AREA: Final = 15.0
STONE_TERRITORY: Final = 14.0
"""Points that a handicap stone is worth by area and by territory; on small boards, where there is less to win, too."""


def initial_advantage_black(game: Game) -> float:
    """Return the points that Black was ahead at the start of `game`, negative if White was.

    The first handicap stone is Black's ordinary first move.  Stones that Black played in a row at the start count as
    handicap, as in `Game.handicap`.
    """
    stones = game.handicap
    balance = FAIR_KOMI - game.komi
    if stones == 0:
        return balance
    value = STONE_AREA if game.rules.scoring is Scoring.AREA else STONE_TERRITORY
    return value * (stones - 1) + balance - game.rules.handicap_points(stones)
