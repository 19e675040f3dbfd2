"""The root of a network search: noise, temperature, symmetric moves, the end of a game, ownership."""

from collections.abc import Iterator
from contextlib import closing
from itertools import product
from math import log

import numpy as np
import pytest
from board_helpers import play_moves
from fake_evaluators import FakeEvaluator, rows_of
from puct_support import (
    PLAIN,
    AreaEvaluator,
    PassingEvaluator,
    Searching,
    ShapedEvaluator,
    config,
    game_from,
    search,
    store_of,
    tried_edges,
    visits_of,
)

from gtp_engine import Game, Rules, parse_vertex
from gtp_engine.evaluation.evaluator import AS_TRAINED, Request
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.search.limits import FirstMove, Limits, Progress, SearchRequest
from gtp_engine.search.puct import root as roots
from gtp_engine.search.puct.choose import RootMoves, chances, draw, passes_too_early, pruned
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.puct.tree import LEAD, MEAN_COLUMNS, ROOT, SCORE, UTILITY, VALUE, WEIGHT, Tree
from gtp_engine.search.report import FEW_VISITS, MoveReport


def points(game: Game, *vertices: str) -> list[int]:
    return [parse_vertex(vertex, width=game.width, height=game.height) for vertex in vertices]


# --- noise and temperature


def test_noise_is_shared_half_evenly_half_by_log_probability() -> None:
    prior = np.array([0.5, 0.4, 0.0999, 0.0001, 0.0])
    shares = roots.noise_shares(prior)
    assert shares.sum() == pytest.approx(1)
    assert shares[-1] == pytest.approx(0.1)
    assert shares[0] == shares[1] > shares[3]
    assert roots.noise_shares(np.full(4, 0.25)) == pytest.approx(np.full(4, 0.25))


def test_noise_and_temperature_leave_a_policy_of_the_legal_moves() -> None:
    game, legal = Game(9), np.array([11, 13, 57, PASS], dtype=np.int16)
    policy = np.zeros(100, dtype=np.float32)
    policy[legal] = [0.6, 0.3, 0.1, 0.0]
    random = np.random.default_rng(1)
    assert np.array_equal(roots.root_policy(policy, legal, config().puct, game, random), policy)
    for values in ({"root_temperature": 2}, {"root_temperature": 1, "root_temperature_early": 2}):
        flat = roots.root_policy(policy, legal, config(**values).puct, game, random)
        assert flat[legal] == pytest.approx(np.sqrt([0.6, 0.3, 0.1, 0.0]) / np.sqrt([0.6, 0.3, 0.1]).sum())
    noisy = [roots.root_policy(policy, legal, config(root_noise=True).puct, game, random) for _ in range(200)]
    assert all(changed.sum() == pytest.approx(1, abs=1e-5) for changed in noisy)
    assert not any(np.delete(changed, legal).any() for changed in noisy)
    assert np.std([changed[11] for changed in noisy]) > 0.02
    expected = 0.75 * policy[legal] + 0.25 * roots.noise_shares(policy[legal].astype(float))
    assert np.mean(noisy, axis=0)[legal] == pytest.approx(expected, abs=0.02)


def test_early_values_decay_with_the_moves_sooner_on_small_boards() -> None:
    for width, height, halflife in ((19, 19, 10), (9, 9, 10 * 9 / 19), (16, 9, 10 * 12 / 19)):
        game = Game(width, height)
        values = []
        for _ in range(20):
            values.append(roots.early_value(config(temperature_halflife=10).puct, game, early=1.0, late=0.2))
            game.play(game.legal_points()[0])
        assert values[0] == 1.0
        assert values[10] == pytest.approx(0.2 + 0.8 * 0.5 ** (10 / halflife))
    game = Game(19)
    game.set_handicap(points(game, "D4", "Q16", "D16", "Q4"))  # which count as moves
    assert roots.early_value(config(temperature_halflife=4).puct, game, early=1.0, late=0.0) == pytest.approx(0.5)


def test_moves_are_drawn_with_the_power_of_their_weights() -> None:
    random = np.random.default_rng(3)
    weights = np.array([40.0, 20.0, 0.0])
    assert draw(weights, 0.0, 1.0, random) == 0
    drawn = np.bincount([draw(weights, 0.5, 1.0, random) for _ in range(2000)], minlength=3) / 2000
    assert drawn == pytest.approx([0.8, 0.2, 0.0], abs=0.03)
    assert draw(np.zeros(2), 1.0, 1.0, random) == 0


