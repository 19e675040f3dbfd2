"""The cache of evaluations: lookups, replacement, precision."""

import numpy as np
import pytest

from gtp_engine.evaluation.positions import Evaluation, new_evaluation
from gtp_engine.go.constants import padded_length
from gtp_engine.nn.cache import WAYS, Cache, find, new_cache, store

N = padded_length(5, 5)


def random_evaluation(rows: int, seed: int = 0) -> Evaluation:
    random = np.random.default_rng(seed)
    out = new_evaluation(rows, 5, 5)
    for field in out:
        field[...] = random.standard_normal(field.shape)
    out.policy[...] = random.dirichlet(np.full(N, 0.05), size=rows)
    out.policy[:, :10] = 0
    out.ownership_black[...] = np.tanh(out.ownership_black)
    return out


def look_up(cache: Cache, keys: list[int]) -> tuple[Evaluation, list[int]]:
    """Return what is found, and the rows that are missing."""
    out, missing = new_evaluation(len(keys), 5, 5), np.zeros(len(keys), dtype=np.int32)
    count = find(cache, np.array(keys, dtype=np.uint64), len(keys), out, missing)
    return out, missing[:count].tolist()


def store_rows(cache: Cache, keys: list[int], evaluation: Evaluation) -> None:
    store(cache, np.array(keys, dtype=np.uint64), np.arange(len(keys), dtype=np.int32), evaluation)


def test_evaluations_are_found_as_they_were_stored() -> None:
    cache, evaluation = new_cache(64, N), random_evaluation(3)
    before = [field.copy() for field in evaluation]
    store_rows(cache, [1, 2, 0], evaluation)
    found, missing = look_up(cache, [0, 3, 1])
    assert missing == [1]
    for field, left, old in zip(found, evaluation, before, strict=True):
        assert np.array_equal(field[0], left[2])
        assert np.array_equal(field[2], left[0])
        assert left == pytest.approx(old, abs=2e-5)
    assert np.array_equal(evaluation.policy > 0, before[0] > 0), "rounding makes no move illegal"


def test_the_least_recently_used_entry_is_replaced() -> None:
    cache = new_cache(WAYS, N)  # so that all keys share their places
    keys = list(range(1, WAYS + 1))
    for key in keys:
        store_rows(cache, [key], random_evaluation(1, key))
    assert look_up(cache, keys)[1] == []
    look_up(cache, [1])
    for key in keys[2:]:
        look_up(cache, [key])
    store_rows(cache, [100], random_evaluation(1))
    assert look_up(cache, [*keys, 100])[1] == [1]


def test_an_entry_with_the_same_key_is_overwritten() -> None:
    cache = new_cache(WAYS, N)
    store_rows(cache, [5, 5, 5], random_evaluation(3))
    assert np.count_nonzero(cache.key) == 1


def test_evaluations_fill_the_memory_in_the_order_of_their_arrival() -> None:
    """At random places, 8,000 of them took 132 µs each on 19×19, where writing takes 1."""
    cache = new_cache(1000, N)
    store_rows(cache, [70, 3, 500], random_evaluation(3))
    store_rows(cache, [3, 41], random_evaluation(2))
    assert np.flatnonzero(cache.policy.any(axis=1)).tolist() == [0, 1, 2, 3]
    assert look_up(cache, [70, 3, 500, 41])[1] == []


def test_a_half_full_table_keeps_nearly_all_entries() -> None:
    cache = new_cache(1000, N)
    keys = np.random.default_rng(0).integers(2**64, size=500, dtype=np.uint64)
    evaluation = random_evaluation(1)
    for key in keys:
        store_rows(cache, [int(key)], evaluation)
    assert len(look_up(cache, keys.tolist())[1]) <= 5
