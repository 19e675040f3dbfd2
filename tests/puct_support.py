"""Shared by the tests of the network search: evaluators with predictable results, games, searches."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from board_helpers import parse_diagram, score_area
from fake_evaluators import EvaluatorBase
from puct_reference import Node

from gtp_engine import Config, Evaluator, Game, Move, Rules
from gtp_engine.evaluation.evaluator import EvaluationOptions, Request
from gtp_engine.evaluation.positions import Conditions, Evaluation, Positions, conditions_of_row, view_board
from gtp_engine.go.board import Board, is_legal
from gtp_engine.go.constants import BLACK, EMPTY, PASS
from gtp_engine.search.limits import Limits, Searcher, SearchRequest
from gtp_engine.search.puct.leaves import Leaves
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.puct.tree import ROOT, UTILITY, VALUE, WEIGHT, Tree, edge_visits, visits_of_edge
from gtp_engine.search.puct.tree_store import ReusableTree
from gtp_engine.search.report import SearchReport
from gtp_engine.search.rollouts.rollout_search import RolloutSearch

PLAIN = {
    "uncertainty": 0,
    "value_weight_exponent": 0,
    "noise_pruning_scale": 0,
    "utility_stdev_scale": 0,
    "fpu_parent_power": 0,
    "graph_search": False,
    "subtree_bias": 0,
    "symmetry_pruning": False,
}
"""Options that leave the plain algorithm: every mean is that over all playouts."""


class AreaEvaluator(EvaluatorBase):
    """Evaluates by the area of the position as it is; all moves are equally likely.

    With colours exchanged and komi negated, its evaluations are the same for the other side.
    """

    def __init__(self, batch: int = 4, delay: float = 0.0, scale: float = 5.0, **facts: Any) -> None:
        super().__init__("area", batch, **facts)
        self.delay = delay
        self.scale = scale
        self.asked: list[int] = []
        self.options: list[EvaluationOptions] = []

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        time.sleep(self.delay * request.rows)
        self.asked.append(request.rows)
        self.options.append(request.options)
        positions, out = request.positions, request.out
        for row in range(request.rows):
            board, color = view_board(positions, row), int(positions.to_play[row])
            conditions = conditions_of_row(positions, row)
            self.write_values(board, color, conditions, out, row)
            out.policy[row] = 0
            moves = [p for p in range(board.color.size) if is_allowed(positions, row, p, conditions.suicide)] + [PASS]
            out.policy[row, moves] = self.policy(board, color, moves)

    def policy(self, board: Board, color: int, moves: list[int]) -> np.ndarray:
        return np.full(len(moves), 1 / len(moves))

    def write_values(self, board: Board, color: int, conditions: Conditions, out: Evaluation, row: int) -> None:
        points = score_area(board, Rules())
        margin = points[1] - points[2] - conditions.komi
        value = np.tanh(margin / self.scale)
        out.win_black[row], out.loss_black[row] = (1 + value) / 2, (1 - value) / 2
        out.score_black[row] = out.lead_black[row] = margin
        out.score_stdev[row] = 3.0
        out.time_left[row] = out.winloss_error[row] = out.score_error[row] = -1
        out.ownership_black[row] = np.where(board.color == 1, 1.0, np.where(board.color == 2, -1.0, 0.0))


class ShapedEvaluator(AreaEvaluator):
    """The same with a policy that prefers some points, the same for both colours."""

    def policy(self, board: Board, color: int, moves: list[int]) -> np.ndarray:
        likes = np.array([1 + (point * 7919) % 13 + point / 1000 for point in moves])
        return likes / likes.sum()


class PassingEvaluator(AreaEvaluator):
    """The same with a policy that prefers to pass, so that games end."""

    def policy(self, board: Board, color: int, moves: list[int]) -> np.ndarray:
        return np.array([0.4 if point == PASS else 0.6 / max(1, len(moves) - 1) for point in moves])


def is_allowed(positions: Positions, row: int, point: int, suicide: bool) -> bool:
    board, color = view_board(positions, row), int(positions.to_play[row])
    if board.color[point] != EMPTY or positions.forbidden[row, point]:
        return False
    return bool(is_legal(board, point, color, suicide))


def config(**values: object) -> Config:
    """Return a configuration; names are those of the section puct, or of search where it has them."""
    searching = {"seed", "max_memory", "rollout_policy"}
    texts = {("search." if name in searching else "puct.") + name: str(value) for name, value in values.items()}
    return Config().with_values({"search.seed": "1", **texts})


PLAYED_OUT = """
    . X O . O
    X X O O .
    . X O O O
    X X O . O
    . X O O O
