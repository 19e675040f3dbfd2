"""The example programs of docs/examples run on small data, and have at most 80 lines; the notebook runs."""

import asyncio
import contextlib
import importlib.util
import io
import random
import re
import shutil
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest
from documents import ROOT
from fake_evaluators import FakeEvaluator
from notebooks import cells, run

from gtp_engine import Config, Game
from gtp_engine.people.play import SharedEngines

EXAMPLES = ROOT / "docs" / "examples"


def example(name: str) -> ModuleType:
    """Return an example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with records, which is the current one, too."""
    draw = random.Random(2)
    for number in range(4):
        game = Game(9)
        for move in ("E5", "C3", "G3", "C7") if number < 3 else ("E5", "G3", "C3", "G7"):  # the same in a mirror
            game.play(move)
        for _ in range(10 + number):
            game.play(draw.choice(game.legal_points()))
        (tmp_path / f"{number}.sgf").write_text(game.to_sgf(black_name=f"Ann {number}", result="BW"[number % 2] + "+R"))
    (tmp_path / "none.sgf").write_text("no record")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(name: str, *arguments: object) -> str:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        example(name).main(*arguments)
    return text.getvalue()


def test_each_example_has_at_most_80_lines() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in EXAMPLES.glob("*.py")}
    assert len(lengths) == 3 and max(lengths.values()) <= 80, lengths


@pytest.mark.skipif(shutil.which("pyright") is None, reason="no pyright: npm install --global pyright")
def test_pyright_finds_no_error() -> None:
    pytest.importorskip("torch")  # an example trains a network
    files = [EXAMPLES, ROOT / "docs" / "scripts", Path(__file__).with_name("typed_user.py")]
    command = [str(shutil.which("pyright")), "--pythonpath", sys.executable, *map(str, files)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_many_records(folder: Path) -> None:
    lines = printed("many_records", str(folder)).splitlines()
    assert lines[0] == "winners: {'B': 2, 'W': 2}"
    assert lines[1] == "4 times: E5 C3 G3 C7", "positions that symmetries exchange are one"
    assert re.fullmatch("4 games, the longest: .*'Ann 3'.*'moves': 17.*", lines[-1])


async def played(club: object, lines: list[str]) -> list[str]:
    """Return what a player of the club reads, line by line, in answer to these."""
    server = await asyncio.start_server(club.serve, "127.0.0.1", 0)  # type: ignore[attr-defined]
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.writelines(f"{line}\n".encode() for line in lines)
        writer.write_eof()
        read = await reader.read()
        writer.close()
    return read.decode().strip().split("\n\n")


def test_a_club_of_players() -> None:
    config = Config().with_values({"search.visits": 2, "search.seed": 1})
    with SharedEngines(config, evaluator=FakeEvaluator()) as engines:

        async def evening() -> list[list[str]]:
            club = example("club_server").Club(engines)
            return await asyncio.gather(*(played(club, ["E5", "E5", "undo", "resign"]) for _ in range(3)))

        for board, refusal, empty, result in asyncio.run(evening()):
            assert board.startswith("Move 2, ") and "illegal move: E5 is occupied" in refusal
            assert (empty.startswith("Move 0, "), result) == (True, "W+R")


def test_a_network_is_trained(folder: Path) -> None:
    pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of PyTorch's exporter
        text = printed("train_network", str(folder), 3)
    assert re.match(r"62 positions, loss \d\.\d\d\n", text) and "Move 10, " in text


def test_the_notebook_runs() -> None:
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    found = run()
    kinds = [[sorted(output.get("data", ["text"])) for output in outputs] for outputs in found]
    assert kinds == [[sorted(output.get("data", ["text"])) for output in cell["outputs"]] for cell in code]
    pictures = [
        output["data"]["image/svg+xml"]
        for each in found
        for output in each
        if "image/svg+xml" in output.get("data", {})
    ]
    assert len(pictures) >= 2
    for picture in pictures:
        assert ET.fromstring("".join(picture)).get("role") == "img"
    assert found[0] == code[0]["outputs"], "a picture without a search is the same everywhere"
