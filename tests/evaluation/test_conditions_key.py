"""Evaluations under different conditions never share a cache entry."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine.config.human import parse_profile
from gtp_engine.evaluation.evaluator import AS_TRAINED, EvaluationOptions
from gtp_engine.evaluation.from_game import key_of_numbers
from gtp_engine.evaluation.positions import Conditions

POINTS = st.integers(-800, 800).map(lambda halves: halves / 2) | st.floats(-400, 400)
PROFILES = ["rank_9d", "rank_20k_9d", "rank_9d_20k", "preaz_9d", "proyear_1800", "proyear_2023"]
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "komi": POINTS,
    "superko": st.integers(0, 2),
    "suicide": st.booleans(),
    "territory": st.booleans(),
    "tax": st.integers(0, 2),
    "has_free_button": st.booleans(),
    "playout_doubling_advantage_black": st.sampled_from([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]) | st.floats(-3, 3),
    "friendly_pass": st.booleans(),
    "passing_hacks": st.booleans(),
    "human_profile": st.sampled_from([0, *(parse_profile(word).code for word in PROFILES)]),
}
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "symmetry": st.integers(-1, 8),
    "optimism": st.floats(0, 1),
    "shares_transpositions": st.booleans(),
    "temperature": st.floats(0.1, 10),
    "suicide_area": st.sampled_from([AS_TRAINED, 0, 1]),
}


def conditions_key(conditions: Conditions, options: EvaluationOptions) -> np.uint64:
    """Return what conditions and options add to the key of an evaluation."""
    return key_of_numbers(conditions) ^ key_of_numbers(options)


@given(
    conditions=st.builds(Conditions, **FIELDS),
    options=st.builds(EvaluationOptions, **OPTIONS),
    field=st.sampled_from([*FIELDS, *OPTIONS]),
    data=st.data(),
)
def test_conditions_that_differ_in_one_field_have_different_keys(
    conditions: Conditions, options: EvaluationOptions, field: str, data: st.DataObject
) -> None:
    value = data.draw((FIELDS | OPTIONS)[field])
    others = conditions._replace(**{field: value}) if field in FIELDS else conditions
    other_options = options._replace(**{field: value}) if field in OPTIONS else options
    is_same = (others, other_options) == (conditions, options)
    assert bool(conditions_key(others, other_options) == conditions_key(conditions, options)) is is_same


def test_minus_one_and_minus_two_differ_and_minus_zero_is_zero() -> None:
    """`hash(-1.0) == hash(-2.0)`: with komi -2 the evaluation for komi -1 used to come from the cache."""
    assert (set(FIELDS), set(OPTIONS)) == ({*Conditions._fields}, {*EvaluationOptions._fields}), "all are drawn above"
    base = Conditions(0.0, 0, False, False, 0, False)
    keys = [key_of_numbers(base._replace(komi=komi)) for komi in (-1.0, -2.0, 0.0, -0.0)]
    assert len({*keys}) == 3 and keys[2] == keys[3]
