"""Names of profiles: KataGo's words, and the number of each."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_files import shared_file

from gtp_engine.base.errors import ConfigError
from gtp_engine.config import human
from gtp_engine.config.human import NO_PROFILE, HumanConfig, HumanProfile, parse_profile, profile_of

RANKS = [f"{rank}d" for rank in range(9, 0, -1)] + [f"{rank}k" for rank in range(1, 21)]


@pytest.mark.parametrize(
    ("text", "profile"),
    [
        ("rank_9d", HumanProfile("rank", 1, 1)), ("rank_1d_1k", HumanProfile("rank", 9, 10)),
        ("preaz_20k_9d", HumanProfile("preaz", 29, 1)), ("rank_21k", HumanProfile("rank", 29, 29)),
        ("rank_25k_5k", HumanProfile("rank", 29, 14)), ("proyear_1800", HumanProfile("proyear", 1, 1, 1800)),
        ("proyear_2023", HumanProfile("proyear", 1, 1, 2023)),
        ("proyear_ +01950 ", HumanProfile("proyear", 1, 1, 1950)), ("", NO_PROFILE), ("_", NO_PROFILE),
        ('""', NO_PROFILE)
    ],
)  # fmt: skip
def test_words(text: str, profile: HumanProfile) -> None:
    assert parse_profile(text) == profile


@pytest.mark.parametrize(
    "text", ["rank_26k", "rank_0d", "rank_5K", "rank_05k", "proyear_1799", "proyear_2024", "5k", "__"]
)
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=f"^Unknown human SL network profile: {text}: expected rank_20k to rank_9d"):
        parse_profile(text)


PROFILES = st.builds(
    "{}_{}_{}".format, st.sampled_from(["rank", "preaz"]), st.sampled_from(RANKS), st.sampled_from(RANKS)
)
YEARS = st.integers(1800, 2023).map("proyear_{}".format)


@given(PROFILES | YEARS | st.just(""))
def test_code_and_text_lead_back_to_the_profile(text: str) -> None:
    profile = parse_profile(text)
    assert profile_of(profile.code) == profile
    assert parse_profile(str(profile)) == profile
    assert (profile.code == 0) == (profile == NO_PROFILE)


def test_names_and_lines() -> None:
    assert [human.rank_name(number) for number in range(1, 30)] == RANKS
    texts = ("rank_20k", "rank_21k", "rank_9d_25k")
    assert [bool(human.nearest_profile_line(text)) for text in texts] == [False, True, True]


def test_words_that_katago_refuses_or_accepts() -> None:
    words = json.loads(shared_file("human-sl-reference/bad_profiles.json").read_text())
    for entry in words["rejected"]:
        if isinstance(entry["value"], str) and "two words" not in entry["value"] and "_21k" not in entry["value"]:
            with pytest.raises(ConfigError):
                parse_profile(entry["value"])
    for entry in words["accepted_though_odd"]:
        assert parse_profile(entry["value"]).kind == "proyear"


@pytest.mark.parametrize(
    ("shares", "root", "tree", "unevenly"),
    [
        ({}, False, False, False),
        ({"human_root_weightful": 0.1}, True, False, True),
        ({"human_root_weightless": 0.1}, True, False, True),
        ({"human_own_weightful": 0.1}, True, True, True),
        ({"human_opponent_weightless": 0.1}, True, True, True),
        ({"human_opponent_weightful": 0.1}, True, True, True),
        ({f"human_{who}_weightless": 0.1 for who in ("root", "own", "opponent")}, True, True, False),
    ],
)
def test_where_people_explore(shares: dict[str, float], root: bool, tree: bool, unevenly: bool) -> None:
    config = HumanConfig(**shares)
    assert (config.explores, config.explores_tree, config.explores_unevenly) == (root, tree, unevenly)
