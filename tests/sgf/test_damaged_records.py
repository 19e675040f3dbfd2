"""Records that break the grammar, as common programs write them or as files get damaged: what can be read is read."""

import contextlib
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sgf_support import parse

from gtp_engine.base.errors import SgfError
from gtp_engine.go.coords import Move
from gtp_engine.go.game import Game
from gtp_engine.sgf import format_sgf, parse_sgf, play_record, record_to_game
from gtp_engine.sgf.collection import game_in, games_in
from gtp_engine.sgf.game_tree import GameTree

CASES = Path(__file__).parents[3] / "shared" / "cases" / "records"


def test_a_variation_is_added_to_a_record_with_a_parenthesis_too_many() -> None:
    tree = GameTree(b"(;SZ[9];B[ee]);W[cc];B[gg])")
    tree.main_line()[1].add_move("A9")
    assert tree.to_bytes().replace(b"\n", b"") == b"(;SZ[9];B[ee](;W[cc];B[gg])(;W[aa]))"
    assert len(games_in(b"(;SZ[9];B[ee]);W[cc]) (;B[aa])")) == 2


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("(;CA[ISO-8859-1]PB[Jürgen])".encode(), "Jürgen"),
        ("(;CA[GBK]PB[日本])".encode(), "日本"),
        ("(;CA[GBK]PB[联通])".encode("gbk"), "联通"),
        ("(;CA[GBK]PB[古力]C[\udcff好\udcff好".encode("gbk", "surrogateescape"), "古力"),
        ("(;PB[柯洁])".encode("gbk"), "柯洁"),
        ("(;PB[古力]PW[常昊]C[好".encode("gbk")[:-1], "古力"),
        ("(;PB[黑])".encode("utf-16-le"), "黑"),
        ("\n(;PB[黑])".encode("utf-16-be"), "黑"),
        *((f"(;CA[{each}]PB[古力]PW[李世石])".encode("gbk"), "古力") for each in ("UTF-8", "latin1", "windows-1252")),
        ("(;CA[UTF-8]PB[周俊勳]PW[張栩])".encode("big5"), "周俊勳"),
        ("(;CA[UTF-8]PB[Jürgen Groß]C[".encode() + b"\xfc cut here])", "Jürgen Groß"),
        ("(;CA[ISO-8859-1]PB[“Zoë”])".encode("cp1252"), "“Zoë”"),
    ],
)
def test_encodings_that_are_not_the_declared_ones(data: bytes, name: str) -> None:
    assert parse_sgf(data).black_name == name
    assert GameTree(data).to_bytes() == data


def test_a_record_with_an_illegal_move_is_no_game() -> None:
    record = parse("(;SZ[9];B[ee];W[ee];B[cc];AB[dd])")
    with pytest.raises(SgfError, match=r"^move 2 \(white\): illegal move: E5 is occupied$"):
        record_to_game(record)
    assert play_record(record, move_number=2)[1] is record, "nothing illegal is before it"


@pytest.mark.parametrize("text", ["(;)\n", "Subject: a game (;-)\n\n", "(: see (;) and (;o) \n"])
def test_what_is_closed_before_its_first_value_is_no_game(text: str) -> None:
    assert games_in(f"{text}(;SZ[9];B[ee];W[cc]) (;)".encode()) == [b"(;SZ[9];B[ee];W[cc])"]


def test_a_record_without_an_end_gets_one_when_it_is_written() -> None:
    tree = GameTree(b"(;SZ[9];B[ee](;W[cc];B[dd];W[g")
    _, first, second, *_ = tree.main_line()
    first.add_move("A9")
    second.add_move("B8")
    (game,) = games_in(tree.to_bytes())
    assert game.replace(b"\n", b"") == b"(;SZ[9];B[ee](;W[cc](;B[dd];)(;B[bb]))(;W[aa]))"
    assert len(GameTree(b"(;SZ[9]C[;];B[ee").main_line()) == 2, "a text that is a semicolon begins no node"


def test_a_file_of_games_with_brackets_is_split() -> None:
    games = [b"(;C[a [1] b];B[aa])", b"(;C[(;B[cc\\]];B[bb])", b"(SZ[9];B[cc])"]
    assert games_in(b" ".join(games)) == games
    assert game_in(b"(;B[aa]) (;", None) == b"(;B[aa]) (;"


