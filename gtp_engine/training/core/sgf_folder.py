"""The games of a folder of SGF files."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gtp_engine.errors import SgfError, counted, problem, shown_path
from gtp_engine.go.game import Game
from gtp_engine.sgf import parse_sgf, read_sgf_file, record_to_game
from gtp_engine.sgf.tree_text import games_in

Log = Callable[[str], None]


class SgfGame(NamedTuple):
    """A game of a folder."""

    name: str
    """The path of its file below the folder, with slashes; from the second game of a file on, with its number."""
    game: Game
    result: str
    """SGF's RE; "" if there is none."""


def sgf_games(folder: Path, log: Log) -> Iterator[SgfGame]:
    """Yield the games of all `.sgf` files in a folder and its subfolders, sorted by name.

    `log` receives a line for each unusable file or game.  Raises SgfError at the end if there was no usable one.
    """
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".sgf")
    usable = 0
    for path in paths:
        try:
            texts = _games_of(read_sgf_file(str(path)))
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
            yield SgfGame(path.relative_to(folder).as_posix() + which, game, record.result or "")
    if not usable:
        found = f"{counted(len(paths), 'file')} in {shown_path(folder)}, none of them usable"
        raise SgfError(problem(found, expected="readable game records whose names end in .sgf"))


def _games_of(data: bytes) -> list[bytes]:
    """Return the games in a file; one whose bytes `games_in` refuses, or in which it finds none, counts as one."""
    try:
        games = games_in(data)
    except SgfError:
        return [data]
    return games if len(games) > 1 else [data]
