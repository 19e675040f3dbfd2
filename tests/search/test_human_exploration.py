"""Exploration and choice by a human-like policy: the slow oracle's tree, formulas by hand, KataGo's numbers."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator, UniformEvaluator
from puct_reference import People, ReferenceSearch
from puct_support import AreaEvaluator, check_tree, compare, config, store_of
from shared_files import shared_records

from gtp_engine import Config, Game, Rules
from gtp_engine.config import HumanConfig
from gtp_engine.config.katago import with_katago_settings
from gtp_engine.go.board import Board
from gtp_engine.go.constants import PASS
from gtp_engine.search.limits import FirstMove, Limits, SearchRequest
from gtp_engine.search.puct.choose import human_weights
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.puct.tree import ROOT
from gtp_engine.search.report import SearchReport
from gtp_engine.search.rng import new_states

SEED = 7


def exploring(**shares: Any) -> Config:
    """Return a configuration with these options of the section human, or of puct, for a search like the oracle's."""
    shares = {"graph_search": False, **shares}
    plain = config(seed=SEED, eval_batch=1, symmetry_pruning=False, ending_bonus=0, subtree_bias=0)
    sections = {name: "puct." if hasattr(Config().puct, name) else "human.human_" for name in shares}
    return plain.with_values({sections[name] + name: value for name, value in shares.items()})


def chances() -> Iterator[float]:
    """Yield the random numbers of a search with SEED: xorshift64, of which 24 bits are used."""
    state = int(new_states(2, SEED)[1, 0])
    while True:
        state ^= state << 13 & (1 << 64) - 1
        state ^= state >> 7
        state ^= state << 17 & (1 << 64) - 1
        yield (state >> 40) / (1 << 24)


def small_game() -> Game:
    game = Game(4, 5, Rules.parse("tromp-taylor"), 0.5)
    game.play("B2")
    return game


CASES = {
    "the root without weight": {"root_weightless": 0.6, "c_puct_permanent": 2.0, "c_puct": 0.5},
    "the root with weight": {"root_weightful": 0.7},
    "everywhere": {
        "root_weightless": 0.3,
        "root_weightful": 0.2,
        "own_weightless": 0.3,
        "own_weightful": 0.4,
        "opponent_weightless": 0.5,
        "opponent_weightful": 0.1,
        "c_puct_permanent": 0.3,
    },
    "the opponent only": {"opponent_weightless": 0.4, "opponent_weightful": 0.6},
    "visits of nodes": {"root_weightless": 0.6, "more_passing_hacks": False},
    "shared nodes": {"root_weightless": 0.4, "own_weightless": 0.3, "own_weightful": 0.3, "graph_search": True},
}


@pytest.mark.parametrize("shares", CASES.values(), ids=CASES)
def test_it_finds_the_tree_of_the_oracle(shares: dict[str, float]) -> None:
    settings, game, people = exploring(**shares), small_game(), FakeEvaluator(5)
    _, searcher = searched(settings, game, Limits(200), people=people)
    oracle = ReferenceSearch(game, settings.puct, FakeEvaluator(), People(settings.human, people, chances()))
    oracle.run(200)
    compare(searcher, oracle.root)
    assert (oracle.root.visits < 200) == (shares.get("root_weightless", 0) + shares.get("opponent_weightless", 0) > 0)
    check_tree(searcher)


def searched(
    settings: Config, game: Game, limits: Limits | SearchRequest, evaluator: Any = None, people: Any = None
) -> tuple[SearchReport, PuctSearch]:
    """Return what a search finds, and the search, which is closed; by default evaluators are fake ones."""
    searcher = PuctSearch(settings, evaluator or FakeEvaluator(), people or FakeEvaluator(5))
    with closing(searcher):
        return searcher.run(game, limits), searcher


class HumanPolicy(AreaEvaluator):
    """People who choose among three moves, as one in two, three in ten and one in five of them do."""

    def policy(self, board: Board, color: int, moves: list[int]) -> np.ndarray:
        shares = dict(zip(FAVOURITES, (0.5, 0.3, 0.2), strict=True))
        return np.array([shares.get(move, 0.0) for move in moves])


