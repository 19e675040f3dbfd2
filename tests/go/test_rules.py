"""Rule sets: KataGo's names, JSON and compact form, byte for byte; values against its documentation."""

import json
import re
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine import Rules, RulesError
from gtp_engine.go.rules import KGS_NAMES, PRESETS, HandicapBonus, Ko, Scoring, Tax

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

# What KataGo answers to kata-get-rules, from its own test transcript (cpp/tests/results/gtp/rules.txt.stdout).
KATAGO_JSON = {
    "tromp-taylor": (
        '{"friendlyPassOk":false,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA",'
        '"suicide":true,"tax":"NONE","whiteHandicapBonus":"0"}'
    ),
    "japanese": (
        '{"friendlyPassOk":false,"hasButton":false,"ko":"SIMPLE","scoring":"TERRITORY",'
        '"suicide":false,"tax":"SEKI","whiteHandicapBonus":"0"}'
    ),
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


def test_preset_name_prefers_the_familiar_name() -> None:
    assert Rules.parse("korean").preset_name() == "japanese"
    assert Rules.parse("goe").preset_name() == "ing"
    assert Rules(ko=Ko.SIMPLE, suicide=False).preset_name() is None


def test_kgs_names() -> None:
    expected = {"chinese": "chinese-kgs", "japanese": "japanese", "aga": "aga", "new_zealand": "new-zealand"}
    assert dict(KGS_NAMES) == expected
    for kgs_name, name in expected.items():
        assert Rules.parse_kgs(kgs_name) == Rules.parse_kgs(kgs_name.upper()) == PRESETS[name]
    with pytest.raises(RulesError, match=r"^rules 'korean': expected one of chinese, japanese, aga, new_zealand"):
        Rules.parse_kgs("korean")


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


@pytest.mark.parametrize(
    ("bonus", "points"),
    [(HandicapBonus.ZERO, [0, 0, 0, 0]), (HandicapBonus.N, [0, 0, 2, 9]), (HandicapBonus.N_MINUS_1, [0, 0, 1, 8])],
)
def test_handicap_points_for_0_1_2_9_stones(bonus: HandicapBonus, points: list[int]) -> None:
    rules = Rules(white_handicap_bonus=bonus)
    assert [rules.handicap_points(stones) for stones in (0, 1, 2, 9)] == points


# --- JSON


@pytest.mark.parametrize("name", KATAGO_JSON)
def test_json_is_katagos_byte_for_byte(name: str) -> None:
    assert Rules.parse(name).to_json() == KATAGO_JSON[name]


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", Rules()),
        ('{"ko":"SIMPLE"}', Rules(ko=Ko.SIMPLE)),
        ('{"score":"AREA","suicide":false}', Rules(suicide=False)),
        ('{"scoring":"TERRITORY"}', Rules(scoring=Scoring.TERRITORY, tax=Tax.SEKI)),
        ('{"scoring":"TERRITORY","tax":"NONE"}', Rules(scoring=Scoring.TERRITORY, tax=Tax.NONE)),
        (' {"ko": "situational", "tax": "all"} ', Rules(ko=Ko.SITUATIONAL, tax=Tax.ALL)),
        ('{"whiteHandicapBonus": "n-1"}', Rules(white_handicap_bonus=HandicapBonus.N_MINUS_1)),
    ],
)
def test_json_with_keys_left_out(text: str, expected: Rules) -> None:
    assert Rules.parse(text) == expected


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


def test_compact_form_leaves_out_and_spaces() -> None:
    assert Rules.parse("scoringTERRITORY") == Rules(scoring=Scoring.TERRITORY, tax=Tax.SEKI)
    assert Rules.parse("koSIMPLE whbN-1 sui0") == Rules(
        ko=Ko.SIMPLE, white_handicap_bonus=HandicapBonus.N_MINUS_1, suicide=False
    )