@pytest.mark.parametrize(
    ("temperature", "below", "expected"),
    [
        (1.0, 1.0, [50, 30, 16, 4]),
        (0.5, 1.0, [2500, 900, 256, 16]),
        # Relative to the best move 1, 0.6, 0.32, 0.08, the threshold is 0.2 · 100 / 50 = 0.4; below it 0.4 (w / 0.4)².
        (0.5, 0.2, [1, 0.6, 0.256, 0.016]),
        (2.0, 0.2, [1, 0.6, 0.4 * 0.8**0.5, 0.4 * 0.2**0.5]),
        (0.0, 0.2, [1, 0.6, 0, 0]),
        (0.0, 0.16, [1, 0.6, 0.32, 0]),
        (0.5, 0.0, [50, 30, 16, 4]),
    ],
)
def test_a_temperature_may_apply_to_unlikely_moves(temperature: float, below: float, expected: list[float]) -> None:
    weights = np.array([50.0, 30.0, 16.0, 4.0])
    assert chances(weights, temperature, below) == pytest.approx(np.array(expected) / sum(expected))


def test_few_visits_are_pruned_or_subtracted_before_a_move_is_drawn() -> None:
    """Both amounts are at most a 64th of the best move's visits: 2 here."""
    weights = np.array([128.0, 64.0, 2.0, 1.5, 1.0, 0.5])
    assert pruned(weights, config().puct).tolist() == [128, 64, 2, 1.5, 1, 0]
    assert pruned(weights, config(choice_prune=1.5).puct).tolist() == [128, 64, 2, 1.5, 0, 0]
    assert pruned(weights, config(choice_prune=100).puct).tolist() == [128, 64, 2, 0, 0, 0]
    assert pruned(weights, config(choice_prune=0, choice_subtract=1).puct).tolist() == [127, 63, 1, 0.5, 0, 0]
    assert pruned(weights, config(choice_prune=1.5, choice_subtract=9).puct).tolist() == [126, 62, 0, 0, 0, 0]


def test_the_move_of_a_single_visit_is_drawn_from_the_policy() -> None:
    limits = SearchRequest(Limits(1), first_move=FirstMove.DRAWN)
    best = {
        search(Game(7), limits, ShapedEvaluator(), temperature=1, temperature_early=1, seed=seed).best_point
        for seed in range(12)
    }
    assert len(best) > 2
    assert len({search(Game(7), 1, ShapedEvaluator(), seed=seed).best_point for seed in range(12)}) == 1


def test_a_temperature_varies_the_move_and_nothing_else() -> None:
    plain, drawn = search(Game(5), 120, ShapedEvaluator()), set()
    assert plain.moves[0].visits >= FEW_VISITS
    for seed in range(8):
        limits = SearchRequest(Limits(120), first_move=FirstMove.DRAWN)
        report = search(Game(5), limits, ShapedEvaluator(), temperature=2, temperature_early=2, seed=seed)
        drawn.add(report.best_point)
        assert sorted(visits_of(report)) == sorted(visits_of(plain))
        assert report.winrate == plain.winrate
    assert len(drawn) > 2


@pytest.mark.parametrize("first_move", [FirstMove.BEST, FirstMove.LIKELIEST])
@pytest.mark.parametrize("values", [{"temperature": 2, "temperature_early": 2}, {"temperature_below": 0.5}])
def test_only_a_move_to_play_is_drawn(first_move: FirstMove, values: dict[str, float]) -> None:
    """Reviews, analyses and confirmations of the game's end used to draw their best move as well."""
    plain, request = search(Game(5), 60, ShapedEvaluator()), SearchRequest(Limits(60), first_move=first_move)
    for seed in range(8):
        report = search(Game(5), request, ShapedEvaluator(), seed=seed, **values)
        assert [move.point for move in report.moves] == [move.point for move in plain.moves]


def test_wide_root_noise_makes_an_analysis_explore_more_moves() -> None:
    def tried(noise: float) -> int:
        request = SearchRequest(Limits(400), wide_root_noise=noise)
        return len(search(Game(9), request, FakeEvaluator(), symmetry_pruning=False).moves)

    assert tried(0.0) < tried(0.1) < tried(1.0)