FAVOURITES = (6, 7, 8)
"""Points of a board of 4 columns."""

BY_HAND = {6: 4, 7: 2, 8: 1}
"""Visits where utilities are equal, so that h / (1 + w) decides: of .5, .3, .25, .2, .167, .15 and .125."""

PLAIN_SELECTION = {"uncertainty": 0, "root_fpu_reduction": 0, "fpu_parent_power": 0}


def explored(visits: int, people: Any = None, **shares: Any) -> tuple[SearchReport, PuctSearch]:
    """Return what a search with these shares finds where every position is even, and the search."""
    settings = exploring(**shares).with_values({f"puct.{name}": value for name, value in PLAIN_SELECTION.items()})
    game, limits = Game(4, 4, Rules.parse("tromp-taylor"), 0.0), SearchRequest(Limits(visits), move_ownership=True)
    return searched(settings, game, limits, UniformEvaluator(), people or HumanPolicy())


def test_with_and_without_weight_by_hand() -> None:
    report, _ = explored(8, root_weightless=1.0)
    assert {move.point: move.position_visits for move in report.moves} == BY_HAND
    assert [(m.visits, m.weight, m.surplus_weight) for m in report.moves] == [(0, 0, 4), (0, 0, 2), (0, 0, 1)]
    assert (report.visits, report.playouts, report.weight, report.ownership_samples) == (1, 8, 1.0, 1)
    assert all(move.ownership_black is not None for move in report.moves)
    report, _ = explored(8, root_weightful=1.0)
    assert {move.point: move.visits for move in report.moves} == BY_HAND
    assert all(move.surplus_visits == 0 for move in report.moves)
    assert (report.visits, report.playouts, report.weight, report.ownership_samples) == (8, 8, 8.0, 8)


def test_usual_visits_use_what_was_explored_without_weight() -> None:
    """Then a playout takes no evaluation: there are fewer nodes than playouts."""
    report, searcher = explored(60, root_weightless=0.5)
    assert report.visits < 60 == report.playouts
    assert report.nodes < report.playouts
    assert any(move.visits > 0 for move in report.moves if move.point in FAVOURITES)
    check_tree(searcher)


def test_the_choice_of_people_knows_what_was_found_without_weight() -> None:
    """A move that only people look at is chosen by its own utility, not by the mean of the others'."""
    settings = exploring(root_weightless=0.7, move_share=1.0, pikl_lambda=0.05)
    report, _ = searched(settings, small_game(), SearchRequest(Limits(120), first_move=FirstMove.LIKELIEST))
    assert report.human is not None
    seen = [move for move in report.moves if move.position_visits > 0]
    assert any(move.visits == 0 for move in seen)
    best = max(-move.utility_black for move in seen)
    weights = {m.point: report.human.policy[m.point] * np.exp((-m.utility_black - best) / 0.05) for m in seen}
    found = {move.point: move.selection_weight for move in seen}
    first = max(found, key=lambda point: found[point])
    for point, weight in found.items():
        assert weight / found[first] == pytest.approx(weights[point] / weights[first], rel=1e-4)


@pytest.mark.parametrize(
    ("shares", "asks_at_leaves"), [({"root_weightless": 0.5}, False), ({"own_weightful": 0.1}, True)]
)
def test_people_are_asked_where_their_policy_is_needed(shares: dict[str, float], asks_at_leaves: bool) -> None:
    people = HumanPolicy()
    _, searcher = explored(30, people, **shares)
    leaves = store_of(searcher).used - 1
    assert sum(people.asked) == 1 + leaves * asks_at_leaves


def test_without_exploration_people_change_nothing() -> None:
    found = []
    for people in (None, FakeEvaluator(5)):
        searcher = PuctSearch(exploring(c_puct_permanent=2.0), FakeEvaluator(), people)
        report = searcher.run(small_game(), Limits(50))
        found.append([(move.point, move.visits, move.weight) for move in report.moves])
        assert store_of(searcher).tree.human_prior.size == 0
        searcher.close()
    assert found[0] == found[1]


