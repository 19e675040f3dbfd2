"""The text layer: preprocessing, ids, replies (GTP 2 draft, sections 2 and 3), and words as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine.protocols.gtp.protocol import (
    Command,
    GtpError,
    Reply,
    clean_reply,
    decode_line,
    encode_reply,
    is_interrupt,
    parse_integer,
    parse_line,
    parse_number,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  play   b  D4 ", Command("play", ("b", "D4"), "b  D4")),
        ("play\tb\tD4", Command("play", ("b", "D4"), "b D4")),
        ("play b D4\r", Command("play", ("b", "D4"), "b D4")),
        ("na\x00me\x07", Command("name")),
        ("na\x7fme", Command("name")),
        ("name#", Command("name")),
        ("007 name", Command("name", id=7)),
        ("12\tname", Command("name", id=12)),
        ("1763694000123 name", Command("name", id=1763694000123)),
        ("1" * 18 + " name", Command("name", id=int("1" * 18))),
        ("1" * 19 + " name", Command("1" * 19, ("name",), "name")),
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
    ("text", "expected"),
    [
        ("a\nb", "a\nb"),
        ("a\n\n\nb\n", "a\nb"),
        ("\n  A B\n1 . .  \n", "  A B\n1 . ."),
        ("a\r\n \t\r\nb", "a\nb"),
        ("bell\x07, tab\t, delete\x7f, next line\x85", "bell, tab , delete, next line"),
    ],
)
def test_a_reply_is_one_block(text: str, expected: str) -> None:
    assert clean_reply(text) == expected


@given(st.text(), st.booleans(), st.one_of(st.none(), st.integers(0, 2**31 - 1)))
def test_any_text_gives_a_well_formed_reply(text: str, ok: bool, identifier: int | None) -> None:
    sent: list[str] = []
    Reply(sent.append, identifier).end(text, ok=ok)
    (reply,) = sent
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
