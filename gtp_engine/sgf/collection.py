"""The games of collections: to split them, to go through thousands of games, and to read headers without moves."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from gtp_engine.base.errors import ArgumentError, SgfError, counted, shown
from gtp_engine.sgf.foreign.encodings import as_text, as_utf_8, encoded, sections_of, text_of
from gtp_engine.sgf.foreign.formats import sgf_of
from gtp_engine.sgf.reader import first_game, read_sgf_file, record_of
from gtp_engine.sgf.record import SgfRecord
from gtp_engine.sgf.repair import LookAhead
from gtp_engine.sgf.tree_text import TextNode, parse_game, valid_line


def games_in(data: bytes) -> list[bytes]:
    """Return the games of an SGF collection, each with its original bytes; text between games is left out.

    A game that is not closed ends with the file.  A file in which there is no game counts as one, and so does one whose
    text does not keep its bytes.
    """
    games = list[bytes]()
    with contextlib.suppress(SgfError):  # of a record in another format, which fails where it is read
        games = [encoded(text, encoding) for text, encoding in _texts_in(data)]
    return games or [data]


def game_in(data: bytes, number: int | None) -> bytes:
    """Return a game of a collection by its number, from 1; None is for a file of one game, which stays as it is.

    Raises SgfError for None and several games, and for a number that is too large.
    """
    games = games_in(data)
    if number is None and len(games) > 1:
        advice = "name one with --game N, or split the file"
        raise SgfError(f"{counted(len(games), 'game')} in one file", expected="one", advice=advice)
    if number is not None and number > len(games):
        raise SgfError(f"game {number} of {len(games)}", expected=f"1 to {len(games)}")
    return data if len(games) < 2 else games[(number or 1) - 1]


def _texts_in(data: bytes) -> list[tuple[str, str]]:
    """Return the games of a collection as text, each with its encoding; none if the text does not keep the bytes.

    Raises SgfError for a record in another format that cannot be made SGF.
    """
    games = []
    for section in sections_of(sgf_of(data)):
        text, encoding = text_of(section)
        try:
            if encoded(text, encoding) != section:
                return []
        except UnicodeError:
            return []
        byte_order_mark = text[:1] if text.startswith("\ufeff") else ""
        unicode = as_utf_8(text)
        place, ahead = 0, LookAhead(unicode)
        while (found := _next_game(unicode, place, ahead)) is not None:
            start, place, has_values = found
            if has_values:
                games.append((byte_order_mark + as_text(unicode[start:place]), encoding))
    return games


def _next_game(data: bytes, place: int, ahead: LookAhead) -> tuple[int, int, bool] | None:
    """Return where the next game in UTF-8 begins and ends, and whether it has values; None if there is none."""
    if line := valid_line(data, place, ahead):
        return line.start(), line.end(), True
    try:
        game = parse_game(data, TextNode, place, ahead)
    except SgfError:
        return None
    return game.start, game.end if game.has_end else len(data), any(node.raw for node in game.nodes)


T = TypeVar("T")
Paths = str | Path | Iterable[str | Path]
"""A file, a folder, which stands for the records in it and below it, or several of either."""

_RECORD: Final = re.compile(r"(?is).+\.(sgf|gib|ngf|ugf|ugi)|[0-9a-f]{16}\.json")
"""Names of records, and of the games that `gtp-engine serve` keeps."""


def read_headers(paths: Paths, pass_over: Callable[[SgfError], None] | None = None) -> Iterator[SgfRecord]:
    """Yield players, rules, result and the rest of the first node of each game in files, without its moves.

    `paths` is a file, a folder, which stands for the records in it and below it, or several; files may be larger than a
    single record.  What cannot be read raises SgfError, or is given to `pass_over`, and the next game follows.

        names = {header.black_name for header in read_headers("games")}
    """
    return of_each_game(paths, lambda text, encoding: header_of(text), pass_over)


def header_of(text: str) -> SgfRecord:
    """Return the first node of a game without moves; raises SgfError for what is not a game of Go."""
    data = as_utf_8(text)
    line = valid_line(data, 0, LookAhead(data))
    game = first_game(data if line is None else line["root"] + b")", TextNode)
    return replace(record_of(game.nodes[:1], game.notes), moves=(), later_setups=())


def of_each_game(
    paths: Paths, make: Callable[[str, str], T], pass_over: Callable[[SgfError], None] | None
) -> Iterator[T]:
    """Yield what `make` returns for the text and the encoding of each game in files, see `read_headers`."""
    refuse = pass_over or _raised
    for path in _files(paths):
        try:
            texts = _texts_of(path)
        except SgfError as error:
            refuse(SgfError(f"{path}: {error}"))
            continue
        for number, (text, encoding) in enumerate(texts, 1):
            try:
                made = make(text, encoding)
            except SgfError as error:
                refuse(SgfError(f"{path}, game {number}: {error}"))
            else:
                yield made


def _texts_of(path: Path) -> list[tuple[str, str]]:
    """Return the games of a file, which counts as one where `_texts_in` has none; raises SgfError as it does."""
    data = read_sgf_file(str(path), most_bytes=None)
    return _texts_in(data) or [text_of(sgf_of(data))]


def _raised(error: SgfError) -> None:
    raise error


def records_in(folder: Path) -> list[Path]:
    """Return the files in a folder and those below it that have the names of records, sorted."""
    return sorted(path for path in folder.rglob("*") if _RECORD.fullmatch(path.name) and path.is_file())


def _files(paths: Paths) -> Iterator[Path]:
    if not isinstance(paths, str | Path | Iterable):
        raise ArgumentError(f"records {shown(paths)}", expected="files or folders")
    for path in [paths] if isinstance(paths, str | Path) else paths:
        yield from records_in(Path(path)) if path != "" and Path(path).is_dir() else [Path(path)]
