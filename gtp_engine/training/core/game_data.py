"""What every task does with its games: reads them from folders, and holds some out.

sgf_games                 the games of a folder of SGF files
number_of, is_held_out    which games are held out of training, by a hash of their numbers: independent of their order
                          and of each other; `is_name_held_out` is for one
"""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import SgfError, counted, shown_path
from gtp_engine.base.streams import Log
from gtp_engine.go.game import Game
from gtp_engine.sgf import SgfRecord, parse_sgf, read_sgf_file, record_to_game
from gtp_engine.sgf.collection import games_in

_HASH_BYTES: Final = 8

_MIX_A: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B: Final = np.uint64(0x94D049BB133111EB)
"""Multipliers of splitmix64's finalizer (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
2014; variant 13 of Stafford)."""


class SgfGame(NamedTuple):
    """A game of a folder."""

    name: str
    """The path of its file below the folder, with slashes; from the second game of a file on, with its number."""
    game: Game
    record: SgfRecord


def sgf_games(folder: Path, log: Log) -> Iterator[SgfGame]:
    """Yield the games of all `.sgf` files in a folder and its subfolders, sorted by name.

    `log` receives a line for each unusable file or game.  Raises SgfError at the end if there was no usable one.
    """
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".sgf")
    usable = 0
    for path in paths:
        try:
            texts = games_in(read_sgf_file(str(path)))
        except SgfError as error:
            log(f"{path}: {error}")
            continue
        for number, text in enumerate(texts, start=1):
            which = f", game {number}" if number > 1 else ""
            try:
                record = parse_sgf(text)
                game = record_to_game(record)
            except SgfError as error:
                log(f"{path}{which}: {error}")
                continue
            usable += 1
            yield SgfGame(path.relative_to(folder).as_posix() + which, game, record)
    if not usable:
        found = f"{counted(len(paths), 'file')} in {shown_path(folder)}, none of them usable"
        raise SgfError(found, expected="readable game records whose names end in .sgf")


def number_of(name: str) -> int:
    """Return a number, int64, for the game of this name: the same in every run, almost never that of another game."""
    return int.from_bytes(blake2b(name.encode(), digest_size=_HASH_BYTES).digest(), "little", signed=True)


def is_held_out(games: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Return for each number of a game whether it is held out of training: about `share` of all."""
    key = games.astype(np.uint64)
    key = (key ^ (key >> np.uint64(30))) * _MIX_A
    key = (key ^ (key >> np.uint64(27))) * _MIX_B
    key = key ^ (key >> np.uint64(31))
    fraction: NDArray[np.float64] = (key >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return fraction < share


def is_name_held_out(name: str, share: float) -> bool:
    """Return whether the game, or the player, of this name is held out: about `share` of all, the same in every run."""
    return bool(is_held_out(np.array([number_of(name)], dtype=np.int64), share)[0])
