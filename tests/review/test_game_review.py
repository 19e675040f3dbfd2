"""What a review concludes from the findings: points lost, marks, accuracy, mistakes."""

from dataclasses import replace
from pathlib import Path

import pytest
from puct_support import AreaEvaluator
from review.review_support import RECORD, review_of

from gtp_engine import BLACK, Color, Game, GameTree, InvalidColorError, Rules
from gtp_engine.people.review import Candidate, Effort, Finding, GameReview, new_review, read_game, review_game
from gtp_engine.people.review.game_review import Answer, _accuracy, points_lost, seen_by

LINE = read_game(RECORD, rules=Rules())  # B C3, W B4, B D2, W A5, B B3, W E1

OTHERS = ["A1", "B1", "C1", "D1", "A2", "B2", "C2"]
"""Points that are not played."""


def candidate(vertex: str, lead: float = 0.0) -> Candidate:
    return Candidate(vertex, 7, 0.5, lead, 0.3, (vertex,))


def reviewed(leads: list[float], best: list[str], prior: float = 0.3) -> GameReview:
    """Return a review in which Black's lead in the positions is `leads` and the best moves are `best`."""
    findings = [
        Finding(number, "BW"[number % 2], 50, 0.5 + lead / 100, lead, "", (candidate(vertex, lead),), (), prior)
        for number, (lead, vertex) in enumerate(zip(leads, best, strict=True))
    ]
    return new_review(LINE, findings, "test")


def test_points_lost_are_those_of_the_side_that_moved() -> None:
    review = reviewed([0, -3, -1, -1, 6, 4, 4], OTHERS)
    assert [move.points_lost for move in review.moves] == [3, 2, 0, 7, 2, 0]
    assert [move.winrate_lost for move in review.moves] == [0.03, 0.02, 0, 0.07, 0.02, 0]
    assert [move.mark for move in review.moves] == ["DO", "DO", None, "BM", "DO", None]


def test_a_change_of_the_position_is_charged_to_no_move() -> None:
    line = read_game(b"(;SZ[5]KM[0.5];B[cc];W[bb];AB[aa];B[dd];W[ee];PL[W])", rules=Rules())
    findings = reviewed([0, 0, 20, 20, 30, 0, 0], OTHERS, prior=0.01).findings[:5]
    review = new_review(line, findings, "test")
    assert [(move.points_lost, move.mark) for move in review.moves] == [(0, "IT"), (0, None), (0, "IT"), (10, "BM")]
    assert review.moves[1].winrate_lost == 0
    note = "the record changes the position after move 2: what was lost there is not known"
    assert review.to_json()["notes"] == [note]


def test_the_engines_own_move_loses_nothing() -> None:
    review = reviewed([0, -3, -3, -3, -3, -3, -3], ["C3", *OTHERS[1:]])
    assert (review.moves[0].points_lost, review.moves[0].best) == (0, "C3")
    assert review.side("B").best_moves == 1


def test_accuracy_halves_every_three_points() -> None:
    review = reviewed([0, -3, -3, -3, -3, -6, -6], OTHERS)
    black = review.side("B")
    assert black.accuracy == pytest.approx((50 + 100 + 50) / 3, abs=0.05)
    low, high = black.accuracy_interval or (0, 0)
    assert (low, high) == (pytest.approx(66.7 - 1.96 * 28.87 / 3**0.5, abs=0.1), pytest.approx(99.3, abs=0.1))
    assert black.blunders == {"2": 2, "5": 0, "10": 0}
    assert black.by_phase == {"opening": 1.5, "middle game": 3.0, "endgame": None}
    longer = review_of(RECORD.replace(b"SZ[5]", b"SZ[5:9]"))
    assert {move.phase for move in longer.moves} == {"opening"}
    assert _accuracy(review.moves[:1]) == (50.0, None), "one move has no interval"


def test_a_move_of_small_prior_that_loses_nothing_is_interesting_while_the_game_is_open() -> None:
    marks = {(0.5, 0.05): "IT", (0.51, 0.05): None, (0.5, 0.051): None}
    assert {each: reviewed([0, -each[0], *[0] * 5], OTHERS, each[1]).moves[0].mark for each in marks} == marks
    assert reviewed([48] * 7, OTHERS, prior=0.01).moves[0].mark is None


def test_a_move_of_small_prior_that_is_far_better_than_all_others_is_fine() -> None:
    review = reviewed([0] * 7, ["C3", *OTHERS[1:]], prior=0.01)
    assert review.moves[0].mark == "IT", "with nothing to compare it to"
    first = replace(review.findings[0], candidates=(candidate("C3", 0), candidate("A1", -2)))
    assert new_review(LINE, [first, *review.findings[1:]], "test").moves[0].mark == "TE"


def test_the_json_has_everything() -> None:
    black = (data := review_of().to_json())["players"]["B"]
    assert (data["game"]["komi"], black["name"], black["rank"]) == (0.5, "Ann", "3k")
    assert len(data["positions"]) == len(data["moves"]) + 1 == 7
    position = data["positions"][3]
    assert position["stones"] == "......O.....X.....X......"
    assert len(position["ownership"]) == 25 and position["ownership"][12] == 100
    assert {"format", "program", "network", "game", "players", "mistakes", "moves", "positions", "notes"} < set(data)
    assert data["variations"] == []


