"""The kernels of the network search against a slow oracle, and the laws that their numbers obey."""

from math import inf

import numpy as np
import pytest
from board_helpers import play_moves
from fake_evaluators import FakeEvaluator, rows_of
from puct_reference import ReferenceSearch, mean_share
from puct_support import (
    PLAIN,
    PLAYED_OUT,
    PassingEvaluator,
    Searching,
    ShapedEvaluator,
    compare,
    config,
    game_from,
    lines_to,
    rows_under_way,
    run,
    search,
    store_of,
)
from superko_games import game_with_superko

from gtp_engine import Evaluator, EvaluatorInfo, Game, Rules
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import GOES_ON, IS_OVER, conditions_of_row, new_positions, view_board
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.constants import BLACK, NULL_POINT, PASS, WHITE
from gtp_engine.search.limits import Limits, Restriction, RootPosition, SearchRequest
from gtp_engine.search.puct import tree as trees
from gtp_engine.search.puct.choose import root_moves, selection_weights
from gtp_engine.search.puct.expected_line import write_line
from gtp_engine.search.puct.leaves import EVALUATE
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.puct.root import new_root, params_of, score_center
from gtp_engine.search.puct.utility import evaluation_weight, expected_score_value, score_utility, utility_per_point

# --- the oracle


CASES = {
    "as configured": {},
    "plain": PLAIN,
    "another exploration": {"c_puct": 2.0, "c_puct_log": 1.5, "c_puct_base": 20, "fpu_reduction": 0.5},
    "another utility": {"static_score_weight": 0.5, "dynamic_score_weight": 0, "uncertainty_exponent": 0.5},
    "another result": {"win_weight": 0.4, "no_result_utility_white": 0.7},
    "switched off": {"use_uncertainty": False, "use_noise_pruning": False},
    "other averages": {"value_weight_exponent": 0.7, "noise_pruning_scale": 0.05, "fpu_parent_power": 0},
    "a fixed mixture for untried moves": {"fpu_parent_by_policy": False, "fpu_parent_weight": 0.3},
    "untried moves as losses": {"fpu_loss": 0.1, "root_fpu_loss": 0.4},
    "untried moves as losses everywhere": {"fpu_loss": 0.2},
    "more visits of each move": {"root_child_visits": 8},
    "no visits in vain": {"futile_visits": 0.6},
    "little noise pruned": {"noise_pruning_cap": 0.1},
    "corrected evaluations": {"graph_search": False},
    "shared nodes": {"subtree_bias": 0},
    "shared nodes with corrections": {"graph_search_bound": 3},
    "other corrections": {**PLAIN, "subtree_bias": 1.0, "subtree_bias_exponent": 0.5},
}


@pytest.mark.parametrize("evaluator", [FakeEvaluator(), ShapedEvaluator()], ids=["fake", "shaped"])
@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_it_finds_the_tree_of_the_oracle(options: dict[str, object], evaluator: Evaluator) -> None:
    game = Game(4, 5, Rules.parse("tromp-taylor"), 0.5)
    game.play("B2")
    compare_with_oracle(game, evaluator, options)


def compare_with_oracle(game: Game, evaluator: Evaluator, options: dict[str, object]) -> None:
    """Compare the tree of a search with these options with the oracle's."""
    options = {"eval_batch": 1, "symmetry_pruning": False, "ending_bonus": 0, **options}
    with Searching(evaluator, **options) as searcher:
        searcher.run(game, Limits(100))
        oracle = ReferenceSearch(game, config(**options).puct, evaluator)
        oracle.run(100)
        compare(searcher, oracle.root)


@pytest.mark.parametrize("has_passed", [False, True])
@pytest.mark.parametrize(
    ("options", "komi"),
    [
        ({}, 0.5),
        ({"more_passing_hacks": False}, 0.5),
        ({"conservative_pass": False}, 0.5),
        ({"draw_wins_white": 0.9}, 2.0),  # a draw, if both pass
        ({"draw_wins_white": 0.9}, 1.5),
    ],
)
def test_at_the_end_its_tree_is_the_oracles(options: dict[str, object], komi: float, has_passed: bool) -> None:
    """Most playouts end with two passes here."""
    game = game_from("X . X O\nX X O O\n. X O .\nX X O O", WHITE, komi=komi)
    if has_passed:
        game.play(PASS)
    compare_with_oracle(game, FakeEvaluator(), options)