"""
"""Black has ten points, White fifteen."""


def game_from(text: str, to_play: int = BLACK, rules: str = "tromp-taylor", komi: float = 0.5) -> Game:
    diagram = parse_diagram(text)
    game = Game(diagram.width, diagram.height, Rules.parse(rules), komi)
    game.set_up([Move(color, point) for point, color in diagram.stones.items()], to_play)
    return game


def search(
    game: Game,
    limits: SearchRequest | Limits | int,
    evaluator: Evaluator | None = None,
    to_play: int | None = None,
    **values: object,
) -> SearchReport:
    """Return what a fresh search finds."""
    limits = Limits(limits) if isinstance(limits, int) else limits
    with Searching(evaluator, **values) as searcher:
        return searcher.run(game, limits, to_play=to_play)


class Searching:
    """A search that is closed at the end of a with statement; its tree is checked then."""

    def __init__(self, evaluator: Evaluator | None = None, **values: object) -> None:
        settings, evaluator = config(**values), evaluator or AreaEvaluator()
        self.searcher = PuctSearch(settings, evaluator)

    def __enter__(self) -> PuctSearch:
        return self.searcher

    def __exit__(self, *reason: object) -> None:
        self.searcher.close()
        if reason[0] is None:
            check_tree(self.searcher)


def visits_of(report: SearchReport) -> list[tuple[int, int]]:
    """Return the moves of a search and their visits, the best first."""
    return [(move.point, move.visits) for move in report.moves]


def moves_at(searcher: Searcher, depth: int) -> set[int]:
    """Return the moves that playouts took from nodes at this depth of a search's tree, with or without a network."""
    assert isinstance(searcher, PuctSearch | RolloutSearch) and searcher._tree is not None
    nodes, moves = [ROOT], set[int]()
    for _ in range(depth + 1):
        if isinstance(store := searcher._tree, ReusableTree):
            tree = store.tree
            edges = [edge for node in nodes for edge in tried_edges(tree, node)]
            moves, nodes = {int(tree.move[edge]) for edge in edges}, [int(tree.child[edge]) for edge in edges]
        else:
            nodes = [child for node in nodes for child in store.children(node) if store.arrays.visits[child]]
            moves = {int(store.arrays.move[child]) for child in nodes}
    return moves


def run(searcher: PuctSearch, game: Game, visits: int) -> ReusableTree:
    """Return the tree after a search."""
    searcher.run(game, Limits(visits))
    return store_of(searcher)


def tried_edges(tree: Tree, node: int) -> range:
    """Return the edges of a node that have been tried."""
    first = int(tree.first_edge[node])
    return range(first, first + int(tree.tried[node]))


def lines_to(store: ReusableTree) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield every node with every line that leads to it."""
    tree, waiting = store.tree, [(ROOT, ())]
    while waiting:
        node, line = waiting.pop()
        yield node, line
        waiting += [(int(tree.child[edge]), (*line, int(tree.move[edge]))) for edge in tried_edges(tree, node)]


def store_of(searcher: PuctSearch) -> ReusableTree:
    """Return the tree of a search that has run."""
    assert searcher._tree is not None
    return searcher._tree


def rows_under_way(searcher: PuctSearch | None, positions: Positions) -> Iterator[tuple[Leaves, int, list[int]]]:
    """Yield leaves, row and moves from the root for each row of the batch whose positions are being evaluated."""
    assert searcher is not None
    assert searcher._tree is not None
    for batch in searcher._tree.buffers.batches:
        if batch.leaves.positions is positions:
            for row in range(batch.rows):
                yield batch.leaves, row, batch.leaves.moves[row, : batch.leaves.depth[row]].tolist()


def check_tree(searcher: PuctSearch, *, repeats: bool = True) -> None:
    """Assert what always holds: no playout is under way, visits add up, the first untried edge has the largest prior.

    Leaves without edges are revisited; so are other nodes when the tree is full, which is allowed with `repeats`.
    """
    tree = store_of(searcher).tree
    nodes = int(tree.info[0])
    assert not tree.virtual_visits[:nodes].any()
    for node in range(nodes):
        first, tried, edges = (int(array[node]) for array in (tree.first_edge, tree.tried, tree.edges))
        below = int(edge_visits(tree, slice(first, first + tried)).sum())
        assert tree.visits[node] >= below
        if tried and not repeats:
            assert tree.visits[node] == 1 + below
        if tree.visits[node]:
            assert tree.mean[node, WEIGHT] > 0
        priors = tree.prior[first + tried : first + edges]
        assert priors.size == 0 or priors[0] == priors.max()
        assert not tree.child[first + tried : first + edges].any()
    children = tree.child[: int(tree.info[1])]
    if tree.graph.key.size > 0:
        assert {*children.tolist()} == {*range(nodes)}
    else:
        assert np.count_nonzero(children) == nodes - 1
    assert tree.visits[ROOT] >= 1


def compare(searcher: PuctSearch, root: Node) -> dict[int, Node]:
    """Return the oracle's node for each node, after asserting that they are equal and shared by the same lines."""
    twins: dict[int, Node] = {}
    compare_below(searcher, ROOT, root, (), twins)
    assert len({id(twin) for twin in twins.values()}) == len(twins) == store_of(searcher).used
    return twins


def compare_below(
    searcher: PuctSearch, node: int, expected: Node, path: tuple[int, ...], twins: dict[int, Node]
) -> None:
    """Assert that a node and everything below it equals the oracle's."""
    if node in twins:
        assert twins[node] is expected, path
        return
    twins[node] = expected
    tree = store_of(searcher).tree
    assert tree.visits[node] == expected.visits, path
    found = [tree.mean[node, column] for column in (VALUE, UTILITY, WEIGHT)]
    assert found == pytest.approx([expected.value, expected.utility, expected.weight], rel=1e-4, abs=1e-4), path
    edges = tried_edges(tree, node)
    children = {int(tree.move[edge]): int(tree.child[edge]) for edge in edges}
    assert children.keys() == expected.children.keys(), path
    visits = {int(tree.move[edge]): int(visits_of_edge(tree, edge)) for edge in edges}
    assert visits == expected.edge_visits, path
    for move, child in children.items():
        compare_below(searcher, child, expected.children[move], (*path, move), twins)
