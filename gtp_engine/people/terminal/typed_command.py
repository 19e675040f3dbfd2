"""What a typed line means: a command with its argument, or a point of the board; and which file a typed name means."""

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from rich.cells import cell_len

from gtp_engine.base.errors import SgfError, shown_path
from gtp_engine.base.files import write_whole, writing
from gtp_engine.base.languages import _, later
from gtp_engine.sgf import read_sgf_file
from gtp_engine.sgf.collection import game_in

POINT: Final = "a point"
"""The name of a line that is only a vertex; none that is typed has a blank in it."""

_VERTEX: Final = re.compile(r"(?i:(?P<column>[a-z])\s*(?P<row>\d{1,2}))")
"""A vertex, perhaps with a blank in it (P 16 must not pass, nor Q 16 quit), or a mistake for one, such as I5."""

_MEANINGS: Final = {
    "pass": "",
    "undo": later("take your move back"),
    "back 5": later("look back, also PgUp"),
    "hint": later("show good moves"),
    "score": later("estimate the score"),
    "resign": later("give up the game"),
    "save FILE": later("write an SGF file"),
    "load FILE": later("read an SGF file"),
    "level 5k": later("make it weaker"),
    "new 9 white": later("start another game"),
    "quit": later("end, also Ctrl-D"),
}
"""What the commands do, some with an argument; others are possible while a search is stopped or stones are marked."""

_OTHERS: Final = ("help", "forward", "accept", "resume", "now", "go")

_SHORT: Final = {
    "p": "pass",
    "u": "undo",
    "b": "back",
    "f": "forward",
    "h": "hint",
    "s": "score",
    "estimate": "score",
    "q": "quit",
    "exit": "quit",
    "?": "help",
    "ok": "accept",
    "done": "accept",
    "yes": "accept",
    "continue": "resume",
}
_NAMES: Final = tuple(usage.split()[0] for usage in _MEANINGS) + _OTHERS


class TypedLine(NamedTuple):
    """A command ("" of an empty line, `POINT` of a vertex, the first word where that names none), and what follows."""

    command: str
    argument: str


def parse_typed(line: str) -> TypedLine:
    """Return what a line means; it names a command by its name, its first letters or another usual word."""
    first, _blank, rest = line.strip().partition(" ")
    if not first:
        return TypedLine("", "")
    if vertex := _VERTEX.fullmatch(line.strip()):
        return TypedLine(POINT, f"{vertex['column']}{vertex['row']}".upper())
    name = _SHORT.get(first.lower(), first.lower())
    full = [name] if name in _NAMES else [each for each in _NAMES if each.startswith(name)]
    return TypedLine(full[0] if len(full) == 1 else first, rest.strip())


def help_text(*, has_keys: bool = True) -> str:
    """Return what can be typed, one command a line, narrow enough to stand beside a board."""
    usages = {"D4": _("play there")} | ({_("arrows"): _("move, Enter plays")} if has_keys else {})
    usages |= {usage: meaning and _(meaning) for usage, meaning in _MEANINGS.items()}
    if not has_keys:
        usages["back 5"] = _("look back")
    return "\n".join(f"{usage}{' ' * (12 - cell_len(usage))}{meaning}".rstrip() for usage, meaning in usages.items())


def sgf_path(name: str) -> Path:
    """Return the path to which a typed name writes: without a suffix it gets .sgf, ~ is the home folder.

    Raises SgfError for a name that no file can have.
    """
    path = _typed_path(name)
    return path if path.suffix else path.with_suffix(".sgf")


def read_record(name: str, number: int | None = None) -> bytes:
    """Return what a file has, or only its game of this number: that of `sgf_path`, or one that has just this name.

    Raises SgfError, also for a name that no file can have.
    """
    typed, usual = _typed_path(name), sgf_path(name)
    data = read_sgf_file(str(typed if os.path.exists(typed) and not os.path.exists(usual) else usual))
    return data if number is None else game_in(data, number)


def _typed_path(name: str) -> Path:
    path = Path(os.path.expanduser(name.strip("\"'")))
    if path.name in ("", ".."):
        raise SgfError(f"file {shown_path(path)}", expected="the name of a file")
    return path


def unused_path(folder: Path) -> Path:
    """Return a path in `folder` that does not exist, named by the time."""
    base = f"tengen-{datetime.now():%Y%m%d-%H%M%S}"
    path, number = folder / f"{base}.sgf", 1
    while path.exists():
        number += 1
        path = folder / f"{base}-{number}.sgf"
    return path


def save(text: str, path: Path) -> None:
    """Write a game, whole or not at all; raises SgfError."""
    with writing(path, SgfError, "game", advice="name another file"):
        write_whole(path, text + "\n")
