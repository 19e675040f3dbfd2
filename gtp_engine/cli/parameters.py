"""Parameters that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def out_option(default: str) -> Callable[[F], F]:
    """Return the option `--out` for the file to write, received as `target`; `default` describes its default."""
    return click.option(
        "-o",
        "--out",
        "target",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help=f"File to write. [default: {default}]",
    )