def test_options_of_the_network_reach_it() -> None:
    evaluator = ShapedEvaluator()
    search(Game(7), 9, evaluator)
    search(Game(7), 9, evaluator, policy_temperature=1.5, suicide_area="true")
    assert {(each.temperature, each.suicide_area) for each in evaluator.options} == {(1.0, AS_TRAINED), (1.5, 1)}


@pytest.mark.parametrize(("ignores", "version", "first"), [(False, 8, 2), (True, 8, 0), (True, 0, 2), (True, None, 0)])
def test_an_analysis_ignores_the_moves_before_the_root(ignores: bool, version: int | None, first: int) -> None:
    """But networks of other kinds than KataGo's (version 0) have always seen them."""
    game = play_moves(Game(7), "C3 E5")
    evaluator = ShapedEvaluator(model_version=version)
    lengths: list[int] = []  # of the histories of all positions that are evaluated
    evaluator.watch = lambda request: lengths.extend(np.count_nonzero(request.positions.colors[: request.rows], axis=1))
    search(game, SearchRequest(Limits(30), ignores_history=ignores), evaluator)
    root, *leaves = lengths
    assert root == first and min(leaves) == first + 1 and max(leaves) > first + 1
    lengths.clear()
    search(game, 30, evaluator, ignore_all_history=True)
    assert version == 0 or set(lengths) == {0}


@pytest.mark.parametrize(("retaken", "banned"), [(EMPTY, {BLACK, WHITE}), (BLACK, {BLACK}), (WHITE, {WHITE})])
def test_a_ko_that_one_side_takes_may_be_retaken_at_once(retaken: int, banned: set[int]) -> None:
    """As if that side's opponent had any number of threats."""
    found = set[int]()

    def watch(request: Request) -> None:
        rows = slice(0, request.rows)
        found.update(request.positions.to_play[rows][request.positions.forbidden[rows].any(axis=1)].tolist())

    game, evaluator = game_from(". X O .\nX . X O\n. X O .\n. . . .", WHITE, "chinese"), AreaEvaluator()
    evaluator.watch = watch
    search(game, SearchRequest(Limits(300), retaken=retaken), evaluator)
    assert found == banned


def test_entropy_and_surprise_are_told_to_the_watcher() -> None:
    found: list[Progress] = []
    game, limits = Game(5), Limits(40, watcher=lambda progress: bool(found.append(progress)))
    settings = config(eval_batch=1).with_values({"time.obvious_share": 0.5})
    searcher = PuctSearch(settings, ShapedEvaluator())
    report = searcher.run(game, limits)
    searcher.close()
    assert report.raw is not None and found[-1].entropy is not None
    policy = [float(share) for share in report.raw.policy if share > 0]
    assert found[-1].entropy == pytest.approx(-sum(share * log(share) for share in policy), rel=1e-5)
    assert 0 <= found[-1].surprise < log(26)
    search(game, limits)
    assert found[-1].entropy is None


def test_a_tree_is_not_shared_by_searches_with_and_without_history() -> None:
    with Searching(FakeEvaluator()) as searcher:
        for ignores, playouts in ((True, 20), (True, 0), (False, 20), (True, 20)):
            assert searcher.run(Game(7), SearchRequest(Limits(20), ignores_history=ignores)).playouts == playouts


# --- useless moves


PASSES = ["pass", "C3", "pass", "D3", "pass", "C4", "pass"]


@pytest.mark.parametrize(
    ("moves", "is_pruned"),
    [
        (PASSES, True),
        (PASSES[2:], False),
        (["pass", "pass", *PASSES], True),
        (["E1", *PASSES[1:]], False),
        ([*PASSES, "D4"], False),
        ([*PASSES, "D4", "A7"], False),
    ],
)
def test_pass_alive_territory_is_left_out_when_the_opponent_only_passes(moves: list[str], is_pruned: bool) -> None:
    """White's corner lives at A1 and C1; the first move is White's."""
    game = game_from(5 * ". . . . . . .\n" + "O O O O . . .\n. O . O . . .", WHITE)
    color = WHITE
    for vertex in moves:
        game.play(vertex, color)
        color = BLACK + WHITE - color
    expected = set(points(game, "A1", "C1")) if is_pruned else set()
    assert roots.useless_points(game, color) == expected
    game.play("B4" if color == WHITE else "B5", color)
    assert roots.useless_points(game, BLACK + WHITE - color) == set(), "the other side did not only pass"