def damaged(data: bytes, place: int, draw: random.Random) -> bytes:
    """Return a record with some bytes from a place on dropped, doubled, moved or cut off."""
    count = draw.choice((1, 1, 2, 5, 20))
    piece, rest = data[place : place + count], data[place + count :]
    other = draw.randrange(len(rest) + 1)
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: rest,
        lambda: piece + piece + rest,
        lambda: rest[:other] + piece + rest[other:],
        lambda: b"",
    )
    return data[:place] + draw.choice(changes)()


def random_record(draw: random.Random) -> bytes:
    """Return a good record with comments and a variation."""
    game = Game(9, 9)
    for _ in range(draw.randrange(5, 40)):
        game.play(Move(game.to_play, draw.choice(game.legal_points())))
    nodes = format_sgf(game, black_name="Ann (1)", white_name=r"B\o[b]").split(";")
    nodes[3] = nodes[3].rstrip("\n)") + "C[see (1\\]; and more]"
    return ";".join(nodes).replace("\n", "").encode()


def test_damaged_records_have_all_moves_before_the_damage() -> None:
    draw = random.Random(5)
    records = [random_record(draw) for _ in range(40)]
    for number in range(600):
        data = records[number % len(records)]
        place = draw.randrange(data.index(b";", 2) + 1, len(data))
        whole = parse_sgf(data).moves
        # The moves whose bytes, and what shows that their values have ended, lie before the damage.
        before = sum(found.end() + 1 < place for found in re.finditer(rb";[BW]\[\w*\]", data))
        broken = damaged(data, place, draw)
        _, record = play_record(parse_sgf(broken))
        assert record.moves[:before] == whole[:before], (number, data, broken)


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not here")
def test_every_shared_case_is_read() -> None:
    files = sorted(CASES.glob("[rs][0-9]*.sgf"))
    moves = {path.name[:3]: len(play_record(parse_sgf(path.read_bytes()))[1].moves) for path in files}
    expected = "r01 6 r03 3 r04 3 r06 4 r07 3 r09 2 r10 2 r12 11 r13 2 r15 2 r16 2 r18 1 s01 4 s02 2 s04 2 s06 3 s07 2"
    assert " ".join(f"{name} {count}" for name, count in moves.items()) == expected


PIECES = [b" ", *rb"(; ( ; ) B[aa] W[bb] C[x C[ ] \] [ \ x PB[a b[cc]".split()]
SET_UPS = (
    b"AB[aa:ss] AW[ss:aa] AE[aa:ii][ii:ss] AB[aa][bb] AW[aa] PL[B] ; ;B[dd] HA[9] SZ[9] AB[aa:yy]AE[aa:yy]".split()
)
"""Pieces of set-ups, seven bytes of which name every point of a board."""


def seconds_per_byte(read: Callable[[bytes], object], text: bytes) -> float:
    """Return the processor time that reading takes for each byte."""
    start = time.process_time()
    with contextlib.suppress(SgfError):
        read(text)
    return (time.process_time() - start) / len(text)


def repeated(unit: bytes, start: bytes = b"", end: bytes = b"", size: int = 8_000) -> bytes:
    return start + unit * (size // len(unit)) + end


MOVES = b";B[ee]C[see [1] here];W[cc]"


def test_no_record_takes_much_longer_for_a_byte() -> None:
    """What was sought in vain was sought again for each game: 8,000 games took 16 s; 38 kB of set-ups took 9 s.

    One that seems to is measured beside an ordinary one, because others run beside this test.
    """
    readers: tuple[Callable[[bytes], object], ...] = games_in, parse_sgf, GameTree
    ordinary = repeated(b"(;SZ[9]" + MOVES + b")"), *[repeated(MOVES, b"(;SZ[9]", b")")] * 2
    usual = [min(seconds_per_byte(*each) for _ in range(5)) for each in zip(readers, ordinary, strict=True)]
    draw = random.Random(7)
    texts = [repeated(b"(;C[x\\])", size=40_000)] * len(readers)
    for number in range(300):
        pieces = PIECES if number % 2 else SET_UPS
        unit, end = b"".join(draw.choices(pieces, k=draw.randrange(1, 9))), draw.choice([b"", b"]", b")"])
        texts.append(repeated(unit, draw.choice([b"", b"(;SZ[19]", b"(;SZ[25];B[bb]"]), end))
    for number, text in enumerate(texts):
        read, beside = readers[number % 3], ordinary[number % 3]
        if seconds_per_byte(read, text) >= 4 * usual[number % 3]:
            pairs = ((seconds_per_byte(read, text), seconds_per_byte(read, beside)) for _ in range(5))
            assert any(seconds < 4 * most for seconds, most in pairs), (read, text[:100])
