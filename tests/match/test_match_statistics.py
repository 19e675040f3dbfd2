"""Winrates, intervals, Elo differences and ratings, the sequential test; the table and the plot that show them."""

import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from match_helpers import record, won_by

from gtp_engine.arena.elo import (
    Z_95,
    RatingArray,
    RatingError,
    elo_difference,
    expected_score,
    format_elo,
    rate_players,
    wilson_interval,
)
from gtp_engine.arena.match.records import GameRecord
from gtp_engine.arena.match.settings import MatchError, Sprt
from gtp_engine.arena.match.statistics import (
    SprtResult,
    check_plot,
    count_pairs,
    draw_curve,
    format_table,
    log_likelihood_ratio,
    run_sprt,
    summarize,
    write_plot,
)


def test_summary_counts_by_color_and_leaves_out_void_games() -> None:
    games = [
        record(1, winner="first"),
        record(2, black="second", winner="second"),
        record(3, winner="draw"),
        record(4, black="second", winner="none", result="Void", reason="max_moves"),
    ]
    summary = summarize(games)
    assert summary.first_as_black == {"wins": 1, "losses": 0, "draws": 1}
    assert summary.first_as_white == {"wins": 0, "losses": 1, "draws": 0}
    assert (summary.games, summary.void, summary.win_rate) == (3, 1, 0.5)
    assert summary.win_rate_interval == wilson_interval(1.5, 3)


def test_summary_counts_faults_of_the_loser_only() -> None:
    overruns = {"first": 2, "second": 0}
    games = [
        record(1, winner="second", reason="time", overruns=overruns),
        record(2, winner="first", reason="illegal"),
        record(3, winner="first", reason="refused"),
        record(4, winner="first", reason="failure"),
    ]
    summary = summarize(games)
    first, second = summary.faults["first"], summary.faults["second"]
    assert first == {"time_losses": 1, "illegal_moves": 0, "failures": 0, "overruns": 2}
    assert second == {"time_losses": 0, "illegal_moves": 1, "failures": 2, "overruns": 0}


def test_summary_reports_disagreements() -> None:
    agreed = {"referee": "B+3", "first": "B+3", "second": "B+3"}
    games = [
        record(1, scores=agreed),
        record(2, scores=agreed | {"second": "B+5"}),
        record(3, scores=agreed | {"first": "W+1"}),
        record(4, scores={"referee": "B+3"}),
    ]
    summary = summarize(games)
    assert (summary.score_disagreements, summary.winner_disagreements) == ((2, 3), (3,))


def test_games_that_repeat_earlier_ones_are_named() -> None:
    digests = {1: "a", 2: "a", 3: "a", 4: "b", 5: "a"}
    games = [record(game, black="first" if game % 2 else "second", digest=text) for game, text in digests.items()]
    summary = summarize([*games, record(8, black="second", winner="none", digest="b")])
    assert summary.repeated == (3, 5), "void games do not count"
    assert summary.to_json()["repeated"] == (3, 5)
    assert format_table(summary, first="a", second="b").endswith(
        "\n2 games repeat an earlier one move by move, so the intervals are too narrow; random plies vary them"
    )
    (single,) = summarize(games[:3]).repeated
    assert "1 game repeats" in format_table(summarize(games[:3]), first="a", second="b") and single == 3
    assert "repeat" not in format_table(summarize(games[:2]), first="a", second="b")


def test_table_shows_everything() -> None:
    games = [record(1), record(2, black="second", winner="second"), record(3, scores={"referee": "0", "first": "B+1"})]
    games += [record(4, black="second", winner="draw"), record(5, winner="none", moves=1000)]
    assert format_table(summarize(games), first="Tengen 0.1", second="GNU Go 3.8").splitlines() == [
        "Tengen 0.1  against  GNU Go 3.8",
        "games          4, and 1 void",
        "winrate        62.5%   (95% interval 21.9% to 90.8%)",
        "Elo            +89   (95% interval -220 to +398)",
        "as Black       2 won, 0 lost",
        "as White       0 won, 1 lost, 1 drawn",
        "moves a game   240",
        "first          Tengen 0.1: 2.00 s a move, at most 3.00 s; 0 lost on time (0 moves over time), "
        "0 by illegal moves, 0 by failures",
        "second         GNU Go 3.8: 0.50 s a move, at most 0.50 s; 0 lost on time (0 moves over time), "
        "0 by illegal moves, 0 by failures",
        "final scores differ in game 3",
        "even the winner is disputed in game 3",
    ]


def test_table_and_json_of_a_clean_sweep_have_no_infinite_number() -> None:
    summary = summarize([record(1), record(2)])
    assert "Elo            +∞ " in format_table(summary, first="a", second="b")
    assert summary.to_json()["elo"] is None
    assert summary.to_json()["elo_interval"][0] == -113.4


def test_pairs_are_counted_by_their_points() -> None:
    games = won_by("first", "first", "first", "draw", "first", "second", "draw", "draw", "second", "draw")
    assert count_pairs([*games, record(11, winner="second"), record(12, winner="second")]) == (1, 1, 2, 1, 1)
    games = won_by("first", "first", "first", "none", "none", "second", "second")  # void ones, and half a pair
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
        assert result.bounds == pytest.approx((-2.2513, 2.8904), abs=1e-4)