def test_useless_moves_are_not_searched() -> None:
    game = game_from(". O . O . .\nO O O O . .\n. . . . . .\n. . . . . .\n. . . . . .\n. . . . . .", BLACK)
    for vertex in ["pass", "C3", "pass", "D3", "pass", "C2", "pass"]:
        game.play(vertex, game.to_play)
    useless = set(points(game, "A6", "C6"))
    found = [
        useless & {move.point for move in search(game, 200, AreaEvaluator(), useless_pruning=is_on).moves}
        for is_on in (True, False)
    ]
    assert found == [set(), useless]


# --- neutral points under territory rules


def moves_of(*rows: tuple[int, int, float, float, float]) -> RootMoves:
    """Return root moves from point, visits, utility, score and lead, Black's."""
    means = np.zeros((len(rows), MEAN_COLUMNS))
    for mean, (_, visits, utility, score, lead) in zip(means, rows, strict=True):
        mean[[WEIGHT, UTILITY, SCORE, LEAD]] = visits, utility, score, lead
    found, visits = (np.array([row[i] for row in rows]) for i in (0, 1))
    none = np.zeros(len(rows))
    return RootMoves(found, found, none, visits, means, none, none)


@pytest.mark.parametrize(
    ("visits", "utility", "score", "lead", "owned", "is_early"),
    [
        (21, 0.0, 3.0, 3.0, 0.0, True),  # more than twice the root of the pass's 100 visits
        (20, 0.0, 3.0, 3.0, 0.0, False),
        (21, -0.09, 2.6, 2.6, 0.0, True),
        (21, -0.11, 3.0, 3.0, 0.0, False),
        (21, 0.0, 2.4, 3.0, 0.0, False),
        (21, 0.0, 3.0, 2.4, 0.0, False),
        (21, 0.0, 3.0, 3.0, -0.96, False),  # in the opponent's territory
        (21, 0.0, 3.0, 3.0, 0.96, True),
    ],
)
@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_a_pass_waits_for_moves_that_are_as_good(
    visits: int, utility: float, score: float, lead: float, owned: float, is_early: bool, color: int
) -> None:
    sign = 1 if color == BLACK else -1
    point, stride = 45, 10
    ownership = np.zeros(111, dtype=np.float32)
    ownership[point] = sign * owned
    move = (point, visits, sign * utility, sign * score, sign * lead)
    passing = (PASS, 100, 0.0, sign * 3.0, sign * 3.0)
    assert passes_too_early(moves_of(move, passing), color, ownership, stride) is is_early
    for untried in ((), ((PASS, 0, *passing[2:]),)):
        assert not passes_too_early(moves_of(move, *untried), color, ownership, stride)
    much = [
        (point, number, *move[2:]) for number in (500, 501)
    ]  # of a pass with a million visits, and enough by itself
    found = [passes_too_early(moves_of(each, (PASS, 10**6, *passing[2:])), color, ownership, stride) for each in much]
    assert found == [False, is_early or visits == 20]
    ownership[point - stride] = sign
    if owned < 0.0:
        assert passes_too_early(moves_of(move, passing), color, ownership, stride), "beside the player's own"


def test_neutral_points_come_before_passes_under_territory_rules_only() -> None:
    """To this evaluator no move matters; its policy, and that of people, prefers to pass."""
    found, indifferent = {}, {"ending_bonus": 0, "static_score_weight": 0, "dynamic_score_weight": 0}
    passing, asked = PassingEvaluator(scale=1e9), SearchRequest(Limits(80), first_move=FirstMove.LIKELIEST)
    for rules, fill_dame, people in product(("japanese", "chinese"), (True, False), (None, passing)):
        settings = config(fill_dame=fill_dame, **indifferent).with_values({"human.human_move_share": 1.0})
        with closing(PuctSearch(settings, passing, people)) as searcher:
            report = searcher.run(game_from("X X . O O\n" * 5, rules=rules, komi=0), asked)
            found[rules, fill_dame, people is None] = report.best_point != PASS, report.position_results.lead_black
    for is_alone in (True, False):
        (fills, lead), (waits, other) = (found["japanese", each, is_alone] for each in (True, False))
        assert fills and not waits and lead != other, "a pass that is ruled out does not count for the results either"
        assert found["chinese", True, is_alone] == found["chinese", False, is_alone]


