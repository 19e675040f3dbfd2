"""Rule sets: KataGo's names, JSON and compact form, byte for byte; values against its documentation."""

import json
from collections.abc import Callable
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import meaning, texts

from gtp_engine import Rules, RulesError
from gtp_engine.go.rules import PRESETS, HandicapBonus, Ko, Scoring, Tax

# ko, scoring, tax, suicide, button, handicap bonus, friendly pass, komi; KataGo 1.17, cpp/game/rules.cpp
KATAGO_PRESETS = {
    "tromp-taylor": ("POSITIONAL", "AREA", "NONE", True, False, "0", False, 7.5),
    "chinese": ("SIMPLE", "AREA", "NONE", False, False, "N", True, 7.5),
    "chinese-ogs": ("POSITIONAL", "AREA", "NONE", False, False, "N", True, 7.5),
    "chinese-kgs": ("POSITIONAL", "AREA", "NONE", False, False, "N", True, 7.5),
    "japanese": ("SIMPLE", "TERRITORY", "SEKI", False, False, "0", False, 6.5),
    "korean": ("SIMPLE", "TERRITORY", "SEKI", False, False, "0", False, 6.5),
    "stone-scoring": ("SIMPLE", "AREA", "ALL", False, False, "0", True, 7.5),
    "ancient-area": ("SIMPLE", "AREA", "ALL", False, False, "0", True, 7.5),
    "ancient-territory": ("SIMPLE", "TERRITORY", "ALL", False, False, "0", False, 6.5),
    "aga": ("SITUATIONAL", "AREA", "NONE", False, False, "N-1", True, 7.5),
    "bga": ("SITUATIONAL", "AREA", "NONE", False, False, "N-1", True, 7.5),
    "french": ("SITUATIONAL", "AREA", "NONE", False, False, "N-1", True, 7.5),
    "aga-button": ("SITUATIONAL", "AREA", "NONE", False, True, "N-1", True, 7.0),
    "new-zealand": ("SITUATIONAL", "AREA", "NONE", True, False, "0", True, 7.0),
    "nz": ("SITUATIONAL", "AREA", "NONE", True, False, "0", True, 7.0),
    "ing": ("POSITIONAL", "AREA", "NONE", True, False, "0", True, 7.5),
    "goe": ("POSITIONAL", "AREA", "NONE", True, False, "0", True, 7.5),
}


def _any_rules() -> st.SearchStrategy[Rules]:
    return st.builds(
        lambda scoring, button, **others: Rules(
            scoring=scoring, has_button=button and scoring is Scoring.AREA, **others
        ),
        scoring=st.sampled_from(Scoring),
        button=st.booleans(),
        ko=st.sampled_from(Ko),
        tax=st.sampled_from(Tax),
        suicide=st.booleans(),
        white_handicap_bonus=st.sampled_from(HandicapBonus),
        friendly_pass_ok=st.booleans(),
    )


# --- Presets


def test_presets_are_katagos_and_the_computer_go_servers() -> None:
    found = {name: (*astuple(rules), rules.default_komi()) for name, rules in PRESETS.items()}
    assert found.pop("cgos") == ("POSITIONAL", "AREA", "NONE", False, False, "0", False, 7.5)
    assert found == KATAGO_PRESETS


def test_names_in_any_case_and_with_any_separator() -> None:
    for change_case in [str.lower, str.upper, str.title]:
        for separator in ["-", "_", " ", ""]:
            for name in KATAGO_PRESETS:
                assert Rules.parse(f"  {change_case(name.replace('-', separator))} ") == PRESETS[name]


@pytest.mark.parametrize(
    ("values", "komi"),
    [
        ({}, 7.5),
        ({"scoring": Scoring.TERRITORY, "tax": Tax.NONE}, 6.5),
        ({"has_button": True}, 7.0),
        ({"ko": Ko.SITUATIONAL, "tax": Tax.ALL}, 7.5),
    ],
)
def test_default_komi_of_rules_without_a_name(values: dict[str, object], komi: float) -> None:
    assert Rules(**values).default_komi() == komi  # type: ignore[arg-type]
    assert Rules(**values).fair_komi(9, 13) == Rules(**values).fair_komi(13, 9) == komi  # type: ignore[arg-type]
    assert Rules(**values).fair_komi(9, 9) == min(komi, 7.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bonus", "points"),
    [(HandicapBonus.ZERO, [0, 0, 0, 0]), (HandicapBonus.N, [0, 0, 2, 9]), (HandicapBonus.N_MINUS_1, [0, 0, 1, 8])],
)
def test_handicap_points_for_0_1_2_9_stones(bonus: HandicapBonus, points: list[int]) -> None:
    rules = Rules(white_handicap_bonus=bonus)
    assert [rules.handicap_points(stones) for stones in (0, 1, 2, 9)] == points


# --- JSON


@given(rules=_any_rules())
def test_json_round_trip(rules: Rules) -> None:
    text = rules.to_json()
    assert Rules.parse(text) == rules
    assert text == json.dumps(json.loads(text), separators=(",", ":"), sort_keys=True)


@given(rules=_any_rules())
def test_short_json_round_trip(rules: Rules) -> None:
    """KataGo leaves out button, handicap bonus and friendly pass where they are Tromp-Taylor's."""
    values = json.loads(rules.to_json())
    if not rules.has_button:
        del values["hasButton"]
    if rules.white_handicap_bonus is HandicapBonus.ZERO:
        del values["whiteHandicapBonus"]
    if not rules.friendly_pass_ok:
        del values["friendlyPassOk"]
    assert Rules.parse(json.dumps(values)) == rules


# --- The compact form of KataGo's game records


@given(rules=_any_rules())
def test_compact_form_round_trip(rules: Rules) -> None:
    text = f"ko{rules.ko}score{rules.scoring}tax{rules.tax}sui{rules.suicide:d}"
    if rules.has_button:
        text += "button1"
    if rules.white_handicap_bonus is not HandicapBonus.ZERO:
        text += f"whb{rules.white_handicap_bonus}"
    if rules.friendly_pass_ok:
        text += "fpok1"
    assert Rules.parse(text) == rules


# --- Texts


def named(rules: Rules) -> str:
    return rules.preset_name() or rules.to_json()


def with_one(name: str) -> Callable[[str], str]:
    return lambda text: named(Rules.parse(name).with_value(*text.split("=")))


PARSERS: dict[str, Callable[[str], str]] = {
    "rules": lambda text: named(Rules.parse(text)),
    "tromp-taylor with": with_one("tromp-taylor"),
    "aga-button with": with_one("aga-button"),
    "JSON of": lambda text: Rules.parse(text).to_json(),
    "KGS rules": lambda text: named(Rules.parse_kgs(text)),
}


@pytest.mark.parametrize(("kind", "text", "expected"), texts("rules"), ids=lambda text: text[:30])
def test_texts(kind: str, text: str, expected: str) -> None:
    assert meaning(PARSERS[kind], text) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 100_000, f"rules '{'x' * 60}…': expected"),
        ("{" * 100_000, "expected a JSON object"),
        ('{"ko":' + "[" * 100_000, "expected a JSON object"),
        ('{"ko":' + "9" * 10_000 + "}", "expected a JSON object"),
    ],
    ids=["long name", "braces", "deep", "long integer"],
)
def test_endless_texts_are_refused(text: str, shown: str) -> None:
    assert shown in str(meaning(Rules.parse, text))


@given(text=st.text(max_size=200) | st.text('{}[]":,koscratxSIMPLEAREA01 -_', max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        assert isinstance(Rules.parse(text), Rules)
    except RulesError as error:
        assert str(error).isprintable()
