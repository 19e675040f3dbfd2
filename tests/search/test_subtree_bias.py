"""Corrections of evaluations by the search: numbers worked out by hand, buckets, and nodes that leave the tree.

`test_puct_tree` compares whole trees with corrections with the oracle's.
"""

from typing import Any

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator
from puct_support import PLAIN, PassingEvaluator, Searching, config, game_from, run, tried_edges, visits_of

from gtp_engine import EvaluatorInfo, Game, Move, parse_vertex
from gtp_engine.compiled.arrays import zeros
from gtp_engine.go.board import KO_POINT
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points, point_to_xy
from gtp_engine.search.limits import Limits, SearchRequest
from gtp_engine.search.puct import subtree_bias
from gtp_engine.search.puct.expand import MeansWork, update_means
from gtp_engine.search.puct.root import params_of
from gtp_engine.search.puct.tree import NEW, ROOT, UTILITY, UTILITY_SQUARE, WEIGHT, Extras, Tree, add_node, new_tree
from gtp_engine.search.puct.tree_store import ReusableTree

BIASED = {"subtree_bias": 0.5, "subtree_bias_exponent": 0.5, "subtree_bias_free_share": 0.75}


def params(**values: object) -> Any:
    """Return the parameters of a search in which all means are plain, but evaluations are corrected."""
    numbers = config(**{**PLAIN, **BIASED, **values})
    return params_of(numbers, Game(9), SearchRequest(Limits(1)), EvaluatorInfo("", 1), has_errors=True)


# --- numbers


def parent_and_child(tree: Tree, *, own: float, child: float, child_weight: float) -> int:
    """Return a new node whose own evaluation has the weight 1, with one child of the given utility and weight."""
    node, below = add_node(tree), add_node(tree)
    first = int(tree.info[1])
    tree.info[1] += 1
    tree.first_edge[node], tree.edges[node], tree.tried[node] = first, 1, 1
    tree.child[first], tree.prior[first] = below, 1.0
    tree.own[node, UTILITY], tree.own[node, WEIGHT] = own, 1.0
    tree.mean[below, UTILITY], tree.mean[below, WEIGHT] = child, child_weight
    tree.visits[node], tree.visits[below] = 17, 16
    return node


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_an_evaluation_is_corrected_by_half_of_the_error_of_its_bucket(color: int) -> None:
    tree, work = new_tree(20, 20, Extras(bias=True)), zeros(MeansWork, n=9)
    bucket = subtree_bias.find_or_add_bucket(tree.bias, np.uint64(77))
    first = parent_and_child(tree, own=0.25, child=0.75, child_weight=16.0)
    update_means(tree, first, color, params(), work)
    assert tree.mean[first, UTILITY] == pytest.approx((0.25 + 16 * 0.75) / 17), "without a bucket"
    assert not tree.bias.added.any()
    tree.bias.bucket[first] = bucket
    update_means(tree, first, color, params(), work)
    # The child is better by 0.5 than the evaluation: by that, with the weight sqrt(16) = 4.
    assert tree.bias.sums[bucket].tolist() == [2.0, 4.0]
    # The evaluation counts as 0.25 + 0.5 · 2 / 4 = 0.5, once; the child as 0.75, sixteen times.
    assert tree.mean[first, UTILITY] == pytest.approx((0.5 + 16 * 0.75) / 17)

    second = parent_and_child(tree, own=0.0, child=-0.25, child_weight=1.0)
    tree.bias.bucket[second] = bucket
    update_means(tree, second, color, params(), work)
    assert tree.bias.sums[bucket].tolist() == [1.75, 5.0]
    leaf = add_node(tree)
    tree.own[leaf, UTILITY], tree.own[leaf, WEIGHT], tree.visits[leaf] = -0.5, 1.0, 1
    tree.bias.bucket[leaf] = bucket
    update_means(tree, leaf, color, params(), work)
    # A leaf has no error of its own, but −0.5 + 0.5 · 1.75 / 5 = −0.325.
    assert tree.bias.sums[bucket].tolist() == [1.75, 5.0]
    assert tree.mean[leaf, UTILITY] == pytest.approx(-0.325)
    assert tree.mean[leaf, UTILITY_SQUARE] == pytest.approx(0.325**2)

    tree.mean[tree.child[tree.first_edge[first]], UTILITY] = 0.25
    update_means(tree, first, color, params(), work)  # its error is now 0, which replaces the old one
    assert tree.bias.sums[bucket].tolist() == [-0.25, 5.0]


