"""Recorded games: SGF files read into arrays of moves, the input of every stage that learns from games.

A record is stored as its moves, a few hundred bytes a game; positions are replayed when they are needed
(`game_positions`).  Where a record edits the board in the middle, the game begins there (`sgf.record`).  Moves after
the passes that end a game are left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gtp_engine.alphago.stages.stage_settings import TEST_SHARE
from gtp_engine.errors import TengenError, counted, problem
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.sgf.values import parse_result
from gtp_engine.training.core.game_data import is_held_out, number_of, sgf_games

Item = TypeVar("Item")


class RecordsError(TengenError, ValueError):
    """Games that cannot be learned from."""


@dataclass(frozen=True)
class RecordedGame:
    """A game of M moves."""

    name: str
    """The file's path below the folder that was read, with slashes."""
    width: int
    height: int
    rules: Rules
    komi: float
    """Points for White."""
    points: NDArray[np.int16]
    """The moves, [M]: points of the board (`go.coords`), or PASS."""
    colors: NDArray[np.int8]
    """The colours of the moves, [M]: BLACK or WHITE, usually alternating."""
    winner: int
    """BLACK or WHITE; EMPTY if the game has no winner or the record names none."""
    setup_stones: tuple[Move, ...] = ()
    """Stones on the board before the first move, handicap stones among them."""
    first_player: int = BLACK
    """The colour that moves first."""

    def game(self, moves: int = 0) -> Game:
        """Return the game after its first `moves` moves."""
        game = Game(self.width, self.height, self.rules, self.komi)
        game.set_up(self.setup_stones, self.first_player)
        for point, color in zip(self.points[:moves], self.colors[:moves], strict=True):
            game.play(Move(int(color), int(point)), allow_superko=True)
        return game


def read_games(folder: Path, *, log: Callable[[str], None]) -> list[RecordedGame]:
    """Return the games of all `.sgf` files in a folder and its subfolders, sorted by name; see `sgf_games`."""
    return [recorded(found.game, name=found.name, winner=winner_of(found.result)) for found in sgf_games(folder, log)]


def recorded(game: Game, *, name: str, winner: int) -> RecordedGame:
    """Return the record of a game, up to its end."""
    moves = game.moves[: _length(game.moves)]
    return RecordedGame(
        name=name,
        width=game.width,
        height=game.height,
        rules=game.rules,
        komi=game.komi,
        points=np.array([move.point for move in moves], dtype=np.int16),
        colors=np.array([move.color for move in moves], dtype=np.int8),
        winner=winner,
        setup_stones=game.setup_stones,
        first_player=game.first_player,
    )


def winner_of(result: str) -> int:
    """Return the winner by SGF's RE, such as "B+3.5" or "W+R": BLACK, WHITE, or EMPTY for "0", "Void" and the like."""
    return {"B+": BLACK, "W+": WHITE}.get((parse_result(result) or "")[:2], EMPTY)


def is_test(name: str, share: float = TEST_SHARE) -> bool:
    """Return whether the game of this name is held out for testing: about `share` of all, the same in every run."""
    return bool(is_held_out(np.array([number_of(name)], dtype=np.int64), share)[0])


def split_games(
    games: Sequence[RecordedGame], share: float = TEST_SHARE
) -> tuple[list[RecordedGame], list[RecordedGame]]:
    """Return the training games and the test games; raises RecordsError if either part is empty."""
    return split_named(games, [game.name for game in games], share)


def split_named(items: Sequence[Item], names: Sequence[str], share: float) -> tuple[list[Item], list[Item]]:
    """Return the training items and the test items, by the names of their games; raises as `split_games`."""
    parts: tuple[list[Item], list[Item]] = ([], [])
    for item, name in zip(items, names, strict=True):
        parts[is_test(name, share)].append(item)
    if not all(parts):
        raise RecordsError(
            problem(
                f"{counted(len(parts[0]), 'game')} to train on and {len(parts[1])} to test on",
                expected="some of both",
                advice="give more games, or another --test-share",
            )
        )
    return parts


def _length(moves: Sequence[Move]) -> int:
    """Return the number of moves up to and including the two consecutive passes that end the game."""
    for number in range(1, len(moves)):
        before, move = moves[number - 1], moves[number]
        if before.point == move.point == PASS and before.color != move.color:
            return number + 1
    return len(moves)
