"""The openings of a match: an empty board, random moves, or game records from a folder.

Games go in pairs: both games of a pair have the same opening, with the colours of the engines swapped.  With a handicap
each game has its own.
"""

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gtp_engine.errors import IllegalMoveError, SgfError, problem
from gtp_engine.go.constants import BLACK, Move
from gtp_engine.go.coords import point_to_xy
from gtp_engine.go.game import Game
from gtp_engine.match.settings import MatchError, MatchSettings
from gtp_engine.sgf import parse_sgf, read_sgf_file, record_to_game

EDGE_LINES: Final = 2
"""Random moves avoid the first two lines, where a stone is often useless.  Boards below `SMALL_BOARD` use every line,
because few points would be left."""

SMALL_BOARD: Final = 7


@dataclass(frozen=True)
class Opening:
    """Stones to set up and moves to play before the engines take over; `name` is written to the game's record.

    `first_player` moves first after the set-up, and `to_play` (None: the opponent of the last move) after the moves.
    """

    name: str = ""
    setup: tuple[Move, ...] = ()
    first_player: int = BLACK
    moves: tuple[Move, ...] = ()
    to_play: int | None = None


def load_openings(settings: MatchSettings) -> list[Opening]:
    """Return the openings in the order of the pairs of games; a list shorter than the pairs is repeated.

    Raises MatchError for a folder without usable records.
    """
    if settings.openings:
        return _openings_from_folder(Path(settings.openings), settings)
    if settings.random_plies:
        return [_random_opening(number, settings) for number in range(settings.opening(settings.games) + 1)]
    return [Opening()]


def new_game(settings: MatchSettings, opening: Opening) -> Game:
    """Return a game after the opening, ready for the engines; raises IllegalMoveError when it is not playable."""
    game = Game(settings.board_size, rules=settings.parsed_rules(), komi=settings.komi)
    if settings.handicap:
        game.set_handicap(settings.handicap_points())
    if opening.setup:
        game.set_up(opening.setup, opening.first_player)
    for move in opening.moves:
        game.play(move)
    if opening.to_play is not None:
        game.to_play = opening.to_play
    return game


def _random_opening(number: int, settings: MatchSettings) -> Opening:
    """Return legal random moves, which depend only on the seed and the number, not on the number of games."""
    generator = random.Random(f"{settings.seed}/{number}")
    game = new_game(settings, Opening())
    for _ in range(settings.random_plies):
        points = [point for point in game.legal_points() if _is_inside(point, settings.board_size)]
        if not points:
            break
        game.play(generator.choice(sorted(points)))
    return Opening(name=f"random {number + 1}", moves=game.moves)


def _is_inside(point: int, size: int) -> bool:
    margin = EDGE_LINES if size >= SMALL_BOARD else 0
    return all(margin <= coordinate < size - margin for coordinate in point_to_xy(point, width=size))


def openings_digest(settings: MatchSettings) -> str:
    """Return the SHA-256 of the records in the folder of openings, names and contents, "" without such a folder.

    Raises MatchError for a folder without usable records.
    """
    if not settings.openings:
        return ""
    digest = hashlib.sha256()
    for path in _opening_paths(Path(settings.openings)):
        digest.update(f"{path.name}\n{hashlib.sha256(_content(path)).hexdigest()}\n".encode())
    return digest.hexdigest()


def _openings_from_folder(folder: Path, settings: MatchSettings) -> list[Opening]:
    return [_opening_from_file(path, settings) for path in _opening_paths(folder)]


def _opening_paths(folder: Path) -> list[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".sgf")
    except OSError as error:
        raise MatchError(f"cannot read the openings folder {folder}: {error.strerror}") from error
    if not paths:
        raise MatchError(f"the openings folder {folder} holds no .sgf file")
    return paths


def _content(path: Path) -> bytes:
    try:
        return read_sgf_file(str(path))
    except SgfError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: Exception) -> MatchError:
    return MatchError(f"cannot use the opening {path}: {error}")


def _opening_from_file(path: Path, settings: MatchSettings) -> Opening:
    try:
        game = record_to_game(parse_sgf(_content(path)))
        size = settings.board_size
        if (game.width, game.height) != (size, size):
            raise MatchError(f"the opening {path} is for {game.width}×{game.height}, the match is {size}×{size}")
        opening = Opening(path.name, game.setup_stones, game.first_player, game.moves, game.to_play)
        played = new_game(settings, opening)  # under the match's own rules
    except (SgfError, IllegalMoveError) as error:
        raise _unusable(path, error) from error
    if played.is_over or played.has_no_result:
        given = f"the opening {path} ends with two passes" if played.is_over else f"the opening {path} has no result"
        raise MatchError(problem(given, expected="a game that goes on", advice="cut it after some moves"))
    return opening
