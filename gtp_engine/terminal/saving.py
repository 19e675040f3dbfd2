"""The files of games: under new names, and over an existing file only if the person agrees."""

import os
from datetime import datetime
from pathlib import Path

from gtp_engine.errors import SgfError, problem, shown_path
from gtp_engine.files import replacing


def sgf_path(name: str) -> Path:
    """Return the path to which a typed name writes: without a suffix it gets .sgf, ~ is the home folder.

    Raises SgfError for a name that no file can have.
    """
    path = _typed_path(name)
    return path if path.suffix else path.with_suffix(".sgf")


def record_path(name: str) -> Path:
    """Return the path from which a typed name reads: that of `sgf_path`, or of a file that has just this name.

    Raises SgfError for a name that no file can have.
    """
    typed, usual = _typed_path(name), sgf_path(name)
    return typed if os.path.isfile(typed) and not os.path.exists(usual) else usual


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
    try:
        with replacing(path) as unfinished:
            unfinished.write_text(text + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SgfError(f"cannot write {shown_path(path)}: {reason}") from error
