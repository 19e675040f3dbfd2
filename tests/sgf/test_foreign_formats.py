"""Records in GIB, NGF and UGF, as Tygem, Cyberoro and Pandanet write them; other kinds are refused by their names."""

import contextlib
from pathlib import Path

import pytest
from texts import meaning, texts

from gtp_engine.base.errors import SgfError
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import format_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS
from gtp_engine.sgf import GameTree, parse_sgf
from gtp_engine.sgf.collection import game_in, games_in

DATA = Path(__file__).parent.parent / "data" / "sgf"
GIB = (DATA / "tygem.gib").read_text("utf-8")
NGF = (DATA / "cyberoro.ngf").read_text("utf-8")
UGF = (DATA / "pandanet.ugf").read_text("utf-8")
RECORD = "(;GM[1]SZ[9]PB[柯洁];B[ee](;W[cc])(;W[gg]))"


def vertices(data: bytes) -> list[str]:
    moves = parse_sgf(data).moves
    return [f"{' BW'[move.color]} {format_vertex(move.point, width=19, height=19)}" for move in moves]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949"])
def test_gib(encoding: str) -> None:
    data = GIB.replace("\n", "\r\n").encode(encoding)
    record = parse_sgf(data)
    assert vertices(data) == ["B Q16", "W D4", "B pass", "W A1"]
    assert (record.black_name, record.black_rank, record.white_name, record.komi) == ("신진서", "9P", "박정환", 6.5)
    assert (record.result, record.date, record.notes, record.setup_stones) == ("B+4.5", "2016-03-26", (), ())
    assert parse_sgf(GIB.replace("BLACKNAME", "BLACKNICK").encode()).black_name == "신진서 (9P)"
    assert record.rules == PRESETS["korean"]
    text = GIB.replace("C2016:03:26:17:29\\]", "\\]\n\\[GAMEINFOSUB=GDATE:2016- 3-26\\]")
    assert parse_sgf(text.encode()).date == record.date
    tree = GameTree(data)
    assert [tree.root.get(name) for name in ("EV", "PC")] == [["시험 대국 [1]"], ["서울"]]
    assert parse_sgf(tree.to_bytes()) == record, "it is written as SGF"


@pytest.mark.parametrize(
    ("ending", "margin", "result"),
    [(1, 5, "W+0.5"), (0, 0, "B+"), (3, 0, "B+R"), (4, 0, "W+R"), (7, 0, "B+T"), (8, 0, "W+T"), (9, 0, None)],
)
def test_results_of_gib(ending: int, margin: int, result: str | None) -> None:
    for old, new in (("GRLT:0,ZIPSU:45", f"GRLT:{ending},ZIPSU:{margin}"), ("GRLT:0,ZIPSU:45,", "")):
        text = GIB.replace(old, new).replace("W0,Z45", f"W{ending},Z{margin}")
        assert parse_sgf(text.encode()).result == result


def test_a_handicap_in_gib_stands_on_the_usual_points() -> None:
    record = parse_sgf(GIB.replace("INI 0 1 0", "INI 0 1 3").replace("STO 0 2 1 15 3\n", "").encode())
    stones = {format_vertex(stone.point, width=19, height=19) for stone in record.setup_stones}
    assert (record.handicap, stones, record.first_player) == (3, {"D4", "Q16", "D16"}, WHITE)
    assert [move.color for move in record.moves] == [WHITE, BLACK, WHITE]


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_ngf(encoding: str) -> None:
    data = NGF.encode(encoding)
    record = parse_sgf(data)
    assert vertices(data) == ["B Q16", "W D4", "B pass"]
    assert (record.black_name, record.black_rank) == ("江維傑", "5段p")
    assert (record.white_name, record.white_rank) == ("アギラール", "7段")
    assert (record.komi, record.result, record.date) == (6.5, "B+R", "2011-08-12")
    assert record.rules == PRESETS["korean"]
    assert len(Game.from_sgf(data).moves) == 3
    assert game_in(data, None) == data
    assert len(games_in(data)) == 1


RESULTS = {"ngf": (NGF, "黒中押し勝ち!", ""), "ugf": (UGF, "Winner=B,C", "Winner=")}
"""A record with the line of its result, and what is before the words there."""


@pytest.mark.parametrize(("kind", "words", "expected"), texts("formats"))
def test_results(kind: str, words: str, expected: object) -> None:
    record, line, start = RESULTS[kind]
    assert meaning(lambda words: parse_sgf(record.replace(line, start + words).encode()).result, words) == expected


@pytest.mark.parametrize(("size", "points"), [(19, {"D4", "Q16", "Q4"}), (13, {"D4", "K10", "D10"})])
def test_a_handicap_in_ngf(size: int, points: set[str]) -> None:
    lines = NGF.splitlines()
    lines[1], lines[5], lines[7] = str(size), "3", "0"
    record = parse_sgf("\n".join([*lines[:12], *lines[13:]]).encode())
    stones = {format_vertex(stone.point, width=size, height=size) for stone in record.setup_stones}
    assert (record.handicap, stones, record.komi, record.first_player) == (3, points, 0.0, WHITE)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\r"])