# --- symmetric moves


@pytest.mark.parametrize(
    ("width", "height", "stones", "mirrors", "left"),
    [
        (5, 5, "", 7, 6),
        (5, 4, "", 3, 6),
        (5, 5, "C3", 7, 5),
        (5, 5, "C4", 1, 14),
        (5, 5, "B4", 1, 14),
        (5, 5, "B3 D3", 3, 8),
        (5, 5, "B1 C4", 0, 23),
    ],
)
def test_one_of_each_kind_of_moves_is_left(width: int, height: int, stones: str, mirrors: int, left: int) -> None:
    game = Game(width, height, Rules.parse("chinese"))
    for vertex in stones.split():
        game.play(vertex, BLACK)
    found = roots.mirrors_of(game, rows_of([game]))
    assert len(found) == mirrors
    for color in (BLACK, WHITE):
        assert len(game.legal_points()) - len(roots.duplicates(game, color, found)) == left
    if not stones:
        half_turn, of_black = roots.mirror(3, width, height), roots.duplicates(game, BLACK, found)
        assert parse_vertex(f"{'ABCDEFGHJ'[width - 1]}{height}", width=width, height=height) not in of_black
        assert {half_turn[point] for point in of_black} == roots.duplicates(game, WHITE, found)


def test_no_moves_are_mirrored_while_a_ko_is_fought() -> None:
    game = game_from(". X O .\nX . X O\n. X O .\n. . . .", WHITE, rules="chinese")
    game.play("B3")
    assert roots.mirrors_of(game, rows_of([game])) == []


def test_black_begins_on_the_right_and_mirrored_moves_are_reported() -> None:
    game = Game(9)
    with Searching(FakeEvaluator()) as searcher:
        report = searcher.run(game, SearchRequest(Limits(300), move_ownership=True))
    searched = [move for move in report.moves if move.symmetry_of is None]
    reported = {move.point: move for move in report.moves}
    assert len(reported) == len(report.moves)
    assert sum(move.visits for move in searched) == 299
    assert all(move.point % 10 >= 5 for move in searched if move.point != PASS)
    for move in report.moves:
        if move.symmetry_of is not None:
            original = reported[move.symmetry_of]
            assert (move.visits, move.pv_visits) == (original.visits, original.pv_visits)
            assert move.pv[0] == move.point
            for field in ("ownership_black", "ownership_stdev"):
                assert getattr(move, field)[move.point] == getattr(original, field)[original.point]
                assert sorted(getattr(move, field)) == sorted(getattr(original, field))
            play_moves(game.copy(), move.pv)


@pytest.mark.parametrize("graph_search", [False, True])
@pytest.mark.parametrize("subtree_bias", [0, 0.45])
def test_a_reused_tree_forgets_the_moves_that_mirror_others(graph_search: bool, subtree_bias: float) -> None:
    game = Game(5)
    options = {"graph_search": graph_search, "subtree_bias": subtree_bias, "noise_pruning_scale": 0}
    with Searching(FakeEvaluator(), **options) as searcher:
        searcher.run(game, Limits(2000))
        game.play("C3")
        report = searcher.run(game, Limits(600))
        assert report.playouts < 600
        searched = [move for move in report.moves if move.symmetry_of is None]
        assert (report.visits, sum(move.visits for move in searched)) == (600, 599)
        tree = store_of(searcher).tree
        assert report.weight == pytest.approx(tree.own[ROOT, WEIGHT] + sum(move.weight for move in searched))


# --- the results of the root


def test_the_position_counts_its_moves_as_they_are_chosen() -> None:
    """The plain mean depends on how much was explored in vain; KataGo reports this one as rootInfo."""
    with Searching(FakeEvaluator(), lcb=False) as searcher:
        report = searcher.run(Game(5), Limits(300))
        own = store_of(searcher).tree.own[ROOT].astype(float)
    searched = [move for move in report.moves if move.symmetry_of is None]
    total = own[WEIGHT] + sum(move.selection_weight for move in searched)
    found = report.position_results
    for name, column in (("value_black", VALUE), ("utility_black", UTILITY), ("lead_black", LEAD)):
        mean = own[column] * own[WEIGHT] + sum(move.selection_weight * getattr(move, name) for move in searched)
        assert getattr(found, name) == pytest.approx(mean / total)
    assert abs(found.value_black - report.value_black) > 0.01
    assert found.score_stdev > 0


