"""Reports from a tree: `SearchReport`, and `Progress` for the watcher."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import PuctConfig
from gtp_engine.evaluation.evaluation import Evaluation, no_result, value_black
from gtp_engine.evaluation.positions import board_size
from gtp_engine.go.constants import BLACK
from gtp_engine.search.limits import Progress
from gtp_engine.search.puct.choose import RootMoves, draw, pruned, root_moves, selection_weights
from gtp_engine.search.puct.dame import passes_too_early
from gtp_engine.search.puct.expand import Ownership
from gtp_engine.search.puct.leaves import Root
from gtp_engine.search.puct.mirrors import Mirror
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
    write_pv,
)
from gtp_engine.search.puct.utility import Params, utility_radius
from gtp_engine.search.report import MoveReport, RawEvaluation, SearchReport, winrate_of

PV_LENGTH: Final = 100
"""Longest continuation reported, moves."""

_POLICY_MOVES: Final = 10
"""Moves reported, by the policy alone, for a search that tried none."""

_LEAST_WEIGHT: Final = 1e-9
"""Replaces the weight of no samples, so that their mean is 0."""


OwnershipMap = NDArray[np.float32] | None
"""Mean or deviation of the ownership below a move, float32[n]; None without samples."""


class SearchView(NamedTuple):
    """Everything that a report reads."""

    tree: Tree
    root: Root
    params: Params
    config: PuctConfig
    raw: RawEvaluation
    ownership: Ownership
    mirrors: list[Mirror]
    duplicates: set[int]
    memory: float  # MiB


def raw_evaluation(evaluation: Evaluation, row: int) -> RawEvaluation:
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
    )


def progress_of(view: SearchView, playouts: int, seconds: float) -> Progress:
    """Return the progress of a search; before a move has been tried, the leader has 0 visits and the root's winrate."""
    tree, root, color = view.tree, view.root, view.root.color
    moves = root_moves(tree, root, view.params, view.config)
    order = np.argsort(-moves.visits, kind="stable")[:2]
    first = int(tree.first_edge[ROOT])
    points = tree.move[first : first + int(tree.edges[ROOT])]
    return Progress(
        seconds=seconds,
        visits=int(tree.visits[ROOT]),
        playouts=playouts,
        leader_visits=int(moves.visits[order[0]]) if order.size > 0 else 0,
        runner_up_visits=int(moves.visits[order[1]]) if order.size > 1 else 0,
        leader_is_best_value=order.size < 2 or bool(moves.utilities[order[0]] >= moves.utilities[order[1]]),
        winrate=winrate_of(float(moves.means[order[0], VALUE] if order.size else tree.mean[ROOT, VALUE]), color),
        choices=int(np.count_nonzero(root.avoid_until[color, points] <= 0)),
    )


def report_of(
    view: SearchView, playouts: int, seconds: float, temperature: float = 0.0, random: np.random.Generator | None = None
) -> SearchReport:
    """Return the state of a search, its moves in the order in which they would be played.

    With a generator, the first one is drawn with `temperature`, and the others follow in that order.
    """
    tree, mean, ownership = view.tree, view.tree.mean[ROOT], view.ownership
    owned, deviation = _mean_and_stdev(float(ownership.weight[0]), ownership.total, ownership.squares)
    return SearchReport(
        to_play=view.root.color,
        visits=int(tree.visits[ROOT]),
        playouts=playouts,
        seconds=seconds,
        value_black=float(mean[VALUE]),
        moves=tuple(_with_mirrors(_moves(view, temperature, random), view)),
        ownership_samples=int(ownership.samples[0]),
        ownership_black=owned,
        nodes=int(tree.info[NODES]),
        memory=view.memory,
        utility_black=float(mean[UTILITY]),
        score_black=float(mean[SCORE]),
        score_stdev=_stdev(mean),
        lead_black=float(mean[LEAD]),
        no_result=float(mean[NO_RESULT]),
        weight=float(mean[WEIGHT]),
        ownership_stdev=deviation if ownership.samples[0] > 0 else None,
        raw=view.raw,
    )


