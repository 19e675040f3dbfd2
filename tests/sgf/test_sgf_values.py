"""Single SGF values: what programs write for board sizes, points, komi, rules, and that writing and reading agree."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgf_support import all_rules, at
from texts import meaning, texts

from gtp_engine.base.errors import SgfError
from gtp_engine.go.constants import BLACK, MAX_SIZE, MIN_SIZE
from gtp_engine.go.coords import points_by_number
from gtp_engine.go.rules import PRESETS, Ko, Rules, Tax
from gtp_engine.sgf.board import board_of
from gtp_engine.sgf.values import (
    escaped,
    format_komi,
    format_rules,
    format_size,
    is_no_result,
    parse_handicap,
    parse_komi,
    parse_player,
    parse_rank,
    parse_result,
    parse_rules,
    parse_size,
    usual_komi,
)

LONG = "x" * 10**5
SIZES = ((19, 19), (5, 9), (21, 21), (19, 25), (25, 9), (9, 9), (13, 13))


def move_on(width: int, height: int) -> Callable[[str], str]:
    return lambda text: board_of(width, height).move("W", text).point.vertex


def label(text: str) -> tuple[str, str] | None:
    found = board_of(9, 9).label(text)
    return found and (found[0].vertex, found[1])


PARSERS: dict[str, Callable[[str], object]] = {
    "rank": parse_rank,
    "size": parse_size,
    "komi": parse_komi,
    "hundredths": lambda text: usual_komi(float(text), "GNU Go:3.8 FoxWQ"),
    "usual komi": lambda text: usual_komi(float(text)),
    "handicap": parse_handicap,
    "player": parse_player,
    "result": parse_result,
    "no result": is_no_result,
    "escaped": escaped,
    "label": label,
    "written rules": lambda text: format_rules(PRESETS[text]),
    "rules": lambda text: (rules := parse_rules(text)) and rules.preset_name(),
} | {f"move on {width}x{height}": move_on(width, height) for width, height in SIZES}


@pytest.mark.parametrize(("kind", "text", "expected"), texts("sgf"), ids=lambda text: str(text)[:30])
def test_values(kind: str, text: str, expected: object) -> None:
    assert meaning(PARSERS[kind], text) == expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((kind, LONG) for kind in ("rank", "komi", "handicap", "result")),
        *(("komi", text) for text in ("9" * 400, "1" * 5000 + "½", "1" + " " * 10**5 + "½", "(" * 10**5)),
        ("handicap", "2" + " a" * 9999),
        ("rules", "x" + " " * 10**5 + "x"),
    ],
    ids=lambda text: text[:30],
)
def test_endless_values_mean_nothing(kind: str, text: str) -> None:
    assert PARSERS[kind](text) is None
    assert escaped("\ud800") == "?"


@given(width=st.integers(MIN_SIZE, MAX_SIZE), height=st.integers(MIN_SIZE, MAX_SIZE))
def test_points_and_sizes_round_trip(width: int, height: int) -> None:
    assert parse_size(format_size(width, height)) == (width, height)
    for point in points_by_number(width, height).values():
        assert board_of(width, height).move("B", point.sgf) == (BLACK, point)


def test_point_lists_hold_rectangles_and_repetitions() -> None:
    board = board_of(3, 3)
    points = board.points(["ba:cb", "aa", "ba", " ba", "aa:aa"])
    assert [point.sgf for point in points] == ["ba", "ca", "bb", "cb", "aa"]
    for corners in ("cb:ba", "ca:bb", "bb:ca", "B3:C2"):
        assert sorted(board.points([corners])) == sorted(points[i] for i in (0, 1, 2, 3))
    errors: list[SgfError] = []
    assert board.points(["aa:dd", "aa"], errors.append) == points[-1:]
    assert "point 'dd'" in str(errors[0])
    assert board_of(19, 19).point("pd") == at("Q16")


@given(komi=st.floats(allow_nan=False, allow_infinity=False))
def test_komi_round_trip_without_exponent(komi: float) -> None:
    text = format_komi(komi)
    assert parse_komi(text) == komi
    assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text)


@pytest.mark.parametrize(
    ("komi", "text"),
    [(7.5, "7.5"), (7.0, "7"), (3.75, "3.75"), (-0.5, "-0.5"), (1e3, "1000"), (-0.0, "0"), (1e22, "1" + "0" * 22)],
)
def test_komi_is_written_plainly(komi: float, text: str) -> None:
    assert format_komi(komi) == text


@given(rules=all_rules())
def test_rules_round_trip(rules: Rules) -> None:
    assert parse_rules(format_rules(rules)) == rules
    assert parse_rules("koPOSITIONALscoreAREAtaxALLsui1") == Rules(ko=Ko.POSITIONAL, tax=Tax.ALL, suicide=True)
