"""The exception tree is the one its docstring draws, and messages are one line for any input."""

import doctest
import inspect
import pickle
import re
from pathlib import Path

import pytest

from gtp_engine.base import errors
from gtp_engine.base.errors import (
    CommandFailedError,
    IllegalMoveError,
    TengenError,
    counted,
    problem,
    shown,
    shown_json,
    shown_path,
    toml_advice,
)


def _tree() -> dict[str, type[TengenError]]:
    classes = inspect.getmembers(errors, inspect.isclass)
    return {name: cls for name, cls in classes if issubclass(cls, TengenError) and cls is not TengenError}


def test_docstring_draws_every_class_and_says_which_are_value_errors() -> None:
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    assert sorted(drawn) == sorted(_tree())
    marked = set(re.findall(r"[├└]── (\w+)\s+\(ValueError\)", errors.__doc__ or ""))
    assert marked == {name for name, cls in _tree().items() if issubclass(cls, ValueError)}


def test_errors_survive_pickling_with_their_fields() -> None:
    assert str(IllegalMoveError("superko")) == "illegal move: superko"
    assert str(pickle.loads(pickle.dumps(TengenError()))) == "", "a program may raise the class alone"
    for error in (IllegalMoveError("ko", "no"), CommandFailedError("no", reply="why")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again), len(vars(again))) == (type(error), "no", vars(error), 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("chinese", "'chinese'"),
        ("two\nlines\t\x1b[2J", "'two?lines??[2J'"),
        pytest.param("x" * 1_000_000, "'" + "x" * errors.SHOWN_VALUE_LENGTH + "…'", id="a megabyte"),
        (7.5, "7.5"),
        (None, "None"),
        (b"\x00", "b'\\x00'"),
        pytest.param(16**5000, "<int>", id="an integer too long to print"),
    ],
)
def test_shown_is_short_printable_and_on_one_line(value: object, expected: str) -> None:
    assert shown(value) == expected


def test_json_is_shown_in_its_own_words() -> None:
    values = [None, True, 1.5, ["B", None], "text", {"a": "ß\x00"}]
    assert list(map(shown_json, values)) == ["null", "true", "1.5", '["B", null]', "'text'", '{"a": "ß\\u0000"}']
    assert len(shown_json(["x"] * 1000)) == 61


def test_a_path_is_shown_whole_and_of_a_huge_one_the_end() -> None:
    path = Path("/home", *["a folder with a long name"] * 10, "net.onnx")
    assert shown_path(path) == shown_path(str(path)) == f"'{path}'"
    huge = shown_path("x" * 1_000_000 + "/net.onnx")
    assert len(huge) == errors.SHOWN_PATH_LENGTH + 3
    assert huge.startswith("'…xxx")
    assert huge.endswith("xxx/net.onnx'")
    assert shown_path("x" * errors.SHOWN_PATH_LENGTH) == "'" + "x" * errors.SHOWN_PATH_LENGTH + "'"
    assert shown_path("two\nlines") == "'two?lines'"


def test_sentences_have_what_is_given_and_the_plural_of_many() -> None:
    assert [counted(number, "game") for number in (0, 1, 1200)] == ["0 games", "1 game", "1,200 games"]
    assert (problem("bad"), problem("bad", advice="stop")) == ("bad", "bad; stop")
    windows = r'openings = "C:\games"'
    assert [bool(toml_advice(text)) for text in (windows, windows.replace("\\", "/"), "[[")] == [True, False, False]


def test_docstring_examples() -> None:
    failed, attempted = doctest.testmod(errors)
    assert (failed, attempted) == (0, 2)
