"""The ten scripts of docs/scripts run, and so do the same ones by hand, which have at least twice as many lines."""

import contextlib
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from documents import ROOT, by_hand, line_count, scripts
from gnugo import find_gnugo
from match_helpers import ANALYSIS_ENGINE, engine

from gtp_engine import Game, GameTree

SCRIPTS = scripts()

RECORD = """(;GM[1]SZ[9]KM[6.5]RU[Chinese]PB[Ann]PW[Ben];B[dg]C[The start.];W[cg];B[bg]
(;W[gc];B[ch];W[gg])(;W[gg];B[gc]))"""
GIB = r"""\HS
\[GAMEBLACKNAME=Ann\]
\[GAMEWHITENAME=Ben\]
\HE
\GS
2 1 0
119 0 &4
INI 0 1 0 &4
STO 0 2 1 3 3
STO 0 3 2 15 15
\GE
"""

ENGINES = {
    "katago analysis -model model.bin.gz -config analysis.cfg": ANALYSIS_ENGINE,
    "gnugo --mode gtp": engine("--lists time_settings --lists undo --score B+3.5 --black E5").strip().replace("'", ""),
    '"gtp-engine"': f'"{engine("--lists time_settings --lists undo --white D4").strip()}"',
    '["katago", "gtp"]': repr([*engine("--analyzes").split()]),
    "katago gtp": engine("--analyzes"),
    'Game(19), every=0.5': 'Game(5), every=0.001',
    'boardsize 19': 'boardsize 5',
    'analyze b 50': 'analyze b 0',
}  # fmt: skip
"""What stands in the scripts for programs that are not here, and what the tests run in their place."""


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a script in a folder with records; return what it prints."""
    (folder / "game.sgf").write_text(RECORD)
    (folder / "records").mkdir(exist_ok=True)
    (folder / "records" / "a.sgf").write_text(RECORD)
    (folder / "records" / "b.gib").write_text(GIB)
    (folder / "records" / "c.txt").write_text("no record")
    monkeypatch.chdir(folder)
    for name, command in ENGINES.items():
        code = code.replace(name, command.replace("\\", "\\\\") if name != '["katago", "gtp"]' else command)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "script", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def test_ten_scripts_have_at_most_half_the_lines() -> None:
    assert len(SCRIPTS) == 10 == len(list((ROOT / "docs" / "by_hand").glob("*.py")))
    assert [name for name, code in SCRIPTS.items() if 2 * line_count(code) > line_count(by_hand(name))] == []


@pytest.mark.parametrize("name", ["replay", "liberties", "convert", "ladders", "variations"])
def test_scripts_that_print_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, hand = (run(code, tmp_path, monkeypatch) for code in (SCRIPTS[name], by_hand(name)))
    moves = [line for line in here.splitlines() if re.match(r"\d+ [A-J]\d|captured|[abc]\.\w+ \d", line)]
    assert moves
    assert [line for line in moves if line not in hand] == []


def test_a_game_between_two_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in (SCRIPTS["two_engines"], by_hand("two_engines")):
        score, *record = run(code, tmp_path, monkeypatch).splitlines()
        assert score == "B+3.5"
        moves = [node.vertex for node in GameTree("\n".join(record)).main_line()]
        assert moves == [None, "E5", "D4", "pass", "pass"]


def test_analyses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in (SCRIPTS["katago"], by_hand("katago")):
        lines = run(code, tmp_path, monkeypatch).splitlines()
        assert [line.split()[0] for line in lines] == [str(turn) for turn in range(7)]
        assert all("55.0%" in line and "+1.2" in line and "D4" in line for line in lines)
    for code in (SCRIPTS["live"], by_hand("live")):
        lines = run(code, tmp_path, monkeypatch).splitlines()
        assert "D4" in lines[-1]
        assert max(int(number) for number in re.findall(r"\b\d{3,}\b", lines[-1].replace(",", ""))) > 1000


def test_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in (SCRIPTS["board"], by_hand("board")):
        run(code, tmp_path, monkeypatch)
        root = ET.parse(tmp_path / "board.svg").getroot()
        assert len([each for each in root.iter() if each.get("r", "").startswith("11")]) == 6
    run(SCRIPTS["board"], tmp_path, monkeypatch)
    assert (tmp_path / "board.svg").read_text() == (ROOT / "docs" / "pictures" / "board.svg").read_text()


def test_the_score_of_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"[BW]\+[\d.]+\ndead:.*\n", run(SCRIPTS["score"], tmp_path, monkeypatch))
    if find_gnugo() is not None:
        code = by_hand("score").replace('"gnugo"', repr(find_gnugo()))
        assert re.fullmatch(r"[BW]\+[\d.]+\ndead:.*\n", run(code, tmp_path, monkeypatch))


def test_records_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(SCRIPTS["convert"], tmp_path, monkeypatch)
    assert (tmp_path / "converted" / "a.sgf").read_text() == RECORD
    game = Game.from_sgf((tmp_path / "converted" / "b.sgf").read_bytes())
    assert [str(move.point) for move in game.moves] == ["D16", "Q4"]
    run(SCRIPTS["variations"], tmp_path, monkeypatch)
    changed = GameTree.load(tmp_path / "changed.sgf").main_line()[3]
    assert [child.vertex for child in changed.children] == ["G7", "G3", "E5"]
    assert (changed.children[2].comment, changed.children[2].marks) == ("Better.", {"C3": "triangle"})
