"""What commands about a game record share: their options, and reading one game from a file or stdin."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click

from gtp_engine.cli.config_options import ConfigCommand


class RecordCommand(ConfigCommand):
    """A command whose help leaves out the options for playing; rules and komi are for records that name none."""

    unused = ("play", "time", "gtp", "analysis")
    texts: Mapping[str, str] = MappingProxyType(
        {
            "game.rules": "Rules of records that name none. [default chinese]",
            "game.komi": "Komi of records that name none. [default: the usual one of the rules]",
        }
    )


record_argument: Final = click.argument("record", metavar="FILE", type=click.Path(path_type=Path, allow_dash=True))

game_option: Final = click.option(
    "--game", type=click.IntRange(1), metavar="N", help="Take game N of a file with several games."
)


def read_record(record: Path, game: int | None) -> bytes:
    """Return one game of a file, or of stdin for `-`; raises SgfError, also for several games without a `game`."""
    from gtp_engine.sgf import read_sgf_file
    from gtp_engine.sgf.tree_text import game_in

    data = sys.stdin.buffer.read() if str(record) == "-" else read_sgf_file(str(record))
    return game_in(data, game)