@pytest.mark.parametrize(("text", "encoding"), [(GIB, "cp949"), (NGF, "cp932"), (UGF, "cp932"), ("\n" + NGF, "utf-8")])
def test_line_ends(text: str, encoding: str, end: str) -> None:
    assert vertices(text.replace("\n", end).encode(encoding)) == vertices(text.encode())
    assert len(vertices(text.encode())) >= 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932"])
def test_ugf(encoding: str) -> None:
    data = UGF.encode(encoding)
    record = parse_sgf(data)
    assert vertices(data) == ["B Q16", "W D4", "B pass", "W A1"]
    assert (record.black_name, record.black_rank, record.white_name, record.white_rank) == ("佐藤", "7d", "鈴木", "8d?")
    assert (record.komi, record.result, record.date, record.width) == (6.5, "B+R", "2019-03-08", 19)
    assert record.rules is not None and record.rules.preset_name() == "japanese"
    assert [GameTree(data).root.get(name) for name in ("EV", "PC")] == [["第1期, 例題戦"], ["PANDA-NET"]]
    assert vertices(UGF.replace("AA,W1,4", "AA,W1,0").encode()) == vertices(data), "stones are set up before all moves"
    assert vertices(UGF.replace("Size=19\n", "").replace("IGS", "igs").encode()) == vertices(data)


def test_a_handicap_in_ugf_and_coordinates_from_above() -> None:
    text = UGF.replace("0,6.50", "2,0.50").replace("PP,B1,1,0", "PD,B1,0,0\nDP,B1,0,0\nYA,B1,0,0").replace("IGS", "JPN")
    record = parse_sgf(text.encode())
    stones = {format_vertex(stone.point, width=19, height=19) for stone in record.setup_stones}
    assert (record.handicap, stones, record.komi) == (2, {"Q16", "D4"}, 0.5)
    assert vertices(text.encode()) == ["B pass", "W D16", "B pass", "W A19"]


def test_ngf_with_marks_before_its_lines() -> None:
    head = ["title", "朴承华 初段", "李载雄 五段", "", "", "2006-9-5", "19", "0", "0", "6", "2"]
    data = "".join(f"GI{line}\n" for line in head).encode("gb18030") + b"PMABBQEEQ\nPMACWEQQE\n"
    record = parse_sgf(data)
    assert vertices(data) == ["B Q16", "W D4"]
    assert (record.white_name, record.komi, record.date) == ("朴承华", 6.5, "2006-09-05")


def test_gib_without_its_head() -> None:
    for start in ("INI", "\\GS"):
        assert vertices(GIB[GIB.index(start) :].encode()) == vertices(GIB.encode())


@pytest.mark.parametrize(
    "text",
    [
        "&#40;;GM&#91;1&#93;SZ&#91;9&#93;PB&#91;柯洁&#93;;B&#91;ee&#93;&#40;;W&#91;cc&#93;&#41;&#41;",
        "<pre>(&#59;GM&lsqb;1&rsqb;SZ&lsqb;9&rsqb;PB&lsqb;&#26607;&#27905;&rsqb;;B&lsqb;ee&rsqb;;W&lsqb;cc&rsqb;)</pre>",
    ],
)
def test_records_in_entities(text: str) -> None:
    record = parse_sgf(text.encode())
    assert (record.width, record.black_name, len(record.moves), record.notes) == (9, "柯洁", 2, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_characters_behind_other_text(encoding: str) -> None:
    assert parse_sgf(f"A game: {RECORD}".encode(encoding)).black_name == "柯洁"


@pytest.mark.parametrize(
    "data",
    [
        b"\\HS\n\\[GAMEBLACKNAME",
        b"\\[GAMETAG=C2016:99:99\\]\nSTO 0 1 1 99 99",
        b"\\[GAMETAG=G" + b"9" * 5000 + b"\\]\nSTO 0 1 1 " + b"9" * 5000 + b" 3",
        b"t\n99\n\n\n\n\nx\nPMAABZZZZ",
        b"t\x0cm\n19\n\n\n\n0\nx\nPMABBQEEQ",
    ],
    ids=["cut off", "no date", "long numbers", "no board", "form feed"],
)
def test_damaged_ones_raise_nothing_else(data: bytes) -> None:
    with contextlib.suppress(SgfError):
        parse_sgf(data)


@pytest.mark.parametrize(
    ("text", "data"),
    [(GIB, GIB.encode("utf-16")), (NGF, NGF.encode("utf-16")), (NGF, NGF.replace("\n", "\x0cx\n", 1).encode())],
)
def test_wide_characters_and_form_feeds_change_nothing(text: str, data: bytes) -> None:
    plain = parse_sgf(text.encode())
    assert parse_sgf(data) == plain and len(plain.moves) >= 3
