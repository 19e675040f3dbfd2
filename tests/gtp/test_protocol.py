"""The text layer: preprocessing, ids, replies (GTP 2 draft, sections 2 and 3), and words as values."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import meaning, texts

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


READERS: dict[str, Callable[[str], object]] = {
    "integer": partial(parse_integer, failure="boardsize not an integer"),
    "reply": clean_reply,
    "number": partial(parse_number, failure="komi not a float"),
}


@pytest.mark.parametrize(("kind", "word", "expected"), texts("gtp"))
def test_texts(kind: str, word: str, expected: object) -> None:
    assert meaning(READERS[kind], word) == expected


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_endless_numbers_are_refused(kind: str) -> None:
    with pytest.raises(GtpError, match="got '9999"):
        READERS[kind]("9" * 5000)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read_back(value: float) -> None:
    assert parse_number(repr(value), failure="komi not a float") == value
