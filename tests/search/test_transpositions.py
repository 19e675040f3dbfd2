"""Nodes that several lines lead to: when positions are the same, what an edge weighs, and the tree as it changes.

`test_puct_tree` compares whole searches that share nodes with the oracle's.
"""

from typing import Any

import numpy as np
import pytest
from board_helpers import play_moves
from fake_evaluators import FakeEvaluator
from puct_support import (
    PassingEvaluator,
    Searching,
    ShapedEvaluator,
    check_tree,
    config,
    game_from,
    lines_to,
    run,
    store_of,
    tried_edges,
)

from gtp_engine import Config, Engine, Evaluator, EvaluatorInfo, Game, parse_vertex
from gtp_engine.compiled.arrays import zeros
from gtp_engine.go.board import CAPTURED, KO_COLOR, KO_POINT
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.search.limits import Limits, Restriction, RootPosition, SearchRequest
from gtp_engine.search.puct import tree as trees
from gtp_engine.search.puct.expand import MeansWork, remember, update_means
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.puct.root import key_of_root, params_of
from gtp_engine.search.puct.transpositions import Remembered, find_or_add_node, position_key, repeats_late
from gtp_engine.search.puct.tree_store import ReusableTree

SHARED = {"graph_search": True, "graph_search_bound": 3, "symmetry_pruning": False}
"""On small boards most moves may be captured soon: with KataGo's bound of 11 hardly any node would be shared."""

# --- positions


def key_of(*, color: int = BLACK, passes: int = 0, button: float = 0.0, counts_area: bool = True, **info: int) -> int:
    """Return the key of a position; `info` changes fields of the board's info."""
    board = game_from(". X O .\nX . X O\n. X O .\n. . . .", color).board
    for field, value in info.items():
        board.info[{"ko": KO_POINT, "ko_color": KO_COLOR, "captured": CAPTURED + BLACK}[field]] = value
    return int(position_key(board, color, passes, button, counts_area))


@pytest.mark.parametrize(
    "change", [{"color": WHITE}, {"passes": 1}, {"button": 0.5}, {"button": -0.5}, {"ko": 8, "ko_color": WHITE}]
)
def test_positions_in_which_something_else_may_be_played_have_different_keys(change: dict[str, Any]) -> None:
    assert key_of(**change) != key_of()
    assert key_of(captured=3) == key_of(), "prisoners count under territory rules alone"
    assert key_of(captured=3, counts_area=False) != key_of(counts_area=False)


@pytest.mark.parametrize(
    ("diagram", "move", "moves"),
    [
        (". X O .\nX . X O\n. X O .\n. . . .", "C3", 2),  # a ko: one stone, one empty point beside it
        ("X . X O\nX X O O\nO O O .\nO . O O", "A3", 4),  # three stones and one point
        (". . . . .\nX X X X X\n. . . . .\n. . . . .", "C3", 20),  # everything is empty
        (". X .\nX . X\n. X .", "B2", 1),  # a suicide: the empty point it leaves
        ("X . O . .\nX O O . .\nX O . . .", "A3", 4),  # the point beside it, not the region behind White's stones
    ],
)
def test_how_early_a_position_may_come_again(diagram: str, move: str, moves: int) -> None:
    game = game_from(diagram)
    point = parse_vertex(move, width=game.width, height=game.height)
    found = np.zeros(game.board.color.size, dtype=np.int32)
    assert [bound for bound in range(1, 40) if repeats_late(game.board, point, bound, found)] == [*range(1, moves)]
    assert not repeats_late(game.board, PASS, 1, found)


def test_a_key_belongs_to_one_node_also_in_a_full_table() -> None:
    table = trees.new_tree(50, 1, trees.Extras(graph=True)).graph
    keys = np.random.default_rng(1).integers(1, 2**64, 50, dtype=np.uint64)
    keys[25:] |= np.uint64(0xFFFFFFFF << 32)  # all of these begin at the last slot
    assert [find_or_add_node(table, keys[node], node) for node in range(1, 50)] == list(range(1, 50))
    assert [find_or_add_node(table, keys[node], 0) for node in range(1, 50)] == list(range(1, 50))


