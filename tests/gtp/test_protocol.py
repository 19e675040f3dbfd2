"""The text layer: preprocessing, ids, replies (GTP 2 draft, sections 2 and 3), and words as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine import Game, Move, TengenError
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.protocols.gtp.protocol import (
    Command,
    GtpError,
    decode_line,
    encode_reply,
    is_interrupt,
    parse_integer,
    parse_line,
    parse_number,
    read_moves,
    read_point,
    read_setup,
    response,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("name", Command("name")),
        ("  play   b  D4 ", Command("play", ("b", "D4"), "b  D4")),
        ("play\tb\tD4", Command("play", ("b", "D4"), "b D4")),
        ("play b D4\r", Command("play", ("b", "D4"), "b D4")),
        ("na\x00me\x07", Command("name")),
        ("na\x7fme", Command("name")),
        ("name # who are you", Command("name")),
        ("name#", Command("name")),
        ("12 name", Command("name", id=12)),
        ("0 name", Command("name", id=0)),
        ("007 name", Command("name", id=7)),
        ("12name", Command("name", id=12)),
        ("12\tname", Command("name", id=12)),
        ("2147483647 name", Command("name", id=2147483647)),
        ("1763694000123 name", Command("name", id=1763694000123)),
        ("1" * 18 + " name", Command("name", id=int("1" * 18))),
        ("1" * 19 + " name", Command("1" * 19, ("name",), "name")),
        ("-3 name", Command("-3", ("name",), "name")),
        ("+3 name", Command("+3", ("name",), "name")),
        ("\u0663 name", Command("\u0663", ("name",), "name")),
        ("\ufeffname", Command("name")),
        ("\ufeff 3 name", Command("name", id=3)),
        ("loadsgf My Games/a  b.sgf", Command("loadsgf", ("My", "Games/a", "b.sgf"), "My Games/a  b.sgf")),
        ("play b\u00a0D4", Command("play", ("b\u00a0D4",), "b\u00a0D4")),
        ("1 2 name", Command("2", ("name",), "name", 1)),
    ],
)
def test_line_becomes_command(line: str, expected: Command) -> None:
    assert parse_line(line) == expected


@pytest.mark.parametrize(
    "line", ["", " ", "\t \t", "\r", "\x00\x01", "#", "# name", "   # name", "\ufeff", "12", "12 ", "12 # x"]
)
def test_lines_without_a_command_get_no_reply(line: str) -> None:
    assert parse_line(line) is None


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (response(), "= \n\n"),
        (response(id=3), "=3 \n\n"),
        (response("D4"), "= D4\n\n"),
        (response("D4", id=0), "=0 D4\n\n"),
        (response("unknown command", ok=False), "? unknown command\n\n"),
        (response("unknown command", ok=False, id=12), "?12 unknown command\n\n"),
        (response("a\nb"), "= a\nb\n\n"),
        (response("a\n\n\nb\n"), "= a\nb\n\n"),
        (response("\n  A B\n1 . .  \n"), "=   A B\n1 . .\n\n"),
        (response("a\r\n \t\r\nb"), "= a\nb\n\n"),
        (response("bell\x07, tab\t, delete\x7f, next line\x85"), "= bell, tab , delete, next line\n\n"),
    ],
)
def test_response_is_one_block(block: str, expected: str) -> None:
    assert block == expected


@given(st.text(), st.booleans(), st.one_of(st.none(), st.integers(0, 2**31 - 1)))
def test_any_text_gives_a_well_formed_reply(text: str, ok: bool, identifier: int | None) -> None:
    reply = response(text, ok=ok, id=identifier)
    first, *others = reply.removesuffix("\n\n").split("\n")
    assert reply.endswith("\n\n")
    assert first.startswith(("=" if ok else "?") + ("" if identifier is None else str(identifier)) + " ")
    assert all(line.strip() for line in others)
    encode_reply(reply).decode("utf-8")


@given(st.binary())
def test_any_bytes_are_a_line(raw: bytes) -> None:
    command = parse_line(decode_line(raw))
    if command is not None:
        assert command.name
        assert all(" " not in word and word for word in (command.name, *command.words))


def test_bytes_that_are_not_utf8_survive_in_arguments() -> None:
    command = parse_line(decode_line(b"loadsgf caf\xe9.sgf"))
    assert command is not None
    assert command.text.encode("utf-8", "surrogateescape") == b"caf\xe9.sgf"
    assert encode_reply(command.text) == rb"caf\udce9.sgf"


INTERRUPTS = [b"# interrupt", b"# interrupt\r", b"#interrupt", b"  #\tinterrupt  ", b"# interrupt\r\x00"]
OTHERS = [b"", b"interrupt", b"name # interrupt", b"# interrupts", b"# no interrupt", b"# Interrupt"]


@pytest.mark.parametrize("raw", [*INTERRUPTS, *OTHERS])
def test_interrupts_are_recognized(raw: bytes) -> None:
    assert is_interrupt(raw) == (raw in INTERRUPTS)


GAME = Game(9)


@pytest.mark.parametrize(
    ("word", "value"), [("0", 0), ("19", 19), ("+9", 9), ("-1", -1), ("007", 7), ("9" * 18, int("9" * 18))]
)
def test_integers(word: str, value: int) -> None:
    assert parse_integer(word, failure="boardsize not an integer") == value


@pytest.mark.parametrize(
    "word", ["", "x", "9.0", "9,0", "1e3", "0x9", "1_0", "9" * 19, "9" * 5000, "--1", "²", "٣", "nan", "9\n"]
)
def test_words_that_are_not_integers(word: str) -> None:
    with pytest.raises(GtpError, match=r"^boardsize not an integer: got '"):
        parse_integer(word, failure="boardsize not an integer")


@pytest.mark.parametrize(
    ("word", "value"), [("7.5", 7.5), ("-3.75", -3.75), ("+6,5", 6.5), (".5", 0.5), ("5.", 5.0), ("1e2", 100.0)]
)
def test_numbers(word: str, value: float) -> None:
    assert parse_number(word, failure="komi not a float") == value


NO_NUMBERS = ". x nan NaN -nan inf -Infinity 1e999 -1e9999 1_0 0x1p3 1,000.5 1.5.2 ٣ 7.5x 1e --1"


@pytest.mark.parametrize("word", ["", *NO_NUMBERS.split(), "9" * 5000])
def test_words_that_are_not_numbers(word: str) -> None:
    with pytest.raises(GtpError, match=r"^komi not a float: got '"):
        parse_number(word, failure="komi not a float")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read_back(value: float) -> None:
    assert parse_number(repr(value), failure="komi not a float") == value


def test_moves_in_pairs() -> None:
    corner = read_point(GAME, "a1")
    assert read_moves(GAME, ["b", "A1", "white", "pass"]) == [Move(BLACK, corner), Move(WHITE, PASS)]
    assert read_moves(GAME, []) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("b", "^syntax error: got 1 words"),
        ("b a1 w", "^syntax error: got 3 words"),
        ("x a1", "^invalid color 'x'"),
        ("b j10", "^invalid coordinate 'j10'"),
        ("b i5", "^invalid coordinate 'i5'"),
    ],
)
def test_broken_lists_of_moves(words: str, message: str) -> None:
    with pytest.raises(TengenError, match=message):
        read_moves(GAME, words.split())


@pytest.mark.parametrize(
    ("words", "message"), [("b pass", "^invalid coordinate 'pass'"), ("b a1 w A1", "^repeated vertex")]
)
def test_broken_lists_of_stones(words: str, message: str) -> None:
    with pytest.raises(GtpError, match=message):
        read_setup(GAME, words.split())
