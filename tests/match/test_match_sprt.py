"""The sequential test: pairs, the log-likelihood ratio against Fishtest's, verdicts and how often they are wrong."""

import math
import random

import pytest
from match_helpers import record, won_by

from gtp_engine.arena.elo import expected_score
from gtp_engine.arena.match.settings import Sprt
from gtp_engine.arena.match.statistics import SprtResult, count_pairs, log_likelihood_ratio, run_sprt


def test_pairs_are_counted_by_their_points() -> None:
    games = won_by("first", "first", "first", "draw", "first", "second", "draw", "draw", "second", "draw")
    assert count_pairs([*games, record(11, winner="second"), record(12, winner="second")]) == (1, 1, 2, 1, 1)


def test_a_pair_waits_for_its_second_game_and_is_left_out_with_a_void_one() -> None:
    games = won_by("first", "first", "first", "none", "none", "second", "second")
    assert count_pairs(games) == (0, 0, 0, 0, 1)
    assert count_pairs([record(8, winner="second"), *reversed(games)]) == (1, 0, 0, 0, 1)


def test_ratio_is_that_of_fishtest() -> None:
    """Published raw statistics of a test on a Fishtest server: "Logistic (exact)"; its Elo is rounded."""
    assert log_likelihood_ratio((13, 37, 50, 25, 3), elo0=0, elo1=2.716) == pytest.approx(-0.53772, abs=1e-4)
    assert log_likelihood_ratio((0, 0, 0, 0, 0), elo0=0, elo1=5) == 0, "nothing played says nothing"


def test_two_outcomes_make_it_wald_s_test() -> None:
    """Where pairs are only won or lost, the hypotheses leave no freedom: the ratio is that of two coins."""
    score0, score1 = expected_score(0), expected_score(100)
    won, lost = math.log(score1 / score0), math.log((1 - score1) / (1 - score0))
    ratio = log_likelihood_ratio((30, 0, 0, 0, 70), elo0=0, elo1=100)
    assert ratio == pytest.approx(70 * won + 30 * lost, abs=0.01)


@pytest.mark.parametrize("pairs", [(0, 0, 0, 0, 3), (1, 2, 3, 4, 5), (0, 0, 9, 0, 0), (7, 0, 0, 1, 0)])
def test_exchanging_the_engines_changes_the_sign(pairs: tuple[int, ...]) -> None:
    ratio = log_likelihood_ratio(pairs, elo0=-10, elo1=30)
    assert log_likelihood_ratio(pairs[::-1], elo0=-30, elo1=10) == pytest.approx(-ratio)


def test_verdicts() -> None:
    test = Sprt(0, 100, alpha=0.05, beta=0.1)
    won, lost, even = ((0, 0, 0, 0, 40), (40, 0, 0, 0, 0), (2, 0, 0, 0, 3))
    for pairs, verdict in ((won, "H1"), (lost, "H0"), (even, "undecided")):
        result = SprtResult(test, pairs, log_likelihood_ratio(pairs, elo0=0, elo1=100))
        assert result.verdict == verdict
        assert (result.lower, result.upper) == pytest.approx((-2.2513, 2.8904), abs=1e-4)


def test_text_and_json() -> None:
    result = run_sprt(Sprt(0, 100), won_by("first", "first", "first", "second"))
    assert result.describe() == "LLR +0.49 of -2.94 … +2.94 after 2 pairs, Elo +0 against +100: undecided"
    assert result.to_json() == {
        "elo0": 0,
        "elo1": 100,
        "alpha": 0.05,
        "beta": 0.05,
        "pairs": [0, 0, 1, 0, 1],
        "llr": result.llr,
        "bounds": [result.lower, result.upper],
        "verdict": "undecided",
    }
    won = run_sprt(Sprt(0, 200), won_by(*["first"] * 60))
    assert won.describe().endswith("Elo +0 against +200: H1 accepted (Elo +200)")


@pytest.mark.parametrize(("elo", "right"), [(0.0, "H0"), (120.0, "H1")])
def test_verdicts_are_as_often_wrong_as_allowed(elo: float, right: str) -> None:
    """150 tests with true differences at either hypothesis, alpha = beta = 10%: at most 15% may go wrong."""
    rng = random.Random(1)
    test = Sprt(0, 120, alpha=0.1, beta=0.1)
    wrong = 0
    for _ in range(150):
        pairs, verdict = [0] * 5, "undecided"
        while verdict == "undecided":
            points = sum(rng.random() < expected_score(elo) for _ in range(2))
            pairs[2 * points] += 1
            ratio = log_likelihood_ratio(pairs, elo0=test.elo0, elo1=test.elo1)
            verdict = SprtResult(test, tuple(pairs), ratio).verdict
        wrong += verdict != right
    assert wrong <= 22