# --- edges


def test_the_first_untried_edge_has_the_largest_prior() -> None:
    rng = np.random.default_rng(5)
    tree = trees.new_tree(40, 100)
    tree.first_edge[trees.ROOT], tree.edges[trees.ROOT] = 1, 30
    tree.move[1:31] = range(30)
    priors = rng.permutation(30) / 100
    tree.prior[1:31] = priors
    trees.promote_untried(tree, trees.ROOT)
    for turn in range(30):
        edge = 1 + turn if turn % 3 else 1 + int(rng.integers(turn, 30))
        if turn % 3:
            assert tree.prior[edge] == tree.prior[1 + turn : 31].max()
        move = tree.move[edge]
        child = trees.try_edge(tree, trees.ROOT, edge)
        assert (tree.move[1 + turn], tree.child[1 + turn]) == (move, child)
    assert sorted(tree.move[1:31].tolist()) == list(range(30))
    assert trees.add_node(tree) == 31


# --- rows


class RowChecker(FakeEvaluator):
    """Compares every row it is given with the one that `write_game` makes of the same moves."""

    def __init__(self, game: Game) -> None:
        super().__init__(batch=3)
        self.game = game
        self.searcher: PuctSearch | None = None
        self.checked = 0

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        for leaves, row, moves in rows_under_way(self.searcher, request.positions):
            if leaves.kind[row] == EVALUATE:
                self.check(request.positions, int(leaves.slot[row]), moves)

    def check(self, positions, slot, moves) -> None:
        game, conditions = self.game.copy(), conditions_of_row(positions, slot)
        free = conditions.has_free_button
        assert conditions == conditions_of(game)._replace(passing_hacks=True)
        play_moves(game, moves)
        expected = new_positions(1, game.width, game.height)
        write_game(expected, 0, game)
        expected.button[0] = (1 if game.button_black > 0 else 2) if free and game.button_black else 0
        for name in ("to_play", "points", "colors", "forbidden", "pass_ends", "button", "hash"):
            found = getattr(positions, name)[slot]
            assert np.array_equal(found, getattr(expected, name)[0]), (name, moves, game.diagram())
        for ago in range(3):
            assert np.array_equal(view_board(positions, slot, ago).color, view_board(expected, 0, ago).color)
        self.checked += 1


GAMES = {
    "tromp-taylor": lambda: game_with_superko("tromp-taylor")[0],
    "aga": lambda: game_with_superko("aga")[0],
    "new-zealand": lambda: game_with_superko("new-zealand")[0],
    "button": lambda: Game(3, 3, Rules.parse("aga-button")),
    "japanese": lambda: Game(3, 4, Rules.parse("japanese")),
    "ko": lambda: game_from(". X O .\nX . X O\n. X O .\n. . . .", WHITE, rules="chinese"),
}


@pytest.mark.parametrize("name", GAMES)
def test_rows_equal_those_of_the_game(name: str) -> None:
    game = GAMES[name]()
    checker = RowChecker(game)
    with Searching(checker, symmetry_pruning=False) as searcher:
        checker.searcher = searcher
        searcher.run(game, Limits(500))
    assert checker.checked > 100


# --- the end of the game


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese", "aga", "aga-button", "stone-scoring", "new-zealand"])
def test_finished_games_have_the_result_that_scoring_gives(rules: str) -> None:
    """Every node where passes ended the game has the score of the game that led there.

    Where dead stones may stay on the board, it takes a third pass, and those in pass-alive territory are dead.
    """
    game, checked = game_from(". X . O\nX X O O\nX X O .\n. X O O", BLACK, rules, komi=1.0), 0
    may_stay = game.rules.friendly_pass_ok
    with Searching(PassingEvaluator(), symmetry_pruning=False) as searcher:
        store = run(searcher, game, 300)
    for node, line in lines_to(store):
        over = play_moves(game.copy(), line)
        if over.consecutive_passes >= (3 if may_stay else 2):
            dead = in_pass_alive_territory(over) if may_stay else set()
            assert store.tree.mean[node, trees.SCORE] == pytest.approx(over.score(dead).margin_black), line
            assert store.tree.state[node] != trees.EXPANDED
            checked += 1
    assert checked > 5
    if game.rules.has_button:  # which the first pass takes
        second = store.child_by_move(store.child_by_move(trees.ROOT, PASS), PASS)
        assert store.tree.state[second] == trees.EXPANDED