def test_findings_survive_json() -> None:
    for finding in review_of().findings:
        assert Finding.from_json(finding.to_json()) == finding


def weighed(*winrates_and_leads: tuple[float, float]) -> GameReview:
    findings = [
        Finding(number, "BW"[number % 2], 50, winrate, lead, "", (candidate(OTHERS[number], lead),), (), 0.3)
        for number, (winrate, lead) in enumerate(winrates_and_leads)
    ]
    return new_review(LINE, findings, "test")


def test_mistakes_weigh_by_winrate_while_the_game_is_undecided_and_by_points_afterwards() -> None:
    """Four of five were made in a decided game, and those that had lost it were absent."""
    review = weighed((0.6, 2), (0.3, -1), (0.3, -1), (0.02, -6), (0.02, -6), (0.01, -30), (0.04, -9))
    for black in ("B", "b", "black", BLACK, Color.BLACK):
        assert [move.number for move in review.mistakes_of(black)] == [1, 3, 5]
        assert review.side(black) == review.side("B") != review.side("white")
    for wrong in ("Bob", 0, None):
        with pytest.raises(InvalidColorError):
            review.side(wrong)
    assert [move.number for move in review.mistakes] == [1, 3, 5, 6]
    assert [move.is_decided for move in review.moves] == [False, False, False, True, True, True]
    lost_again = weighed((0.99, 40), (0.3, -3), (0.3, -3), (0.3, -3), (0.3, -3), (0.1, -20), (0.1, -20))
    assert [move.number for move in lost_again.mistakes_of("B")] == [1, 5], "it decided the game the other way"


def test_a_player_who_misses_a_move_again_and_again_has_missed_it_once() -> None:
    """Lists and lessons had the same better move several times."""
    review = reviewed([0, -3, -1, -6, -6, -9, -9], ["A1", "B1", "A1", "A1", "C1", "A1", "A1"])
    assert [move.number for move in review.mistakes_of("B")] == [3, 5], "the heavier one of moves 1 and 3"
    assert [move.number for move in review.mistakes_of("W")] == [2], "the other player's is another one"
    unknown = replace(review, moves=tuple(replace(move, best=None) for move in review.moves))
    assert [move.number for move in unknown.mistakes_of("B")] == [3, 1, 5]


def test_a_move_that_loses_a_close_game_is_a_mistake_whatever_its_points() -> None:
    review = weighed((0.5, 0.5), (0.1, -0.7), (0.1, -0.7), (0.1, -0.7), (0.1, -0.7), (0.1, -0.7), (0.1, -0.7))
    assert [(move.number, move.mark) for move in review.mistakes] == [(1, "DO")]
    assert weighed(*[(0.5, 0.5), (0.1, 0.0)], *[(0.1, 0.0)] * 5).mistakes == [], "less than a point is no mistake"
    losses = ((1.99, 0.09, False), (2.0, 0.0, False), (1.0, 0.1, False), (0.99, 0.1, False), (1.0, 0.1, True))
    first = review.moves[0]
    moves = [replace(first, points_lost=lost, winrate_lost=rate, is_decided=sure) for lost, rate, sure in losses]
    assert [move.is_mistake for move in moves] == [False, True, True, False, False]
    moves = [replace(moves[0], points_lost=lost) for lost in (0.0, 30.0, 2.0, 5.0, 10.0)]
    assert replace(review, moves=tuple(moves)).side("B").blunders == {"2": 4, "5": 3, "10": 2}
    assert _accuracy(moves[:2])[1] == (0.0, 100.0), "an interval does not leave the scale"
    assert [Answer("A1", lost, ()).is_right for lost in (0.99, 1.0)] == [True, False]


@pytest.mark.parametrize(("color", "seen"), [("B", (0.3, -2.5)), ("W", (0.7, 2.5))])
def test_a_finding_as_both_sides_see_it(color: str, seen: tuple[float, float]) -> None:
    found = replace(review_of().findings[0], winrate=0.3, lead=-2.5)
    assert seen_by(color, found) == seen


@pytest.mark.parametrize(("best", "after", "lost"), [(3.0, 1.256, 1.74), (-1.0, -1.0, 0.0), (1.0, 4.0, 0.0)])
def test_points_lost_are_never_less_than_none(best: float, after: float, lost: float) -> None:
    assert points_lost(best, after) == lost


def test_a_review_is_of_a_path_a_text_a_game_or_a_tree(tmp_path: Path) -> None:
    text = "(;SZ[5]KM[0.5]RU[Japanese];B[cc];W[bb];B[dd])"
    path = tmp_path / "game.sgf"
    path.write_text(text)
    records = (text.encode(), text, path, Game.from_sgf(text), GameTree(text))
    reviews = [review_game(record, AreaEvaluator(), effort=Effort(visits=4)) for record in records]
    assert [review.line.rules.preset_name() for review in reviews] == ["japanese"] * 5
    assert all(review.to_json()["moves"] == reviews[0].to_json()["moves"] for review in reviews)