# --- the search


def shared_nodes(store: ReusableTree) -> list[int]:
    """Return the nodes that several edges lead to."""
    children = store.tree.child[: int(store.tree.info[1])]
    return np.flatnonzero(np.bincount(children[children > 0], minlength=store.used) > 1).tolist()


def test_all_lines_to_a_node_lead_to_the_same_position() -> None:
    with Searching(ShapedEvaluator(), **SHARED, eval_batch=1) as searcher:
        store = run(searcher, Game(4), 1000)
        positions, lines = dict[int, set[object]](), [*lines_to(store)]
        for node, line in lines:
            game = play_moves(Game(4), line, tolerant=True)
            state = (*game.board.color.tolist(), game.to_play, game.ko_point, game.consecutive_passes)
            positions.setdefault(node, set()).add(state)
        assert len(positions) == store.used < len(lines)
        assert {len(states) for states in positions.values()} == {1}


@pytest.mark.parametrize("options", [{"eval_batch": 1}, {"eval_batch": 8, "pipeline": 2, "in_flight_share": 1}])
def test_an_edge_has_a_share_of_the_weight_of_its_node(options: dict[str, object]) -> None:
    with Searching(ShapedEvaluator(), **SHARED, **options) as searcher:
        store = run(searcher, Game(4), 1000)
        tree = store.tree
        assert len(shared_nodes(store)) > 50
        node = max(shared_nodes(store), key=lambda node: tree.visits[node])
        edges = np.flatnonzero(tree.child[: int(tree.info[1])] == node)
        for edge in edges.tolist():
            share = tree.edge_visits[edge] / tree.visits[node]
            assert trees.weight_of_edge(tree, edge) == pytest.approx(share * tree.mean[node, trees.WEIGHT])


def test_visits_are_exact_with_shared_nodes() -> None:
    evaluator = ShapedEvaluator()
    with Searching(evaluator, **SHARED, eval_batch=16, in_flight_share=1) as searcher:
        report = searcher.run(Game(4), Limits(1000))
        tree = store_of(searcher).tree
        assert report.visits == report.playouts == 1000
        assert sum(move.visits for move in report.moves) == 999
        for node in shared_nodes(store_of(searcher)):
            below = tree.edge_visits[tried_edges(tree, node)].sum()
            assert tree.visits[node] == below + 1
        assert shared_nodes(store_of(searcher))
        assert sum(evaluator.asked) <= store_of(searcher).used < 900  # the other visits ended at nodes searched before


def test_neither_finished_games_nor_lines_with_moves_left_out_are_shared() -> None:
    with Searching(PassingEvaluator(), **SHARED) as searcher:
        store = run(searcher, Game(3), 500)
        over = [
            node for node in range(store.used) if store.tree.own[node, trees.WEIGHT] and store.tree.edges[node] == 0
        ]
        assert over
        assert not {*over} & {*shared_nodes(store)}
    with Searching(ShapedEvaluator(), **SHARED) as searcher:
        restriction = Restriction(BLACK, frozenset({PASS}), depth=3)
        searcher.run(Game(4), SearchRequest(Limits(1000), restrictions=(restriction,)))
        lengths = {node: len(line) for node, line in lines_to(store_of(searcher))}
        assert min(lengths[node] for node in shared_nodes(store_of(searcher))) >= 3


# --- the tree changes


def checked_keys(store: ReusableTree) -> set[int]:
    """Return all keys but the root's, after checking that the table finds the node of each."""
    graph = store.tree.graph
    nodes = [node for node in range(1, store.used) if graph.key[node]]
    assert [find_or_add_node(graph, graph.key[node], 0) for node in nodes] == nodes
    assert np.count_nonzero(graph.slots) == len(nodes)
    return {int(graph.key[node]) for node in nodes}


