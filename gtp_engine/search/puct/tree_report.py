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
from gtp_engine.search.puct.tree_ownership import ownership_below
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

_NO_LINE: Final = np.zeros((3, 0), dtype=np.int64)
"""What follows a move that was not tried, as `write_line` has it."""

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
    move_ownership: bool  # whether to report the ownership below each move

    @property
    def tree(self) -> Tree:
        """The arrays of the tree."""
        return self.kept.tree

    @property
    def human(self) -> RawEvaluation | None:
        """The human-like network's evaluation of the root, if there is one."""
        return self.kept.human


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
    utilities = for_color(tree.mean[leaders, UTILITY] + root.bonus[points[eligible[order]]], color)
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
    tree, mean, owned = state.tree, state.tree.mean[ROOT], ownership_below(state.tree, ROOT)
    tried = root_moves(tree, state.root, state.params, state.config)
    return SearchReport(
        to_play=state.root.color,
        visits=int(tree.visits[ROOT]),
        playouts=playouts,
        seconds=seconds,
        moves=tuple(_with_mirrors(_moves(state, tried, temperature, random), state)),
        ownership_samples=0 if owned is None else int(tree.visits[ROOT]),
        ownership_black=np.zeros(state.raw.policy.size) if owned is None else owned[0],
        nodes=int(tree.info[NODES]),
        memory=state.kept.memory,
        no_result=float(mean[NO_RESULT]),
        weight=float(mean[WEIGHT]),
        **_results(mean),
        ownership_stdev=None if owned is None else owned[1],
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
    tree, node = kept.tree, int(kept.tree.child[edge])
    point, line = int(tree.move[edge]), _line_from(kept, node, color)
    move = _with_results(point, visits, tree.mean[node], float(tree.prior[edge]), line)
    return replace(move, surplus_visits=int(tree.visits[node]) - visits)


def _line_from(kept: ReusableTree, node: int, color: int) -> NDArray[np.int64]:
    """Return the continuation after a node with `color` to play, the rows of `write_line`."""
    line = np.zeros((3, PV_LENGTH - 1), dtype=np.int64)
    return line[:, : write_line(kept.tree, node, color, kept.bounds, line)]


def _with_results(point: int, visits: int, mean: Floats, prior: float, line: NDArray[np.int64]) -> MoveReport:
    """Return the report of a move with these results; `line` are the rows of `write_line` after it."""
    return MoveReport(
        point=point,
        visits=visits,
        expected_black=float(mean[VALUE]),
        pv=(point, *line[0].tolist()),
        pv_visits=(visits, *line[1].tolist()),
        prior=prior,
        no_result=float(mean[NO_RESULT]),
        weight=float(mean[WEIGHT]),
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


def _moves(
    state: SearchState, tried: RootMoves, temperature: float, random: np.random.Generator | None
) -> list[MoveReport]:
    """Return the root's moves, the best or the one drawn first; those `tried` have visits.

    A search that tried none, of a single visit or cancelled before, has the moves of largest prior.
    """
    tree, root, params, config = state.tree, state.root, state.params, state.config
    count, without_pass = tried.points.size, _leaves_out_pass(state, tried)
    moves = tried if count > 0 else root_moves(tree, root, params, config, tried=False)
    if moves.points.size == 0:
        return []
    if count > 0:
        weights = selection_weights(tried, tree, params, config, without_pass=without_pass)
    else:
        weights = pruned(moves.priors, config) if moves.priors.any() else moves.priors
    human, human_config = state.human, state.human_config
    if human is not None and human_config.human_move_share > 0.0:
        utilities = for_color(1.0, root.color) * moves.means[:, UTILITY]
        if count > 0 and random is not None:  # people also choose moves that were not tried
            untried = root_moves(tree, root, params, config, tried=False)
            moves = RootMoves._make(map(np.concatenate, zip(tried, untried, strict=True)))
            weights = np.append(weights, np.zeros(untried.points.size))
            utilities = np.append(utilities, np.full(untried.points.size, utilities.mean()))
        shares = np.maximum(0.0, human.policy[moves.points].astype(np.float64))
        if without_pass:
            shares[moves.points == PASS] = 0.0
        weights = human_weights(weights, utilities, shares, moves.points, human_config)
    order = np.lexsort((-moves.priors, -moves.visits, -weights)).tolist()
    if random is not None:
        chosen = draw(weights, temperature, config.temperature_below, random)
        order.remove(chosen)
        order.insert(0, chosen)
    return [_move(state, moves, i, float(weights[i])) for i in (order if count > 0 else order[:_POLICY_MOVES])]


def _leaves_out_pass(state: SearchState, moves: RootMoves) -> bool:
    """Return whether neutral points are to be filled before the pass that the search prefers."""
    fills_dame = state.config.fill_dame and not state.params.counts_area
    stride = board_size(state.root.positions)[0] + 1  # between points one below the other
    return fills_dame and passes_too_early(moves, state.root.color, state.raw.ownership_black, stride)


def _move(state: SearchState, moves: RootMoves, i: int, selection_weight: float) -> MoveReport:
    """Return the report of move i, which has this selection weight; without a line if it was not tried."""
    tree, mean, node = state.tree, moves.means[i], int(moves.nodes[i])
    point, visits, radius = int(moves.points[i]), int(moves.visits[i]), float(moves.radius[i])
    owned = ownership_below(tree, node) if state.move_ownership else None
    is_tried = node != ROOT
    line = _line_from(state.kept, node, opponent(state.root.color)) if is_tried else _NO_LINE
    if state.root.cleans_up:
        line = line[:, : _length_of_game(state.root.passes, (point, *line[0].tolist())) - 1]
    return replace(
        _with_results(point, visits, mean, float(moves.priors[i]), line),
        human_prior=_human_prior(state, point),
        lcb=winrate_of(float(mean[VALUE]), state.root.color) - radius * _winrate_share(state.params),
        utility_lcb=(float(moves.utilities[i]) if not is_tried or mean[WEIGHT] > 0.0 else 0.0) - radius,  # KataGo's
        selection_weight=selection_weight,
        surplus_visits=max(0, int(tree.visits[node]) - visits) if is_tried else 0,
        surplus_weight=max(0.0, float(tree.mean[node, WEIGHT] - mean[WEIGHT])) if is_tried else 0.0,
        pv_surplus_visits=tuple((line[2] - line[1]).tolist()),
        ownership_black=None if owned is None else owned[0].astype(np.float32),
        ownership_stdev=None if owned is None else owned[1].astype(np.float32),
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