def test_the_preference_for_lower_bounds_does_not_count_for_the_position() -> None:
    reports = [search(Game(5), 300, FakeEvaluator(), lcb=lcb) for lcb in (False, True)]
    assert reports[0].position_results == reports[1].position_results
    assert [move.selection_weight for move in reports[0].moves] != [move.selection_weight for move in reports[1].moves]


# --- the end of a game


SETTLED = """
    . . X O .
    . . X O .
    X X X O O
    . . X O .
    . . X O .
"""


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_moves_that_change_nothing_get_a_penalty(color: int) -> None:
    for rules, of_pass, after_a_pass in (("chinese", 0, 0), ("aga-button", -1 / 4, 0), ("japanese", -1 / 3, -1 / 3)):
        game = game_from(SETTLED, color, rules)
        board = game.board.color
        ownership = ((board < 3) * np.where(np.arange(board.size) % 6 <= 3, 1, -1)).astype(np.float32)
        held = roots.ending_points(game, color, ownership, 0.5)
        black = points(game, "A5", "B5", "A4", "B4", "A1", "B1", "A2", "B2")
        white = points(game, "E5", "E4", "E2", "E1")
        assert all(held[point] == -0.5 for point in black + white)
        assert held[PASS] == pytest.approx(of_pass)
        assert not roots.ending_points(game, color, ownership * 0.9, 0.5)[white if color == BLACK else black].any()
        game.play(PASS)
        assert roots.ending_points(game, color, ownership, 0.5)[PASS] == pytest.approx(after_a_pass)


def test_moves_that_touch_or_capture_the_opponent_get_no_penalty() -> None:
    game = game_from(". O . X .\nX X X X .\n. . . . .\n. . . . .\n. . . . .", BLACK, "chinese")
    ownership = np.where(game.board.color < 3, 1, 0).astype(np.float32)
    held = roots.ending_points(game, BLACK, ownership, 0.5)
    assert [held[point] for point in points(game, "A5", "C5", "E5", "C1")] == [0, 0, -0.5, -0.5]
    held = roots.ending_points(game, WHITE, ownership, 0.5)
    assert held[points(game, "A5")[0]] == -0.5
    apart = game_from("X . X . .\n" + 4 * ". . . . .\n", BLACK, "chinese")
    held = roots.ending_points(apart, BLACK, np.where(apart.board.color < 3, 1, 0).astype(np.float32), 0.5)
    assert [held[point] for point in points(apart, "B5", "D5")] == [0, -0.5], "connecting two chains may be needed"
    captured = game_from("X O .\n. O .\n. . .", WHITE, "chinese")
    mine = np.where(captured.board.color < 3, 1, 0).astype(np.float32)
    assert roots.ending_points(captured, WHITE, mine, 0.5)[points(captured, "A2")[0]] == 0


def test_moves_with_a_penalty_are_searched_less() -> None:
    class Settled(AreaEvaluator):
        """Evaluates every point as Black's, and every move alike."""

        def write_values(self, board, color, conditions, out, row):
            super().write_values(board, color, conditions, out, row)
            out.ownership_black[row, board.color < 3] = 1
            out.win_black[row], out.loss_black[row], out.score_black[row] = 1, 0, 20

    game = game_from(". . . . .\n. . . . .\n. . O . .\n. . . . .\n. . X . .", BLACK, "chinese")
    touching = points(game, "C4", "B3", "D3", "C2")
    assert search(game, 100, Settled()).best_point in touching
    assert search(game, 100, Settled(), ending_bonus=0).best_point not in touching


# --- ownership


@pytest.mark.parametrize("visits", [1, 2, 60, 500])
def test_ownership_weighs_children_by_the_squares_of_their_weights(visits: int) -> None:
    """KataGo's weights, for the position and below each move, against a slow oracle; ends of games have no part."""
    with Searching(AreaEvaluator(), **PLAIN) as searcher:
        game = Game(4)
        report = searcher.run(game, SearchRequest(Limits(visits), move_ownership=True))
        tree = store_of(searcher).tree
        parts = {(): list(parts_of(tree, ROOT, game)), **{(m.point,): parts_after(tree, game, m) for m in report.moves}}
    check_ownership(report.ownership_black, report.ownership_stdev, parts[()])
    assert report.ownership_samples == visits
    for move in report.moves if visits > 1 else ():
        check_ownership(move.ownership_black, move.ownership_stdev, parts[(move.point,)])


