"""Reports from a tree: `SearchReport`, and `Progress` for the watcher."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import HumanConfig, PuctConfig
from gtp_engine.evaluation.positions import Evaluation, board_size, no_result, value_black
from gtp_engine.go.constants import BLACK, PASS, opponent
from gtp_engine.search.limits import Progress
from gtp_engine.search.puct.choose import (
    RootMoves,
    draw,
    human_weights,
    passes_too_early,
    pruned,
    root_moves,
    selection_weights,
)
from gtp_engine.search.puct.cleanup import PHASE_PASSES
from gtp_engine.search.puct.expected_line import write_line
from gtp_engine.search.puct.leaves import Root
from gtp_engine.search.puct.root import Mirror
from gtp_engine.search.puct.tree import (
    LEAD,
    NO_RESULT,
    NODES,
    ROOT,
    SCORE,
    SCORE_SQUARE,
    UTILITY,
    VALUE,
    WEIGHT,
    Tree,
    edge_visits,
)
from gtp_engine.search.puct.tree_ownership import OwnershipBelow, ownership_below
from gtp_engine.search.puct.tree_store import ReusableTree
from gtp_engine.search.puct.utility import Params, utility_radius
from gtp_engine.search.report import MoveReport, PositionResults, RawEvaluation, SearchReport, for_color, winrate_of

PV_LENGTH: Final = 100
"""Longest continuation reported, moves."""

_POLICY_MOVES: Final = 10
"""Moves reported, by the policy alone, for a search that tried none."""

_LEAST_WEIGHT: Final = 1e-9
"""Replaces the weight of no samples, so that their mean is 0."""

_LEAST_PRIOR: Final = 1e-100
"""Least prior of a move that the search chose, for logarithms (KataGo's)."""


Floats = NDArray[np.float64]

OwnershipMap = NDArray[np.float32] | None
"""Mean or deviation of the ownership below a move, float32[n]; None without samples."""


class SearchState(NamedTuple):
    """A search of one position: its tree, and what stays the same until it ends."""

    kept: ReusableTree
    root: Root
    params: Params
    raw: RawEvaluation  # of the root
    config: PuctConfig
    human_config: HumanConfig
    mirrors: list[Mirror]
    duplicates: set[int]
    move_ownership: bool

    @property
    def tree(self) -> Tree:
        """The arrays of the tree."""
        return self.kept.tree

    @property
    def human(self) -> RawEvaluation | None:
        """The human-like network's evaluation of the root, if there is one."""
        return self.kept.human

    def ownership_at(self, node: int) -> OwnershipBelow:
        """Return the ownership at a node."""
        return ownership_below(self.tree, node, self.raw.policy.size)

    def move_ownership_at(self, node: int) -> tuple[OwnershipMap, OwnershipMap]:
        """Return mean and deviation of the ownership at a node; both are None unless those of moves are asked for."""
        if not self.move_ownership or (found := self.ownership_at(node)).positions == 0:
            return None, None
        return found.mean_black.astype(np.float32), found.stdev.astype(np.float32)


def raw_evaluation(evaluation: Evaluation, row: int, *, has_score: bool) -> RawEvaluation:
    """Return a row of an evaluation as a value of its own."""
    value, drawn = value_black(evaluation, row), no_result(evaluation, row)
    return RawEvaluation(
        winrate_black=winrate_of(float(value), BLACK),
        lead_black=float(evaluation.lead_black[row]),
        score_black=float(evaluation.score_black[row]),
        score_stdev=float(evaluation.score_stdev[row]),
        no_result=float(drawn),
        winloss_error=float(evaluation.winloss_error[row]),
        score_error=float(evaluation.score_error[row]),
        time_left=float(evaluation.time_left[row]),
        policy=evaluation.policy[row].copy(),
        ownership_black=evaluation.ownership_black[row].copy(),
        has_score=has_score,
    )


def progress_of(state: SearchState, playouts: int, seconds: float) -> Progress:
    """Return the progress of a search; before a move has been tried, the leader has 0 visits and the root's winrate.

    Only the two most visited moves are read: the watcher is called hundreds of times in a second.
    """
    tree, root, color = state.tree, state.root, state.root.color
    first, tried = int(tree.first_edge[ROOT]), int(tree.tried[ROOT])
    points = tree.move[first : first + int(tree.edges[ROOT])]
    allowed = root.avoid_until[color, points] <= 0
    nodes = tree.child[first : first + tried]
    eligible = np.flatnonzero(allowed[:tried] & (tree.visits[nodes] > 0))
    visits = edge_visits(tree, slice(first, first + tried))[eligible]
    order = np.argsort(-visits, kind="stable")[:2]
    leaders = nodes[eligible[order]]
    utilities = (tree.mean[leaders, UTILITY] + root.bonus[points[eligible[order]]]) * (1.0 if color == BLACK else -1.0)
    return Progress(
        seconds=seconds,
        visits=int(tree.visits[ROOT]),
        playouts=playouts,
        leader_visits=int(visits[order[0]]) if order.size > 0 else 0,
        runner_up_visits=int(visits[order[1]]) if order.size > 1 else 0,
        leader_is_best_value=order.size < 2 or bool(utilities[0] >= utilities[1]),
        winrate=winrate_of(float(tree.mean[leaders[0] if order.size else ROOT, VALUE]), color),
        choices=int(np.count_nonzero(allowed)),
    )


def entropy_and_surprise(state: SearchState) -> tuple[float, float]:
    """Return the entropy of the root's prior, and the divergence of its moves' weights from it, in nats.

    KataGo's `getPolicySurpriseAndEntropy` (cpp/search/searchresults.cpp).
    """
    tree, first = state.tree, int(state.tree.first_edge[ROOT])
    priors = tree.prior[first : first + int(tree.edges[ROOT])].astype(np.float64)
    priors = priors[priors > 0.0]
    entropy = max(0.0, -float(np.sum(priors * np.log(priors))))
    tried = root_moves(tree, state.root, state.params, state.config)
    if tried.points.size == 0:
        return entropy, 0.0
    weights = selection_weights(tried, tree, state.params, state.config)
    shares, likely = weights[weights > 0.0] / weights.sum(), np.maximum(tried.priors[weights > 0.0], _LEAST_PRIOR)
    return entropy, max(0.0, float(np.sum(shares * np.log(shares / likely))))


def report_of(
    state: SearchState,
    playouts: int,
    seconds: float,
    temperature: float = 0.0,
    random: np.random.Generator | None = None,
) -> SearchReport:
    """Return the state of a search, its moves in the order in which they would be played.

    With a generator, the first one is drawn with `temperature`, and the others follow in that order.
    """
    tree, mean, owned = state.tree, state.tree.mean[ROOT], state.ownership_at(ROOT)
    tried = root_moves(tree, state.root, state.params, state.config)
    return SearchReport(
        to_play=state.root.color,
        visits=int(tree.visits[ROOT]),
        playouts=playouts,
        seconds=seconds,
        moves=tuple(_with_mirrors(_moves(state, tried, temperature, random), state)),
        ownership_samples=int(tree.visits[ROOT]) if owned.positions > 0 else 0,
        ownership_black=owned.mean_black,
        nodes=int(tree.info[NODES]),
        memory=state.kept.memory,
        no_result=float(mean[NO_RESULT]),
        weight=float(mean[WEIGHT]),
        **_results(mean),
        ownership_stdev=owned.stdev if owned.positions > 0 else None,
        raw=state.raw,
        priors=_root_priors(state),
        human=state.human,
        retrospect=_results_in_retrospect(state, tried),
    )


def _root_priors(state: SearchState) -> NDArray[np.float32]:
    """Return the prior of the root's moves, float32[n] by point, 0 where a move is left out.

    Those that mirror others are not left out: they are as good.
    """
    tree, avoid_until = state.tree, state.root.avoid_until[state.root.color].copy()
    avoid_until[list(state.duplicates)] = 0
    priors = np.zeros(avoid_until.size, dtype=np.float32)
    edges = slice(tree.first_edge[ROOT], tree.first_edge[ROOT] + tree.edges[ROOT])
    priors[tree.move[edges]] = tree.prior[edges]
    priors[avoid_until > 0] = 0.0
    return priors


def node_report(kept: ReusableTree, node: int, color: int) -> SearchReport:
    """Return what a tree holds about any of its nodes, with `color` to play: no bounds and no ownership.

    The moves with the most visits come first.
    """
    tree = kept.tree
    first = int(tree.first_edge[node])
    edges = slice(first, first + int(tree.tried[node]))
    visits, children = edge_visits(tree, edges), tree.child[edges]
    mean = tree.mean[node]
    return SearchReport(
        to_play=color,
        visits=int(tree.visits[node]),
        playouts=0,
        seconds=0.0,
        moves=tuple(
            _node_move(kept, first + i, int(visits[i]), opponent(color))
            for i in np.argsort(-visits, kind="stable").tolist()
            if tree.visits[children[i]] > 0
        ),
        ownership_samples=0,
        ownership_black=np.zeros(0),
        no_result=float(mean[NO_RESULT]),
        weight=float(mean[WEIGHT]),
        **_results(mean),
    )


def _node_move(kept: ReusableTree, edge: int, visits: int, color: int) -> MoveReport:
    """Return what a tree holds about a move that was tried, after which `color` is to play."""
    tree = kept.tree
    node, point = int(tree.child[edge]), int(tree.move[edge])
    line = _line_from(kept, node, color)
    return replace(
        _with_results(point, visits, tree.mean[node], float(tree.prior[edge])),
        pv=(point, *line[0].tolist()),
        pv_visits=(visits, *line[1].tolist()),
        weight=float(tree.mean[node, WEIGHT]),
        surplus_visits=int(tree.visits[node]) - visits,
    )


def _line_from(kept: ReusableTree, node: int, color: int) -> NDArray[np.int64]:
    """Return the continuation after a node with `color` to play, the rows of `write_line`."""
    line = np.zeros((3, PV_LENGTH - 1), dtype=np.int64)
    return line[:, : write_line(kept.tree, node, color, kept.bounds, line)]


def _with_results(point: int, visits: int, mean: Floats, prior: float) -> MoveReport:
    """Return the report of a move with these results, and no continuation."""
    return MoveReport(
        point=point,
        visits=visits,
        expected_black=float(mean[VALUE]),
        pv=(point,),
        pv_visits=(visits,),
        prior=prior,
        no_result=float(mean[NO_RESULT]),
        **_results(mean),
    )


def _results_in_retrospect(state: SearchState, tried: RootMoves) -> PositionResults | None:
    """Return the results of the root without what was spent in vain, None if no move was tried.

    Its own evaluation counts as ever, a move as for the choice of one but for the preference for lower bounds
    (KataGo's `getPrunedNodeValues` in cpp/search/searchresults.cpp).
    """
    if tried.nodes.size == 0:
        return None
    tree, without_pass = state.tree, _leaves_out_pass(state, tried)
    weights = selection_weights(tried, tree, state.params, state.config, without_pass=without_pass, lcb=False)
    weights[tried.visits == 0] = 0.0
    weights = np.append(weights / min(1.0, max(_LEAST_WEIGHT, float(weights.max()))), tree.own[ROOT, WEIGHT])
    rows: Floats = np.vstack((tried.means[:, :WEIGHT], tree.own[ROOT, :WEIGHT]))
    mean = weights @ rows / weights.sum()
    return PositionResults(**_results(mean))


def _results(mean: Floats) -> dict[str, Any]:
    """Return what a node's means say of a game's result, by the fields of `PositionResults`."""
    return {
        "value_black": float(mean[VALUE]),
        "utility_black": float(mean[UTILITY]),
        "score_black": float(mean[SCORE]),
        "score_stdev": float(np.sqrt(max(0.0, mean[SCORE_SQUARE] - mean[SCORE] * mean[SCORE]))),
        "lead_black": float(mean[LEAD]),
    }


class _Candidates(NamedTuple):
    """Moves to choose from, k of them: those that were tried as in `RootMoves`, then others."""

    points: NDArray[np.int64]  # [k]
    visits: NDArray[np.int64]  # [k]
    weights: Floats  # [k] what they are chosen by, in visits
    utilities: Floats  # [k] for the side to play
    priors: Floats  # [k] as the search used them
    leaves_out_pass: bool = False  # the pass is not to be chosen


def _moves(
    state: SearchState, tried: RootMoves, temperature: float, random: np.random.Generator | None
) -> list[MoveReport]:
    """Return the root's moves, the best or the one drawn first; those `tried` have visits.

    A search that tried none, of a single visit or cancelled before, has the moves of largest prior.
    """
    count = tried.nodes.size
    found = _tried_moves(state, tried) if count > 0 else _untried_moves(state, tried)
    if found.points.size == 0:
        return []
    if state.human is not None and state.human_config.human_move_share > 0.0:
        untried = _untried_moves(state, tried) if count > 0 and random is not None else None
        found = _chosen_as_people(state, state.human, found, untried)
    order = np.lexsort((-found.priors, -found.visits, -found.weights)).tolist()
    if random is not None:
        chosen = draw(found.weights, temperature, state.config.temperature_below, random)
        order.remove(chosen)
        order.insert(0, chosen)
    return [
        _move(state, tried, i, float(found.weights[i])) if i < count else _untried_move(state, found, i)
        for i in (order if count > 0 else order[:_POLICY_MOVES])
    ]


def _chosen_as_people(
    state: SearchState, human: RawEvaluation, found: _Candidates, untried: _Candidates | None
) -> _Candidates:
    """Return the candidates with the weights of human-like play; people also choose moves that were not tried."""
    if untried is not None:
        count = untried.points.size
        found = _Candidates(
            points=np.append(found.points, untried.points),
            visits=np.append(found.visits, untried.visits),
            weights=np.append(found.weights, np.zeros(count)),
            utilities=np.append(found.utilities, np.full(count, found.utilities.mean())),
            priors=np.append(found.priors, untried.priors),
            leaves_out_pass=found.leaves_out_pass,
        )
    shares = np.maximum(0.0, human.policy[found.points].astype(np.float64))
    if found.leaves_out_pass:
        shares[found.points == PASS] = 0.0
    weights = human_weights(found.weights, found.utilities, shares, found.points, state.human_config)
    return found._replace(weights=weights)


def _tried_moves(state: SearchState, moves: RootMoves) -> _Candidates:
    """Return the moves that have visits."""
    without_pass = _leaves_out_pass(state, moves)
    weights = selection_weights(moves, state.tree, state.params, state.config, without_pass=without_pass)
    sign = for_color(1.0, state.root.color)
    return _Candidates(moves.points, moves.visits, weights, sign * moves.means[:, UTILITY], moves.priors, without_pass)


def _leaves_out_pass(state: SearchState, moves: RootMoves) -> bool:
    """Return whether neutral points are to be filled before the pass that the search prefers."""
    fills_dame = state.config.fill_dame and not state.params.counts_area
    stride = board_size(state.root.positions)[0] + 1  # between points one below the other
    return fills_dame and passes_too_early(moves, state.root.color, state.raw.ownership_black, stride)


def _move(state: SearchState, moves: RootMoves, i: int, selection_weight: float) -> MoveReport:
    """Return the report of move i, which has this selection weight."""
    tree, params, mean = state.tree, state.params, moves.means[i]
    point, visits = int(moves.points[i]), int(moves.visits[i])
    line = _line_from(state.kept, int(moves.nodes[i]), opponent(state.root.color))
    if state.root.cleans_up:
        line = line[:, : _length_of_game(state.root.passes, (point, *line[0].tolist())) - 1]
    radius = float(moves.radius[i])
    owned, deviation = state.move_ownership_at(int(moves.nodes[i]))
    return replace(
        _with_results(point, visits, mean, float(moves.priors[i])),
        pv=(point, *line[0].tolist()),
        pv_visits=(visits, *line[1].tolist()),
        human_prior=_human_prior(state, point),
        lcb=winrate_of(float(mean[VALUE]), state.root.color) - radius * _winrate_share(params),
        utility_lcb=(float(moves.utilities[i]) if mean[WEIGHT] > 0.0 else 0.0) - radius,  # KataGo's
        weight=float(mean[WEIGHT]),
        surplus_visits=max(0, int(moves.node_visits[i]) - visits),
        surplus_weight=max(0.0, float(tree.mean[moves.nodes[i], WEIGHT] - mean[WEIGHT])),
        pv_surplus_visits=tuple((line[2] - line[1]).tolist()),
        selection_weight=selection_weight,
        ownership_black=owned,
        ownership_stdev=deviation,
    )


def _winrate_share(params: Params) -> float:
    """Return the winrate per utility in a radius, KataGo's `getHackedLCBForWinrate` (cpp/program/playutils.cpp).

    It counts winning as far as it counts in the utility, and half because winrates have half the range.
    """
    largest = utility_radius(params)
    return 0.5 * params.win_weight / largest if largest > 0.0 else 0.0


def _length_of_game(passes: int, line: tuple[int, ...]) -> int:
    """Return how many moves of a line, after this many passes in a row, there are up to those that end the game.

    What follows is played in the search only (`cleanup`).
    """
    for length, point in enumerate(line, 1):
        passes = passes + 1 if point == PASS else 0
        if passes >= PHASE_PASSES:
            return length
    return len(line)


def _untried_moves(state: SearchState, tried: RootMoves) -> _Candidates:
    """Return the moves of the root that are not in `tried`, with its own utility; their weights are their priors."""
    tree, root = state.tree, state.root
    edges = np.arange(tree.first_edge[ROOT], tree.first_edge[ROOT] + tree.edges[ROOT])
    points = tree.move[edges]
    edges = edges[(root.avoid_until[root.color, points] <= 0) & ~np.isin(points, tried.points)]
    priors = tree.prior[edges].astype(np.float64)
    return _Candidates(
        points=tree.move[edges].astype(np.int64),
        visits=np.zeros(edges.size, dtype=np.int64),
        weights=pruned(priors, state.config) if priors.any() else priors,
        utilities=np.full(edges.size, for_color(float(tree.mean[ROOT, UTILITY]), root.color)),
        priors=priors,
    )


def _untried_move(state: SearchState, found: _Candidates, i: int) -> MoveReport:
    """Return the report of candidate i, which has no visits: with the root's own results."""
    mean, point = state.tree.mean[ROOT], int(found.points[i])
    radius = 2.0 * state.config.lcb_stdevs * utility_radius(state.params)
    owned, deviation = state.move_ownership_at(ROOT)
    return replace(
        _with_results(point, 0, mean, float(found.priors[i])),
        human_prior=_human_prior(state, point),
        lcb=winrate_of(float(mean[VALUE]), state.root.color) - radius * _winrate_share(state.params),
        utility_lcb=for_color(float(mean[UTILITY]), state.root.color) - radius,
        selection_weight=float(found.weights[i]),
        ownership_black=owned,
        ownership_stdev=deviation,
    )


def _human_prior(state: SearchState, point: int) -> float | None:
    return None if state.human is None else float(state.human.policy[point])


def _with_mirrors(moves: list[MoveReport], state: SearchState) -> Iterator[MoveReport]:
    """Yield moves, each followed by the moves that were left out because they mirror it."""
    reported: set[int] = set()
    for move in moves:
        yield move
        for mirror in state.mirrors:
            point = mirror[move.point]
            if point in state.duplicates and point not in reported:
                reported.add(point)
                yield replace(
                    move,
                    point=point,
                    pv=tuple(mirror[step] for step in move.pv),
                    human_prior=_human_prior(state, point),
                    symmetry_of=move.point,
                    ownership_black=_mirrored(move.ownership_black, mirror),
                    ownership_stdev=_mirrored(move.ownership_stdev, mirror),
                )


def _mirrored(by_point: OwnershipMap, mirror: Mirror) -> OwnershipMap:
    """Return an ownership or its deviation, by point, for the mirrored position."""
    if by_point is None:
        return None
    result = np.empty_like(by_point)
    result[list(mirror)] = by_point
    return result
