"""What any search promises: it keeps its tree, obeys the rules, knows cycles, and is the same beside others."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_helpers import parse_diagram, play_moves
from fake_evaluators import FakeEvaluator
from puct_support import AreaEvaluator, game_from, moves_at, search, visits_of
from superko_games import game_with_superko

from gtp_engine import Config, Game, Rules, parse_vertex
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.search.limits import FirstMove, Limits, Restriction, Searcher, SearchRequest, avoid_until_depths
from gtp_engine.search.puct.joint_search import JointSearch
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.report import FEW_VISITS, MoveReport, Outlook, SearchReport, completed
from gtp_engine.search.rollouts.rollout_search import RolloutSearch

EVERYTHING = frozenset(range(1, 43))
"""The points of 5x5, and the pass."""


@pytest.fixture(params=["puct", "rave", "uct"])
def searcher(request: pytest.FixtureRequest) -> Iterator[Searcher]:
    values = {"search.seed": 1, "search.threads": 2, "puct.symmetry_pruning": False, "puct.temperature_early": 5.0}
    config = Config().with_values(values | {"search.search": request.param})
    is_network = request.param == "puct"
    with closing(PuctSearch(config, FakeEvaluator()) if is_network else RolloutSearch(config.search)) as searcher:
        yield searcher


def test_clear_makes_the_next_search_the_first_one(searcher: Searcher) -> None:
    """With the same moves drawn, too."""
    drawn = [SearchRequest(Limits(visits), first_move=FirstMove.DRAWN) for visits in range(200, 401, 25)]
    *_, again = reports = [searcher.run(Game(9), each) for each in drawn]
    searcher.clear()
    assert (again.visits, again.playouts) == (400, 25)
    assert [visits_of(searcher.run(Game(9), each)) for each in drawn] == [visits_of(each) for each in reports]


@pytest.mark.parametrize(
    ("change", "to_play"),
    [
        (lambda game: setattr(game, "komi", 3.5), None),
        (lambda game: setattr(game, "rules", Rules.parse("aga")), None),
        (lambda game: game.undo(), None),
        (lambda game: None, BLACK),
        (lambda game: Game(7), None),
    ],
    ids=["komi", "rules", "undo", "colour", "size"],
)
def test_a_tree_that_no_longer_fits(
    searcher: Searcher, change: Callable[[Game], Game | None], to_play: int | None
) -> None:
    game = Game(9)
    game.play("E5")
    searcher.run(game, Limits(200))
    assert searcher.run(change(game) or game, Limits(200), to_play=to_play).playouts == 200


def test_a_tree_in_which_other_moves_were_left_out_is_dropped(searcher: Searcher) -> None:
    limits = SearchRequest(Limits(400), restrictions=(Restriction(BLACK, frozenset({PASS})),))
    playouts = [searcher.run(Game(5), each).playouts for each in (Limits(400), limits, limits, Limits(400))]
    assert playouts[:2] == [400, 400] and playouts[2] <= 32 and playouts[3] == 400


def test_restricted_moves_are_not_searched_at_the_root_alone(searcher: Searcher) -> None:
    avoided = frozenset(move.point for move in searcher.run(Game(5), Limits(800)).moves[:3])
    for visits in (1, 800):  # one visit names what was not searched
        report = searcher.run(Game(5), SearchRequest(Limits(visits), restrictions=(Restriction(BLACK, avoided),)))
        assert report.moves and not avoided & {move.point for move in report.moves}
    assert avoided & moves_at(searcher, 2)


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_restrictions_hold_down_to_their_depth(searcher: Searcher, color: int) -> None:
    points = frozenset(p for p in range(7, 24) if p % 6)  # the middle, where most playouts go, and all above it
    searcher.run(Game(5), SearchRequest(Limits(4000), restrictions=(Restriction(color, points, 3),)))
    for depth in range(5):
        mover = BLACK if depth % 2 == 0 else WHITE
        assert (not points & moves_at(searcher, depth)) == (mover == color and depth < 3), depth


def test_the_tree_is_reused_from_move_to_move(searcher: Searcher) -> None:
    game = Game(9)
    best = searcher.run(game, Limits(1000)).moves[0]
    assert len(best.pv_position_visits) == len(best.pv)
    play_moves(game, best.pv[:2])
    report = searcher.run(game, Limits(1500))
    assert (report.visits, report.to_play) == (1500, game.to_play) and report.playouts < 1500


def test_playouts_are_those_of_this_search_only(searcher: Searcher) -> None:
    reports = [searcher.run(Game(5), Limits(playouts=count)) for count in (96, 40)]
    assert [(report.visits, report.playouts) for report in reports] == [(96, 96), (136, 40)]
    assert searcher.run(Game(5), Limits(visits=146, playouts=40)).playouts == 10


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_stones_that_matter_are_saved_and_killed(color: int) -> None:
    """The side that plays at `a` wins: three points in a row become two eyes or none, and the komi lies between.

    Values are by area only and priors equal.  A sign error would spoil one of the twins with exchanged colours.
    """
    text = ". a . X O .\nX X X X O O\nO O O O O .\n. O . O O O\nO O O O . O"
    point, twin = parse_diagram(text).marks["a"], text.translate(str.maketrans("XO", "OX"))
    for name, visits in (("puct", 2500), ("rave", 800), ("uct", 800)):
        config = Config().with_values({"search.seed": 1, "search.threads": 2, "search.search": name})
        values = []
        for diagram, to_play, komi in ((text, color, -22), (twin, 3 - color, 22)):
            made = PuctSearch(config, AreaEvaluator(batch=1)) if name == "puct" else RolloutSearch(config.search)
            with closing(made) as searching:
                report = searching.run(game_from(diagram, to_play, komi=komi), Limits(visits))
            assert report.best_point == point and report.winrate > 0.5
            values.append(report.value_black)
        assert values[0] == pytest.approx(-values[1], abs=1e-6 if name == "puct" else 0.1)


@pytest.mark.parametrize("rules", ["tromp-taylor", "aga", "new-zealand", "chinese-ogs", "chinese"])
def test_moves_that_repeat_a_position_are_searched_under_simple_ko_alone(searcher: Searcher, rules: str) -> None:
    has_superko = rules != "chinese"
    game, banned = game_with_superko(rules if has_superko else "tromp-taylor")
    game.rules = Rules.parse(rules)
    found = {move.point for move in searcher.run(game, Limits(500)).moves}
    assert (not found & set(banned)) == has_superko


@pytest.mark.parametrize("size", [(2, 2), (2, 25), (25, 25), (7, 3)])
def test_every_size_can_be_searched(searcher: Searcher, size: tuple[int, int]) -> None:
    assert searcher.run(Game(*size), Limits(64)).moves


def test_a_search_with_every_move_left_out_ends(searcher: Searcher) -> None:
    report = searcher.run(Game(5), SearchRequest(Limits(10**6), restrictions=(Restriction(BLACK, EVERYTHING),)))
    assert report.moves == () and report.visits < 1000


@pytest.mark.parametrize(
    ("restrictions", "depths"),
    [
        ([], {}),
        ([(BLACK, {5, PASS}, 1)], {(BLACK, 5): 1, (BLACK, PASS): 1}),
        ([(WHITE, {5}, 3), (BLACK, {5}, 2)], {(WHITE, 5): 3, (BLACK, 5): 2}),
        ([(BLACK, {5, 6}, 3), (BLACK, {5}, 1)], {(BLACK, 5): 1, (BLACK, 6): 3}),
        ([(BLACK, {5}, 1), (BLACK, {5, 6}, 3)], {(BLACK, 5): 3, (BLACK, 6): 3}),
    ],
)
def test_the_last_restriction_holds(
    restrictions: list[tuple[int, set[int], int]], depths: dict[tuple[int, int], int]
) -> None:
    expected = np.zeros((3, 8), dtype=np.int32)
    for place, depth in depths.items():
        expected[place] = depth
    given = [Restriction(color, frozenset(points), depth) for color, points, depth in restrictions]
    np.testing.assert_array_equal(avoid_until_depths(given, 8), expected)


@pytest.mark.parametrize(
    ("visits", "color", "winrate"),
    [(FEW_VISITS - 1, BLACK, 0.6), (FEW_VISITS, BLACK, 0.8), (FEW_VISITS - 1, WHITE, 0.4), (FEW_VISITS, WHITE, 0.2)],
)
def test_the_winrate_is_that_of_the_best_move_once_it_has_visits(visits: int, color: int, winrate: float) -> None:
    drawn, best = (MoveReport(11, visits, value, value_black=value, selection_weight=value) for value in (0.1, 0.6))
    report = SearchReport(color, 100, 100, 1.0, (drawn, best), 0, np.zeros(0), value_black=0.2)
    assert report.winrate == pytest.approx(winrate)
    assert SearchReport(color, 1, 1, 1.0, (), 0, np.zeros(0), value_black=1.5).winrate == float(color == BLACK)


def test_results_are_seen_by_either_colour_and_completed_without_a_score() -> None:
    black, white = {"lead": 3.0, "score": 2.0, "utility": 0.5}, {"lead": -3.0, "score": -2.0, "utility": -0.5}
    facts = {f"{name}_black": value for name, value in black.items()} | {"value_black": 0.5}
    move = MoveReport(11, 9, 0.0, lcb=0.75, utility_lcb=0.125, **facts)
    assert [move.seen_by(color) for color in (BLACK, "w")] == [Outlook(0.75, **black), Outlook(0.25, **white)]
    assert [move.bounds_seen_by(color, WHITE) for color in ("W", BLACK)] == [(0.75, 0.125), (0.25, -0.125)]
    game, owners = Game(5, rules="tromp-taylor", komi=1.5), np.zeros(43)
    owners[[8, 9, 14]] = 1.0
    plain = SearchReport(BLACK, 9, 9, 1.0, (move,), 9, owners, beside_area_black=0.5, **facts)
    found = completed(replace(plain, retrospect=move), game)
    for each in (found, found.retrospect, *found.moves):
        assert each is not None and (each.lead_black, each.score_black) == (2.0, 2.0)
    assert completed(replace(plain, ownership_samples=0), game).lead_black == 0.0


CONFIG = Config().with_values({"search.seed": "1"})


def positions(size: int = 5, count: int = 4) -> list[tuple[Game, int]]:
    """Return positions after 0, 1, 2 … moves."""
    game, found = Game(size, size, komi=0.5), []
    for vertex in ["C3", "B2", "D4", "B4", "D2", "C4"][:count]:
        found.append((game.copy(), game.to_play))
        game.play(vertex)
    return found


def alone(games: list[tuple[Game, int]], visits: int, **facts: Any) -> list[object]:
    found = []
    for game, color in games:
        search = PuctSearch(CONFIG, AreaEvaluator(**facts))
        report = search.run(game, Limits(visits), to_play=color)
        search.close()
        found.append([(move.point, move.visits, move.value_black, move.pv) for move in report.moves])
    return found


@pytest.mark.parametrize("facts", [{}, {"batch": 1, "files": (Path(__file__),)}], ids=["any", "fast_alone"])
def test_every_search_finds_what_it_would_find_alone(facts: dict[str, Any]) -> None:
    evaluator = AreaEvaluator(**facts)
    reports = JointSearch(CONFIG, evaluator, 4).run(positions(), Limits(40))
    assert [report.visits for report in reports] == [40] * 4
    found = [[(move.point, move.visits, move.value_black, move.pv) for move in report.moves] for report in reports]
    assert found == alone(positions(), 40, **facts)
    assert len(evaluator.asked) < 0.4 * sum(evaluator.asked), "calls hold leaves of several searches"


def test_it_repeats_itself_whatever_was_searched_before() -> None:
    search = JointSearch(CONFIG, AreaEvaluator(), 4)
    first = search.run(positions(), Limits(30))
    search.run(positions(7, 3), Limits(10))
    again = search.run(positions(), Limits(30))
    assert [report.moves for report in again] == [report.moves for report in first]


def test_positions_under_different_komi_are_not_evaluated_together_and_the_side_to_play_may_be_given() -> None:
    games = [(Game(5, 5, komi=komi), color) for color in (1, 2) for komi in (0.5, 0.5, 20.5)]
    reports = JointSearch(CONFIG, AreaEvaluator(), 6).run(games, Limits(8))
    assert reports[0].lead_black == reports[1].lead_black > reports[2].lead_black + 15
    assert [report.to_play for report in reports] == [1, 1, 1, 2, 2, 2]


def test_a_watcher_ends_all_searches() -> None:
    evaluator = AreaEvaluator()
    limits = Limits(watcher=lambda progress: len(evaluator.asked) > 6)
    reports = JointSearch(CONFIG, evaluator, 4).run(positions(), limits)
    assert all(1 <= report.visits < 60 for report in reports)


def test_an_error_of_the_evaluator_reaches_the_caller() -> None:
    evaluator = AreaEvaluator()
    evaluator.watch = lambda request: 1 / 0
    with pytest.raises(ZeroDivisionError):
        JointSearch(CONFIG, evaluator, 2).run(positions(count=2), Limits(8))


TRIPLE_KO = """
    . O X X O O X .
    O O X O . O X X
    . O X X O O X .
    O O X . X O X X
    . O X X O O X .
    O O X . X O X X
    . O X X O O X .