def outline(store: ReusableTree, root: int) -> dict[int, Any]:
    """Return what is at and below a node, by key."""
    tree, waiting, found = store.tree, [root], {}
    while waiting:
        node = waiting.pop()
        key = (int(tree.graph.key[node]), node == root)
        if key not in found:
            edges = tried_edges(tree, node)
            children = [int(tree.child[edge]) for edge in edges]
            visits = [(int(tree.move[edge]), int(tree.edge_visits[edge])) for edge in edges]
            keys = [int(tree.graph.key[child]) for child in children]
            found[key] = (int(tree.visits[node]), float(tree.mean[node, trees.UTILITY]), visits, keys)
            waiting += children
    return found


def test_the_part_of_the_tree_below_a_move_is_kept_with_what_it_shares() -> None:
    with Searching(ShapedEvaluator(), **SHARED) as searcher:
        store = run(searcher, Game(4), 1500)
        node = max(store.tree.child[tried_edges(store.tree, trees.ROOT)].tolist(), key=store.tree.visits.item)
        below = outline(store, node)
        store.reroot(node)
        assert outline(store, trees.ROOT) == below
        assert shared_nodes(store)
        checked_keys(store)
        check_tree(searcher)


def test_a_pruned_or_growing_tree_keeps_what_it_shares() -> None:
    with Searching(ShapedEvaluator(), **SHARED, subtree_bias=0.45) as searcher:
        store = run(searcher, Game(4), 1000)
        before, keys = outline(store, trees.ROOT), checked_keys(store)
        store.reserve(store.tree.state.size)
        assert outline(store, trees.ROOT) == before
        assert checked_keys(store) == keys
        store.reroot(trees.ROOT, 5)  # as `prune`, which forgets more
        assert checked_keys(store) < keys
        assert ((store.tree.state == trees.NEW) & (store.tree.visits > 1)).any()
        check_tree(searcher)
        assert run(searcher, Game(4), 1500).tree.visits[trees.ROOT] == 1500
        searcher.clear()
        assert checked_keys(store) == set()
        searcher.run(Game(4), Limits(50))
    with Searching(FakeEvaluator(), graph_search=False) as searcher:
        assert sum(array.size for array in run(searcher, Game(9), 50).tree.graph) == 0, "there is no table"


def test_a_game_goes_on_in_the_tree() -> None:
    game = Game(4)
    with Searching(ShapedEvaluator(), **SHARED, subtree_bias=0.45) as searcher:
        for turn in range(8):
            report = searcher.run(game, Limits(400))
            assert (report.playouts < 400) == (turn > 0)
            check_tree(searcher)
            game.play(report.best_point)


def test_a_node_whose_moves_superko_has_changed_is_not_reused() -> None:
    with Searching(FakeEvaluator(), **SHARED) as searcher:
        game = Game(5)
        report = searcher.run(game, Limits(400))
        game.play(report.best_point)
        store = store_of(searcher)
        node = store.child_by_move(trees.ROOT, report.best_point)
        assert node is not None
        store.tree.move[store.tree.first_edge[node]] = report.best_point
        searcher._tree.move_root(RootPosition(game.copy(), game.to_play))  # type: ignore[union-attr]
        assert store.used == 1
        searcher.run(game, Limits(50))


def has_popular_child(store: ReusableTree, node: int) -> bool:
    """Return whether a node has a child with more visits than the edge to it."""
    tree, edges = store.tree, tried_edges(store.tree, node)
    return bool((tree.visits[tree.child[edges]] > tree.edge_visits[edges]).any())


def test_moves_of_the_root_weigh_what_their_edges_do() -> None:
    """Their nodes may have more visits: those from lines that are no longer in the tree."""
    with Searching(ShapedEvaluator(), **SHARED, eval_batch=1) as searcher:
        game = Game(4)
        store = run(searcher, game, 1000)
        lines = (line for node, line in lines_to(store) if len(line) == 2 and has_popular_child(store, node))
        play_moves(game, next(lines))
        report = searcher.run(game, Limits(2))
        tree = store.tree
        assert has_popular_child(store, trees.ROOT)
        edges = {int(tree.move[edge]): edge for edge in tried_edges(tree, trees.ROOT)}
        for move in report.moves:
            edge = edges[move.point]
            assert move.weight == pytest.approx(trees.weight_of_edge(tree, edge))
            assert move.visits == tree.edge_visits[edge]
        assert sum(move.visits for move in report.moves) == report.visits - 1


