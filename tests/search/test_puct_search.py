"""The network search as a whole: it repeats itself exactly, keeps its tree and obeys the rules."""

from collections.abc import Callable

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator, RecordingEvaluator
from puct_support import (
    PLAIN,
    AreaEvaluator,
    Searching,
    ShapedEvaluator,
    check_tree,
    run,
    search,
    store_of,
    tried_edges,
    visits_of,
)
from signatures import PUCT_FILE, puct_signature

from gtp_engine.engine.searches import CountingEvaluator
from gtp_engine.evaluation.evaluator import (
    ALL_SYMMETRIES,
    EvaluationOptions,
    Evaluator,
    ExclusiveEvaluator,
    ForwardingEvaluator,
    Request,
)
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.limits import FirstMove, Limits, RootPosition, SearchRequest
from gtp_engine.search.puct import tree as trees
from gtp_engine.search.puct.expand import recompute_utilities
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.puct.root import params_of
from gtp_engine.search.puct.utility import score_utility

# --- it repeats itself


@pytest.mark.parametrize("pipeline", [1, 2, 3])
@pytest.mark.parametrize("batch", [1, 4, 32])
def test_a_search_with_a_seed_repeats_itself(batch: int, pipeline: int) -> None:
    options = {"eval_batch": batch, "pipeline": pipeline, "root_noise": True, "temperature": 1}
    limits = SearchRequest(Limits(300), first_move=FirstMove.DRAWN)
    reports = [search(Game(9), limits, FakeEvaluator(), **options) for _ in range(2)]
    assert visits_of(reports[0]) == visits_of(reports[1])
    assert np.array_equal(reports[0].ownership_black, reports[1].ownership_black)
    other = search(Game(9), limits, FakeEvaluator(), **options, seed=2)
    assert visits_of(other) != visits_of(reports[0])


def test_a_slow_evaluator_does_not_change_the_search() -> None:
    slow, fast = (
        search(Game(7), 60, AreaEvaluator(delay=delay), pipeline=2, in_flight_share=1) for delay in (0.002, 0.0)
    )
    assert visits_of(slow) == visits_of(fast)


@pytest.mark.parametrize(
    ("seed", "pipeline", "pairs", "most"),
    [(None, 3, True, 2), (None, 2, True, 2), (None, 1, True, 1), (None, 3, False, 1), (1, 3, True, 1)],
)
@pytest.mark.parametrize("wrapper", [ExclusiveEvaluator, CountingEvaluator, ForwardingEvaluator])
def test_two_calls_at_a_time(
    seed: int | None, pipeline: int, pairs: bool, most: int, wrapper: Callable[[Evaluator], Evaluator]
) -> None:
    """Neither with a seed, as they end in any order, nor through an evaluator that does not say so itself."""

    class Watched(AreaEvaluator):
        running = most = 0

        def evaluate(self, request: Request) -> None:
            self.running += 1
            self.most = max(self.most, self.running)
            super().evaluate(request)
            self.running -= 1

    evaluator = Watched(delay=0.002, pair_seconds=((2, 0.002),) if pairs else ())
    with Searching(wrapper(evaluator), eval_batch=2, pipeline=pipeline, in_flight_share=1) as searcher:
        searcher.set_seed(seed)
        assert searcher.run(Game(7), Limits(100)).visits == 100
    assert evaluator.most == (1 if wrapper is ForwardingEvaluator else most)


def test_the_signature_of_the_search_is_the_one_on_file() -> None:
    """A commit that changes it states this and the reason; `scripts/update_signatures` writes the file."""
    assert puct_signature() == PUCT_FILE.read_text(encoding="utf-8").strip()


# --- visits


@pytest.mark.parametrize("batch", [1, 5, 64])
@pytest.mark.parametrize("visits", [1, 2, 17, 333])
def test_visits_are_exact_and_add_up(visits: int, batch: int) -> None:
    with Searching(FakeEvaluator(), symmetry_pruning=False, eval_batch=batch, in_flight_share=1) as searcher:
        report = searcher.run(Game(9), Limits(visits))
        check_tree(searcher, repeats=False)
    assert report.visits == report.playouts == visits
    assert sum(move.visits for move in report.moves) == visits - 1


