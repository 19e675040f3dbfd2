"""Games in which a move would repeat an earlier position, for tests of superko outside the rules themselves."""

import random
from typing import Final

from board_helpers import stones_of
from reference import parse

from gtp_engine import Game, Rules
from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import board_points

TRIPLE_KO: Final = """
    . X O . . . . . .
    X O . O . . . . .
    . X O . . . . . .
    . X O . . . . . .
    X . X O . . . . .
    . X O . . . . . .
    . X O . . . . . .
    X O . O . . . . .
    . X O . . . . . .
"""
"""Black is to play."""

LAP: Final = ("C8", "B5", "C2", "B8", "C5", "B2")
"""Moves of Black and White in turn that lead back to the same position."""


def triple_ko(rules: str, moves: int = 0) -> Game:
    """Return a game with three kos after so many moves, in which both sides take one after the other."""
    game = Game(9, rules=Rules.parse(rules))
    game.set_up(stones_of(parse(TRIPLE_KO)))
    for number in range(moves):
        game.play(LAP[number % len(LAP)])
    return game


def game_with_superko(rules: str, *, is_button_free: bool = False) -> tuple[Game, list[int]]:
    """Return a game on a small board in which moves repeat an earlier position, and those moves.

    With `is_button_free`, neither side has passed.
    """
    for seed in range(1000):
        rng = random.Random(seed)
        game = Game(3, 3, Rules.parse(rules), 0.5)
        for _ in range(30):
            banned = [p for p in board_points(3, 3) if game.illegal_reason(p) == "superko"]
            if banned and len(game.legal_points()) > 1:
                return game, banned
            moves = game.legal_points()
            if not is_button_free:
                moves.append(PASS)
            elif not moves:
                break
            game.play(rng.choice(moves))
    raise AssertionError("no game with a repetition was found")
