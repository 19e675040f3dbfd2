"""What commands are given to read: regular files of a bounded length, whatever names them."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click
import pytest
from documents import cli_commands

from gtp_engine import Config, TengenError
from gtp_engine.arena.tournament.tournament_file import read_description
from gtp_engine.base.files import complete_lines, read_regular, replacing, sha256_of
from gtp_engine.cli.options import ConfigOption, UserPath
from gtp_engine.config.katago import read_katago_config
from gtp_engine.config.option import FILE_UNITS
from gtp_engine.engine.book.book import Book
from gtp_engine.engine.level_table import read_table_file
from gtp_engine.nn.katago_format.parser import load_network
from gtp_engine.nn.metadata import read_properties
from gtp_engine.nn.published_networks import open_package
from gtp_engine.people.rank_estimate import read_rank_table
from gtp_engine.sgf import read_sgf_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has neither pipes nor devices as files")


PATHS = [
    pytest.param(param, id=f"{name} {param.name}")
    for name, command in cli_commands()
    for param in command.params
    if isinstance(param.type, click.Path | click.File) or (param.metavar or "").strip("[].").lower() in FILE_UNITS
]
"""Every file and folder that a command is given; a new one is among them by itself."""


@pytest.fixture(params=["pipe", "link to a device"])
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Make what is neither a file nor a folder, and return its path."""
    path = tmp_path / "special"
    if request.param == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("param", PATHS)
def test_no_command_takes_what_is_no_file(param: click.Parameter, special: Path) -> None:
    context = click.Context(click.Command("any"))
    if isinstance(param, ConfigOption):
        with pytest.raises(TengenError, match="expected a regular file"):
            param.declared.parse(str(special))
    else:
        assert isinstance(param.type, UserPath), "FILE, FOLDER, PATH and RECORD of `cli.options` refuse other things"
        with pytest.raises(click.BadParameter, match="is not a regular file"):
            param.type.convert(str(special), param, context)


def test_no_file_takes_the_place_of_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="expected a regular file"), replacing(pipe) as unfinished:
        unfinished.touch()
    assert pipe.is_fifo()


READERS: dict[str, Callable[[Path], object]] = {
    "regular": lambda path: read_regular(path, 100),
    "hash": sha256_of,
    "lines": complete_lines,
    "toml": Config.from_toml,
    "katago": read_katago_config,
    "network": read_properties,
    "network of KataGo's": load_network,
    "levels": read_table_file,
    "ranks": read_rank_table,
    "tournament": read_description,
    "record": lambda path: read_sgf_file(str(path)),
    "book": Book.load,
    "package": lambda path: open_package(path).__enter__(),
}


@pytest.mark.parametrize("kind", READERS)
def test_no_reader_takes_what_is_no_file(kind: str, special: Path) -> None:
    """Paths stand in files, too."""
    with pytest.raises((TengenError, OSError), match=r"regular file|expected a wheel"):
        READERS[kind](special)


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="needs a stream of /proc, which root alone may read")
@pytest.mark.parametrize("kind", READERS)
def test_no_reader_waits_for_a_stream_of_proc(kind: str) -> None:
    with suppress(OSError):
        Path("/dev/kmsg").write_text("<7>a line to read\n")
    with pytest.raises((TengenError, OSError), match=r"regular file|expected a wheel|longer than"):
        READERS[kind](Path("/proc/kmsg"))


def test_a_config_file_includes_regular_files_only(special: Path, tmp_path: Path) -> None:
    (tmp_path / "own.cfg").write_text(f"maxVisits = 5\n@include {special}\n")
    with pytest.raises(TengenError, match="expected a regular file"):
        read_katago_config(tmp_path / "own.cfg")


def test_files_have_a_longest_length(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    assert read_regular(path, 100) == bytes(100)
    with pytest.raises(OSError, match="longer than 99 bytes"):
        read_regular(path, 99)
    with path.open("wb") as file:
        file.truncate(1 << 34)  # of holes
    for read in (Config.from_toml, read_katago_config, complete_lines):
        with pytest.raises((TengenError, OSError), match="longer than"):
            read(path)