# --- One key


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("ko", "simple", Rules(ko=Ko.SIMPLE)),
        ("score", "TERRITORY", Rules(scoring=Scoring.TERRITORY)),
        ("scoring", "Territory", Rules(scoring=Scoring.TERRITORY)),
        ("tax", "ALL", Rules(tax=Tax.ALL)),
        ("suicide", "FALSE", Rules(suicide=False)),
        ("hasButton", "true", Rules(has_button=True)),
        ("hasbutton", "true", Rules(has_button=True)),
        ("whiteHandicapBonus", "n-1", Rules(white_handicap_bonus=HandicapBonus.N_MINUS_1)),
        ("friendlyPassOk", "true", Rules(friendly_pass_ok=True)),
    ],
)
def test_with_value_changes_one_rule(key: str, text: str, expected: Rules) -> None:
    assert Rules().with_value(key, text) == expected


# --- Errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chines", r"rules 'chines': expected one of tromp-taylor, .*, a JSON object; did you mean chinese\?"),
        ("", r"rules '': expected one of tromp-taylor"),
        pytest.param("x" * 100_000, r"rules 'x{60}…': expected", id="long name"),
        ('{"ko":"SPIGHT"}', r"ko 'SPIGHT': expected SIMPLE or POSITIONAL or SITUATIONAL; Spight's ko rule is not"),
        ("koSPIGHTscoreAREA", r"ko 'SPIGHT': expected .* not supported"),
        ('{"ko":"SUPER"}', r"ko 'SUPER': expected SIMPLE or POSITIONAL or SITUATIONAL$"),
        ('{"ko":1}', r"ko 1: expected SIMPLE or"),
        ('{"suicide":"true"}', r"suicide 'true': expected true or false"),
        ('{"suicide":1}', r"suicide 1: expected true or false"),
        ('{"whiteHandicapBonus":0}', r"whiteHandicapBonus 0: expected 0 or N or N-1"),
        ('{"komi":7.5}', r"rule 'komi': expected one of ko, .*; set the komi with the command komi"),
        ('{"colour":"red"}', r"rule 'colour': expected one of ko, scoring, tax, suicide, hasButton"),
        ('{"ko":"SIMPLE"', r"expected a JSON object"),
        pytest.param("{" * 100_000, r"expected a JSON object", id="braces"),
        pytest.param('{"ko":' + "[" * 100_000, r"expected a JSON object", id="deep"),
        pytest.param('{"ko":' + "9" * 10_000 + "}", r"expected a JSON object", id="long integer"),
        ("koSIMPLEscore", r"rules 'score': expected the form"),
        ("koSIMPLEkomi7.5", r"rules 'komi7.5': expected the form"),
        ("sui2", r"rules 'sui2': expected one of"),
        ("suiAREA", r"suicide 'AREA': expected true or false"),
        (
            '{"scoring":"TERRITORY","hasButton":true}',
            r"hasButton true with scoring TERRITORY: expected .* AREA; set",
        ),
        ("scoreTERRITORYbutton1", r"hasButton true with scoring TERRITORY.*; set hasButton to false first"),
    ],
)
def test_bad_rules_are_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(RulesError, match="^(?s:.*)" + message) as caught:
        Rules.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("ko", "SPIGHT", "Spight's ko rule is not supported"),
        ("suicide", "1", "expected true or false"),
        ("sui cide", "true", "expected one of ko"),
        ("komi", "7.5", "set the komi with the command komi"),
        ("scoring", "TERRITORY", "set hasButton to false first"),
    ],
)
def test_with_value_refuses(key: str, text: str, message: str) -> None:
    rules = Rules.parse("aga-button")
    with pytest.raises(RulesError, match=re.escape(message)):
        rules.with_value(key, text)


@given(text=st.text(max_size=200) | st.text('{}[]":,koscratxSIMPLEAREA01 -_', max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        assert isinstance(Rules.parse(text), Rules)
    except RulesError as error:
        assert str(error).isprintable()
