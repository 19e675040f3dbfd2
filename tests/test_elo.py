"""Elo ratings: intervals and differences, and ratings from a round robin: found again from results, none infinite."""

import math

import numpy as np
import pytest

from gtp_engine.arena.elo import (
    Z_95,
    RatingArray,
    RatingError,
    elo_difference,
    format_elo,
    rate_players,
    wilson_interval,
)
from gtp_engine.arena.match.statistics import format_standings


@pytest.mark.parametrize(("wins", "games"), [(0, 10), (5, 10), (36, 60), (38.5, 60), (19, 20), (10, 10), (1, 1)])
def test_wilson_interval_ends_where_the_rate_is_just_plausible(wins: float, games: int) -> None:
    """By definition: the observed rate lies Z_95 standard deviations of the true rate away from both ends."""
    low, high = wilson_interval(wins, games)
    assert 0 <= low <= wins / games <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert abs(wins / games - end) == pytest.approx(Z_95 * math.sqrt(end * (1 - end) / games))


def test_wilson_intervals() -> None:
    assert wilson_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=5e-5)
    assert wilson_interval(0, 0) == (0.0, 1.0)
    ends = [(wins / games, *wilson_interval(wins, games)) for games in range(1, 100) for wins in range(games + 1)]
    assert all(low <= rate <= high for rate, low, high in ends), "rounding moves no end past the rate"


def test_elo_difference_is_the_inverse_of_the_expected_score() -> None:
    for rate in (0.05, 0.3, 0.5, 0.64, 0.99):
        assert 1 / (1 + 10 ** (-elo_difference(rate) / 400)) == pytest.approx(rate)
    assert (elo_difference(0), elo_difference(1)) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "+0"), (12.6, "+13"), (-12.6, "-13"), (math.inf, "+∞"), (-math.inf, "−∞")]
)
def test_elo_differences_as_text(value: float, text: str) -> None:
    assert format_elo(value) == text


def expected_points(elo: list[float], games: float) -> RatingArray:
    """Return what players of these ratings are expected to win against each other in so many games."""
    ratings = np.array(elo)
    points = games / (1.0 + 10.0 ** ((ratings[None, :] - ratings[:, None]) / 400.0))
    np.fill_diagonal(points, 0.0)
    return points


def test_two_players_differ_by_what_their_win_rate_stands_for() -> None:
    found = rate_players(np.array([[0.0, 75.0], [25.0, 0.0]]), prior_games=0)
    assert found.elo[0] - found.elo[1] == pytest.approx(elo_difference(0.75))
    assert found.elo.sum() == pytest.approx(0)
    # The variance of the log odds is 1 / (n p q), and each player is half the difference away from the mean.
    deviation = 400 / math.log(10) / math.sqrt(100 * 0.75 * 0.25)
    assert found.margin == pytest.approx([1.959964 * deviation / 2] * 2, rel=1e-6)


@pytest.mark.parametrize("elo", [[300.0, 0.0, -300.0], [900.0, 850.0, 0.0, -50.0, -1700.0]])
def test_ratings_are_found_again(elo: list[float]) -> None:
    assert rate_players(expected_points(elo, 10), prior_games=0).elo == pytest.approx(elo, abs=1e-4)


def test_some_pairs_of_players_may_not_have_met() -> None:
    points = expected_points([100.0, 0.0, -100.0], 8)
    points[0, 2] = points[2, 0] = 0.0
    found = rate_players(points, prior_games=0)
    assert found.elo == pytest.approx([100, 0, -100], abs=1e-4)
    assert found.margin[1] < found.margin[0], "the one in the middle played more"


def test_who_wins_everything_has_a_rating() -> None:
    points = np.array([[0.0, 10.0, 10.0], [0.0, 0.0, 10.0], [0.0, 0.0, 0.0]])
    few, many = rate_players(points), rate_players(points * 10)
    two = rate_players(points[:2, :2]).elo
    assert two[0] - two[1] == pytest.approx(elo_difference(10.5 / 11)), "one drawn game is added for each pair"
    assert few.elo[0] > few.elo[1] > few.elo[2] and np.isfinite(few.margin).all()
    assert many.elo[0] > few.elo[0] + 200, "what is added to the games matters less, the more there are"
    with pytest.raises(RatingError, match="won every game against the rest"):
        rate_players(points, prior_games=0)


def test_more_games_make_surer() -> None:
    points = expected_points([50.0, 0.0, -50.0], 10)
    assert rate_players(4 * points, prior_games=0).margin == pytest.approx(
        rate_players(points, prior_games=0).margin / 2
    )


def test_players_that_no_game_connects() -> None:
    points = np.zeros((4, 4))
    points[0, 1] = points[2, 3] = 5.0
    with pytest.raises(RatingError, match="not connected by games"):
        rate_players(points)


def test_standings_begin_with_the_best_and_show_who_beat_whom() -> None:
    points = np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 2.5], [0.0, 1.5, 0.0]])
    lines = format_standings(["weak", "strong", "new"], points, {"s a move": ["0.1", "0.2", "0.3"]}).splitlines()
    assert lines[0] == "| # | player | Elo | games | points | 1 | 2 | 3 | s a move |"
    assert lines[2].startswith("| 1 | strong | +") and lines[2].endswith("| 8 | 69% | – | 62% | 75% | 0.2 |")
    assert lines[3].startswith("| 2 | new | ") and lines[3].endswith("| 4 | 38% | 38% | – | – | 0.3 |")
    assert lines[4].startswith("| 3 | weak | -")
    assert len(lines) == 5


def test_a_name_does_not_end_its_cell() -> None:
    lines = format_standings(["a|b", "c"], np.array([[0.0, 2.0], [1.0, 0.0]]), {}).splitlines()
    assert lines[2].startswith("| 1 | a\\|b | +")
