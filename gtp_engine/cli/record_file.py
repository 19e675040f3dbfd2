"""The record that a command is given: a file or stdin, and of several games in it one."""

import sys
from pathlib import Path
from typing import Final

import click

record_argument: Final = click.argument("record", metavar="FILE", type=click.Path(path_type=Path, allow_dash=True))

game_option: Final = click.option(
    "--game", type=click.IntRange(1), metavar="N", help="Take game N of a file with several games."
)


def read_record(record: Path, game: int | None) -> bytes:
    """Return a game of a file, or of stdin for -; raises SgfError, also if none of several games was named."""
    from gtp_engine.sgf import read_sgf_file
    from gtp_engine.sgf.tree_text import game_in

    data = sys.stdin.buffer.read() if str(record) == "-" else read_sgf_file(str(record))
    return game_in(data, game)