def in_pass_alive_territory(game: Game) -> set[int]:
    """Return the stones in the opponent's pass-alive territory."""
    owner, color = pass_alive_owners(game.board, suicide=game.rules.suicide), game.board.color
    is_dead = ((color == BLACK) & (owner == WHITE)) | ((color == WHITE) & (owner == BLACK))
    return {*np.flatnonzero(is_dead).tolist()}


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese"])
def test_a_conservative_pass_ends_no_game_at_the_root(rules: str) -> None:
    """The network is not shown that a pass would end the game; a tree from before the opponent's pass is dropped."""
    game = game_from(". X . O\nX X O O\nX X O .\n. X O O", WHITE, rules, komi=1.0)
    options = {"symmetry_pruning": False, "eval_batch": 1, "conservative_pass": True}
    evaluator = RowRecorder()
    with Searching(evaluator, **options) as searcher:
        searcher.run(game, Limits(100))
        game.play(PASS)
        evaluator.rows_seen.clear()
        assert searcher.run(game, Limits(100)).playouts == 100
        store = store_of(searcher)
        node = store.child_by_move(trees.ROOT, PASS)
        assert store.tree.state[node] == trees.EXPANDED != store.tree.state[store.child_by_move(node, PASS)]
        assert evaluator.rows_seen[0] == (GOES_ON, NULL_POINT)
        assert (IS_OVER, PASS) in evaluator.rows_seen
        assert searcher.run(game, Limits(150)).playouts == 50, "the same root again"


@pytest.mark.parametrize("conservative", [True, False])
def test_a_pass_after_the_end_of_a_game_ends_it_again(conservative: bool) -> None:
    """The search goes on from there all the same; the network is not told of passes that end nothing at the root."""
    game = play_moves(game_from(PLAYED_OUT, BLACK, "tromp-taylor", 0.5), "pass pass")
    evaluator = RowRecorder()
    with Searching(evaluator, symmetry_pruning=False, conservative_pass=conservative) as searcher:
        store = run(searcher, game, 100)
    assert bool(store.tree.state[store.child_by_move(trees.ROOT, PASS)] == trees.EXPANDED) is conservative
    assert evaluator.rows_seen[0] == ((GOES_ON, NULL_POINT) if conservative else (IS_OVER, PASS))


def test_a_search_may_let_a_pass_end_the_game_nevertheless() -> None:
    """Else a reading passes instead of taking stones that are dead only if the game goes on."""
    game = game_from(PLAYED_OUT, WHITE, "tromp-taylor", 0.5)
    game.play(PASS)
    with Searching(symmetry_pruning=False, conservative_pass=True) as searcher:
        for passes_end in (True, False):
            searcher.clear()
            searcher.run(game, SearchRequest(Limits(100), passes_end=passes_end))
            store = store_of(searcher)
            assert (store.tree.state[store.child_by_move(trees.ROOT, PASS)] == trees.EXPANDED) is not passes_end


class RowRecorder(PassingEvaluator):
    """Records of each row whether a pass ends the game, and the last move."""

    def __init__(self) -> None:
        super().__init__()
        self.rows_seen: list[tuple[int, int]] = []

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        count, ends, points = request.rows, request.positions.pass_ends, request.positions.points
        self.rows_seen += zip(ends[:count].tolist(), points[:count, 0].tolist(), strict=True)


