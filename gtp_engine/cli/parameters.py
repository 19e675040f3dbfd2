"""Parameters that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

FILE: Final = click.Path(path_type=Path, dir_okay=False)
FOLDER: Final = click.Path(path_type=Path, file_okay=False)
"""Paths of a file and of a folder, which need not exist."""

INTERRUPTED: Final = 130
"""Exit status of a command that was interrupted."""

F = TypeVar("F", bound=Callable[..., Any])


int8_option: Final = click.option(
    "--int8/--no-int8",
    default=True,
    show_default=True,
    help="Also make an 8-bit copy if this processor is faster with one; that takes one to five minutes.",
)


def out_option(default: str) -> Callable[[F], F]:
    """Return the option `--out` for the file to write, received as `target`; `default` describes its default."""
    return click.option(
        "-o",
        "--out",
        "target",
        metavar="FILE",
        type=FILE,
        help=f"File to write. [default: {default}]",
    )
