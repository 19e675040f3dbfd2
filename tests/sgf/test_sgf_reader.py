"""Reading records: contents, common mistakes of programs, encodings, and malicious files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgf_support import at, grid, load, parse, position

from gtp_engine.base.errors import SgfError
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Move, format_vertex
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.go.rules import PRESETS
from gtp_engine.sgf import (
    MAX_BYTES,
    MAX_MOVES,
    LaterSetup,
    SgfRecord,
    parse_sgf,
    play_record,
    read_sgf_file,
    record_to_game,
)
from gtp_engine.sgf.reader import MAX_TOKENS

WALLS = (
    ";W[aa];B[ab];W[hh];B[ba];W[fa];B[ea];W[fb];B[eb];W[fc];B[ec];W[fd];B[ed];W[fe];B[ee];W[ff];B[ef];W[fg];B[eg]"
    ";W[fh];B[eh];W[fi];B[ei];W[hg];B[];W[]"
)
"""The moves of a 9x9 game: a wall on column E and one on column F, a stone captured at A9."""

DATA = Path(__file__).parent.parent / "data" / "sgf"


def test_an_empty_record() -> None:
    assert parse("(;)") == SgfRecord(
        width=19, height=19, komi=None, rules=None, handicap=0, setup_stones=(), first_player=BLACK, moves=()
    )


def test_a_record_with_everything() -> None:
    record = parse("(;GM[1]FF[4]SZ[5:9]KM[6.5]RU[Japanese]PB[A]PW[B]RE[W+R];B[aa];W[ei];B[];W[tt])")
    assert (record.width, record.height) == (5, 9)
    assert (record.komi, record.rules) == (6.5, PRESETS["japanese"])
    assert (record.black_name, record.white_name, record.result) == ("A", "B", "W+R")
    assert record.moves == (
        Move(BLACK, at("A9", 5, 9)), Move(WHITE, at("E1", 5, 9)), Move(BLACK, PASS), Move(WHITE, PASS)
    )  # fmt: skip
    assert record.notes == ()
    assert parse("(;SZ[9];B[cc];W[dd]KO[1];KO[6.5])").komi == 6.5, "a move with KO has none"


def test_texts_have_no_control_characters() -> None:
    record = parse("(;PB[\x1b\\]0;title\x07Ann\u202e]PW[\x9b2J]RE[B+R\x1bc]DT[2026\x00]BR[\u3000\x08];B[aa])")
    assert (record.black_name, record.white_name, record.black_rank) == ("]0;title Ann", "2J", None)
    assert (record.result, record.date) == ("B+R c", "2026")


def test_old_style_names_text_around_variations_and_further_games() -> None:
    record = parse_sgf((DATA / "old-style-variations.sgf").read_bytes())
    assert (record.width, record.komi) == (9, 5.5)
    assert record.black_name == "Kuro [1k]"
    assert record.white_name == r"Shiro: \o/ two lines"
    moves = "E5 G5 C5 pass pass"
    assert " ".join(format_vertex(point, width=9, height=9) for _, point in record.moves) == moves


@pytest.mark.parametrize(
    ("name", "black", "white"),
    [
        ("shift_jis.sgf", "表ソ能", "ー十"),
        ("gb18030.sgf", "乗俓", "古乚力"),
        ("big5.sgf", "么功", "因包"),
        ("euc_kr.sgf", "흑돌", "백돌"),
        ("latin1.sgf", "Grün", "Ouf é"),
        ("utf8_bom.sgf", "黒", "白"),
        ("utf16.sgf", "黒", "白"),
        ("utf8_broken.sgf", "黒", "\ufffd"),
    ],
)
def test_encodings(name: str, black: str, white: str) -> None:
    record = parse_sgf((DATA / name).read_bytes())
    assert (record.black_name, record.white_name) == (black, white)
    assert record.moves == (Move(BLACK, at("C7", 9)), Move(WHITE, at("G3", 9)))


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [
        *(("UTF-8", "utf-8"), ("utf8", "utf-8"), ("", "utf-8"), ("nonsense", "utf-8"), ("GBK", "utf-8")),
        *(("zip", "utf-8"), ("../x", "utf-8"), ("GBK", "gbk"), ("EUC-JP", "euc-jp")),
        *(("ISO-8859-1", "latin-1"), ("latin1", "latin-1")),
        *(("x-sjis", "cp932"), ("Windows-31J", "cp932"), ("x-euc-jp", "euc-jp")),
    ],
)
def test_charsets_right_and_wrong_keep_the_moves(charset: str, encoding: str) -> None:
    name = "é" if encoding == "latin-1" else "日本"
    record = parse_sgf(f"(;CA[{charset}]SZ[9]PB[{name}];B[cc])".encode(encoding))
    assert record.moves == (Move(BLACK, at("C7", 9)),)
    if charset != "GBK" or encoding == "gbk":
        assert record.black_name == name


def test_handicap_that_does_not_fit_the_stones() -> None:
    record = parse("(;HA[3]AB[dp][pd];W[dd])")
    assert record.handicap == len(record.setup_stones) == 2
    assert record.notes == ("handicap 3 does not fit the 2 stones set up; the stones count",)


def test_handicap_without_stones_is_the_fixed_one_when_white_moves_first() -> None:
    record = parse_sgf((DATA / "fox-handicap.sgf").read_bytes())
    assert [point for _, point in record.setup_stones] == list(fixed_handicap_points(2, 19, 19))
    assert (record.handicap, record.komi, record.rules) == (2, 0.5, PRESETS["japanese"])
    assert record.notes == ("handicap 2 without stones: the fixed points were assumed",)
    assert (record.black_name, record.white_name) == ("甲乙", "丙丁")


def test_handicap_without_stones_may_be_blacks_first_moves() -> None:
    record = parse("(;HA[3];B[dp];B[pd];B[dd];W[pp])")
    assert (record.handicap, record.setup_stones, len(record.moves), record.notes) == (3, (), 4, ())
    assert record_to_game(record).handicap == 3


@pytest.mark.parametrize(
    "text", ["(;HA[3];B[dp];W[pd])", "(;SZ[5]HA[3];W[cc])", "(;HA[12];W[dd])", "(;HA[2];W[pd];B[dd])"]
)
def test_handicap_without_stones_is_ignored_otherwise(text: str) -> None:
    record = parse(text)
    assert (record.handicap, record.setup_stones) == (0, ())
    assert any("was ignored" in note for note in record.notes)
    assert record_to_game(record).moves == record.moves


@pytest.mark.parametrize(
    "name",
    ["1", "01", "1.0", '"1"', "1:Go", "Weiqi game", "go 9x9", "囲碁", "Game 1", "Kisei 45", "19x19", "Hexham Open"],
)
def test_ways_to_name_go(name: str) -> None:
    assert len(parse(f"(;GM[{name}]SZ[9];B[cc])").moves) == 1


@pytest.mark.parametrize(
    ("text", "komi"),
    [
        ("KM[0]HA[0]RU[Japanese]AP[foxwq]", 6.5),
        ("KM[0]HA[0]RU[Chinese]AP[foxwq]", 7.5),
        ("KM[0]AP[GNU Go:3.8]AP[foxwq]", 6.5),
        ("KM[0]HA[1]RU[Japanese]AP[foxwq]", 0.0),
        ("KM[0]HA[0]RU[Japanese]AP[KGS]", 0.0),
        ("KM[650]HA[0]RU[Japanese]AP[foxwq]", 6.5),
    ],
)
def test_the_fox_server_writes_0_for_the_usual_komi(text: str, komi: float) -> None:
    """Reviews were 6.5 points off for most of its games."""
    record = parse(f"(;GM[1]SZ[19]{text};B[pd];W[dp])")
    assert record.komi == komi
    assert any("usual" in note for note in record.notes) == ("KM[0]" in text and komi > 0)


@pytest.mark.parametrize(("rules", "result"), [("RU[Chinese]", "B+6.5"), ("RU[Japanese]", "B+7.5"), ("", "B+6.5")])
def test_a_handicap_without_komi_has_that_of_handicap_games(rules: str, result: str) -> None:
    """The result was W+0.5, with the komi of even games."""
    game = load(f"(;SZ[9]{rules}HA[2]AB[cc][gg]{WALLS})")
    assert (game.komi, str(game.score(["G3"]))) == (0.5, result)
    known = load(f"(;SZ[9]{rules}HA[2]KM[3.5]AB[cc][gg]{WALLS})")
    assert known.komi == 3.5
    assert record_to_game(parse(f"(;SZ[9]{rules}HA[2]AB[cc][gg]{WALLS})"), komi=1.5).komi == 1.5


def test_white_may_pass_between_handicap_stones() -> None:
    record = parse("(;HA[2];B[pd];W[tt];B[dp];W[dd])")
    assert (record.handicap, record.notes) == (2, ())
    assert record_to_game(record).handicap == 2


def test_a_position_with_both_colours_is_not_a_handicap() -> None:
    record = parse_sgf((DATA / "gnugo-position-9x9.sgf").read_bytes())
    assert (record.handicap, record.first_player, record.komi) == (0, WHITE, -2.5)
    assert record.notes == ("handicap 3 does not fit the 40 stones set up; the stones count",)
    game = record_to_game(record)
    assert game.to_play == WHITE
    assert position(game) == grid("""
        . . . . . . . . .
        . . . . . X O X .
        . . X . O O X X .
        . . . . X X O O .
        . . X X . X . X X
        . X . . X X X O X
        X X X X O O O O O
        O O X X O . . . .
        . O O O . . . . .
    """)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        *(("(;PL[W])", WHITE), ("(;PL[white];B[aa])", WHITE), ("(;PL[b];W[aa])", BLACK), ("(;PL[?];W[aa])", WHITE)),
        *(("(;PL[];W[aa])", WHITE), ("(;W[aa])", WHITE), ("(;B[aa])", BLACK), ("(;HA[2]AB[dp][pd])", WHITE)),
        *(("(;AB[dp][pd])", WHITE), ("(;AB[dp][pd]PL[B])", BLACK), ("(;AB[dp][pd]AW[dd])", BLACK)),
        *(("(;AB[dp])", BLACK), ("(;HA[2];AB[dp][pd];W[dd])", WHITE)),
    ],
)
def test_who_moves_first(text: str, first: int) -> None:
    assert parse(text).first_player == first


def test_setup_before_the_first_move_adds_up() -> None:
    record = parse("(;SZ[3]AB[aa:bb];AE[aa];AW[bb]PL[W];AB[cc])")
    assert dict((point, color) for color, point in record.setup_stones) == {
        at("B3", 3): BLACK, at("A2", 3): BLACK, at("B2", 3): WHITE, at("C1", 3): BLACK
    }  # fmt: skip
    assert record.first_player == WHITE


def test_setup_in_the_middle_starts_the_game_afresh() -> None:
    text = "(;SZ[3];B[aa];W[bb];AB[cc]AE[aa]PL[B];B[ca])"
    assert parse(text).later_setups == (LaterSetup(2, (Move(BLACK, at("C1", 3)),), (at("A3", 3),), BLACK),)
    game = load(text)
    assert position(game) == grid(". . X\n. O .\n. . X")
    assert len(parse("(;SZ[3];B[aa];AE[aa];B[aa])").moves) == 2, "it is not written twice"
    assert game.moves == (Move(BLACK, at("C3", 3)),)
    assert game.to_play == WHITE


PRISONER = (
    "(;SZ[9]RU[Japanese]KM[0.5];B[ea];W[fa];B[eb];W[fb];B[ec];W[fc];B[ed];W[fd];B[ee];W[fe];B[ef];W[ff];B[eg];W[fg]"
    ";B[eh];W[fh];B[ei];W[fi];B[ab];W[aa];B[ba];W[ii];B[];W[])"
)
"""Black captures a stone at A9, and wins by 8.5."""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        (";W[ii]", ";W[ii];AB[ea]"),
        (";B[ba]", ";B[ba];AE[aa]"),
        (";B[ba]", ";B[ba]AE[aa]"),
        (";B[ba]", ";AE[aa]B[ba]"),
        (";B[ba]", ";B[ba]AB[ba]"),
        (";W[ii]", ";W[ii]PL[B]"),
    ],
)
def test_a_setup_that_changes_nothing_keeps_the_game(old: str, new: str) -> None:
    """The prisoner was lost, or the game ended with "E5 is occupied"."""
    record = parse(PRISONER.replace(old, new))
    game, played = play_record(record)
    assert (str(game.score()), len(game.moves), played.notes) == ("B+8.5", 24, ())


def test_a_changed_position_tells_what_no_longer_counts() -> None:
    _, played = play_record(parse(PRISONER.replace(";W[ii]", ";W[ii];AW[gh]")))
    assert played.notes == ("the position is changed after move 22, from which on this no longer counts: 1 prisoner",)
    text = f"(;SZ[9]RU[Chinese]HA[2]AB[cc][gg]{WALLS})".replace(";W[hg]", ";W[hg]AE[cc]")
    _, played = play_record(parse(text))
    note = "the position is changed after move 23, from which on this no longer counts: the points for the handicap"
    assert played.notes == (note,)


def test_setup_before_move_n_belongs_to_the_position_before_it() -> None:
    text = "(;SZ[3];B[aa];AW[cc];W[bb])"
    assert position(load(text, 2)) == grid("X . .\n. . .\n. . O")
    assert position(load(text, 1)) == grid(". . .\n. . .\n. . .")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no SGF data found"),
        ("hello", "no SGF data found"),
        ("()", "no SGF data found"),
        ("see (1) and (a [b])", "no SGF data found"),
        ("(;", "unexpected end of SGF data"),
        ("(;B[aa)", "unexpected end of SGF data"),
        ("(;GM<1>SZ<9>;B<ee>)", "no property has a value"),
        (
            "\n<?xml?><Go></Go>",
            "an XML file, such as a record of Jago: expected SGF, GIB, NGF or UGF; convert it first",
        ),
        ("<!DOCTYPE html><script>for (;;) {}</script>", "a page of a browser: expected SGF"),
        ('{"moves": [[1, 2]]}', "a JSON file: expected SGF"),
        ("PK\x03\x04games.sgf", "an archive: expected SGF"),
        ("PP%D-lh5-", "an archive: expected SGF"),
        ("%PDF-1.4", "a PDF file: expected SGF"),
        ("(;GM[2])", r"another game, GM\[2\]: expected GM\[1\], Go"),
        ("(;GM[19])", r"another game, GM\[19\]"),
        ("(;GM[Chess])", r"another game, GM\[Chess\]"),
        ("(;GM[五子棋])", r"another game, GM\[五子棋\]"),
        ("(;GM[Game of Hex])", r"another game, GM\[Game of Hex\]"),
        ("(;SZ[1])", r"board size SZ\[1\]"),
        ("(;SZ[52])", r"board size SZ\[52\]"),
    ],
)
def test_unreadable_records(text: str, message: str) -> None:
    with pytest.raises(SgfError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "data",
    [
        b" " * (MAX_BYTES + 1),
        b"(" * MAX_BYTES,
        b"(" + b";" * MAX_TOKENS + b")",
        b"(;" * 20_000,
        b"(; " + b"A " * 50_000,
        b"(;C[" + b"\\" * 1_000_000,
        b"(;" + b";B[];W[]" * (MAX_MOVES // 2) + b";B[])",
        b"(;B" + b"[aa][bb]" * 20_000 + b")",
        b"(;B[aa]" + b";AW[bb]" * 2_000 + b")",
        b"\0" * 1_000_000,
        bytes(range(256)) * 4_000,
        b"\xff\xfe(;B[aa])",
        b"\x1f\x8b\x08" + b"\x00\xff" * 1_000,
    ],
    ids=lambda data: repr(data[:8]),
)
def test_hostile_records_are_refused(data: bytes) -> None:
    with pytest.raises(SgfError) as caught:
        parse_sgf(data)
    assert len(str(caught.value)) < 300


def test_nesting_has_no_limit_of_its_own() -> None:
    depth = 20_000
    text = "(;SZ[9]" + "(;B[];W[]" * 1_000 + "(;C[x]" * depth + ")" * (depth + 1_001)
    assert len(parse(text).moves) == 2_000


def test_the_longest_main_line_is_read() -> None:
    assert len(parse("(" + ";B[];W[]" * (MAX_MOVES // 2) + ")").moves) == MAX_MOVES


def test_a_record_may_not_be_of_empty_nodes() -> None:
    """490 kB of semicolons stopped new games on a server for 50 seconds."""
    assert len(parse("(;SZ[9]" + ";;;B[]" * 1000 + ")").moves) == 1000
    with pytest.raises(SgfError, match="have no property: expected at most 2000"):
        parse("(;SZ[9]" + ";" * 2002 + ")")


@pytest.mark.parametrize("move", ["", ";B[aa]"])
def test_a_record_may_not_set_up_thousands_of_whole_boards(move: str) -> None:
    assert parse(f"(;SZ[19]{move}" + ";AB[aa:ss]AE[ss:aa]" * 60 + ")").width == 19
    with pytest.raises(SgfError, match="sets up too many points: expected at most 40000, and 30 for each value"):
        parse(f"(;SZ[19]{move}" + ";AB[aa:ss]AE[ss:aa]" * 61 + ")")


@given(data=st.binary(max_size=300) | st.text("(;)[]\\:ABEPLWSZKMRUHCabt19. \n", max_size=200).map(str.encode))
def test_junk_gives_a_game_or_an_sgf_error(data: bytes) -> None:
    try:
        record_to_game(parse_sgf(data))
    except SgfError as error:
        assert str(error).isprintable()


def test_directories_devices_and_pipes_are_not_read(tmp_path: Path) -> None:
    for path in (str(tmp_path), "/dev/zero", "/dev/stdin"):
        with pytest.raises(SgfError, match="cannot open"):
            read_sgf_file(path)


def test_files_too_large_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.sgf"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(SgfError, match="too long"):
        read_sgf_file(str(path))
