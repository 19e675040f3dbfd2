"""Positions drawn from games that a network plays by sampling its policy."""

from collections import Counter

import numpy as np
import pytest
from fake_evaluators import UniformEvaluator
from numpy.typing import NDArray

from gtp_engine.evaluation.positions import Positions
from gtp_engine.training.quantization import calibration
from gtp_engine.training.quantization.calibration import _place_in_reservoir, sample_games


@pytest.fixture(autouse=True)
def few_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "PER_GAME", 6)
    monkeypatch.setattr(calibration, "GAMES_AT_ONCE", 3)


def sample(seed: int = 1, games: int = 4) -> tuple[Positions, NDArray[np.int64]]:
    return sample_games(UniformEvaluator(), (5, 5), games=games, rng=np.random.default_rng(seed))


def test_a_sample_has_so_many_positions_of_each_game() -> None:
    positions, games = sample()
    assert Counter(games.tolist()) == dict.fromkeys(range(4), 6)
    assert len(positions.key) == 24
    assert len(set(positions.conditions_key.tolist())) == 4, "one set of conditions for each game"
    assert len(set(positions.key.tolist())) > 20, "hardly any position twice"


def test_a_sample_depends_on_the_seed_alone() -> None:
    np.testing.assert_array_equal(sample(2)[0].key, sample(2)[0].key)
    assert (sample(2)[0].key != sample(3)[0].key).any()


@pytest.mark.parametrize(("size", "candidates"), [(3, 10), (1, 5)])
def test_every_candidate_has_the_same_chance_to_stay_in_a_reservoir(size: int, candidates: int) -> None:
    rng, counts, rounds = np.random.default_rng(1), np.zeros(candidates), 4000
    for _ in range(rounds):
        reservoir: dict[int, int] = {}
        for index in range(candidates):
            place = _place_in_reservoir(index, size, rng)
            if place is not None:
                reservoir[place] = index
        counts[list(reservoir.values())] += 1
    np.testing.assert_allclose(counts / rounds, size / candidates, atol=0.03)
