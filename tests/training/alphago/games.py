"""Recorded games for tests."""

import random
from functools import cache
from pathlib import Path

from board_helpers import random_moves

from gtp_engine import Game, Move, Rules
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.sgf import format_sgf
from gtp_engine.training.alphago.stages.game_records import RecordedGame, recorded

ORDERLY_MOVES = 12


def random_game(seed: int, width: int = 5, height: int = 5, *, rules: str = "chinese", moves: int = 60) -> Game:
    """Return a game of alternating random moves with few passes, which fills the board."""
    rng = random.Random(seed)
    game = Game(width, height, Rules.parse(rules), 0.5)
    for _ in range(moves):
        points = game.legal_points()
        game.play(rng.choice(points) if points and rng.random() > 0.05 else PASS)
        if game.is_over:
            break
    return game


def wild_game(seed: int, rules: str, width: int = 4, height: int = 3) -> Game:
    """Return a game with set-up stones in which the colours do not alternate."""
    rng = random.Random(seed)
    game = Game(width, height, Rules.parse(rules), 0.5)
    game.set_up([Move(BLACK, board_points(width, height)[0]), Move(WHITE, board_points(width, height)[-1])], WHITE)
    random_moves(rng, game, 60)
    return game


def orderly_game(seed: int, size: int = 5, moves: int = ORDERLY_MOVES) -> Game:
    """Return a predictable game: each move is the first or second free point of every second point of the board."""
    rng = random.Random(seed)
    game = Game(size, size, Rules.parse("chinese"), 0.5)
    left = list(board_points(size, size))[::2]  # never adjacent, so that nothing is captured
    for _ in range(moves):
        game.play(left.pop(rng.random() < 0.3))
    return game


@cache
def orderly_records(count: int) -> list[RecordedGame]:
    """Return orderly games, the even ones won by Black.

    Not for use at the top of a module: workers would compile kernels before those of all tests are compiled.
    """
    return [
        recorded(orderly_game(seed), name=f"{seed}.sgf", winner=WHITE if seed % 2 else BLACK) for seed in range(count)
    ]


def record(seed: int, width: int = 5, height: int = 5, **how: int) -> RecordedGame:
    """Return a random game as a record, won by the side that is ahead."""
    game = random_game(seed, width, height, **how)
    return recorded(game, name=f"{seed}.sgf", winner=game.score().winner)


def played(record: RecordedGame, moves: int) -> Game:
    """Return a recorded game after its first moves."""
    game = Game(record.width, record.height, record.rules, record.komi)
    game.set_up(record.setup_stones, record.first_player)
    for point, color in zip(record.points[:moves], record.colors[:moves], strict=True):
        game.play(int(point), int(color), tolerant=True)
    return game


def write_records(folder: Path, count: int, *, seed: int = 0) -> Path:
    """Write random games on 5×5 as SGF files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(seed, seed + count):
        game = random_game(number)
        (folder / f"{number:04}.sgf").write_text(format_sgf(game, result=str(game.score())), encoding="utf-8")
    return folder