def test_with_one_visit_the_policy_plays() -> None:
    report = search(Game(5), 1, ShapedEvaluator(), symmetry_pruning=False)
    assert report.raw is not None and report.best_point == int(np.argmax(report.raw.policy))
    assert (report.best.visits, report.best.prior) == (0, pytest.approx(float(report.raw.policy.max())))


def test_few_playouts_are_under_way_while_the_root_has_few_visits() -> None:
    evaluator = FakeEvaluator()
    asked: list[tuple[int, int]] = []
    with Searching(evaluator, eval_batch=64, in_flight_share=0.25) as searcher:
        evaluate = evaluator.evaluate

        def watch(request):
            asked.append((int(store_of(searcher).tree.visits[trees.ROOT]), request.rows))
            evaluate(request)

        evaluator.evaluate = watch
        searcher.run(Game(9), Limits(500))
    assert all(count <= max(1, visits / 4) for visits, count in asked)
    assert max(count for _, count in asked) == 64


def test_a_position_is_evaluated_once_however_many_playouts_reach_it() -> None:
    """A network that knows a single good move makes every playout of a batch run into the others."""

    class Narrow(AreaEvaluator):
        def policy(self, board, color, moves):
            policy = np.full(len(moves), 1e-6)
            policy[0] = 1
            return policy

    evaluator = Narrow(batch=16)
    report = search(Game(5), 100, evaluator, in_flight_share=1, virtual_weight=0)
    assert report.visits == 100
    assert sum(evaluator.asked) <= report.nodes


# --- the tree is reused


def test_the_reused_subtree_is_unchanged() -> None:
    """The subtree of a move is the same before and after the move, except for the new evaluation of the root."""
    with Searching(FakeEvaluator(), **PLAIN) as searcher:
        game = Game(7)
        report = searcher.run(game, Limits(500))
        tree = store_of(searcher).tree
        node = store_of(searcher).child_by_move(trees.ROOT, report.best_point)
        below = outline(tree, node)
        value = tree.mean[node, trees.VALUE]
        game.play(report.best_point)
        searcher._tree.move_root(RootPosition(game.copy(), game.to_play))
        assert outline(store_of(searcher).tree, trees.ROOT) == below
        assert store_of(searcher).tree.mean[trees.ROOT, trees.VALUE] == value
        searcher.run(game, Limits(100))


def outline(tree, node: int) -> list[object]:
    first = int(tree.first_edge[node])
    edges = range(first, first + int(tree.edges[node]))
    children = [outline(tree, int(tree.child[edge])) for edge in edges if tree.child[edge]]
    moves = [(int(tree.move[edge]), float(tree.prior[edge])) for edge in edges]
    return [int(tree.visits[node]), float(tree.mean[node, trees.UTILITY]), moves, children]


def test_play_may_continue_after_the_game_is_over() -> None:
    game = Game(5)
    with Searching() as searcher:
        for _ in range(5):
            report = searcher.run(game, Limits(60))
            assert len(report.moves) > 1
            game.play(PASS)


@pytest.mark.parametrize("pipeline", [1, 2])
def test_a_full_tree_invents_no_visits(pipeline: int) -> None:
    """16 MiB hold 4,484 nodes on 19x19; visits used to be counted on without evaluations."""
    evaluator = FakeEvaluator(batch=32)
    with Searching(evaluator, max_memory=16, pipeline=pipeline) as searcher:
        report = searcher.run(Game(19), Limits(12000))
        assert report.visits == 12000
        assert report.memory <= 16
        assert evaluator.rows >= 11900  # a few games end


def test_pruning_keeps_visits_and_means() -> None:
    evaluator = FakeEvaluator(batch=8)
    with Searching(evaluator, max_memory=16) as searcher:
        store = run(searcher, Game(19), 4000)
        before, nodes = moves_of(searcher), store.used
        mean = store.tree.mean[trees.ROOT].copy()
        store.prune()
        assert store.used <= 0.5 * 4484 < nodes
        assert moves_of(searcher) == before
        np.testing.assert_array_equal(store.tree.mean[trees.ROOT], mean)
        check_tree(searcher)
        collapsed = (store.tree.state[: store.used] == trees.NEW) & (store.tree.visits[: store.used] > 1)
        assert collapsed.any()
        weights = store.tree.own[: store.used, trees.WEIGHT] * store.tree.visits[: store.used]
        np.testing.assert_allclose(
            weights[collapsed], store.tree.mean[: store.used, trees.WEIGHT][collapsed], rtol=1e-6
        )
        assert searcher.run(Game(19), Limits(9000)).visits == 9000
        # Playouts that are explored without weight do not count at the root.
        visits, store.tree.visits[trees.ROOT] = int(store.tree.visits[trees.ROOT]), 1
        store.prune()
        assert store.used <= 0.5 * 4484 and store.tree.state[trees.ROOT] == trees.EXPANDED
        store.tree.visits[trees.ROOT] = visits


