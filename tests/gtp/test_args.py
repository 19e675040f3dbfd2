"""Words of commands: accepted values, and the errors for refused ones."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine.base.errors import TengenError
from gtp_engine.go.constants import BLACK, PASS, WHITE, Move
from gtp_engine.go.game import Game
from gtp_engine.protocols.gtp.args import Args, parse_integer, parse_number, read_moves, read_point, read_setup
from gtp_engine.protocols.gtp.protocol import GtpError

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


@given(st.text())
def test_no_text_becomes_infinite_or_crashes(word: str) -> None:
    try:
        assert math.isfinite(parse_number(word, failure="komi not a float"))
    except GtpError as error:
        assert "\n" not in str(error)


def test_a_long_word_is_not_echoed() -> None:
    with pytest.raises(GtpError) as info:
        parse_number("x" * 1_000_000, failure="komi not a float")
    assert len(str(info.value)) < 200


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


def test_a_pass_is_not_a_point() -> None:
    with pytest.raises(GtpError, match=r"^invalid coordinate 'pass'"):
        read_point(GAME, "PASS")


def test_args_are_a_sequence() -> None:
    args = Args(("b", "d4"), "b  d4")
    assert (len(args), args[1], list(args), args.text) == (2, "d4", ["b", "d4"], "b  d4")
