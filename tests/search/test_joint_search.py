"""JointSearch: several searches side by side find what each would find alone, with fewer calls of the evaluator."""

import pytest
from puct_support import AreaEvaluator

from gtp_engine import Game, Rules
from gtp_engine.base.errors import ModelError
from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.joint_search import JointSearch
from gtp_engine.search.puct.puct_search import PuctSearch

CONFIG = Config().with_values({"search.seed": "1"})


def positions(size: int = 5, count: int = 4) -> list[tuple[Game, int]]:
    """Return positions after 0, 1, 2 … moves."""
    game, found = Game(size, size, komi=0.5), []
    for vertex in ["C3", "B2", "D4", "B4", "D2", "C4"][:count]:
        found.append((game.copy(), game.to_play))
        game.play(vertex)
    return found


def alone(games: list[tuple[Game, int]], visits: int) -> list[object]:
    found = []
    for game, color in games:
        search = PuctSearch(CONFIG, AreaEvaluator())
        report = search.run(game, Limits(visits), to_play=color)
        search.close()
        found.append([(move.point, move.visits, move.value_black, move.pv) for move in report.moves])
    return found


def test_every_search_finds_what_it_would_find_alone() -> None:
    evaluator = AreaEvaluator()
    reports = JointSearch(CONFIG, evaluator, 4).run(positions(), Limits(40))
    assert [report.visits for report in reports] == [40] * 4
    found = [[(move.point, move.visits, move.value_black, move.pv) for move in report.moves] for report in reports]
    assert found == alone(positions(), 40)
    assert len(evaluator.asked) < 0.4 * sum(evaluator.asked), "calls hold leaves of several searches"


def test_it_repeats_itself_whatever_was_searched_before() -> None:
    search = JointSearch(CONFIG, AreaEvaluator(), 4)
    first = search.run(positions(), Limits(30))
    search.run(positions(7, 3), Limits(10))
    again = search.run(positions(), Limits(30))
    assert [report.moves for report in again] == [report.moves for report in first]


def test_positions_under_different_rules_are_not_evaluated_together() -> None:
    games = [(Game(5, 5, komi=komi, rules=rules), 1) for komi in (0.5, 20.5) for rules in (Rules(), Rules())]
    reports = JointSearch(CONFIG, AreaEvaluator(), 4).run(games, Limits(8))
    assert reports[0].lead_black > reports[2].lead_black + 15
    assert reports[0].lead_black == reports[1].lead_black


def test_the_side_to_play_may_be_given() -> None:
    reports = JointSearch(CONFIG, AreaEvaluator(), 2).run([(Game(5, 5), 1), (Game(5, 5), 2)], Limits(8))
    assert [report.to_play for report in reports] == [1, 2]


def test_a_watcher_ends_all_searches() -> None:
    evaluator = AreaEvaluator()
    limits = Limits(watcher=lambda progress: len(evaluator.asked) > 6)
    reports = JointSearch(CONFIG, evaluator, 4).run(positions(), limits)
    assert all(1 <= report.visits < 60 for report in reports)


class BrokenEvaluator(AreaEvaluator):
    def evaluate(self, request: Request) -> None:
        raise ModelError("the network returned NaN")


def test_an_error_of_the_evaluator_reaches_the_caller() -> None:
    with pytest.raises(ModelError, match="NaN"):
        JointSearch(CONFIG, BrokenEvaluator(), 2).run(positions(count=2), Limits(8))