def test_positions_of_a_continuation_have_all_their_visits() -> None:
    """Those after the second move and later ones had the visits of the moves, without those of other lines."""
    with Searching(ShapedEvaluator(), **SHARED, eval_batch=1) as searcher:
        game = Game(4)
        report = searcher.run(game, Limits(1000))
        store = store_of(searcher)
        for move in report.moves:
            node: int | None = trees.ROOT
            for point, visits in zip(move.pv, move.pv_position_visits, strict=True):
                assert node is not None
                node = store.child_by_move(node, point)
                assert visits == store.tree.visits[node]
        assert any(more > 0 for move in report.moves for more in move.pv_surplus_visits)


def test_with_a_leak_every_playout_takes_a_move_that_none_took() -> None:
    """A playout at a node with more visits than the edge to it ends there, or with this probability goes on to a leaf.

    So of 300 playouts, the first of which evaluates the root, 299 try a move with certainty, and fewer without a leak.
    """
    tried = []
    for leak in (0.0, 0.5, 1.0):
        with Searching(ShapedEvaluator(), eval_batch=1, graph_search_leak=leak, **SHARED) as searcher:
            tree = run(searcher, Game(5), 300).tree
            tried.append(int(tree.tried[: int(tree.info[trees.NODES]) + 1].sum()))
    assert tried[0] < tried[1] < tried[2] == 299


# --- what earlier searches found


def test_means_are_drawn_towards_what_is_remembered() -> None:
    """A search with 400 visits counts as sqrt(100 · 400) = 200, of which a node with 100 has the half.

    Its share is 1 / (1 + 3 · 0.5 · (1 + 2 · 0.25)) = 4 / 13.
    """
    remembered = zeros(Remembered, places=8)
    tree, work = trees.new_tree(3, 3, trees.Extras(graph=True, remembered=remembered)), zeros(MeansWork, n=9)
    settings = config(static_score_weight=0, dynamic_score_weight=0)
    params = params_of(settings, Game(9), SearchRequest(Limits(1)), EvaluatorInfo("", 1), has_errors=True)
    for node, visits in ((trees.add_node(tree), 100), (trees.add_node(tree), 400)):
        tree.graph.key[node], tree.visits[node] = 7, visits
        columns = trees.SCORE, trees.LEAD, trees.WEIGHT, trees.SCORE_SQUARE
        tree.own[node, columns] = 2.0, node, 1.0, 13.0
        tree.own[node, [trees.VALUE, trees.UTILITY]] = -0.5 if node == 1 else 0.5
    remembered.conditions[0] = 2**40 + 1
    update_means(tree, 2, BLACK, params, work)
    remember(tree, 401, -1, trees.ROOT)
    remember(tree, 100, 2, 2)
    assert not remembered.key.any()
    remember(tree, 400, -1, trees.ROOT)
    assert remembered.key[remembered.key != 0].tolist() == [7 ^ (2**40 + 1)]
    update_means(tree, 1, BLACK, params, work)
    found = tree.mean[1]
    assert found[trees.VALUE] == found[trees.UTILITY] == pytest.approx(-0.5 + 4 / 13)
    assert found[trees.LEAD] == pytest.approx(1 + 4 / 13)
    assert (found[trees.SCORE], found[trees.SCORE_SQUARE], found[trees.WEIGHT]) == pytest.approx((2.0, 13.0, 100.0))
    assert found[trees.UTILITY_SQUARE] == pytest.approx((-0.5 + 4 / 13) ** 2)
    remembered.conditions[0] = 0
    update_means(tree, 1, BLACK, params, work)
    assert tree.mean[1, trees.VALUE] == -0.5


