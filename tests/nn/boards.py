"""Positions of random games in rows, for tests of evaluators."""

import random

from gtp_engine import Game, Rules
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import Positions, new_positions
from gtp_engine.go.constants import PASS


def random_rows(
    count: int, width: int, height: int | None = None, *, rules: str = "chinese", seed: int = 1
) -> tuple[Positions, list[Game]]:
    """Return `count` positions of one random game, a few moves apart, and the games as they stood."""
    height = width if height is None else height
    rng = random.Random(seed)
    game = Game(width, height, Rules.parse(rules))
    positions, games = new_positions(count, width, height), []
    for row in range(count):
        for _ in range(rng.randrange(1, 8)):
            moves = [point for point in game.legal_points() if point != PASS]
            game.play(rng.choice(moves) if moves else PASS)
        write_game(positions, row, game)
        games.append(game.copy())
    return positions, games
