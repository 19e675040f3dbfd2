"""What a typed line means: a command with its argument, or a point of the board; and which file a typed name means."""

import os
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.cells import cell_len

from gtp_engine.base.errors import SgfError, problem, shown_path
from gtp_engine.base.files import replacing, writing
from gtp_engine.base.languages import _
from gtp_engine.sgf import read_sgf_file
from gtp_engine.sgf.collection import game_in

POINT: Final = "point"
"""The command of a line that is only a vertex."""

_VERTEX: Final = re.compile(r"(?i:(?P<column>[a-z])\s*(?P<row>\d{1,2}))")
"""A vertex, perhaps with a blank in it (P 16 must not pass, nor Q 16 quit), or a mistake for one, such as I5."""

COMMANDS: Final = (
    "pass",
    "undo",
    "back 5",
    "hint",
    "score",
    "resign",
    "save FILE",
    "load FILE",
    "level 5k",
    "new 9 white",
    "quit",
)
"""The commands, some with an argument; others are possible while a search is stopped or dead stones are marked."""

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
_NAMES: Final = tuple(usage.split()[0] for usage in COMMANDS) + _OTHERS


@dataclass(frozen=True)
class TypedCommand:
    """A command's name ("" for an empty line, `POINT` for a vertex) and the rest of the line."""

    name: str
    argument: str = ""
    is_known: bool = True


def parse_typed(line: str) -> TypedCommand:
    """Return the command that a line names, by its name, its first letters or another usual word."""
    first, _blank, rest = line.strip().partition(" ")
    word, argument = first.lower(), rest.strip()
    if not word:
        return TypedCommand("")
    if vertex := _VERTEX.fullmatch(line.strip()):
        return TypedCommand(POINT, f"{vertex['column']}{vertex['row']}".upper())
    if word in _SHORT:
        return TypedCommand(_SHORT[word], argument)
    full = [name for name in _NAMES if name.startswith(word)]
    if word in full:
        return TypedCommand(word, argument)
    if len(full) == 1:
        return TypedCommand(full[0], argument)
    return TypedCommand(first, argument, is_known=False)


def help_text(*, has_keys: bool = True) -> str:
    """Return what can be typed, one command a line, narrow enough to stand beside a board."""
    meanings = (
        "",
        _("take your move back"),
        _("look back, also PgUp") if has_keys else _("look back"),
        _("show good moves"),
        _("estimate the score"),
        _("give up the game"),
        _("write an SGF file"),
        _("read an SGF file"),
        _("weaken the engine"),
        _("start another game"),
        _("end, also Ctrl-D"),
    )
    usages = {"D4": _("play there")} | ({_("arrows"): _("move, Enter plays")} if has_keys else {})
    usages |= dict(zip(COMMANDS, meanings, strict=True))
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
        raise SgfError(problem(f"file {shown_path(path)}", expected="the name of a file"))
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
    with writing(path, SgfError, "game", advice="name another file"), replacing(path) as unfinished:
        unfinished.write_text(text + "\n", encoding="utf-8")