def test_the_state_of_a_test_as_text_and_in_the_json() -> None:
    summary = summarize(won_by("first", "first", "first", "second"), Sprt(0, 100))
    text = "LLR +0.49 of -2.94 … +2.94 after 2 pairs, Elo +0 against +100: undecided"
    assert format_table(summary, first="a", second="b").splitlines()[4] == f"SPRT           {text}"
    result = run_sprt(Sprt(0, 100), won_by("first", "first", "first", "second"))
    assert summary.to_json()["sprt"] == {
        "elo0": 0,
        "elo1": 100,
        "alpha": 0.05,
        "beta": 0.05,
        "pairs": [0, 0, 1, 0, 1],
        "llr": result.llr,
        "bounds": list(result.bounds),
        "verdict": "undecided",
    }
    won = run_sprt(Sprt(0, 200), won_by(*["first"] * 60))
    assert won.describe().endswith("Elo +0 against +200: H1 accepted (Elo +200)")
    nothing = summarize([])
    assert nothing.to_json()["sprt"] is None
    assert "games          0\nwinrate        50.0% " in format_table(nothing, first="a", second="b")


def test_wilson_interval_ends_where_the_rate_is_just_plausible() -> None:
    """By definition: the observed rate lies Z_95 standard deviations of the true rate away from both ends."""
    assert wilson_interval(0, 0) == (0.0, 1.0)
    for wins, games in [(38.5, 60), *((won, total) for total in range(1, 100) for won in range(total + 1))]:
        low, high = wilson_interval(wins, games)
        assert 0 <= low <= wins / games <= high <= 1, "rounding moves no end past the rate"
        for end in (low, high):
            if 0 < end < 1:
                assert abs(wins / games - end) == pytest.approx(Z_95 * math.sqrt(end * (1 - end) / games))


def test_elo_differences_as_text() -> None:
    assert [format_elo(each) for each in (0, 12.6, -12.6, math.inf, -math.inf)] == ["+0", "+13", "-13", "+∞", "−∞"]


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
    gaps = [np.diff(rate_players(each).elo[:2]) for each in (points, points[:2, :2])]
    assert gaps[0] == pytest.approx(gaps[1]), "only pairs that met get a drawn game"
    points[1, 2] = points[2, 1] = 0.0
    with pytest.raises(RatingError, match="not connected by games"):
        rate_players(points)


def test_who_wins_everything_has_a_rating() -> None:
    points = np.array([[0.0, 10.0, 10.0], [0.0, 0.0, 10.0], [0.0, 0.0, 0.0]])
    few, many = rate_players(points), rate_players(points * 10)
    two = rate_players(points[:2, :2]).elo
    assert two[0] - two[1] == pytest.approx(elo_difference(10.5 / 11)), "one drawn game is added for each pair"
    assert few.elo[0] > few.elo[1] > few.elo[2] and np.isfinite(few.margin).all()
    assert many.elo[0] > few.elo[0] + 200, "what is added to the games matters less, the more there are"
    with pytest.raises(RatingError, match="won every game against the rest"):
        rate_players(points, prior_games=0)


GAMES = won_by("first", "draw", "none", "second", "first", "first")


@pytest.mark.parametrize(
    ("name", "games", "start"),
    [
        ("a.svg", GAMES, b"<?xml"),
        ("b.PNG", won_by("second", "second"), b"\x89PNG"),
        ("new/c.svg", [], b"<?xml"),
        ("d.svg", won_by("none"), b"<?xml"),
    ],
)
def test_a_picture_is_written(tmp_path: Path, name: str, games: list[GameRecord], start: bytes) -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra [plot]")
    write_plot(tmp_path / name, games, first="Tengen $1", second="GNU Go & Co")
    assert (tmp_path / name).read_bytes().startswith(start)


def test_the_curve_is_the_win_rate_with_its_interval(tmp_path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="plots need the extra [plot]")
    axes = figure.Figure().add_subplot()
    draw_curve(GAMES, axes)
    even, dots, curve = axes.get_lines()
    assert list(even.get_ydata()) == [50, 50]
    assert list(dots.get_ydata()) == [100, 50, 0, 100, 100]
    assert list(curve.get_xdata()) == [1, 2, 3, 4, 5], "the void game does not count"
    assert curve.get_ydata() == pytest.approx([100, 75, 50, 62.5, 70]) and curve.get_marker() == "."
    (band,) = axes.collections
    low, high = wilson_interval(3.5, 5)
    assert band.get_paths()[0].contains_points([(5, 100 * low + 1), (5, 100 * high - 1)]).all()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "games won, drawn or lost",
        f"95% interval, at last Elo {format_elo(elo_difference(low))} to {format_elo(elo_difference(high))}",
        "winrate, at last 70.0%, Elo +147",
    ]


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_only_whole_games_are_marked_on_the_axis(count: int) -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="plots need the extra [plot]")
    axes = figure.Figure().add_subplot()
    draw_curve(won_by(*["first", "second"] * 100)[:count], axes)
    ticks = axes.get_xticks()
    assert all(tick == int(tick) for tick in ticks) and any(1 <= tick <= count for tick in ticks)


@pytest.mark.parametrize("name", ["plot.pdf", "plot"])
def test_other_formats_are_refused(name: str) -> None:
    with pytest.raises(MatchError, match=rf"plot '{name}': expected a file name ending in \.svg or \.png"):
        check_plot(Path(name))


def test_without_matplotlib_the_advice_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MatchError, match=r"plots need matplotlib; install it: .*(matplotlib>=3\.9|\[plot\])"):
        check_plot(Path("a.svg"))


def test_a_place_that_cannot_be_written_is_noticed_before_the_games(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra [plot]")
    (tmp_path / "file").write_text("")
    for write in (check_plot, partial(write_plot, records=GAMES, first="a", second="b")):
        with pytest.raises(MatchError, match="cannot write plot"):
            write(tmp_path / "file" / "a.svg")
    check_plot(tmp_path / "pictures" / "a.svg")
    assert list((tmp_path / "pictures").iterdir()) == []