def test_both_a_pass_and_a_move_are_searched_where_a_pass_ends_the_game() -> None:
    """The policy is almost certain of the pass, or of other moves."""
    for prior_of_pass in (0.999, 1e-6):
        evaluator = PassingEvaluator()
        evaluator.policy = lambda board, color, moves, p=prior_of_pass: np.array(  # type: ignore[method-assign]
            [p if point == PASS else (1 - p) / max(1, len(moves) - 1) for point in moves]
        )
        tried = {}
        for is_on, restricted in ((True, None), (True, WHITE), (True, BLACK), (False, None)):
            game = game_from(". X . O\nX X O O\nX X O .\n. X O O", WHITE, komi=1.0)
            game.play(PASS)
            left_out = (Restriction(restricted, frozenset({game.point("A4")}), 3),) if restricted else ()
            request = SearchRequest(Limits(4), restrictions=left_out)
            moves = search(
                game, request, evaluator, eval_batch=1, symmetry_pruning=False, more_passing_hacks=is_on
            ).moves
            tried[is_on, restricted] = {move.point == PASS for move in moves}
        both, one = {False, True}, {prior_of_pass > 0.5}
        assert tried == {(True, None): both, (True, WHITE): both, (True, BLACK): one, (False, None): one}


# --- both sides alike


@pytest.mark.parametrize("options", [{"symmetry_pruning": False}, PLAIN, {"eval_batch": 8, "symmetry_pruning": False}])
def test_exchanged_colours_give_the_same_search_with_the_other_sign(options: dict[str, object]) -> None:
    text = ". X O . .\nX . X O .\n. X O . .\n. . . . O\n. X . . ."
    for color in (BLACK, WHITE):
        found = search(game_from(text, color, komi=2.5), 150, ShapedEvaluator(), **options)
        exchanged = game_from(text.translate(str.maketrans("XO", "OX")), 3 - color, komi=-2.5)
        twin = search(exchanged, 150, ShapedEvaluator(), **options)
        assert [(m.point, m.visits, m.pv) for m in twin.moves] == [(m.point, m.visits, m.pv) for m in found.moves]
        assert twin.value_black == pytest.approx(-found.value_black)
        assert twin.score_black == pytest.approx(-found.score_black)
        assert twin.winrate == pytest.approx(found.winrate)
        assert [m.utility_lcb for m in twin.moves] == pytest.approx([m.utility_lcb for m in found.moves])
        assert [m.lcb for m in twin.moves] == pytest.approx([m.lcb for m in found.moves])
        assert np.allclose(twin.ownership_black, -found.ownership_black)


# --- numbers


def params(size: int = 19, score: float = 0.0, **values: object):
    settings, game = config(**values), Game(size)
    numbers = params_of(settings, game, SearchRequest(Limits(1)), EvaluatorInfo("", 1), has_errors=True)
    return numbers._replace(dynamic_center=score_center(settings.puct, game, score))


def test_expected_score_values_equal_fine_integration() -> None:
    for score in [-80.0, -3.0, 0.0, 0.5, 12.0, 150.0]:
        for stdev in [0.0, 1.0, 5.0, 20.0, 60.0]:
            for center, scale in ((0.0, 38.0), (5.0, 14.25), (-2.0, 4.0)):
                if stdev <= 3 * scale:
                    exact = mean_share(score, stdev, center, scale)
                    assert expected_score_value(score, stdev, center, scale) == pytest.approx(exact, abs=1e-3)


def test_the_utility_of_a_score_grows_and_is_odd() -> None:
    numbers = params(score=10.0)
    utilities = [score_utility(score, 10.0, numbers) for score in np.linspace(-100, 100, 50)]
    assert np.all(np.diff(utilities) > 0)
    assert max(map(abs, utilities)) < 0.4
    middle = params()
    assert score_utility(7.0, 10.0, middle) == pytest.approx(-score_utility(-7.0, 10.0, middle))
    puct = config(dynamic_score_zero_weight=0.2, dynamic_score_scale=0.75).puct
    assert [score_center(puct, Game(9, 16), score) for score in (10, 100, -10, -100)] == pytest.approx([8, 91, -8, -91])


