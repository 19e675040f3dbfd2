"""Reading records: contents, common mistakes of programs, encodings, and malicious files."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgf_support import at, grid, load, parse, position

from gtp_engine import sgf
from gtp_engine.base.errors import SgfError
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import Move, format_vertex
from gtp_engine.go.rules import Rules
from gtp_engine.sgf.reader import MAX_BYTES, MAX_MOVES, MAX_TOKENS
from gtp_engine.sgf.record import LaterSetup, no_game_of_player

DATA = Path(__file__).parent.parent / "data" / "sgf"

RECORDS = re.findall(r"^(?![#=*!])(.+)\n((?:[=*!].*\n)+)", (DATA / "records.txt").read_text("utf-8"), re.MULTILINE)
"""Records, with ⏎ for a line feed, or names of files behind @, and what is read from them: see `told`."""

WALLS = (
    ";W[aa];B[ab];W[hh];B[ba];W[fa];B[ea];W[fb];B[eb];W[fc];B[ec];W[fd];B[ed];W[fe];B[ee];W[ff];B[ef];W[fg];B[eg]"
    ";W[fh];B[eh];W[fi];B[ei];W[hg];B[];W[]"
)
"""The moves of a 9x9 game: a wall on column E and one on column F, a stone captured at A9."""


@pytest.mark.parametrize(("text", "expected"), RECORDS, ids=lambda text: text[:30])
def test_what_can_be_read_is_read(text: str, expected: str) -> None:
    data = (DATA / text[1:]).read_bytes() if text.startswith("@") else text.replace("⏎", "\n").encode()
    assert told(data) == expected.splitlines()


@pytest.mark.parametrize(
    ("names", "end"), [("", "player"), ("a", "; the records name a"), ("jihgfedcba", " i, j"), ("kjihgfedcba", " j …")]
)
def test_ten_names_at_most_are_listed(names: str, end: str) -> None:
    records = [parse(f"(;P{side}[{name}])") for side, name in zip("BWBWBWBWBWB", names, strict=False)]
    assert no_game_of_player(records).endswith(end)
    assert all(record.names_player(f" {name.upper()}\n") for record, name in zip(records, names, strict=True))


def told(data: bytes) -> list[str]:
    """Return the fields that are not those of an empty record, then the notes; both again of what can be played.

    A tree of the record has the same bytes and moves.
    """
    try:
        record = sgf.parse_sgf(data)
    except SgfError as error:
        return [f"! {error}"]
    game, played = sgf.play_record(record)
    tree = sgf.GameTree(data)
    node = tree.main_line()[-1]
    assert tree.to_bytes() == data
    assert record.komi in (None, game.komi)
    assert position(sgf.record_to_game(played)) == position(game)
    assert played.is_cut or (node.game().moves, node.move_number) == (game.moves, len(record.moves))
    empty = sgf.SgfRecord(record.width, record.height, None, None, 0, (), BLACK, ())
    lines = difference(f"{record.width}x{record.height}", record, empty)
    return lines if played is record else [*lines, *difference("played", played, record)]


def difference(title: str, record: sgf.SgfRecord, other: sgf.SgfRecord) -> list[str]:
    changed = {field.name: getattr(record, field.name) for field in fields(record) if field.name != "notes"}
    changed = {name: value for name, value in changed.items() if value != getattr(other, name)}
    notes = [f"* {note}" for note in record.notes if note not in other.notes]
    return ["; ".join([f"= {title}", *(f"{name} {written(record, changed[name])}" for name in changed)]), *notes]


def written(record: sgf.SgfRecord, value: Any) -> str:
    """Return the value of a field; a change of the position with the number of moves before it and who plays."""
    match value:
        case Rules():
            return value.preset_name() or str(value)
        case LaterSetup():
            stones = (*value.stones, *(Move(EMPTY, point) for point in value.emptied))
            return f"{value.move_index}: {written(record, stones)} {value.player}"
        case Move():
            return f"{'EBW'[value.color]} {format_vertex(value.point, width=record.width, height=record.height)}"
        case tuple():
            return ", ".join(written(record, each) for each in value)
    return str(value)


def test_texts_have_no_control_characters() -> None:
    record = parse("(;PB[\x1b\\]0;title\x07Ann\u202e]PW[\x9b2J]RE[B+R\x1bc]DT[2026\x00]BR[\u3000\x08];B[aa])")
    assert (record.black_name, record.white_name, record.black_rank) == ("]0;title Ann", "2J", None)
    assert (record.result, record.date) == ("B+R c", "2026")


CHARSETS = {
    "utf-8": "UTF-8|utf8||nonsense|GBK|zip|../x",
    "gbk": "GBK",
    "euc-jp": "EUC-JP|x-euc-jp",
    "latin-1": "ISO-8859-1|latin1",
    "cp932": "x-sjis|Windows-31J",
}


@pytest.mark.parametrize(
    ("encoding", "charset"), [(each, name) for each in CHARSETS for name in CHARSETS[each].split("|")]
)
def test_charsets_right_and_wrong_keep_the_moves(encoding: str, charset: str) -> None:
    name = "é" if encoding == "latin-1" else "日本"
    record = sgf.parse_sgf(f"(;CA[{charset}]SZ[9]PB[{name}];B[cc])".encode(encoding))
    assert record.moves == (Move(BLACK, at("C7", 9)),)
    if charset != "GBK" or encoding == "gbk":
        assert record.black_name == name


@pytest.mark.parametrize(("rules", "result"), [("RU[Chinese]", "B+6.5"), ("RU[Japanese]", "B+7.5"), ("", "B+6.5")])
def test_a_handicap_without_komi_has_that_of_handicap_games(rules: str, result: str) -> None:
    """The result was W+0.5, with the komi of even games."""
    game = load(f"(;SZ[9]{rules}HA[2]AB[cc][gg]{WALLS})")
    assert (game.komi, str(game.score(["G3"]))) == (0.5, result)
    known = load(f"(;SZ[9]{rules}HA[2]KM[3.5]AB[cc][gg]{WALLS})")
    assert known.komi == 3.5
    bare = parse(f"(;SZ[9]{rules}HA[2]AB[cc][gg]{WALLS})")
    assert [sgf.record_to_game(bare, komi=komi).komi for komi in (1.5, 0)] == [1.5, 0]


def test_setup_in_the_middle_starts_the_game_afresh() -> None:
    text = "(;SZ[3];B[aa];W[bb];AB[cc]AE[aa]PL[B];B[ca])"
    game = load(text)
    assert position(game) == grid(". . X\n. O .\n. . X")
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
    game, played = sgf.play_record(record)
    assert (str(game.score()), len(game.moves), played.notes) == ("B+8.5", 24, ())


def test_setup_before_move_n_belongs_to_the_position_before_it() -> None:
    text = "(;SZ[3];B[aa];AW[cc];W[bb])"
    assert position(load(text, 2)) == grid("X . .\n. . .\n. . O")
    assert position(load(text, 1)) == grid(". . .\n. . .\n. . .")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04games.sgf",
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
        sgf.parse_sgf(data)
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
        sgf.record_to_game(sgf.parse_sgf(data))
    except SgfError as error:
        assert str(error).isprintable()


def test_directories_devices_and_pipes_are_not_read(tmp_path: Path) -> None:
    for path in (str(tmp_path), "/dev/zero", "/dev/stdin", "a\0b"):
        reason = "not a file name" if "\0" in path else "expected a regular file"
        for is_named in (True, False):
            with pytest.raises(SgfError, match="cannot open .*: " * is_named + reason):
                sgf.read_sgf_file(path, is_named=is_named)


def test_files_too_large_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.sgf"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(SgfError, match="too long"):
        sgf.read_sgf_file(str(path))