Part = tuple[Game, float]


def parts_after(tree: Tree, game: Game, move: MoveReport) -> list[Part]:
    """Return the parts of the ownership below a move of the root."""
    edge = next((e for e in tried_edges(tree, ROOT) if tree.move[e] == move.point), None)
    return [] if edge is None else list(parts_of(tree, int(tree.child[edge]), played(game, move.point)))


def parts_of(tree: Tree, node: int, game: Game, part: float = 1.0, least: float = 0.0) -> Iterator[Part]:
    """Yield the positions at and below a node with their parts of its ownership."""
    least = least or 0.5 / int(tree.visits[node]) ** 0.75
    edges = tried_edges(tree, node) if part >= least else range(0)
    weights = [float(tree.mean[tree.child[edge], WEIGHT]) for edge in edges]
    below = part * sum(weights) / (sum(weights) + float(tree.own[node, WEIGHT]))
    own = part - below
    for edge, weight in zip(edges, weights, strict=True):
        share = below * weight**2 / sum(each**2 for each in weights)
        after = played(game, int(tree.move[edge]))
        if share < least / 100 or after.is_over:
            own += share
        else:
            yield from parts_of(tree, int(tree.child[edge]), after, share, least)
    yield game, own


def played(game: Game, point: int) -> Game:
    after = game.copy()
    after.play(point)
    return after


def check_ownership(mean: np.ndarray | None, stdev: np.ndarray | None, parts: list[Part]) -> None:
    """Assert mean and deviation of the stones on the board, which an `AreaEvaluator` takes for the owners."""
    assert mean is not None and stdev is not None
    owned = [np.where(game.board.color == BLACK, 1.0, -1.0 * (game.board.color == WHITE)) for game, _ in parts]
    expected = sum(part * each for each, (_, part) in zip(owned, parts, strict=True))
    squares = sum(part * each**2 for each, (_, part) in zip(owned, parts, strict=True))
    assert mean == pytest.approx(expected, abs=1e-6)
    assert stdev == pytest.approx(np.sqrt(np.maximum(0.0, squares - expected**2)), abs=1e-4)


def test_moves_without_visits_have_the_results_of_the_position() -> None:
    """The analysis protocol warned that the search does not know their ownership; their lower bound was 0."""
    report = search(Game(5), SearchRequest(Limits(1), move_ownership=True), FakeEvaluator())
    assert report.raw is not None and report.position_results.value_black == report.value_black
    assert report.position_results.lead_black == report.lead_black
    for move in report.moves:
        assert move.ownership_black is not None and move.ownership_stdev is not None
        assert sorted(move.ownership_black) == pytest.approx(sorted(report.ownership_black), abs=1e-6)
        assert move.lcb == pytest.approx(report.raw.winrate_black - 5)
    assert search(Game(5), 1, FakeEvaluator()).moves[0].ownership_black is None


def test_no_ownership_is_reported_without_the_evaluators() -> None:
    evaluator = FakeEvaluator(has_ownership=False)
    report = search(Game(9), SearchRequest(Limits(30), move_ownership=True), evaluator)
    assert report.ownership_stdev is None
    assert report.ownership_samples == 0 and not report.ownership_black.any()
    assert all(move.ownership_black is None and move.ownership_stdev is None for move in report.moves)


def test_ownership_of_moves_is_collected_on_request_even_later() -> None:
    with Searching(FakeEvaluator()) as searcher:
        first = searcher.run(Game(5), Limits(50))
        assert all(move.ownership_black is None and move.ownership_stdev is None for move in first.moves)
        same = searcher.run(Game(5), SearchRequest(Limits(50), move_ownership=True))
        later = searcher.run(Game(5), SearchRequest(Limits(100), move_ownership=True))
    assert same.playouts == 0 and same.moves, "the tree is complete"
    for move in (*same.moves, *later.moves):
        assert move.ownership_black is not None and move.ownership_stdev is not None