def moves_of(searcher: PuctSearch) -> list[tuple[int, int, list[float]]]:
    """Return the root's tried moves with their visits and means."""
    tree = store_of(searcher).tree
    edges = tried_edges(tree, trees.ROOT)
    return [
        (int(tree.move[e]), int(tree.visits[tree.child[e]]), [float(x) for x in tree.mean[tree.child[e]]])
        for e in edges
    ]


def test_a_collapsed_node_is_expanded_again() -> None:
    plain = {"graph_search": False, "subtree_bias": 0.0, "more_passing_hacks": False}  # for which it has no room
    with Searching(FakeEvaluator(batch=8), max_memory=16, **plain) as searcher:
        tree = run(searcher, Game(9), 600).tree
        first = int(tree.first_edge[trees.ROOT])
        move, visits = int(tree.move[first]), int(tree.visits[tree.child[first]])
        smaller = trees.new_tree(tree.state.size, tree.move.size, trees.Extras(ownership=tree.owned.shape[1]))
        trees.copy_subtree(tree, trees.ROOT, smaller, np.zeros((2, 600), dtype=np.int32), visits + 1)
        store_of(searcher).tree = smaller
        child = int(smaller.child[first])
        assert (smaller.state[child], smaller.visits[child]) == (trees.NEW, visits)
        tree = run(searcher, Game(9), 1600).tree
        child = next(
            int(tree.child[e]) for e in range(first, first + int(tree.tried[trees.ROOT])) if tree.move[e] == move
        )
        assert tree.state[child] == trees.EXPANDED
        below = tree.child[tree.first_edge[child] : tree.first_edge[child] + tree.tried[child]]
        assert tree.visits[child] - tree.visits[below].sum() == visits + 1


def test_a_reused_tree_counts_points_around_the_score_expected_now() -> None:
    game = Game(9)
    with Searching(FakeEvaluator(batch=4), symmetry_pruning=False) as searcher:
        report = searcher.run(game, Limits(300))
        game.play(report.moves[0].pv[0])
        kept = searcher.run(game, Limits(report.moves[0].visits + 1))
        assert kept.playouts == 1
        tree, center = store_of(searcher).tree, searcher._tree.score_center  # type: ignore[union-attr]
        nodes = store_of(searcher).used
        own, mean = tree.own[:nodes].astype(np.float64), tree.mean[:nodes].copy()
        params = params_of(searcher.config, game, SearchRequest(Limits(1)), searcher.evaluator.info, has_errors=True)
        params = params._replace(dynamic_center=center)
        stdevs = np.sqrt(np.maximum(0.0, own[:, trees.SCORE_SQUARE] - own[:, trees.SCORE] ** 2))
        expected = [own[n, trees.VALUE] + score_utility(own[n, trees.SCORE], stdevs[n], params) for n in range(nodes)]
        np.testing.assert_allclose(own[:, trees.UTILITY], expected, atol=1e-5)
        order = np.zeros((4, nodes), dtype=np.int32)
        recompute_utilities(tree, WHITE, params, order, searcher._tree.buffers.means_work)  # type: ignore[union-attr]
        np.testing.assert_allclose(tree.mean[:nodes], mean, rtol=1e-4, atol=1e-5)


def test_a_search_that_is_resumed_is_as_if_it_had_not_ended() -> None:
    """Each part counted points around another score, and recomputed the whole tree for it."""
    reports = []
    for visits in ([400], [1, 50, 51, 200, 399, 400]):
        with Searching(FakeEvaluator(), pipeline=1, eval_batch=1) as searcher:
            for number, limit in enumerate(visits):
                report = searcher.run(Game(9), SearchRequest(Limits(limit), resumes=number > 0))
            reports.append(report)
    whole, parts = reports
    assert visits_of(whole) == visits_of(parts)
    assert whole.utility_black == parts.utility_black
    weights = [move.selection_weight for move in whole.moves]
    assert weights == sorted(weights, reverse=True) != [move.weight for move in whole.moves], "lower bounds count too"