# --- buckets


@pytest.mark.parametrize("nodes", [1, 3, 1000])
def test_a_key_has_one_bucket_also_in_a_full_table(nodes: int) -> None:
    bias = new_tree(nodes, 1, Extras(bias=True)).bias
    keys = np.random.default_rng(1).integers(0, 2**64, nodes, dtype=np.uint64)
    keys[nodes // 2 :] |= np.uint64(0xFFFFFFFF << 32)  # all of these begin at the last slot
    for _ in range(2):
        assert [subtree_bias.find_or_add_bucket(bias, key) for key in keys] == list(range(1, nodes + 1))
    assert bias.info[subtree_bias.BUCKETS] == nodes + 1


FIGHT = """
    . X O . . . .
    . X O . . . X
    . . . . . . .
    . . O X O . .
    . O X . X . .
    . X . X . O .
    . . . . . . X
"""


def key_after(diagram: str, *, last: str = "G7", move: str = "C2", color: int = WHITE, ko: str | None = None) -> int:
    """Return the key of the bucket after `color` played `move` in a position in which `last` was the last move."""
    game = game_from(diagram, color)
    point, previous = (parse_vertex(vertex, width=7, height=7) for vertex in (move, last))
    if ko is not None:
        game.board.info[KO_POINT] = parse_vertex(ko, width=7, height=7)
    return int(subtree_bias.bucket_key(game.board, point, previous, color))


CHANGES: dict[str, dict[str, Any]] = {
    "another move": {"move": "D1"},
    "another move before": {"last": "pass"},
    "the other colour": {"color": BLACK},
    "a stone nearby": {"diagram": FIGHT.replace("X . X . O", "X . X X O")},
    "a stone of the other colour nearby": {"diagram": FIGHT.replace(". O X . X", ". X X . X")},
    "an atari nearby by a stone far away": {"diagram": FIGHT.replace(". . O X O . .", ". . O X O X .")},
    "a ko": {"ko": "G5"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_positions_that_differ_near_the_last_move_have_different_buckets(change: dict[str, Any]) -> None:
    assert key_after(**{"diagram": FIGHT, **change}) != key_after(FIGHT)
    assert key_after(FIGHT.replace(". X O . . . X", ". X O O X . O")) == key_after(FIGHT), "far from the last move"


@pytest.mark.parametrize("move", ["A1", "G1", "A7", "G7", "B4", "F4", "D4", "D2", "D6"])
def test_the_pattern_is_the_5x5_points_around_the_move_up_to_the_edge(move: str) -> None:
    """The rows of a board follow each other in memory: beyond an edge lie the stones at the opposite one."""
    game = Game(7)
    center, previous = parse_vertex(move, width=7, height=7), PASS
    x, y = point_to_xy(center, width=7)
    key = subtree_bias.bucket_key(game.board, center, previous, BLACK)
    for point in board_points(7, 7):
        if point == center:
            continue
        game.set_up([Move(WHITE, point)])
        column, row = point_to_xy(point, width=7)
        is_near = abs(column - x) <= 2 and abs(row - y) <= 2
        assert (subtree_bias.bucket_key(game.board, center, previous, BLACK) != key) == is_near, point


def test_only_moves_after_moves_have_buckets() -> None:
    """Neither the root, nor a pass, nor the first move of a game."""
    with Searching(PassingEvaluator(), symmetry_pruning=False, graph_search=False, **BIASED) as searcher:
        store = run(searcher, Game(4), 300)
        tree = store.tree
        assert tree.bias.bucket[ROOT] == 0
        children = tree.child[tried_edges(tree, ROOT)]
        assert not tree.bias.bucket[children].any()
        after_pass = store.child_by_move(ROOT, PASS)
        assert after_pass is not None
        for edge in tried_edges(tree, after_pass):
            assert (tree.bias.bucket[tree.child[edge]] > 0) == (tree.move[edge] != PASS)


# --- the tree changes


def checked_sums(store: ReusableTree) -> dict[int, list[float]]:
    """Return the sums of each bucket by its key, after checking that all are used and that the table finds them."""
    bias, used = store.tree.bias, store.used
    buckets = int(bias.info[subtree_bias.BUCKETS])
    assert set(bias.bucket[:used].tolist()) == {*range(buckets)}
    assert [subtree_bias.find_or_add_bucket(bias, bias.key[bucket]) for bucket in range(1, buckets)] == [
        *range(1, buckets)
    ]
    assert np.count_nonzero(bias.slots) == buckets - 1
    return {int(bias.key[bucket]): bias.sums[bucket].tolist() for bucket in range(1, buckets)}


def added(store: ReusableTree) -> dict[int, list[float]]:
    """Return what the nodes in the tree have added to each bucket, by its key."""
    bias = store.tree.bias
    sums: dict[int, list[float]] = {}
    for node in np.flatnonzero(bias.bucket[: store.used]):
        sum_of = sums.setdefault(int(bias.key[bias.bucket[node]]), [0.0, 0.0])
        sum_of[subtree_bias.DIFFERENCE] += bias.added[node, subtree_bias.DIFFERENCE]
        sum_of[subtree_bias.WEIGHT_SUM] += bias.added[node, subtree_bias.WEIGHT_SUM]
    return sums


def assert_shares_stay(before: dict[int, list[float]], after: dict[int, list[float]], store: ReusableTree) -> None:
    """Assert that the buckets in use have lost 0.75 of what came from nodes that are not in the tree any more."""
    kept = added(store)
    assert after.keys() == kept.keys()
    for key, sums in after.items():
        expected = [new + 0.25 * (old - new) for old, new in zip(before[key], kept[key], strict=True)]
        assert sums == pytest.approx(expected, abs=1e-9)


def test_buckets_hold_what_their_nodes_have_added() -> None:
    with Searching(FakeEvaluator(), **BIASED) as searcher:
        store = run(searcher, Game(9), 500)
        sums, expected = checked_sums(store), added(store)
        assert sums.keys() == expected.keys()
        for key, found in sums.items():
            assert found == pytest.approx(expected[key], abs=1e-9)
        assert len(sums) < np.count_nonzero(store.tree.bias.bucket[: store.used])  # some are shared


def test_nodes_that_leave_the_tree_take_a_share_with_them() -> None:
    with Searching(FakeEvaluator(), **BIASED) as searcher:
        game = Game(5)
        store = run(searcher, game, 1500)
        before = checked_sums(store)
        node = int(store.tree.child[store.tree.first_edge[ROOT]])
        store.reroot(node)
        after = checked_sums(store)
        assert_shares_stay(before, after, store)
        assert after != added(store)
        assert len(after) < len(before)
        assert store.tree.bias.bucket[ROOT] == 0


def test_pruned_nodes_take_a_share_with_them() -> None:
    """A node without its former subtree has no bucket: its evaluation is not the network's any more."""
    with Searching(FakeEvaluator(), **BIASED) as searcher:
        store = run(searcher, Game(7), 400)
        before = checked_sums(store)
        store.reroot(ROOT, 5)  # as `prune`, which forgets more
        assert_shares_stay(before, checked_sums(store), store)
        used = store.used
        collapsed = (store.tree.state[:used] == NEW) & (store.tree.visits[:used] > 1)
        assert collapsed.any()
        assert not store.tree.bias.bucket[:used][collapsed].any()
        numbers = np.flatnonzero(collapsed)
        run(searcher, Game(7), 800)
        assert (store.tree.state[numbers] != NEW).any()
        assert not store.tree.bias.bucket[numbers].any()


def test_a_tree_that_grows_keeps_its_buckets() -> None:
    with Searching(FakeEvaluator(), **BIASED) as searcher:
        store = run(searcher, Game(9), 300)
        before, buckets = checked_sums(store), store.tree.bias.bucket[: store.used].copy()
        size = store.tree.state.size
        store.reserve(size)
        assert store.tree.bias.bucket.size == store.tree.state.size > size
        assert checked_sums(store) == before
        assert np.array_equal(store.tree.bias.bucket[: store.used], buckets)


def test_neither_a_new_tree_nor_a_search_without_corrections_has_buckets() -> None:
    with Searching(FakeEvaluator(), **BIASED) as searcher:
        store, found = run(searcher, Game(9), 300), []
        for _ in range(2):
            searcher.clear()
            assert checked_sums(store) == {}
            found.append(visits_of(searcher.run(Game(9), Limits(300))))
        assert found[0] == found[1]
    with Searching(FakeEvaluator(), subtree_bias=0) as searcher:
        assert sum(array.size for array in run(searcher, Game(9), 50).tree.bias) <= 4