def test_a_tree_explored_for_one_side_is_not_used_for_the_other() -> None:
    for shares, is_kept in (({"root_weightless": 0.5}, False), (EVEN, True)):
        searcher = PuctSearch(exploring(**shares), FakeEvaluator(), FakeEvaluator(5))
        game = small_game()
        report = searcher.run(game, Limits(80))
        game.play(max(report.moves, key=lambda move: move.visits).point)
        report = searcher.run(game, Limits(20))
        assert (report.playouts < 20) == is_kept
        searcher.close()


EVEN = {f"{who}_weightful": 0.5 for who in ("root", "own", "opponent")}


def test_the_policy_of_people_moves_with_the_root() -> None:
    searcher = PuctSearch(exploring(**EVEN), FakeEvaluator(), FakeEvaluator(5))
    game = small_game()
    report = searcher.run(game, Limits(80))
    move = max(report.moves, key=lambda move: move.visits).point
    child = store_of(searcher).child_by_move(ROOT, move)
    assert child is not None
    before = human_priors(searcher, child)
    game.play(move)
    report = searcher.run(game, Limits(1))
    assert human_priors(searcher, ROOT) == before
    assert report.human is not None
    assert before == {point: float(report.human.policy[point]) for point in before}
    searcher.close()


def human_priors(searcher: PuctSearch, node: int) -> dict[int, float]:
    """Return the human-like policy at a node, by move."""
    tree = store_of(searcher).tree
    edges = range(int(tree.first_edge[node]), int(tree.first_edge[node]) + int(tree.edges[node]))
    return {int(tree.move[edge]): float(tree.human_prior[edge]) for edge in edges}


POINTS = np.array([50, 60, PASS])
WEIGHTS = np.array([60.0, 30.0, 10.0])
UTILITIES = np.array([0.5, 0.3, 0.1])
HUMAN = [0.2, 0.6, 0.2]
BEST_OF_PEOPLE = {"human_move_share": 1.0, "human_pikl_lambda": 0.0}


@pytest.mark.parametrize(
    ("human", "settings", "expected"),
    [
        (HUMAN, {"human_move_share": 0.0}, WEIGHTS),
        (HUMAN, {"human_move_share": 0.5}, [40.0, 45.0, 15.0]),
        # Worse moves are less likely: 0.2 · 1, 0.6 · e⁻² and 0.2 · e⁻⁴, as shares of their sum.
        (HUMAN, {"human_move_share": 1.0, "human_pikl_lambda": 0.1}, [70.2089, 28.5052, 1.2859]),
        (HUMAN, BEST_OF_PEOPLE, [100.0, 0.0, 0.0]),
        ([0.0, 0.7, 0.3], BEST_OF_PEOPLE, [0.0, 100.0, 0.0]),
        # The pass keeps a tenth; the other moves share the rest as 1 to 3.
        (HUMAN, {"human_move_share": 1.0, "human_ignore_pass": True}, [22.5, 67.5, 10.0]),
        ([0.0, 0.0, 0.0], {"human_move_share": 1.0}, WEIGHTS),
    ],
)
def test_people_and_utility_weigh_moves(human: list[float], settings: dict[str, float], expected: list[float]) -> None:
    found = human_weights(WEIGHTS, UTILITIES, np.array(human), POINTS, HumanConfig(**settings))
    assert found == pytest.approx(expected, abs=1e-3)


def test_katago_weights() -> None:
    compared = 0
    for record in shared_records("human-sl-reference/choice.jsonl.gz"):
        children = record["children"]
        names = list(children)
        columns = {key: np.array([children[name][key] for name in names]) for key in ("base", "utility", "humanPrior")}
        points = np.array([PASS if name == "pass" else 100 + i for i, name in enumerate(names)])
        for result in record["results"]:
            config = with_katago_settings(Config(), result["settings"])[0].human
            found = human_weights(columns["base"], columns["utility"], columns["humanPrior"], points, config)
            expected = np.array([result["playSelectionValue"][name] for name in names])
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), (record["id"], result["settings"])
            compared += 1
    assert compared == 20