def test_only_a_search_of_the_same_position_is_resumed() -> None:
    game = Game(9)
    with Searching(FakeEvaluator()) as searcher:
        report = searcher.run(game, Limits(300))
        game.play(report.best_point)
        searcher.run(game, SearchRequest(Limits(400), resumes=True))
        assert searcher._tree is not None
        center = searcher._tree.score_center
        searcher.clear()
        searcher.run(game, SearchRequest(Limits(10), resumes=True))
        assert searcher._tree.score_center != center


# --- what the evaluator receives


def test_the_root_has_its_own_evaluation_options() -> None:
    evaluator = AreaEvaluator()
    with Searching(evaluator, root_average=True, root_policy_optimism=0.3, policy_optimism=0.8) as searcher:
        searcher.run(Game(5), Limits(20))
        of_root, of_leaves = EvaluationOptions(ALL_SYMMETRIES, 0.3), EvaluationOptions(optimism=0.8)
        calls = len(evaluator.options)
        assert evaluator.options == [of_root] + [of_leaves] * (calls - 1)
        searcher.run(Game(5), Limits(40))
        assert of_root not in evaluator.options[calls:]


@pytest.mark.parametrize(("seed", "shared"), [(None, True), (7, False)])
def test_leaves_share_evaluations_of_transpositions_unless_searches_must_repeat(seed: int | None, shared: bool) -> None:
    evaluator = AreaEvaluator()
    with Searching(evaluator) as searcher:
        searcher.set_seed(seed)
        searcher.run(Game(5), Limits(20))
        root, *leaves = evaluator.options
        assert not root.shares_transpositions
        assert {options.shares_transpositions for options in leaves} == {shared}


@pytest.mark.parametrize(
    ("side", "to_play", "behalf_of", "black"),
    [
        ("sidetomove", BLACK, None, 1.5),
        ("sidetomove", WHITE, None, -1.5),
        ("sidetomove", BLACK, WHITE, -1.5),
        ("black", WHITE, None, 1.5),
        ("white", WHITE, None, -1.5),
        ("white", BLACK, WHITE, -1.5),
    ],
)
def test_whose_playout_doubling_advantage_it_is(side: str, to_play: int, behalf_of: int | None, black: float) -> None:
    """In the whole tree it stays with one colour, at nodes of either side."""
    evaluator = RecordingEvaluator()
    options = {"playout_doubling_advantage": 1.5, "playout_doubling_advantage_color": side}
    search(Game(5), SearchRequest(Limits(50), behalf_of=behalf_of), evaluator, to_play=to_play, **options)
    assert evaluator.advantages == {black}


@pytest.mark.parametrize(("side", "is_kept"), [("sidetomove", False), ("black", True)])
def test_a_tree_with_the_advantage_on_the_other_side_is_dropped(side: str, is_kept: bool) -> None:
    options = {"playout_doubling_advantage": -1, "playout_doubling_advantage_color": side}
    with Searching(FakeEvaluator(), **options) as searcher:
        game = Game(7)
        game.play(searcher.run(game, Limits(200)).best_point)
        report = searcher.run(game, Limits(200))
        assert (report.playouts < 200) == is_kept
        pondered = searcher.run(game, SearchRequest(Limits(300), behalf_of=BLACK))
        assert (pondered.playouts == 100) == is_kept
        game.play(pondered.best_point)
        assert searcher.run(game, Limits(300)).playouts < 300, "pondering was on behalf of the same side"


def test_without_advantage_pondering_is_like_any_search() -> None:
    evaluator = RecordingEvaluator()
    with Searching(evaluator) as searcher:
        game = Game(7)
        searcher.run(game, Limits(50))
        pondered = searcher.run(game, SearchRequest(Limits(80), behalf_of=WHITE))
        assert pondered.playouts == 30
        assert all(move.symmetry_of is None for move in pondered.moves), "the opponent may play any of them"
    assert evaluator.advantages == {0.0}


def test_without_score_the_utility_is_the_value() -> None:
    evaluator = FakeEvaluator(has_score=False)
    report = search(Game(9), 200, evaluator, ending_bonus=0, subtree_bias=0)
    assert report.utility_black == pytest.approx(report.value_black)
