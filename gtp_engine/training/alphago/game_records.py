"""Recorded games: SGF files as arrays of moves, which every stage that learns from games reads.

A record is kept as its moves, a few hundred bytes a game; positions are played up again where they are needed
(`positions`).  Where a record changes the board in the middle, the game begins there (`sgf.playback`); what comes after
the passes that end a game is left out.
"""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gtp_engine.errors import SgfError, TengenError, problem, shown_path
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.sgf import parse_sgf, read_sgf_file, record_to_game
from gtp_engine.training.core.held_out import is_held_out

TEST_SHARE: Final = 0.05
"""Share of games that are kept for testing, unless somebody asks for another."""

_RESULT: Final = re.compile(r"\s*([BW])\+", re.IGNORECASE)
_HASH_BYTES: Final = 8

Log = Callable[[str], None]
Thing = TypeVar("Thing")


class RecordsError(TengenError, ValueError):
    """Games that cannot be learned from."""


@dataclass(frozen=True)
class RecordedGame:
    """A game as it was played, M moves long."""

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
    """Who made them, [M]: BLACK or WHITE, as a rule by turns."""
    winner: int
    """BLACK or WHITE; EMPTY where nobody won or the record does not say."""
    setup_stones: tuple[Move, ...] = ()
    """Stones on the board before the first move, handicap stones among them."""
    first_player: int = BLACK
    """Who has the first move."""

    def game(self, moves: int = 0) -> Game:
        """Return the game after its first `moves` moves."""
        game = Game(self.width, self.height, self.rules, self.komi)
        game.set_up(self.setup_stones, self.first_player)
        for point, color in zip(self.points[:moves], self.colors[:moves], strict=True):
            game.play(Move(int(color), int(point)), allow_superko=True)
        return game


def read_games(folder: Path, *, log: Log | None = None) -> list[RecordedGame]:
    """Return the games of all `.sgf` files in a folder and the folders in it, in the order of their names.

    `log` gets a line for each file that cannot be used; by default it goes to stderr.

    Raises SgfError if there is no such file, or none that can be used.
    """
    log = log or _to_stderr
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".sgf")
    games = []
    for path in paths:
        try:
            games.append(read_game(path, name=path.relative_to(folder).as_posix()))
        except SgfError as error:
            log(f"{path}: {error}")
    if not games:
        found = f"{len(paths)} files in {shown_path(folder)}, none of them of use"
        raise SgfError(problem(found, expected="readable game records whose names end in .sgf"))
    return games


def read_game(path: Path, *, name: str) -> RecordedGame:
    """Return the game in a file; raises SgfError if it cannot be used."""
    record = parse_sgf(read_sgf_file(str(path)))
    game, _ = record_to_game(record)
    return recorded(game, name=name, winner=winner_of(record.result or ""))


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
    """Return who won by SGF's RE, such as "B+3.5" or "W+R": BLACK, WHITE, or EMPTY for "0", "Void" and the like."""
    found = _RESULT.match(result)
    return EMPTY if found is None else (BLACK if found[1].upper() == "B" else WHITE)


def is_test(name: str, share: float = TEST_SHARE) -> bool:
    """Return whether the game of this name is for testing: about `share` of all, the same ones every time."""
    number = int.from_bytes(blake2b(name.encode(), digest_size=_HASH_BYTES).digest(), "little", signed=True)
    return bool(is_held_out(np.array([number], dtype=np.int64), share)[0])


def split_games(
    games: Sequence[RecordedGame], share: float = TEST_SHARE
) -> tuple[list[RecordedGame], list[RecordedGame]]:
    """Return the games to learn from and those for testing; raises RecordsError unless there are some of both."""
    return split_named(games, [game.name for game in games], share)


def split_named(things: Sequence[Thing], names: Sequence[str], share: float) -> tuple[list[Thing], list[Thing]]:
    """Return what is to learn from and what is for testing, by the names of games; raises as `split_games`."""
    parts: tuple[list[Thing], list[Thing]] = ([], [])
    for thing, name in zip(things, names, strict=True):
        parts[is_test(name, share)].append(thing)
    if not all(parts):
        raise RecordsError(
            problem(
                f"{len(parts[0])} games to learn from and {len(parts[1])} to test on",
                expected="some of both",
                advice="give more games, or another --test-share",
            )
        )
    return parts


def _length(moves: Sequence[Move]) -> int:
    """Return how many moves there are up to the two passes, by turns, that end the game."""
    for number in range(1, len(moves)):
        before, move = moves[number - 1], moves[number]
        if before.point == move.point == PASS and before.color != move.color:
            return number + 1
    return len(moves)


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)