def test_utility_per_point_is_the_slope() -> None:
    numbers = params(score=10.0)
    for score in (-30.0, 0.0, 10.0, 25.0):
        slope = (score_utility(score + 0.01, 0.0, numbers) - score_utility(score - 0.01, 0.0, numbers)) / 0.02
        assert utility_per_point(score, numbers) == pytest.approx(slope, rel=1e-4)


def test_certain_evaluations_count_more() -> None:
    numbers = params()
    weights = [evaluation_weight(0.0, error, 0.0, numbers) for error in (0.0, 0.1, 0.25, 0.5, 1.0)]
    assert weights == sorted(weights, reverse=True) and weights[0] == pytest.approx(8.0)
    assert weights[2] == pytest.approx(0.25 / (0.25 + 0.25 / 8))
    assert evaluation_weight(0.0, -1.0, -1.0, numbers) == 1.0
    assert evaluation_weight(0.0, 0.5, 3.0, params(uncertainty=0)) == 1.0


# --- choosing


def moves_like(visits: list[int], utilities: list[float], stdevs: list[float], **values: object):
    """Return moves and weights by `choose` for a root whose moves have these visits and utilities, for Black."""
    game = Game(5)
    with Searching(FakeEvaluator(), symmetry_pruning=False, graph_search=False, **values) as searcher:
        searcher.run(game, Limits(len(visits) + 1))
        tree, numbers = store_of(searcher).tree, params(5, **values)
        root = new_root(RootPosition(game, BLACK), rows_of([game]))
        tree.tried[trees.ROOT] = len(visits)
        for i, (count, utility, stdev) in enumerate(zip(visits, utilities, stdevs, strict=True)):
            edge = int(tree.first_edge[trees.ROOT]) + i
            if tree.child[edge] == 0:
                tree.child[edge] = trees.add_node(tree)
            node = int(tree.child[edge])
            tree.prior[edge] = 0.1
            tree.visits[node] = tree.edge_visits[edge] = count
            tree.mean[node] = 0.0
            tree.mean[node, trees.UTILITY] = utility
            tree.mean[node, trees.UTILITY + 2] = utility**2 + stdev**2
            tree.mean[node, trees.WEIGHT] = tree.mean[node, trees.WEIGHT + 2] = count
        puct = config(**values).puct
        moves = root_moves(tree, root, numbers, puct)
        weights = selection_weights(moves, tree, numbers, puct)
        line = np.zeros((3, 1), dtype=np.int64)
        write_line(tree, trees.ROOT, BLACK, (puct.lcb_stdevs, puct.lcb_min_share if puct.lcb else inf, 1.4), line)
        assert line[0, 0] == moves.points[np.argmax(weights)], "lines go on with the move that would be chosen"
        tree.tried[trees.ROOT], tree.info[0] = 0, 1
        tree.child[:] = 0
        trees.promote_untried(tree, trees.ROOT)
    return moves, weights


def test_the_move_with_the_best_lower_bound_is_preferred_if_it_has_enough_visits() -> None:
    for share, best in ((0.15, 1), (0.9, 0)):
        _, weights = moves_like([1000, 600], [0.0, 0.1], [0.5, 0.5], lcb_min_share=share)
        assert int(np.argmax(weights)) == best
    _, weights = moves_like([1000, 600], [0.0, 0.1], [0.5, 0.5], lcb=False)
    assert int(np.argmax(weights)) == 0
    _, weights = moves_like([1000, 600], [0.1, 0.0], [0.5, 0.5])
    assert int(np.argmax(weights)) == 0


def test_the_radius_falls_with_the_root_of_the_visits() -> None:
    moves, _ = moves_like([400, 1600], [0.0, 0.0], [0.4, 0.4])
    assert moves.radius == pytest.approx([5 * 0.4 / 20, 5 * 0.4 / 40], rel=0.01)
    few, _ = moves_like([1, 4], [0.0, 0.0], [0.0, 0.0])
    assert few.radius[0] > 3 * few.radius[1] > 0


def test_visits_that_would_not_be_spent_again_do_not_count() -> None:
    _, weights = moves_like([100, 60, 1], [0.3, -0.5, -0.9], [0.1, 0.1, 0.1])
    assert weights[0] >= 100 and weights[1] < 30 and weights[2] <= 1