"""
"""White is to play, and the four chains in the middle live as long as both sides take one ko after the other."""

LAP = ("D2", "E6", "D4", "E2", "D6", "E4")

BLACK_WINS, WHITE_WINS = -40.5, 40.5
"""Komi with which one side wins even without its stones in the middle."""


def triple_ko(moves: int, komi: float, rules: str = "chinese") -> Game:
    """Return a game after so many moves of the cycle."""
    game = game_from(TRIPLE_KO, WHITE, rules, komi)
    for number in range(moves):
        game.play(LAP[number % 6])
    return game


def found(game: Game, vertex: str) -> tuple[SearchReport, int]:
    """Return a search of `game`, and the point of a vertex."""
    return search(game, 60, AreaEvaluator()), parse_vertex(vertex, width=game.width, height=game.height)


@pytest.mark.parametrize(("moves", "komi"), [(11, BLACK_WINS), (12, WHITE_WINS), (17, BLACK_WINS)])
def test_the_winner_leaves_a_cycle_that_would_end_without_result(moves: int, komi: float) -> None:
    report, repeating = found(triple_ko(moves, komi), LAP[moves % 6])
    (cycle,) = [move for move in report.moves if move.point == repeating]
    assert (cycle.no_result, cycle.value_black) == (1.0, 0.0)
    assert report.best_point != repeating
    assert report.winrate > 0.8


@pytest.mark.parametrize(("moves", "komi"), [(11, WHITE_WINS), (12, BLACK_WINS)])
def test_the_loser_goes_on_with_the_cycle(moves: int, komi: float) -> None:
    report, repeating = found(triple_ko(moves, komi), LAP[moves % 6])
    assert report.best_point == repeating
    assert report.winrate == 0.5


@pytest.mark.parametrize(("moves", "more", "count"), [(5, (), 6), (6, ("pass", "pass", *LAP[:5]), 1 + 5)])
def test_two_occurrences_are_no_cycle_and_a_pass_begins_the_count_again(
    moves: int, more: tuple[str, ...], count: int
) -> None:
    game = play_moves(triple_ko(moves, BLACK_WINS), more)
    report, repeating = found(game, "E4")
    assert all(move.no_result < 1.0 for move in report.moves if move.point == repeating)
    assert len(game.keys_since_pass()) == count