def test_a_shorter_search_replaces_nothing_and_a_place_goes_to_the_least_visited() -> None:
    remembered = zeros(Remembered, places=4)
    tree = trees.new_tree(8, 8, trees.Extras(graph=True, remembered=remembered))
    remembered.conditions[0] = 2**40

    def visited(key: int, visits: int, value: float) -> None:
        tree.info[trees.NODES] = 2
        tree.graph.key[1], tree.visits[1], tree.mean[1, trees.VALUE] = key, visits, value
        remember(tree, 1, -1, trees.ROOT)

    for key in range(1, 5):
        visited(key, 100 * key, key / 10)
    visited(4, 299, -1.0)
    assert sorted(remembered.found[:, trees.VALUE].tolist()) == pytest.approx([0.1, 0.2, 0.3, 0.4])
    visited(4, 300, -1.0)
    visited(9, 1, 0.9)
    assert sorted(remembered.found[:, trees.VALUE].tolist()) == pytest.approx([-1.0, 0.2, 0.3, 0.9])


@pytest.mark.parametrize("bound", [3, 11])
def test_a_position_of_a_game_has_the_key_that_it_has_in_a_tree(bound: int) -> None:
    options = {**SHARED, "graph_search_bound": bound, "remember": True}
    searcher = remembering(**options)
    searcher.run(Game(4), Limits(400))
    store, compared = store_of(searcher), 0
    params = params_of(config(**options), Game(4), SearchRequest(Limits(1)), EvaluatorInfo("", 1), has_errors=False)
    for node, line in lines_to(store):
        game = play_moves(Game(4), line, tolerant=True)
        if store.tree.graph.key[node] != 0:
            assert key_of_root(game, game.to_play, params) == int(store.tree.graph.key[node]), line
            compared += 1
    assert compared > 300
    searcher.close()


def remembering(evaluator: Evaluator | None = None, **options: object) -> PuctSearch:
    searcher = PuctSearch(config(eval_batch=1, **{"remember_visits": 20, **options}), evaluator or ShapedEvaluator())
    searcher.remembered = zeros(Remembered, places=64)
    return searcher


@pytest.mark.parametrize("way", ["same", "komi", "restricted", "plain"])
def test_a_move_taken_back_knows_what_was_found_after_it(way: str) -> None:
    searcher = remembering(**{**SHARED, "graph_search": way != "plain"})
    before = Game(4, rules="tromp-taylor", komi=0.5)
    move = searcher.run(before, Limits(2)).moves[0].point
    after = before.copy()
    after.play(move)
    value = searcher.run(after, Limits(300)).value_black
    if way == "komi":
        before.komi = 5.5
    corner = parse_vertex("A1", width=4, height=4)
    limits = SearchRequest(
        Limits(2), restrictions=(Restriction(BLACK, frozenset({corner})),) if way == "restricted" else ()
    )
    searcher.run(before, limits)
    tree, node = store_of(searcher).tree, store_of(searcher).child_by_move(trees.ROOT, move)
    assert tree.visits[node] == 1
    own, ratio = float(tree.own[node, trees.VALUE]), 1 / np.sqrt(20 * 300)
    share = 1 / (1 + 3 * ratio * (1 + 2 * ratio**2)) if way == "same" else 0.0
    assert abs(value - own) > 0.05
    assert tree.mean[node, trees.VALUE] == pytest.approx(own + share * (value - own))
    searcher.close()


def test_what_is_remembered_outlives_the_tree_until_the_cache_is_cleared() -> None:
    values = {"puct.remember": True, "puct.remember_visits": 5, "game.board_size": 5, "search.visits": 30}
    with Engine(Config().with_values(values), None, FakeEvaluator()) as engine:
        engine.genmove()
        remembered = engine._resources.remembered
        assert remembered is not None
        kept = np.count_nonzero(remembered.key)
        engine.clear_board()
        engine.set_komi(3.5)
        engine.genmove()
        assert np.count_nonzero(remembered.key) > kept > 0
        engine.clear_cache()
        assert not remembered.key.any()