def _mean_and_stdev(
    weight: float, total: NDArray[np.float64], squares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation, float64[n], from sums of ownership and its squares; zeros without weight."""
    weight = max(_LEAST_WEIGHT, weight)
    mean = total / weight
    return mean, np.sqrt(np.maximum(0.0, squares / weight - mean * mean))


def _stdev(mean: NDArray[np.float64]) -> float:
    """Return the standard deviation of the score, from a node's means."""
    return float(np.sqrt(max(0.0, mean[SCORE_SQUARE] - mean[SCORE] * mean[SCORE])))


def _moves(view: SearchView, temperature: float, random: np.random.Generator | None) -> list[MoveReport]:
    """Return the root's moves, the best or the one drawn first."""
    moves = root_moves(view.tree, view.root, view.params, view.config)
    if moves.nodes.size == 0:
        return _policy_moves(view, temperature, random)
    fills_dame = view.config.fill_dame and not view.params.counts_area
    without_pass = fills_dame and passes_too_early(moves, view.root.color, view.raw.ownership_black, _stride(view))
    weights = selection_weights(moves, view.tree, view.params, view.config, without_pass=without_pass)
    order = np.lexsort((-moves.priors, -moves.visits, -weights)).tolist()
    if random is not None:
        _put_first(order, draw(weights, temperature, view.config.temperature_below, random))
    return [_move(view, moves, i, float(weights[i])) for i in order]


def _stride(view: SearchView) -> int:
    """Return the difference of points one below the other."""
    return board_size(view.root.positions)[0] + 1


def _put_first(order: list[int], chosen: int) -> None:
    """Move one entry of a list to its start."""
    order.remove(chosen)
    order.insert(0, chosen)


def _move(view: SearchView, moves: RootMoves, i: int, selection_weight: float) -> MoveReport:
    """Return the report of move i, which has this selection weight."""
    tree, params, mean = view.tree, view.params, moves.means[i]
    point, visits = int(moves.points[i]), int(moves.visits[i])
    line, line_visits = np.zeros(PV_LENGTH - 1, dtype=np.int64), np.zeros(PV_LENGTH - 1, dtype=np.int64)
    length = write_pv(tree, int(moves.nodes[i]), line, line_visits)
    radius = float(moves.radius[i])
    owned, deviation = _move_ownership(view.ownership, point)
    return MoveReport(
        point=point,
        visits=visits,
        value_black=float(mean[VALUE]),
        expected_black=float(mean[VALUE]),
        pv=(point, *line[:length].tolist()),
        pv_visits=(visits, *line_visits[:length].tolist()),
        prior=float(view.raw.policy[point]),
        lcb=winrate_of(float(mean[VALUE]), view.root.color) - 0.5 * radius / utility_radius(params),
        utility_black=float(mean[UTILITY]),
        utility_lcb=float(moves.utilities[i]) - radius,
        score_black=float(mean[SCORE]),
        score_stdev=_stdev(mean),
        lead_black=float(mean[LEAD]),
        no_result=float(mean[NO_RESULT]),
        weight=float(mean[WEIGHT]),
        selection_weight=selection_weight,
        ownership_black=owned,
        ownership_stdev=deviation,
    )


def _move_ownership(ownership: Ownership, point: int) -> tuple[OwnershipMap, OwnershipMap]:
    """Return mean and standard deviation of the ownership below a root move.

    Both are None if they were not collected or there is no sample.
    """
    weight = float(ownership.move_weight[point])
    if ownership.moves.shape[0] == 1 or weight <= 0.0:
        return None, None
    mean, deviation = _mean_and_stdev(weight, ownership.moves[point], ownership.move_squares[point])
    return mean.astype(np.float32), deviation.astype(np.float32)


def _policy_moves(view: SearchView, temperature: float, random: np.random.Generator | None) -> list[MoveReport]:
    """Return the moves of largest prior, for a search that tried none: one of a single visit, or cancelled before.

    With a generator, the first one is drawn from all.
    """
    tree, root, mean = view.tree, view.root, view.tree.mean[ROOT]
    first = int(tree.first_edge[ROOT])
    edges = range(first, first + int(tree.edges[ROOT]))
    allowed = [edge for edge in edges if root.avoid_until[root.color, tree.move[edge]] <= 0]
    allowed.sort(key=lambda edge: -float(tree.prior[edge]))
    priors = tree.prior[allowed].astype(np.float64)
    if random is not None and priors.any():
        chosen = draw(pruned(priors, view.config), temperature, view.config.temperature_below, random)
        _put_first(allowed, allowed[chosen])
    value, utility = float(mean[VALUE]), float(mean[UTILITY])
    sign = 1.0 if root.color == BLACK else -1.0
    return [
        MoveReport(
            point=int(tree.move[edge]),
            visits=0,
            value_black=value,
            expected_black=value,
            pv=(int(tree.move[edge]),),
            pv_visits=(0,),
            prior=float(view.raw.policy[tree.move[edge]]),
            utility_black=utility,
            utility_lcb=sign * utility - 2.0 * view.config.lcb_stdevs * utility_radius(view.params),
            score_black=float(mean[SCORE]),
            score_stdev=_stdev(mean),
            lead_black=float(mean[LEAD]),
            no_result=float(mean[NO_RESULT]),
        )
        for edge in allowed[:_POLICY_MOVES]
    ]


def _with_mirrors(moves: list[MoveReport], view: SearchView) -> Iterator[MoveReport]:
    """Yield moves, each followed by the moves that were left out because they mirror it."""
    reported: set[int] = set()
    for move in moves:
        yield move
        for mirror in view.mirrors:
            point = mirror[move.point]
            if point in view.duplicates and point not in reported:
                reported.add(point)
                yield replace(
                    move,
                    point=point,
                    pv=tuple(mirror[step] for step in move.pv),
                    prior=float(view.raw.policy[point]),
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
