"""The start and the end of a game: what handicap and komi are worth, and when a game may end."""

from typing import Final

from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring

FAIR_KOMI: Final = 7.0
"""Komi of an even game, points."""

STONE_AREA: Final = 15.0
STONE_TERRITORY: Final = 14.0
"""Points that a handicap stone is worth by area and by territory; on small boards, where there is less to win, too."""

LATE_SHARE: Final = 0.3
"""Share of the points that must hold stones before a game may end by agreement; people never stop earlier."""

LATE_SHARE_AFTER_PASS: Final = 0.15
"""The same where the opponent has passed and who plays on in settled territory loses points.  A board with handicap
stones alone has fewer."""


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


def is_late(game: Game) -> bool:
    """Return whether enough of the board is filled for the game to end."""
    return _share(game) >= LATE_SHARE


def may_stop(game: Game) -> bool:
    """Return whether enough of the board is filled for the game to end if everything is settled."""
    has_offer = game.consecutive_passes > 0 and game.rules.scoring is Scoring.TERRITORY
    return _share(game) >= (LATE_SHARE_AFTER_PASS if has_offer else LATE_SHARE)


def _share(game: Game) -> float:
    """Return the share of the points that hold stones."""
    return len(game.stones) / (game.width * game.height)
