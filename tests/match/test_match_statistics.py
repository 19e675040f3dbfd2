"""Winrates, intervals and Elo differences, and the table that shows them."""

import pytest
from match_helpers import record, won_by

from gtp_engine.arena.elo import wilson_interval
from gtp_engine.arena.match.settings import Sprt
from gtp_engine.arena.match.statistics import format_table, summarize


def test_summary_counts_by_color_and_leaves_out_void_games() -> None:
    summary = summarize(
        [
            record(1, winner="first"),
            record(2, black="second", winner="second"),
            record(3, winner="draw"),
            record(4, black="second", winner="none", result="Void", reason="max_moves"),
        ]
    )
    assert (summary.as_black.wins, summary.as_black.losses, summary.as_black.draws) == (1, 0, 1)
    assert (summary.as_white.wins, summary.as_white.losses, summary.as_white.draws) == (0, 1, 0)
    assert (summary.games, summary.void, summary.rate) == (3, 1, 0.5)
    assert summary.rate_interval == wilson_interval(1.5, 3)


def test_summary_counts_faults_of_the_loser_only() -> None:
    overruns = {"first": 2, "second": 0}
    summary = summarize(
        [
            record(1, winner="second", reason="time", overruns=overruns),
            record(2, winner="first", reason="illegal"),
            record(3, winner="first", reason="refused"),
            record(4, winner="first", reason="failure"),
        ]
    )
    first, second = summary.faults["first"], summary.faults["second"]
    assert (first.time_losses, first.illegal_moves, first.failures, first.overruns) == (1, 0, 0, 2)
    assert (second.time_losses, second.illegal_moves, second.failures, second.overruns) == (0, 1, 2, 0)


def test_summary_reports_disagreements() -> None:
    agreed = {"referee": "B+3", "first": "B+3", "second": "B+3"}
    summary = summarize(
        [
            record(1, scores=agreed),
            record(2, scores=agreed | {"second": "B+5"}),
            record(3, scores=agreed | {"first": "W+1"}),
            record(4, scores={"referee": "B+3"}),
        ]
    )
    assert (summary.score_disagreements, summary.winner_disagreements) == ((2, 3), (3,))


def test_games_that_repeat_earlier_ones_are_named() -> None:
    """Engines without chance play the same game again, which was counted as if it told more."""
    digests = {1: "a", 2: "a", 3: "a", 4: "b", 5: "a", 6: "", 7: ""}  # "": from an earlier version
    games = [record(game, black="first" if game % 2 else "second", digest=text) for game, text in digests.items()]
    summary = summarize(games)
    assert summary.repeated == (3, 5)
    assert summary.to_json()["repeated"] == [3, 5]
    assert format_table(summary, first="a", second="b").endswith(
        "\n2 games repeat an earlier one move by move, so the intervals are too narrow; random plies vary them"
    )
    (single,) = summarize(games[:3]).repeated
    assert "1 game repeats" in format_table(summarize(games[:3]), first="a", second="b") and single == 3
    assert "repeat" not in format_table(summarize(games[:2]), first="a", second="b")


def test_table_shows_everything() -> None:
    games = [
        record(1),
        record(2, black="second", winner="second"),
        record(3, scores={"referee": "0", "first": "B+1"}),
    ]
    assert format_table(summarize(games), first="Tengen 0.1", second="GNU Go 3.8").splitlines() == [
        "Tengen 0.1  against  GNU Go 3.8",
        "games          3",
        "winrate        66.7%   (95% interval 20.8% to 93.9%)",
        "Elo            +120   (95% interval -233 to +473)",
        "as Black       2 won, 0 lost",
        "as White       0 won, 1 lost",
        "moves a game   50",
        "first          Tengen 0.1: 2.00 s a move, at most 3.00 s; 0 lost on time (0 moves over time), "
        "0 by illegal moves, 0 by failures",
        "second         GNU Go 3.8: 0.50 s a move, at most 0.50 s; 0 lost on time (0 moves over time), "
        "0 by illegal moves, 0 by failures",
        "final scores differ in game 3",
        "even the winner is disputed in game 3",
    ]


def test_table_and_json_show_the_sequential_test() -> None:
    summary = summarize(won_by("first", "first", "first", "second"), Sprt(0, 100))
    assert format_table(summary, first="a", second="b").splitlines()[4] == (
        "SPRT           LLR +0.49 of -2.94 … +2.94 after 2 pairs, Elo +0 against +100: undecided"
    )
    assert summary.to_json()["sprt"]["verdict"] == "undecided"
    assert summarize([]).to_json()["sprt"] is None
    assert "games          0" in format_table(summarize([]), first="a", second="b")


def test_table_and_json_of_a_clean_sweep_have_no_infinite_number() -> None:
    summary = summarize([record(1), record(2)])
    assert "Elo            +∞ " in format_table(summary, first="a", second="b")
    assert summary.to_json()["elo"] is None
    assert summary.to_json()["elo_interval"][0] == pytest.approx(-113.4, abs=0.1)
